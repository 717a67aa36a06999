// Arrays in buffers of the device, for compute shaders.
#pragma once

#include <functional>
#include <span>

#include "solvers/device/device.hpp"

namespace glinpack::solvers {

/// `elements` numbers in device memory, which the host does not map. Real: float, double or std::int32_t.
template <class Real>
class DeviceArray {
 public:
  /// Zero-filled. Throws std::runtime_error when the device cannot hold it, naming sizes.
  DeviceArray(Device& device, Index elements);

  Index size() const { return elements_; }
  GLuint id() const { return buffer_.id(); }

  /// Elements 0 ... values.size() - 1. Takes Stage::pack (into mapped memory) and Stage::upload, or Stage::download and
  /// Stage::unpack, on the device's clock. Throws std::invalid_argument when there are more than the array has.
  void upload(std::span<const Real> values);
  void download(std::span<Real> values) const;
  /// The same for the first `count` elements in any order: `fill` writes them, `take` reads them.
  void upload(Index count, const std::function<void(Real*)>& fill);
  void download(Index count, const std::function<void(const Real*)>& take) const;
  /// `count` elements from `first` on, copied to `to`. No stage of the clock has the time.
  std::span<const Real> read(Index first, Index count, const MappedBuffer<Real>& to) const;
  /// Zeros.
  void clear();

  /// Binds to a shader's storage block `binding`: all of it, or `count` elements from `first` on, which must be a
  /// multiple of
  /// 64. Throws std::runtime_error when that is more than the device's storage blocks may have, naming the limit.
  void bind(GLuint binding) const { bind(binding, 0, elements_); }
  void bind(GLuint binding, Index first, Index count) const;

 private:
  void check(Index count) const;

  Device* device_;
  Index elements_;
  gl::BufferHandle buffer_;
};

}  // namespace glinpack::solvers
