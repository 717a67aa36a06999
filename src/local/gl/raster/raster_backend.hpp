// The backend `gl-raster`: the white paper's. Local matrices in float textures, arithmetic by drawing.
#pragma once

#include <memory>

#include "local/backend.hpp"
#include "local/make_backend.hpp"

namespace glinpack {

/// Single precision only; matrices no larger than a texture. On the EGL device options.device. Throws
/// std::runtime_error with cause and remedy.
std::unique_ptr<Backend<float>> make_raster_backend(const BackendOptions& options, Timeline& timeline);

}  // namespace glinpack
