#version 450 core
// C <- C - L U from the remainders t of all moduli p: L U is P (S - round(S)), S the sum of t / p, P the product of the
// moduli, times the scales of its row and column.
//
// Three moduli at a time: (t1 p2 p3 + t2 p1 p3 + t3 p1 p2) / (p1 p2 p3), whose numerator is below 2^26. Reciprocals
// have two parts. The upper one is a multiple of 2^-48, so that sums with it are exact.
#include "compute/place.glsl"
#include "compute/residues.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly restrict buffer Remainders { uvec4 remainders[]; };
layout(std430, binding = 1) readonly restrict buffer Rows { int unusable_row; int row_exponents[]; };
layout(std430, binding = 2) readonly restrict buffer Columns { int unusable_column; int column_exponents[]; };
layout(std430, binding = 3) restrict buffer Result { dvec2 result[]; };

UNIFORMS
UNIFORM(0, ivec4) part;           // of the remainders' tiles: first row and column, their ends
UNIFORM(1, ivec4) exponents;      // the first row's and column's; columns of tiles; whether vectors are aligned
UNIFORM(2, ivec4) result_layout;  // of the part
END_UNIFORMS

const uint moduli[TRIPLES * 3] = uint[](MODULUS_LIST);
const uvec2 upper_reciprocals[TRIPLES] = uvec2[](UPPER_LIST);
const uvec2 lower_reciprocals[TRIPLES] = uvec2[](LOWER_LIST);

double product_of(uint words[MODULI], int byte, int exponent) {
  double upper = 0, lower = 0;
  UNROLL for (int i = 0; i < TRIPLES; ++i) {
    uint numerator = 0;
    UNROLL for (int l = 0; l < 3; ++l) {
      if (i * 3 + l < MODULI) {
        uint others = moduli[i * 3 + (l + 1) % 3] * moduli[i * 3 + (l + 2) % 3];
        numerator += bitfieldExtract(words[i * 3 + l], byte * 8, 8) * others;
      }
    }
    // 2^52 + numerator, put together from bits: conversions are slow
    double number = packDouble2x32(uvec2(numerator, 0x43300000u)) - 4503599627370496.0LF;
    upper = fma(number, packDouble2x32(upper_reciprocals[i]), upper);
    lower = fma(number, packDouble2x32(lower_reciprocals[i]), lower);
  }
  double scale = packDouble2x32(uvec2(0, uint(1023 + exponent) << 20));
  return ((upper - roundEven(upper)) + lower) * packDouble2x32(uvec2(PRODUCT_OF_MODULI)) * scale;
}

double difference(double c, uint words[MODULI], int byte, int row_exponent, int column_exponent) {
  double product = product_of(words, byte, row_exponent + column_exponent);
  return max(row_exponent, column_exponent) < ZERO ? c - product : c;
}

#define WORDS(which) UNROLL for (int i = 0; i < MODULI; ++i) words[i] = bytes[i].which;
#define SUBTRACT(which, c, row_exponent, columns)                    \
  WORDS(which)                                                       \
  c[0].x = difference(c[0].x, words, 0, row_exponent, columns[0]);   \
  c[0].y = difference(c[0].y, words, 1, row_exponent, columns[1]);   \
  c[1].x = difference(c[1].x, words, 2, row_exponent, columns[2]);   \
  c[1].y = difference(c[1].y, words, 3, row_exponent, columns[3]);

void main() {
  int tile = int(gl_WorkGroupID.y), element = int(gl_WorkGroupID.x * 256u + gl_LocalInvocationIndex);
  ivec2 first_tile = ivec2(part.x / TILE_ROWS, part.y / TILE_COLUMNS);
  int across = (part.w + TILE_COLUMNS - 1) / TILE_COLUMNS - first_tile.y;
  ivec2 at = first_tile + ivec2(tile / across, tile % across);
  ivec2 corner = at * ivec2(TILE_ROWS, TILE_COLUMNS) + corner_of(element);
  if (corner.x >= part.z || corner.y >= part.w || corner.x + 8 < part.x || corner.y + 19 < part.y) return;
  int from = (at.x * exponents.z + at.y) * MODULI * TILE_ELEMENTS + element;
  uvec4 bytes[MODULI];
  uint words[MODULI];
  UNROLL for (int i = 0; i < MODULI; ++i) bytes[i] = remainders[from + i * TILE_ELEMENTS];
  bool is_whole = all(greaterThanEqual(corner, part.xy)) && corner.x + 8 < part.z && corner.y + 19 < part.w;
  if (is_whole && exponents.w != 0) {
    ivec4 places;
    dvec2 c[4][2];
    int rows[2], columns[2][4];
    UNROLL for (int i = 0; i < 4; ++i) {
      places[i] = place(result_layout, corner.x - part.x + i % 2 * 8, corner.y - part.y + i / 2 * 16) / 2;
      c[i][0] = result[places[i]];
      c[i][1] = result[places[i] + 1];
    }
    UNROLL for (int i = 0; i < 2; ++i) {
      rows[i] = row_exponents[exponents.x + corner.x + i * 8];
      UNROLL for (int j = 0; j < 4; ++j) columns[i][j] = column_exponents[exponents.y + corner.y + i * 16 + j];
    }
    SUBTRACT(x, c[0], rows[0], columns[0])
    SUBTRACT(y, c[1], rows[1], columns[0])
    SUBTRACT(z, c[2], rows[0], columns[1])
    SUBTRACT(w, c[3], rows[1], columns[1])
    UNROLL for (int i = 0; i < 4; ++i) {
      result[places[i]] = c[i][0];
      result[places[i] + 1] = c[i][1];
    }
    return;
  }
  for (int i = 0; i < 4; ++i) {
    UNROLL for (int m = 0; m < MODULI; ++m) words[m] = bytes[m][i];
    int row = corner.x + i % 2 * 8;
    for (int j = 0; j < 4; ++j) {
      int column = corner.y + i / 2 * 16 + j;
      if (row < part.x || row >= part.z || column < part.y || column >= part.w) continue;
      int to = place(result_layout, row - part.x, column - part.y);
      bool is_first = to % 2 == 0;  // NVIDIA's OpenGL 580.159 sets no component by an index
      dvec2 pair = result[to / 2];
      double c = difference(is_first ? pair.x : pair.y, words, j, row_exponents[exponents.x + row],
                            column_exponents[exponents.y + column]);
      if (is_first) {
        result[to / 2].x = c;
      } else {
        result[to / 2].y = c;
      }
    }
  }
}
