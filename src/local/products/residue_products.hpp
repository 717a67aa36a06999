// Double-precision updates by products of bytes: Ozaki's scheme II (Ozaki, Uchino, Imamura, arXiv 2504.08009).
//
// Rows of L and columns of U are scaled by powers of two and rounded to whole numbers. Their product is computed modulo
// each of some coprime numbers, by matrices of bytes or by integers, and is put together by the Chinese remainder
// theorem. The shaders' heads say how (shaders/compute/residues.glsl, residue_*.comp, shaders/matrix).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

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

/// Bytes of ResidueProducts::reserve().
std::int64_t residue_bytes(int moduli, Index depth, Index rows, Index columns);

class ResidueProducts final : public PackedProducts<double> {
 public:
  /// With matrices of bytes if the device has them and they pass a test against exact results; otherwise with integers.
  /// Throws std::runtime_error when integers do not pass either.
  ResidueProducts(const ShaderSource& sources, Kernels& kernels, int moduli);

  void reserve(Index depth, Index rows, Index columns) override;
  void describe(BackendInfo& info) const override {
    info.products = "int8";
    info.moduli = moduli();
    info.product_error = accuracy_of(moduli()).bound(max_residue_depth);
  }

 private:
  struct Operand {
    ProgramPointer pack;
    Index block = 0;  // columns that are padded together
    Buffer exponents, packed;
    Index padded(Index columns) const { return round_up(columns, block); }
  };

  int moduli() const { return static_cast<int>(moduli_.size()); }
  void make_table();
  void reserve(Operand& operand, Index depth, Index columns);
  void pack(Operand& operand, const Region& region);
  void pack_left(const Region& l_transposed) override { pack(left_, l_transposed); }
  void multiply(Index first_row, Index first_column, const Region& c, Index depth);
  void combine(const Region& l_transposed, const Region& u, Index first_row, Index first_column, const Region& c);
  void subtract(const Region& l_transposed, const Region& u, const Region& c) override;

  std::vector<std::uint32_t> moduli_;
  ProgramPointer scales_, integers_, combine_, rest_;
  Operand left_, right_;
  std::unique_ptr<DeviceBuffer> table_;
  Buffer remainders_;
};

}  // namespace glinpack::compute
