#version 450 core
// L21 <- A21 U11^-1 for a block of at most 32 columns of a transposed panel: an invocation has a row of A21.
//
// Variants: DOUBLE; IN_PLACE: L11 \ U11 stands in the panel's rows, in the block's own columns.
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"
#include "compute/panel_row.glsl"

#define ROWS 256
layout(local_size_x = ROWS) in;

layout(std430, binding = 0) restrict buffer Panel { Real panel[]; };
#if !IN_PLACE
layout(std430, binding = 1) readonly restrict buffer Factors { Real factors[]; };  // BLOCK x BLOCK, by rows
#endif

UNIFORMS
UNIFORM(0, ivec2) block;         // its first column, which is its first row, too; columns
UNIFORM(1, ivec2) rows;          // of A21: the first, how many
UNIFORM(2, ivec4) panel_layout;
END_UNIFORMS

shared Vector upper[BLOCK * ROW_VECTORS];  // row k of U11, from the element behind the diagonal on, then 0
shared Real diagonal[BLOCK];

#if IN_PLACE
Real factor_element(int row, int column) { return panel[place(panel_layout, block.x + column, block.x + row)]; }
#else
Real factor_element(int row, int column) { return factors[row * BLOCK + column]; }
#endif
Real upper_element(int row, int column) { return column < block.y ? factor_element(row, column) : Real(0); }

void main() {
  int me = int(gl_LocalInvocationIndex);
  int width = block.y;
  for (int v = me; v < width * ROW_VECTORS; v += ROWS) {
    int row = v / ROW_VECTORS, column = row + 1 + v % ROW_VECTORS * VECTOR_WIDTH;
#if DOUBLE
    upper[v] = Vector(upper_element(row, column), upper_element(row, column + 1));
#else
    upper[v] = Vector(upper_element(row, column), upper_element(row, column + 1), upper_element(row, column + 2),
                      upper_element(row, column + 3));
#endif
  }
  if (me < width) diagonal[me] = factor_element(me, me);
  barrier();

  int row = int(gl_WorkGroupID.x) * ROWS + me;
  if (row >= rows.y) return;
  int at = place(panel_layout, block.x, rows.x + row);
  DECLARE_ROW
#define GET(column, element) element = column < width ? panel[at + (column) * panel_layout.y] : Real(0);
  FOR_ELEMENTS(GET)
  for (int k = 0; k < width; ++k) {
    Real factor = r0.x / diagonal[k];
#define given(v) upper[k * ROW_VECTORS + v]
    TURN_ROW(k)
  }
  // the multipliers stand at the row's end
#define PUT(e, value) if (e >= BLOCK - width) panel[at + (e - (BLOCK - width)) * panel_layout.y] = value;
  FOR_ELEMENTS(PUT)
}
