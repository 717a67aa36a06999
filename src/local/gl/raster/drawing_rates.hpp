// Peak rates of fragment shaders (Ino et al. 2005, Table 2), by the host's clock, waiting included.
#pragma once

#include <memory>

#include "backend/device_catalog.hpp"
#include "device/shader_source.hpp"
#include "gl/context.hpp"

namespace glinpack::gl {

/// Bytes a second of texelFetch from an RGBA32F texture of 16 x 16 texels, 64 fetches a fragment, one component-wise
/// minimum between them (shaders/raster/fetch_rate.frag). Takes about options.seconds, or what a few passes take.
/// Throws std::runtime_error if the drawn values are wrong.
Measured texel_fetch_rate(const std::shared_ptr<Context>& context, const ShaderSource& sources,
                          const MeasuringOptions& options);

/// Sets fetches, fill and vertices of the ceilings. Throws as texel_fetch_rate.
void measure_drawing(const std::shared_ptr<Context>& context, const ShaderSource& sources,
                     const MeasuringOptions& options, DeviceCeilings& ceilings);

}  // namespace glinpack::gl
