#include "sensors/sensor.hpp"

#include <array>

namespace glinpack::sensors {

namespace {

struct Named {
  ThrottleReason reason;
  std::string_view name;
};

constexpr std::array<Named, 9> reasons{{{throttle_idle, "idle"},
                                        {throttle_clock_setting, "clock setting"},
                                        {throttle_power_cap, "power cap"},
                                        {throttle_hardware_slowdown, "hardware slowdown"},
                                        {throttle_sync_boost, "sync boost"},
                                        {throttle_software_thermal, "software thermal slowdown"},
                                        {throttle_hardware_thermal, "hardware thermal slowdown"},
                                        {throttle_power_brake, "power brake"},
                                        {throttle_display_clock, "display clock setting"}}};

}  // namespace

std::string_view name_of(Kind kind) {
  static constexpr std::array<std::string_view, 3> names{"package", "dram", "gpu"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<ThrottleReason> reasons_in(std::uint32_t throttle) {
  std::vector<ThrottleReason> found;
  for (const Named& named : reasons) {
    if ((throttle & named.reason) != 0 && (throttle & unknown_throttle) == 0) found.push_back(named.reason);
  }
  return found;
}

std::string_view name_of(ThrottleReason reason) {
  for (const Named& named : reasons) {
    if (named.reason == reason) return named.name;
  }
  return "unknown reason";
}

}  // namespace glinpack::sensors
