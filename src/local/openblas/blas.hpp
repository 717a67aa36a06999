// BLAS and LAPACK routines under one name for both precisions. Layouts as cblas has them.
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

/// LAPACK's info.
template <class Real>
lapack_int getrf(Index rows, Index columns, Real* a, Index lda, lapack_int* pivots) {
  return routine<Real>(LAPACKE_sgetrf_work, LAPACKE_dgetrf_work)(LAPACK_COL_MAJOR, to_int(rows), to_int(columns), a,
                                                                 to_int(lda), pivots);
}

/// B <- A^-1 B, or A^-T B if `trans` is 'T' instead of 'N', of A's factors by getrf.
template <class Real>
void getrs(char trans, Index n, Index columns, const Real* factors, Index ld, const lapack_int* pivots, Real* b,
           Index ldb) {
  routine<Real>(LAPACKE_sgetrs_work, LAPACKE_dgetrs_work)(LAPACK_COL_MAJOR, trans, to_int(n), to_int(columns), factors,
                                                          to_int(ld), pivots, b, to_int(ldb));
}

}  // namespace glinpack::blas
