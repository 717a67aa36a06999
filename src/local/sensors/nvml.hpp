// NVIDIA's management library, loaded at run time: glinpack builds and runs without it.
#pragma once

#include <memory>
#include <string>

#include "sensors/sensor.hpp"

namespace glinpack::sensors {

/// "0000:19:00.0" of NVML's "00000000:19:00.0" and of any spelling of it: lower case, four digits of domain.
std::string plain_pci_address(std::string address);
/// "GPU-5ac84279-a50b-4c84-df70-6b4f21f7d185" of 32 hexadecimal digits; empty for any other number of digits.
std::string nvml_uuid(const std::string& digits);

/// The initialised library; shut down after the last sensor. Thread-safe.
class Nvml : public std::enable_shared_from_this<Nvml> {
 public:
  /// Throws std::runtime_error with library and cause if it cannot be loaded or initialised.
  static std::shared_ptr<Nvml> load(const std::string& library);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  int device_count() const;
  /// The sensor of a device. Throws std::runtime_error with NVML's error text if there is none.
  std::unique_ptr<Sensor> by_index(int index);
  std::unique_ptr<Sensor> by_uuid(const std::string& uuid);  // as nvml_uuid() writes it
  std::unique_ptr<Sensor> by_pci_address(const std::string& address);

 private:
  struct Functions;
  class Device;
  explicit Nvml(const std::string& library);
  void check(int code, const std::string& what) const;
  std::unique_ptr<Sensor> opened(void* device);

  void* library_ = nullptr;
  std::unique_ptr<Functions> functions_;
};

}  // namespace glinpack::sensors
