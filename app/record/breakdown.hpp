// Breaks down a run's time: sums over the ranks' timelines. Text and JSON reports use it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "run/run.hpp"

namespace glinpack::app {

/// Over ranks.
struct Spread {
  double min = 0;
  double mean = 0;
  double max = 0;
};

/// Zeros of no values.
Spread spread_over(const std::vector<double>& values);

/// One kind of work in one lane. Lanes run concurrently, so lengths add up only within a lane.
struct PhaseWork {
  Role role = Role::none;
  Phase phase = Phase::wait;
  Lane lane = Lane::cpu;
  double busy_seconds = 0;  // sums over all ranks, or one rank's
  double flops = 0;
  double bytes = 0;
};

struct PhaseTotal : PhaseWork {
  int ranks = 0;  // that have the role in some pass; counted in `seconds`
  Spread seconds;
};

/// A rank's time in the passes in which it had one role. On a rank, a pass lasts from its first interval to the first
/// interval of the next pass. Later device work of a pass counts in the next one. seconds = computing + transfer +
/// network + idle.
struct RoleTime {
  double seconds = 0;
  double computing = 0;  // with work in the cpu or gpu lane other than transfers, checkpoints and waits
  double transfer = 0;   // between host and device or to the disk, without computation
  double network = 0;    // messages, without computation or transfers
  double idle = 0;       // the remaining time
  double waiting = 0;    // part of idle: in a message whose other end has not begun
};

/// One rank's time; the parts are lengths of time, not sums over lanes.
struct RankTime {
  double computing = 0;                          // as in RoleTime
  double transfer = 0;                           // between host and device or to the disk
  double network = 0;                            // messages after their other end has begun (message_starts())
  double network_exposed = 0;                    // network that computation does not overlap
  double network_hidden = 0;                     // network that computation overlaps
  double idle = 0;                               // the run's time without work, transfer or network
  double waiting = 0;                            // part of idle: in a message whose other end has not begun
  std::array<RoleTime, all_roles.size()> roles;  // Role::none: outside the passes
  std::vector<PhaseWork> phases;
};

/// RoleTime over the ranks that have the role in some pass.
struct RoleTotal {
  Role role = Role::none;
  int ranks = 0;
  Spread seconds, computing, transfer, network, idle, waiting;
};

/// The phases of HPL by the names of its timers (-DHPL_DETAILED_TIMING), and those that HPL does not time: bcast, trsm,
/// refine (mixed precision), check (checksums), copies (panels and U12, in memory or between host and device), ckpt
/// (waits for checkpoints).
enum class HplPhase : std::uint8_t { pfact, bcast, laswp, trsm, update, ptrsv, refine, check, copies, ckpt };
inline constexpr auto all_hpl_phases = values_up_to<HplPhase::ckpt>;
constexpr std::string_view name_of(HplPhase phase) {
  return text_by_value(phase, "pfact", "bcast", "laswp", "trsm", "update", "ptrsv", "refine", "check", "copies",
                       "ckpt");
}

/// One of HPL's phases over all ranks. Every moment of a rank counts in one phase or as idle, so that the times add up
/// to that of the run. Of phases at the same time, computing counts before copies, copies before messages, and the
/// trailing update first.
struct HplPhaseTotal {
  HplPhase phase = HplPhase::pfact;
  Spread seconds;
  Spread hidden;      // time that counts in another phase
  double gflops = 0;  // of one rank in this phase, hidden time included
  double gigabytes_per_second = 0;
};

struct Breakdown {
  double seconds = 0;  // of the run; percentages refer to it
  int ranks = 0;
  std::vector<PhaseTotal> phases;         // sorted by role (none last), phase, lane; only those that occurred
  std::vector<RankTime> by_rank;          // in the order of RunResult::ranks
  std::vector<RoleTotal> roles;           // only those that occurred; none last
  std::vector<HplPhaseTotal> hpl_phases;  // in the order of all_hpl_phases; the last four only if they occurred
  Spread computing, transfer, network, network_exposed, network_hidden, idle, waiting;
  double flops = 0;           // sum over all ranks, as recorded
  double transfer_bytes = 0;  // sum over all ranks
  double network_bytes = 0;
};

/// `phases` is empty if there are no timelines. Counts time within [0, result.seconds].
Breakdown break_down(const RunResult& result);

/// HPL's phases and the idle time, which add up to the run's time. At most 100 columns; no line of it looks like a
/// result to HPL's parsers.
std::string phases_text(const Breakdown& breakdown);

/// Network against compute: per role and phase minimum, mean and maximum over ranks in seconds and per cent of the
/// run; GFLOPS of compute; bytes and GB/s of network and transfers; network exposed against total; idle time. At most
/// 100 columns; no line of it looks like a result to HPL's parsers.
std::string roles_text(const Breakdown& breakdown);

}  // namespace glinpack::app
