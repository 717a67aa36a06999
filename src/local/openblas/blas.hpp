// The BLAS and LAPACK routines in use, under one name for both precisions. Layouts as cblas has them.
#pragma once

#ifdef GLINPACK_BLAS_mkl
#include <mkl_cblas.h>
#else
#include <cblas.h>
#endif
#include <lapacke.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "base/matrix_view.hpp"

namespace glinpack::blas {

static_assert(sizeof(lapack_int) == 4);

/// BLAS counts with 32 bits.
inline int to_int(Index extent) {
  if (extent > std::numeric_limits<int>::max()) {
    throw std::runtime_error("an extent of " + std::to_string(extent) +
                             " exceeds the 32-bit integers of BLAS; use more processes");
  }
  return static_cast<int>(extent);
}

inline void gemm(CBLAS_ORDER order, CBLAS_TRANSPOSE trans_a, Index m, Index n, Index k, float alpha, const float* a,
                 Index lda, const float* b, Index ldb, float beta, float* c, Index ldc) {
  cblas_sgemm(order, trans_a, CblasNoTrans, to_int(m), to_int(n), to_int(k), alpha, a, to_int(lda), b, to_int(ldb),
              beta, c, to_int(ldc));
}
inline void gemm(CBLAS_ORDER order, CBLAS_TRANSPOSE trans_a, Index m, Index n, Index k, double alpha, const double* a,
                 Index lda, const double* b, Index ldb, double beta, double* c, Index ldc) {
  cblas_dgemm(order, trans_a, CblasNoTrans, to_int(m), to_int(n), to_int(k), alpha, a, to_int(lda), b, to_int(ldb),
              beta, c, to_int(ldc));
}

inline void trsm(CBLAS_ORDER order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diagonal,
                 Index m, Index n, const float* a, Index lda, float* b, Index ldb) {
  cblas_strsm(order, side, uplo, trans, diagonal, to_int(m), to_int(n), 1.0F, a, to_int(lda), b, to_int(ldb));
}
inline void trsm(CBLAS_ORDER order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diagonal,
                 Index m, Index n, const double* a, Index lda, double* b, Index ldb) {
  cblas_dtrsm(order, side, uplo, trans, diagonal, to_int(m), to_int(n), 1.0, a, to_int(lda), b, to_int(ldb));
}

/// y <- y - A x, A row-major.
inline void subtract_product(Index rows, Index columns, const float* a, Index lda, const float* x, Index x_stride,
                             float* y, Index y_stride) {
  cblas_sgemv(CblasRowMajor, CblasNoTrans, to_int(rows), to_int(columns), -1.0F, a, to_int(lda), x, to_int(x_stride),
              1.0F, y, to_int(y_stride));
}
inline void subtract_product(Index rows, Index columns, const double* a, Index lda, const double* x, Index x_stride,
                             double* y, Index y_stride) {
  cblas_dgemv(CblasRowMajor, CblasNoTrans, to_int(rows), to_int(columns), -1.0, a, to_int(lda), x, to_int(x_stride),
              1.0, y, to_int(y_stride));
}

/// x <- T^-1 x, T triangular and row-major.
inline void trsv(CBLAS_UPLO uplo, CBLAS_DIAG diagonal, Index n, const float* t, Index ldt, float* x, Index x_stride) {
  cblas_strsv(CblasRowMajor, uplo, CblasNoTrans, diagonal, to_int(n), t, to_int(ldt), x, to_int(x_stride));
}
inline void trsv(CBLAS_UPLO uplo, CBLAS_DIAG diagonal, Index n, const double* t, Index ldt, double* x, Index x_stride) {
  cblas_dtrsv(CblasRowMajor, uplo, CblasNoTrans, diagonal, to_int(n), t, to_int(ldt), x, to_int(x_stride));
}

/// LAPACK's info.
inline lapack_int getrf(Index rows, Index columns, float* a, Index lda, lapack_int* pivots) {
  return LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, to_int(rows), to_int(columns), a, to_int(lda), pivots);
}
inline lapack_int getrf(Index rows, Index columns, double* a, Index lda, lapack_int* pivots) {
  return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, to_int(rows), to_int(columns), a, to_int(lda), pivots);
}

/// x <- A^-1 x, A tridiagonal with n - 1 elements below and above its diagonal, which are destroyed. LAPACK's info.
inline lapack_int gtsv(Index n, float* lower, float* diagonal, float* upper, float* x) {
  return LAPACKE_sgtsv_work(LAPACK_COL_MAJOR, to_int(n), 1, lower, diagonal, upper, x, to_int(n));
}
inline lapack_int gtsv(Index n, double* lower, double* diagonal, double* upper, double* x) {
  return LAPACKE_dgtsv_work(LAPACK_COL_MAJOR, to_int(n), 1, lower, diagonal, upper, x, to_int(n));
}

/// B <- A^-T B, of A's factors by getrf.
inline void getrs_transposed(Index n, Index columns, const float* factors, Index ld, const lapack_int* pivots, float* b,
                             Index ldb) {
  LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, 'T', to_int(n), to_int(columns), factors, to_int(ld), pivots, b, to_int(ldb));
}
inline void getrs_transposed(Index n, Index columns, const double* factors, Index ld, const lapack_int* pivots,
                             double* b, Index ldb) {
  LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', to_int(n), to_int(columns), factors, to_int(ld), pivots, b, to_int(ldb));
}

/// B <- A^-1 B, of such factors.
inline void getrs(Index n, Index columns, const float* factors, Index ld, const lapack_int* pivots, float* b,
                  Index ldb) {
  LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, 'N', to_int(n), to_int(columns), factors, to_int(ld), pivots, b, to_int(ldb));
}
inline void getrs(Index n, Index columns, const double* factors, Index ld, const lapack_int* pivots, double* b,
                  Index ldb) {
  LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', to_int(n), to_int(columns), factors, to_int(ld), pivots, b, to_int(ldb));
}

/// The reciprocal of A's condition in the norm of column sums, estimated from its norm and getrf's factors. LAPACK's
/// info.
inline lapack_int gecon(Index n, const float* factors, Index ld, float norm, float& reciprocal) {
  return LAPACKE_sgecon(LAPACK_COL_MAJOR, '1', to_int(n), factors, to_int(ld), norm, &reciprocal);
}
inline lapack_int gecon(Index n, const double* factors, Index ld, double norm, double& reciprocal) {
  return LAPACKE_dgecon(LAPACK_COL_MAJOR, '1', to_int(n), factors, to_int(ld), norm, &reciprocal);
}

/// The inverse in the place of getrf's factors, `size` elements of workspace given; size -1 asks for the best size, in
/// work[0]. LAPACK's info. Factors that are NaN make the inverse NaN.
inline lapack_int getri(Index n, float* factors, Index ld, const lapack_int* pivots, float* work, Index size) {
  return LAPACKE_sgetri_work(LAPACK_COL_MAJOR, to_int(n), factors, to_int(ld), pivots, work, to_int(size));
}
inline lapack_int getri(Index n, double* factors, Index ld, const lapack_int* pivots, double* work, Index size) {
  return LAPACKE_dgetri_work(LAPACK_COL_MAJOR, to_int(n), factors, to_int(ld), pivots, work, to_int(size));
}

}  // namespace glinpack::blas
