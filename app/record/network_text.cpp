#include <spdlog/fmt/fmt.h>

#include <set>

#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/record/network_record.hpp"
#include "app/record/text.hpp"

namespace glinpack::app {
namespace {

const std::string single_line(80, '-');
const std::string double_line(80, '=');

/// Numbers in columns always have decimals, so that no parser takes a line for one of HPL's.
std::string amounts(const Traffic& traffic) {
  return fmt::format("{:>12.3f} {:>10.0f}", traffic.bytes / 1e6, traffic.messages);
}

std::string rate(double bytes_per_second) {
  return bytes_per_second > 0 ? fmt::format("{:>9.3f}", bytes_per_second * 1e-9) : fmt::format("{:>9}", "-");
}

std::string place(const LinkEnd& end) { return fmt::format("rank {} ({})", end.rank, free_text(end.host)); }

std::string place(int rank, const NetworkResults& results) {
  return place(LinkEnd{rank, results.hosts[static_cast<std::size_t>(rank)]});
}

std::string median_line(std::string_view kind, const LinkMedian& median) {
  if (median.links == 0) return {};
  return fmt::format("{:<16}{:>8}{:>14.2f}{:>15.3f}\n", kind, median.links, median.latency * 1e6,
                     median.bandwidth * 1e-9);
}

}  // namespace

std::string network_head(const ReportContext& context, const NetworkResults& results, Pivoting pivoting) {
  const std::set<std::string> hosts(results.hosts.begin(), results.hosts.end());
  std::string text = double_line + '\n';
  text += fmt::format("glinpack {}  --  the network alone", free_text(context.version));
  if (!context.git_commit.empty()) text += fmt::format("  --  {}", free_text(context.git_commit));
  text += '\n' + double_line + '\n';
  text += fmt::format("{} on {}: {}{}; {}\n", counted(context.world_size, "process"), counted(hosts.size(), "host"),
                      free_text(*hosts.begin()), hosts.size() > 1 ? " and others" : "", free_text(context.mpi_library));
  text +=
      "The messages of a factorisation on its communicators, with its broadcasts. Nothing is computed.\n"
      "Bytes and messages are counted where they are received; GB/s: of one rank while it receives.\n"
      "Waiting for the sender is part of every time.\n";
  if (pivots_across_processes(pivoting) && context.world_size > 1) {
    text +=
        "Each column's pivot is drawn from the remaining rows of all processes, the same ones in every run,\n"
        "so as many rows change places as with a random matrix.\n";
  }
  if (results.oversubscribed) {
    text += "Processes outnumber cores: waits sleep for 50 us at a time, and times include that.\n";
  }
  if (context.world_size == 1) text += "One process: no communication.\n";
  for (const std::string& note : context.notes) text += free_text(note) + '\n';
  return text;
}

std::string network_case_head(const RunRecord& run) {
  return fmt::format("\n{}\n{}, {} precision, {} pivoting\n{}\n", double_line, label_of(run), name_of(run.precision),
                     name_of(run.parameters.pivoting), single_line) +
         fmt::format("{:<20}{:>6}{:>12}{:>11}{:>13} {:>10}{:>9}\n", "broadcast", "run", "seconds", "network %", "MB",
                     "messages", "GB/s");
}

std::string network_run_line(const NetworkRun& run) {
  const RunRecord& record = run.record;
  return fmt::format("{:<20}{:>6}{:>12.6f}{:>11.1f} ", name_of(record.parameters.broadcast), record.repeat + 1,
                     record.result.seconds, 100 * run.totals.share) +
         amounts(run.totals.traffic) + rate(run.totals.traffic.bytes_per_second()) + '\n';
}

std::string network_case_details(const NetworkRun& run) {
  const NetworkTotals& totals = run.totals;
  if (totals.traffic.messages == 0) return "No communication on this grid.\n";
  std::string text = fmt::format("\n{}, run {}:\n", name_of(run.record.parameters.broadcast), run.record.repeat + 1);
  text += fmt::format("{:<13}{:>6}{:>10}{:>10}{:>10}{:>12} {:>10}{:>9}\n", "communicator", "ranks", "min ms", "mean ms",
                      "max ms", "MB", "messages", "GB/s");
  for (const LineTotal& total : totals.lines) {
    if (total.ranks < 2) continue;
    const std::string name = fmt::format("{} {}", total.line == Line::row ? "row" : "column", total.index);
    text += fmt::format("{:<13}{:>6}{:>10.2f}{:>10.2f}{:>10.2f}{}{}\n", name, total.ranks, total.seconds.min * 1e3,
                        total.seconds.mean * 1e3, total.seconds.max * 1e3, amounts(total.traffic),
                        rate(total.traffic.bytes_per_second()));
  }
  text += fmt::format("\n{:<24}{:>11}{:>12} {:>10} {:>10} {:>10}{:>9}\n", "messages received", "up to", "MB",
                      "messages", "min us", "mean us", "GB/s");
  for (const SizeTotal& total : totals.sizes) {
    text += fmt::format("{:<24}{:>11}{} {:>10.1f} {:>10.1f}{}\n", messages_of(total.phase), memory_text(total.at_most),
                        amounts(total.traffic), total.min_seconds * 1e6,
                        total.traffic.seconds / total.traffic.messages * 1e6, rate(total.traffic.bytes_per_second()));
  }
  if (totals.rows_exchanged > 0) {
    text += fmt::format("{} rows of the matrix change their process row.\n", totals.rows_exchanged);
  }
  return text;
}

std::string ping_pong_text(const PingPongRecord& record) {
  std::string text = fmt::format("\n{}\nPing-pong between {} and {}: one way, half of a round trip\n{}\n", double_line,
                                 place(record.first), place(record.second), single_line);
  text += fmt::format("{:>12}{:>14}{:>12}{:>12}{:>12}\n", "size", "round trips", "min us", "mean us", "GB/s");
  for (const PingPongTime& time : record.times) {
    text += fmt::format("{:>12}{:>14}{:>12.2f}{:>12.2f}{:>12.3f}\n", memory_text(static_cast<double>(time.bytes)),
                        time.round_trips, time.min * 1e6, time.mean * 1e6, time.bytes_per_second() * 1e-9);
  }
  if (record.times.empty()) return text;
  const PingPongTime* const quickest = record.quickest();
  const PingPongTime* const widest = record.widest();
  return text + fmt::format("Latency {:.2f} us ({}), bandwidth {:.3f} GB/s ({})\n", quickest->min * 1e6,
                            memory_text(static_cast<double>(quickest->bytes)), widest->bytes_per_second() * 1e-9,
                            memory_text(static_cast<double>(widest->bytes)));
}

std::string screening_text(const Screening& screening, const NetworkResults& results) {
  const ScreeningOptions& options = results.screening_options;
  std::string text =
      fmt::format("\n{}\nScreening: {} of {} pairs of ranks in {:.2f} s, {}\n{}\n", double_line, screening.links.size(),
                  screening.pairs, screening.seconds,
                  options.concurrent_pairs ? "disjoint pairs at the same time" : "one at a time", single_line);
  if (screening.interrupted) {
    text += "A signal ended it early.\n";
  } else if (static_cast<Index>(screening.links.size()) < screening.pairs) {
    text += fmt::format("--screen-seconds {:g} ended it: pairs are left.\n", options.seconds);
  }
  if (screening.links.empty()) return text;
  text += fmt::format("{:<16}{:>8}{:>14}{:>15}\n", "links", "pairs", "median us", "median GB/s");
  text += median_line("within hosts", screening.within_hosts) + median_line("between hosts", screening.between_hosts);
  const std::string criterion =
      fmt::format("less than {:g} of the median bandwidth ({}), or more than {:g} times the median latency ({})",
                  slow_bandwidth, memory_text(static_cast<double>(screening_bandwidth_bytes)), slow_latency,
                  memory_text(static_cast<double>(screening_latency_bytes)));
  if (screening.slow.empty()) return text + "No slow link: none has\n" + criterion + ".\n";
  text += fmt::format("{}, {}:\n{}\n", counted(screening.slow.size(), "slow link"),
                      screening.interrupted ? "not all of them measured twice" : "measured twice", criterion);
  for (const Link& link : screening.slow) {
    text += fmt::format("  {} - {}: {:.2f} us, {:.3f} GB/s\n", place(link.first, results), place(link.second, results),
                        link.latency * 1e6, link.bandwidth * 1e-9);
  }
  return text;
}

}  // namespace glinpack::app
