// The share of the fire's light that solids let by on its way to a place. The fire counts as a ball in the mean direction
// of its light, at its mean distance, as wide as the directions differ: few rays per place serve all of it, and go smoothly
// with it. They begin apart as well, over the cell of the light, or shadows narrower than that would be blots. Solids within
// the ball, as logs that burn, hide nothing, nor does what the place itself lies in.

const int RAYS = 6;          // to the ends of the axes of a ball within that ball
const float WITHIN = 0.6;    // radius of the one by that of the other
const float FROM_ROUND = 0.5, FROM_SIDE = 0.7;  // mean of the directions: of light that nothing hides, and of such that is hidden

// Shares of solid round a place that is in one, and round one that is clear of any. Not a half, which is that of the side of
// a wall: rounding would decide.
const float OWN = 0.6, CLEAR_OF = 0.4;

float solid_at(vec3 place) {  // share of solid round it; cells
    vec3 q = clamp(place - 0.5, vec3(0.0), vec3(cells - 1));
    int low = int(q.z), high = min(low + 1, cells.z - 1);
    return 1.0 - mix(filtered_scalars(q.xy, low).w, filtered_scalars(q.xy, high).w, q.z - float(low));
}

// The share left on the way from a place to another (cells), but for its last `spared` cells: one cell hides it all.
float left_between(vec3 from, vec3 to, float spared) {
    vec3 way = to - from;
    float whole = length(way), far = whole - spared, met = 0.0;
    if (far <= 0.0) return 1.0;
    bool own = solid_at(from) > OWN;
    for (float gone = 0.5; gone < far + 0.5 && met < 1.0; gone += 1.0) {
        float solid = solid_at(from + way * (gone / whole));
        own = own && solid > OWN && gone < 0.5 * float(BLOCK_SIZE);
        if (!own) met += solid * min(far - gone + 0.5, 1.0);
    }
    return max(1.0 - met, 0.0);
}

// How far a ray begins from the middle of the cell of the light, which is half a block wide: no further than to a solid. Cells.
float clear_aside(vec3 place, vec3 aside) {
    float most = 0.25 * float(BLOCK_SIZE), off = 0.0;
    while (off < most && solid_at(place + min(off + 1.0, most) * aside) < CLEAR_OF) off = min(off + 1.0, most);
    return off;
}

// place: cells. from: mean of the unit vectors to the fire; reach: its mean distance, cells.
float fire_past_solids(vec3 place, vec3 from, float reach) {
    float one_way = length(from), wide = 2.0 * sqrt(max(one_way * (1.0 - one_way), 0.0));  // sine of a cap's angle
    if (one_way <= FROM_ROUND) return 1.0;
    float radius = max(reach * wide, 0.5 * float(BLOCK_SIZE)), left = 0.0;
    vec3 middle = place + from * (reach / one_way);
    for (int ray = 0; ray < RAYS; ++ray) {
        vec3 aside = vec3(0.0);
        aside[ray >> 1] = float(ray & 1) * 2.0 - 1.0;
        left += left_between(place + aside * clear_aside(place, aside), middle + WITHIN * radius * aside, radius);
    }
    return mix(1.0, left / float(RAYS), smoothstep(FROM_ROUND, FROM_SIDE, one_way));
}
