#include "app/record/power_log.hpp"

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <optional>
#include <regex>
#include <utility>

#include "app/input/input_error.hpp"
#include "app/input/text_file.hpp"
#include "app/input/values.hpp"
#include "app/options/fields.hpp"
#include "app/record/energy.hpp"
#include "base/measuring.hpp"

namespace glinpack::app {
namespace {

constexpr std::int64_t largest_power_log = std::int64_t{256} << 20;
constexpr double max_watts = 1e9;

using Names = std::vector<std::string>;

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

double parse_time(const std::string& text) {
  static const std::regex form(
      R"((\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d{1,9})? ?(Z|([+-])(\d\d):?(\d\d))?)");
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) {
    const std::optional<double> number = real_of(text);
    if (!number) {
      throw InputError(in_quotes(text) + " is not a time; write 2026-11-26T01:30:00+01:00, or seconds since 1970");
    }
    const double seconds = *number;
    if (seconds >= 1e9 && seconds < 1e10) return seconds;
    throw InputError(in_quotes(text) + " is out of range; seconds since 1970 are expected, such as 1795656600.5" +
                     (seconds >= 1e12 && seconds < 1e13 ? ", not milliseconds" : ""));
  }
  const auto number = [&](std::size_t part) { return std::stoi(parts.str(part)); };
  const int hour = number(4), minute = number(5), second = number(6);
  const std::chrono::year_month_day date{std::chrono::year(number(1)),
                                         std::chrono::month(static_cast<unsigned>(number(2))),
                                         std::chrono::day(static_cast<unsigned>(number(3)))};
  const int zone_hours = parts[9].matched ? number(10) : 0, zone_rest = parts[9].matched ? number(11) : 0;
  constexpr int farthest_zone = 14;  // hours
  if (!date.ok() || hour > 23 || minute > 59 || second > 60 || zone_hours > farthest_zone || zone_rest > 59) {
    throw InputError(in_quotes(text) + " is not a time of the calendar");
  }
  if (!parts[8].matched) {
    throw InputError(in_quotes(text) + " has no time zone; add Z for UTC, or one such as +01:00");
  }
  const double fraction = parts[7].matched ? parse_real("0" + parts.str(7)) : 0;
  const int zone_minutes = (parts.str(9) == "-" ? -1 : 1) * (zone_hours * 60 + zone_rest);
  const std::chrono::sys_seconds time = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                                        std::chrono::minutes(minute - zone_minutes) + std::chrono::seconds(second);
  return static_cast<double>(time.time_since_epoch().count()) + fraction;
}

double parse_power(const std::string& text) {
  const double watts = parse_real(text);
  if (watts >= 0 && watts <= max_watts) return watts;
  throw InputError(in_quotes(text) + " is out of range; 0 to 1e9 watts are expected");
}

class PowerLogReader {
 public:
  PowerLogReader(const std::string& path, const std::string& contents) : lines_(lines_of(path, contents)) {
    log_.path = path;
  }

  PowerLog read() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      line_ = i + 1;
      const std::string text = trimmed(lines_[i]);
      if (text.empty() || text[0] == '#') continue;
      if (columns_ == 0) {
        read_head(fields_of(text));
      } else {
        read_row(fields_of(text));
      }
    }
    if (columns_ == 0) fail("the file has no line with the names of the columns, such as: time,watts,scope");
    if (log_.scopes.empty()) fail("no reading follows the names of the columns");
    for (const PowerScope& scope : log_.scopes) {
      if (scope.readings.size() < 2) {
        fail("there is one reading" + of_scope(scope) + "; record from before the run until after it");
      }
    }
    return std::move(log_);
  }

 private:
  static std::string of_scope(const PowerScope& scope) {
    return scope.name.empty() ? "" : " of " + in_quotes(scope.name);
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(log_.path + ":" + std::to_string(line_) + ": " + message);
  }

  template <class Parse>
  auto value_of_field(const std::string& what, Parse parse) const {
    try {
      return parse();
    } catch (const InputError& error) {
      fail(what + ": " + error.what());
    }
  }

  /// The fields of a line (RFC 4180), without the blanks around them.
  Names fields_of(const std::string& text) const {
    Names fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
        fields.back() += text[++i];
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    if (quoted) fail("a quotation mark has no end on its line");
    for (std::string& field : fields) field = trimmed(field);
    return fields;
  }

  /// The place of the column; empty: none. Fails if there are two.
  std::optional<std::size_t> column(const Names& head, const std::string& name) const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < head.size(); ++i) {
      if (in_lower_case(head[i]) != name) continue;
      if (found) fail("two columns have the name " + in_quotes(name) + "; rename one of them");
      found = i;
    }
    return found;
  }

  std::size_t needed(const Names& head, const std::string& name) const {
    if (const auto found = column(head, name)) return *found;
    fail(fmt::format("no column {} among {}; the first line names the columns, such as: time,watts,scope", name,
                     in_quotes(fmt::format("{}", fmt::join(head, ", ")))));
  }

  void read_head(const Names& head) {
    time_ = needed(head, "time");
    watts_ = needed(head, "watts");
    scope_ = column(head, "scope");
    columns_ = head.size();
  }

  void read_row(const Names& fields) {
    if (fields.size() != columns_) {
      fail(fmt::format("the line has {}; the head names {}", counted(std::ssize(fields), "value"),
                       counted(static_cast<std::int64_t>(columns_), "column")));
    }
    const double seconds = value_of_field("time", [&] { return parse_time(fields[time_]); });
    const double watts = value_of_field("watts", [&] { return parse_power(fields[watts_]); });
    PowerScope& scope = scope_named(scope_ ? fields[*scope_] : "");
    if (!scope.readings.empty() && seconds <= scope.readings.back().seconds) {
      fail(
          fmt::format("time {} is not after {:.3f}, the time of the reading before it{}; sort the lines by time, and "
                      "write times with their zone",
                      in_quotes(fields[time_]), scope.readings.back().seconds, of_scope(scope)));
    }
    scope.readings.push_back({seconds, watts, line_});
  }

  PowerScope& scope_named(const std::string& name) {
    if (scope_ && name.empty()) fail("the line has no scope; name the node, PDU or outlet that was read");
    const auto [place, is_new] = places_.try_emplace(name, log_.scopes.size());
    if (is_new) log_.scopes.push_back({name, {}});
    return log_.scopes[place->second];
  }

  std::vector<std::string> lines_;
  PowerLog log_;
  std::size_t line_ = 1;
  std::size_t columns_ = 0;  // 0: their names were not read yet
  std::size_t time_ = 0;
  std::size_t watts_ = 0;
  std::optional<std::size_t> scope_;
  std::map<std::string, std::size_t> places_;  // of scopes
};

struct Span {
  double first = 0;
  double last = 0;
};

/// The time that all scopes cover.
Span common_span(const PowerLog& log) {
  Span span{-HUGE_VAL, HUGE_VAL};
  for (const PowerScope& scope : log.scopes) {
    span.first = std::max(span.first, scope.readings.front().seconds);
    span.last = std::min(span.last, scope.readings.back().seconds);
  }
  return span;
}

double median_interval(const PowerScope& scope) {
  std::vector<double> intervals;
  for (std::size_t i = 1; i < scope.readings.size(); ++i) {
    intervals.push_back(scope.readings[i].seconds - scope.readings[i - 1].seconds);
  }
  return glinpack::spread_of(std::move(intervals)).median;
}

/// "2026-11-26T01:30:00Z"
std::string utc(double seconds) {
  constexpr double year_10000 = 253402300800;  // times of a damaged file may be any number
  const auto whole = static_cast<std::time_t>(std::clamp(seconds, 0.0, year_10000 - 1));
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(whole));
}

/// Throws InputError for a gap during the run.
void check_readings(const PowerLog& log, double start, double end) {
  constexpr double longest_gap = 5;  // median intervals
  for (const PowerScope& scope : log.scopes) {
    const double median = median_interval(scope);
    for (std::size_t i = 0; i < scope.readings.size(); ++i) {
      const double time = scope.readings[i].seconds;
      if (i == 0 || time < start || scope.readings[i - 1].seconds > end) continue;
      const double interval = time - scope.readings[i - 1].seconds;
      if (interval > longest_gap * median) {
        throw InputError(fmt::format(
            "{}:{}: time {:.3f} is {:.4g} s after the reading before it{}, during the run; the median is {:.3g} s: "
            "give a log without gaps",
            log.path, scope.readings[i].line, time, interval, scope.name.empty() ? "" : " of " + in_quotes(scope.name),
            median));
      }
    }
  }
}

}  // namespace

PowerLog parse_power_log(const std::string& path, const std::string& contents) {
  return PowerLogReader(path, contents).read();
}

PowerLog read_power_log(const std::string& path) { return parse_power_log(path, read_file(path, largest_power_log)); }

bool covers(const PowerLog& log, double start, double seconds) {
  const Span span = common_span(log);
  return span.first <= start && span.last >= start + seconds;
}

MeasuredPower power_during(const PowerLog& log, double start, double seconds) {
  if (!covers(log, start, seconds)) {
    const Span span = common_span(log);
    throw InputError(fmt::format(
        "{}: its readings go from {} to {}, the run went from {} to {}; give the log of this run, from a minute "
        "before it until a minute after it, with times in their zone",
        log.path, utc(span.first), utc(span.last), utc(start), utc(start + seconds)));
  }
  MeasuredPower power;
  check_readings(log, start, start + seconds);
  for (const PowerScope& scope : log.scopes) {
    std::vector<Point> points;
    for (const PowerReading& reading : scope.readings) points.push_back({reading.seconds, reading.watts});
    const double watts = integral(points, start, start + seconds) / seconds;
    power.scopes.push_back({scope.name, watts});
    power.watts += watts;
  }
  if (!(power.watts > 0)) {
    throw InputError(log.path + ": reads 0 W during the whole run; choose the column or outlet of the machine");
  }
  return power;
}

double watts_of_all_hosts(const MeasuredPower& power, const std::set<std::string>& hosts) {
  const auto short_name = [](const std::string& host) { return host.substr(0, host.find('.')); };
  std::set<std::string> all, measured;
  for (const std::string& host : hosts) all.insert(short_name(host));
  double watts = 0;
  for (const MeasuredPower::Scope& scope : power.scopes) {
    if (!all.contains(short_name(scope.name))) continue;
    measured.insert(short_name(scope.name));
    watts += scope.watts;
  }
  if (measured.empty()) return power.watts;
  return power.watts + watts * (static_cast<double>(all.size()) / static_cast<double>(measured.size()) - 1);
}

}  // namespace glinpack::app
