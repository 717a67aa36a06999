#include "app/modes/poisson_table.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "solvers/poisson/poisson_problem.hpp"

namespace glinpack::app {

namespace {

constexpr double says_nothing = 0.1;  // error bounds above it are useless: u is at most 1

/// Half a unit in the fifth digit.
double half_digit(double printed) { return 0.5 * std::pow(10.0, std::floor(std::log10(printed)) - 4); }

}  // namespace

std::span<const PaperPoisson> paper_poisson_table() {
  static constexpr std::array rows{
      PaperPoisson{32, 48, 3.0128e-3},     PaperPoisson{64, 96, 7.7811e-4},     PaperPoisson{128, 192, 1.9765e-4},
      PaperPoisson{256, 387, 4.9797e-5},   PaperPoisson{512, 783, 1.2494e-5},   PaperPoisson{1024, 1581, 3.1266e-6},
      PaperPoisson{2048, 3192, 7.8019e-7}, PaperPoisson{4096, 6452, 1.9366e-7}, PaperPoisson{8192, 13033, 4.7402e-8}};
  return rows;
}

double poisson_rounding_bound(Index n, Precision precision) {
  const auto intervals = static_cast<double>(n + 1);
  return precision == Precision::single ? epsilon_of(precision) * intervals * intervals : 0.0;
}

std::optional<ModeCheck> check_poisson(const PoissonResult& result) {
  const std::span<const PaperPoisson> table = paper_poisson_table();
  const auto row = std::find_if(table.begin(), table.end(), [&](const PaperPoisson& r) { return r.n == result.n; });
  const bool papers_steps = result.preconditioner != PoissonPreconditioner::multigrid;
  if (result.precision == Precision::double_ && papers_steps && row != table.end()) {
    if (result.iterations != row->iterations) {
      return ModeCheck{fmt::format("the paper's {} iterations", row->iterations),
                       std::abs(static_cast<double>(result.iterations - row->iterations)), 0.5};
    }
    return ModeCheck{"the paper's error", std::abs(result.largest_error - row->largest_error),
                     half_digit(row->largest_error)};
  }
  const double rounding = poisson_rounding_bound(result.n, result.precision);
  if (rounding > says_nothing) return std::nullopt;
  return ModeCheck{rounding > 0 ? "the bounds of discretisation and rounding" : "the bound of the discretisation",
                   result.largest_error, poisson_discretisation_bound(result.n) + rounding};
}

std::string poisson_results_table(std::span<const ModeRecord> records) {
  constexpr const char* columns = "{:>7}{:>12}  {:<12}{:<11}{:<8}{:>13}{:>8}{:>12}{:>12}{:>14}{:>10}{:>8}\n";
  std::string text = "\n" + fmt::format(columns, "N", "DOF", "variant", "precond.", "", "L_inf", "#iter", "residual",
                                        "seconds", "us/iteration", "GB/s", "of copy");
  for (const ModeRecord& r : records) {
    if (!r.failure.empty()) continue;
    const auto number = [&](const char* key) { return r.parameters.at(key).get<double>(); };
    const auto text_of = [&](const char* key) { return r.parameters.at(key).get<std::string>(); };
    const auto share = r.parameters.at("share_of_copy");
    text += fmt::format(columns, r.n, r.n * r.n, r.variant, text_of("preconditioner"), name_of(r.precision),
                        fmt::format("{:.4e}", number("largest_error")), r.parameters.at("iterations").get<Index>(),
                        fmt::format("{:.2e}", number("true_residual")), fmt::format("{:.4g}", r.times.compute.median),
                        fmt::format("{:.4g}", number("seconds_per_iteration") * 1e6),
                        fmt::format("{:.2f}", number("bytes_per_second") * 1e-9),
                        share.is_null() ? std::string("-") : fmt::format("{:.2f}", share.get<double>()));
  }
  return text;
}

std::string poisson_ranks_table(std::span<const ModeRecord> records) {
  constexpr const char* columns = "{:>7}  {:<12}{:>6}{:>12}{:>14}{:>11}{:>11}\n";
  std::string text =
      "\nus/iteration\n" + fmt::format(columns, "N", "variant", "ranks", "whole", "ghost rows", "exposed", "sums");
  for (const ModeRecord& r : records) {
    if (!r.failure.empty()) continue;
    const auto iterations = std::max(1.0, r.parameters.at("iterations").get<double>());
    const auto micro = [&](const char* key) {
      return fmt::format("{:.4g}", r.parameters.at(key).get<double>() / iterations * 1e6);
    };
    text += fmt::format(columns, r.n, r.variant, r.parameters.at("ranks").get<int>(),
                        fmt::format("{:.4g}", r.parameters.at("seconds_per_iteration").get<double>() * 1e6),
                        micro("exchange_seconds"), micro("exposed_seconds"), micro("sums_seconds"));
  }
  return text +
         "ghost rows: from their sending until the neighbours' have come; exposed: the part of it after a rank's own "
         "work;\n"
         "sums: scalar products of all ranks added up, after ghost rows; slower ranks are waited for in either; the "
         "slowest "
         "rank's times\n";
}

}  // namespace glinpack::app
