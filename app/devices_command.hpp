// `glinpack devices`: the EGL devices of this machine and what glinpack would do with each.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "gl/devices.hpp"

namespace glinpack::app {

/// Lists all devices, for people or as JSON. Returns the exit status: 0, or 1 where no device is usable.
int run_devices_command(bool json, std::ostream& out);

/// The two views; `automatic` is the index of the device that `--backend auto` takes, -1 where it takes none.
std::string devices_text(std::span<const gl::DeviceDescription> devices, int automatic);
nlohmann::json devices_json(std::span<const gl::DeviceDescription> devices, int automatic);

}  // namespace glinpack::app
