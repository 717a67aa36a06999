// Reports of a mode's records: text, CSV, JSON, trace.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "app/modes/fit.hpp"
#include "app/modes/mode_machine.hpp"
#include "app/modes/mode_record.hpp"

namespace glinpack::app {

/// Device, host and notes.
std::string mode_head(const std::string& mode, const ModeMachine& machine);
/// The head of the table, and one row; a failed record's row has the reason.
std::string mode_table_head();
/// A line of a table, without trailing blanks.
std::string table_line(std::string line);
std::string mode_line(const ModeRecord& record);
/// A table of coefficients, errors and speed-ups.
std::string fits_text(std::span<const SeriesFit> fits);

std::string mode_csv(const std::string& mode, std::span<const ModeRecord> records);
/// The JSON document without context: see docs/solver.schema.json. `more`: keys of the mode.
nlohmann::json mode_json(const std::string& mode, const ModeMachine& machine, std::span<const ModeRecord> records,
                         std::span<const SeriesFit> fits);
/// Chrome's trace format: the stages of the last repetition of every record, in sequence.
nlohmann::json mode_trace(const std::string& mode, std::span<const ModeRecord> records);

}  // namespace glinpack::app
