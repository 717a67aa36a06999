// Where elimination has met a pivot that is 0: a number for each system, 0 for none, else the larger the earlier the
// equation is, so that the first one stays. The host reads it: src/local/solvers/tridiagonal/tridiagonal_batches.cpp.
const int max_equations = 0x7fffffff;

void note_zero_pivot(int system, int equation) { atomicMax(status[system], max_equations - equation); }
