// Reports of `glinpack network`. All are views of NetworkResults; nothing here measures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/report/incomplete.hpp"
#include "app/report/network_totals.hpp"
#include "network/links.hpp"

namespace glinpack::app {

/// A run and what its messages came to; the ranks' timelines are dropped once they are added up.
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
  std::vector<std::string> hosts;  // of every rank of MPI_COMM_WORLD
  bool naps = false;               // ranks outnumber cores somewhere: waits nap
  std::vector<NetworkRun> runs;
  std::vector<PingPongRecord> ping_pongs;
  std::optional<Screening> screening;  // none: not asked for
  ScreeningOptions screening_options;
  std::optional<Incomplete> incomplete;  // where a signal ended it
};

/// The text, part by part as it is measured. At most 100 columns; no line looks like a result to HPL's parsers.
std::string network_head(const ReportContext& context, const NetworkResults& results, Pivoting pivoting);
/// Before the first run of an N, NB and grid: they, and the head of the table of runs.
std::string network_case_head(const RunRecord& run);
/// A line of the table.
std::string network_run_line(const NetworkRun& run);
/// After the last one: one run's communicators and message sizes.
std::string network_case_details(const NetworkRun& run);
std::string ping_pong_text(const PingPongRecord& record, const NetworkResults& results);
std::string screening_text(const Screening& screening, const NetworkResults& results);

/// The JSON document: docs/network.schema.json describes it.
nlohmann::json network_json(const ReportContext& context, const NetworkResults& results);
/// A part of it.
nlohmann::json screening_json(const Screening& screening, const NetworkResults& results);
/// One line per run, with a head line. Times in seconds.
std::string network_csv(const std::vector<NetworkRun>& runs);

}  // namespace glinpack::app
