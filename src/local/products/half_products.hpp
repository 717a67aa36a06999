// Single-precision updates by products of halves with sums in single precision, for factors that are refined (HPL-MxP;
// Haidar, Tomov, Dongarra, Higham, Harnessing GPU tensor cores ..., SC18). L and U are scaled by powers of two and
// rounded (shaders/compute/halves.glsl); C stays in single precision. Or each number is split into two halves, and
// three products are nearly as exact as single precision (Markidis, Der Chien, Laure, Peng, Vetter, NVIDIA tensor core
// programmability, performance and precision, IPDPSW 2018).
#pragma once

#include <span>

#include "products/packed_products.hpp"

namespace glinpack::compute {

/// Products of halves for one of numbers, which are rounded or split.
inline constexpr int rounded_terms = 1, split_terms = 3;

/// Bytes of HalfProducts::reserve().
std::int64_t half_bytes(int terms, Index depth, Index rows, Index columns);

class HalfProducts final : public PackedProducts<float> {
 public:
  /// With matrices of halves if the device has them and they pass a test against exact results. Throws
  /// std::runtime_error.
  HalfProducts(const ShaderSource& sources, Kernels& kernels, int terms);

  void reserve(Index depth, Index rows, Index columns) override;
  void describe(BackendInfo& info) const override { info.products = terms_ == rounded_terms ? "half" : "split"; }

 private:
  struct Operand {
    ProgramPointer pack;
    Buffer scales, elements;
  };
  /// A part of an operand with a scale of its own.
  struct Part {
    Region region;
    Index first_column, first_element;
  };
  void reserve(Operand& operand, Index depth, Index columns);
  void pack(Operand& operand, std::span<const Part> parts);
  void pack_left(const Region& l_transposed) override;
  void subtract(const Region& l_transposed, const Region& u, const Region& c) override;
  void subtract_part(DeviceProgram& program, const Part& u, Index number, const Region& c);
  void subtract_window(DeviceProgram& program, const Part& u, Index number, const Region& c, Index i, Index j);

  int terms_;
  ProgramPointer scale_, plain_;
  Operand left_, right_;
};

}  // namespace glinpack::compute
