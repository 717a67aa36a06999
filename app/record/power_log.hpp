// A power log: readings of PDUs, IPMI or Redfish over time, as CSV. docs/reading-a-report.md describes the file.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace glinpack::app {

struct PowerReading {
  double seconds = 0;    // since 1970
  double watts = 0;      // not negative
  std::size_t line = 0;  // of the file
};

/// The readings at one place of the power supply: a node, an outlet, a PDU. Their times rise.
struct PowerScope {
  std::string name;  // empty: the log has no such column
  std::vector<PowerReading> readings;
};

struct PowerLog {
  std::string path;
  std::vector<PowerScope> scopes;  // at least one, each with two readings or more
};

/// Throws InputError, "FILE:LINE: ...", with the value and the remedy.
PowerLog read_power_log(const std::string& path);
/// The same of the file's contents.
PowerLog parse_power_log(const std::string& path, const std::string& contents);

/// The power during the timed section of a run, HPL's core phase. Linear between readings.
struct MeasuredPower {
  struct Scope {
    std::string name;
    double watts = 0;
  };
  std::vector<Scope> scopes;  // mean watts of each
  double watts = 0;           // their sum
};

/// `start`: seconds since 1970. Throws InputError if the log does not cover the run, has a gap in it, or reads 0 W.
MeasuredPower power_during(const PowerLog& log, double start, double seconds);
/// True if the log has readings before and after the whole run.
bool covers(const PowerLog& log, double start, double seconds);
/// The power of all hosts: if scopes are named like hosts, the mean of those stands for hosts that the log lacks.
double watts_of_all_hosts(const MeasuredPower& power, const std::set<std::string>& hosts);

}  // namespace glinpack::app
