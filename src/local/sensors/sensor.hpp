// One source of power, clocks and temperature: a processor package, its memory, a GPU.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/enumerators.hpp"
#include "base/non_copyable.hpp"

namespace glinpack::sensors {

/// A value that the source does not report.
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
inline bool known(double value) { return !std::isnan(value); }

enum class Kind : std::uint8_t { package, dram, gpu };
constexpr std::string_view name_of(Kind kind) { return text_by_value(kind, "package", "dram", "gpu"); }

/// Reasons why a GPU's clocks are below their maximum: one bit each, with the values of NVML's
/// nvmlClocksThrottleReasons. `unknown_throttle`: not reported.
enum ThrottleReason : std::uint32_t {
  throttle_idle = 0x1,
  throttle_clock_setting = 0x2,
  throttle_power_cap = 0x4,
  throttle_hardware_slowdown = 0x8,
  throttle_sync_boost = 0x10,
  throttle_software_thermal = 0x20,
  throttle_hardware_thermal = 0x40,
  throttle_power_brake = 0x80,
  throttle_display_clock = 0x100,
};
inline constexpr std::uint32_t unknown_throttle = 0x8000'0000;
/// The reasons that slow down a busy GPU: heat and power.
inline constexpr std::uint32_t slowing_throttle = throttle_power_cap | throttle_hardware_slowdown |
                                                  throttle_software_thermal | throttle_hardware_thermal |
                                                  throttle_power_brake;
/// The single reasons in a set, as bits; none for unknown_throttle.
inline std::vector<ThrottleReason> reasons_in(std::uint32_t throttle) {
  std::vector<ThrottleReason> found;
  for (std::uint32_t bit = throttle_idle; bit <= throttle_display_clock; bit <<= 1U) {
    if ((throttle & bit) != 0 && (throttle & unknown_throttle) == 0) found.push_back(static_cast<ThrottleReason>(bit));
  }
  return found;
}
constexpr std::string_view name_of(ThrottleReason reason) {
  return text_by_value(std::countr_zero(std::uint32_t{reason}), "idle", "clock setting", "power cap",
                       "hardware slowdown", "sync boost", "software thermal slowdown", "hardware thermal slowdown",
                       "power brake", "display clock setting");
}

/// The values of a source at one time; `unknown` if not reported. Trivially copyable, since ranks send it.
struct Reading {
  double joules = unknown;  // since the sensor was opened; never falls
  double watts = unknown;   // current, or a short-term average, depending on the source
  double core_megahertz = unknown;
  double memory_megahertz = unknown;
  double celsius = unknown;
  std::uint32_t throttle = unknown_throttle;  // ThrottleReason
};

struct SensorInfo {
  Kind kind = Kind::package;
  std::string id;      // the same in all processes of a machine: "package-0", "dram-0", a PCI bus id ("0000:19:00.0")
  std::string name;    // of a GPU; otherwise the id
  std::string source;  // "RAPL", "NVML", "hwmon"
  double max_core_megahertz = unknown;
  double power_limit_watts = unknown;
};

/// Not for use by several threads at a time.
class Sensor : NonCopyable {
 public:
  explicit Sensor(SensorInfo info) : info_(std::move(info)) {}
  virtual ~Sensor() = default;

  const SensorInfo& info() const { return info_; }
  /// Takes microseconds (kernel files) to milliseconds (NVML). Does not throw: values that fail are unknown.
  virtual Reading read() = 0;

 private:
  SensorInfo info_;
};

/// A source that exists but cannot be read, and the reason as text.
struct Unread {
  Kind kind = Kind::package;
  std::string why;
};

/// Sensors that have been read once, and sources that cannot be read.
struct FoundSensors {
  std::vector<std::unique_ptr<Sensor>> sensors;
  std::vector<Unread> unread;
};

}  // namespace glinpack::sensors
