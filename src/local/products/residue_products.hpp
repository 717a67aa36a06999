// Double-precision updates by products of bytes: Ozaki's scheme II (Ozaki, Uchino, Imamura, arXiv 2504.08009).
//
// Rows of L and columns of U are scaled by powers of two and rounded to whole numbers. Their product is computed modulo
// each of some coprime numbers, by matrices of bytes or by integers, and is put together by the Chinese remainder
// theorem. The shaders' heads say how (shaders/compute/residues.glsl, residue_*.comp, shaders/matrix).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "products/packed_products.hpp"

namespace glinpack::compute {

inline constexpr Index max_residue_depth = 1024;  // of a product; deeper ones have parts
inline constexpr int min_moduli = 14, max_moduli = 18, default_moduli = 15;

/// The moduli of a value of --products: of "int8" or "int8:14"; 0 for other products, -1 if they are no number.
int moduli_of(std::string_view products);

/// What moduli keep.
struct ResidueAccuracy {
  double scaled_bits = 0;  // a scaled row or column has a 2-norm of at most 2^scaled_bits
  /// An element of L U, of rows and columns of `depth` elements, is wrong by at most this times both 2-norms.
  double bound(Index depth) const;
};
ResidueAccuracy accuracy_of(int moduli);

/// Bytes of their PackedProducts::reserve().
std::int64_t residue_bytes(int moduli, Index depth, Index rows, Index columns);

/// With matrices of bytes if the device has them and they pass a test against exact results; otherwise with integers.
/// Throws std::runtime_error when integers do not pass either.
std::unique_ptr<PackedProducts<double>> make_residue_products(const ShaderSource& sources, Kernels& kernels,
                                                              int moduli);

}  // namespace glinpack::compute
