/* glinpack_gateway (COMMAND, ...): what gpuMatrix.m calls of libglinpack. MEX C API, for Octave and MATLAB.

   A matrix is a handle: uint64 [id, rows, columns, is single + 2 if too much is pending]. The id's low bits are a slot
   of a table; no other matrix of the process has the same id. An operand is a handle, or an ordinary real matrix, which
   is uploaded. Operations return a handle at once, or [] if Octave has to compute the result. gpuMatrix.m waits in
   short steps, between which Octave handles Ctrl-C. */
#include <glinpack.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mex.h"

#define SLOT_BITS 24
#define MOST_PENDING 1000              /* operations; a call that adds one waits until there are fewer */
#define MOST_PENDING_BYTES 1073741824. /* of their results */
#define HISTORY 4096                   /* more than operations of a call and MOST_PENDING */

/* The reciprocal condition of a matrix that systems are solved with, for the warning. */
typedef struct Condition {
  glinpack_matrix *number; /* NULL once the value is known */
  double value;
  int single;
  int references;
} Condition;

typedef struct Slot {
  uint64_t id; /* 0: free */
  glinpack_matrix *matrix;
  Condition *condition;
} Slot;

static glinpack_context *context;
static int packed; /* its matrices are textures of packing 2x2, in single precision */
static Slot *slots;
static size_t slot_count, live_count;
static uint64_t last_serial;
static const glinpack_matrix *newest;
static uint64_t limited; /* id of the matrix whose constructor waits because too much is pending */

static glinpack_matrix *temporaries[16]; /* of this call */
static int temporary_count;
static Condition **watched; /* conditions of systems that no wait has reported yet */
static size_t watched_count, watched_capacity;
static double enqueued_bytes[HISTORY]; /* sums after each operation */
static uint64_t enqueued_count;

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void free_temporaries(void) {
  while (temporary_count > 0) glinpack_matrix_free(temporaries[--temporary_count]);
}

/* error() or warning(). mexErrMsgIdAndTxt() and mexWarnMsgIdAndTxt() would begin the text with the gateway's name. */
static void say(const char *function, const char *identifier, const char *text) {
  mxArray *arguments[3];
  arguments[0] = mxCreateString(identifier);
  arguments[1] = mxCreateString("%s");
  arguments[2] = mxCreateString(text);
  mexCallMATLAB(0, NULL, 3, arguments, function); /* an error does not return */
}

static void fail(const char *identifier, const char *format, ...) {
  char text[1400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  free_temporaries();
  say("error", identifier, text);
}

static const char *identifier_of(glinpack_status status) {
  switch (status) {
    case GLINPACK_INVALID_ARGUMENT:
      return "glinpack:argument";
    case GLINPACK_WRONG_SIZE:
      return "glinpack:size";
    case GLINPACK_NO_DEVICE:
      return "glinpack:device";
    case GLINPACK_OUT_OF_MEMORY:
      return "glinpack:memory";
    case GLINPACK_SINGULAR:
      return "glinpack:singular";
    case GLINPACK_CANCELLED:
      return "glinpack:cancelled";
    default:
      return "glinpack:failed";
  }
}

static void check(glinpack_status status) {
  if (status == GLINPACK_OK) return;
  fail(identifier_of(status), "%s%s", status == GLINPACK_OUT_OF_MEMORY ? "out of memory: " : "", glinpack_last_error());
}

/* Errors that only computing shows. */
static void check_computed(glinpack_status status, const glinpack_matrix *matrix) {
  if (status == GLINPACK_OK || (status == GLINPACK_SINGULAR && !packed)) return;
  fail(identifier_of(status), "%s: %s", glinpack_status_text(status), glinpack_error_text(matrix));
}

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

static void release_condition(Condition *condition) {
  if (!condition || --condition->references > 0) return;
  glinpack_matrix_free(condition->number);
  free(condition);
}

static void free_all(void) {
  size_t k;
  free_temporaries();
  for (k = 0; k < slot_count; ++k) {
    if (!slots[k].id) continue;
    release_condition(slots[k].condition);
    glinpack_matrix_free(slots[k].matrix);
  }
  for (k = 0; k < watched_count; ++k) release_condition(watched[k]);
  free(slots);
  free(watched);
  slots = NULL;
  watched = NULL;
  newest = NULL;
  slot_count = live_count = watched_count = watched_capacity = 0;
  glinpack_context_free(context); /* cancels what has not begun, and ends the thread */
  context = NULL;
}

static void open_context(const char *device, int threads, int with_packing) {
  if (!device) device = getenv("GLINPACK_DEVICE");
  if (!device || !*device) device = "auto";
  check(with_packing ? glinpack_context_create_packed(device, &context)
                     : glinpack_context_create(device, threads > 0 ? threads : 0, &context));
  packed = with_packing;
  mexAtExit(free_all);
}

static glinpack_context *the_context(void) {
  if (!context) open_context(NULL, 0, 0);
  return context;
}

static int is_handle(const mxArray *argument) { return mxIsUint64(argument) && mxGetNumberOfElements(argument) == 4; }

static Slot *slot_with(uint64_t id) {
  const size_t slot = (size_t)(id & ((1u << SLOT_BITS) - 1));
  return id && slot < slot_count && slots[slot].id == id ? &slots[slot] : NULL;
}

static Slot *slot_of(const mxArray *argument) {
  return slot_with(is_handle(argument) ? *(const uint64_t *)mxGetData(argument) : 0);
}

static Slot *existing_slot(const mxArray *argument) {
  Slot *slot = slot_of(argument);
  if (!slot) fail("glinpack:freed", "this gpuMatrix was freed by delete or clear mex");
  return slot;
}

static Slot *free_slot(void) {
  static size_t next;
  size_t k;
  if (live_count == slot_count) {
    const size_t grown = slot_count ? 2 * slot_count : 64;
    Slot *moved = grown > ((size_t)1 << SLOT_BITS) ? NULL : (Slot *)realloc(slots, grown * sizeof(Slot));
    if (!moved) return NULL;
    memset(moved + slot_count, 0, (grown - slot_count) * sizeof(Slot));
    slots = moved;
    next = slot_count;
    slot_count = grown;
  }
  for (k = 0; k < slot_count; ++k, ++next) {
    if (!slots[next % slot_count].id) return &slots[next++ % slot_count];
  }
  return NULL;
}

static void note_enqueued(const glinpack_matrix *matrix) {
  const double bytes = (double)glinpack_matrix_rows(matrix) * (double)glinpack_matrix_columns(matrix) *
                       (glinpack_matrix_precision(matrix) == GLINPACK_SINGLE ? 4 : 8);
  const double sum = enqueued_bytes[enqueued_count % HISTORY];
  enqueued_bytes[++enqueued_count % HISTORY] = sum + bytes;
}

static int too_much_pending(void) {
  uint64_t pending = (uint64_t)glinpack_context_pending(context);
  if (pending > MOST_PENDING) return 1;
  if (pending > enqueued_count) pending = enqueued_count;
  return pending > 1 &&
         enqueued_bytes[enqueued_count % HISTORY] - enqueued_bytes[(enqueued_count - pending) % HISTORY] >
             MOST_PENDING_BYTES;
}

static glinpack_matrix *temporary(glinpack_matrix *matrix) {
  note_enqueued(matrix);
  return temporaries[temporary_count++] = matrix;
}

/* Enters the matrix into the table. */
static mxArray *handle_of(glinpack_matrix *matrix) {
  mxArray *handle = mxCreateNumericMatrix(1, 4, mxUINT64_CLASS, mxREAL);
  uint64_t *parts = (uint64_t *)mxGetData(handle);
  Slot *slot = free_slot();
  /* after `clear mex`, too, ids are new: every call takes longer than a tick of the process's time */
  const uint64_t now = (uint64_t)((double)clock() / CLOCKS_PER_SEC * 1e6);
  if (!slot) {
    glinpack_matrix_free(matrix);
    fail("glinpack:memory", "out of memory: there are %.0f matrices", (double)live_count);
  }
  last_serial = now > last_serial ? now : last_serial + 1;
  note_enqueued(matrix);
  slot->matrix = matrix;
  slot->condition = NULL;
  slot->id = (last_serial << SLOT_BITS) | (uint64_t)(slot - slots);
  newest = matrix;
  ++live_count;
  parts[0] = slot->id;
  parts[1] = (uint64_t)glinpack_matrix_rows(matrix);
  parts[2] = (uint64_t)glinpack_matrix_columns(matrix);
  parts[3] = glinpack_matrix_precision(matrix) == GLINPACK_SINGLE;
  return handle;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static glinpack_precision precision_of(const mxArray *argument) {
  if (is_handle(argument)) return glinpack_matrix_precision(existing_slot(argument)->matrix);
  return packed || mxIsSingle(argument) ? GLINPACK_SINGLE : GLINPACK_DOUBLE;
}

/* Single if one of them is, as in Octave. */
static glinpack_precision common_precision(const mxArray *a, const mxArray *b) {
  return precision_of(a) == GLINPACK_SINGLE ? GLINPACK_SINGLE : precision_of(b);
}

static int64_t rows_of(const mxArray *argument) {
  return is_handle(argument) ? glinpack_matrix_rows(existing_slot(argument)->matrix) : (int64_t)mxGetM(argument);
}
static int64_t columns_of(const mxArray *argument) {
  return is_handle(argument) ? glinpack_matrix_columns(existing_slot(argument)->matrix) : (int64_t)mxGetN(argument);
}

static glinpack_matrix *upload(const mxArray *argument, glinpack_precision precision) {
  const int64_t rows = (int64_t)mxGetM(argument), columns = (int64_t)mxGetN(argument);
  mxArray *converted = NULL;
  glinpack_matrix *matrix = NULL;
  glinpack_status status;
  if (mxGetNumberOfDimensions(argument) > 2) fail("glinpack:size", "a gpuMatrix has two dimensions");
  if (mxIsComplex(argument)) fail("glinpack:type", "a gpuMatrix has no complex elements");
  if (mxIsSparse(argument) || mxIsLogical(argument) || mxIsChar(argument)) {
    mxArray *from = (mxArray *)argument;
    mexCallMATLAB(1, &converted, 1, &from, mxIsSparse(argument) ? "full" : "double");
    matrix = upload(converted, precision);
    mxDestroyArray(converted);
    return matrix;
  }
  if (mxIsSingle(argument)) {
    status = glinpack_matrix_from_float(the_context(), precision, rows, columns, (const float *)mxGetData(argument), 1,
                                        rows, &matrix);
  } else if (mxIsDouble(argument)) {
    status = glinpack_matrix_from_double(the_context(), precision, rows, columns, (const double *)mxGetData(argument),
                                         1, rows, &matrix);
  } else {
    fail("glinpack:type", "a matrix of class %s cannot be an operand of a gpuMatrix: convert it to double",
         mxGetClassName(argument));
    return NULL;
  }
  check(status);
  return matrix;
}

static const glinpack_matrix *operand(const mxArray *argument, glinpack_precision precision) {
  glinpack_matrix *matrix, *converted;
  if (!is_handle(argument)) return temporary(upload(argument, precision));
  matrix = existing_slot(argument)->matrix;
  if (glinpack_matrix_precision(matrix) == precision) return matrix;
  check(glinpack_convert(matrix, precision, &converted));
  return temporary(converted);
}

/* An ordinary number beside a matrix. */
static int is_number(const mxArray *argument) {
  return mxGetNumberOfElements(argument) == 1 && !mxIsComplex(argument) && !mxIsSparse(argument) &&
         (mxIsDouble(argument) || mxIsSingle(argument) || mxIsLogical(argument));
}

static double number_at(int nrhs, const mxArray *prhs[], int position) {
  if (position >= nrhs || mxGetNumberOfElements(prhs[position]) != 1) {
    fail("glinpack:argument", "argument %d has to be a number", position);
  }
  return mxGetScalar(prhs[position]);
}

/* Valid until the next call. */
static const char *text_at(int nrhs, const mxArray *prhs[], int position) {
  static char text[64];
  if (position >= nrhs) return "";
  if (mxGetString(prhs[position], text, sizeof text)) {
    fail("glinpack:argument", "argument %d has to be a short text", position);
  }
  return text;
}

static glinpack_precision precision_at(int nrhs, const mxArray *prhs[], int position, glinpack_precision otherwise) {
  const char *name = text_at(nrhs, prhs, position);
  if (!*name) return packed ? GLINPACK_SINGLE : otherwise;
  if (strcmp(name, "single") && strcmp(name, "double")) {
    fail("glinpack:argument", "the class has to be \"single\" or \"double\", not \"%s\"", name);
  }
  return strcmp(name, "single") ? GLINPACK_DOUBLE : GLINPACK_SINGLE;
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

typedef glinpack_status (*Elementwise)(const glinpack_matrix *, const glinpack_matrix *, glinpack_matrix **);

/* Octave's words for them in messages */
static const struct {
  const char *name, *message;
  Elementwise function;
} elementwise[] = {{"plus", "operator +", glinpack_add},
                   {"minus", "operator -", glinpack_subtract},
                   {"times", "product", glinpack_multiply_elements},
                   {"rdivide", "quotient", glinpack_divide_elements}};

static int has_size(const mxArray *a, int64_t rows, int64_t columns) {
  return rows_of(a) == rows && columns_of(a) == columns;
}
static int is_scalar(const mxArray *a) { return has_size(a, 1, 1); }
static int same_size(const mxArray *a, const mxArray *b) { return has_size(a, rows_of(b), columns_of(b)); }

static void fail_if(int wrong, const char *message, const mxArray *a, const mxArray *b) {
  if (!wrong) return;
  fail("glinpack:size", "%s (%s%.0fx%.0f%s%.0fx%.0f)", message, strstr(message, "arguments") ? "op1 is " : "",
       (double)rows_of(a), (double)columns_of(a), strstr(message, "arguments") ? ", op2 is " : " vs ",
       (double)rows_of(b), (double)columns_of(b));
}

/* A row, a column or a number is repeated: a product with ones. */
static const glinpack_matrix *expanded(const mxArray *argument, glinpack_precision precision, int64_t rows,
                                       int64_t columns) {
  const glinpack_matrix *a = operand(argument, precision);
  glinpack_matrix *ones, *result;
  if (glinpack_matrix_rows(a) != rows) {
    check(glinpack_matrix_constant(the_context(), precision, rows, 1, 1, &ones));
    check(glinpack_gemm(0, 0, 1, temporary(ones), a, 0, NULL, &result));
    a = temporary(result);
  }
  if (glinpack_matrix_columns(a) != columns) {
    check(glinpack_matrix_constant(the_context(), precision, 1, columns, 1, &ones));
    check(glinpack_gemm(0, 0, 1, a, temporary(ones), 0, NULL, &result));
    a = temporary(result);
  }
  return a;
}

/* A matrix and an ordinary number, in this order unless `number_first`. */
static glinpack_matrix *with_number(const char *name, const mxArray *matrix, double number, int number_first,
                                    glinpack_precision precision) {
  const glinpack_matrix *a = operand(matrix, precision);
  glinpack_matrix *result = NULL, *filled;
  if (!strcmp(name, "plus")) {
    check(glinpack_scale(1, a, number, &result));
  } else if (!strcmp(name, "minus")) {
    check(number_first ? glinpack_scale(-1, a, number, &result) : glinpack_scale(1, a, -number, &result));
  } else if (!strcmp(name, "times")) {
    check(glinpack_scale(number, a, 0, &result));
  } else { /* a reciprocal would be rounded */
    check(glinpack_matrix_constant(the_context(), precision, glinpack_matrix_rows(a), glinpack_matrix_columns(a),
                                   number, &filled));
    temporary(filled);
    check(number_first ? glinpack_divide_elements(filled, a, &result) : glinpack_divide_elements(a, filled, &result));
  }
  return result;
}

static glinpack_matrix *combined(int k, const mxArray *a, const mxArray *b) {
  const glinpack_precision precision = common_precision(a, b);
  const int64_t rows = rows_of(a) == 1 ? rows_of(b) : rows_of(a);
  const int64_t columns = columns_of(a) == 1 ? columns_of(b) : columns_of(a);
  const glinpack_matrix *left, *right;
  glinpack_matrix *result = NULL;
  char message[64];
  if (is_number(a) && !same_size(a, b)) {
    return with_number(elementwise[k].name, b, mxGetScalar(a), 1, precision);
  }
  if (is_number(b) && !same_size(a, b)) {
    return with_number(elementwise[k].name, a, mxGetScalar(b), 0, precision);
  }
  snprintf(message, sizeof message, "%s: nonconformant arguments", elementwise[k].message);
  fail_if((rows_of(b) != rows && rows_of(b) != 1) || (columns_of(b) != columns && columns_of(b) != 1), message, a, b);
  left = expanded(a, precision, rows, columns);
  right = expanded(b, precision, rows, columns);
  check(elementwise[k].function(left, right, &result));
  return result;
}

static glinpack_matrix *product(const mxArray *a, const mxArray *b) {
  const glinpack_precision precision = common_precision(a, b);
  const glinpack_matrix *left, *right;
  glinpack_matrix *result = NULL;
  if (is_scalar(a) || is_scalar(b)) return combined(2, a, b);
  fail_if(columns_of(a) != rows_of(b), "operator *: nonconformant arguments", a, b);
  left = operand(a, precision);
  right = operand(b, precision);
  check(glinpack_gemm(0, 0, 1, left, right, 0, NULL, &result));
  return result;
}

static glinpack_matrix *joined(int side_by_side, const mxArray *a, const mxArray *b) {
  const glinpack_precision precision = common_precision(a, b);
  const glinpack_matrix *first, *second;
  glinpack_matrix *result = NULL;
  fail_if(side_by_side && rows_of(a) != rows_of(b), "horizontal dimensions mismatch", a, b);
  fail_if(!side_by_side && columns_of(a) != columns_of(b), "vertical dimensions mismatch", a, b);
  first = operand(a, precision);
  second = operand(b, precision);
  check(side_by_side ? glinpack_horzcat(first, second, &result) : glinpack_vertcat(first, second, &result));
  return result;
}

/* Takes the 1 x 1 matrix, also if it fails. */
static Condition *condition_of(glinpack_matrix *number) {
  Condition *condition = (Condition *)calloc(1, sizeof *condition);
  const int is_fetched = condition && glinpack_prefetch(number) == GLINPACK_OK;
  if (!is_fetched) {
    glinpack_matrix_free(number);
    if (!condition) fail("glinpack:memory", "out of memory");
    free(condition);
    fail("glinpack:failed", "%s", glinpack_last_error());
  }
  condition->number = number;
  condition->single = glinpack_matrix_precision(number) == GLINPACK_SINGLE;
  note_enqueued(number); /* its computation, */
  note_enqueued(number); /* and its transfer */
  return condition;
}

/* The next wait reports it. */
static void watch(Condition *condition) {
  size_t k;
  for (k = 0; k < watched_count; ++k) {
    if (watched[k] == condition) return;
  }
  if (watched_count == watched_capacity) {
    const size_t grown = 2 * watched_capacity + 16;
    Condition **moved = (Condition **)realloc(watched, grown * sizeof *watched);
    if (!moved) {
      ++condition->references;
      release_condition(condition);
      fail("glinpack:memory", "out of memory");
    }
    watched = moved;
    watched_capacity = grown;
  }
  watched[watched_count++] = condition;
  ++condition->references;
}

/* The same for the condition of `a`, whose handle is `argument` unless it was uploaded or converted. */
static void watch_condition(const mxArray *argument, const glinpack_matrix *a) {
  Slot *slot = slot_of(argument);
  Condition *condition = slot && slot->matrix == a ? slot->condition : NULL;
  glinpack_matrix *number;
  if (packed) return; /* LAPACK would read the factors */
  if (!condition) {
    check(glinpack_rcond(a, &number));
    condition = condition_of(number);
    if (slot && slot->matrix == a) {
      slot->condition = condition;
      ++condition->references;
    }
  }
  watch(condition);
}

/* Warns once, with Octave's words, of each system that is solved. The condition is computed before the solution. */
static void report_conditions(void) {
  size_t k = 0;
  while (k < watched_count) {
    Condition *condition = watched[k];
    double value;
    int singular, is_single = condition->single;
    if (condition->number && !glinpack_ready(condition->number)) {
      ++k;
      continue;
    }
    if (condition->number) {
      if (glinpack_matrix_read_double(condition->number, &condition->value, 1, 1) != GLINPACK_OK) condition->value = 1;
      glinpack_matrix_free(condition->number);
      condition->number = NULL;
    }
    value = condition->value;
    watched[k] = watched[--watched_count];
    release_condition(condition);
    singular = is_single ? (float)value + 1.0F == 1.0F : value + 1.0 == 1.0;
    if (value == 0 || value != value) {
      say("warning", "glinpack:singular", "matrix singular to machine precision");
    } else if (singular) {
      char text[80];
      snprintf(text, sizeof text, "matrix singular to machine precision, rcond = %g", value);
      say("warning", "glinpack:nearlySingular", text);
    }
  }
}

/* a \ b; NULL for least squares */
static glinpack_matrix *left_division(const mxArray *a, const mxArray *b) {
  const glinpack_precision precision = common_precision(a, b);
  const glinpack_matrix *matrix, *right;
  glinpack_matrix *result = NULL;
  if (is_scalar(a)) return combined(3, b, a);
  fail_if(rows_of(a) != rows_of(b), "operator \\: nonconformant arguments", a, b);
  if (rows_of(a) != columns_of(a)) return NULL;
  matrix = operand(a, precision);
  right = operand(b, precision);
  watch_condition(a, matrix);
  check(glinpack_solve(matrix, right, &result));
  return result;
}

/* a / b = (b' \ a')'; NULL for least squares */
static glinpack_matrix *right_division(const mxArray *a, const mxArray *b) {
  const glinpack_precision precision = common_precision(a, b);
  glinpack_matrix *matrix, *right, *solution, *result = NULL;
  if (is_scalar(b)) return combined(3, a, b);
  fail_if(columns_of(a) != columns_of(b), "operator /: nonconformant arguments", a, b);
  if (rows_of(b) != columns_of(b)) return NULL;
  check(glinpack_transpose(operand(b, precision), &matrix));
  temporary(matrix);
  check(glinpack_transpose(operand(a, precision), &right));
  temporary(right);
  watch_condition(b, matrix);
  check(glinpack_solve(matrix, right, &solution));
  check(glinpack_transpose(temporary(solution), &result));
  return result;
}

static glinpack_matrix *tridiagonal(const mxArray *systems[]) {
  const glinpack_precision precision = common_precision(systems[0], systems[1]) == GLINPACK_SINGLE
                                           ? GLINPACK_SINGLE
                                           : common_precision(systems[2], systems[3]);
  const glinpack_matrix *operands[4];
  glinpack_matrix *result = NULL;
  int k;
  for (k = 0; k < 4; ++k) operands[k] = operand(systems[k], precision);
  check(glinpack_tridiagonal(operands[0], operands[1], operands[2], operands[3], &result));
  return result;
}

/* x of A x = b. A has these diagonals, as glinpack_banded_solve() takes them. */
static glinpack_matrix *banded(const mxArray *diagonals, const mxArray *offsets, const mxArray *b) {
  const glinpack_precision precision = common_precision(diagonals, b);
  const size_t count = mxGetNumberOfElements(offsets);
  const glinpack_matrix *matrix = operand(diagonals, precision), *right = operand(b, precision);
  int64_t *places = (int64_t *)mxMalloc(count * sizeof *places); /* Octave frees it if an error ends the call */
  glinpack_matrix *condition = NULL, *result = NULL;
  size_t k;
  for (k = 0; k < count; ++k) places[k] = (int64_t)mxGetPr(offsets)[k];
  check(glinpack_banded_solve(matrix, places, (int64_t)count, right, packed ? NULL : &condition, &result));
  mxFree(places);
  note_enqueued(matrix); /* its factors */
  if (condition) watch(condition_of(condition));
  return result;
}

static glinpack_norm_kind norm_kind(const char *name) {
  if (!strcmp(name, "one")) return GLINPACK_NORM_ONE;
  if (!strcmp(name, "infinity")) return GLINPACK_NORM_INFINITY;
  return strcmp(name, "maximum") ? GLINPACK_NORM_FROBENIUS : GLINPACK_NORM_MAXIMUM;
}

/* An operation of one matrix; NULL for another command. */
static glinpack_matrix *unary(const char *command, int nrhs, const mxArray *prhs[]) {
  const glinpack_matrix *a = nrhs > 1 ? existing_slot(prhs[1])->matrix : NULL;
  glinpack_matrix *result = NULL;
  const char *square = !strcmp(command, "inv")     ? "inverse"
                       : !strcmp(command, "det")   ? "det"
                       : !strcmp(command, "rcond") ? "rcond"
                                                   : NULL;
  if (square && glinpack_matrix_rows(a) != glinpack_matrix_columns(a)) {
    fail("glinpack:size", "%s: A must be a square matrix", square);
  }
  if (!strcmp(command, "transpose")) {
    check(glinpack_transpose(a, &result));
  } else if (!strcmp(command, "convert")) {
    check(glinpack_convert(a, precision_at(nrhs, prhs, 2, GLINPACK_DOUBLE), &result));
  } else if (!strcmp(command, "submatrix")) {
    check(glinpack_submatrix(a, (int64_t)number_at(nrhs, prhs, 2), (int64_t)number_at(nrhs, prhs, 3),
                             (int64_t)number_at(nrhs, prhs, 4), (int64_t)number_at(nrhs, prhs, 5), &result));
  } else if (!strcmp(command, "replace") && nrhs > 2) {
    check(glinpack_replace(a, (int64_t)number_at(nrhs, prhs, 3), (int64_t)number_at(nrhs, prhs, 4),
                           operand(prhs[2], glinpack_matrix_precision(a)), &result));
  } else if (!strcmp(command, "inv")) {
    if (number_at(nrhs, prhs, 2) && !is_scalar(prhs[1])) watch_condition(prhs[1], a);
    check(glinpack_inverse(a, &result));
  } else if (!strcmp(command, "rref")) {
    check(glinpack_rref(a, &result));
  } else if (!strcmp(command, "det")) {
    check(glinpack_determinant(a, &result));
  } else if (!strcmp(command, "rcond")) {
    check(glinpack_rcond(a, &result));
  } else if (!strcmp(command, "norm")) {
    check(glinpack_norm(a, norm_kind(text_at(nrhs, prhs, 2)), &result));
  }
  return result;
}

/* [l, u, p] */
static void factors(int nlhs, mxArray *plhs[], const mxArray *a) {
  glinpack_matrix *l = NULL, *u = NULL, *p = NULL;
  check(glinpack_lu(existing_slot(a)->matrix, nlhs > 2 ? &p : NULL, &l, &u));
  plhs[0] = handle_of(l);
  if (nlhs > 1) {
    plhs[1] = handle_of(u);
  } else {
    glinpack_matrix_free(u);
  }
  if (nlhs > 2) plhs[2] = handle_of(p);
}

/* ---- Waiting and reading ----------------------------------------------------------------------------------------- */

/* True if the matrix is computed. Reports its error, or warns of singular matrices. */
static mxArray *wait_for(const glinpack_matrix *matrix, double seconds) {
  const glinpack_status status = glinpack_wait(matrix, seconds);
  if (status == GLINPACK_NOT_READY) return mxCreateLogicalScalar(0);
  check_computed(status, matrix);
  report_conditions();
  return mxCreateLogicalScalar(1);
}

/* The handle's last part, after a wait of at most a tenth of a second if too much is pending. */
static mxArray *limit_pending(const mxArray *argument) {
  const glinpack_matrix *matrix = existing_slot(argument)->matrix;
  int steps = 100;
  while (too_much_pending() && steps-- > 0 && glinpack_wait(matrix, 0.001) == GLINPACK_NOT_READY) continue;
  if (!too_much_pending() || glinpack_ready(matrix)) limited = 0;
  return mxCreateDoubleScalar((glinpack_matrix_precision(matrix) == GLINPACK_SINGLE) + (limited ? 2 : 0));
}

static mxArray *elements_of(const glinpack_matrix *matrix, glinpack_precision precision) {
  const int64_t rows = glinpack_matrix_rows(matrix), columns = glinpack_matrix_columns(matrix);
  const size_t count = (size_t)(rows * columns);
  mxArray *array = mxCreateNumericMatrix((mwSize)rows, (mwSize)columns,
                                         precision == GLINPACK_SINGLE ? mxSINGLE_CLASS : mxDOUBLE_CLASS, mxREAL);
  void *data = mxGetData(array);
  const glinpack_status status = precision == GLINPACK_SINGLE
                                     ? glinpack_matrix_read_float(matrix, (float *)data, 1, rows)
                                     : glinpack_matrix_read_double(matrix, (double *)data, 1, rows);
  size_t k;
  check_computed(status, matrix);
  for (k = 0; status == GLINPACK_SINGULAR && k < count; ++k) {
    if (precision == GLINPACK_SINGLE) {
      ((float *)data)[k] = (float)HUGE_VAL;
    } else {
      ((double *)data)[k] = HUGE_VAL;
    }
  }
  return array;
}

static mxArray *state_of(const mxArray *argument) {
  const Slot *slot = slot_of(argument);
  const char *text;
  if (!slot) return mxCreateString("freed");
  if (!glinpack_ready(slot->matrix)) return mxCreateString("not computed yet");
  text = glinpack_error_text(slot->matrix);
  return mxCreateString(*text ? text : "computed");
}

static void release(Slot *slot) {
  if (!slot) return;
  if (newest == slot->matrix) newest = NULL;
  release_condition(slot->condition);
  glinpack_matrix_free(slot->matrix);
  memset(slot, 0, sizeof *slot);
  --live_count;
}

/* A copy while later operations run; the newest matrix has none. */
static void prefetch(const glinpack_matrix *matrix) {
  if (matrix != newest && !glinpack_ready(matrix)) check(glinpack_prefetch(matrix));
}

/* [elements, true], or [[], false] if they are not computed within a tenth of a second. */
static void fetch(int nlhs, mxArray *plhs[], const mxArray *argument, glinpack_precision precision) {
  const glinpack_matrix *matrix = existing_slot(argument)->matrix;
  glinpack_status status;
  prefetch(matrix);
  status = glinpack_wait(matrix, 0.1);
  if (nlhs > 1) plhs[1] = mxCreateLogicalScalar(status != GLINPACK_NOT_READY);
  if (status == GLINPACK_NOT_READY) {
    plhs[0] = mxCreateDoubleMatrix(0, 0, mxREAL);
    return;
  }
  check_computed(status, matrix);
  report_conditions();
  plhs[0] = elements_of(matrix, precision);
}

static void choose_device(int nrhs, const mxArray *prhs[]) {
  char name[64];
  const double threads = nrhs > 2 ? number_at(nrhs, prhs, 2) : 0;
  const int with_packing = nrhs > 3 && !strcmp(text_at(nrhs, prhs, 3), "2x2");
  if (nrhs > 3 && !with_packing) fail("glinpack:argument", "the packing has to be \"2x2\"");
  strcpy(name, text_at(nrhs, prhs, 1));
  if (!*name) return;
  if (!(threads >= 0 && threads <= 4096)) {
    fail("glinpack:argument", "the number of threads is %g, not 0 to 4096", threads);
  }
  if (live_count > 0) fail("glinpack:device", "the device cannot change: %.0f matrices are on it", (double)live_count);
  free_all();
  open_context(name, (int)threads, with_packing);
}

/* Commands with a matrix that make none. Returns whether it was one. */
static int ask(const char *command, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  if (!strcmp(command, "free")) {
    release(slot_of(prhs[1]));
  } else if (!strcmp(command, "wait")) {
    plhs[0] = wait_for(existing_slot(prhs[1])->matrix, number_at(nrhs, prhs, 2));
  } else if (!strcmp(command, "fetch")) {
    fetch(nlhs, plhs, prhs[1], precision_at(nrhs, prhs, 2, precision_of(prhs[1])));
  } else if (!strcmp(command, "limit")) {
    plhs[0] = limit_pending(prhs[1]);
  } else if (!strcmp(command, "ready")) {
    plhs[0] = mxCreateLogicalScalar(glinpack_ready(existing_slot(prhs[1])->matrix) != 0);
  } else if (!strcmp(command, "state")) {
    plhs[0] = state_of(prhs[1]);
  } else {
    return 0;
  }
  return 1;
}

/* Returns whether the command is one of two matrices. */
static int two_operands(const char *command, const mxArray *a, const mxArray *b, glinpack_matrix **result) {
  int k;
  for (k = 0; k < 4; ++k) {
    if (strcmp(elementwise[k].name, command)) continue;
    *result = combined(k, a, b);
    return 1;
  }
  if (!strcmp(command, "mtimes")) {
    *result = product(a, b);
  } else if (!strcmp(command, "mldivide")) {
    *result = left_division(a, b);
  } else if (!strcmp(command, "mrdivide")) {
    *result = right_division(a, b);
  } else if (!strcmp(command, "horzcat") || !strcmp(command, "vertcat")) {
    *result = joined(*command == 'h', a, b);
  } else {
    return 0;
  }
  return 1;
}

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
  char command[16];
  glinpack_matrix *result = NULL;
  free_temporaries(); /* of a call that an error of Octave ended */
  if (nrhs < 1 || mxGetString(prhs[0], command, sizeof command)) fail("glinpack:argument", "a command is expected");
  if (limited && strcmp(command, "limit")) { /* Ctrl-C ended the constructor: no object frees the matrix */
    release(slot_with(limited));
    limited = 0;
  }
  if (nrhs > 1 && ask(command, nlhs, plhs, nrhs, prhs)) return;

  if (!strcmp(command, "device")) {
    choose_device(nrhs, prhs);
    plhs[0] = mxCreateString(glinpack_context_device(the_context()));
    return;
  }
  if (!strcmp(command, "count")) { /* [matrices, operations that are not done] */
    plhs[0] = mxCreateDoubleMatrix(1, 2, mxREAL);
    mxGetPr(plhs[0])[0] = (double)live_count;
    mxGetPr(plhs[0])[1] = (double)glinpack_context_pending(context);
    return;
  }
  if (nrhs > 1 && !strcmp(command, "lu")) {
    factors(nlhs, plhs, prhs[1]);
    return;
  }

  if (nrhs > 1 && !strcmp(command, "upload")) {
    result = upload(prhs[1], precision_at(nrhs, prhs, 2, precision_of(prhs[1])));
  } else if (!strcmp(command, "constant")) { /* rows, columns, value, class */
    check(glinpack_matrix_constant(the_context(), precision_at(nrhs, prhs, 4, GLINPACK_DOUBLE),
                                   (int64_t)number_at(nrhs, prhs, 1), (int64_t)number_at(nrhs, prhs, 2),
                                   number_at(nrhs, prhs, 3), &result));
  } else if (!strcmp(command, "eye")) { /* rows, columns, class */
    check(glinpack_matrix_identity(the_context(), precision_at(nrhs, prhs, 3, GLINPACK_DOUBLE),
                                   (int64_t)number_at(nrhs, prhs, 1), (int64_t)number_at(nrhs, prhs, 2), &result));
  } else if (nrhs > 4 && !strcmp(command, "tridiagonal")) {
    result = tridiagonal(prhs + 1);
  } else if (nrhs > 3 && !strcmp(command, "banded")) {
    result = banded(prhs[1], prhs[2], prhs[3]);
  } else if (nrhs > 2 && two_operands(command, prhs[1], prhs[2], &result)) {
    if (!result) plhs[0] = mxCreateDoubleMatrix(0, 0, mxREAL); /* Octave's own has to compute it */
  } else if (nrhs > 1) {
    result = unary(command, nrhs, prhs);
    if (!result) fail("glinpack:argument", "unknown command \"%s\"", command);
  }
  if (result) {
    plhs[0] = handle_of(result);
    if (too_much_pending()) {
      uint64_t *parts = (uint64_t *)mxGetData(plhs[0]);
      limited = parts[0];
      parts[3] += 2;
    }
  }
  free_temporaries();
}
