// How fast fragment shaders get at texels that are in cache: the yardstick for passes that little but read.
#pragma once

#include "local/measuring.hpp"
#include "local/solvers/device.hpp"

namespace glinpack::solvers {

/// Bytes a second of texelFetch from an RGBA32F texture of 16 x 16 texels, 64 fetches a fragment, one component-wise
/// minimum between them (shaders/solvers/fetch_rate.frag); by the host's clock, waiting included. Takes about
/// options.seconds, or what a few passes take. Throws std::runtime_error where what was drawn is wrong.
Measured texel_fetch_rate(Device& device, const MeasuringOptions& options);

}  // namespace glinpack::solvers
