// Sixteen neighbouring equations of a tridiagonal system in an invocation's registers: a piece. It is brought into a
// form in which the unknowns between its first and its last depend on those two alone (H. H. Wang, A parallel method
// for tridiagonal equations, 1981; E. Laszlo, M. Giles and J. Appleyard, Manycore algorithms for batch scalar and block
// tridiagonal solvers, 2016):
//   first           L0 x_before + x0 + U0 x15 = D0
//   i = 1 ... 14    Li x0 + xi + Ui x15 = Di
//   last            L15 x0 + x15 + U15 x_after = D15
// Written out, since NVIDIA's compiler keeps arrays that a loop indexes in memory.
//
// Needs note_zero_pivot(). Buffers hold the equations of a system one after the other, padded to whole pieces with
// equations that say x = 0; the first has 0 below the diagonal, the last above it. NORMALIZED 1: the diagonal is 1, and
// not read.
#if DOUBLE
#define Four dvec4
#else
#define Four vec4
#endif

layout(std430, binding = 0) readonly restrict buffer Lower { Four lower[]; };
#if !NORMALIZED
layout(std430, binding = 1) readonly restrict buffer Diagonal { Four diagonal[]; };
#endif
layout(std430, binding = 2) readonly restrict buffer Upper { Four upper[]; };
layout(std430, binding = 3) readonly restrict buffer Right { Four right[]; };

layout(location = 2) uniform int level;  // 0: the systems given; k: what k reductions have left of them

Four lower_0, lower_1, lower_2, lower_3;
Four pivot_0, pivot_1, pivot_2, pivot_3;
Four upper_0, upper_1, upper_2, upper_3;
Four right_0, right_1, right_2, right_3;
#define L0 lower_0.x
#define L1 lower_0.y
#define L2 lower_0.z
#define L3 lower_0.w
#define L4 lower_1.x
#define L5 lower_1.y
#define L6 lower_1.z
#define L7 lower_1.w
#define L8 lower_2.x
#define L9 lower_2.y
#define L10 lower_2.z
#define L11 lower_2.w
#define L12 lower_3.x
#define L13 lower_3.y
#define L14 lower_3.z
#define L15 lower_3.w
#define B0 pivot_0.x
#define B1 pivot_0.y
#define B2 pivot_0.z
#define B3 pivot_0.w
#define B4 pivot_1.x
#define B5 pivot_1.y
#define B6 pivot_1.z
#define B7 pivot_1.w
#define B8 pivot_2.x
#define B9 pivot_2.y
#define B10 pivot_2.z
#define B11 pivot_2.w
#define B12 pivot_3.x
#define B13 pivot_3.y
#define B14 pivot_3.z
#define B15 pivot_3.w
#define U0 upper_0.x
#define U1 upper_0.y
#define U2 upper_0.z
#define U3 upper_0.w
#define U4 upper_1.x
#define U5 upper_1.y
#define U6 upper_1.z
#define U7 upper_1.w
#define U8 upper_2.x
#define U9 upper_2.y
#define U10 upper_2.z
#define U11 upper_2.w
#define U12 upper_3.x
#define U13 upper_3.y
#define U14 upper_3.z
#define U15 upper_3.w
#define D0 right_0.x
#define D1 right_0.y
#define D2 right_0.z
#define D3 right_0.w
#define D4 right_1.x
#define D5 right_1.y
#define D6 right_1.z
#define D7 right_1.w
#define D8 right_2.x
#define D9 right_2.y
#define D10 right_2.z
#define D11 right_2.w
#define D12 right_3.x
#define D13 right_3.y
#define D14 right_3.z
#define D15 right_3.w

// the piece of all equations that say x = 0
void clear_piece() {
  lower_0 = lower_1 = lower_2 = lower_3 = Four(0.0);
  pivot_0 = pivot_1 = pivot_2 = pivot_3 = Four(1.0);
  upper_0 = upper_1 = upper_2 = upper_3 = Four(0.0);
  right_0 = right_1 = right_2 = right_3 = Four(0.0);
}

// `at`: of its first four equations
void load_piece(int at) {
  lower_0 = lower[at], lower_1 = lower[at + 1], lower_2 = lower[at + 2], lower_3 = lower[at + 3];
#if !NORMALIZED
  pivot_0 = diagonal[at], pivot_1 = diagonal[at + 1], pivot_2 = diagonal[at + 2], pivot_3 = diagonal[at + 3];
#endif
  upper_0 = upper[at], upper_1 = upper[at + 1], upper_2 = upper[at + 2], upper_3 = upper[at + 3];
  right_0 = right[at], right_1 = right[at + 1], right_2 = right[at + 2], right_3 = right[at + 3];
}

// the equation of the systems given that a zero pivot is in
int given_equation(int equation) {
  for (int k = 0; k < level; ++k) equation = 16 * (equation / 2) + 15 * (equation % 2);
  return equation;
}

#define CHECK(pivot, equation) \
  if (pivot == 0.0) note_zero_pivot(system, given_equation(equation));

#define NORMALIZE(i, L, B, U, D) \
  CHECK(B, first + i)            \
  L /= B;                        \
  U /= B;                        \
  D /= B;

// equation i, less what it has of the one above it (L_, U_, D_)
#define FORWARD(i, L, B, U, D, L_, U_, D_)     \
  pivot = fma(-L, U_, B);                      \
  CHECK(pivot, first + i)                      \
  factor = 1.0 / pivot;                        \
  D = fma(-L, D_, D) * factor;                 \
  L = -L * L_ * factor;                        \
  U *= factor;

// less what it has of the one below it
#define BACKWARD(L, U, D, L_, U_, D_) \
  D = fma(-U, D_, D);                 \
  L = fma(-U, L_, L);                 \
  U = -U * U_;

// `first`: the number of its first equation in the system, for pivots that are 0
void reduce_piece(int system, int first) {
  Real pivot, factor;
  NORMALIZE(0, L0, B0, U0, D0)
  NORMALIZE(1, L1, B1, U1, D1)
  FORWARD(2, L2, B2, U2, D2, L1, U1, D1)
  FORWARD(3, L3, B3, U3, D3, L2, U2, D2)
  FORWARD(4, L4, B4, U4, D4, L3, U3, D3)
  FORWARD(5, L5, B5, U5, D5, L4, U4, D4)
  FORWARD(6, L6, B6, U6, D6, L5, U5, D5)
  FORWARD(7, L7, B7, U7, D7, L6, U6, D6)
  FORWARD(8, L8, B8, U8, D8, L7, U7, D7)
  FORWARD(9, L9, B9, U9, D9, L8, U8, D8)
  FORWARD(10, L10, B10, U10, D10, L9, U9, D9)
  FORWARD(11, L11, B11, U11, D11, L10, U10, D10)
  FORWARD(12, L12, B12, U12, D12, L11, U11, D11)
  FORWARD(13, L13, B13, U13, D13, L12, U12, D12)
  FORWARD(14, L14, B14, U14, D14, L13, U13, D13)
  FORWARD(15, L15, B15, U15, D15, L14, U14, D14)
  BACKWARD(L13, U13, D13, L14, U14, D14)
  BACKWARD(L12, U12, D12, L13, U13, D13)
  BACKWARD(L11, U11, D11, L12, U12, D12)
  BACKWARD(L10, U10, D10, L11, U11, D11)
  BACKWARD(L9, U9, D9, L10, U10, D10)
  BACKWARD(L8, U8, D8, L9, U9, D9)
  BACKWARD(L7, U7, D7, L8, U8, D8)
  BACKWARD(L6, U6, D6, L7, U7, D7)
  BACKWARD(L5, U5, D5, L6, U6, D6)
  BACKWARD(L4, U4, D4, L5, U5, D5)
  BACKWARD(L3, U3, D3, L4, U4, D4)
  BACKWARD(L2, U2, D2, L3, U3, D3)
  BACKWARD(L1, U1, D1, L2, U2, D2)
  pivot = fma(-U0, L1, Real(1.0));
  CHECK(pivot, first)
  factor = 1.0 / pivot;
  D0 = fma(-U0, D1, D0) * factor;
  L0 *= factor;
  U0 = -U0 * U1 * factor;
}

// All unknowns, by the first and the last, in place of the right-hand sides.
void solve_piece(Real x0, Real x15) {
  right_0 -= lower_0 * x0 + upper_0 * x15;
  right_1 -= lower_1 * x0 + upper_1 * x15;
  right_2 -= lower_2 * x0 + upper_2 * x15;
  right_3 -= lower_3 * x0 + upper_3 * x15;
  D0 = x0;
  D15 = x15;
}
