#include "app/doctor/measure.hpp"

#include <exception>

#include "backend/registry.hpp"
#include "base/timeline.hpp"
#include "mpi/communication.hpp"
#include "sensors/kernel_sensors.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

// Large enough for a processor of many cores and for a GPU; 46 MiB in all.
constexpr Index order = 2048;
constexpr Index depth = 256;

bool saves_power(const std::string& driver, const std::string& governor) {
  return governor == "powersave" && driver != "intel_pstate" && !driver.starts_with("amd-pstate-epp");
}

// Random numbers, not zeros: a GPU that multiplies zeros draws less power and clocks higher than in a run.
void fill(DeviceMemory<double>& memory, DeviceMatrix<double>& matrix) {
  const Index elements = matrix.rows() * matrix.columns();
  const auto buffer = memory.allocate_host(elements);
  for (Index e = 0; e < elements; ++e) buffer->data()[e] = static_cast<double>(e % 127 - 63) / 64;
  memory.wait(memory.upload({buffer.get(), 0, matrix.rows(), matrix.columns(), matrix.columns()}, whole(matrix)));
}

double update_rate(std::string_view name, const BackendOptions& backend_options, const MeasuringOptions& options) {
  Timeline timeline;
  const auto backend = make_backend<double>(name, backend_options, timeline);
  const auto l_transposed = backend->allocate(depth, order), u = backend->allocate(depth, order);
  const auto a = backend->allocate(order, order);
  for (DeviceMatrix<double>* matrix : {l_transposed.get(), u.get(), a.get()}) fill(*backend, *matrix);
  const auto update = [&](std::int64_t rounds) {
    for (std::int64_t round = 0; round < rounds; ++round) backend->update(whole(*l_transposed), whole(*u), whole(*a));
    backend->wait_all();
  };
  return measured_rate(options, product_flops(order, order, depth), update).median;
}

}  // namespace

void read_clocks(const std::string& root, json& processor) {
  bool found_saving = false;
  for (const int number : processor["processors"].get<std::vector<int>>()) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(number);
    const auto driver = sensors::line_of(folder + "/cpufreq/scaling_driver");
    if (const auto governor = sensors::line_of(folder + "/cpufreq/scaling_governor"); governor && !found_saving) {
      found_saving = saves_power(driver.value_or(""), *governor);
      processor["governor"] = found_saving || *governor != "powersave" ? *governor : *governor + " of " + *driver;
    }
    if (const auto count = sensors::number_of(folder + "/thermal_throttle/core_throttle_count")) {
      const json& sum = processor["throttled"];
      processor["throttled"] = (sum.is_null() ? 0 : sum.get<std::uint64_t>()) + *count;
    }
  }
}

std::string read_device_sensor(const sensors::Places& places, const sensors::GpuIdentity& identity, json& device) {
  const sensors::FoundSensors found = sensors::find_gpu_sensor(places, identity);
  if (found.sensors.empty()) return {};
  sensors::Sensor& sensor = *found.sensors.front();
  const sensors::Reading reading = sensor.read();
  if (sensors::known(reading.core_megahertz)) device["mhz"] = reading.core_megahertz;
  if (sensors::known(reading.celsius)) device["celsius"] = reading.celsius;
  if (reading.throttle != sensors::unknown_throttle) {
    for (const sensors::ThrottleReason reason : sensors::reasons_in(reading.throttle & sensors::slowing_throttle)) {
      device["throttle"].push_back(sensors::name_of(reason));
    }
  }
  return sensor.info().id;
}

json measure_gemm(int threads, const DeviceDescription* device, const MeasuringOptions& options) {
  BackendOptions backend_options;
  backend_options.threads = threads;
  json gemm{{"host", nullptr}, {"device", nullptr}, {"error", ""}};
  const auto measure = [&](const char* key, const BackendRecord& backend) {
    try {
      gemm[key] = update_rate(backend.name, backend_options, options);
    } catch (const std::exception& failure) {
      gemm["error"] = std::string(backend.name) + ": " + failure.what();
    }
  };
  world().barrier();
  measure("host", automatic_backend(MemorySpace::host));
  world().barrier();
  if (device != nullptr) {
    backend_options.device = device->index;
    backend_options.uuid = device->uuid;
    measure("device", automatic_backend(device->api));
  }
  return gemm;
}

}  // namespace glinpack::app::doctor
