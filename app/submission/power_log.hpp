// A power log: readings of PDUs, IPMI or Redfish over time, as CSV. docs/reading-a-report.md describes the file.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/distribution.hpp"

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

/// What the log contains, for aspect 3 of the methodology.
enum class Subsystems { nodes, interconnect, all, all_measured };
inline constexpr std::array all_subsystems{Subsystems::nodes, Subsystems::interconnect, Subsystems::all,
                                           Subsystems::all_measured};
constexpr std::string_view name_of(Subsystems subsystems) {
  switch (subsystems) {
    case Subsystems::nodes:
      return "nodes";
    case Subsystems::interconnect:
      return "interconnect";
    case Subsystems::all:
      return "all";
    case Subsystems::all_measured:
      return "all-measured";
  }
  return "?";
}

/// What no reading shows: stated by the log's lines "# NAME = VALUE".
struct PowerFacts {
  std::optional<Index> nodes;              // compute nodes that the log measures
  std::optional<double> accuracy_percent;  // of the meter
  std::optional<bool> averaged;            // a reading is the mean of samples taken at least once a second
  std::optional<bool> integrated;          // readings come from a counter of energy
  std::optional<bool> upstream;            // measured upstream of power conversion
  std::optional<Subsystems> subsystems;    // in the log, the nodes measured, others perhaps estimated
  std::optional<bool> full_run;            // the log covers the job from its launch to its end
  std::optional<double> idle_watts;
  std::optional<bool> synchronised;  // the clocks of the meter and of the nodes
};

struct PowerLog {
  std::string path;
  std::vector<PowerScope> scopes;  // at least one, each with two readings or more
  PowerFacts facts;
  std::vector<std::string> remarks;  // the lines that begin with #
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
  std::vector<Scope> scopes;           // mean watts of each
  double watts = 0;                    // their sum
  std::array<double, 10> tenths{};     // mean watts in ten equal intervals
  double interval = 0;                 // the longest time between two readings of a scope, seconds
  std::size_t readings = 0;            // within the core phase, of the scope that has fewest
  std::optional<double> clock_offset;  // of the log, seconds ahead of the run's clock; empty: the power shows none
  double shift = 0;                    // subtracted from the log's times: the offset, if it is more than two readings
};

/// `start`: seconds since 1970. Throws InputError if the log does not cover the run, has a gap in it, or reads 0 W.
MeasuredPower power_during(const PowerLog& log, double start, double seconds);
/// True if the log has readings before and after the whole run.
bool covers(const PowerLog& log, double start, double seconds);

}  // namespace glinpack::app
