// 1 - exp(-x) for x >= 0; where that is small exp would leave rounding alone.
float lost(float x) { return x > 0.02 ? 1.0 - exp(-x) : x * (1.0 - x * (0.5 - x / 6.0)); }
