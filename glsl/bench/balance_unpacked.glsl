// The values less their mean over the fluid cells, as the bench's baseline has it; 0 elsewhere. Cells.

void kernel(ivec3 cell) {
    vec4 sums = fetch_wholes(ivec3(0));
    balanced_out = vec4(fetch_values(cell).x - sums.z / max(sums.w, 1.0));
#if SOLIDS
    balanced_out *= fetch_openings(cell).x;
#endif
}
