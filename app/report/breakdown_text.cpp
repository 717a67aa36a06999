#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/report/breakdown.hpp"
#include "app/report/report.hpp"

namespace glinpack::app {
namespace {

/// The unit of seconds: ms for short runs, so that three digits are significant.
struct TimeUnit {
  const char* name;
  double seconds;
};

TimeUnit unit_for(double run_seconds) { return run_seconds < 10 ? TimeUnit{"ms", 1e-3} : TimeUnit{"s", 1}; }

/// Likewise for bytes.
struct ByteUnit {
  const char* name;
  double bytes;
};

ByteUnit unit_for(const Breakdown& breakdown) {
  const double most = std::max(breakdown.network_bytes, breakdown.transfer_bytes);
  return most < 1e10 ? ByteUnit{"MB", 1e6} : ByteUnit{"GB", 1e9};
}

/// Right-aligned after a blank; drops decimals to keep the alignment. It always has a decimal point, so that no parser
/// takes a row for one of HPL's.
std::string cell(double value, int width, int decimals) {
  std::string text;
  do {
    text = fmt::format("{:.{}f}", value, decimals);
  } while (static_cast<int>(text.size()) >= width && --decimals >= 1);
  return fmt::format(" {:>{}}", text, width - 1);
}

std::string blank(int width) { return fmt::format("{:>{}}", "-", width); }

std::string rate_cells(double flops, double bytes, double seconds, const ByteUnit& unit) {
  std::string cells = flops > 0 && seconds > 0 ? cell(flops / seconds * 1e-9, 10, 1) : blank(10);
  cells += bytes > 0 ? cell(bytes / unit.bytes, 9, 3) : blank(9);
  cells += bytes > 0 && seconds > 0 ? cell(bytes / seconds * 1e-9, 8, 2) : blank(8);
  return cells;
}

std::string time_cells(const Spread& spread, double run_seconds) {
  const TimeUnit unit = unit_for(run_seconds);
  std::string cells;
  for (const double seconds : {spread.min, spread.mean, spread.max}) cells += cell(seconds / unit.seconds, 9, 2);
  for (const double seconds : {spread.min, spread.mean, spread.max}) {
    cells += cell(run_seconds > 0 ? 100 * seconds / run_seconds : 0, 6, 1);
  }
  return cells;
}

std::string heading(const Breakdown& breakdown) {
  const TimeUnit unit = unit_for(breakdown.seconds);
  std::string line = fmt::format("{:<10}{:<13}{:<4}", "role", "phase", "lane");
  for (const char* what : {"min", "mean", "max"}) line += fmt::format("{:>9}", fmt::format("{} {}", what, unit.name));
  for (const char* what : {"min", "mean", "max"}) line += fmt::format("{:>6}", fmt::format("{}%", what));
  return line + fmt::format("{:>10}{:>9}{:>8}\n", "GFLOPS", unit_for(breakdown).name, "GB/s");
}

std::string phase_line(const PhaseTotal& line, std::string_view role, const Breakdown& breakdown) {
  return fmt::format("{:<10}{:<13}{:<4}", role, name_of(line.phase), name_of(line.lane)) +
         time_cells(line.seconds, breakdown.seconds) +
         rate_cells(line.flops, line.bytes, line.busy_seconds, unit_for(breakdown)) + '\n';
}

std::string summary_line(std::string_view what, const Spread& spread, const Breakdown& breakdown, double flops = 0,
                         double bytes = 0) {
  return fmt::format("{:<27}", what) + time_cells(spread, breakdown.seconds) +
         rate_cells(flops, bytes, spread.mean * breakdown.ranks, unit_for(breakdown)) + '\n';
}

const std::string rule = std::string(99, '-') + '\n';

/// Shows Role::none as "other", since "none" would read as if no work were done.
std::string_view shown_name(Role role) { return role == Role::none ? "other" : name_of(role); }

std::string role_heading(const TimeUnit& unit) {
  std::string spread;
  for (const char* what : {"min", "mean", "max"}) spread += fmt::format("{:>9}", fmt::format("{} {}", what, unit.name));
  return fmt::format("{:>28}{:>39}{:>18}\n", "in passes", "mean, per cent of it", "idle") +
         fmt::format("{:<10}{:>5}{}{:>8}{:>7}{:>8}{:>7}{}\n", "role", "ranks", spread, "compute", "transf", "network",
                     "idle", spread);
}

std::string role_line(const RoleTotal& total, const TimeUnit& unit) {
  std::string line = fmt::format("{:<10}{:>5}", shown_name(total.role), total.ranks);
  const auto spread = [&line, &unit](const Spread& seconds) {
    for (const double value : {seconds.min, seconds.mean, seconds.max}) line += cell(value / unit.seconds, 9, 2);
  };
  const auto share = [&line, &total](const Spread& seconds, int width) {
    line += cell(total.seconds.mean > 0 ? 100 * seconds.mean / total.seconds.mean : 0, width, 1);
  };
  spread(total.seconds);
  share(total.computing, 8);
  share(total.transfer, 7);
  share(total.network, 8);
  share(total.idle, 7);
  spread(total.idle);
  return line + '\n';
}

std::string role_table(const Breakdown& breakdown) {
  const TimeUnit unit = unit_for(breakdown.seconds);
  std::string text = role_heading(unit) + rule;
  for (const RoleTotal& total : breakdown.roles) text += role_line(total, unit);
  return text;
}

}  // namespace

std::string breakdown_text(const RunRecord& record) {
  const Breakdown breakdown = break_down(record.result);
  if (breakdown.phases.empty()) return "No timeline was recorded: no breakdown.\n";

  const TimeUnit unit = unit_for(breakdown.seconds);
  std::string text = fmt::format(
      "\nWhere the time went: {:.2f} {} on {} rank{}; least, mean and most over ranks, per cent of the run\n",
      breakdown.seconds / unit.seconds, unit.name, breakdown.ranks, breakdown.ranks == 1 ? "" : "s");
  text += heading(breakdown);
  text += rule;
  const Role* last = nullptr;
  for (const PhaseTotal& line : breakdown.phases) {
    const bool new_role = last == nullptr || *last != line.role;
    text += phase_line(line, new_role ? shown_name(line.role) : "", breakdown);
    last = &line.role;
  }
  text += rule;
  text += summary_line("computing", breakdown.computing, breakdown, breakdown.flops);
  text += summary_line("transfers", breakdown.transfer, breakdown, 0, breakdown.transfer_bytes);
  text += summary_line("network", breakdown.network, breakdown, 0, breakdown.network_bytes);
  text += summary_line("  exposed: nothing computed", breakdown.network_exposed, breakdown);
  text += summary_line("  hidden behind computing", breakdown.network_hidden, breakdown);
  text += summary_line("idle: waits and gaps", breakdown.idle, breakdown);
  text += summary_line("  waiting for other ranks", breakdown.waiting, breakdown);
  text +=
      fmt::format("GFLOPS, GB/s: of one rank while at it. {}: of all ranks. Lane net: waiting for others included.\n",
                  unit_for(breakdown).name);
  text += "\nWho waits: time of ranks in their passes, by the role they had; least, mean and most over ranks\n";
  text += role_table(breakdown);
  return text;
}

std::string prediction_text(const RunRecord& record) {
  constexpr double least_seconds = 10;  // shorter runs do not need a forecast
  if (!record.prediction || record.result.seconds < least_seconds) return "";
  const Prediction& prediction = *record.prediction;
  const std::string figures = prediction.runs > 0
                                  ? fmt::format("{} earlier run{}", prediction.runs, prediction.runs == 1 ? "" : "s")
                                  : fmt::format("its first {} passes", prediction.passes);
  return fmt::format("The model expected {:.4g} s of the {}, from {}; measured {:.4g} s: {:.2f} times that.\n",
                     prediction.expected_seconds, prediction.of_factorization ? "factorisation" : "run", figures,
                     prediction.measured_seconds, prediction.ratio());
}

}  // namespace glinpack::app
