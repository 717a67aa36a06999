// What `glinpack network` measured: totals of messages, ping-pongs, screening. Text, JSON and CSV are views of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/record/run_record.hpp"
#include "network/links.hpp"
#include "transport/transport.hpp"

namespace glinpack::app {

/// Received messages, so that each counts once.
struct Traffic {
  double bytes = 0;
  double messages = 0;
  /// Sum over the receiving ranks, from posting the receive to completion; includes the wait for the sender.
  double seconds = 0;

  double bytes_per_second() const { return seconds > 0 ? bytes / seconds : 0; }  // per rank while it receives
};

/// The communicator of one process row or column.
struct LineTotal {
  Line line = Line::row;
  int index = 0;  // of the process row or column
  int ranks = 0;
  Spread seconds;  // per rank in all its messages, sent and received
  Traffic traffic;
};

/// Messages of one kind with more than at_most / 2 and up to at_most bytes.
struct SizeTotal {
  Phase phase = Phase::broadcast_l;
  double at_most = 0;  // a power of two
  Traffic traffic;
  double min_seconds = 0;  // of one message
};

/// One rank.
struct RankTotal {
  int world_rank = 0;
  int row = 0;
  int column = 0;
  std::string host;
  double row_seconds = 0;
  double column_seconds = 0;
  Traffic traffic;
};

struct NetworkTotals {
  double share = 0;  // of the run's time over all ranks that is spent in messages: 0 ... 1
  Traffic traffic;
  Spread row_seconds;  // per rank
  Spread column_seconds;
  std::vector<LineTotal> lines;  // rows, then columns
  std::vector<SizeTotal> sizes;  // by phase, then size
  std::vector<RankTotal> ranks;
  Index rows_exchanged = 0;  // between process rows
};

/// A run and the totals of its messages. The ranks' timelines are freed after summation.
struct NetworkRun {
  RunRecord record;
  NetworkTotals totals;
};

/// One end of a link.
struct LinkEnd {
  int rank = 0;  // in MPI_COMM_WORLD
  std::string host;
};

struct PingPongRecord {
  LinkEnd first, second;
  std::vector<PingPongTime> times;  // by size

  /// The time with the least latency; null if nothing was measured.
  const PingPongTime* quickest() const;
  /// The time with the largest rate among those of long messages, or of all if there are none; null if nothing was
  /// measured. Short messages may pass a shaped link in a burst.
  const PingPongTime* widest() const;
};
/// A message this long has the bandwidth of its link.
inline constexpr Index long_message_bytes = Index{64} << 10;

struct NetworkResults {
  std::vector<std::string> hosts;  // of all ranks of MPI_COMM_WORLD
  bool oversubscribed = false;     // a node has more ranks than cores, so that waits sleep
  std::vector<NetworkRun> runs;
  std::vector<PingPongRecord> ping_pongs;
  std::optional<Screening> screening;  // empty: not requested
  ScreeningOptions screening_options;
  std::optional<Incomplete> incomplete;  // set if a signal ended the run
};

NetworkTotals network_totals(const RunRecord& run);

/// "L along process rows": describes the messages of a phase.
std::string_view messages_of(Phase phase);

/// The text in parts, printed as the measurement proceeds. At most 100 columns; HPL's parsers take no line for a
/// result.
std::string network_head(const ReportContext& context, const NetworkResults& results, Pivoting pivoting);
/// Printed before the first run of each N, NB and grid: these values and the head of the table.
std::string network_case_head(const RunRecord& run);
/// A line of the table.
std::string network_run_line(const NetworkRun& run);
/// Printed after the last run of a case: one run's communicators and message sizes.
std::string network_case_details(const NetworkRun& run);
std::string ping_pong_text(const PingPongRecord& record);
std::string screening_text(const Screening& screening, const NetworkResults& results);

/// The JSON document: docs/network.schema.json describes it.
nlohmann::json network_json(const ReportContext& context, const NetworkResults& results);
/// Such a document's runs and ping-pongs. Throws InputError that names the location.
NetworkResults read_network(const JsonNode& root);
/// The screening part of it.
nlohmann::json screening_json(const Screening& screening, const NetworkResults& results);
/// One line per run after a header line. Times in seconds.
std::string network_csv(const std::vector<NetworkRun>& runs);

}  // namespace glinpack::app
