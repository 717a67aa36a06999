#include "app/doctor/measure.hpp"

#include <netdb.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "backend/registry.hpp"
#include "base/measuring.hpp"
#include "base/timeline.hpp"
#include "mpi/communication.hpp"
#include "sensors/kernel_sensors.hpp"
#include "sensors/nvml.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

// Large enough for a processor of many cores and for a GPU; 46 MiB in all.
constexpr Index order = 2048;
constexpr Index depth = 256;

std::string text_in(const std::string& path) { return sensors::line_of(path).value_or(""); }

// 0 if the file has no number.
double number_in(const std::string& path) { return std::atof(text_in(path).c_str()); }

void read_frequencies(const std::string& folder, json& clocks) {
  constexpr double kilohertz = 1e-3;
  const std::string driver = text_in(folder + "/scaling_driver"), governor = text_in(folder + "/scaling_governor");
  if (clocks["governor"] == "" || saves_power(driver, governor)) {
    clocks["driver"] = driver;
    clocks["governor"] = governor;
  }
  if (const double now = number_in(folder + "/scaling_cur_freq") * kilohertz; now > 0) {
    const double slowest = clocks["slowest_mhz"];
    clocks["slowest_mhz"] = slowest > 0 ? std::min(slowest, now) : now;
    clocks["fastest_mhz"] = std::max(clocks["fastest_mhz"].get<double>(), now);
  }
  const double highest = number_in(folder + "/cpuinfo_max_freq") * kilohertz;
  clocks["highest_mhz"] = std::max(clocks["highest_mhz"].get<double>(), highest);
}

// The hwmon sensor that is nearest to its limit, in an array; empty without sensors.
json hottest_sensor(const std::string& root) {
  constexpr double thousandths = 1e-3;
  constexpr double usual_limit = 100;  // degrees Celsius, for sensors without a limit of their own
  json hottest = json::array();
  double least_left = 0;
  const std::string folder = root + "/sys/class/hwmon/";
  for (const std::string& chip : sensors::names_in(folder)) {
    for (const std::string& file : sensors::names_in(folder + chip)) {
      if (!file.starts_with("temp") || !file.ends_with("_input")) continue;
      const std::string sensor = folder + chip + "/" + file.substr(0, file.size() - std::string("_input").size());
      const double celsius = number_in(sensor + "_input") * thousandths;
      const double critical = number_in(sensor + "_crit") * thousandths;
      const double left = (critical > 0 ? critical : usual_limit) - celsius;
      if (celsius <= 0 || (!hottest.empty() && left >= least_left)) continue;
      least_left = left;
      const std::string label = text_in(sensor + "_label");
      const std::string name = text_in(folder + chip + "/name") + (label.empty() ? "" : " " + label);
      hottest = json::array({{{"name", name}, {"celsius", celsius}, {"critical", critical}}});
    }
  }
  return hottest;
}

// Random numbers, not zeros: a GPU that multiplies zeros draws less power and clocks higher than in a run.
void fill(Backend<double>& backend, DeviceMatrix<double>& matrix) {
  const Index elements = matrix.rows() * matrix.columns();
  const auto buffer = backend.allocate_host(elements);
  for (Index e = 0; e < elements; ++e) buffer->data()[e] = static_cast<double>(e % 127 - 63) / 64;
  backend.wait(backend.upload({buffer.get(), 0, matrix.rows(), matrix.columns(), matrix.columns()}, whole(matrix)));
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

void resolve_host_name(json& host) {
  const double begin = steady_seconds();
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.at("name").get<std::string>().c_str(), nullptr, &hints, &found) != 0) found = nullptr;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(address->ai_addr, address->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0) {
      host["addresses"].push_back(text.data());
    }
  }
  if (found != nullptr) freeaddrinfo(found);
  host["resolve_seconds"] = steady_seconds() - begin;
}

json unknown_clocks() {
  return {{"driver", ""},
          {"governor", ""},
          {"slowest_mhz", 0.0},
          {"fastest_mhz", 0.0},
          {"highest_mhz", 0.0},
          {"throttled", -1},
          {"hottest", json::array()},
          {"device_source", ""},
          {"device_mhz", 0.0},
          {"device_highest_mhz", 0.0},
          {"device_celsius", 0.0},
          {"device_throttle", json::array()}};
}

bool saves_power(const std::string& driver, const std::string& governor) {
  return governor == "powersave" && driver != "intel_pstate" && !driver.starts_with("amd-pstate-epp");
}

json read_clocks(const std::string& root, std::span<const int> processors) {
  json clocks = unknown_clocks();
  clocks["hottest"] = hottest_sensor(root);
  for (const int processor : processors) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(processor);
    read_frequencies(folder + "/cpufreq", clocks);
    if (const auto count = sensors::number_of(folder + "/thermal_throttle/core_throttle_count")) {
      clocks["throttled"] = std::max<std::int64_t>(0, clocks["throttled"]) + static_cast<std::int64_t>(*count);
    }
  }
  return clocks;
}

std::string read_device_sensor(const sensors::Places& places, const sensors::GpuIdentity& identity, json& clocks,
                               json& device) {
  const sensors::FoundSensors found = sensors::find_gpu_sensor(places, identity);
  if (found.sensors.empty()) return {};
  sensors::Sensor& sensor = *found.sensors.front();
  const sensors::Reading reading = sensor.read();
  const auto zero_if_unknown = [](double value) { return sensors::known(value) ? value : 0; };
  clocks["device_source"] = sensor.info().source;
  clocks["device_mhz"] = zero_if_unknown(reading.core_megahertz);
  clocks["device_highest_mhz"] = zero_if_unknown(sensor.info().most_core_megahertz);
  clocks["device_celsius"] = zero_if_unknown(reading.celsius);
  if (reading.throttle != sensors::unknown_throttle) {
    for (const sensors::ThrottleReason reason : sensors::reasons_in(reading.throttle & sensors::slowing_throttle)) {
      clocks["device_throttle"].push_back(sensors::name_of(reason));
    }
  }
  if (sensor.info().source == "NVML") {
    try {
      device["nvlinks"] = sensors::Nvml::load(places.nvml_library)->active_nvlinks(sensor.info().id);
    } catch (const std::runtime_error&) {
      device["nvlinks"] = -1;
    }
  }
  return sensor.info().id;
}

json measure_gemm(int threads, int device, const MeasuringOptions& options) {
  BackendOptions backend_options;
  backend_options.threads = threads;
  std::string error;
  const auto rate_in = [&](MemorySpace memory) {
    const std::string_view backend = automatic_backend(memory).name;
    try {
      return update_rate(backend, backend_options, options);
    } catch (const std::exception& failure) {
      error = std::string(backend) + ": " + failure.what();
      return 0.0;
    }
  };
  barrier(MPI_COMM_WORLD);
  const double host_rate = rate_in(MemorySpace::host);
  barrier(MPI_COMM_WORLD);
  backend_options.device = device;
  const double device_rate = device < 0 ? 0.0 : rate_in(MemorySpace::device);
  return {{"host", host_rate}, {"device", device_rate}, {"error", error}};
}

}  // namespace glinpack::app::doctor
