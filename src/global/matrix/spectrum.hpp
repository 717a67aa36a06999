// Dense matrices with prescribed singular values or eigenvalues, an element of which costs O(1).
//
// With S the sine transform, s_ij = sqrt(2/(n+1)) sin((i+1)(j+1) pi/(n+1)), symmetric and orthogonal, S diag(lambda) S
// is a Toeplitz plus a Hankel matrix (the tau algebra: Bini, Capovani, Spectral and computational properties of band
// symmetric Toeplitz matrices, Linear Algebra Appl. 52, 1983):
//
//   a_ij = t_|i-j| - t_(i+j+2),  t_m = 1/(n+1) sum_k lambda_k cos((k+1) m pi/(n+1)),  t_m = t_(2(n+1)-m)
//
// The lambda have a random order, so that t and A are dense without structure in their sizes. heev: A = S Lambda S with
// random signs; poev: A = S Sigma S; svd: rows permuted as well, A = P S Lambda S = (P S J) Sigma S with signs J, which
// is not symmetric and has its large elements anywhere. LAPACK's dlatms and SLATE multiply by random orthogonal
// matrices instead, which takes all ranks and O(n^3).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "matrix/matrix_formulas.hpp"

namespace glinpack {

/// The distributions of SLATE (slate/matgen/generate_sigma.hh), but its `specified`. The largest value is 1, except of
/// the last three. Of logrand, the default, log sigma is uniform in [log 1/cond, 0].
inline constexpr std::string_view all_spectra[] = {"logrand",   "arith",  "geo",   "cluster0",
                                                   "cluster1",  "rarith", "rgeo",  "rcluster0",
                                                   "rcluster1", "rand",   "rands", "randn"};

/// n values in the order of their definition.
std::vector<double> spectrum_values(std::string_view distribution, Index n, double condition, std::uint64_t seed);

enum class SpectrumUse { diag, svd, poev, heev };

/// The matrix of these values. Takes O(n) memory and, except for diag, n^2 operations.
MatrixElement spectrum_matrix(SpectrumUse use, std::vector<double> values, std::uint64_t seed);

}  // namespace glinpack
