// Replaces libnvidia-ml.so.1. The environment variable FAKE_NVML names a text file with one device per line:
//   GPU-UUID PCI-ADDRESS NAME key=value,value,...
// The keys are energy, power, limit, sm, memory, most, celsius and throttle. Every call
// returns a key's next value, and the last one repeatedly. A device does not support a key that it lacks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int success = 0;
constexpr int not_supported = 3;
constexpr int not_found = 6;
constexpr int driver_not_loaded = 9;

struct Device {
  std::string uuid, address, name;
  std::map<std::string, std::deque<unsigned long long>> values;
};

std::vector<Device> devices;
int sessions = 0;

struct PciInfo {
  char legacy_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};

std::deque<unsigned long long> numbers(const std::string& text) {
  std::deque<unsigned long long> values;
  std::istringstream list(text);
  for (std::string value; std::getline(list, value, ',');) values.push_back(std::stoull(value, nullptr, 0));
  return values;
}

template <class Value>
int take(void* device, const char* key, Value* value) {
  const auto found = static_cast<Device*>(device)->values.find(key);
  if (found == static_cast<Device*>(device)->values.end()) return not_supported;
  *value = static_cast<Value>(found->second.front());
  if (found->second.size() > 1) found->second.pop_front();
  return success;
}

template <class Matches>
int find(void** device, Matches matches) {
  const auto found = std::find_if(devices.begin(), devices.end(), matches);
  if (found == devices.end()) return not_found;
  *device = &*found;
  return success;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* script = std::getenv("FAKE_NVML");
  if (script == nullptr) return driver_not_loaded;
  if (sessions++ > 0) return success;
  devices.clear();
  std::ifstream file(script);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Device device;
    if (!(words >> device.uuid >> device.address >> device.name)) continue;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      device.values[word.substr(0, equals)] = numbers(word.substr(equals + 1));
    }
    devices.push_back(device);
  }
  return success;
}

int nvmlShutdown() {
  --sessions;
  return success;
}

const char* nvmlErrorString(int code) {
  return code == not_found ? "Not Found" : code == driver_not_loaded ? "Driver Not Loaded" : "Not Supported";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(devices.size());
  return success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= devices.size()) return not_found;
  *device = &devices[index];
  return success;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  return find(device, [uuid](const Device& each) { return each.uuid == uuid; });
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  // "0000:19:00.0" names "00000000:19:00.0"
  const std::string wanted = address;
  return find(device, [&wanted](const Device& each) {
    return each.address.size() >= wanted.size() &&
           each.address.compare(each.address.size() - wanted.size(), wanted.size(), wanted) == 0;
  });
}

int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
  *info = {};
  std::snprintf(info->address, sizeof info->address, "%s", static_cast<Device*>(device)->address.c_str());
  return success;
}

int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  std::snprintf(name, length, "%s", static_cast<Device*>(device)->name.c_str());
  return success;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* value) {
  return take(device, "energy", value);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* value) { return take(device, "power", value); }
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* value) { return take(device, "limit", value); }
int nvmlDeviceGetClockInfo(void* device, int which, unsigned* value) {
  return take(device, which == 2 ? "memory" : which == 1 ? "sm" : "other", value);
}
int nvmlDeviceGetMaxClockInfo(void* device, int which, unsigned* value) {
  return take(device, which == 1 ? "most" : "other", value);
}
int nvmlDeviceGetTemperature(void* device, int which, unsigned* value) {
  return take(device, which == 0 ? "celsius" : "other", value);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* value) {
  return take(device, "throttle", value);
}

}  // extern "C"
