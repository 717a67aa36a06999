// One source of power, clocks and temperature: a processor package, its memory, a GPU.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace glinpack::sensors {

/// What a source does not tell.
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
inline bool known(double value) { return !std::isnan(value); }

enum class Kind : std::uint8_t { package, dram, gpu };
std::string_view name_of(Kind kind);  // "package", "dram", "gpu"

/// Why a GPU's clocks are below their most, one bit a reason, with the values of NVML's nvmlClocksThrottleReasons.
/// `unknown_throttle`: the source does not tell.
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
/// Those that slow down a GPU that has work: heat and power.
inline constexpr std::uint32_t slowing_throttle = throttle_power_cap | throttle_hardware_slowdown |
                                                  throttle_software_thermal | throttle_hardware_thermal |
                                                  throttle_power_brake;
/// The single reasons in a set, as bits; none for unknown_throttle.
std::vector<ThrottleReason> reasons_in(std::uint32_t throttle);
std::string_view name_of(ThrottleReason reason);  // "power cap", "hardware thermal slowdown", ...

/// What a source says at one moment; `unknown` where it says nothing. Trivially copyable: it travels between ranks.
struct Reading {
  double joules = unknown;  // since the sensor was opened; never falls
  double watts = unknown;   // now, or the mean of a short while, as the source has it
  double core_megahertz = unknown;
  double memory_megahertz = unknown;
  double celsius = unknown;
  std::uint32_t throttle = unknown_throttle;  // ThrottleReason
};

struct SensorInfo {
  Kind kind = Kind::package;
  std::string id;      // the same for everyone on a machine: "package-0", "dram-0", a PCI bus id ("0000:19:00.0")
  std::string name;    // of a GPU; else the id
  std::string source;  // "RAPL", "NVML", "hwmon"
  double most_core_megahertz = unknown;
  double power_limit_watts = unknown;
};

/// Not for use by several threads at a time.
class Sensor {
 public:
  explicit Sensor(SensorInfo info) : info_(std::move(info)) {}
  Sensor(const Sensor&) = delete;
  Sensor& operator=(const Sensor&) = delete;
  virtual ~Sensor() = default;

  const SensorInfo& info() const { return info_; }
  /// Takes microseconds (files of the kernel) to milliseconds (NVML). Does not throw: what fails stays unknown.
  virtual Reading read() = 0;

 private:
  SensorInfo info_;
};

/// What there is but cannot be read, and why, in words.
struct Unread {
  Kind kind = Kind::package;
  std::string why;
};

/// Sensors that answered once, and those that do not.
struct FoundSensors {
  std::vector<std::unique_ptr<Sensor>> sensors;
  std::vector<Unread> unread;
};

}  // namespace glinpack::sensors
