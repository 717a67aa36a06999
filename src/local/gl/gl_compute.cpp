#include "gl/gl_compute.hpp"

#include <spdlog/spdlog.h>

#include <stdexcept>

#include "compute/ceilings.hpp"
#include "gl/context.hpp"
#include "gl/devices.hpp"
#include "gl/raster/drawing_rates.hpp"
#include "gl/vulkan_memory.hpp"

namespace glinpack::gl {

const DeviceCatalog device_catalog{
    .api = "OpenGL",
    .noun = "EGL device",
    .install = "install a driver (Mesa: libegl-mesa0 and libgl1-mesa-dri)",
    .remedy =
        "gl-compute needs EGL with a driver for OpenGL 4.5: install the vendor's driver, or Mesa's\n"
        "software one (Debian: libegl-mesa0 libgl1-mesa-dri).\n",
    .selection = visible_devices_variable,
    .list = list_devices,
    .driver_variables = driver_variables,
    .driver_variables_text = driver_variables_text,
    .measure_peak =
        [](const BackendOptions& options, Precision precision, const MeasuringOptions& measuring) {
          const CurrentContextGuard restore_current_context;  // of a backend
          return compute::measure_peak<open_device>(options, precision, measuring);
        },
    .measure_ceilings =
        [](const BackendOptions& options, const MeasuringOptions& measuring) {
          DeviceCeilings ceilings = compute::measure_ceilings<open_device>(options, measuring);
          measure_drawing(Context::create(options.device), ShaderSource(options.value("shader-dir")), measuring,
                          ceilings);
          return ceilings;
        },
};

std::shared_ptr<ComputeDevice> open_compute_device(const BackendOptions& options, MatrixMemory memory) {
  auto context = Context::create(options.device, options.debug);
  const bool is_asked_for = memory == MatrixMemory::vulkan;
  if (!is_asked_for && (memory == MatrixMemory::opengl || context->description().software)) return context;
  try {
    context->set_matrix_memory(VulkanMemory::open(context));
  } catch (const std::runtime_error& error) {
    if (is_asked_for) throw;
    spdlog::debug("matrices are in memory of OpenGL: {}", error.what());
  }
  return context;
}

}  // namespace glinpack::gl
