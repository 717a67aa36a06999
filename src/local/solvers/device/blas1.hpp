// Level 1 of the BLAS on arrays of a device, a kernel an operation: shaders/solvers/blas1.comp. Scalars pass through
// the host.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>

#include "base/precision.hpp"
#include "solvers/device/device_array.hpp"

namespace glinpack::solvers {

template <class Real>
class Blas1 {
 public:
  /// For vectors of `count` elements.
  Blas1(Device& device, Index count)
      : device_(device),
        count_(count),
        parts_(device, max_parts),
        scal_(program_of(Operation::scal)),
        axpy_(program_of(Operation::axpy)),
        dot_(program_of(Operation::dot)),
        read_back_(MappedBuffer<double>::create(device.context(), max_parts)) {}

  void copy(const DeviceArray<Real>& x, const DeviceArray<Real>& y) {
    glCopyNamedBufferSubData(x.id(), y.id(), 0, 0, static_cast<GLsizeiptr>(count_ * static_cast<Index>(sizeof(Real))));
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
  }
  /// y <- factor y
  void scale(double factor, const DeviceArray<Real>& y) {
    y.bind(1);
    run(scal_, factor);
  }
  /// y <- factor x + y
  void add(double factor, const DeviceArray<Real>& x, const DeviceArray<Real>& y) {
    x.bind(0);
    y.bind(1);
    run(axpy_, factor);
  }
  /// x . y; waits for the device.
  double dot(const DeviceArray<Real>& x, const DeviceArray<Real>& y) {
    x.bind(0);
    y.bind(1);
    parts_.bind(2);
    dot_.set(0, to_int(count_));
    const Index groups = std::min(groups_of_vector(), device_.description().software ? Index{16} : max_parts);
    device_.dispatch(dot_, groups);
    const std::span<const double> parts = parts_.read(0, groups, *read_back_);
    return std::accumulate(parts.begin(), parts.end(), 0.0);
  }
  /// An invocation an element, in groups of 256.
  void dispatch(const gl::Program& program) {
    constexpr Index max_across = 32768;  // OpenGL guarantees 65535
    const Index groups = groups_of_vector();
    device_.dispatch(program, std::min(groups, max_across), divide_up(groups, max_across));
  }

 private:
  enum class Operation : std::uint8_t { scal, axpy, dot };
  static constexpr Index max_parts = 1024;  // of a scalar product

  Index groups_of_vector() const { return divide_up(count_, 256); }
  gl::Program program_of(Operation operation) const {
    return device_.compute_program("solvers/blas1.comp", define("DOUBLE", precision_of<Real> == Precision::double_) +
                                                             define("OPERATION", static_cast<Index>(operation)));
  }
  void run(const gl::Program& program, double factor) {
    program.set(0, to_int(count_));
    program.set(1, factor);
    dispatch(program);
  }

  Device& device_;
  Index count_;
  DeviceArray<double> parts_;
  gl::Program scal_, axpy_, dot_;
  std::unique_ptr<MappedBuffer<double>> read_back_;
};

}  // namespace glinpack::solvers
