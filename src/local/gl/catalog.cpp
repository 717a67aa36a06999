#include "gl/catalog.hpp"

#include "backend/backend_record.hpp"
#include "gl/ceilings.hpp"
#include "gl/devices.hpp"

namespace glinpack::gl {

const DeviceCatalog device_catalog{
    .api = "OpenGL",
    .noun = "EGL device",
    .install = "install a driver (Mesa: libegl-mesa0 and libgl1-mesa-dri)",
    .remedy =
        "glinpack needs EGL with a driver for OpenGL 4.5: install the vendor's driver, or Mesa's\n"
        "software one (Debian: libegl-mesa0 libgl1-mesa-dri).\n",
    .list = list_devices,
    .driver_variables = driver_variables,
    .driver_variables_text = driver_variables_text,
    .measure_peak =
        [](const BackendOptions& options, Precision precision, const MeasuringOptions& measuring) {
          return measure_device_fma(options.device, precision, measuring, options.value("shader-dir"));
        },
    .measure_ceilings =
        [](const BackendOptions& options, const MeasuringOptions& measuring) {
          return measure_device_ceilings(options.device, measuring, options.value("shader-dir"));
        },
};

}  // namespace glinpack::gl
