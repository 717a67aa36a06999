// What an OpenGL device can do at most, measured with the simplest work there is: the yardstick for the operations of
// the backends. By the host's clock around commands and the wait for them, so that software devices are measured, too.
#pragma once

#include <cstdint>
#include <string>

#include "local/gl/devices.hpp"
#include "local/measuring.hpp"

namespace glinpack::gl {

/// Who copies: a compute shader, 16 bytes at a time, or the driver (glCopyNamedBufferSubData).
enum class CopyWay { shader, driver };

/// Of both ways the one with the better median.
struct CopyCeiling {
  Measured rate;  // bytes a second
  CopyWay way = CopyWay::driver;
  std::int64_t bytes = 0;  // copied at a time
};

struct DeviceCeilings {
  DeviceDescription device;
  CopyCeiling copy;      // within the device's memory; bytes read and bytes written both count
  CopyCeiling upload;    // from mapped host memory, such as Backend::allocate_host gives
  CopyCeiling download;  // to it
  Measured fma_single;   // flops a second, two for a fused multiply-add, in compute shaders
  Measured fma_double;
  Measured dispatch;   // seconds for a compute shader of one work group and a barrier, of many in a row
  Measured read_back;  // seconds until the host has read_back_bytes of device memory
  std::int64_t read_back_bytes = 0;
};

/// On EGL device `device`; takes about eight times options.seconds, and memory as copy_bytes() says.
/// `shader_directory`: GLSL files that take the place of the embedded ones. Throws std::runtime_error, naming cause and
/// remedy, where there is no such device or too little memory, and where what was copied or computed is wrong.
DeviceCeilings measure_device_ceilings(int device, const MeasuringOptions& options,
                                       const std::string& shader_directory = {});

/// Of these only `copy`, in an eighth of the time: what computations that memory limits are compared with.
CopyCeiling measure_device_copy(int device, const MeasuringOptions& options, const std::string& shader_directory = {});

/// The size of each of two buffers that the device copies between: far beyond any cache, but at most a storage block
/// and an eighth of the memory that is free; small where software copies. Throws std::runtime_error where that leaves
/// too little.
std::int64_t copy_bytes(const DeviceDescription& device);

}  // namespace glinpack::gl
