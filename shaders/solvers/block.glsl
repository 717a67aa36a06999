// What a texel holds of a matrix that is eliminated, and the arithmetic of such blocks. BLOCK 2: 2 x 2 elements, red and
// green above blue and alpha. BLOCK 1: one element.

#if BLOCK == 2

#define Block vec4
#define BLOCK_CHANNELS rgba

// c - a b
Block reduced(Block c, Block a, Block b) { return fma(-a.ggaa, b.baba, fma(-a.rrbb, b.rgrg, c)); }

// The block's own L and U (coprocessor paper, (3)): r g over b a becomes r g over b/r a-(b/r)g.
Block factored(Block p) {
  float multiplier = p.b / p.r;
  return vec4(p.rg, multiplier, fma(-multiplier, p.g, p.a));
}
// The diagonal of U.
vec2 diagonal(Block factors) { return factors.ra; }
// L^-1 s, U^-1 s, s U^-1
Block lower_solved(Block factors, Block s) { return vec4(s.rg, s.ba - factors.b * s.rg); }
Block upper_solved(Block factors, Block s) {
  vec2 below = s.ba / factors.a;
  return vec4((s.rg - factors.g * below) / factors.r, below);
}
Block right_solved(Block factors, Block s) {
  vec2 left = s.rb / factors.r;
  vec2 right = (s.ga - left * factors.g) / factors.a;
  return vec4(left.x, right.x, left.y, right.y);
}

#else

#define Block float
#define BLOCK_CHANNELS r

Block reduced(Block c, Block a, Block b) { return fma(-a, b, c); }
Block factored(Block p) { return p; }
vec2 diagonal(Block factors) { return vec2(factors); }
Block lower_solved(Block factors, Block s) { return s; }
Block upper_solved(Block factors, Block s) { return s / factors; }
Block right_solved(Block factors, Block s) { return s / factors; }

#endif

Block block_at(sampler2D matrix, ivec2 at) { return texelFetch(matrix, at, 0).BLOCK_CHANNELS; }
// p^-1 s, by elimination within the block
Block solved(Block p, Block s) {
  Block factors = factored(p);
  return upper_solved(factors, lower_solved(factors, s));
}
