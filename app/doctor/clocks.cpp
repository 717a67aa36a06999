#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "app/doctor/gather.hpp"
#include "app/doctor/pci.hpp"
#include "sensors/nvml.hpp"

namespace glinpack::app::doctor {

namespace {

// 0 if the file has no number.
double number_in(const std::string& path) { return std::atof(first_line(path).c_str()); }

// True for a governor that keeps the clock low. The governors of intel_pstate and amd-pstate in active mode are only
// hints: the processor raises its clock under load.
bool saves_power(const std::string& driver, const std::string& governor) {
  return governor == "powersave" && driver != "intel_pstate" && !driver.starts_with("amd-pstate-epp");
}

void read_frequencies(const std::string& folder, ClockFacts& clocks) {
  constexpr double kilohertz = 1e-3;
  const std::string driver = first_line(folder + "/scaling_driver");
  const std::string governor = first_line(folder + "/scaling_governor");
  if (clocks.governor.empty() || saves_power(driver, governor)) {
    clocks.driver = driver;
    clocks.governor = governor;
  }
  if (const double now = number_in(folder + "/scaling_cur_freq") * kilohertz; now > 0) {
    clocks.slowest_mhz = clocks.slowest_mhz > 0 ? std::min(clocks.slowest_mhz, now) : now;
    clocks.fastest_mhz = std::max(clocks.fastest_mhz, now);
  }
  clocks.highest_mhz = std::max(clocks.highest_mhz, number_in(folder + "/cpuinfo_max_freq") * kilohertz);
}

void count_throttling(const std::string& folder, ClockFacts& clocks) {
  const std::string count = first_line(folder + "/thermal_throttle/core_throttle_count");
  if (count.empty()) return;
  clocks.throttled = std::max<std::int64_t>(0, clocks.throttled) + std::atoll(count.c_str());
}

// The hwmon sensor that is nearest to its limit.
std::vector<Temperature> hottest_sensor(const std::string& root) {
  constexpr double thousandths = 1e-3;
  constexpr double usual_limit = 100;  // degrees Celsius, for sensors without a limit of their own
  const auto left = [](const Temperature& t) { return (t.critical > 0 ? t.critical : usual_limit) - t.celsius; };
  std::vector<Temperature> hottest;
  const std::string folder = root + "/sys/class/hwmon/";
  for (const std::string& chip : names_in(folder, "hwmon")) {
    for (const std::string& file : names_in(folder + chip, "temp")) {
      const std::size_t end = file.find("_input");
      if (end == std::string::npos) continue;
      const std::string sensor = folder + chip + "/" + file.substr(0, end);
      const std::string label = first_line(sensor + "_label");
      Temperature temperature{.name = first_line(folder + chip + "/name") + (label.empty() ? "" : " " + label),
                              .celsius = number_in(sensor + "_input") * thousandths,
                              .critical = number_in(sensor + "_crit") * thousandths};
      if (temperature.celsius <= 0) continue;
      if (hottest.empty()) {
        hottest.push_back(std::move(temperature));
      } else if (left(temperature) < left(hottest.front())) {
        hottest.front() = std::move(temperature);
      }
    }
  }
  return hottest;
}

// 0 if it is unknown.
double known_or_zero(double value) { return sensors::known(value) ? value : 0; }

int count_nvlinks(const sensors::Places& places, const std::string& address) {
  try {
    return sensors::Nvml::load(places.nvml_library)->active_nvlinks(address);
  } catch (const std::runtime_error&) {
    return -1;
  }
}

}  // namespace

void read_device_sensor(const sensors::Places& places, const sensors::GpuIdentity& identity, ClockFacts& clocks,
                        DeviceFacts& device) {
  const sensors::FoundSensors found = sensors::find_gpu_sensor(places, identity);
  if (found.sensors.empty()) return;
  sensors::Sensor& sensor = *found.sensors.front();
  const sensors::Reading reading = sensor.read();
  clocks.device_source = sensor.info().source;
  clocks.device_mhz = known_or_zero(reading.core_megahertz);
  clocks.device_highest_mhz = known_or_zero(sensor.info().most_core_megahertz);
  clocks.device_celsius = known_or_zero(reading.celsius);
  if (reading.throttle != sensors::unknown_throttle) {
    for (const sensors::ThrottleReason reason : sensors::reasons_in(reading.throttle & sensors::slowing_throttle)) {
      clocks.device_throttle.emplace_back(sensors::name_of(reason));
    }
  }
  if (device.pci.address.empty()) device.pci = read_pci_device(places.root, sensor.info().id);
  if (sensor.info().source == "NVML") device.nvlinks = count_nvlinks(places, sensor.info().id);
}

ClockFacts read_clocks(const std::string& root, std::span<const int> processors) {
  ClockFacts clocks{
      .driver = {}, .governor = {}, .hottest = hottest_sensor(root), .device_source = {}, .device_throttle = {}};
  for (const int processor : processors) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(processor);
    read_frequencies(folder + "/cpufreq", clocks);
    count_throttling(folder, clocks);
  }
  return clocks;
}

}  // namespace glinpack::app::doctor
