// Where an element lies. A matrix is kept in stripes of 2^STRIPE_SHIFT columns, which the preamble defines:
// src/local/gl/compute/region.hpp. A layout is: the first element, the leading dimension, column 0's place in its
// stripe, elements from one stripe to the next.
int place(ivec4 layout_of, int row, int column) {
  int c = layout_of.z + column;
  return layout_of.x + row * layout_of.y + (c >> STRIPE_SHIFT) * layout_of.w + (c & ((1 << STRIPE_SHIFT) - 1));
}
