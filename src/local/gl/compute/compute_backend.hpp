// The backend `gl-compute`: local matrices in storage buffers, arithmetic in compute shaders, panels on the host.
#pragma once

#include <cstdint>
#include <memory>

#include "local/backend.hpp"
#include "local/make_backend.hpp"

namespace glinpack {

/// On the EGL device options.device. `window_bytes` (tests): shaders see no more of a buffer at a time; 0: what the
/// device allows. Throws std::runtime_error with cause and remedy.
template <class Real>
std::unique_ptr<Backend<Real>> make_compute_backend(const BackendOptions& options, Timeline& timeline,
                                                    std::int64_t window_bytes = 0);

}  // namespace glinpack
