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
#include <type_traits>

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

/// The routine for Real of a pair.
template <class Real, class Single, class Double>
constexpr auto routine(Single in_single, Double in_double) {
  if constexpr (std::is_same_v<Real, float>) {
    return in_single;
  } else {
    return in_double;
  }
}

template <class Real>
void gemm(CBLAS_ORDER order, CBLAS_TRANSPOSE trans_a, Index m, Index n, Index k, Real alpha, const Real* a, Index lda,
          const Real* b, Index ldb, Real beta, Real* c, Index ldc) {
  routine<Real>(cblas_sgemm, cblas_dgemm)(order, trans_a, CblasNoTrans, to_int(m), to_int(n), to_int(k), alpha, a,
                                          to_int(lda), b, to_int(ldb), beta, c, to_int(ldc));
}

template <class Real>
void trsm(CBLAS_ORDER order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diagonal, Index m,
          Index n, const Real* a, Index lda, Real* b, Index ldb) {
  routine<Real>(cblas_strsm, cblas_dtrsm)(order, side, uplo, trans, diagonal, to_int(m), to_int(n), Real{1}, a,
                                          to_int(lda), b, to_int(ldb));
}

/// y <- y - A x, A row-major.
template <class Real>
void subtract_product(Index rows, Index columns, const Real* a, Index lda, const Real* x, Index x_stride, Real* y,
                      Index y_stride) {
  routine<Real>(cblas_sgemv, cblas_dgemv)(CblasRowMajor, CblasNoTrans, to_int(rows), to_int(columns), Real{-1}, a,
                                          to_int(lda), x, to_int(x_stride), Real{1}, y, to_int(y_stride));
}

/// x <- T^-1 x, T triangular and row-major.
template <class Real>
void trsv(CBLAS_UPLO uplo, CBLAS_DIAG diagonal, Index n, const Real* t, Index ldt, Real* x, Index x_stride) {
  routine<Real>(cblas_strsv, cblas_dtrsv)(CblasRowMajor, uplo, CblasNoTrans, diagonal, to_int(n), t, to_int(ldt), x,
                                          to_int(x_stride));
}

/// LAPACK's info.
template <class Real>
lapack_int getrf(Index rows, Index columns, Real* a, Index lda, lapack_int* pivots) {
  return routine<Real>(LAPACKE_sgetrf_work, LAPACKE_dgetrf_work)(LAPACK_COL_MAJOR, to_int(rows), to_int(columns), a,
                                                                 to_int(lda), pivots);
}

/// x <- A^-1 x, A tridiagonal with n - 1 elements below and above its diagonal, which are destroyed. LAPACK's info.
template <class Real>
lapack_int gtsv(Index n, Real* lower, Real* diagonal, Real* upper, Real* x) {
  return routine<Real>(LAPACKE_sgtsv_work, LAPACKE_dgtsv_work)(LAPACK_COL_MAJOR, to_int(n), 1, lower, diagonal, upper,
                                                               x, to_int(n));
}

/// P A = L U of a banded matrix: n columns of 2 lower + upper + 1 rows, the first `lower` for U. Returns LAPACK's info.
template <class Real>
lapack_int gbtrf(Index n, Index lower, Index upper, Real* a, Index lda, lapack_int* pivots) {
  return routine<Real>(LAPACKE_sgbtrf_work, LAPACKE_dgbtrf_work)(LAPACK_COL_MAJOR, to_int(n), to_int(n), to_int(lower),
                                                                 to_int(upper), a, to_int(lda), pivots);
}

/// B <- A^-1 B of gbtrf's factors.
template <class Real>
void gbtrs(Index n, Index lower, Index upper, Index columns, const Real* factors, Index ld, const lapack_int* pivots,
           Real* b, Index ldb) {
  routine<Real>(LAPACKE_sgbtrs_work, LAPACKE_dgbtrs_work)(LAPACK_COL_MAJOR, 'N', to_int(n), to_int(lower),
                                                          to_int(upper), to_int(columns), factors, to_int(ld), pivots,
                                                          b, to_int(ldb));
}

/// As gecon, of gbtrf's factors.
template <class Real>
lapack_int gbcon(Index n, Index lower, Index upper, const Real* factors, Index ld, const lapack_int* pivots, Real norm,
                 Real& reciprocal) {
  return routine<Real>(LAPACKE_sgbcon, LAPACKE_dgbcon)(LAPACK_COL_MAJOR, '1', to_int(n), to_int(lower), to_int(upper),
                                                       factors, to_int(ld), pivots, norm, &reciprocal);
}

/// B <- A^-1 B, or A^-T B if `trans` is 'T' instead of 'N', of A's factors by getrf.
template <class Real>
void getrs(char trans, Index n, Index columns, const Real* factors, Index ld, const lapack_int* pivots, Real* b,
           Index ldb) {
  routine<Real>(LAPACKE_sgetrs_work, LAPACKE_dgetrs_work)(LAPACK_COL_MAJOR, trans, to_int(n), to_int(columns), factors,
                                                          to_int(ld), pivots, b, to_int(ldb));
}

/// The reciprocal of A's condition in the norm of column sums, estimated from its norm and getrf's factors. LAPACK's
/// info.
template <class Real>
lapack_int gecon(Index n, const Real* factors, Index ld, Real norm, Real& reciprocal) {
  return routine<Real>(LAPACKE_sgecon, LAPACKE_dgecon)(LAPACK_COL_MAJOR, '1', to_int(n), factors, to_int(ld), norm,
                                                       &reciprocal);
}

/// The inverse in the place of getrf's factors, `size` elements of workspace given; size -1 asks for the best size, in
/// work[0]. LAPACK's info. Factors that are NaN make the inverse NaN.
template <class Real>
lapack_int getri(Index n, Real* factors, Index ld, const lapack_int* pivots, Real* work, Index size) {
  return routine<Real>(LAPACKE_sgetri_work, LAPACKE_dgetri_work)(LAPACK_COL_MAJOR, to_int(n), factors, to_int(ld),
                                                                 pivots, work, to_int(size));
}

}  // namespace glinpack::blas
