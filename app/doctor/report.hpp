// Findings for people, for programs, and for the head of another report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "app/doctor/checks.hpp"

namespace glinpack::app::doctor {

/// A line for each check, with its remedies below it, and their numbers at the end.
std::string findings_text(std::span<const Finding> findings);

/// The JSON document without its context: docs/doctor.schema.json describes it.
nlohmann::json findings_json(std::span<const Finding> findings, const Facts& facts);

/// A line for each finding that is wrong.
std::vector<std::string> findings_notes(std::span<const Finding> findings);

}  // namespace glinpack::app::doctor
