#include "backend/device_catalog.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace glinpack {

std::vector<std::vector<DeviceDescription>> same_devices(const std::vector<std::vector<DeviceDescription>>& by_api) {
  std::vector<std::vector<DeviceDescription>> devices;
  for (const std::vector<DeviceDescription>& listed : by_api) {
    for (DeviceDescription one : listed) {
      auto same = std::ranges::find_if(devices, [&](const std::vector<DeviceDescription>& apis) {
        return !one.uuid.empty() && apis.back().uuid == one.uuid && apis.back().api != one.api;
      });
      if (same == devices.end()) same = devices.emplace(same);
      one.index = static_cast<int>(same - devices.begin());
      same->push_back(std::move(one));
    }
  }
  return devices;
}

const DeviceDescription& best_of(const std::vector<DeviceDescription>& apis) {
  const auto usable = std::ranges::find(apis, true, &DeviceDescription::usable);
  return usable == apis.end() ? apis.front() : *usable;
}

DeviceDescription for_precision(DeviceDescription device, Precision precision) {
  if (precision == Precision::double_ && device.usable && !device.doubles) {
    device.usable = false;
    device.why_unusable = "its shaders have no double precision: use --precision single or mixed";
  }
  return device;
}

std::vector<std::string> variables_that_are_set(std::span<const char* const> names) {
  std::vector<std::string> found;
  for (const char* name : names) {
    if (const char* const value = std::getenv(name)) found.push_back(std::string(name) + "=" + value);
  }
  return found;
}

std::string text_of_variables(const std::vector<std::string>& variables) {
  if (variables.empty()) return "";
  return fmt::format("{} {}", fmt::join(variables, ", "),
                     variables.size() == 1 ? "is set: correct or unset it" : "are set: correct or unset them");
}

int device_for_local_rank(const std::vector<DeviceDescription>& devices, int local_rank, bool software_allowed) {
  for (const bool software : {false, true}) {
    if (software && !software_allowed) break;
    std::vector<int> candidates;
    for (const DeviceDescription& device : devices) {
      if (device.usable && device.software == software) candidates.push_back(device.index);
    }
    if (!candidates.empty()) return candidates[static_cast<std::size_t>(local_rank) % candidates.size()];
  }
  return -1;
}

const TileTrial& Tuning::best() const {
  const TileTrial* best = nullptr;
  for (const TileTrial& trial : trials) {
    if (trial.right && (!best || trial.rate.median > best->rate.median)) best = &trial;
  }
  if (!best) throw std::runtime_error("no tile computes the right results on " + device.renderer);
  return *best;
}

}  // namespace glinpack
