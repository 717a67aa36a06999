// The backend `gl-compute`: local matrices in storage buffers, arithmetic in compute shaders, panels on the host or, by
// tournament pivoting, on the device.
#pragma once

#include <cstdint>
#include <memory>

#include "local/backend.hpp"
#include "local/gl/compute/region.hpp"
#include "local/make_backend.hpp"

namespace glinpack {

namespace gl {
/// Transfers of as many bytes run beside kernels. An H200 takes about a millisecond to turn to a second queue while the
/// first has work: as long as so many take.
inline constexpr std::int64_t least_queued_bytes = std::int64_t{32} << 20;
}  // namespace gl

/// Tests take other ones.
struct ComputeLimits {
  std::int64_t window_bytes = 0;  // shaders see no more of a buffer at a time; 0: what the device allows
  Index stripe_width = gl::default_stripe_width;         // of matrices (region.hpp)
  std::int64_t buffer_bytes = gl::largest_buffer_bytes;  // of a matrix, in each of its buffers
  Index players = 256;            // rows that meet in a match of a panel's tournament, a power of two from 64 on
  std::int64_t queued_bytes = 0;  // transfers of so many at least run beside kernels; 0: least_queued_bytes, on GPUs
};

/// On the EGL device options.device. Throws std::runtime_error with cause and remedy.
template <class Real>
std::unique_ptr<Backend<Real>> make_compute_backend(const BackendOptions& options, Timeline& timeline,
                                                    const ComputeLimits& limits = {});

}  // namespace glinpack
