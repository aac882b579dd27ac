// How often a loop turns. Software renderers compile each turn of a loop whose count they know: seconds, where there
// is much in it. They know none that a uniform adds to. llvmpipe runs the body of such a loop once more than its count,
// but where the count is asked for last (do ... while): that costs a velocity pass next to nothing, the other a third.

#if ROLLED || defined(NEVER_UNROLLED)
uniform int none;  // nobody sets it: 0
#else
const int none = 0;
#endif

int turns(int count) { return count + none; }
