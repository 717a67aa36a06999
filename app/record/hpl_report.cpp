#include "app/record/hpl_report.hpp"

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/record/text.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {
namespace {

constexpr std::string_view double_rule =
    "================================================================================\n";
constexpr std::string_view single_rule =
    "--------------------------------------------------------------------------------\n";

constexpr std::string_view explanation =
    "An explanation of the input/output parameters follows:\n"
    "T/V    : Wall time / encoded variant.\n"
    "N      : The order of the coefficient matrix A.\n"
    "NB     : The partitioning blocking factor.\n"
    "P      : The number of process rows.\n"
    "Q      : The number of process columns.\n"
    "Time   : Time in seconds to solve the linear system.\n"
    "Gflops : Rate of execution for solving the linear system.\n\n";

/// The different values of a parameter over the planned runs, in the order in which they come.
template <class Get>
auto values_of(std::span<const RunRecord> planned, Get get) {
  std::vector<decltype(get(planned.front()))> values;
  for (const RunRecord& record : planned) {
    const auto value = get(record);
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return values;
}

/// HPL's list of a parameter: eight values a line, nine columns each.
template <class Value>
std::string list_line(std::string_view name, const std::vector<Value>& values) {
  std::string line = fmt::format("{:<7}:", name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && i % 8 == 0) line += "\n        ";
    line += fmt::format("{:>8} ", values[i]);
  }
  return line + '\n';
}

std::string word_for_factorisation(char letter) { return letter == 'L' ? "Left" : letter == 'C' ? "Crout" : "Right"; }

/// The values of a parameter of HPL's variant code; "-" if no HPL.dat gave it.
template <class Get>
std::string variant_line(std::string_view name, std::span<const RunRecord> planned, Get get) {
  return list_line(name, values_of(planned, [&](const RunRecord& record) {
                     return record.variant.given ? fmt::format("{}", get(record.variant)) : std::string("-");
                   }));
}

std::string_view word_for_broadcast(BroadcastKind kind) {
  return text_by_value(kind, "1ring", "1ringM", "2ring", "2ringM", "Blong", "BlongM", "Ibcast", "1ringP");
}

std::string text_of_swap(const RunRecord& record) {
  const RowSwap& swap = record.parameters.row_swap;
  if (!pivots_across_processes(record.parameters.pivoting)) return "None";
  const std::string pieces = swap.pieces == 1 ? "" : fmt::format(", in {} pieces", swap.pieces);
  const std::string mix = fmt::format("Mix (threshold = {})", swap.threshold);
  return fmt::format("{}{}",
                     text_by_value(swap.kind, "Direct", "Binary-exchange", "Spread-roll (long)", std::string_view(mix)),
                     pieces);
}

/// HPL's rules ask for its matrix, 64-bit arithmetic and LU with partial pivoting (top500.org, frequently asked
/// questions).
bool is_hpl(const RunRecord& record) {
  return record.matrix == MatrixKind::hpl && record.precision == Precision::double_ &&
         record.parameters.pivoting == Pivoting::partial && record.parameters.parts == RunParts::all &&
         !record.result.resumed;
}

/// HPL-MxP's rules (hpl-mxp.org): its matrix, factors of 16 bits or more, refined in double until HPL's test passes.
bool is_mxp(const RunRecord& record) {
  return record.matrix == MatrixKind::mxp && record.precision == Precision::mixed &&
         record.parameters.parts == RunParts::all && record.parameters.threshold > 0 &&
         record.parameters.threshold <= 16 && !record.result.resumed;
}

std::string title(const ReportContext& context, std::span<const RunRecord> planned) {
  const bool hpl = std::ranges::all_of(planned, is_hpl);
  const bool mxp = std::ranges::all_of(planned, is_mxp);
  std::string line = fmt::format("glinpack {}  --  {}", free_text(context.version),
                                 hpl   ? "High-Performance Linpack benchmark"
                                 : mxp ? "HPL-MxP mixed-precision benchmark"
                                       : "LU benchmark for GPUs and processors");
  if (!context.git_commit.empty()) line += fmt::format("  --  {}", free_text(context.git_commit));
  return line + '\n';
}

std::string parameter_lists(std::span<const RunRecord> planned) {
  std::vector<int> rows, columns;
  for (const GridShape& grid : values_of(planned, [](const RunRecord& r) { return r.grid; })) {
    rows.push_back(grid.rows);
    columns.push_back(grid.columns);
  }
  const auto words = [&](auto get) { return fmt::format("{}", fmt::join(values_of(planned, get), ", ")); };
  const auto list = [&](std::string_view name, auto get) { return list_line(name, values_of(planned, get)); };

  std::string text = "The following parameter values will be used:\n\n";
  text += list("N", [](const RunRecord& r) { return r.parameters.n; });
  text += list("NB", [](const RunRecord& r) { return r.parameters.nb; });
  text += fmt::format("PMAP   : {} process mapping\n",
                      words([](const RunRecord& r) { return text_by_value(r.order, "Row-major", "Column-major"); }));
  text += list_line("P", rows) + list_line("Q", columns);
  text += variant_line("PFACT", planned, [](const HplVariant& v) { return word_for_factorisation(v.pfact); });
  text += variant_line("NBMIN", planned, [](const HplVariant& v) { return v.nbmin; });
  text += variant_line("NDIV", planned, [](const HplVariant& v) { return v.ndiv; });
  text += variant_line("RFACT", planned, [](const HplVariant& v) { return word_for_factorisation(v.rfact); });
  text += list("BCAST", [](const RunRecord& r) { return word_for_broadcast(r.parameters.broadcast); });
  text += list("DEPTH", [](const RunRecord& r) { return r.parameters.lookahead; });
  text += fmt::format("SWAP   : {}\n", words([](const RunRecord& r) { return text_of_swap(r); }));
  text += list("MATRIX", [](const RunRecord& r) { return " " + std::string(name_of(r.matrix)); });
  text += list("PIVOT", [](const RunRecord& r) { return " " + std::string(name_of(r.parameters.pivoting)); });
  text += list("PANEL", [](const RunRecord& r) { return " " + std::string(name_of(r.parameters.panel)); });
  text += list("PREC", [](const RunRecord& r) { return name_of(r.precision); });
  if (planned.front().node_grid) {
    text += list("NODE PQ", [](const RunRecord& r) { return text_of(r.node_grid.value_or(GridShape{})); });
  }
  text += list("BACKEND", [](const RunRecord& r) { return " " + r.backend; });
  return text + '\n';
}

std::string check_lines(std::span<const RunRecord> planned) {
  const auto thresholds = values_of(planned, [](const RunRecord& r) { return r.parameters.threshold; });
  if (thresholds.empty() || thresholds.front() <= 0) return "- The answer is not checked.\n";

  std::string text;
  for (const MatrixKind matrix : values_of(planned, [](const RunRecord& r) { return r.matrix; })) {
    text += fmt::format("- The matrix A is {}\n", description_of(matrix));
  }
  text +=
      "- The following scaled residual check will be computed:\n"
      "      ||Ax-b||_oo / ( eps * ( || x ||_oo * || A ||_oo + || b ||_oo ) * N )\n";
  for (const Precision precision : values_of(planned, [](const RunRecord& r) { return r.precision; })) {
    text += fmt::format("- The relative machine precision (eps) is taken to be      {:21.6e}\n", epsilon_of(precision));
  }
  for (const double threshold : thresholds) {
    text += fmt::format("- Computational tests pass if scaled residuals are less than         {:11.1f}\n", threshold);
  }
  return text;
}

/// What a reader must know before comparing the figures with HPL's.
std::string honesty_lines(std::span<const RunRecord> planned) {
  const auto any = [&](auto wanted) { return std::ranges::any_of(planned, wanted); };
  const auto of_precision = [&](Precision precision) {
    return any([precision](const RunRecord& r) { return r.precision == precision && !is_mxp(r); });
  };
  const auto pivots = [&](Pivoting way) {
    return any([way](const RunRecord& r) { return r.parameters.pivoting == way; });
  };
  std::string text;
  const auto say = [&text](bool holds, std::string_view lines) {
    if (holds) text += lines;
  };
  say(of_precision(Precision::double_), "- double precision; residual with eps = 2^-53 = 1.11e-16\n");
  say(of_precision(Precision::single), "- single precision; residual with eps = 2^-24 = 5.96e-08: not an HPL result\n");
  const auto has_half_products = [](const RunRecord& record) {
    return option_value(record.backend_values, "products") == "half";
  };
  const bool half = any(has_half_products);
  say(any(is_mxp), half ? "- HPL-MxP: factors in single precision from products of 16 bits, which the rules allow; at "
                          "most 50 refinements\n"
                        : "- HPL-MxP: factors in single precision, where the rules ask for 16 bits or more; at most 50 "
                          "refinements\n");
  say(any(is_mxp),
      "- HPL-MxP: residual with eps = 2^-53 = 1.11e-16; Time includes the refinement; Gflops counts 2/3 N^3 + 3/2 "
      "N^2\n  operations in it: not an HPL result\n");
  say(of_precision(Precision::mixed) && half, "- mixed precision: products of 16 bits make the factors in single\n");
  say(of_precision(Precision::mixed),
      "- mixed precision, HPL-MxP style: factors in single, the solution refined in double until it passes\n"
      "- mixed precision: residual with eps = 2^-53 = 1.11e-16; Time includes the refinement: not an HPL result\n");
  say(any([](const RunRecord& r) { return r.matrix != MatrixKind::hpl; }),
      "- the matrix is not HPL's: not an HPL result\n");
  say(pivots(Pivoting::local), "- local pivoting: pivots are looked for within one process: not an HPL result\n");
  say(pivots(Pivoting::tournament),
      "- tournament pivoting: multipliers may exceed 1, where HPL's do not: not an HPL result\n");
  say(any([](const RunRecord& r) { return r.parameters.parts == RunParts::compute; }),
      "- compute only: every process does its arithmetic with local buffers in place of messages: not an HPL result\n"
      "- compute only: Time and Gflops are of the factorisation alone, with 2/3 N^3 + 1/2 N^2 operations\n");
  say(any([](const RunRecord& r) { return r.result.resumed.has_value(); }),
      "- resumed: Time and Gflops are of the passes after the checkpoint and of the solution: not an HPL result\n");
  say(any([](const RunRecord& r) { return r.variant.given; }),
      "- PFACT, NBMIN, NDIV and RFACT are shown as given: they do not change what glinpack computes\n");
  say(any([](const RunRecord& r) { return algorithm_of(r) == LuAlgorithm::row_by_row; }),
      "- row by row: there is no look-ahead, so DEPTH is 0\n");
  say(any([](const RunRecord& r) { return r.parameters.lookahead > 1; }),
      "- DEPTH is shown as given: above 1 glinpack looks one panel ahead\n");
  return text;
}

/// HPL's encoded variant and figures; the row that every parser looks for.
std::string result_row(const RunRecord& record) {
  const HplVariant& variant = record.variant;
  const RunParameters& parameters = record.parameters;
  // HPL_pdtest.c: "W%c%1d%c%c%1d%c%1d"
  const std::string code =
      fmt::format("W{}{}{}{}{}{}{}", record.order == RankOrder::row_major ? 'R' : 'C', parameters.lookahead,
                  hpl_digit(parameters.broadcast), variant.rfact, variant.ndiv, variant.pfact, variant.nbmin);
  return fmt::format("{}{:12d} {:5d} {:5d} {:5d} {:>18.2f}    {:>19.4e}\n", code, parameters.n, parameters.nb,
                     record.grid.rows, record.grid.columns, record.result.seconds, record.result.gflops);
}

/// As C's ctime() writes it, without its newline; local time.
std::string clock_time(double seconds_since_1970) {
  const auto seconds = static_cast<std::time_t>(seconds_since_1970);
  return fmt::format("{:%a %b %e %H:%M:%S %Y}", fmt::localtime(seconds));
}

/// HPL's lines, but with an exponent: six decimals show nothing of the norm of a good residual.
std::string norm_lines(const Residual& residual, double growth) {
  const auto line = [](std::string_view norm, double value) {
    std::string dots(norm);
    while (dots.size() < 47) dots += dots.size() % 2 == 0 ? ' ' : '.';
    return fmt::format("{}= {:>18.6e}\n", dots, value);
  };
  return line("||Ax-b||_oo ", residual.norm_residual_inf) + line("||A||_oo", residual.norm_a_inf) +
         line("||A||_1 ", residual.norm_a_one) + line("||x||_oo", residual.norm_x_inf) +
         line("||x||_1 ", residual.norm_x_one) + line("||b||_oo", residual.norm_b_inf) + line("max|U|/max|A| ", growth);
}

/// The scaled residuals of some iterations, in lines of five. Commas part them: no two numbers in a row.
std::string residual_list(std::span<const Refinement::Step> steps) {
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0) text += i % 5 == 0 ? ",\n    " : ", ";
    text += fmt::format("{:.2e}", steps[i].scaled_residual);
  }
  return text;
}

/// What the refinement did: the history of HPL's scaled residual, method by method.
std::string refinement_lines(const Refinement& refinement, bool mxp) {
  std::string text = fmt::format("{}: the refinement {} after {}, in {:.3f} s.\n", mxp ? "HPL-MxP" : "HPL-MxP style",
                                 refinement.converged ? "converged" : "had NOT converged",
                                 counted(refinement.iterations(), "iteration"), refinement.seconds);
  const std::span<const Refinement::Step> history = refinement.history;
  for (std::size_t first = 0; first < history.size();) {
    std::size_t end = first;
    while (end < history.size() && history[end].method == history[first].method) ++end;
    const std::string_view method = name_of(history[first].method);
    const std::string which = first == 0         ? " of the factors' solution"
                              : first + 1 == end ? fmt::format(", {} iteration {}", method, first)
                                                 : fmt::format(", {} iterations {} to {}", method, first, end - 1);
    text += fmt::format("  scaled residual{}: {}\n", which, residual_list(history.subspan(first, end - first)));
    first = end;
  }
  return text;
}

std::string checksum_lines(const RunResult& result) {
  const ChecksumRecord& record = *result.checksums;
  double lost = 0;
  std::string text;
  for (const Rollback& back : record.rollbacks) {
    const auto rank = std::ranges::find(result.ranks, back.rank, &RankRecord::world_rank);
    text += fmt::format(
        "After {} it rolled back to the checkpoint after {}, {:.3f} s lost: {}: {}\n", counted(back.from, "pass"),
        back.to, back.seconds,
        rank == result.ranks.end() ? "" : free_text(name_of_faulty(*rank, back.mismatch, result.ranks, record.every)),
        text_of(back.mismatch));
    lost += back.seconds;
  }
  const std::size_t times = record.rollbacks.size();
  if (times > 0) {
    text += fmt::format("It rolled back {}; Time and Gflops include the {:.3f} s lost: not an HPL result\n",
                        counted(times, "time"), lost);
  }
  const std::string_view outcome = record.overflowed  ? "CORRUPTED or overflowed"
                                   : record.corrupted ? "CORRUPTED"
                                   : times > 0        ? "no mismatch remains"
                                                      : "no mismatch";
  return text + fmt::format("Checksums: {}, every {}{} and at the end, in {:.3f} s: {}\n",
                            counted(record.checks, "check"), counted(record.every, "pass"),
                            result.saved ? ", before checkpoints" : "", record.seconds, outcome);
}

std::string residual_lines(const RunRecord& record) {
  const RunResult& result = record.result;
  std::string text;
  if (result.checked) {
    // A singular matrix has no answer to check, whatever the fields hold.
    const bool known = !result.singular_column && !std::isnan(result.residual.scaled);
    const double scaled = known ? result.residual.scaled : std::numeric_limits<double>::quiet_NaN();
    text += single_rule;
    text += fmt::format("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= {:>16.8e} ...... {}\n", scaled,
                        result.passed ? "PASSED" : "FAILED");
    if (!result.singular_column) text += norm_lines(result.residual, result.growth);
  }
  if (result.refinement) text += refinement_lines(*result.refinement, is_mxp(record));
  if (result.checksums) text += checksum_lines(result);
  if (result.resumed && result.gflops > 0) {
    const double seconds = result.resumed->seconds + result.seconds;
    const double flops = record.parameters.parts == RunParts::all ? hpl_flops(record.parameters.n)
                                                                  : factorization_flops(record.parameters.n);
    text += fmt::format(
        "All parts of the run: {:.2f} s before the checkpoint, {:.2f} s after it: {:.4g} GFLOPS; not an HPL result\n",
        result.resumed->seconds, result.seconds, flops / seconds * 1e-9);
  }
  if (result.saved) {
    const Saved& saved = *result.saved;
    const std::string failed = saved.failed > 0 ? fmt::format(", {} not: see the warnings", saved.failed) : "";
    const std::string last = saved.passes > 0        ? ", the last after " + counted(saved.passes, "pass")
                             : saved.checkpoints > 0 ? ", the last is deleted"
                                                     : "";
    text += fmt::format("Checkpoints written: {}{}{}; {}: ranks waited {:.2f} s, disks took {:.2f} s\n",
                        saved.checkpoints, last, failed, saved.in_background ? "in the background" : "synchronously",
                        saved.waited, saved.disk);
  }
  // FAILED stands once in a run: people count the word
  if (verdict_of(result) == Verdict::failed) {
    text += fmt::format("{}: {}\n", result.checked ? "Because" : "FAILED", failure_of(result));
  }
  return text;
}

/// The parts of the matrix that the GPUs' drivers have put into host memory; "" if there are none.
std::string displaced_text(const std::vector<RankRecord>& ranks) {
  const auto max = std::ranges::max_element(ranks, {}, &RankRecord::displaced_bytes);
  if (max == ranks.end() || max->displaced_bytes == 0) return "";
  const auto count = std::ranges::count_if(ranks, [](const RankRecord& rank) { return rank.displaced_bytes > 0; });
  return fmt::format(
      "Warning: {} of the matrix of rank {}{} are in memory of the host ({}): they exceed what the GPU's\n"
      "driver keeps, and the GPU reaches them slowly. A smaller N or --memory-fraction keeps all on the GPU.\n",
      memory_text(static_cast<double>(max->displaced_bytes)), max->world_rank,
      count > 1 ? fmt::format(", and as much at most of {} other{},", count - 1, count == 2 ? "" : "s") : "",
      free_text(max->host));
}

/// What a rank computes on, in lines.
std::string device_lines(const BackendInfo& info) {
  std::string lines = "DEVICE : " + free_text(info.device);
  if (info.software_device) {
    lines += fmt::format(" (software {}: computed by the processor, not by a GPU)", device_catalog(info.backend).api);
  }
  lines += "\nDRIVER : " + free_text(info.driver);
  if (info.products == "half" || info.products == "split") {
    lines += fmt::format("\nUPDATE : products of numbers {} halves (16 bits), sums in single precision",
                         info.products == "half" ? "rounded to" : "split into two");
  }
  if (info.moduli > 0) {
    lines +=
        fmt::format("\nUPDATE : emulated by int8 products, {} moduli, relative error {:.1e}; not submittable to TOP500",
                    info.moduli, info.product_error);
  }
  std::string blas = info.blas.empty() ? "" : free_text(info.blas) + ", ";
  if (!info.kernels.empty()) blas += free_text(info.kernels) + " kernels, ";
  return lines + fmt::format("\nHOST   : {}{} a rank\n", blas, counted(info.threads, "thread"));
}

/// No two numbers in a row: parsers would take the line for a result.
std::string rate_line(const RunRecord& record) {
  const RunParameters& parameters = record.parameters;
  return fmt::format("  N {}: {:.4g} GFLOPS in {:.4g} s, NB {}, grid {}x{}, {}, DEPTH {}, SWAP {}\n", parameters.n,
                     record.result.gflops, record.result.seconds, parameters.nb, record.grid.rows, record.grid.columns,
                     word_for_broadcast(parameters.broadcast), parameters.lookahead, text_of_swap(record));
}

/// The ranks of each kind of device.
using Machine = std::map<std::string, int>;

std::string machine_lines(const Machine& machine, const std::vector<RankRecord>& ranks) {
  std::set<std::string> hosts;
  for (const RankRecord& rank : ranks) hosts.insert(rank.host);
  std::string text =
      fmt::format("Computed with {} by {} on {}: {}{}\n", ranks.front().backend.backend, counted(ranks.size(), "rank"),
                  counted(hosts.size(), "host"), free_text(*hosts.begin()), hosts.size() > 1 ? " and others" : "");
  for (const auto& [device, count] : machine) {
    if (machine.size() > 1) text += fmt::format("{} of the ranks on\n", count);
    text += device;
  }
  return text + '\n';
}

}  // namespace

std::string HplReport::head(const ReportContext& context, std::span<const RunRecord> planned) {
  std::string text = fmt::format(
      "{0}{1}Lines that parsers read are in the format of HPL 2.3 (netlib.org/benchmark/hpl)\n{0}\n{2}{3}{4}\n{5}{6}",
      double_rule, title(context, planned), explanation, parameter_lists(planned), single_rule, check_lines(planned),
      honesty_lines(planned));
  for (const std::string& note : context.notes) text += "- " + free_text(note) + '\n';
  return text + '\n';
}

std::string HplReport::machine(const std::vector<RankRecord>& ranks) {
  Machine machine;
  for (const RankRecord& rank : ranks) ++machine[device_lines(rank.backend)];
  std::string kinds;  // whatever the number of ranks
  for (const auto& [device, count] : machine) kinds += device;
  if (kinds.empty() || kinds == machine_) return "";
  machine_ = kinds;
  return machine_lines(machine, ranks);
}

std::string HplReport::run(const RunRecord& record) {
  const RunResult& result = record.result;
  std::string text = fmt::format("{}{}", machine(result.ranks), double_rule);
  if (record.parameters.parts == RunParts::compute) {
    text += "Compute only: nothing was sent, solved or checked.\n" + rate_line(record);
  } else {
    text += fmt::format(
        "T/V                N    NB     P     Q               Time                 Gflops\n{}{}"
        "HPL_pdgesv() start time {}\n\nHPL_pdgesv() end time   {}\n\n",
        single_rule, result_row(record), clock_time(result.start_time), clock_time(result.end_time));
  }
  const Verdict verdict = verdict_of(result);
  ++(verdict == Verdict::failed ? failed_ : verdict == Verdict::passed ? passed_ : unchecked_);
  if (verdict != Verdict::failed) {
    Best& best = best_[record.parameters.n];
    if (result.gflops > best.gflops) best = {result.gflops, rate_line(record)};
  }
  return text + residual_lines(record) + displaced_text(result.ranks);
}

std::string HplReport::tail() const {
  std::string text;
  if (passed_ + failed_ + unchecked_ > 1 && !best_.empty()) {
    text = "Best run of each N\n";
    for (const auto& [n, best] : best_) text += best.line;
    text += '\n';
  }
  const auto count = [](int tests, std::string_view what) { return fmt::format("         {:6d} {}\n", tests, what); };
  text += fmt::format("{}\nFinished {:6d} tests with the following results:\n", double_rule,
                      passed_ + failed_ + unchecked_);
  if (unchecked_ == 0 || passed_ + failed_ > 0) {
    text += count(passed_, "tests completed and passed residual checks,") +
            count(failed_, "tests completed and failed residual checks,");
  }
  if (unchecked_ > 0) text += count(unchecked_, "tests completed without checking,");
  return text + count(0, "tests skipped because of illegal input values.") +
         fmt::format("{}\nEnd of Tests.\n{}", single_rule, double_rule);
}

std::string rate_text(const RunRecord& record) {
  const std::optional<double> of_each = record.gflops_per_unit();
  if (!of_each || record.result.singular_column) return "";
  const ComputeUnits& units = record.units;
  std::string text = fmt::format("Rate: {:.4g} GFLOPS, {:.4g} by each of {} {}{}", record.result.gflops, *of_each,
                                 units.count, units.name,
                                 units.count == 1          ? ""
                                 : units.name == "process" ? "es"
                                                           : "s");
  if (record.peak && record.peak->exceeded > 0) {
    text += fmt::format("; above the measured peak, {:.4g} GFLOPS, which it replaces", record.peak->exceeded);
  } else if (record.peak && *record.of_peak() > 1) {
    text += fmt::format("; above the stated peak, {:.4g} GFLOPS: --peak is too low", record.peak->gflops);
  } else if (record.peak) {
    text += fmt::format("; {:.1f} % of the {} peak, {:.4g} GFLOPS", 100 * *record.of_peak(),
                        record.peak->stated ? "stated" : "measured", record.peak->gflops);
  }
  return text + '\n';
}

}  // namespace glinpack::app
