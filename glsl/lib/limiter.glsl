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
