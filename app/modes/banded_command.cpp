
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "app/input/matrix_file.hpp"
#include "app/modes/banded_options.hpp"
#include "app/modes/fit.hpp"
#include "app/modes/mode_run.hpp"
#include "app/modes/modes.hpp"
#include "app/topology.hpp"
#include "solvers/banded/banded.hpp"

namespace glinpack::app {

namespace {

using solvers::BandedVariant;
using solvers::SparseEntry;

constexpr int banded_fit_degree = 1;  // of the times over N: with a fixed number of diagonals, the work is linear in N
constexpr const char* banded_rival = "csr";

/// The matrix A, the vector x, and y as computed by the host.
struct Problem {
  Index n = 0;
  std::vector<SparseEntry> entries;  // ordered by row
  Index diagonals = 0;               // joined diagonals that are not empty
  Index most_in_row = 0;
  std::vector<float> x = {}, expected = {}, computed = {};
};

Problem problem_of(Index n, std::vector<SparseEntry> entries, std::mt19937_64& random) {
  Problem problem{.n = n, .entries = std::move(entries)};
  problem.diagonals = solvers::count_joined_diagonals(n, problem.entries);
  std::vector<Index> in_row(static_cast<std::size_t>(n));
  for (const SparseEntry& entry : problem.entries) {
    problem.most_in_row = std::max(problem.most_in_row, ++in_row[static_cast<std::size_t>(entry.row)]);
  }
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  for (Index i = 0; i < n; ++i) problem.x.push_back(uniform(random));
  problem.expected.resize(problem.x.size());
  problem.computed.resize(problem.x.size());
  return problem;
}

Problem random_problem(Index n, const std::vector<Index>& offsets, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  std::vector<Index> sorted = offsets;
  std::sort(sorted.begin(), sorted.end());
  std::vector<SparseEntry> entries;
  for (Index row = 0; row < n; ++row) {
    for (const Index offset : sorted) {
      if (row + offset >= 0 && row + offset < n) entries.push_back({row, row + offset, uniform(random)});
    }
  }
  return problem_of(n, std::move(entries), random);
}

Problem problem_from_file(const BandedOptions& options) {
  const CoordinateMatrix matrix = read_coordinates(options.input, view_node().available_memory, MatrixShape::square);
  for (const auto& [row, column, value] : matrix.entries) {
    if (std::abs(value) <= std::numeric_limits<float>::max()) continue;
    throw InputError(options.input + ": row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1) +
                     " is beyond single precision, 3.4e38 at most");
  }
  std::mt19937_64 random(options.seed);
  std::vector<SparseEntry> entries;
  for (const auto& [row, column, value] : matrix.entries) entries.push_back({row, column, static_cast<float>(value)});
  return problem_of(matrix.rows, std::move(entries), random);
}

/// Largest |difference| over max |a| max |x|; tolerance() of the longest row bounds it.
template <class Value>
double error_between(const Problem& problem, const std::vector<Value>& expected, const std::vector<float>& computed) {
  double largest_a = 0, largest_x = 0, largest = 0;
  for (const SparseEntry& entry : problem.entries) largest_a = std::max(largest_a, std::abs(double{entry.value}));
  for (const float x : problem.x) largest_x = std::max(largest_x, std::abs(double{x}));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double{computed[i]} - double{expected[i]});
    if (!(difference <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, difference);
  }
  const double scale = largest_a * largest_x;
  return scale > 0 ? largest / scale : largest;
}

std::vector<double> sums_in_double(const Problem& problem) {
  std::vector<double> sums(problem.x.size());
  for (const SparseEntry& entry : problem.entries) {
    sums[static_cast<std::size_t>(entry.row)] +=
        double{entry.value} * double{problem.x[static_cast<std::size_t>(entry.column)]};
  }
  return sums;
}

ModeRecord record_of(const Problem& problem, const std::string& variant) {
  const auto elements = static_cast<Index>(problem.entries.size());
  return {.variant = variant,
          .settings = std::to_string(problem.diagonals) + (problem.diagonals == 1 ? " diagonal" : " diagonals"),
          .size = std::to_string(problem.n),
          .n = problem.n,
          .parameters = {{"joined_diagonals", problem.diagonals}, {"elements", elements}},
          .flops = 2.0 * static_cast<double>(elements)};
}

class BandedRun {
 public:
  BandedRun(const BandedOptions& options, ModeRun& run, ModeMachine& machine)
      : options_(options), run_(run), machine_(machine), team_(machine.threads) {}

  void measure(Problem& problem) {
    measure_on_host(problem);
    for (const std::string& name : options_.variant) {
      if (const auto variant = solvers::banded_variant_from_name(name)) measure_on_device(problem, *variant);
    }
  }

 private:
  void measure_on_host(Problem& problem) {
    ModeRecord record = record_of(problem, banded_rival);
    record.is_rival = true;
    solvers::StageClock clock;
    solvers::RowCompressedMatrix matrix;
    record.times = run_.measure(clock, record.series() + ", " + record.size, record.flops, [&] {
      clock.measure(solvers::Stage::pack, [&] { matrix = solvers::compress_rows(problem.n, problem.entries); });
      clock.measure(solvers::Stage::compute, [&] { solvers::multiply(matrix, problem.x, problem.expected, team_); });
    });
    problem.computed = problem.expected;
    record.check =
        ModeCheck{"sums in double precision", error_between(problem, sums_in_double(problem), problem.expected),
                  tolerance<float>(problem.most_in_row)};
    run_.add(std::move(record));
  }

  void measure_on_device(Problem& problem, BandedVariant variant) {
    ModeRecord record = record_of(problem, std::string(name_of(variant)));
    solvers::Device& device = *machine_.device;
    const auto product = solvers::make_banded_product(device, problem.n, problem.diagonals, variant);
    std::fill(problem.computed.begin(), problem.computed.end(), 0.0F);
    solvers::JoinedDiagonals joined;
    record.times = run_.measure(device.clock(), record.series() + ", " + record.size, record.flops, [&] {
      device.clock().measure(solvers::Stage::pack,
                             [&] { joined = solvers::join_diagonals(problem.n, problem.entries); });
      product->load(joined);
      product->load(problem.x);
      product->compute();
      product->store(problem.computed);
    });
    record.check = ModeCheck{"compressed rows", error_between(problem, problem.expected, problem.computed),
                             tolerance<float>(problem.most_in_row)};
    run_.add(std::move(record));
  }

  const BandedOptions& options_;
  ModeRun& run_;
  ModeMachine& machine_;
  ThreadTeam team_;
};

bool needs_device(const BandedOptions& options) {
  return std::any_of(options.variant.begin(), options.variant.end(),
                     [](const std::string& name) { return solvers::banded_variant_from_name(name).has_value(); });
}

/// A size and its number of diagonals; the problem is built later.
struct Plan {
  Index n = 0;
  Index diagonals = 0;
};

std::vector<Plan> plans_of(const BandedOptions& options) {
  std::vector<Plan> plans;
  for (const Index n : options.n) {
    if (!options.offsets.empty()) {
      for (const Index offset : options.offsets) {
        if (std::abs(offset) < n) continue;
        throw InputError("--offsets: a matrix of order " + std::to_string(n) + " has no diagonal " +
                         std::to_string(offset) + "; they go from " + std::to_string(1 - n) + " to " +
                         std::to_string(n - 1));
      }
      plans.push_back({n, static_cast<Index>(options.offsets.size())});
      continue;
    }
    for (const Index count : options.diagonals) {
      if (count > 2 * n - 1) {
        throw InputError("--diagonals " + std::to_string(count) + ": a matrix of order " + std::to_string(n) +
                         " has no more than " + std::to_string(2 * n - 1));
      }
      plans.push_back({n, count});
    }
  }
  return plans;
}

void check_size(Index n, Index diagonals, const BandedOptions& options, const ModeMachine& machine) {
  const std::string what =
      "a matrix of order " + std::to_string(n) + " with " + std::to_string(diagonals) + " diagonals";
  const double elements = static_cast<double>(n) * static_cast<double>(diagonals + 4);
  if (n > std::numeric_limits<std::int32_t>::max()) {
    throw InputError(what + ": rows are counted with 31 bits; use a smaller N");
  }
  // entries, rows, joined diagonals, staging buffer, and software OpenGL's copy
  constexpr double bytes_of_element = sizeof(SparseEntry) + 8 + 3 * sizeof(float);
  check_host_memory(what, elements * bytes_of_element);
  for (const std::string& name : options.variant) {
    const auto variant = solvers::banded_variant_from_name(name);
    if (!variant) continue;
    const std::string obstacle = banded_obstacle(machine.device->description(), n, diagonals, *variant);
    if (!obstacle.empty()) throw InputError(what + ", variant " + name + ": " + obstacle);
  }
}

}  // namespace

int run_banded(const ModeInvocation& invocation) {
  const BandedOptions options = parse_banded_options(invocation.arguments);
  check_matrix_name(options.output);
  ModeRun run("banded", options, to_json(options, banded_table), invocation);
  std::vector<Plan> plans;
  std::optional<Problem> from_file;
  if (options.input.empty()) {
    plans = plans_of(options);
  } else {
    from_file = problem_from_file(options);
  }
  check_fit(options.fit, from_file ? std::vector<Index>{from_file->n} : options.n, banded_fit_degree);
  ModeMachine machine = open_machine(options, needs_device(options));
  if (from_file) check_size(from_file->n, from_file->diagonals, options, machine);
  for (const Plan& plan : plans) check_size(plan.n, plan.diagonals, options, machine);

  run.begin(machine);
  BandedRun banded(options, run, machine);
  std::vector<float> last;
  const auto measure = [&](Problem problem) {
    banded.measure(problem);
    last = std::move(problem.computed);
  };
  if (from_file) measure(std::move(*from_file));
  for (const Plan& plan : plans) {
    const bool named = !options.offsets.empty();
    measure(random_problem(plan.n, named ? options.offsets : offsets_around_main(plan.diagonals), options.seed));
  }
  const DenseMatrix result{static_cast<Index>(last.size()), 1, {last.begin(), last.end()}};
  run.write_result([&](std::ostream& out) { write_matrix(out, options.output, result); });
  return run.finish(machine, banded_fit_degree);
}

}  // namespace glinpack::app
