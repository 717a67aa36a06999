// Matrices whose element (i, j) is a formula of i, j, n and the seed: the same on every grid, without communication.
// Indices count from 0. Random ones: each element is hashed from its number i (n+1) + j by SplitMix64 (Steele, Lea,
// Flood, Fast splittable pseudorandom number generators, OOPSLA 2014). HPL takes the elements column by column from one
// linear congruential sequence; here no affine map leads from one element to the next.
#pragma once

#include <cstdint>
#include <functional>

#include "base/matrix_view.hpp"
#include "matrix/matrix_kind.hpp"

namespace glinpack {

using MatrixElement = std::function<double(Index i, Index j)>;

/// Any kind but hpl and file. Throws std::invalid_argument for these.
MatrixElement matrix_element(MatrixKind kind, Index n, std::uint64_t seed);

/// Number `number`, counted from 0, of SplitMix64 with this seed.
std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t number);

/// Uniform in [-1, 1): the upper 53 bits of number i (n+1) + j.
double uniform_element(Index n, std::uint64_t seed, Index i, Index j);

}  // namespace glinpack
