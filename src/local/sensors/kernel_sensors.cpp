#include "sensors/kernel_sensors.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace glinpack::sensors {

std::optional<std::string> line_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (!file) return std::nullopt;
  char text[256];
  errno = 0;
  if (std::fgets(text, sizeof text, file.get()) == nullptr) return std::nullopt;
  std::string line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  return line;
}

std::optional<std::uint64_t> number_of(const std::string& path) {
  const std::optional<std::string> line = line_of(path);
  if (!line) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), number);
  errno = EINVAL;  // if it is no number
  const bool ends = end == line->data() + line->size() || *end == ' ';
  if (error != std::errc{} || !ends) return std::nullopt;
  return number;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

constexpr const char* powercap = "/sys/class/powercap/";
constexpr std::string_view zone_prefix = "intel-rapl:";  // also the prefix of AMD's counters
constexpr std::string_view package_prefix = "package-";
constexpr double micro = 1e-6;

class RaplSensor : public Sensor {
 public:
  RaplSensor(SensorInfo info, std::string file, std::uint64_t range)
      : Sensor(std::move(info)), file_(std::move(file)), counter_(range) {}

  Reading read() override {
    Reading reading;
    if (const std::optional<std::uint64_t> microjoules = number_of(file_)) {
      reading.joules = static_cast<double>(counter_.advance(*microjoules)) * micro;
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
    if (!zone.starts_with(zone_prefix) || zone.find(':', zone_prefix.size()) != std::string::npos) continue;
    const std::string package = line_of(folder + zone + "/name").value_or("");
    if (!package.starts_with(package_prefix)) continue;
    add_zone(folder + zone, Kind::package, package, found);
    for (const std::string& part : zones) {
      if (part.starts_with(zone + ":") && line_of(folder + part + "/name") == "dram") {
        add_zone(folder + part, Kind::dram, "dram-" + package.substr(package_prefix.size()), found);
      }
    }
  }
  return found;
}

namespace {

constexpr double millidegree = 1e-3;

double scaled(const std::string& path, double unit) {
  const std::optional<std::uint64_t> number = number_of(path);
  return number ? static_cast<double>(*number) * unit : unknown;
}

class HwmonSensor : public Sensor {
 public:
  HwmonSensor(SensorInfo info, std::string folder) : Sensor(std::move(info)), folder_(std::move(folder)) {}

  Reading read() override {
    Reading reading;
    if (const std::optional<std::uint64_t> microjoules = number_of(folder_ + "energy1_input")) {
      reading.joules = static_cast<double>(energy_.advance(*microjoules)) * micro;
    }
    reading.watts = scaled(folder_ + "power1_average", micro);
    if (!known(reading.watts)) reading.watts = scaled(folder_ + "power1_input", micro);
    reading.core_megahertz = scaled(folder_ + "freq1_input", micro);
    reading.memory_megahertz = scaled(folder_ + "freq2_input", micro);
    reading.celsius = scaled(folder_ + "temp1_input", millidegree);
    return reading;
  }

 private:
  std::string folder_;  // ends with a slash
  WrappingCounter energy_{0};
};

std::string device_folder(const std::string& root, const std::string& drm_file) {
  return root + "/sys/class/drm/" + std::filesystem::path(drm_file).filename().string() + "/device";
}

}  // namespace

bool is_pci_address(std::string_view name) {
  return name.size() == 12 && name[4] == ':' && name[7] == ':' && name[10] == '.';
}

std::optional<std::string> pci_address_of(const std::string& root, const std::string& drm_file) {
  if (drm_file.empty()) return std::nullopt;
  std::error_code error;
  const std::filesystem::path device = std::filesystem::canonical(device_folder(root, drm_file), error);
  const std::string name = error ? std::string() : device.filename().string();
  return is_pci_address(name) ? std::optional(name) : std::nullopt;
}

std::unique_ptr<Sensor> find_hwmon_sensor(const std::string& root, const std::string& drm_file) {
  if (drm_file.empty()) return nullptr;
  const std::string folder = device_folder(root, drm_file) + "/hwmon/";
  const std::string address = pci_address_of(root, drm_file).value_or(drm_file);
  for (const std::string& name : names_in(folder)) {
    SensorInfo info{.kind = Kind::gpu,
                    .id = address,
                    .name = line_of(folder + name + "/name").value_or(address),
                    .source = "hwmon",
                    .power_limit_watts = scaled(folder + name + "/power1_cap", micro)};
    auto sensor = std::make_unique<HwmonSensor>(std::move(info), folder + name + "/");
    const Reading first = sensor->read();  // counts from here on
    if (known(first.joules) || known(first.watts)) return sensor;
  }
  return nullptr;
}

}  // namespace glinpack::sensors
