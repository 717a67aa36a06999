// The types of storage and arithmetic. The preamble defines DOUBLE as 0 or 1.
#if DOUBLE
#define Real double
#define Vector dvec2
#define VECTOR_WIDTH 2
#else
#define Real float
#define Vector vec4
#define VECTOR_WIDTH 4
#endif
