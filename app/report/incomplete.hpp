// What a report says where not all runs that were planned are in it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/report/run_record.hpp"

namespace glinpack::app {

struct Incomplete {
  std::string signal;  // that ended the program; empty: it goes on, or was ended at once
  std::size_t planned = 0;
  std::size_t finished = 0;
  const RunRecord* ended = nullptr;  // the run that was under way, with the passes that it had done
  bool links_left = false;           // of `network`: not all links that were to be tried have been
};

/// Sentences for the end of the report, each a line; none of them looks like a result to HPL's parsers.
std::string incomplete_text(const Incomplete& incomplete);
/// "incomplete" of the JSON document.
nlohmann::json incomplete_json(const Incomplete& incomplete);

}  // namespace glinpack::app
