#include "local/sensors/hwmon.hpp"

#include <algorithm>
#include <filesystem>

#include "local/sensors/kernel_files.hpp"
#include "local/sensors/rapl.hpp"

namespace glinpack::sensors {

namespace {

constexpr double micro = 1e-6;
constexpr double milli = 1e-3;

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
    reading.celsius = scaled(folder_ + "temp1_input", milli);
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
