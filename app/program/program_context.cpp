#include "app/program/program_context.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "app/record/context.hpp"

namespace glinpack::app {

using nlohmann::json;

json program_context(const std::vector<std::string>& command_line, json configuration) {
  ReportContext context = process_context(command_line);
  context.configuration = std::move(configuration);
  context.nodes = {node_json()};
  return program_json(context);
}

json device_json(const DeviceDescription& device) {
  return {{"index", device.index},
          {"renderer", device.renderer},
          {"version", device.version},
          {"uuid", device.uuid.empty() ? json() : json(device.uuid)},
          {"software", device.software}};
}

MeasuredQuantity in_unit(const Measured& measured, const char* unit, double scale) {
  return {unit, {measured.median * scale, measured.least * scale, measured.most * scale, measured.repetitions}};
}

std::string four_digits(double value) {
  const int decimals = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace glinpack::app
