// Double-precision products by residues (Ozaki's scheme II). Columns of an operand, depth x columns, are scaled by
// powers of two to whole numbers, of which the residues modulo MODULI coprime numbers are packed as bytes:
//   16-byte elements [block of BLOCK fragments][modulus][32 of the depth][fragment][element of the fragment]
// A fragment is 16 columns x 32 of the depth: the first 16 of eight columns, their other 16, then those of the other
// eight columns. In fragments of U the columns stand in another order (column_of), so that an invocation of a matrix
// product has four neighbours of a row. src/local/products/residue_products.cpp has the rest.
#if UNROLLED  // in Vulkan
#extension GL_EXT_control_flow_attributes : require
#define UNROLL [[unroll]]
#else
#define UNROLL
#endif

// Instead of an exponent: the column is zero; it has numbers that residues do not represent.
#define ZERO 0x40000000
#define UNUSABLE 0x40000001

// Tiles of C: 128 x 256, of 2 x 4 parts of 64 x 64. An invocation has 16 bytes for each 16 x 32 of its part.
#define TILE_ROWS 128
#define TILE_COLUMNS 256
#define TILE_ELEMENTS 2048

/// Row and column within the tile of the first of an element's 16 bytes. Its words are four neighbours of that row, of
/// the row 8 below, and both again 16 columns to the right.
ivec2 corner_of(int element) {
  int lane = element % 32, piece = element / 32 % 8, part = element / 256;
  return ivec2((part / 4 * 4 + piece / 2) * 16 + lane / 4, (part % 4 * 4 + piece % 2 * 2) * 16 + lane % 4 * 4);
}
