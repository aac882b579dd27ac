// Share of smoke of some density that shows: thin smoke thins out, so that what is filtered between cells has an edge.
// EDGED: whether it does.
#if EDGED
uniform float smoke_edge;  // the density from which on all of it shows; of a picture's rays the extinction, 1/m

float edged(float density) { return smoothstep(0.0, smoke_edge, density); }
#else
float edged(float density) { return 1.0; }
#endif
