// Hand-made runs and JSON documents for the tests of reports, and the patterns with which other programs parse HPL
// reports.
#pragma once

#include <cstdint>
#include <regex>
#include <utility>

#include "app/record/hpl_report.hpp"
#include "app/record/run_record.hpp"
#include "lu/parameters.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app::example {

Interval interval(double start, double end, Role role, Lane lane, Phase phase, std::int64_t bytes = 0,
                  double flops = 0);
RankRecord rank_record(int rank, int row, int column, std::vector<Interval> intervals = {});

/// With the breakdown and the energy of its timelines and samples.
RunRecord summarised(RunRecord record);
/// N = 35, NB 4 on a 1 x 2 grid, passed, two ranks of which the first hides half of its network time.
RunRecord passed_run();
/// The same in mixed precision: two classical iterations, and one of GMRES.
RunRecord refined_run();
/// Stopped after ten iterations of GMRES, the first of which had a NaN.
RunRecord unrefined_run();

ReportContext context();

void use_utc();
std::vector<std::string> lines_of(const std::string& text);

/// ReFrame's tests.
extern const std::regex reframe_row;
/// Ramble: N, NB, P, Q, seconds, GFLOPS.
extern const std::regex ramble_row;
/// EasyBuild.
extern const std::regex easybuild_count;

/// Every line that a parser would take for a result, alone or joined with the next line.
std::vector<std::string> lines_that_look_like_results(const std::string& text);

}  // namespace glinpack::app::example

namespace glinpack::app {

inline nlohmann::json document_context() {
  return {{"program", "glinpack"},
          {"version", "0.1.0"},
          {"git_commit", "abc"},
          {"mpi_library", "MPICH"},
          {"world_size", 1},
          {"hosts", {"node1"}},
          {"blas_library", nlohmann::json::array()},
          {"blas_kernels", nlohmann::json::array()},
          {"command_line", {"glinpack", "plu"}},
          {"configuration", nlohmann::json::object()},
          {"notes", nlohmann::json::array()}};
}

inline nlohmann::json plu_run(int n, double gflops) {
  const double seconds = hpl_flops(n) / gflops * 1e-9;
  return {{"n", n},
          {"nb", 64},
          {"p", 1},
          {"q", 1},
          {"matrix", "hpl"},
          {"precision", "double"},
          {"backend", "openblas"},
          {"pivoting", "partial"},
          {"panel", "auto"},
          {"broadcast", "ring"},
          {"order", "row-major"},
          {"threshold", 16.0},
          {"compute_only", false},
          {"repeat", 0},
          {"variant", {{"depth", 1}, {"nbmin", 16}, {"ndiv", 2}, {"pfact", "R"}, {"rfact", "R"}}},
          {"time", seconds},
          {"gflops", gflops},
          {"residual", 0.01},
          {"passed", true},
          {"checked", true},
          {"epsilon", 1.1102230246251565e-16},
          {"norms", nullptr},
          {"growth", nullptr},
          {"failure", nullptr},
          {"singular_column", nullptr},
          {"factor_seconds", 0.9 * seconds},
          {"solve_seconds", 0.1 * seconds},
          {"start_time", 1700000000.0},
          {"end_time", 1700000001.0},
          {"breakdown", nullptr},
          {"ranks", nlohmann::json::array()}};
}

/// Runs of (n, GFLOPS), numbered as repetitions if n is the same.
inline nlohmann::json plu_document(const std::vector<std::pair<int, double>>& runs) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [n, gflops] : runs) {
    list.push_back(plu_run(n, gflops));
    int repeat = -1;
    for (const nlohmann::json& run : list) repeat += run["n"] == n ? 1 : 0;
    list.back()["repeat"] = repeat;
  }
  return {{"format", 1}, {"context", document_context()}, {"runs", list}};
}

struct ModeTimes {
  int n;
  double median, min, max;
  int repetitions;
};

/// One variant of matmul.
inline nlohmann::json mode_document(const std::vector<ModeTimes>& rows) {
  nlohmann::json results = nlohmann::json::array();
  for (const ModeTimes& row : rows) {
    const nlohmann::json seconds{
        {"unit", "s"}, {"median", row.median}, {"least", row.min}, {"most", row.max}, {"repetitions", row.repetitions}};
    const nlohmann::json stages{
        {"pack", seconds}, {"upload", seconds}, {"compute", seconds}, {"download", seconds}, {"unpack", seconds}};
    results.push_back(
        {{"variant", "multi-pass"},
         {"settings", "2x2"},
         {"size", std::to_string(row.n)},
         {"n", row.n},
         {"precision", "single"},
         {"parameters", nlohmann::json::object()},
         {"rival", false},
         {"times", {{"compute", seconds}, {"with_transfer", seconds}, {"with_all", seconds}, {"stages", stages}}},
         {"flops", 1e6},
         {"gflops", 1e-3 / row.median},
         {"speedup", nullptr},
         {"speedup_with_all", nullptr},
         {"check", {{"against", "host"}, {"error", 1e-7}, {"tolerance", 1e-5}, {"passed", true}}},
         {"failure", nullptr},
         {"passed", true}});
  }
  return {
      {"format", 1},
      {"context", document_context()},
      {"mode", "matmul"},
      {"device", nullptr},
      {"host", {{"name", "node1"}, {"processor", "cpu"}, {"blas", "OpenBLAS"}, {"kernels", "Haswell"}, {"threads", 2}}},
      {"notes", nlohmann::json::array()},
      {"results", results},
      {"fits", nlohmann::json::array()}};
}

}  // namespace glinpack::app
