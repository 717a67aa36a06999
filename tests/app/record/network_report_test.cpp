#include "app/record/network_record.hpp"
#include "tests/app/report_records.hpp"

namespace glinpack::app {
namespace {

Interval message(double start, double end, Phase phase, std::int64_t bytes, int messages) {
  return {
      .start = start, .end = end, .bytes = bytes, .pass = 0, .lane = Lane::net, .phase = phase, .messages = messages};
}

// A 1 x 2 grid: rank 0 sends a panel of 3000 bytes to rank 1, which waits for it for half a second.
RunRecord along_a_row() {
  RunRecord run;
  run.parameters.n = 20;
  run.parameters.nb = 10;
  run.parameters.parts = RunParts::messages;
  run.grid = {1, 2};
  run.result.seconds = 1.0;
  run.result.ranks.push_back(example::rank_record(0, 0, 0, {message(0.25, 0.5, Phase::broadcast_l, 0, 0)}));
  run.result.ranks.push_back(example::rank_record(1, 0, 1, {message(0.0, 0.5, Phase::broadcast_l, 3000, 1)}));
  return run;
}

// A 2 x 1 grid with every kind of message of a column.
RunRecord down_a_column() {
  RunRecord run = along_a_row();
  run.grid = {2, 1};
  run.result.ranks.clear();
  run.result.ranks.push_back(
      example::rank_record(0, 0, 0,
                           {message(0.0, 0.1, Phase::panel, 100, 1), message(0.1, 0.2, Phase::panel, 100, 1),
                            message(0.2, 0.4, Phase::swap, 1000, 2), message(0.4, 0.5, Phase::broadcast_u, 0, 0)}));
  run.result.ranks.push_back(example::rank_record(1, 1, 0, {message(0.0, 0.4, Phase::broadcast_u, 1024, 1)}));
  return run;
}

NetworkResults results_with(const RunRecord& run) {
  NetworkResults results;
  results.hosts = {"node01", "node01", "node02"};
  results.runs.push_back({run, network_totals(run)});
  return results;
}

TEST(NetworkTotals, CountMessagesAtTheReceiverAndTimeAtBothEnds) {
  const NetworkTotals totals = network_totals(along_a_row());
  EXPECT_EQ(totals.traffic.bytes, 3000);
  EXPECT_EQ(totals.traffic.messages, 1);
  EXPECT_EQ(totals.traffic.seconds, 0.5);
  EXPECT_EQ(totals.traffic.bytes_per_second(), 6000);
  EXPECT_EQ(totals.share, 0.375);  // (1/4 + 1/2) s of 2 x 1 s
  EXPECT_EQ(totals.row_seconds.mean, 0.375);
  EXPECT_EQ(totals.column_seconds.max, 0);
  ASSERT_EQ(totals.lines.size(), 3U);
  EXPECT_EQ(totals.lines[0].line, Line::row);
  EXPECT_EQ(totals.lines[0].ranks, 2);
  EXPECT_EQ(totals.lines[0].seconds.min, 0.25);
  EXPECT_EQ(totals.lines[0].seconds.max, 0.5);
  EXPECT_EQ(totals.lines[0].traffic.bytes, 3000);
  EXPECT_EQ(totals.lines[2].ranks, 1);
  EXPECT_EQ(totals.lines[2].traffic.messages, 0);
}

TEST(NetworkTotals, CountMessagesOfAKindInBinsOfPowersOfTwo) {
  const NetworkTotals totals = network_totals(down_a_column());
  ASSERT_EQ(totals.sizes.size(), 3U);
  EXPECT_EQ(totals.sizes[0].phase, Phase::panel);
  EXPECT_EQ(totals.sizes[0].at_most, 128);
  EXPECT_EQ(totals.sizes[0].traffic.messages, 2);
  EXPECT_EQ(totals.sizes[0].traffic.bytes, 200);
  EXPECT_DOUBLE_EQ(totals.sizes[0].min_seconds, 0.1);
  EXPECT_EQ(totals.sizes[1].phase, Phase::swap);
  EXPECT_EQ(totals.sizes[1].at_most, 512);  // two messages of 500 bytes
  EXPECT_EQ(totals.sizes[1].traffic.messages, 2);
  EXPECT_DOUBLE_EQ(totals.sizes[1].min_seconds, 0.1);
  EXPECT_EQ(totals.sizes[2].phase, Phase::broadcast_u);
  EXPECT_EQ(totals.sizes[2].at_most, 1024);
  EXPECT_GT(totals.rows_exchanged, 0);
  EXPECT_EQ(totals.row_seconds.max, 0);
  EXPECT_DOUBLE_EQ(totals.column_seconds.max, 0.5);
}

TEST(NetworkText, ShowsCommunicatorsSizesAndTotalsAndNothingThatLooksLikeAResult) {
  const NetworkResults results = results_with(down_a_column());
  const NetworkRun& run = results.runs[0];
  const std::string text = network_head(example::context(), results, Pivoting::partial) +
                           network_case_head(run.record) + network_run_line(run) + network_case_details(run);
  for (const char* part : {"the network alone", "4 processes on 2 hosts: node01 and others", "drawn", "N 20, NB 10",
                           "grid 2x1", "1.000000", "column 0", "pivot candidates", "rows exchanged", "128 B", "1.0 KiB",
                           "U down process columns", "change their process row"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("row 0")));  // a row of one rank
  EXPECT_THAT(example::lines_that_look_like_results(text), IsEmpty());
  for (const std::string& line : example::lines_of(text)) EXPECT_LE(line.size(), 100U) << line;
}

TEST(NetworkText, ReportsIfThereAreNoMessages) {
  RunRecord run = along_a_row();
  run.grid = {1, 1};
  run.result.ranks = {example::rank_record(0, 0, 0)};
  const NetworkResults results = results_with(run);
  EXPECT_THAT(network_case_details(results.runs[0]), HasSubstr("No communication"));
  EXPECT_THAT(network_run_line(results.runs[0]), HasSubstr(" 0.0 "));
  ReportContext context = example::context();
  context.world_size = 1;
  EXPECT_THAT(network_head(context, results, Pivoting::partial), HasSubstr("One process: no communication"));
}

TEST(NetworkText, NamesBothEndsOfSlowLinks) {
  NetworkResults results = results_with(along_a_row());
  Screening screening;
  screening.pairs = 3;
  screening.links = {{0, 1, 1e-6, 8e9}, {0, 2, 30e-6, 1e9}, {1, 2, 30e-6, 0.25e9}};
  screening.between_hosts = {2, 30e-6, 1e9};
  screening.slow = {screening.links[2]};
  const std::string text = screening_text(screening, results);
  EXPECT_THAT(text, HasSubstr("3 of 3 pairs"));
  EXPECT_THAT(text, HasSubstr("1 slow link"));
  EXPECT_THAT(text, HasSubstr("rank 1 (node01) - rank 2 (node02): 30.00 us, 0.250 GB/s"));
  screening.slow.clear();
  EXPECT_THAT(screening_text(screening, results), HasSubstr("No slow link"));
  screening.pairs = 10;
  EXPECT_THAT(screening_text(screening, results), HasSubstr("--screen-seconds"));
  screening.interrupted = true;
  EXPECT_THAT(screening_text(screening, results), HasSubstr("A signal ended it"));
  EXPECT_THAT(screening_text(screening, results), Not(HasSubstr("--screen-seconds")));
  for (const std::string& line : example::lines_of(screening_text(screening, results))) {
    EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(NetworkText, PingPongEndsWithLatencyAndBandwidth) {
  const std::string text =
      ping_pong_text({{0, "node01"}, {2, "node02"}, {{8, 200, 2e-6, 3e-6}, {1 << 20, 10, 1e-3, 2e-3}}});
  EXPECT_THAT(text, HasSubstr("rank 0 (node01) and rank 2 (node02)"));
  EXPECT_THAT(text, HasSubstr("Latency 2.00 us (8 B), bandwidth 1.049 GB/s (1.0 MiB)"));
}

// A token bucket lets 512 bytes pass at eight times its rate.
TEST(NetworkText, ABurstOfShortMessagesIsNoBandwidth) {
  const PingPongRecord record{{0, "node01"}, {2, "node02"}, {{512, 200, 5e-6, 5e-6}, {1 << 20, 1, 0.1, 0.1}}};
  EXPECT_EQ(record.widest()->bytes, 1 << 20);
  EXPECT_EQ(record.quickest()->bytes, 512);
}

TEST(NetworkFiles, HoldEveryRunRankAndLink) {
  NetworkResults results = results_with(down_a_column());
  results.ping_pongs.push_back({{0, "node01"}, {2, "node02"}, {{8, 200, 2e-6, 3e-6}}});
  nlohmann::json document = network_json(example::context(), results);
  EXPECT_EQ(document["format"], 1);
  EXPECT_EQ(document["context"]["hosts"], (nlohmann::json{"node01", "node02"}));
  EXPECT_FALSE(document["context"].contains("blas_kernels"));
  const nlohmann::json& run = document["runs"][0];
  EXPECT_EQ(run["time"], 1.0);
  EXPECT_EQ(run["traffic"]["messages"], 5);
  EXPECT_EQ(run["traffic"]["bytes"], 2224);
  EXPECT_EQ(run["communicators"].size(), 3U);
  EXPECT_EQ(run["sizes"][1]["phase"], "swap");
  EXPECT_EQ(run["ranks"][1]["column_seconds"], 0.4);
  EXPECT_EQ(document["ping_pong"][0]["second"]["host"], "node02");
  EXPECT_TRUE(document["screening"].is_null());
  const std::string name = "x.json";
  const NetworkResults read = read_network({name, document});
  const nlohmann::json again = network_json(example::context(), read);
  EXPECT_EQ(again["runs"], document["runs"]) << "what is read is written alike";
  EXPECT_EQ(again["ping_pong"], document["ping_pong"]);

  results.screening.emplace();
  results.screening->links = {{0, 1, 1e-6, 8e9}};
  document = network_json(example::context(), results);
  EXPECT_EQ(document["screening"]["links"][0]["gigabytes_per_second"], 8.0);
  EXPECT_TRUE(document["screening"]["between_hosts"].is_null());
  EXPECT_FALSE(document.contains("incomplete"));

  results.incomplete = Incomplete{.signal = "SIGTERM", .planned = 1, .finished = 1, .links_left = true};
  EXPECT_EQ(network_json(example::context(), results)["incomplete"]["links_left"], true);
  EXPECT_THAT(incomplete_text(*results.incomplete), HasSubstr("after 1 of 1 runs, before it was done with the links."));

  const auto lines = example::lines_of(network_csv(results.runs));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(std::count(lines[0].begin(), lines[0].end(), ','), std::count(lines[1].begin(), lines[1].end(), ','));
  EXPECT_THAT(lines[1], StartsWith("20,10,2,1,1,ring,partial,double,row-major,0,"));
}

TEST(ComputeOnlyReport, ReportsThatNothingWasSentSolvedOrChecked) {
  RunRecord record = example::passed_run();
  record.parameters.parts = RunParts::compute;
  record.parameters.threshold = -1;
  record.result.checked = false;
  record.result.passed = false;
  HplReport report;
  std::string text = HplReport::head(example::context(), std::vector{record});
  text += report.run(record);
  text += report.tail();
  for (const char* part :
       {"compute only", "not an HPL result", "The answer is not checked",
        "Compute only: nothing was sent, solved or checked.", "1 tests completed without checking"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("High-Performance Linpack")));
  EXPECT_THAT(text, Not(HasSubstr("PASSED")));
  EXPECT_THAT(text, Not(HasSubstr("FAILED")));
  EXPECT_EQ(report.failed(), 0);
  EXPECT_TRUE(example::lines_that_look_like_results(text).empty()) << text;
  EXPECT_THAT(text, HasSubstr("or checked.\n  N 35: 7.605e-06 GFLOPS in 4 s, NB 4, grid 1x2,"));
  EXPECT_THAT(text, Not(HasSubstr("T/V                N")));
  const nlohmann::json run = results_json(example::context(), std::vector{record})["runs"][0];
  EXPECT_EQ(run["compute_only"], true);
  EXPECT_EQ(run["checked"], false);
  EXPECT_EQ(run["passed"], false);
  EXPECT_TRUE(run["residual"].is_null());
}

}  // namespace
}  // namespace glinpack::app
