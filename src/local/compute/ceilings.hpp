// Peak rates of a compute device, measured with simple kernels: the reference for the operations of the backends. The
// host's clock times the commands and the wait for them, which also works for software devices.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/backend_record.hpp"
#include "backend/device_catalog.hpp"
#include "base/measuring.hpp"
#include "base/precision.hpp"
#include "device/compute_device.hpp"
#include "device/shader_source.hpp"

namespace glinpack::compute {

/// Takes about eight times options.seconds, and the memory of copy_bytes(). Throws std::runtime_error with cause and
/// remedy if memory is insufficient, or if a copied or computed value is wrong.
DeviceCeilings measure_device_ceilings(const std::shared_ptr<ComputeDevice>& device, const ShaderSource& sources,
                                       const MeasuringOptions& options);

/// DeviceCatalog::measure_ceilings of an API.
template <auto open>
DeviceCeilings measure_ceilings(const BackendOptions& options, const MeasuringOptions& measuring) {
  return measure_device_ceilings(open(options), ShaderSource(options.value("shader-dir")), measuring);
}

/// Measures only `copy`, in an eighth of the time: the reference for memory-bound computations.
CopyCeiling measure_device_copy(const std::shared_ptr<ComputeDevice>& device, const ShaderSource& sources,
                                const MeasuringOptions& options);

/// Measures only the multiply-adds of this precision (mixed: single), in an eighth of the time: flops a second.
Measured measure_device_fma(const std::shared_ptr<ComputeDevice>& device, const ShaderSource& sources,
                            Precision precision, const MeasuringOptions& options);
/// DeviceCatalog::measure_peak of an API.
template <auto open>
Measured measure_peak(const BackendOptions& options, Precision precision, const MeasuringOptions& measuring) {
  return measure_device_fma(open(options), ShaderSource(options.value("shader-dir")), precision, measuring);
}

/// The size of each of the two buffers of a device copy: far larger than any cache, but at most a storage block and an
/// eighth of the free memory; small on software devices. Throws std::runtime_error if the memory is insufficient.
std::int64_t copy_bytes(const DeviceDescription& device);

}  // namespace glinpack::compute
