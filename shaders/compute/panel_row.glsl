// A row of a block of BLOCK columns, in registers: an array would be put into memory, separately named vectors are not.
//
// Elimination takes the columns one after the other, and the row turns as it does: the current column is always element
// 0. A turn subtracts `factor` times a given row from what follows element 0, puts that one place to the front, and the
// factor behind it:
//   (r[0], r[1], ..., r[31])  ->  (r[1] - factor g[0], ..., r[31] - factor g[30], factor)
// so that the text is the same for every column, and after BLOCK turns all multipliers stand in the order of their
// columns. The given row is one place to the front already, and 0 where there is nothing to subtract from: at its end.
#define BLOCK 32

#if DOUBLE
#define ROW_VECTORS 16
#define REST(v) v.y
#define FIRST_QUARTER(f) f(0, r0, r1) f(1, r1, r2) f(2, r2, r3) f(3, r3, r4)
#define SECOND_QUARTER(f) f(4, r4, r5) f(5, r5, r6) f(6, r6, r7) f(7, r7, r8)
#define THIRD_QUARTER(f) f(8, r8, r9) f(9, r9, r10) f(10, r10, r11) f(11, r11, r12)
#define FOURTH_QUARTER(f, last) f(12, r12, r13) f(13, r13, r14) f(14, r14, r15) last(15, r15)
#define DECLARE_ROW Vector r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15;
// Calls f(element, value) for an element of vector k.
#define ELEMENTS(f, k, r) f(2 * k, r.x) f(2 * k + 1, r.y)
#else
#define ROW_VECTORS 8
#define REST(v) v.yzw
#define FIRST_QUARTER(f) f(0, r0, r1) f(1, r1, r2)
#define SECOND_QUARTER(f) f(2, r2, r3) f(3, r3, r4)
#define THIRD_QUARTER(f) f(4, r4, r5) f(5, r5, r6)
#define FOURTH_QUARTER(f, last) f(6, r6, r7) last(7, r7)
#define DECLARE_ROW Vector r0, r1, r2, r3, r4, r5, r6, r7;
#define ELEMENTS(f, k, r) f(4 * k, r.x) f(4 * k + 1, r.y) f(4 * k + 2, r.z) f(4 * k + 3, r.w)
#endif
#define EACH_VECTOR(f, last) FIRST_QUARTER(f) SECOND_QUARTER(f) THIRD_QUARTER(f) FOURTH_QUARTER(f, last)

// Needs: Vector given(k), vector k of the given row; Real factor. After every 8 turns another quarter of the row is but
// multipliers, which are only moved: reading the given row from shared memory is what a turn takes longest for.
#define TURN(k, r, next) r = fma(Vector(-factor), given(k), Vector(REST(r), next.x));
#define TURN_LAST(k, r) r = fma(Vector(-factor), given(k), Vector(REST(r), factor));
#define MOVE(k, r, next) r = Vector(REST(r), next.x);
#define MOVE_LAST(k, r) r = Vector(REST(r), factor);
#define TURN_ROW(turns_before)                                                                  \
  if (turns_before < 8) {                                                                       \
    EACH_VECTOR(TURN, TURN_LAST)                                                                \
  } else if (turns_before < 16) {                                                               \
    FIRST_QUARTER(TURN) SECOND_QUARTER(TURN) THIRD_QUARTER(TURN) FOURTH_QUARTER(MOVE, MOVE_LAST) \
  } else if (turns_before < 24) {                                                               \
    FIRST_QUARTER(TURN) SECOND_QUARTER(TURN) THIRD_QUARTER(MOVE) FOURTH_QUARTER(MOVE, MOVE_LAST) \
  } else {                                                                                      \
    FIRST_QUARTER(TURN) SECOND_QUARTER(MOVE) THIRD_QUARTER(MOVE) FOURTH_QUARTER(MOVE, MOVE_LAST) \
  }

// f(element, value) for all elements, in their order; an assignment to `value` changes the row.
#define FOR_ELEMENTS_OF(f)                                   \
  ELEMENTS(f, 0, r0) ELEMENTS(f, 1, r1) ELEMENTS(f, 2, r2) ELEMENTS(f, 3, r3)   \
  ELEMENTS(f, 4, r4) ELEMENTS(f, 5, r5) ELEMENTS(f, 6, r6) ELEMENTS(f, 7, r7)
#if DOUBLE
#define FOR_ELEMENTS(f)                                      \
  FOR_ELEMENTS_OF(f)                                         \
  ELEMENTS(f, 8, r8) ELEMENTS(f, 9, r9) ELEMENTS(f, 10, r10) ELEMENTS(f, 11, r11)   \
  ELEMENTS(f, 12, r12) ELEMENTS(f, 13, r13) ELEMENTS(f, 14, r14) ELEMENTS(f, 15, r15)
#else
#define FOR_ELEMENTS(f) FOR_ELEMENTS_OF(f)
#endif
