#include "app/program/sensors.hpp"

#include <spdlog/spdlog.h>

#include <iterator>

#include "sensors/find_sensors.hpp"

namespace glinpack::app {

namespace {

void add(sensors::FoundSensors&& found, RankSensors& sensors) {
  for (const auto& sensor : found.sensors) spdlog::debug("sensor {}: read", sensor->info().name);
  for (const sensors::Unread& unread : found.unread) spdlog::debug("a sensor is not read: {}", unread.why);
  sensors.found.insert(sensors.found.end(), std::make_move_iterator(found.sensors.begin()),
                       std::make_move_iterator(found.sensors.end()));
  sensors.unread.insert(sensors.unread.end(), found.unread.begin(), found.unread.end());
}

}  // namespace

RankSensors open_sensors(const Machine& machine, const BackendInfo& info) {
  const sensors::Places places = sensors::Places::from_environment();
  RankSensors sensors;
  sensors.machine = sensors::machine_id(places);
  add(sensors::find_processor_sensors(places), sensors);
  if (info.device_index < 0 || info.software_gl || !machine.device) return sensors;
  const DeviceDescription& device = *machine.device;
  sensors::FoundSensors gpu =
      sensors::find_gpu_sensor(places, {.vendor = device.vendor, .uuid = device.uuid, .drm_file = device.drm_file});
  sensors.gpu = !gpu.sensors.empty()   ? gpu.sensors.front()->info().id
                : !device.uuid.empty() ? "UUID " + device.uuid
                                       : "device " + std::to_string(device.index);
  add(std::move(gpu), sensors);
  return sensors;
}

}  // namespace glinpack::app
