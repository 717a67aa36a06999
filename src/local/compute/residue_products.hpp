// Double-precision updates by products of bytes: Ozaki's scheme II (Ozaki, Uchino, Imamura, arXiv 2504.08009).
//
// Rows of L and columns of U are scaled by powers of two and rounded to whole numbers. Their product is computed modulo
// each of some coprime numbers, by matrices of bytes or by integers, and is put together by the Chinese remainder
// theorem. The shaders' heads say how (shaders/compute/residues.glsl, residue_*.comp, shaders/matrix).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/kernels.hpp"
#include "compute/region.hpp"
#include "device/compute_device.hpp"
#include "device/shader_source.hpp"

namespace glinpack::compute {

inline constexpr Index max_residue_depth = 1024;  // of a product; deeper ones have parts
inline constexpr int min_moduli = 14, max_moduli = 18, default_moduli = 15;

/// The checks of the options (BackendOption::check).
void check_products(const std::string& value, Precision precision);
void check_moduli(const std::string& value, Precision precision);

/// What moduli keep.
struct ResidueAccuracy {
  double scaled_bits = 0;  // a scaled row or column has a 2-norm of at most 2^scaled_bits
  /// An element of L U, of rows and columns of `depth` elements, is wrong by at most this times both 2-norms.
  double bound(Index depth) const;
};
ResidueAccuracy accuracy_of(int moduli);

class ResidueProducts {
 public:
  /// With matrices of bytes if the device has them and they pass a test against exact results; otherwise with integers.
  /// Throws std::runtime_error when integers do not pass either.
  ResidueProducts(const ShaderSource& sources, Kernels& kernels, int moduli);

  /// C <- C - L U as Kernels::reduce. False, and nothing done, if a window does not hold a stripe of an operand.
  /// `l_is_kept`: L is that of the last call, which need not be packed again.
  bool update(const Region& l_transposed, const Region& u, const Region& c, bool l_is_kept);

  int moduli() const { return static_cast<int>(moduli_.size()); }
  /// Why it does not use the device's matrices; empty if it does, or if there are none.
  const std::string& failure() const { return failure_; }

 private:
  using ProgramPointer = std::unique_ptr<DeviceProgram>;
  struct Operand {
    ProgramPointer pack;
    Index block = 0;  // columns that are padded together
    std::unique_ptr<DeviceBuffer> exponents, packed;
    Index exponents_bytes = 0, packed_bytes = 0;
    Index padded(Index columns) const { return round_up(columns, block); }
  };

  void make_table();
  bool holds(const Region& operand) const;
  template <class Body>
  void for_chunks(const Region& operand, Index max_columns, Body body) const;
  bool grow(std::unique_ptr<DeviceBuffer>& buffer, Index& bytes, Index needed);
  void pack(Operand& operand, const Region& region);
  void multiply(Index first_row, Index first_column, const Region& c, Index depth);
  void combine(const Region& l_transposed, const Region& u, Index first_row, Index first_column, const Region& c);
  double largest_error_of_test();

  Kernels& kernels_;
  ComputeDevice& device_;
  std::vector<std::uint32_t> moduli_;
  ProgramPointer scales_, integers_, matrices_, combine_, rest_;
  Operand left_, right_;
  std::unique_ptr<DeviceBuffer> table_, remainders_;
  Index remainders_bytes_ = 0;
  std::string failure_;
};

}  // namespace glinpack::compute
