// `glinpack devices`: lists the devices of this machine and how glinpack would use each.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "app/options/fields.hpp"
#include "backend/device_catalog.hpp"

namespace glinpack::app {

struct DevicesOptions {
  bool json = false;
};

OptionTable devices_table(DevicesOptions& options);

/// Returns the exit code: 0, or 1 if no device is usable.
int run_devices_command(const DevicesOptions& options, std::ostream& out);

/// A device as each API describes it that sees it (same_devices()).
using SeenDevice = std::vector<DeviceDescription>;

std::string devices_text(std::span<const SeenDevice> devices);
nlohmann::json devices_json(std::span<const SeenDevice> devices);

}  // namespace glinpack::app
