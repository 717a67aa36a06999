// Hand-made runs for the tests of reports, and the patterns with which other programs parse HPL reports.
#pragma once

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include "app/record/hpl_report.hpp"
#include "app/record/run_record.hpp"

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
