// The index of an element. A matrix is stored in stripes of 2^STRIPE_SHIFT columns; the preamble defines STRIPE_SHIFT
// (src/local/kernels/region.hpp). A layout holds the index of the first element, the leading dimension, the offset of
// column 0 in its stripe, and the distance between stripes in elements.
int place(ivec4 layout_of, int row, int column) {
  int c = layout_of.z + column;
  return layout_of.x + row * layout_of.y + (c >> STRIPE_SHIFT) * layout_of.w + (c & ((1 << STRIPE_SHIFT) - 1));
}
