#include "sensors/nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <stdexcept>

namespace glinpack::sensors {

namespace {

// The part of NVML's interface in use (NVML API Reference, "nvml.h"), which all versions keep.
using Device_t = void*;          // nvmlDevice_t
constexpr int success = 0;       // NVML_SUCCESS
constexpr int clock_sm = 1;      // NVML_CLOCK_SM
constexpr int clock_memory = 2;  // NVML_CLOCK_MEM
constexpr int temperature_gpu = 0;
constexpr unsigned longest_text = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE, NVML_DEVICE_NAME_V2_BUFFER_SIZE
constexpr double milli = 1e-3;

}  // namespace

// Null if the library lacks a function; `initialise` and `shut_down` are never null.
struct Nvml::Functions {
  // nvmlPciInfo_t, as nvmlDeviceGetPciInfo_v3 fills it in.
  struct PciInfo {
    char legacy_address[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char address[32];
  };

  int (*initialise)() = nullptr;
  int (*shut_down)() = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, Device_t*) = nullptr;
  int (*by_uuid)(const char*, Device_t*) = nullptr;
  int (*by_pci)(const char*, Device_t*) = nullptr;
  int (*pci_info)(Device_t, PciInfo*) = nullptr;
  int (*name)(Device_t, char*, unsigned) = nullptr;
  int (*energy)(Device_t, unsigned long long*) = nullptr;  // millijoules since the driver was loaded
  int (*power)(Device_t, unsigned*) = nullptr;             // milliwatts; from Ampere on the mean of a second
  int (*power_limit)(Device_t, unsigned*) = nullptr;       // milliwatts
  int (*clock)(Device_t, int, unsigned*) = nullptr;        // MHz
  int (*most_clock)(Device_t, int, unsigned*) = nullptr;   // MHz
  int (*temperature)(Device_t, int, unsigned*) = nullptr;  // degrees Celsius
  int (*throttle)(Device_t, unsigned long long*) = nullptr;
};

class Nvml::Device : public Sensor {
 public:
  Device(SensorInfo info, std::shared_ptr<Nvml> nvml, Device_t device)
      : Sensor(std::move(info)), nvml_(std::move(nvml)), device_(device) {}

  Reading read() override {
    const Functions& functions = *nvml_->functions_;
    Reading reading;
    unsigned long long wide = 0;
    if (functions.energy != nullptr && functions.energy(device_, &wide) == success) {
      if (!started_) first_millijoules_ = wide;
      started_ = true;
      reading.joules = wide >= first_millijoules_ ? milli * static_cast<double>(wide - first_millijoules_) : unknown;
    }
    reading.watts = milli * asked(functions.power);
    reading.core_megahertz = asked(functions.clock, clock_sm);
    reading.memory_megahertz = asked(functions.clock, clock_memory);
    reading.celsius = asked(functions.temperature, temperature_gpu);
    if (functions.throttle != nullptr && functions.throttle(device_, &wide) == success) {
      reading.throttle = static_cast<std::uint32_t>(wide & ~static_cast<unsigned long long>(unknown_throttle));
    }
    return reading;
  }

 private:
  template <class Function, class... Which>
  double asked(Function* function, Which... which) const {
    unsigned value = 0;
    return function != nullptr && function(device_, which..., &value) == success ? value : unknown;
  }

  std::shared_ptr<Nvml> nvml_;
  Device_t device_;
  bool started_ = false;
  unsigned long long first_millijoules_ = 0;
};

std::string plain_pci_address(std::string address) {
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const std::size_t colon = address.find(':');
  if (colon == 8 && address.compare(0, 4, "0000") == 0) address.erase(0, 4);
  return address;
}

std::string nvml_uuid(const std::string& digits) {
  if (digits.size() != 32) return {};
  std::string text = "GPU-" + digits;
  for (const std::size_t place : {12U, 17U, 22U, 27U}) text.insert(place, "-");  // 8-4-4-4-12
  return text;
}

Nvml::Nvml(const std::string& library) : functions_(std::make_unique<Functions>()) {
  library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    const char* cause = dlerror();
    throw std::runtime_error("NVML: " + std::string(cause != nullptr ? cause : library + " does not load"));
  }
  const auto take = [this](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library_, name));
  };
  Functions& f = *functions_;
  take(f.initialise, "nvmlInit_v2");
  take(f.shut_down, "nvmlShutdown");
  take(f.error_text, "nvmlErrorString");
  take(f.count, "nvmlDeviceGetCount_v2");
  take(f.by_index, "nvmlDeviceGetHandleByIndex_v2");
  take(f.by_uuid, "nvmlDeviceGetHandleByUUID");
  take(f.by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
  take(f.pci_info, "nvmlDeviceGetPciInfo_v3");
  take(f.name, "nvmlDeviceGetName");
  take(f.energy, "nvmlDeviceGetTotalEnergyConsumption");
  take(f.power, "nvmlDeviceGetPowerUsage");
  take(f.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  take(f.clock, "nvmlDeviceGetClockInfo");
  take(f.most_clock, "nvmlDeviceGetMaxClockInfo");
  take(f.temperature, "nvmlDeviceGetTemperature");
  take(f.throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");
  if (f.throttle == nullptr) take(f.throttle, "nvmlDeviceGetCurrentClocksEventReasons");  // its newer name
  std::string failure;
  if (f.initialise == nullptr || f.shut_down == nullptr) {
    failure = "NVML: " + library + " has no nvmlInit_v2";
  } else if (const int code = f.initialise(); code != success) {
    failure = "NVML: nvmlInit: " + std::string(f.error_text != nullptr ? f.error_text(code) : "no reason given");
  }
  if (failure.empty()) return;
  dlclose(library_);
  throw std::runtime_error(failure);
}

Nvml::~Nvml() {
  functions_->shut_down();
  dlclose(library_);
}

std::shared_ptr<Nvml> Nvml::load(const std::string& library) { return std::shared_ptr<Nvml>(new Nvml(library)); }

void Nvml::check(int code, const std::string& what) const {
  if (code == success) return;
  const char* words = functions_->error_text != nullptr ? functions_->error_text(code) : nullptr;
  throw std::runtime_error("NVML: " + what + ": " + (words != nullptr ? words : "error " + std::to_string(code)));
}

int Nvml::device_count() const {
  unsigned count = 0;
  return functions_->count != nullptr && functions_->count(&count) == success ? static_cast<int>(count) : 0;
}

std::unique_ptr<Sensor> Nvml::opened(void* device) {
  const Functions& f = *functions_;
  SensorInfo info{.kind = Kind::gpu, .id = {}, .name = {}, .source = "NVML"};
  Nvml::Functions::PciInfo pci{};
  if (f.pci_info == nullptr) throw std::runtime_error("NVML: the driver is too old: no nvmlDeviceGetPciInfo_v3");
  check(f.pci_info(device, &pci), "nvmlDeviceGetPciInfo");
  info.id = plain_pci_address(std::string(pci.address, strnlen(pci.address, sizeof pci.address)));
  std::array<char, longest_text> name{};
  if (f.name != nullptr && f.name(device, name.data(), longest_text) == success) info.name = name.data();
  unsigned value = 0;
  if (f.most_clock != nullptr && f.most_clock(device, clock_sm, &value) == success) info.most_core_megahertz = value;
  if (f.power_limit != nullptr && f.power_limit(device, &value) == success) info.power_limit_watts = milli * value;
  auto sensor = std::make_unique<Device>(std::move(info), shared_from_this(), device);
  const Reading first = sensor->read();  // counts from here on
  if (!known(first.joules) && !known(first.watts)) {
    throw std::runtime_error("NVML: " + sensor->info().id + " reports neither energy nor power");
  }
  return sensor;
}

std::unique_ptr<Sensor> Nvml::by_index(int index) {
  Device_t device = nullptr;
  if (functions_->by_index == nullptr) throw std::runtime_error("NVML: no nvmlDeviceGetHandleByIndex_v2");
  check(functions_->by_index(static_cast<unsigned>(index), &device), "device " + std::to_string(index));
  return opened(device);
}

std::unique_ptr<Sensor> Nvml::by_uuid(const std::string& uuid) {
  Device_t device = nullptr;
  if (functions_->by_uuid == nullptr) throw std::runtime_error("NVML: no nvmlDeviceGetHandleByUUID");
  check(functions_->by_uuid(uuid.c_str(), &device), "device " + uuid);
  return opened(device);
}

std::unique_ptr<Sensor> Nvml::by_pci_address(const std::string& address) {
  Device_t device = nullptr;
  if (functions_->by_pci == nullptr) throw std::runtime_error("NVML: no nvmlDeviceGetHandleByPciBusId_v2");
  check(functions_->by_pci(address.c_str(), &device), "device " + address);
  return opened(device);
}

}  // namespace glinpack::sensors
