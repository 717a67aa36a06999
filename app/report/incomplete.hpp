// Report of an interrupted sweep, in which some planned runs are missing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/report/run_record.hpp"

namespace glinpack::app {

struct Incomplete {
  std::string signal;  // that ended the program; empty: the program continues, or ended immediately
  std::size_t planned = 0;
  std::size_t finished = 0;
  const RunRecord* ended = nullptr;  // the interrupted run, with the passes that it completed
  bool links_left = false;           // `network`: some links were not measured
};

/// Sentences for the end of the report, one per line. HPL's parsers take none for a result.
std::string incomplete_text(const Incomplete& incomplete);
/// "incomplete" of the JSON document.
nlohmann::json incomplete_json(const Incomplete& incomplete);

}  // namespace glinpack::app
