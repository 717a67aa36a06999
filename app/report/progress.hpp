// How far a run is: per cent, GFLOPS so far, time left.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace glinpack::app {

enum class ProgressMode {
  automatic,  // a line rewritten in place on a terminal; elsewhere a line every five seconds
  always,     // as automatic, and every run that shows nothing else gets a line when it ends
  never,
};

/// Not thread-safe. No line looks like a result to HPL's parsers.
class Progress {
 public:
  /// Seconds since any fixed point in time; for tests.
  using Clock = std::function<double()>;

  Progress(ProgressMode mode, std::ostream& out, bool is_terminal);
  Progress(ProgressMode mode, std::ostream& out, bool is_terminal, Clock clock);

  /// A run of so many floating-point operations starts, 0 where nothing is computed. The label names it
  /// ("N 16384, NB 256, grid 2x2").
  void begin(std::string label, double flops);
  /// The share of the operations done, 0 ... 1. Cheap: shows something ten times a second at most.
  void update(double fraction);
  /// The run has ended; a line on a terminal is erased.
  void end();

 private:
  std::string line(double fraction, double elapsed) const;

  ProgressMode mode_;
  std::ostream& out_;
  bool is_terminal_;
  Clock clock_;
  std::string label_;
  double flops_ = 0;
  double begun_ = 0;
  double shown_ = 0;  // when a line was last written
  bool line_shown_ = false;
};

}  // namespace glinpack::app
