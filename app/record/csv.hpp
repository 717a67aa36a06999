// Fields of CSV files from JSON, which describe() makes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace glinpack::app {

/// A list with blanks between its items; empty for null.
std::string text_of_json(const nlohmann::json& value);

}  // namespace glinpack::app
