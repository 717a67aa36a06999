// `glinpack devices`: lists the devices of this machine and how glinpack would use each.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "app/options/fields.hpp"
#include "backend/device_catalog.hpp"

namespace glinpack::app {

struct DevicesOptions {
  std::string backend = "gl-compute";  // whose devices
  bool json = false;
};

OptionTable devices_table(DevicesOptions& options);

/// Lists all devices, as text or JSON. Returns the exit code: 0, or 1 if no device is usable.
int run_devices_command(const DevicesOptions& options, std::ostream& out);

/// The text and JSON reports of the devices of a backend. `automatic`: the index of the device that `--backend auto`
/// uses, -1 if none.
std::string devices_text(std::span<const DeviceDescription> devices, int automatic,
                         std::string_view backend = "gl-compute");
nlohmann::json devices_json(std::span<const DeviceDescription> devices, int automatic);

}  // namespace glinpack::app
