#include "app/record/timeline.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <tuple>
#include <utility>

namespace glinpack::app {

namespace {

/// One rank's end of a message.
struct End {
  Phase phase = Phase::wait;
  int line = 0;  // the process row or column that the message stays in
  std::int32_t pass = -1;
  std::size_t order = 0;  // index among the rank's messages of this pass and phase
  double start = 0;
  double finish = 0;
  std::int32_t messages = 0;  // received
  Role role = Role::none;
  std::size_t rank = 0;
  std::size_t interval = 0;

  auto exchange() const { return std::tie(phase, line, pass); }
};

bool is_message_of_a_pass(const Interval& interval) {
  if (interval.lane != Lane::net || interval.pass < 0) return false;
  return interval.phase == Phase::broadcast_l || interval.phase == Phase::broadcast_u ||
         interval.phase == Phase::swap || interval.phase == Phase::panel;
}

/// A rank's message ends by phase and pass, numbered in time order.
std::vector<End> ends_of(const RankRecord& record, std::size_t rank) {
  std::vector<End> ends;
  for (std::size_t i = 0; i < record.intervals.size(); ++i) {
    const Interval& interval = record.intervals[i];
    if (!is_message_of_a_pass(interval)) continue;
    const int line = interval.phase == Phase::broadcast_l ? record.row : record.column;
    ends.push_back({interval.phase, line, interval.pass, 0, interval.start, interval.end, interval.messages,
                    interval.role, rank, i});
  }
  std::ranges::sort(ends, {}, [](const End& end) { return std::tie(end.phase, end.pass, end.start); });
  for (std::size_t i = 1; i < ends.size(); ++i) {
    if (ends[i].exchange() == ends[i - 1].exchange()) ends[i].order = ends[i - 1].order + 1;
  }
  return ends;
}

/// True for the one rank that exchanges messages with all others in a broadcast or row exchange.
bool is_centre(const End& end) {
  return end.role == Role::pivot || end.role == (end.phase == Phase::broadcast_l ? Role::eliminate : Role::normalize);
}

using Starts = std::vector<std::vector<double>>;

void set_start(Starts& starts, const End& end, double known) {
  starts[end.rank][end.interval] = std::clamp(known, end.start, std::max(end.start, end.finish));
}

/// True if all ends of a message wait for each other.
bool is_mutual(std::span<const End> ends, bool rows_bring_u) {
  if (ends.front().phase == Phase::panel) return true;
  // in the last passes some ranks have no rows to send, and the others do not wait for them
  return ends.front().phase == Phase::swap && rows_bring_u &&
         std::ranges::all_of(ends, [](const End& end) { return end.messages > 0; });
}

/// Sets the starts for all ends of one message.
void match_message(std::span<const End> ends, Starts& starts, bool rows_bring_u) {
  if (ends.size() < 2) return;
  if (is_mutual(ends, rows_bring_u)) {
    const double last = std::ranges::max_element(ends, {}, &End::start)->start;
    for (const End& end : ends) set_start(starts, end, last);
    return;
  }
  if (ends.front().phase == Phase::swap && rows_bring_u) return;
  const auto centre = std::ranges::find_if(ends, is_centre);
  if (std::ranges::count_if(ends, is_centre) != 1) return;
  const End* first = nullptr;
  for (const End& end : ends) {
    if (&end == &*centre) continue;
    set_start(starts, end, centre->start);
    if (first == nullptr || end.start < first->start) first = &end;
  }
  if (centre->finish > first->start) set_start(starts, *centre, first->start);
}

/// Matches the ends of one process row's or column's messages in one pass and phase, in order. Skips them if the ranks
/// have different numbers of messages.
void match_exchange(std::span<const End> ends, Starts& starts, bool rows_bring_u) {
  const std::size_t messages = ends.back().order + 1;
  const std::size_t ranks = ends.size() / messages;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].order != i / ranks) return;
  }
  for (std::size_t message = 0; message < messages; ++message) {
    match_message(ends.subspan(message * ranks, ranks), starts, rows_bring_u);
  }
}

}  // namespace

std::vector<std::vector<double>> message_starts(std::span<const RankRecord> ranks, bool rows_bring_u) {
  Starts starts;
  std::vector<End> ends;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<double>& of_rank = starts.emplace_back();
    for (const Interval& interval : ranks[rank].intervals) of_rank.push_back(interval.start);
    const std::vector<End> own = ends_of(ranks[rank], rank);
    ends.insert(ends.end(), own.begin(), own.end());
  }
  std::ranges::sort(ends, {},
                    [](const End& end) { return std::tie(end.phase, end.line, end.pass, end.order, end.rank); });
  for (auto first = ends.begin(); first != ends.end();) {
    const auto next =
        std::find_if(first, ends.end(), [&](const End& end) { return end.exchange() != first->exchange(); });
    match_exchange({first, next}, starts, rows_bring_u);
    first = next;
  }
  return starts;
}

TimeSet united(std::vector<TimeSpan> spans) {
  std::erase_if(spans, [](const TimeSpan& span) { return !(span.begin < span.end); });
  if (!std::ranges::is_sorted(spans, {}, &TimeSpan::begin)) std::ranges::sort(spans, {}, &TimeSpan::begin);

  std::size_t kept = 0;
  for (const TimeSpan& span : spans) {
    if (kept > 0 && span.begin <= spans[kept - 1].end) {
      spans[kept - 1].end = std::max(spans[kept - 1].end, span.end);
    } else {
      spans[kept++] = span;
    }
  }
  spans.resize(kept);
  return spans;
}

TimeSet subtracted(const TimeSet& a, const TimeSet& b) {
  TimeSet rest;
  auto taken = b.begin();
  for (TimeSpan span : a) {
    while (taken != b.end() && taken->end <= span.begin) ++taken;
    // a span of b can overlap the next span of a, too, so `taken` does not advance past it
    for (auto hole = taken; hole != b.end() && hole->begin < span.end; ++hole) {
      if (hole->begin > span.begin) rest.push_back({span.begin, hole->begin});
      span.begin = std::max(span.begin, hole->end);
      taken = hole;
    }
    if (span.begin < span.end) rest.push_back(span);
  }
  return rest;
}

TimeSet common(const TimeSet& a, const TimeSet& b) {
  TimeSet both;
  auto in_a = a.begin();
  auto in_b = b.begin();
  while (in_a != a.end() && in_b != b.end()) {
    const TimeSpan part{std::max(in_a->begin, in_b->begin), std::min(in_a->end, in_b->end)};
    if (part.begin < part.end) both.push_back(part);
    if (in_a->end < in_b->end) {
      ++in_a;
    } else {
      ++in_b;
    }
  }
  return both;
}

double length(const TimeSet& set) {
  double seconds = 0;
  for (const TimeSpan& span : set) seconds += span.end - span.begin;
  return seconds;
}

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
                     json_text(fmt::format("run {}: N {}, NB {}, {} x {}, {}, {}", number, record.parameters.n,
                                           record.parameters.nb, record.grid.rows, record.grid.columns, record.backend,
                                           name_of(record.precision))));
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
