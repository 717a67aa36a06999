// Reports of `glinpack network`, from NetworkResults. Nothing here measures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/report/incomplete.hpp"
#include "app/report/network_totals.hpp"
#include "network/links.hpp"

namespace glinpack::app {

/// A run and the totals of its messages. The ranks' timelines are freed after summation.
struct NetworkRun {
  RunRecord record;
  NetworkTotals totals;
};

struct PingPongRecord {
  int first = 0;  // ranks of MPI_COMM_WORLD
  int second = 0;
  std::vector<PingPongTime> times;  // by size
};

struct NetworkResults {
  std::vector<std::string> hosts;  // of all ranks of MPI_COMM_WORLD
  bool naps = false;               // oversubscribed somewhere, so that waits back off
  std::vector<NetworkRun> runs;
  std::vector<PingPongRecord> ping_pongs;
  std::optional<Screening> screening;  // empty: not requested
  ScreeningOptions screening_options;
  std::optional<Incomplete> incomplete;  // set if a signal ended the run
};

/// The text in parts, printed as the measurement proceeds. At most 100 columns; HPL's parsers take no line for a
/// result.
std::string network_head(const ReportContext& context, const NetworkResults& results, Pivoting pivoting);
/// Printed before the first run of each N, NB and grid: these values and the head of the table.
std::string network_case_head(const RunRecord& run);
/// A line of the table.
std::string network_run_line(const NetworkRun& run);
/// Printed after the last run of a case: one run's communicators and message sizes.
std::string network_case_details(const NetworkRun& run);
std::string ping_pong_text(const PingPongRecord& record, const NetworkResults& results);
std::string screening_text(const Screening& screening, const NetworkResults& results);

/// The JSON document: docs/network.schema.json describes it.
nlohmann::json network_json(const ReportContext& context, const NetworkResults& results);
/// The screening part of it.
nlohmann::json screening_json(const Screening& screening, const NetworkResults& results);
/// One line per run after a header line. Times in seconds.
std::string network_csv(const std::vector<NetworkRun>& runs);

}  // namespace glinpack::app
