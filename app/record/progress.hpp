// Progress of a run: per cent, order left, GFLOPS now and on average, remaining time.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "base/measuring.hpp"
#include "matrix/distribution.hpp"

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

  /// The width of the terminal, in characters.
  using Columns = std::function<int()>;

  /// `columns`: null if there is no terminal. `forwarded`: a launcher forwards to the terminal. It may do so in
  /// another order than this process writes to stderr and stdout, so prepare() and end() wait for it. Nothing in a run
  /// waits.
  Progress(ProgressMode mode, std::ostream& terminal, Columns columns, bool forwarded, Clock clock = steady_seconds);

  /// On a terminal, shows at once what happens before a run begins ("generating the matrix").
  void prepare(const std::string& label, const std::string& what);
  /// Starts a run with this number of floating-point operations, 0 if nothing is computed. The label names it ("N
  /// 16384, NB 256, grid 2x2"). `order`: of the matrix that is factorised, else 0.
  void begin(std::string label, double flops, Index order = 0);
  /// Sets the fraction of operations done, 0 ... 1. Cheap: prints at most ten times a second.
  void update(double fraction);
  /// Ends the run; erases the line on a terminal.
  void end();

 private:
  std::string line(double fraction, double elapsed) const;
  std::string terminal_line(double fraction, double now);
  void draw(const std::string& text, double now);
  void wait_for_launcher() const;

  ProgressMode mode_;
  std::ostream& terminal_;
  Columns columns_;
  bool forwarded_;
  Clock clock_;
  std::string label_;
  double flops_ = 0;
  Index order_ = 0;
  double begun_ = 0;
  double shown_ = -1;  // time at which a line was last written
  // since when the rate "now" is measured
  double now_since_ = 0;
  double fraction_then_ = 0;
  double rate_now_ = 0;  // GFLOPS
  bool line_shown_ = false;
};

}  // namespace glinpack::app
