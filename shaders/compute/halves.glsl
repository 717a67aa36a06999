// Products of half-precision numbers. Parts of an operand, depth x columns, are scaled by powers of two and rounded:
//   16-byte elements [block of 64 columns][16 of the depth][fragment of 16 columns][element of the fragment]
// An element has eight halves, in the order of a subgroup's registers for 16 x 16 matrices on NVIDIA: of element
// 4 g + t the halves of columns g and g + 8 and of the depths 2 t, 2 t + 1, 2 t + 8, 2 t + 9. In fragments of U the
// columns stand in another order (column_of), so that an invocation has four neighbours of a row of the product.
// src/local/products/half_products.cpp has the rest.
#define BLOCK 4

// The column of U that is number `place` of a fragment.
int column_of(int place) { return (place >> 1 & 3) * 4 + (place >> 3) * 2 + (place & 1); }

// The exponent of the scale, from the bits of the largest magnitude: 2^15 bounds what is scaled.
int scale_of(uint largest) { return largest >= 0x7f800000u ? 0 : min(141 - int(largest >> 23), 100); }
float power_of_two(int exponent) { return uintBitsToFloat(uint(clamp(exponent, -126, 127) + 127) << 23); }
