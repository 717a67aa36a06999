// `glinpack devices`: lists the devices of this machine and how glinpack would use each.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "app/options/fields.hpp"
#include "backend/device_catalog.hpp"

namespace glinpack::app {

struct DevicesOptions {
  bool json = false;
};

OptionTable devices_table(DevicesOptions& options);

/// Lists all devices, as text or JSON. Returns the exit code: 0, or 1 if no device is usable.
int run_devices_command(const DevicesOptions& options, std::ostream& out);

/// The text and JSON reports. `automatic`: the index of the device that `--backend auto` uses, -1 if none.
std::string devices_text(std::span<const DeviceDescription> devices, int automatic);
nlohmann::json devices_json(std::span<const DeviceDescription> devices, int automatic);

}  // namespace glinpack::app
