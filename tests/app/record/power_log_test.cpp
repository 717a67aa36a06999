#include "app/record/power_log.hpp"

#include <spdlog/fmt/fmt.h>

#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

constexpr double start = 1'700'000'000;  // 2023-11-14T22:13:20Z

PowerLog log_of(const std::string& contents) { return parse_power_log("pdu.csv", contents); }

/// A reading a second from `first` to `last` seconds after the start.
template <class Watts>
std::string seconds_of(double first, double last, Watts watts, double interval = 1) {
  std::string text = "time,watts\n";
  for (double t = first; t <= last; t += interval) text += fmt::format("{:.3f},{}\n", start + t, watts(t));
  return text;
}

TEST(PowerLog, HasTheReadingsOfEachScopeInWattsAndSecondsSince1970) {
  const PowerLog log = log_of(
      "# a remark\nTime, Watts ,Scope,State\n"
      "2023-11-14T22:13:20Z,250,a,on\n2023-11-14T23:13:20.5+01:00,500,\"b, left\",on\n"
      "2023-11-14 18:13:21-04:00,375,a,on\r\n\n1700000002.25,1,\"b, left\",on");
  ASSERT_EQ(log.scopes.size(), 2u);
  EXPECT_EQ(log.scopes[0].name, "a");
  EXPECT_EQ(log.scopes[1].name, "b, left");
  EXPECT_EQ(log.scopes[0].readings[1].seconds, start + 1);
  EXPECT_EQ(log.scopes[0].readings[1].watts, 375);
  EXPECT_EQ(log.scopes[1].readings[0].seconds, start + 0.5);
  EXPECT_EQ(log.scopes[1].readings[1].seconds, start + 2.25);
}

TEST(PowerLog, IsRefusedWithFileLineValueAndRemedy) {
  struct Hostile {
    std::string contents;
    std::vector<std::string> parts;
  };
  const std::string head = "time,watts\n";
  const std::vector<Hostile> logs{
      {"", {"pdu.csv:1:", "no line with the names of the columns"}},
      {head, {"no reading follows"}},
      {head + "1700000000,1\n", {"one reading", "record from before the run"}},
      {"time,volts\n1700000000,230\n", {"pdu.csv:1:", "watts", "time, volts", "time,watts,scope"}},
      {"watts,scope\n1,a\n", {"pdu.csv:1:", "no column time"}},
      {"time,watts,Watts\n", {"pdu.csv:1:", "two columns", "'watts'", "rename"}},
      {"1700000000,214\n1700000001,214\n", {"pdu.csv:1:", "no column time"}},
      {head + "1700000000,1,2\n", {"pdu.csv:2:", "3 values", "2 columns"}},
      {head + "1700000000,nan\n", {"pdu.csv:2:", "watts", "'nan'", "finite"}},
      {head + "1700000000,inf\n", {"pdu.csv:2:", "'inf'"}},
      {head + "1700000000,-5\n", {"pdu.csv:2:", "'-5'", "0 to 1e9 watts"}},
      {head + "1700000000,\n", {"pdu.csv:2:", "''"}},
      {head + "1700000000,1;5\n", {"pdu.csv:2:", "'1;5'"}},
      {head + "1700000000000,1\n", {"pdu.csv:2:", "not milliseconds"}},
      {head + "12:30:00,1\n", {"pdu.csv:2:", "'12:30:00'", "2026-11-26T01:30:00+01:00"}},
      {head + "2023-11-14T22:13:20,1\n", {"pdu.csv:2:", "has no time zone", "add Z"}},
      {head + "2023-02-30T22:13:20Z,1\n", {"pdu.csv:2:", "not a time of the calendar"}},
      {head + "2023-11-14T22:13:20+99:00,1\n", {"pdu.csv:2:", "not a time of the calendar"}},
      {head + "1700000001,1\n1700000000,1\n", {"pdu.csv:3:", "'1700000000' is not after 1700000001.000", "sort"}},
      {head + "1700000001,1\n1700000001,1\n", {"pdu.csv:3:", "not after"}},
      {"time,watts,scope\n1700000001,1,\n", {"pdu.csv:2:", "no scope"}},
      {"\"time,watts\n", {"pdu.csv:1:", "quotation mark"}},
      {std::string("time,watts\n\0", 12), {"pdu.csv:2:"}},
  };
  for (const Hostile& log : logs) {
    SCOPED_TRACE(log.contents);
    expect_input_error([&] { log_of(log.contents); }, log.parts);
  }
}

TEST(MeasuredPower, IsTheMeanOverTheRunOfAllScopes) {
  std::string text = "time,watts,scope\n";
  for (int t = -10; t <= 110; ++t) text += fmt::format("{},{},ramp\n{},50,flat\n", start + t, 100 + t, start + t);
  const MeasuredPower power = power_during(log_of(text), start, 100);
  EXPECT_NEAR(power.watts, 200, 1e-9);
  EXPECT_NEAR(power.scopes[0].watts, 150, 1e-9);
}

TEST(MeasuredPower, IsNotThatOfAnotherRunThatTakesMore) {
  const auto watts = [](double t) {
    const bool busy = (t >= 0 && t <= 10) || (t >= 30 && t <= 40);
    return busy ? (t < 20 ? 400 : 500) : 100;
  };
  const MeasuredPower power = power_during(log_of(seconds_of(-90, 150, watts)), start, 10);
  EXPECT_NEAR(power.watts, 400, 1e-9);
}

TEST(MeasuredPower, IsRefusedForALogThatDoesNotCoverTheRunHasAGapOrReadsNothing) {
  const auto flat = [](double) { return 300; };
  const auto refused = [&](const std::string& contents, const std::vector<std::string>& parts) {
    expect_input_error([&] { power_during(log_of(contents), start, 60); }, parts);
  };
  refused(seconds_of(-3610, -3530, flat), {"pdu.csv: its readings go from 2023-11-14T21:13:10Z", "zone"});
  refused(seconds_of(-200, -100, flat),
          {"the run went from 2023-11-14T22:13:20Z to 2023-11-14T22:14:20Z", "log of this run"});
  refused(seconds_of(-10, 40, flat), {"log of this run"});
  std::string gap = seconds_of(-10, 20, flat);
  for (int t = 29; t < 80; ++t) gap += fmt::format("{},300\n", start + t);
  refused(gap, {"pdu.csv:33:", "1700000029.000 is 9 s after", "without gaps"});
  refused(seconds_of(-10, 80, [](double) { return 0; }), {"0 W during the whole run"});
}

TEST(MeasuredPower, OfScopesNamedLikeHostsStandsForTheHostsThatTheLogLacks) {
  const MeasuredPower power{.scopes = {{"node01", 400}, {"node02.site", 600}, {"switch", 50}}, .watts = 1050};
  EXPECT_DOUBLE_EQ(watts_of_all_hosts(power, {"node01.site", "node02.site"}), 1050);
  EXPECT_DOUBLE_EQ(watts_of_all_hosts(power, {"node01", "node02", "node03", "node04"}), 2050);
  EXPECT_DOUBLE_EQ(watts_of_all_hosts(power, {"other"}), 1050);
}

}  // namespace
}  // namespace glinpack::app
