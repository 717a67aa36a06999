#include "tests/app/report_records.hpp"

#include <cstdlib>
#include <ctime>
#include <limits>
#include <sstream>
#include <utility>

namespace glinpack::app::example {

Interval interval(double start, double end, Role role, Lane lane, Phase phase, std::int64_t bytes, double flops) {
  return {start, end, flops, bytes, role == Role::none ? -1 : 0, role, lane, phase};
}

RankRecord rank_record(int rank, int row, int column, std::vector<Interval> intervals) {
  RankRecord record;
  record.world_rank = rank;
  record.row = row;
  record.column = column;
  record.host = rank < 2 ? "node01" : "node02";
  record.backend.backend = "gl-compute";
  record.backend.device = "llvmpipe (LLVM 15.0.6, 256 bits)";
  record.backend.driver = "4.5 (Core Profile) Mesa 22.3.6";
  record.backend.blas = "OpenBLAS 0.3.21";
  record.backend.kernels = "SkylakeX";
  record.backend.threads = 2;
  record.backend.software_device = true;
  record.backend.device_index = 0;
  record.intervals = std::move(intervals);
  return record;
}

RunRecord summarised(RunRecord record) {
  record.breakdown = break_down(record.result);
  record.energy = energy_of(record.result);
  record.units = compute_units(record.result.ranks);
  return record;
}

RunRecord passed_run() {
  RunRecord record;
  record.parameters.n = 35;
  record.parameters.nb = 4;
  record.grid = {1, 2};
  record.backend = "gl-compute";
  record.parameters.lookahead = 0;
  record.variant = {.nbmin = 2, .ndiv = 2, .pfact = 'L', .rfact = 'C'};
  RunResult& result = record.result;
  result.seconds = 4.0;
  result.factor_seconds = 3.5;
  result.solve_seconds = 0.5;
  result.gflops = 7.6053e-06;
  result.start_time = 1700000000;
  result.end_time = 1700000004;
  result.checked = true;
  result.passed = true;
  result.residual = {.scaled = 0.0312500123,
                     .epsilon = epsilon_of(Precision::double_),
                     .norm_residual_inf = 1.25e-15,
                     .norm_a_inf = 9.5,
                     .norm_a_one = 10.25,
                     .norm_x_inf = 2.5,
                     .norm_x_one = 30.125,
                     .norm_b_inf = 0.4375};
  result.growth = 1.75;
  result.ranks.push_back(rank_record(0, 0, 0,
                                     {interval(0.0, 1.0, Role::pivot, Lane::cpu, Phase::panel, 0, 2e9),
                                      interval(1.0, 2.0, Role::pivot, Lane::net, Phase::broadcast_l, 500'000'000),
                                      interval(1.5, 3.5, Role::pivot, Lane::gpu, Phase::reduce, 0, 8e9),
                                      interval(2.0, 3.5, Role::pivot, Lane::cpu, Phase::wait),
                                      interval(3.5, 4.0, Role::none, Lane::cpu, Phase::substitution)}));
  result.ranks.push_back(rank_record(1, 0, 1,
                                     {interval(0.0, 2.0, Role::normalize, Lane::net, Phase::broadcast_l, 500'000'000),
                                      interval(2.0, 2.5, Role::normalize, Lane::gpu, Phase::transfer, 1'000'000'000),
                                      interval(2.5, 3.0, Role::normalize, Lane::gpu, Phase::normalize, 0, 1e9)}));
  return summarised(std::move(record));
}

RunRecord refined_run() {
  using Method = Refinement::Method;
  RunRecord record = passed_run();
  record.precision = Precision::mixed;
  record.parameters.refine = true;
  record.result.refinement = {.history = {{Method::factors, 1234567.5},
                                          {Method::classical, 2048.0},
                                          {Method::classical, 2000.0},
                                          {Method::gmres, 0.25}},
                              .converged = true,
                              .stopped = {},
                              .seconds = 0.125};
  return record;
}

RunRecord unrefined_run() {
  RunRecord record = refined_run();
  Refinement& refinement = *record.result.refinement;
  refinement.history = {{Refinement::Method::factors, std::numeric_limits<double>::quiet_NaN()}};
  for (int i = 1; i <= 10; ++i) refinement.history.push_back({Refinement::Method::gmres, 100.0 * i});
  refinement.converged = false;
  refinement.stopped = "GMRES stagnates, too";
  record.result.passed = false;
  record.result.failure = "not converged after 10 iterations of refinement: GMRES stagnates, too";
  return record;
}

ReportContext context() {
  ReportContext context;
  context.command_line = {"glinpack", "plu", "--n", "35"};
  context.configuration = {{"n", {35}}, {"threshold", 16.0}};
  context.notes = {"OPENBLAS_CORETYPE=SkylakeX set: OpenBLAS had chosen Haswell"};
  context.git_commit = "0123abc";
  context.version = "0.1.0";
  context.mpi_library = "MPICH 4.0.2";
  context.world_size = 4;
  return context;
}

void use_utc() {
  setenv("TZ", "UTC", 1);
  tzset();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

const std::regex reframe_row(R"(^W[R|C]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+\d[\d.]+\s+(\d[\d.eE+]+))");
const std::regex ramble_row(R"([^\n]*\s+([0-9]+)\s+([0-9]+)\s+([0-9]+)\s+([0-9]+)\s+([0-9]+\.[0-9]+)\s+([0-9].*)\n)");
const std::regex easybuild_count(R"((\d+) tests completed and passed)");

std::vector<std::string> lines_that_look_like_results(const std::string& text) {
  std::vector<std::string> found;
  const std::vector<std::string> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = lines[i] + '\n';
    const std::string pair = i + 1 < lines.size() ? line + lines[i + 1] + '\n' : line;
    std::smatch match;
    const bool alone = std::regex_search(line, reframe_row) || std::regex_search(line, ramble_row);
    // A match that begins in the next line belongs to that line.
    const bool with_next =
        std::regex_search(pair, match, ramble_row) && static_cast<std::size_t>(match.position(1)) < line.size();
    if (alone || with_next) found.push_back(lines[i]);
  }
  return found;
}

}  // namespace glinpack::app::example
