#include "app/record/trace.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <utility>

#include "app/record/timeline.hpp"

namespace glinpack::app {
namespace {
constexpr double gap_between_runs = 0.001;  // seconds

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Collects events and writes them to the stream in large pieces.
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

/// `message_start`: from message_starts().
void write_interval(EventWriter& writer, int pid, double offset, const Interval& interval, double message_start) {
  writer.event(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":"{}","cat":"{}",)"
               R"("args":{{"pass":{},"role":"{}","bytes":{},"flops":{:.0f},"waiting":{:.3f}}}}})",
               pid, static_cast<int>(interval.lane), (offset + interval.start) * 1e6,
               std::max(0.0, interval.seconds()) * 1e6, name_of(interval.phase), name_of(interval.lane), interval.pass,
               name_of(interval.role), interval.bytes, interval.flops,
               std::max(0.0, message_start - interval.start) * 1e6);
}

/// A counter event, drawn below the rank's lanes. `values`: name and value of each line.
void write_counter(EventWriter& writer, int pid, double seconds, const std::string& name,
                   std::initializer_list<std::pair<std::string_view, double>> values) {
  std::string arguments;
  for (const auto& [line, value] : values) {
    if (!sensors::known(value)) continue;
    arguments += fmt::format(R"({}"{}":{:.3f})", arguments.empty() ? "" : ",", line, value);
  }
  if (arguments.empty()) return;
  writer.event(R"({{"ph":"C","pid":{},"ts":{:.3f},"name":{},"args":{{{}}}}})", pid, seconds * 1e6, json_text(name),
               arguments);
}

/// 1 while a reason holds, else 0; only for reasons that occur.
void write_throttle(EventWriter& writer, int pid, double seconds, const std::string& name, std::uint32_t throttle,
                    std::uint32_t ever) {
  for (const sensors::ThrottleReason reason : sensors::reasons_in(ever)) {
    write_counter(writer, pid, seconds, name + " " + std::string(name_of(reason)),
                  {{"throttled", (throttle & reason) != 0 ? 1 : 0}});
  }
}

/// Power, clocks, temperature and throttling over time. A sample from before the run counts at its start.
void write_sensor(EventWriter& writer, int pid, double offset, const SensorRecord& sensor) {
  const std::string name = (sensor.info.kind == sensors::Kind::gpu ? "GPU " : "") + sensor.info.id;
  std::uint32_t ever = 0;
  for (const sensors::Sample& sample : sensor.samples) {
    if (sample.reading.throttle != sensors::unknown_throttle) ever |= sample.reading.throttle;
  }
  for (std::size_t i = 0; i < sensor.samples.size(); ++i) {
    const sensors::Sample& sample = sensor.samples[i];
    const sensors::Reading& reading = sample.reading;
    const double seconds = offset + std::max(0.0, sample.seconds);
    double watts = reading.watts;
    if (!sensors::known(watts) && i + 1 < sensor.samples.size()) {  // derived from the counter, until the next sample
      const sensors::Sample& next = sensor.samples[i + 1];
      watts = (next.reading.joules - reading.joules) / (next.seconds - sample.seconds);
    }
    write_counter(writer, pid, seconds, name + " W", {{"W", watts}});
    write_counter(writer, pid, seconds, name + " MHz",
                  {{"core", reading.core_megahertz}, {"memory", reading.memory_megahertz}});
    write_counter(writer, pid, seconds, name + " C", {{"C", reading.celsius}});
    write_throttle(writer, pid, seconds, name, reading.throttle, ever & ~std::uint32_t{sensors::throttle_idle});
  }
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
      // A rank keeps the name from its first run, although its position may differ in a later grid.
      if (named.insert(rank.world_rank).second) name_rank(writer, rank);
      if (place == 0) {
        writer.event(R"({{"ph":"i","s":"g","pid":{},"tid":0,"ts":{:.3f},"name":{}}})", rank.world_rank, offset * 1e6,
                     json_text(run_name(record, number)));
      }
      for (std::size_t i = 0; i < rank.intervals.size(); ++i) {
        write_interval(writer, rank.world_rank, offset, rank.intervals[i], starts[place][i]);
        end = std::max(end, rank.intervals[i].end);
      }
      for (const SensorRecord& sensor : rank.power.read) {
        write_sensor(writer, rank.world_rank, offset, sensor);
        if (!sensor.samples.empty()) end = std::max(end, sensor.samples.back().seconds);
      }
    }
    offset += end + gap_between_runs;
  }
}

}  // namespace glinpack::app
