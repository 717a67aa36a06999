#include "app/results/trace.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/input_error.hpp"
#include "app/results/json_node.hpp"

namespace glinpack::app {

namespace {

constexpr double microseconds = 1e-6;

}  // namespace

void TraceReader::event(const nlohmann::json& event) {
  const std::string where = file_ + ": event " + std::to_string(count_++);
  const JsonNode node(where, event);
  const std::string kind = node.text("ph");
  if (kind == "M") {
    const int rank = static_cast<int>(node.whole("pid"));
    if (node.text("name") == "process_name") trace_.ranks[rank] = node.at("args").text("name");
  } else if (kind == "i") {
    trace_.runs.push_back({.name = node.text("name"), .start = node.number("ts") * microseconds, .intervals = {}});
  } else if (kind == "X") {
    interval(event);
  }
}

void TraceReader::interval(const nlohmann::json& event) {
  const std::string where = file_ + ": event " + std::to_string(count_ - 1);
  const JsonNode node(where, event);
  if (trace_.runs.empty()) node.refuse("an interval stands before any run; a trace of glinpack's begins with a run");
  const JsonNode arguments = node.at("args");
  TraceRun& run = trace_.runs.back();
  TraceInterval interval;
  interval.rank = static_cast<int>(node.whole("pid"));
  interval.lane = node.text("cat");
  interval.phase = node.text("name");
  interval.role = arguments.text("role");
  interval.pass = arguments.whole("pass", -1);
  interval.begin = node.number("ts") * microseconds - run.start;
  interval.end = interval.begin + node.number("dur") * microseconds;
  const double waiting = arguments.optional_number("waiting").value_or(0) * microseconds;
  interval.work = std::clamp(interval.begin + waiting, interval.begin, std::max(interval.begin, interval.end));
  run.intervals.push_back(std::move(interval));
}

Trace TraceReader::finish() { return std::move(trace_); }

}  // namespace glinpack::app
