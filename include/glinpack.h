/* glinpack: dense linear algebra in the background, on a GPU through OpenGL or on the processor through OpenBLAS.

   A context owns a thread, which owns the device. Every operation returns a matrix at once: a handle of a result that
   the thread computes later. Such a handle can be an operand of further operations before it is computed (Brodtkorb,
   The Graphics Processor as a Mathematical Coprocessor in MATLAB, 2008, section 3). Matrices never change.

   Errors. Functions return a status. What the arguments show (sizes, precisions, null pointers) is reported by the call
   that gets them; no matrix is made, and *result is NULL. What only computing shows (a singular matrix, a failed
   device) is the status of the matrix, and of all matrices computed from it: see glinpack_wait(). The library never
   throws an exception, ends the process, or writes to stdout.

   Ownership. *result belongs to the caller, who calls glinpack_matrix_free(). An operand can be freed right after the
   call that uses it. Of a handle that was freed, functions return GLINPACK_INVALID_ARGUMENT, or as of NULL; freeing it
   again changes nothing. Memory that the caller passes is copied or filled before a function returns.

   Exit. If the process exits, the operation in execution is finished, and all contexts are closed. fork() waits for the
   operation in execution; the new process must not use its parent's contexts. It can make contexts on OpenBLAS, but
   none on OpenGL if its parent looked for OpenGL devices: GLINPACK_NO_DEVICE.

   Threads. Any function may be called by any thread at any time. Operations of a context are executed in the order of
   the calls; waiting for a matrix and reading it wait for operations before it, not for later ones. Contexts are
   independent.

   Layout. Indices count from 0. Element (i, j) of a matrix in the caller's memory is data[i * row_stride + j *
   column_stride]; strides count elements and may be negative. Row-major: (columns, 1); column-major: (1, rows).
   Matrices may have 0 rows or columns.

   Precision. The operands of an operation have the same precision, which is that of its arithmetic and its result.

   This header is C89, except that it needs <stdint.h>. */
#ifndef GLINPACK_H
#define GLINPACK_H

#include <stdint.h>

#if defined(__GNUC__)
#define GLINPACK_API __attribute__((visibility("default")))
#else
#define GLINPACK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GLINPACK_VERSION_MAJOR 0
#define GLINPACK_VERSION_MINOR 1
#define GLINPACK_VERSION_PATCH 0

typedef struct glinpack_context glinpack_context;
typedef struct glinpack_matrix glinpack_matrix;

typedef enum glinpack_status {
  GLINPACK_OK = 0,
  GLINPACK_INVALID_ARGUMENT = 1, /* a null pointer, an unknown constant, a number out of range */
  GLINPACK_WRONG_SIZE = 2,       /* the extents of the operands do not fit */
  GLINPACK_WRONG_PRECISION = 3,  /* the operands differ in precision */
  GLINPACK_WRONG_CONTEXT = 4,    /* the operands belong to different contexts */
  GLINPACK_NO_DEVICE = 5,        /* the device does not exist or does not work */
  GLINPACK_OUT_OF_MEMORY = 6,    /* of the device or the host; all other matrices stay valid */
  GLINPACK_SINGULAR = 7,         /* a pivot is exactly 0 */
  GLINPACK_NOT_CONVERGED = 8,    /* the iteration limit was reached */
  GLINPACK_CANCELLED = 9,        /* by glinpack_cancel() or glinpack_context_free() */
  GLINPACK_NOT_READY = 10,       /* of glinpack_wait(): the timeout passed first */
  GLINPACK_FAILED = 11           /* any other failure: the error text says which */
} glinpack_status;

typedef enum glinpack_precision { GLINPACK_SINGLE = 1, GLINPACK_DOUBLE = 2 } glinpack_precision;

typedef enum glinpack_norm_kind {
  GLINPACK_NORM_ONE = 1,       /* the largest column sum of magnitudes */
  GLINPACK_NORM_INFINITY = 2,  /* the largest row sum of magnitudes */
  GLINPACK_NORM_FROBENIUS = 3, /* the root of the sum of squares */
  GLINPACK_NORM_MAXIMUM = 4    /* the largest magnitude */
} glinpack_norm_kind;

/* ---- Errors and version. The texts are static or the library's: do not free them. ------------------------------- */

/* "0.1.0" of the library, where GLINPACK_VERSION_... are those of the header. */
GLINPACK_API const char *glinpack_version(void);

/* "a matrix is singular" and the like, for any number. */
GLINPACK_API const char *glinpack_status_text(glinpack_status status);

/* Why the calling thread's last function that returned another status than GLINPACK_OK did so, in a sentence with the
   sizes or names at fault. "" if none did. Valid until the thread's next such failure. */
GLINPACK_API const char *glinpack_last_error(void);

/* ---- Contexts --------------------------------------------------------------------------------------------------- */

/* Makes a context and its thread. `device`:
     "auto" or NULL   the first GPU that OpenGL can use, else OpenBLAS
     "openblas"       the processor
     "software"       the first software OpenGL device, such as Mesa's llvmpipe
     "0", "1", ...    the OpenGL device of that number, as `glinpack devices` counts
   `threads`: of OpenBLAS, up to 4096; 0: OPENBLAS_NUM_THREADS, else OMP_NUM_THREADS, else one per processor. OpenBLAS
   has one number of threads for the whole process: contexts that ask for different numbers change each other's.
   GLINPACK_NO_DEVICE if the device is missing or does not work. */
GLINPACK_API glinpack_status glinpack_context_create(const char *device, int threads, glinpack_context **context);

/* Makes a context that keeps matrices in textures of packing 2x2 and computes with fragment shaders, in single
   precision (Brodtkorb 2008, section 4). `device` as above, without "openblas"; "auto" is software OpenGL if there is
   no GPU. Products, factors, inverses, echelon forms and tridiagonal solutions enter each other on the device, without
   host copies. Two rows are eliminated at a time, and only blocks of 2 x 2 are pivots: a matrix that has none is
   reported as singular, as is one that is nearly so. Tridiagonal systems are solved without pivoting or a test of
   pivots. */
GLINPACK_API glinpack_status glinpack_context_create_packed(const char *device, glinpack_context **context);

/* Waits for the operation in execution, cancels the others, ends the thread and frees everything on the device. NULL is
   allowed. Matrices of the context remain valid handles, to be freed later: GLINPACK_CANCELLED is their status and that
   of operations on them. */
GLINPACK_API void glinpack_context_free(glinpack_context *context);

/* "OpenBLAS 0.3.21, 2 threads" or the OpenGL renderer and version. Valid until the context is freed. */
GLINPACK_API const char *glinpack_context_device(const glinpack_context *context);

/* The number of operations that are not done, the one in execution included; 0 for NULL. */
GLINPACK_API int64_t glinpack_context_pending(const glinpack_context *context);

/* Waits until all operations enqueued so far are done, whatever their status. */
GLINPACK_API glinpack_status glinpack_context_wait(glinpack_context *context);

/* ---- Matrices --------------------------------------------------------------------------------------------------- */

/* A rows x columns matrix of the given precision, copied from the caller's memory; elements are rounded if the matrix
   is single and the data double. `data` may be NULL if there are no elements. */
GLINPACK_API glinpack_status glinpack_matrix_from_double(glinpack_context *context, glinpack_precision precision,
                                                         int64_t rows, int64_t columns, const double *data,
                                                         int64_t row_stride, int64_t column_stride,
                                                         glinpack_matrix **result);
GLINPACK_API glinpack_status glinpack_matrix_from_float(glinpack_context *context, glinpack_precision precision,
                                                        int64_t rows, int64_t columns, const float *data,
                                                        int64_t row_stride, int64_t column_stride,
                                                        glinpack_matrix **result);

/* All elements equal to `value`. */
GLINPACK_API glinpack_status glinpack_matrix_constant(glinpack_context *context, glinpack_precision precision,
                                                      int64_t rows, int64_t columns, double value,
                                                      glinpack_matrix **result);

/* Ones on the diagonal, zeros elsewhere. */
GLINPACK_API glinpack_status glinpack_matrix_identity(glinpack_context *context, glinpack_precision precision,
                                                      int64_t rows, int64_t columns, glinpack_matrix **result);

/* The handle is gone; the memory on the device is freed when no operation needs it. An operation that is not done is
   still executed: call glinpack_cancel() first if nothing needs it. NULL is allowed. */
GLINPACK_API void glinpack_matrix_free(glinpack_matrix *matrix);

/* Shape and precision are known before the matrix is computed. Of NULL: 0. */
GLINPACK_API int64_t glinpack_matrix_rows(const glinpack_matrix *matrix);
GLINPACK_API int64_t glinpack_matrix_columns(const glinpack_matrix *matrix);
GLINPACK_API glinpack_precision glinpack_matrix_precision(const glinpack_matrix *matrix);

/* Waits, then writes rows x columns elements to `data`, converted from the matrix's precision. Returns the status of
   the matrix; unless that is GLINPACK_OK, data is unchanged. */
GLINPACK_API glinpack_status glinpack_matrix_read_double(const glinpack_matrix *matrix, double *data,
                                                         int64_t row_stride, int64_t column_stride);
GLINPACK_API glinpack_status glinpack_matrix_read_float(const glinpack_matrix *matrix, float *data, int64_t row_stride,
                                                        int64_t column_stride);

/* Begins to copy the elements to host memory as soon as they are computed, and returns at once. The next
   glinpack_matrix_read_...() takes that copy: it does not wait for operations that follow the matrix's own. Nothing
   changes if a copy has begun already, or if there are no elements. */
GLINPACK_API glinpack_status glinpack_prefetch(const glinpack_matrix *matrix);

/* ---- Background ------------------------------------------------------------------------------------------------- */

/* Waits until the matrix is computed, at most `seconds`, without limit if they are negative. Returns GLINPACK_NOT_READY
   after the timeout, otherwise the status of the matrix: GLINPACK_OK, or why it was not computed. */
GLINPACK_API glinpack_status glinpack_wait(const glinpack_matrix *matrix, double seconds);

/* 1 if glinpack_wait() would not wait, whatever its status, else 0. 1 for NULL. */
GLINPACK_API int glinpack_ready(const glinpack_matrix *matrix);

/* If the operation has not begun, it is not executed: its status, and that of all that depend on it, is
   GLINPACK_CANCELLED. Returns GLINPACK_OK then. Otherwise nothing changes and the result is GLINPACK_NOT_READY if the
   operation is in execution (it cannot be stopped), or its status if it is done: GLINPACK_OK, too, if it was computed.
   The factorisation behind results of glinpack_lu() is executed even if all of them are cancelled. */
GLINPACK_API glinpack_status glinpack_cancel(glinpack_matrix *matrix);

/* Why a computed matrix has another status than GLINPACK_OK, in a sentence; "" if it has not, or is not computed yet.
   Does not wait. Valid until the handle is freed. */
GLINPACK_API const char *glinpack_error_text(const glinpack_matrix *matrix);

/* ---- Elements. All operations return at once. -------------------------------------------------------------------- */

/* a + b, a - b, and the element-wise a * b and a / b: equal extents. */
GLINPACK_API glinpack_status glinpack_add(const glinpack_matrix *a, const glinpack_matrix *b, glinpack_matrix **result);
GLINPACK_API glinpack_status glinpack_subtract(const glinpack_matrix *a, const glinpack_matrix *b,
                                               glinpack_matrix **result);
GLINPACK_API glinpack_status glinpack_multiply_elements(const glinpack_matrix *a, const glinpack_matrix *b,
                                                        glinpack_matrix **result);
GLINPACK_API glinpack_status glinpack_divide_elements(const glinpack_matrix *a, const glinpack_matrix *b,
                                                      glinpack_matrix **result);

/* factor * a + summand, element by element. Both are rounded to the matrix's precision. */
GLINPACK_API glinpack_status glinpack_scale(double factor, const glinpack_matrix *a, double summand,
                                            glinpack_matrix **result);

GLINPACK_API glinpack_status glinpack_transpose(const glinpack_matrix *a, glinpack_matrix **result);

/* The same elements, rounded, in another precision. */
GLINPACK_API glinpack_status glinpack_convert(const glinpack_matrix *a, glinpack_precision precision,
                                              glinpack_matrix **result);

/* The rows x columns elements from (row, column) on. */
GLINPACK_API glinpack_status glinpack_submatrix(const glinpack_matrix *a, int64_t row, int64_t column, int64_t rows,
                                                int64_t columns, glinpack_matrix **result);

/* A copy of a with `block` from (row, column) on. */
GLINPACK_API glinpack_status glinpack_replace(const glinpack_matrix *a, int64_t row, int64_t column,
                                              const glinpack_matrix *block, glinpack_matrix **result);

/* [a, b]: equal rows. [a; b]: equal columns. */
GLINPACK_API glinpack_status glinpack_horzcat(const glinpack_matrix *a, const glinpack_matrix *b,
                                              glinpack_matrix **result);
GLINPACK_API glinpack_status glinpack_vertcat(const glinpack_matrix *a, const glinpack_matrix *b,
                                              glinpack_matrix **result);

/* ---- Linear algebra --------------------------------------------------------------------------------------------- */

/* alpha op(a) op(b) + beta c, where op(x) is x, or x^T if its `transpose` is not 0. c may be NULL, then beta is
   ignored. As in BLAS gemm, a factor that is 0 makes its term 0, whatever NaN the matrices hold. */
GLINPACK_API glinpack_status glinpack_gemm(int transpose_a, int transpose_b, double alpha, const glinpack_matrix *a,
                                           const glinpack_matrix *b, double beta, const glinpack_matrix *c,
                                           glinpack_matrix **result);

/* p a = l u of a square matrix: p a permutation matrix, l unit lower and u upper triangular; all n x n. Each of the
   three pointers may be NULL. A singular matrix has such factors, too, with a 0 on the diagonal of u. Partial pivoting
   (LAPACK getrf). */
GLINPACK_API glinpack_status glinpack_lu(const glinpack_matrix *a, glinpack_matrix **p, glinpack_matrix **l,
                                         glinpack_matrix **u);

/* a^-1 b: a n x n, b n x any number of right-hand sides. By LU factors. GLINPACK_SINGULAR if a pivot is exactly 0; of
   an ill-conditioned matrix, ask for glinpack_rcond(). A context keeps the factors of the matrix that it factorised
   last, until the first operation after that is freed: further systems, glinpack_inverse(), glinpack_rcond(),
   glinpack_lu() and glinpack_determinant() of the same handle use them. */
GLINPACK_API glinpack_status glinpack_solve(const glinpack_matrix *a, const glinpack_matrix *b,
                                            glinpack_matrix **result);

/* a^-1, by the LU factors of glinpack_solve(): GLINPACK_SINGULAR if a pivot is exactly 0. */
GLINPACK_API glinpack_status glinpack_inverse(const glinpack_matrix *a, glinpack_matrix **result);

/* The reduced row echelon form of a, by Gauss-Jordan elimination. A column has a pivot if its largest element exceeds
   max(rows, columns) epsilon times the norm GLINPACK_NORM_INFINITY. With packing 2x2, a has no more rows than columns,
   and the matrix of its first columns must be regular: GLINPACK_SINGULAR. */
GLINPACK_API glinpack_status glinpack_rref(const glinpack_matrix *a, glinpack_matrix **result);

/* 1 x 1: the determinant of a square matrix, from its LU factors; 0 for a singular matrix, 1 for 0 x 0. The product of
   pivots may overflow or underflow. */
GLINPACK_API glinpack_status glinpack_determinant(const glinpack_matrix *a, glinpack_matrix **result);

/* 1 x 1: the reciprocal of the condition of a square matrix in the norm GLINPACK_NORM_ONE, estimated from its LU
   factors (LAPACK gecon): below the epsilon of the precision, solutions may have no correct digit. 0 for a singular
   matrix, infinity for 0 x 0. */
GLINPACK_API glinpack_status glinpack_rcond(const glinpack_matrix *a, glinpack_matrix **result);

/* 1 x 1: a norm, computed in double precision; 0 for matrices without elements. */
GLINPACK_API glinpack_status glinpack_norm(const glinpack_matrix *a, glinpack_norm_kind kind, glinpack_matrix **result);

/* y = A x of a banded n x n matrix A and a vector x, n x 1. `diagonals` is n x count: its element (i, k) is A(i, i +
   offsets[k]); elements outside A are not read. Offsets are different. In double precision, and on
   OpenBLAS, the processor computes it. */
GLINPACK_API glinpack_status glinpack_banded_product(const glinpack_matrix *diagonals, const int64_t *offsets,
                                                     int64_t count, const glinpack_matrix *x, glinpack_matrix **result);

/* a^-1 b of such a banded matrix, by LU factors with partial pivoting, on the processor (LAPACK gbtrf): work and memory
   grow with n, and with the offsets that are farthest below and above 0. b is n x any number of right-hand sides.
   *rcond, unless rcond is NULL, is as of glinpack_rcond(). GLINPACK_SINGULAR if a pivot is exactly 0. */
GLINPACK_API glinpack_status glinpack_banded_solve(const glinpack_matrix *diagonals, const int64_t *offsets,
                                                   int64_t count, const glinpack_matrix *b, glinpack_matrix **rcond,
                                                   glinpack_matrix **result);

/* Many tridiagonal systems of n equations. All operands and the result are n x systems, a system per column. Equation i
   of system s:
     lower(i, s) x(i - 1, s) + diagonal(i, s) x(i, s) + upper(i, s) x(i + 1, s) = right(i, s)
   lower(0, s) and upper(n - 1, s) are not read. Without pivoting on OpenGL, with partial pivoting on OpenBLAS (LAPACK
   gtsv). GLINPACK_SINGULAR if a pivot of any system is 0. */
GLINPACK_API glinpack_status glinpack_tridiagonal(const glinpack_matrix *lower, const glinpack_matrix *diagonal,
                                                  const glinpack_matrix *upper, const glinpack_matrix *right,
                                                  glinpack_matrix **result);

/* The five-point Laplacian on n x n points with zeros on the boundary, by conjugate gradients from u = 0:
     4 u(i, j) - u(i - 1, j) - u(i + 1, j) - u(i, j - 1) - u(i, j + 1) = b(i, j)
   until the residual's 2-norm is at most tolerance times that of b. b and u are n x n. GLINPACK_NOT_CONVERGED after
   max_iterations, 0 for 10 n + 100, at most 10,000,000. */
GLINPACK_API glinpack_status glinpack_poisson(const glinpack_matrix *b, double tolerance, int64_t max_iterations,
                                              glinpack_matrix **result);

#ifdef __cplusplus
}
#endif

#endif /* GLINPACK_H */
