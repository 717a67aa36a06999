// r and p, and the points beside a point. Variants:
// MEMORY 0: storage buffers, read 16 bytes at a time. Element (i, j) is component j mod VECTOR_WIDTH of element
//   (i + 1) ROW_PITCH + j / VECTOR_WIDTH; rows 0 and rows + 1 are ghost rows. Behind the n elements of a row there is at
//   least one 0, which is also what is in front of the next row.
// MEMORY 1: texel buffers, read element by element; they are views of buffers that lie like those of 0.
// MEMORY 2: textures of n x n texels, element (i, j) at (j, i); what is beyond them is their border, 0.
// A kernel defines UPDATE as 0 or 1: whether it writes p, or r.
#if MEMORY == 0
#define Item Vector
#define ITEM_WIDTH VECTOR_WIDTH
#else
#define Item float
#define ITEM_WIDTH 1
#endif

#if MEMORY == 2
#define Place ivec2
#define PLACE(row, item) ivec2(item, row)
#define ABOVE(at) ((at)-ivec2(0, 1))
#define BELOW(at) ((at) + ivec2(0, 1))
#define LEFT(at) ((at)-ivec2(1, 0))
#define RIGHT(at) ((at) + ivec2(1, 0))
#define GHOST_ROWS 0
#else
#define Place int
#define PLACE(row, item) (((row) + 1) * ROW_PITCH + (item))
#define ABOVE(at) ((at)-ROW_PITCH)
#define BELOW(at) ((at) + ROW_PITCH)
#define LEFT(at) ((at)-1)
#define RIGHT(at) ((at) + 1)
#define GHOST_ROWS 1
#endif

#if MEMORY == 0
layout(std430, binding = 4) readonly restrict buffer Direction { Vector direction[]; };
#if UPDATE
layout(std430, binding = 3) restrict buffer Residual { Vector residual[]; };
#else
layout(std430, binding = 3) readonly restrict buffer Residual { Vector residual[]; };
layout(std430, binding = 5) writeonly restrict buffer NewDirection { Vector new_direction[]; };
#endif
#define P(at) direction[at]
#define R(at) residual[at]
#define OWN_R(at) residual[at]
#elif MEMORY == 1
layout(binding = 0) uniform samplerBuffer residual_texels;
layout(binding = 1) uniform samplerBuffer direction_texels;
#if UPDATE
layout(std430, binding = 3) restrict buffer Residual { float residual[]; };
#else
layout(std430, binding = 5) writeonly restrict buffer NewDirection { float new_direction[]; };
#endif
#define P(at) texelFetch(direction_texels, at).r
#define R(at) texelFetch(residual_texels, at).r
#define OWN_R(at) residual[at]
#else
layout(binding = 0) uniform sampler2D residual_texture;
layout(binding = 1) uniform sampler2D direction_texture;
#if UPDATE
layout(binding = 0, r32f) restrict uniform image2D residual;
#else
layout(binding = 0, r32f) writeonly restrict uniform image2D new_direction;
#endif
#define SAMPLE(sampler, at) textureLod(sampler, (vec2(at) + 0.5) / float(N), 0.0).r
#define P(at) SAMPLE(direction_texture, at)
#define R(at) SAMPLE(residual_texture, at)
#define OWN_R(at) imageLoad(residual, at).r
#endif

#if MEMORY == 2
#define STORE_P(at, value) imageStore(new_direction, at, vec4(value))
#define STORE_R(at, value) imageStore(residual, at, vec4(value))
#else
#define STORE_P(at, value) new_direction[at] = value
#define STORE_R(at, value) residual[at] = value
#endif

// first and last element of an item, and 4 v - above - below - left - right of its elements; `left` and `right` are the
// elements beside it
#if ITEM_WIDTH == 1
#define FIRST(v) (v)
#define LAST(v) (v)
#define BESIDE(v, left, right) ((left) + (right))
#elif ITEM_WIDTH == 2
#define FIRST(v) (v).x
#define LAST(v) (v).y
#define BESIDE(v, left, right) (dvec2(left, (v).x) + dvec2((v).y, right))
#else
#define FIRST(v) (v).x
#define LAST(v) (v).w
#define BESIDE(v, left, right) (vec4(left, (v).xyz) + vec4((v).yzw, right))
#endif
#define STENCIL(v, above, below, left, right) (4.0 * (v) - (above) - (below)-BESIDE(v, left, right))
