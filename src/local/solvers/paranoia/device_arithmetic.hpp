// One operation at a time on a device, on many operands, for `glinpack-papers paranoia`.
#pragma once

#include <memory>
#include <span>

#include "solvers/device/device.hpp"
#include "solvers/device/texture_matrix.hpp"
#include "solvers/paranoia/operations.hpp"

namespace glinpack::solvers {

template <class Real>
class DeviceArithmetic {
 public:
  virtual ~DeviceArithmetic() = default;

  /// results[i] <- the operation on set.at(i), each by a fragment or an invocation of its own, operands and results in
  /// memory, the operation `precise` and alone: nothing to contract with, to reorder, or to compute beforehand. Throws
  /// std::invalid_argument unless there are as many results as operands.
  virtual void compute(arithmetic::Operation operation, const arithmetic::OperandSet<Real>& set,
                       std::span<Real> results) = 0;
  /// results[i] <- set.a[i] without computation: whether transfers change numbers.
  virtual void carry(const arithmetic::OperandSet<Real>& set, std::span<Real> results) = 0;
};

/// compute: storage buffers; fragment: float textures, in single precision only. `device` must outlive it. Throws
/// std::runtime_error if shaders do not compile, std::invalid_argument for fragments in double precision.
template <class Real>
std::unique_ptr<DeviceArithmetic<Real>> make_device_arithmetic(Device& device, ShaderKind kind);

}  // namespace glinpack::solvers
