// `glinpack devices`: the EGL devices of this machine and what glinpack would do with each.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "app/options/fields.hpp"
#include "gl/devices.hpp"

namespace glinpack::app {

struct DevicesOptions {
  bool json = false;
};

OptionTable devices_table(DevicesOptions& options);

/// Lists all devices, as text or JSON. Returns the exit code: 0, or 1 if no device is usable.
int run_devices_command(const DevicesOptions& options, std::ostream& out);

/// The two views; `automatic` is the index of the device that `--backend auto` takes, -1 where it takes none.
std::string devices_text(std::span<const gl::DeviceDescription> devices, int automatic);
nlohmann::json devices_json(std::span<const gl::DeviceDescription> devices, int automatic);

}  // namespace glinpack::app
