#include "app/record/progress.hpp"

#include <sstream>

#include "app/record/text.hpp"
#include "tests/app/report_records.hpp"
#include "tests/captured_log.hpp"

namespace glinpack::app::example {
namespace {

struct Shown {
  /// `columns`: of the terminal, 0 without one.
  explicit Shown(ProgressMode mode, int columns)
      : progress(mode, terminal, columns > 0 ? [columns] { return columns; } : Progress::Columns{}, false,
                 [this] { return now; }) {}

  /// 1000 updates over `seconds`.
  void run(double seconds) {
    progress.begin("N 16384, NB 256, grid 2x2", 1e12, 16384);
    for (int i = 1; i <= 1000; ++i) {
      now = begun + seconds * i / 1000;
      progress.update(i / 1000.0);
    }
    progress.end();
    begun = now;
  }

  /// What was written since the last call.
  std::string drawn() {
    std::string text = terminal.str();
    terminal.str("");
    return text;
  }

  CapturedLog log{"%v"};
  std::ostringstream terminal;
  double begun = 0;
  double now = 0;
  Progress progress;
};

TEST(Progress, without_a_terminal_a_line_every_five_seconds) {
  Shown shown(ProgressMode::automatic, 0);
  shown.run(20);
  EXPECT_EQ(shown.log.lines(),
            "N 16384, NB 256, grid 2x2: 25.0 % done, 50.0 GFLOPS so far, 0:00:15 left\n"
            "N 16384, NB 256, grid 2x2: 50.0 % done, 50.0 GFLOPS so far, 0:00:10 left\n"
            "N 16384, NB 256, grid 2x2: 75.0 % done, 50.0 GFLOPS so far, 0:00:05 left\n"
            "N 16384, NB 256, grid 2x2: 100.0 % done, 50.0 GFLOPS so far, 0:00:00 left\n");
  EXPECT_THAT(lines_that_look_like_results(shown.log.lines()), IsEmpty());
}

TEST(Progress, without_a_terminal_short_runs_show_nothing) {
  Shown shown(ProgressMode::automatic, 0);
  shown.run(4.9);
  shown.run(4.9);
  EXPECT_EQ(shown.log.lines(), "");
}

TEST(Progress, always_shows_a_line_even_for_short_runs) {
  Shown shown(ProgressMode::always, 0);
  shown.run(2);
  EXPECT_EQ(shown.log.lines(), "N 16384, NB 256, grid 2x2: 100.0 % done, 500.0 GFLOPS so far, 0:00:00 left\n");
}

const std::string erase = "\r\x1b[K";

TEST(Progress, on_a_terminal_a_line_comes_at_once_and_shows_order_rates_and_time_left) {
  Shown shown(ProgressMode::automatic, 100);
  const std::string label = "N 16384, NB 256, grid 2x2";
  shown.progress.prepare(label, "generating the matrix");
  EXPECT_EQ(shown.drawn(), erase + "generating the matrix: " + label);
  shown.now = 3;
  shown.progress.begin(label, 1e12, 16384);
  EXPECT_EQ(shown.drawn(), erase + "0.0 %, N left 16384: " + label);
  shown.now = 13;
  shown.progress.update(0.5);
  EXPECT_EQ(shown.drawn(),
            erase + "50.0 %, N left 13004, 50.0 GFLOPS now, 50.0 mean, 0:00:10 left: N 16384, NB 256, grid 2x2");
  shown.now = 18;
  shown.progress.update(0.875);
  EXPECT_EQ(shown.drawn(),
            erase + "87.5 %, N left 8192, 75.0 GFLOPS now, 58.3 mean, 0:00:02 left: N 16384, NB 256, grid 2x2");
  shown.progress.update(1);
  EXPECT_EQ(shown.drawn(), erase + "solving and checking: " + label);
  shown.progress.end();
  EXPECT_EQ(shown.drawn(), erase);
}

TEST(Progress, the_rate_now_is_of_the_last_second) {
  Shown shown(ProgressMode::automatic, 100);
  shown.progress.begin("x", 1e10);
  shown.now = 1;
  shown.progress.update(0.1);
  shown.now = 1.5;
  shown.progress.update(0.5);
  EXPECT_TRUE(shown.drawn().ends_with("50.0 %, 1.0 GFLOPS now, 3.3 mean, 0:00:02 left: x"));
  shown.now = 2;
  shown.progress.update(0.6);
  EXPECT_TRUE(shown.drawn().ends_with("60.0 %, 5.0 GFLOPS now, 3.0 mean, 0:00:01 left: x"));
}

TEST(Progress, a_line_is_no_wider_than_the_terminal) {
  Shown shown(ProgressMode::automatic, 30);
  shown.progress.begin("N 16384, NB 256, grid 2x2", 1e12, 16384);
  EXPECT_EQ(shown.drawn(), erase + "0.0 %, N left 16384: N 16384,");
}

TEST(Progress, many_short_runs_do_not_flood_a_terminal) {
  Shown shown(ProgressMode::automatic, 80);
  for (int i = 0; i < 1000; ++i) {
    shown.now = i * 1e-3;
    shown.progress.prepare("x", "generating the matrix");
    shown.progress.begin("x", 1e6, 100);
    shown.progress.update(1);
    shown.progress.end();
  }
  EXPECT_LT(shown.drawn().size(), 10 * 100U);
}

TEST(Progress, on_a_terminal_one_line_is_rewritten_ten_times_a_second_and_erased) {
  Shown shown(ProgressMode::automatic, 120);
  shown.run(10.0);
  const std::string text = shown.terminal.str();
  EXPECT_EQ(shown.log.lines(), "");
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(text.ends_with("grid 2x2" + erase));
  std::size_t redraws = 0;
  for (std::size_t at = text.find(erase); at != std::string::npos; at = text.find(erase, at + 1)) ++redraws;
  EXPECT_GE(redraws, 90u);
  EXPECT_LE(redraws, 102u);
}

TEST(Progress, never_shows_nothing) {
  Shown shown(ProgressMode::never, 80);
  shown.progress.prepare("x", "generating the matrix");
  shown.run(60);
  EXPECT_EQ(shown.terminal.str() + shown.log.lines(), "");
}

TEST(Progress, label_with_rows_of_numbers_does_not_look_like_a_result) {
  Shown shown(ProgressMode::always, 0);
  shown.progress.begin("1 2 3 4 5.0 6", 1);
  shown.now = 7200;
  shown.progress.update(0.5);
  EXPECT_EQ(shown.log.lines(), "1, 2, 3, 4, 5.0, 6: 50.0 % done, 0.0 GFLOPS so far, 2:00:00 left\n");
  EXPECT_THAT(lines_that_look_like_results(shown.log.lines()), IsEmpty());
}

TEST(FreeText, is_one_line_without_two_numbers_in_a_row) {
  EXPECT_EQ(free_text("  a\tb\n\n c 1 2\r\n3 x 4 "), "a b c 1, 2, 3 x 4");
  EXPECT_EQ(free_text(""), "");
  EXPECT_EQ(free_text("\x1b[31mred"), "[31mred");
}

TEST(Text, DifferencesBelowTheirRoundingAreZero) {
  EXPECT_EQ(seconds_text(3.5e-15), "0 us");
  EXPECT_EQ(seconds_text(2.1e-6), "2.100 us");
}

}  // namespace
}  // namespace glinpack::app::example
