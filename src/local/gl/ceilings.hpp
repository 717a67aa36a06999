// Peak rates of an OpenGL device, measured with simple kernels: the reference for the operations of the backends. The
// host's clock times the commands and the wait for them, which also works for software devices.
#pragma once

#include <cstdint>
#include <string>

#include "base/measuring.hpp"
#include "base/precision.hpp"
#include "gl/devices.hpp"

namespace glinpack::gl {

/// On EGL device `device`; takes about eight times options.seconds, and the memory of copy_bytes(). `shader_directory`:
/// GLSL files that replace the embedded ones. Throws std::runtime_error with cause and remedy if the device does not
/// exist, if memory is insufficient, or if a copied or computed value is wrong.
DeviceCeilings measure_device_ceilings(int device, const MeasuringOptions& options,
                                       const std::string& shader_directory = {});

/// Measures only `copy`, in an eighth of the time: the reference for memory-bound computations.
CopyCeiling measure_device_copy(int device, const MeasuringOptions& options, const std::string& shader_directory = {});

/// Measures only the multiply-adds of this precision (mixed: single), in an eighth of the time: flops a second.
Measured measure_device_fma(int device, Precision precision, const MeasuringOptions& options,
                            const std::string& shader_directory = {});

/// The size of each of the two buffers of a device copy: far larger than any cache, but at most a storage block and an
/// eighth of the free memory; small on software devices. Throws std::runtime_error if the memory is insufficient.
std::int64_t copy_bytes(const DeviceDescription& device);

}  // namespace glinpack::gl
