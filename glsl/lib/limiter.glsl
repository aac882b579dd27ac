// What keeps MacCormack from overshooting: LIMITER 0 nothing, 1 clamp, 2 revert to semi-Lagrangian.

float limited(float corrected, float plain, float low, float high) {
#if LIMITER == 1
    return clamp(corrected, low, high);
#elif LIMITER == 2
    return corrected < low || corrected > high ? plain : corrected;
#else
    return corrected;
#endif
}

vec3 limited(vec3 corrected, vec3 plain, vec3 low, vec3 high) {
    return vec3(limited(corrected.x, plain.x, low.x, high.x), limited(corrected.y, plain.y, low.y, high.y),
                limited(corrected.z, plain.z, low.z, high.z));
}
