// The matrices that a run can be made with, besides one from a file. Each is a formula: any element at any time on any
// rank, without communication, and so the same for every grid and block size. Indices count from 0; the right-hand
// side b is column n of the n x (n+1) matrix [A | b].
//
//   hpl        HPL's own, A and b, in (-0.5, 0.5] (local/hpl_generator.hpp)
//   uniform    a_ij uniform in [-1, 1): number i (n+1) + j of SplitMix64. Unlike HPL's, which takes the elements column
//              by column from one linear congruential sequence, each is hashed from its own number, so that no affine
//              map leads from one element to its neighbour
//   hilbert    1/(i+j+1), and 2^-10 more on the diagonal. Of Hilbert's own matrix only the first few singular values
//              stand above roundoff, whatever its order, and what comes after them in a factorisation is noise. The
//              diagonal keeps all eigenvalues between 2^-10 and pi + 2^-10 (Hilbert's inequality: the norm is below
//              pi), the condition below 3300, fit for every precision. Symmetric and positive definite: needs no
//              pivoting
//   hilbert-reversed  the same with its rows in reverse order: as well conditioned, but the rows to pivot on lie at the
//              other end of the matrix, in other processes' hands
//   wilkinson  1 on the diagonal and in the last column, -h below the diagonal, 0 elsewhere. Partial pivoting
//              interchanges nothing, and the last column of U is (1+h)^i. With h = 1 that is Wilkinson's worst case
//              (Error analysis of direct methods of matrix inversion, J. ACM 8, 1961), 2^(n-1), which overflows in
//              single precision from n = 129 on and leaves no digit long before. Hence h = 1 up to n = 31 and
//              2^(30/(n-1)) - 1 beyond (gfpp with c = h: Higham and Higham, Large growth factors in Gaussian
//              elimination with pivoting, SIAM J. Matrix Anal. Appl. 10, 1989): growth 2^min(n-1, 30). Double
//              precision keeps about 7 digits then, single none
//   dominant   off the diagonal as uniform; n on it: strictly dominant by rows and by columns. Needs no pivoting
//
// b is uniform in [-1, 1) for all but hpl: b = A 1 would be whole numbers for small Wilkinson matrices, and their
// elimination free of the roundoff that growth makes large. The seed is that of the random elements, b's included.
//
// SplitMix64: Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "global/matrix_source.hpp"

namespace glinpack {

enum class MatrixKind { hpl, uniform, hilbert, hilbert_reversed, wilkinson, dominant, file };

/// Those that are formulas: all but `file`.
inline constexpr std::array matrix_formulas{MatrixKind::hpl,       MatrixKind::uniform,
                                            MatrixKind::hilbert,   MatrixKind::hilbert_reversed,
                                            MatrixKind::wilkinson, MatrixKind::dominant};

std::string_view name_of(MatrixKind kind);

/// What a report says after "The matrix A is ".
std::string_view description_of(MatrixKind kind);

/// The matrix [A | b] of order n. Throws std::invalid_argument for `file`.
std::unique_ptr<MatrixSource> make_source(MatrixKind kind, Index n, std::uint64_t seed);

/// Number `number`, counted from 0, of the sequence that SplitMix64 makes from a seed.
std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t number);

}  // namespace glinpack
