// What a texel holds of a matrix that is eliminated, and the arithmetic of such blocks. BLOCK 2: 2 x 2 elements, red and
// green above blue and alpha. BLOCK 1: one element. DOUBLE 1, with BLOCK 2: in double precision, a block in two texels
// of words.

#if DOUBLE
#define Real double
#define Pair dvec2
#define Quad dvec4
#define Blocks usampler2D
#define LARGEST_REAL 1.7e308lf
#else
#define Real float
#define Pair vec2
#define Quad vec4
#define Blocks sampler2D
#define LARGEST_REAL 3.0e38
#endif

Quad quad_at(Blocks matrix, ivec2 at) {
#if DOUBLE
  uvec4 upper = texelFetch(matrix, ivec2(2 * at.x, at.y), 0), lower = texelFetch(matrix, ivec2(2 * at.x + 1, at.y), 0);
  return Quad(packDouble2x32(upper.xy), packDouble2x32(upper.zw), packDouble2x32(lower.xy), packDouble2x32(lower.zw));
#else
  return texelFetch(matrix, at, 0);
#endif
}

#if BLOCK == 2

#define Block Quad
#define BLOCK_CHANNELS rgba

// c - a b
Block reduced(Block c, Block a, Block b) { return fma(-a.ggaa, b.baba, fma(-a.rrbb, b.rgrg, c)); }

// The block's own L and U (coprocessor paper, (3)): r g over b a becomes r g over b/r a-(b/r)g.
Block factored(Block p) {
  Real multiplier = p.b / p.r;
  return Quad(p.rg, multiplier, fma(-multiplier, p.g, p.a));
}
// The diagonal of U.
Pair diagonal(Block factors) { return factors.ra; }
// L^-1 s, U^-1 s, s U^-1
Block lower_solved(Block factors, Block s) { return Quad(s.rg, s.ba - factors.b * s.rg); }
Block upper_solved(Block factors, Block s) {
  Pair below = s.ba / factors.a;
  return Quad((s.rg - factors.g * below) / factors.r, below);
}
Block right_solved(Block factors, Block s) {
  Pair left = s.rb / factors.r;
  Pair right = (s.ga - left * factors.g) / factors.a;
  return Quad(left.x, right.x, left.y, right.y);
}

#else

#define Block Real
#define BLOCK_CHANNELS r

Block reduced(Block c, Block a, Block b) { return fma(-a, b, c); }
Block factored(Block p) { return p; }
Pair diagonal(Block factors) { return Pair(factors); }
Block lower_solved(Block factors, Block s) { return s; }
Block upper_solved(Block factors, Block s) { return s / factors; }
Block right_solved(Block factors, Block s) { return s / factors; }

#endif

Block block_at(Blocks matrix, ivec2 at) { return quad_at(matrix, at).BLOCK_CHANNELS; }
// p^-1 s, by elimination within the block
Block solved(Block p, Block s) {
  Block factors = factored(p);
  return upper_solved(factors, lower_solved(factors, s));
}
