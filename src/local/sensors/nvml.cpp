// The part of find_sensors.hpp by NVIDIA's management library.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "base/non_copyable.hpp"
#include "sensors/find_sensors.hpp"
#include "sensors/kernel_sensors.hpp"

namespace glinpack::sensors {
namespace {

// The part of NVML's interface in use (NVML API Reference, "nvml.h"), which all versions keep.
using Device_t = void*;                 // nvmlDevice_t
constexpr int success = 0;              // NVML_SUCCESS
constexpr int function_not_found = 13;  // NVML_ERROR_FUNCTION_NOT_FOUND
constexpr int clock_sm = 1;             // NVML_CLOCK_SM
constexpr int clock_memory = 2;         // NVML_CLOCK_MEM
constexpr int temperature_gpu = 0;
constexpr unsigned longest_text = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE, NVML_DEVICE_NAME_V2_BUFFER_SIZE
constexpr double milli = 1e-3;

// nvmlPciInfo_t, as nvmlDeviceGetPciInfo_v3 fills it in.
struct PciInfo {
  char legacy_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};

/// The initialised library; shut down after the last sensor. Thread-safe.
class Nvml : NonCopyable {
 public:
  explicit Nvml(const std::string& library) : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), &dlclose) {
    if (!library_) {
      const char* cause = dlerror();
      throw std::runtime_error("NVML: " + std::string(cause != nullptr ? cause : library + " does not load"));
    }
    require("nvmlInit", "nvmlInit_v2");
  }
  ~Nvml() { result_of("nvmlShutdown"); }

  /// Calls a function, and returns NVML's code; function_not_found if the library lacks it.
  template <class... Arguments>
  int result_of(const char* function, Arguments... arguments) const {
    const auto found = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_.get(), function));
    return found != nullptr ? found(arguments...) : function_not_found;
  }
  /// The same. Throws std::runtime_error with `what` and the cause, unless it succeeded.
  template <class... Arguments>
  void require(const std::string& what, const char* function, Arguments... arguments) const {
    const int code = result_of(function, arguments...);
    if (code == success) return;
    if (code == function_not_found)
      throw std::runtime_error("NVML: the driver is too old: no " + std::string(function));
    const auto text_of = reinterpret_cast<const char* (*)(int)>(dlsym(library_.get(), "nvmlErrorString"));
    const char* const text = text_of != nullptr ? text_of(code) : nullptr;
    throw std::runtime_error("NVML: " + what + ": " + (text != nullptr ? text : "error " + std::to_string(code)));
  }
  /// A number of a device, `unknown` if it is not reported.
  template <class... Which>
  double number_of(const char* function, Device_t device, Which... which) const {
    unsigned value = 0;
    return result_of(function, device, which..., &value) == success ? value : unknown;
  }

 private:
  std::unique_ptr<void, int (*)(void*)> library_;
};

class NvmlSensor : public Sensor {
 public:
  NvmlSensor(SensorInfo info, std::shared_ptr<Nvml> nvml, Device_t device)
      : Sensor(std::move(info)), nvml_(std::move(nvml)), device_(device) {}

  Reading read() override {
    Reading reading;
    unsigned long long wide = 0;
    // millijoules since the driver was loaded
    if (nvml_->result_of("nvmlDeviceGetTotalEnergyConsumption", device_, &wide) == success) {
      if (!first_millijoules_) first_millijoules_ = wide;
      if (wide >= *first_millijoules_) reading.joules = milli * static_cast<double>(wide - *first_millijoules_);
    }
    // from Ampere on the mean of a second
    reading.watts = milli * nvml_->number_of("nvmlDeviceGetPowerUsage", device_);
    reading.core_megahertz = nvml_->number_of("nvmlDeviceGetClockInfo", device_, clock_sm);
    reading.memory_megahertz = nvml_->number_of("nvmlDeviceGetClockInfo", device_, clock_memory);
    reading.celsius = nvml_->number_of("nvmlDeviceGetTemperature", device_, temperature_gpu);
    int code = nvml_->result_of("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &wide);
    // its newer name
    if (code == function_not_found) code = nvml_->result_of("nvmlDeviceGetCurrentClocksEventReasons", device_, &wide);
    if (code == success) {
      reading.throttle = static_cast<std::uint32_t>(wide & ~static_cast<unsigned long long>(unknown_throttle));
    }
    return reading;
  }

 private:
  std::shared_ptr<Nvml> nvml_;
  Device_t device_;
  std::optional<unsigned long long> first_millijoules_;
};

/// "0000:19:00.0" of NVML's "00000000:19:00.0" and of any spelling of it: lower case, four digits of domain.
std::string plain_pci_address(std::string address) {
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const std::size_t colon = address.find(':');
  if (colon == 8 && address.compare(0, 4, "0000") == 0) address.erase(0, 4);
  return address;
}

/// "GPU-5ac84279-a50b-4c84-df70-6b4f21f7d185" of 32 hexadecimal digits; empty for any other number of digits.
std::string nvml_uuid(const std::string& digits) {
  if (digits.size() != 32) return {};
  std::string text = "GPU-" + digits;
  for (const std::size_t place : {12U, 17U, 22U, 27U}) text.insert(place, "-");  // 8-4-4-4-12
  return text;
}

/// By its UUID, by the PCI address of its DRM file, or as the only GPU.
Device_t device_of(const Nvml& nvml, const Places& places, const GpuIdentity& gpu) {
  Device_t device = nullptr;
  if (const std::string uuid = nvml_uuid(gpu.uuid); !uuid.empty()) {
    nvml.require("device " + uuid, "nvmlDeviceGetHandleByUUID", uuid.c_str(), &device);
    return device;
  }
  if (const auto address = pci_address_of(places.root, gpu.drm_file)) {
    nvml.require("device " + *address, "nvmlDeviceGetHandleByPciBusId_v2", address->c_str(), &device);
    return device;
  }
  unsigned count = 0;
  if (nvml.result_of("nvmlDeviceGetCount_v2", &count) != success) count = 0;
  if (count != 1) {
    throw std::runtime_error("NVML: which of its " + std::to_string(count) +
                             " GPUs is the device is not known: it has neither a UUID nor a DRM file");
  }
  nvml.require("device 0", "nvmlDeviceGetHandleByIndex_v2", 0U, &device);
  return device;
}

}  // namespace

std::unique_ptr<Sensor> open_nvml_sensor(const Places& places, const GpuIdentity& gpu) {
  auto nvml = std::make_shared<Nvml>(places.nvml_library);
  const Device_t device = device_of(*nvml, places, gpu);
  SensorInfo info{.kind = Kind::gpu, .id = {}, .name = {}, .source = "NVML"};
  PciInfo pci{};
  nvml->require("nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v3", device, &pci);
  info.id = plain_pci_address(std::string(pci.address, strnlen(pci.address, sizeof pci.address)));
  std::array<char, longest_text> name{};
  if (nvml->result_of("nvmlDeviceGetName", device, name.data(), longest_text) == success) info.name = name.data();
  info.max_core_megahertz = nvml->number_of("nvmlDeviceGetMaxClockInfo", device, clock_sm);
  info.power_limit_watts = milli * nvml->number_of("nvmlDeviceGetEnforcedPowerLimit", device);
  auto sensor = std::make_unique<NvmlSensor>(std::move(info), std::move(nvml), device);
  const Reading first = sensor->read();  // counts from here on
  if (!known(first.joules) && !known(first.watts)) {
    throw std::runtime_error("NVML: " + sensor->info().id + " reports neither energy nor power");
  }
  return sensor;
}

}  // namespace glinpack::sensors
