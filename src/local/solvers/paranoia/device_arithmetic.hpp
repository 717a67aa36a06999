// One operation at a time on a device, on many operands, for `glinpack-papers paranoia`.
#pragma once

#include <span>
#include <vector>

#include "solvers/device/device_array.hpp"
#include "solvers/device/texture_matrix.hpp"
#include "solvers/paranoia/operations.hpp"

namespace glinpack::solvers {

/// compute: storage buffers; fragment: float textures, in single precision only.
template <class Real>
class DeviceArithmetic {
 public:
  /// `device` must outlive it. Throws std::invalid_argument for fragments in double precision.
  DeviceArithmetic(Device& device, ShaderKind kind);

  /// results[i] <- the operation on set.at(i), each by a fragment or an invocation of its own, operands and results in
  /// memory, the operation `precise` and alone: nothing to contract with, to reorder, or to compute beforehand. Throws
  /// std::invalid_argument unless there are as many results as operands, std::runtime_error if shaders do not compile.
  void compute(arithmetic::Operation operation, const arithmetic::OperandSet<Real>& set, std::span<Real> results);
  /// results[i] <- set.a[i] without computation: whether transfers change numbers.
  void carry(const arithmetic::OperandSet<Real>& set, std::span<Real> results) { run("a", set, results); }

 private:
  void run(std::string_view expression, const arithmetic::OperandSet<Real>& set, std::span<Real> results);
  void compute_piece(const gl::Program& program, const std::array<std::span<const Real>, 3>& operands,
                     std::span<Real> results);
  void draw_piece(const gl::Program& program, const std::array<std::span<const float>, 3>& operands,
                  std::span<float> results);

  Device& device_;
  // a, b, c and results, of one kind
  std::vector<DeviceArray<Real>> arrays_;
  std::vector<TextureMatrix> textures_;
};

}  // namespace glinpack::solvers
