#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "app/report/report.hpp"
#include "app/report/waiting.hpp"

namespace glinpack::app {
namespace {

constexpr double gap_between_runs = 0.001;  // seconds

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Collects events and hands them to the stream in large pieces.
class EventWriter {
 public:
  explicit EventWriter(std::ostream& out) : out_(out) { out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":["; }
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  ~EventWriter() {
    flush();
    out_ << "\n]}\n";
  }

  template <class... Values>
  void event(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), "{}\n", first_ ? "" : ",");
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    first_ = false;
    if (buffer_.size() > piece) flush();
  }

 private:
  static constexpr std::size_t piece = 1 << 16;

  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  std::ostream& out_;
  fmt::memory_buffer buffer_;
  bool first_ = true;
};

void name_rank(EventWriter& writer, const RankRecord& rank) {
  const int pid = rank.world_rank;
  const std::string name = fmt::format("rank {} ({},{}) {}", pid, rank.row, rank.column, rank.host);
  writer.event(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid, json_text(name));
  writer.event(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})", pid, pid);
  for (const Lane lane : all_lanes) {
    const int tid = static_cast<int>(lane);
    writer.event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})", pid, tid,
                 name_of(lane));
    writer.event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", pid, tid,
                 tid);
  }
}

/// `message_start`: as from message_starts().
void write_interval(EventWriter& writer, int pid, double offset, const Interval& interval, double message_start) {
  writer.event(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":"{}","cat":"{}",)"
               R"("args":{{"pass":{},"role":"{}","bytes":{},"flops":{:.0f},"waiting":{:.3f}}}}})",
               pid, static_cast<int>(interval.lane), (offset + interval.start) * 1e6,
               std::max(0.0, interval.seconds()) * 1e6, name_of(interval.phase), name_of(interval.lane), interval.pass,
               name_of(interval.role), interval.bytes, interval.flops,
               std::max(0.0, message_start - interval.start) * 1e6);
}

std::string run_name(const RunRecord& record, std::size_t number) {
  return fmt::format("run {}: N {}, NB {}, {} x {}, {}, {}", number, record.parameters.n, record.parameters.nb,
                     record.grid.rows, record.grid.columns, record.backend, name_of(record.precision));
}

}  // namespace

void write_trace(std::ostream& out, std::span<const RunRecord> records) {
  EventWriter writer(out);
  std::set<int> named;
  double offset = 0;
  for (std::size_t number = 0; number < records.size(); ++number) {
    const RunRecord& record = records[number];
    const std::vector<std::vector<double>> starts =
        message_starts(record.result.ranks, record.result.u_comes_with_rows);
    double end = record.result.seconds;
    for (std::size_t place = 0; place < record.result.ranks.size(); ++place) {
      const RankRecord& rank = record.result.ranks[place];
      // A rank keeps the name that it has in its first run, though its place may be another in a later grid.
      if (named.insert(rank.world_rank).second) name_rank(writer, rank);
      if (place == 0) {
        writer.event(R"({{"ph":"i","s":"g","pid":{},"tid":0,"ts":{:.3f},"name":{}}})", rank.world_rank, offset * 1e6,
                     json_text(run_name(record, number)));
      }
      for (std::size_t i = 0; i < rank.intervals.size(); ++i) {
        write_interval(writer, rank.world_rank, offset, rank.intervals[i], starts[place][i]);
        end = std::max(end, rank.intervals[i].end);
      }
    }
    offset += end + gap_between_runs;
  }
}

}  // namespace glinpack::app
