// Matrices whose element (i, j) is a formula of i, j, n and the seed: the same on every grid, without communication.
// Indices count from 0. Random ones: each element is hashed from its number i (n+1) + j by SplitMix64 (Steele, Lea,
// Flood, Fast splittable pseudorandom number generators, OOPSLA 2014). HPL takes the elements column by column from one
// linear congruential sequence; here no affine map leads from one element to the next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "base/matrix_view.hpp"
#include "matrix/matrix_kind.hpp"

namespace glinpack {

using MatrixElement = std::function<double(Index i, Index j)>;

/// Any kind but hpl and file. Throws std::invalid_argument for these.
MatrixElement matrix_element(MatrixKind kind, Index n, std::uint64_t seed);

/// L U with L unit lower triangular, -alpha below the diagonal, and U unit upper triangular, -beta above it (Fasi and
/// Higham, Matrices with tunable infinity-norm condition number and no need for pivoting in LU factorization, SIAM J.
/// Matrix Anal. Appl. 42, 2021). HPL-MxP's rules ask for such a matrix: not symmetric, stable without pivoting, and not
/// strictly dominant. The numerators keep the condition in the infinity norm below 440 for every n. A type of its own,
/// so that loops that make it again in each refinement hold its code.
class MxpElement {
 public:
  explicit MxpElement(Index n) : alpha_(4 / static_cast<double>(n + 4)), beta_(2 / static_cast<double>(n + 4)) {}
  double operator()(Index i, Index j) const {
    return alpha_ * beta_ * static_cast<double>(std::min(i, j)) + (i == j ? 1 : i > j ? -alpha_ : -beta_);
  }

 private:
  double alpha_;
  double beta_;
};

/// Number `number`, counted from 0, of SplitMix64 with this seed.
std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t number);

/// Uniform in [-1, 1): the upper 53 bits of number i (n+1) + j.
double uniform_element(Index n, std::uint64_t seed, Index i, Index j);

}  // namespace glinpack
