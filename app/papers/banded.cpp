#include "app/papers/banded.hpp"

#include <algorithm>
#include <limits>

#include "app/input/values.hpp"
#include "app/papers/problem.hpp"
#include "app/program/topology.hpp"
#include "solvers/banded/banded.hpp"

namespace glinpack::app {

namespace {

using solvers::BandedVariant;
using solvers::SparseEntry;

constexpr const char* banded_examples =
    "  glinpack-papers banded --n 4096 --diagonals 10\n"
    "  glinpack-papers banded --n 4096 --offsets 0,1,-1,64,-64 --json banded.json\n"
    "  glinpack-papers banded --variant diagonals --n 1024,2048,4096,8192 --fit\n"
    "  glinpack-papers banded --input A.mtx --output y.npy\n";

FieldValue offsets_value(std::vector<Index>& offsets) {
  FieldValue value = wholes(offsets, -largest_n, largest_n, "OFFSET,...");
  value.read = [&offsets, read = value.read](const Texts& texts) {
    read(texts);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (std::count(offsets.begin(), offsets.end(), offsets[i]) == 1) continue;
      throw InputError(in_quotes(texts[i]) + " is in the list twice");
    }
  };
  return value;
}

/// A, x, and y as computed by the host and by a variant.
struct BandedProblem {
  Index n = 0;
  std::vector<SparseEntry> entries = {};  // ordered by row
  Index diagonals = 0;                    // joined diagonals that are not empty
  Index most_in_row = 0;
  std::vector<float> x = {}, expected = {}, computed = {};

  /// Completes a problem that has its entries.
  void complete(std::mt19937_64& random) {
    diagonals = solvers::count_joined_diagonals(n, entries);
    std::vector<Index> in_row(static_cast<std::size_t>(n));
    for (const SparseEntry& entry : entries) {
      most_in_row = std::max(most_in_row, ++in_row[static_cast<std::size_t>(entry.row)]);
    }
    x = random_elements<float>(n, random);
    expected.resize(x.size());
  }
  std::vector<double> sums_in_double() const {
    std::vector<double> sums(x.size());
    for (const SparseEntry& entry : entries) {
      sums[static_cast<std::size_t>(entry.row)] +=
          double{entry.value} * double{x[static_cast<std::size_t>(entry.column)]};
    }
    return sums;
  }
  /// `difference`, over max |a| max |x|; tolerance() of the longest row bounds it.
  ModeCheck check(const char* against, double difference) const {
    double largest_a = 0;
    for (const SparseEntry& entry : entries) largest_a = std::max(largest_a, std::abs(double{entry.value}));
    const double scale = largest_a * largest_magnitude(x);
    return {against, scale > 0 ? difference / scale : difference, tolerance<float>(most_in_row)};
  }
};

class Banded final : public Mode {
 public:
  explicit Banded(const BandedOptions& options)
      : options_(options), variants_(kinds_among(options.variant, solvers::all_banded_variants)) {}

  void prepare() override {
    if (!options_.input.empty()) {
      read_problem();
      plans_ = {{problem_.n, problem_.diagonals, {}}};
      return;
    }
    for (const Index n : options_.n) plan_size(n);
  }

  std::vector<Index> sizes() const override {
    std::vector<Index> orders;
    for (const Plan& plan : plans_) orders.push_back(plan.n);
    return orders;
  }
  std::optional<int> fit_degree() const override { return 1; }  // with as many diagonals, the work is linear in N
  bool needs_device() const override { return !variants_.empty(); }

  void check_size(std::size_t size, const ModeMachine& machine) const override {
    const auto& [n, diagonals, offsets] = plans_[size];
    const std::string what =
        "a matrix of order " + std::to_string(n) + " with " + std::to_string(diagonals) + " diagonals";
    const double elements = static_cast<double>(n) * static_cast<double>(diagonals + 4);
    if (n > std::numeric_limits<std::int32_t>::max()) {
      throw InputError(what + ": rows are counted with 31 bits; use a smaller N");
    }
    // entries, rows, joined diagonals, staging buffer, and software OpenGL's copy
    constexpr double bytes_of_element = sizeof(SparseEntry) + 8 + 3 * sizeof(float);
    check_host_memory(what, elements * bytes_of_element);
    for (const BandedVariant variant : variants_) {
      check_obstacle(what + ", variant " + std::string(name_of(variant)),
                     banded_obstacle(machine.device->description(), n, diagonals, variant));
    }
  }

  void measure(std::size_t size, ModeRun& run) override {
    if (options_.input.empty()) make_problem(plans_[size]);
    measure_on_host(run);
    for (const BandedVariant variant : variants_) measure_on_device(variant, run);
  }

  std::optional<DenseMatrix> result() const override {
    return DenseMatrix{problem_.n, 1, converted<double>(problem_.computed)};
  }

 private:
  struct Plan {
    Index n = 0;
    Index diagonals = 0;
    std::vector<Index> offsets;  // ascending; empty for a file's matrix
  };

  void plan_size(Index n) {
    const std::string order = "a matrix of order " + std::to_string(n);
    for (const Index offset : options_.offsets) {
      if (std::abs(offset) < n) continue;
      throw InputError("--offsets: " + order + " has no diagonal " + std::to_string(offset) + "; they go from " +
                       std::to_string(1 - n) + " to " + std::to_string(n - 1));
    }
    const auto add = [&](std::vector<Index> offsets) {
      std::sort(offsets.begin(), offsets.end());
      plans_.push_back({n, static_cast<Index>(offsets.size()), std::move(offsets)});
    };
    if (!options_.offsets.empty()) return add(options_.offsets);
    for (const Index count : options_.diagonals) {
      if (count > 2 * n - 1) {
        throw InputError("--diagonals " + std::to_string(count) + ": " + order + " has no more than " +
                         std::to_string(2 * n - 1));
      }
      add(offsets_around_main(count));
    }
  }

  void make_problem(const Plan& plan) {
    problem_ = {};
    problem_.n = plan.n;
    std::mt19937_64 random(options_.seed);
    std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
    for (Index row = 0; row < plan.n; ++row) {
      for (const Index offset : plan.offsets) {
        if (row + offset < 0 || row + offset >= plan.n) continue;
        problem_.entries.push_back({row, row + offset, uniform(random)});
      }
    }
    problem_.complete(random);
  }

  void read_problem() {
    const CoordinateMatrix matrix = read_coordinates(options_.input, view_node().available_memory, MatrixShape::square);
    for (const auto& [row, column, value] : matrix.entries) {
      if (!(std::abs(value) <= std::numeric_limits<float>::max())) {
        throw InputError(options_.input + ": row " + std::to_string(row + 1) + ", column " +
                         std::to_string(column + 1) + " is beyond single precision, 3.4e38 at most");
      }
      problem_.entries.push_back({row, column, static_cast<float>(value)});
    }
    problem_.n = matrix.rows;
    std::mt19937_64 random(options_.seed);
    problem_.complete(random);
  }

  ModeRecord record_of(std::string variant) const {
    const auto elements = static_cast<Index>(problem_.entries.size());
    return {.variant = std::move(variant),
            .settings = std::to_string(problem_.diagonals) + (problem_.diagonals == 1 ? " diagonal" : " diagonals"),
            .size = std::to_string(problem_.n),
            .n = problem_.n,
            .parameters = {{"joined_diagonals", problem_.diagonals}, {"elements", elements}},
            .flops = 2.0 * static_cast<double>(elements)};
  }

  void measure_on_host(ModeRun& run) {
    ModeRecord record = record_of("csr");
    record.is_rival = true;
    solvers::StageClock clock;
    ThreadTeam team(run.machine().threads);
    solvers::RowCompressedMatrix matrix;
    run.time(record, clock, [&] {
      clock.measure(solvers::Stage::pack, [&] { matrix = solvers::compress_rows(problem_.n, problem_.entries); });
      clock.measure(solvers::Stage::compute, [&] { solvers::multiply(matrix, problem_.x, problem_.expected, team); });
    });
    problem_.computed = problem_.expected;
    record.check =
        problem_.check("sums in double precision", largest_difference(problem_.sums_in_double(), problem_.expected));
    run.add(std::move(record));
  }

  void measure_on_device(BandedVariant variant, ModeRun& run) {
    ModeRecord record = record_of(std::string(name_of(variant)));
    solvers::Device& device = run.device();
    const auto product = solvers::make_banded_product(device, problem_.n, problem_.diagonals, variant);
    std::fill(problem_.computed.begin(), problem_.computed.end(), 0.0F);
    solvers::JoinedDiagonals joined;
    run.time(record, device.clock(), [&] {
      device.clock().measure(solvers::Stage::pack,
                             [&] { joined = solvers::join_diagonals(problem_.n, problem_.entries); });
      product->load(joined);
      product->load(problem_.x);
      product->compute();
      product->store(problem_.computed);
    });
    record.check = problem_.check("compressed rows", largest_difference(problem_.expected, problem_.computed));
    run.add(std::move(record));
  }

  const BandedOptions& options_;
  std::vector<BandedVariant> variants_;
  std::vector<Plan> plans_;
  BandedProblem problem_;
};

}  // namespace

std::vector<Index> offsets_around_main(Index count) {
  std::vector<Index> offsets;
  for (Index d = 0; d < count; ++d) offsets.push_back(d % 2 == 1 ? (d + 1) / 2 : -d / 2);
  return offsets;
}

OptionTable banded_table(BandedOptions& o) {
  const std::vector<Field> diagonals{
      {"diagonals", wholes(o.diagonals, 1, largest_n, "COUNT,..."),
       "Diagonals of random numbers: the main one, then those above and below it in turn"},
      {"offsets", offsets_value(o.offsets), "The diagonals instead: 0 the main one, 1 above it, -1 below it"},
  };
  return {
      .program = papers_name,
      .command = "banded",
      .description =
          "Multiplies a matrix of few diagonals by a vector, y = A x, its diagonals being textures as Krueger and\n"
          "Westermann have them; checks and compares with compressed rows on the processor.",
      .footer = mode_footer(banded_examples),
      .groups = mode_groups(
          o, {{"Problem", joined(problem_fields(o,
                                                "A, square, from a Matrix Market file (coordinate) or .npy instead of "
                                                "random numbers",
                                                "y of the last result, as .npy or .mtx by the name"),
                                 diagonals)},
              {"Variants", {variant_field(o.variant, names_of(solvers::all_banded_variants), "csr")}}})};
}

BandedOptions parse_banded_options(const Texts& arguments) {
  const Parsed<BandedOptions> parsed = parse(arguments, banded_table);
  check_sources(parsed);
  for (const char* name : {"diagonals", "offsets"}) {
    if (!parsed.given(name) || parsed.options.input.empty()) continue;
    refuse_both("--" + std::string(name), "--input " + parsed.options.input);
  }
  if (parsed.given("diagonals") && parsed.given("offsets")) refuse_both("--diagonals", "--offsets");
  return parsed.options;
}

int run_banded(const ModeInvocation& invocation) {
  const BandedOptions options = parse_banded_options(invocation.arguments);
  return run_mode(Banded(options), options, banded_table, invocation);
}

}  // namespace glinpack::app
