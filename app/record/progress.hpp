// Progress of a run: per cent, GFLOPS so far, remaining time.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace glinpack::app {

enum class ProgressMode {
  automatic,  // a line rewritten in place on a terminal; otherwise a line every five seconds
  always,     // like automatic, and one line at the end of every run without other output
  never,
};

/// Lines are logged at level info; a line that is rewritten goes to `terminal`. Not thread-safe. HPL's parsers take no
/// line for a result.
class Progress {
 public:
  /// Seconds since any fixed point in time; for tests.
  using Clock = std::function<double()>;

  Progress(ProgressMode mode, std::ostream& terminal, bool is_terminal);
  Progress(ProgressMode mode, std::ostream& terminal, bool is_terminal, Clock clock);

  /// Starts a run with this number of floating-point operations, 0 if nothing is computed. The label names it ("N
  /// 16384, NB 256, grid 2x2").
  void begin(std::string label, double flops);
  /// Sets the fraction of operations done, 0 ... 1. Cheap: prints at most ten times a second.
  void update(double fraction);
  /// Ends the run; erases the line on a terminal.
  void end();

 private:
  std::string line(double fraction, double elapsed) const;

  ProgressMode mode_;
  std::ostream& terminal_;
  bool is_terminal_;
  Clock clock_;
  std::string label_;
  double flops_ = 0;
  double begun_ = 0;
  double shown_ = 0;  // time at which a line was last written
  bool line_shown_ = false;
};

}  // namespace glinpack::app
