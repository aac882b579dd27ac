// Where the ray through a pixel meets the floor, and how deep that lies in the picture.

uniform vec4 depth_scale;   // depth in m = (x z + y) / (z z + w) at depth z, -1 .. 1, of the picture
uniform float floor_height; // cells above the bottom of the box
uniform float floor_reach;  // cells from the middle of the box to where the floor is gone

bool meets_floor(vec3 origin, vec3 direction) { return direction.y < 0.0 && origin.y > floor_height; }

float floor_along(vec3 origin, vec3 direction) { return (floor_height - origin.y) / direction.y; }

// How much there is of the floor; middle: of the box, cells.
float floor_there(vec3 place, vec2 middle) { return 1.0 - smoothstep(0.05, 1.0, length((place.xz - middle) / floor_reach)); }

// 0 .. 1, of what lies `depth` m in front of the eye.
float in_picture(float depth) {
    float z = (depth_scale.y - depth_scale.w * depth) / (depth_scale.z * depth - depth_scale.x);
    return clamp(0.5 + 0.5 * z, 0.0, 1.0);
}
