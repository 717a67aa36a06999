// Reports of findings: as text, as JSON, and as notes at the head of another report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "app/doctor/checks.hpp"

namespace glinpack::app::doctor {

/// One line per check, followed by its remedies, and a count by verdict at the end.
std::string findings_text(std::span<const Finding> findings);

/// The JSON document without its context: docs/doctor.schema.json describes it.
nlohmann::json findings_json(std::span<const Finding> findings, const Facts& facts);

/// One line per problem.
std::vector<std::string> findings_notes(std::span<const Finding> findings);

}  // namespace glinpack::app::doctor
