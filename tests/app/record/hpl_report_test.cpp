#include <algorithm>
#include <limits>

#include "tests/app/report_records.hpp"

namespace glinpack::app::example {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;

std::string report_of(const std::vector<RunRecord>& records, const ReportContext& shared = context()) {
  use_utc();
  HplReport report;
  std::string text = HplReport::head(shared, records);
  for (const RunRecord& record : records) text += report.run(record);
  return text + report.tail();
}

std::string run_text(const RunRecord& record) {
  use_utc();
  return HplReport().run(record);
}

TEST(HplReport, run_prints_the_lines_of_hpl_byte_for_byte) {
  RunRecord record = passed_run();
  record.result.ranks.clear();
  EXPECT_EQ(run_text(record),
            "================================================================================\n"
            "T/V                N    NB     P     Q               Time                 Gflops\n"
            "--------------------------------------------------------------------------------\n"
            "WR00C2L2          35     4     1     2               4.00             7.6053e-06\n"
            "HPL_pdgesv() start time Tue Nov 14 22:13:20 2023\n"
            "\n"
            "HPL_pdgesv() end time   Tue Nov 14 22:13:24 2023\n"
            "\n"
            "--------------------------------------------------------------------------------\n"
            "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   3.12500123e-02 ...... PASSED\n"
            "||Ax-b||_oo  . . . . . . . . . . . . . . . . . =       1.250000e-15\n"
            "||A||_oo . . . . . . . . . . . . . . . . . . . =       9.500000e+00\n"
            "||A||_1  . . . . . . . . . . . . . . . . . . . =       1.025000e+01\n"
            "||x||_oo . . . . . . . . . . . . . . . . . . . =       2.500000e+00\n"
            "||x||_1  . . . . . . . . . . . . . . . . . . . =       3.012500e+01\n"
            "||b||_oo . . . . . . . . . . . . . . . . . . . =       4.375000e-01\n"
            "max|U|/max|A|  . . . . . . . . . . . . . . . . =       1.750000e+00\n");
}

TEST(HplReport, a_failed_run_has_the_word_FAILED_once) {
  RunRecord failed = passed_run(), unchecked = passed_run();
  failed.result.passed = unchecked.result.passed = unchecked.result.checked = false;
  unchecked.result.failure = "the solution holds NaN";
  for (const RunRecord& record : {failed, unchecked}) {
    const std::string text = run_text(record);
    EXPECT_EQ(std::ranges::count_if(lines_of(text), [](const auto& line) { return line.find("FAILED") != line.npos; }),
              1)
        << text;
  }
}

TEST(HplReport, device_memory_placed_in_host_memory_gives_a_warning) {
  RunRecord record = passed_run();
  EXPECT_THAT(run_text(record), Not(HasSubstr("Warning")));
  record.result.ranks[1].displaced_bytes = std::int64_t{9} << 30;
  EXPECT_THAT(run_text(record),
              HasSubstr("Warning: 9.0 GiB of the matrix of rank 1 are in memory of the host (node01)"));
  record.result.ranks[0].displaced_bytes = std::int64_t{10} << 30;
  EXPECT_THAT(run_text(record),
              HasSubstr("Warning: 10.0 GiB of the matrix of rank 0, and as much at most of 1 other,"));
}

TEST(HplReport, row_encodes_the_variant_and_large_runs_keep_their_columns) {
  RunRecord record = passed_run();
  record.parameters.n = 131072;
  record.parameters.nb = 512;
  record.parameters.broadcast = BroadcastKind::long_modified;
  record.grid = {16, 24};
  record.order = RankOrder::column_major;
  record.parameters.lookahead = 1;
  record.variant = {.nbmin = 16, .ndiv = 4, .pfact = 'R', .rfact = 'L'};
  record.result.seconds = 12345.678;
  record.result.gflops = 121634.5;
  EXPECT_THAT(lines_of(run_text(record)),
              Contains("WC15L4R16      131072   512    16    24           12345.68             1.2163e+05"));
}

TEST(HplReport, names_the_machine_before_the_first_run) {
  HplReport report;
  EXPECT_THAT(report.machine(passed_run().result.ranks), ContainsRegex("Computed with .* by 2 ranks on .*\nDEVICE : "));
  EXPECT_THAT(report.run(passed_run()), Not(HasSubstr("DEVICE")));
}

TEST(HplReport, tail_shows_the_best_run_of_each_n) {
  RunRecord slow = passed_run(), fast = passed_run(), other = passed_run(), failed = passed_run();
  slow.result.gflops = 1;
  fast.result.gflops = 2;
  fast.parameters.nb = 8;
  other.parameters.n = 70;
  other.result.gflops = 3;
  failed.result.gflops = 9;
  failed.result.passed = false;
  const std::string text = report_of({slow, fast, other, failed});
  EXPECT_THAT(text,
              HasSubstr("Best run of each N\n  N 35: 2 GFLOPS in 4 s, NB 8, grid 1x2, 1ring, DEPTH 0, SWAP Direct\n"
                        "  N 70: 3 GFLOPS in "));
  EXPECT_THAT(report_of({slow}), Not(HasSubstr("Best run")));
}

TEST(HplReport, tail_counts_every_kind_of_run) {
  use_utc();
  HplReport report;
  RunRecord failed = passed_run();
  failed.result.passed = false;
  for (int i = 0; i < 12; ++i) report.run(passed_run());
  report.run(failed);
  EXPECT_EQ(report.failed(), 1);
  EXPECT_THAT(report.tail(),
              EndsWith("================================================================================\n"
                       "\n"
                       "Finished     13 tests with the following results:\n"
                       "             12 tests completed and passed residual checks,\n"
                       "              1 tests completed and failed residual checks,\n"
                       "              0 tests skipped because of illegal input values.\n"
                       "--------------------------------------------------------------------------------\n"
                       "\n"
                       "End of Tests.\n"
                       "================================================================================\n"));
}

TEST(HplReport, unchecked_run_prints_no_residual_and_counts_as_unchecked) {
  RunRecord record = passed_run();
  record.parameters.threshold = -1;
  record.result.checked = record.result.passed = false;
  const std::string text = report_of({record});
  EXPECT_THAT(text, Not(HasSubstr("||Ax-b||")));
  EXPECT_THAT(text, HasSubstr("              1 tests completed without checking,\n"));
  EXPECT_THAT(text, Not(HasSubstr("passed residual checks")));
}

TEST(HplReport, head_lists_parameters_in_hpl_columns) {
  std::vector<RunRecord> records;
  for (const Index n : {29, 30, 34, 35}) {
    for (const GridShape grid : {GridShape{2, 2}, GridShape{1, 4}, GridShape{4, 1}}) {
      for (const char pfact : {'L', 'C', 'R'}) {
        RunRecord record = passed_run();
        record.parameters.n = n;
        record.grid = grid;
        record.variant.given = true;
        record.variant.pfact = pfact;
        records.push_back(record);
      }
    }
  }
  const std::vector<std::string> lines = lines_of(report_of(records));
  EXPECT_THAT(lines,
              ::testing::IsSupersetOf(
                  {"An explanation of the input/output parameters follows:", "T/V    : Wall time / encoded variant.",
                   "The following parameter values will be used:", "N      :      29       30       34       35 ",
                   "NB     :       4 ", "PMAP   : Row-major process mapping", "P      :       2        1        4 ",
                   "Q      :       2        4        1 ", "PFACT  :    Left    Crout    Right ", "NBMIN  :       2 ",
                   "BCAST  :   1ring ", "DEPTH  :       0 ", "SWAP   : Direct", "BACKEND: gl-compute ",
                   "- The relative machine precision (eps) is taken to be               1.110223e-16",
                   "- Computational tests pass if scaled residuals are less than                16.0"}));
  EXPECT_EQ(lines[1], "glinpack 0.1.0  --  High-Performance Linpack benchmark  --  0123abc");
}

TEST(HplReport, lists_longer_than_eight_wrap_as_in_hpl) {
  std::vector<RunRecord> records(10, passed_run());
  for (std::size_t i = 0; i < records.size(); ++i) records[i].parameters.n = static_cast<Index>(100 + i);
  const std::string text = report_of(records);
  EXPECT_THAT(text, HasSubstr("\nN      :     100      101      102      103      104      105      106      107 \n"
                              "             108      109 \nNB     :       4 \n"));
}

TEST(HplReport, checkpoints_are_counted_with_what_they_cost) {
  RunRecord record = passed_run();
  record.result.saved = Saved{.checkpoints = 2, .passes = 7, .in_background = true, .waited = 0.25, .disk = 8};
  EXPECT_THAT(run_text(record), HasSubstr("Checkpoints written: 2, the last after 7 passes; in the background: ranks "
                                          "waited 0.25 s, disks took 8.00 s\n"));
  record.result.saved->in_background = false;
  EXPECT_THAT(run_text(record), HasSubstr("; synchronously: ranks waited"));
  record.result.saved = Saved{.failed = 3};
  EXPECT_THAT(run_text(record), HasSubstr("Checkpoints written: 0, 3 not: see the warnings; synchronously"));
}

TEST(HplReport, mixed_precision_is_named_hpl_mxp_style_and_not_called_hpl) {
  const std::string text = report_of({refined_run()});
  EXPECT_THAT(text, ContainsRegex("PREC   : *mixed"));
  EXPECT_THAT(text, HasSubstr("- mixed precision, HPL-MxP style: factors in single, the solution refined in double"));
  EXPECT_THAT(text, HasSubstr("taken to be               1.110223e-16\n"));
  EXPECT_THAT(text, Not(HasSubstr("High-Performance Linpack")));
  EXPECT_THAT(report_of({passed_run()}), Not(HasSubstr("MxP")));
}

TEST(HplReport, hpl_mxp_has_its_own_title_and_lines_and_only_its_matrix_and_check_have_them) {
  RunRecord record = refined_run();
  record.matrix = MatrixKind::mxp;
  const std::string text = report_of({record});
  EXPECT_THAT(text, HasSubstr("  --  HPL-MxP mixed-precision benchmark  --  "));
  EXPECT_THAT(text, HasSubstr("- HPL-MxP: factors in single precision, where the rules ask for 16 bits or more"));
  EXPECT_THAT(text, HasSubstr("\nHPL-MxP: the refinement converged after 3 iterations"));
  EXPECT_THAT(text, HasSubstr("not an HPL result\n"));
  EXPECT_THAT(text, Not(HasSubstr("HPL-MxP style")));
  EXPECT_THAT(lines_that_look_like_results(text), ::testing::SizeIs(1)) << "the row";
  EXPECT_THAT(report_of({record, refined_run()}), Not(HasSubstr("HPL-MxP mixed-precision benchmark")));
  record.parameters.threshold = 100;
  EXPECT_THAT(report_of({record}), Not(HasSubstr("HPL-MxP:")));
  record.parameters.threshold = 16;
  record.precision = Precision::double_;
  EXPECT_THAT(report_of({record}), Not(HasSubstr("HPL-MxP:")));
}

TEST(HplReport, a_refined_run_prints_the_history_of_its_residual) {
  const std::string text = run_text(refined_run());
  EXPECT_THAT(text, HasSubstr("HPL-MxP style: the refinement converged after 3 iterations, in 0.125 s.\n"
                              "  scaled residual of the factors' solution: 1.23e+06\n"
                              "  scaled residual, classical iterations 1 to 2: 2.05e+03, 2.00e+03\n"
                              "  scaled residual, GMRES iteration 3: 2.50e-01\n"));
  EXPECT_THAT(lines_that_look_like_results(text), ::testing::SizeIs(1)) << "the row";
  EXPECT_THAT(run_text(passed_run()), Not(HasSubstr("refine")));
}

TEST(HplReport, a_run_that_could_not_be_refined_fails_with_its_history) {
  const std::string text = run_text(unrefined_run());
  EXPECT_THAT(text, HasSubstr("...... FAILED\n"));
  EXPECT_THAT(text, HasSubstr("HPL-MxP style: the refinement had NOT converged after 10 iterations, in 0.125 s.\n"
                              "  scaled residual of the factors' solution: nan\n"
                              "  scaled residual, GMRES iterations 1 to 10: 1.00e+02, 2.00e+02, 3.00e+02, 4.00e+02, "
                              "5.00e+02,\n    6.00e+02"));
  EXPECT_THAT(text, HasSubstr("9.00e+02, 1.00e+03\nBecause: not converged after 10 iterations of refinement: "));
  EXPECT_THAT(lines_that_look_like_results(text), ::testing::SizeIs(1)) << "the row";
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 100U);

  // even without HPL's test
  RunRecord unchecked = unrefined_run();
  unchecked.parameters.threshold = -1;
  unchecked.result.checked = false;
  EXPECT_THAT(run_text(unchecked), HasSubstr("FAILED: not converged"));
}

TEST(HplReport, what_is_not_hpls_is_named_and_not_called_hpl) {
  RunRecord single = passed_run(), resumed = passed_run(), local = passed_run(), tournament = passed_run(),
            wilkinson = passed_run(), file = passed_run();
  single.precision = Precision::single;
  resumed.result.resumed = Resumed{.passes = 7, .seconds = 1};
  local.parameters.pivoting = Pivoting::local;
  tournament.parameters.pivoting = Pivoting::tournament;
  wilkinson.matrix = MatrixKind::wilkinson;
  file.matrix = MatrixKind::file;
  const std::string other_matrix = "- the matrix is not HPL's: not an HPL result\n";
  const std::vector<std::pair<RunRecord, std::vector<std::string>>> cases{
      {single,
       {"- single precision; residual with eps = 2^-24 = 5.96e-08: not an HPL result\n",
        "taken to be               5.960464e-08\n"}},
      {resumed, {"not an HPL result\n"}},
      {local, {"- local pivoting"}},
      {tournament, {"- tournament pivoting"}},
      {wilkinson, {"- The matrix A is Wilkinson's", "MATRIX : wilkinson", other_matrix}},
      {file, {"- The matrix A is read from a file", "MATRIX :    file", other_matrix}}};
  for (const auto& [record, parts] : cases) {
    const std::string text = report_of({record});
    for (const std::string& part : parts) EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(text, Not(HasSubstr("High-Performance Linpack")));
  }
  const std::string text = report_of({passed_run()});
  EXPECT_THAT(text, HasSubstr("High-Performance Linpack benchmark"));
  EXPECT_THAT(text, HasSubstr("- The matrix A is HPL's own, randomly generated for each test.\n"));
}

TEST(HplReport, machine_is_named_once_and_again_when_it_changes) {
  RunRecord other = passed_run();
  for (RankRecord& rank : other.result.ranks) {
    rank.backend.device = "NVIDIA H200";
    rank.backend.software_device = false;
  }
  RunRecord fewer_ranks = passed_run();
  fewer_ranks.result.ranks.pop_back();
  const std::vector<std::string> lines = lines_of(report_of({passed_run(), fewer_ranks, other}));
  EXPECT_EQ(std::count(lines.begin(), lines.end(),
                       "DEVICE : llvmpipe (LLVM 15.0.6, 256 bits) (software OpenGL: computed by the processor, not by "
                       "a GPU)"),
            1);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "DEVICE : NVIDIA H200"), 1);
  EXPECT_THAT(lines, Contains("Computed with gl-compute by 2 ranks on 1 host: node01"));
  EXPECT_THAT(lines, Contains("HOST   : OpenBLAS 0.3.21, SkylakeX kernels, 2 threads a rank"));
}

TEST(HplReport, singular_matrix_fails_with_its_column) {
  RunRecord record = passed_run();
  record.result.passed = false;
  record.result.singular_column = 17;
  const std::string text = run_text(record);
  EXPECT_THAT(text, HasSubstr("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=              nan ...... FAILED\n"));
  EXPECT_THAT(text, HasSubstr("\nBecause: singular: zero pivot in global column 17\n"));
  EXPECT_THAT(text, Not(HasSubstr("||A||_oo .")));
}

TEST(HplReport, failure_is_printed_with_its_message_and_the_norms) {
  RunRecord record = passed_run();
  record.result.passed = false;
  record.result.residual.scaled = std::numeric_limits<double>::infinity();
  record.result.failure = "the solution holds NaN";
  const std::string text = run_text(record);
  EXPECT_THAT(text, HasSubstr("=              inf ...... FAILED\n"));
  EXPECT_THAT(text, HasSubstr("||A||_oo . . ."));
  EXPECT_THAT(text, HasSubstr("\nBecause: the solution holds NaN\n"));
}

TEST(HplReport, unchecked_singular_run_counts_as_failed) {
  RunRecord record = passed_run();
  record.result.checked = record.result.passed = false;
  record.result.singular_column = 0;
  HplReport report;
  EXPECT_THAT(report.run(record), HasSubstr("\nFAILED: singular: zero pivot in global column 0\n"));
  EXPECT_EQ(report.failed(), 1);
}

TEST(RateText, names_the_units_and_the_share_of_the_peak) {
  RunRecord record = passed_run();
  record.result.gflops = 120;
  EXPECT_EQ(rate_text(record), "Rate: 120 GFLOPS, 60 by each of 2 processes\n") << "a software device";
  for (RankRecord& rank : record.result.ranks) {
    rank.backend.software_device = false;
    rank.backend.device_index = -1;
  }
  record.units = compute_units(record.result.ranks);  // two threads each
  record.peak = Peak{.gflops = 160, .stated = false};
  EXPECT_EQ(rate_text(record), "Rate: 120 GFLOPS, 30 by each of 4 threads; 75.0 % of the measured peak, 160 GFLOPS\n");
  record.peak = Peak{.gflops = 120, .exceeded = 100};
  EXPECT_EQ(rate_text(record),
            "Rate: 120 GFLOPS, 30 by each of 4 threads; above the measured peak, 100 GFLOPS, which it replaces\n");
  record.peak = Peak{.gflops = 160};
  for (RankRecord& rank : record.result.ranks) rank.backend.device_index = 0;
  record.units = compute_units(record.result.ranks);
  record.peak->stated = true;
  EXPECT_EQ(rate_text(record), "Rate: 120 GFLOPS, 120 by each of 1 GPU; 75.0 % of the stated peak, 160 GFLOPS\n");
  record.peak->gflops = 100;
  EXPECT_EQ(rate_text(record),
            "Rate: 120 GFLOPS, 120 by each of 1 GPU; above the stated peak, 100 GFLOPS: --peak is too low\n");
  record.result.ranks[1].backend.device_uuid = "another";
  EXPECT_EQ(compute_units(record.result.ranks).count, 2) << "each process sees one device, number 0";
}

TEST(Parsers, find_every_row_with_its_numbers_and_nothing_else) {
  RunRecord large = passed_run();
  large.parameters.n = 16384;
  large.parameters.nb = 256;
  large.grid = {2, 2};
  large.result.seconds = 12.345;
  large.result.gflops = 23755.4321;
  RunRecord failed = passed_run();
  failed.result.passed = false;
  failed.result.failure = "residual 1 2 3 4 16.0 5 is too large\n1 2 3 4 5.0 6";
  ReportContext shared = context();
  shared.notes.push_back("--n 29 30 34 35 16.0 1 and\nWR00L2L2 35 4 1 2 0.00 1.0e+00");
  const std::vector<RunRecord> records{passed_run(), large, failed};
  std::string text = report_of(records, shared);
  for (const RunRecord& record : records) {
    text += phases_text(break_down(record.result)) + roles_text(break_down(record.result)) + rate_text(record);
  }

  EXPECT_THAT(lines_that_look_like_results(text),
              ElementsAre("WR00C2L2          35     4     1     2               4.00             7.6053e-06",
                          "WR00C2L2       16384   256     2     2              12.35             2.3755e+04",
                          "WR00C2L2          35     4     1     2               4.00             7.6053e-06"));

  std::smatch match;
  const std::string row = "WR00C2L2       16384   256     2     2              12.35             2.3755e+04\n";
  ASSERT_TRUE(std::regex_search(row, match, reframe_row));
  EXPECT_EQ(match[1], "2.3755e+04");
  ASSERT_TRUE(std::regex_search(row, match, ramble_row));
  EXPECT_EQ(match[1], "16384");
  EXPECT_EQ(match[2], "256");
  EXPECT_EQ(match[3], "2");
  EXPECT_EQ(match[4], "2");
  EXPECT_EQ(match[5], "12.35");
  EXPECT_EQ(match[6], "2.3755e+04");
  ASSERT_TRUE(std::regex_search(text, match, easybuild_count));
  EXPECT_EQ(match[1], "2");
  EXPECT_THAT(match.suffix().str(), Not(HasSubstr("tests completed and passed")));
}

}  // namespace
}  // namespace glinpack::app::example
