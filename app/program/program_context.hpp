// The common context of JSON documents from commands that measure one machine without MPI.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "backend/measuring.hpp"
#include "gl/devices.hpp"

namespace glinpack::app {

/// What context_json() has without MPI (app/record/context.hpp).
nlohmann::json program_context(const std::vector<std::string>& command_line, nlohmann::json configuration);

/// Index, renderer, version, UUID or null, software or not.
nlohmann::json device_json(const gl::DeviceDescription& device);

/// Unit, median, least, most, each times `scale`, and repetitions.
nlohmann::json measured_json(const Measured& measured, const char* unit, double scale);

/// "4.000", "40.00", "400.0", "4000": four significant digits, or all digits of a larger whole number.
std::string four_digits(double value);

}  // namespace glinpack::app
