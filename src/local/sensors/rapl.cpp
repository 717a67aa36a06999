#include "local/sensors/rapl.hpp"

#include <cerrno>
#include <cstring>

#include "local/sensors/kernel_files.hpp"

namespace glinpack::sensors {

namespace {

constexpr const char* powercap = "/sys/class/powercap/";
constexpr std::string_view zone_prefix = "intel-rapl:";  // AMD's counters, too, come by this name
constexpr std::string_view package_prefix = "package-";
constexpr double joules_per_microjoule = 1e-6;

class RaplSensor : public Sensor {
 public:
  RaplSensor(SensorInfo info, std::string file, std::uint64_t range)
      : Sensor(std::move(info)), file_(std::move(file)), counter_(range) {}

  Reading read() override {
    Reading reading;
    if (const std::optional<std::uint64_t> microjoules = number_of(file_)) {
      reading.joules = static_cast<double>(counter_.advance(*microjoules)) * joules_per_microjoule;
    }
    return reading;
  }

 private:
  std::string file_;
  WrappingCounter counter_;
};

void add_zone(const std::string& folder, Kind kind, const std::string& id, FoundSensors& found) {
  const std::string file = folder + "/energy_uj";
  if (!number_of(file)) {
    const int error = errno;
    found.unread.push_back({kind, "RAPL " + id + ": " + file + ": " + std::strerror(error)});
    return;
  }
  const std::uint64_t range = number_of(folder + "/max_energy_range_uj").value_or(0);
  const SensorInfo info{.kind = kind, .id = id, .name = id, .source = "RAPL"};
  found.sensors.push_back(std::make_unique<RaplSensor>(info, file, range));
  found.sensors.back()->read();  // counts from here on
}

bool starts_with(const std::string& text, std::string_view start) { return text.rfind(start, 0) == 0; }

}  // namespace

std::uint64_t WrappingCounter::advance(std::uint64_t value) {
  if (last_ && value >= *last_) total_ += value - *last_;
  if (last_ && value < *last_) total_ += value + (range_ >= *last_ ? range_ - *last_ : 0);
  last_ = value;
  return total_;
}

FoundSensors find_rapl_sensors(const std::string& root) {
  const std::string folder = root + powercap;
  FoundSensors found;
  const std::vector<std::string> zones = names_in(folder);
  for (const std::string& zone : zones) {  // "intel-rapl:0", and within it "intel-rapl:0:1"
    if (!starts_with(zone, zone_prefix) || zone.find(':', zone_prefix.size()) != std::string::npos) continue;
    const std::string package = line_of(folder + zone + "/name").value_or("");
    if (!starts_with(package, package_prefix)) continue;
    add_zone(folder + zone, Kind::package, package, found);
    for (const std::string& part : zones) {
      if (starts_with(part, zone + ":") && line_of(folder + part + "/name") == "dram") {
        add_zone(folder + part, Kind::dram, "dram-" + package.substr(package_prefix.size()), found);
      }
    }
  }
  return found;
}

}  // namespace glinpack::sensors
