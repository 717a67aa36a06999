// What a device does in a second, beside which the papers put their shares (Ino et al. 2005, Table 2).
#pragma once

#include "base/measuring.hpp"
#include "solvers/device/device.hpp"

namespace glinpack::solvers {

/// Bytes a second of texelFetch from an RGBA32F texture of 16 x 16 texels, 64 fetches a fragment, one component-wise
/// minimum between them (shaders/solvers/fetch_rate.frag); by the host's clock, waiting included. Takes about
/// options.seconds, or what a few passes take. Throws std::runtime_error if the drawn values are wrong.
Measured texel_fetch_rate(Device& device, const MeasuringOptions& options);

/// A second, by the host's clock, waiting included.
struct DrawingRates {
  double fill = 0;       // texels of RGBA32F, each of which fetches one
  double vertices = 0;   // of rectangles of one texel
  double copy = 0;       // bytes of texels copied to another texture, read + written
  double to_device = 0;  // bytes over the bus
  double to_host = 0;
};
DrawingRates drawing_rates(Device& device, const MeasuringOptions& options);

}  // namespace glinpack::solvers
