#include "solvers/banded/banded.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/input/values.hpp"
#include "app/papers/studies.hpp"
#include "app/program/topology.hpp"

namespace glinpack::app {

namespace {

using solvers::BandedOperation;
using solvers::BandedVariant;
using solvers::SparseEntry;

constexpr const char* banded_examples =
    "  glinpack-papers banded --n 4096 --diagonals 10\n"
    "  glinpack-papers banded --n 4096 --offsets 0,1,-1,64,-64 --json banded.json\n"
    "  glinpack-papers banded --n 4096 --variant diagonals,diagonals-1d --op all\n"
    "  glinpack-papers banded --variant diagonals --n 1024,2048,4096,8192 --fit\n"
    "  glinpack-papers banded --input A.mtx --output y.npy\n";

FieldValue offsets_value(std::vector<Index>& offsets) {
  FieldValue value = wholes(offsets, -largest_n, largest_n, "OFFSET,...");
  value.read = [&offsets, read = value.read](const Texts& texts) {
    read(texts);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (std::ranges::count(offsets, offsets[i]) == 1) continue;
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
  Index max_in_row = 0;
  std::vector<float> x = {}, z = {}, expected = {}, computed = {};
  solvers::BandedProduct product = {};  // computed

  /// Completes a problem that has its entries.
  void complete(std::mt19937_64& random) {
    diagonals = solvers::count_joined_diagonals(n, entries);
    std::vector<Index> in_row(static_cast<std::size_t>(n));
    for (const SparseEntry& entry : entries) {
      max_in_row = std::max(max_in_row, ++in_row[static_cast<std::size_t>(entry.row)]);
    }
    x = random_elements<float>(n, random);
    z = random_elements<float>(n, random);
    for (float& element : z) element += 1.5F;  // a divisor from 1 to 2
    expected.resize(x.size());
  }
  std::vector<double> sums_in_double(BandedOperation operation) const {
    std::vector<double> sums(x.size());
    for (const SparseEntry& entry : entries) {
      sums[static_cast<std::size_t>(entry.row)] +=
          double{entry.value} * double{x[static_cast<std::size_t>(entry.column)]};
    }
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = solvers::applied(operation, sums[i], double{z[i]});
    return sums;
  }
  /// `difference`, over max |a| max |x| op max |z|; tolerance() of the longest row, and of op, bounds it.
  ModeCheck check(const char* against, BandedOperation operation, double difference) const {
    double largest_a = 0;
    for (const SparseEntry& entry : entries) largest_a = std::max(largest_a, std::abs(double{entry.value}));
    double scale = largest_a * largest_magnitude(x);
    if (operation == BandedOperation::times) scale *= largest_magnitude(z);
    if (operation == BandedOperation::plus || operation == BandedOperation::minus) scale += largest_magnitude(z);
    const Index terms = max_in_row + (operation == BandedOperation::none ? 0 : 1);
    return {against, scale > 0 ? difference / scale : difference, tolerance<float>(terms)};
  }
};

/// The diagonals of a matrix of order n: those of --offsets, or of each number of --diagonals. Ascending.
std::vector<std::vector<Index>> offsets_of(const BandedOptions& o, Index n) {
  const std::string order = "a matrix of order " + std::to_string(n);
  for (const Index offset : o.offsets) {
    if (std::abs(offset) < n) continue;
    throw InputError("--offsets: " + order + " has no diagonal " + std::to_string(offset) + "; they go from " +
                     std::to_string(1 - n) + " to " + std::to_string(n - 1));
  }
  std::vector<std::vector<Index>> all;
  if (!o.offsets.empty()) all.push_back(o.offsets);
  for (const Index count : o.offsets.empty() ? o.diagonals : std::vector<Index>{}) {
    if (count > 2 * n - 1) {
      throw InputError("--diagonals " + std::to_string(count) + ": " + order + " has no more than " +
                       std::to_string(2 * n - 1));
    }
    all.push_back(offsets_around_main(count));
  }
  for (std::vector<Index>& offsets : all) std::ranges::sort(offsets);
  return all;
}

/// Symmetric, with a diagonal that exceeds the sum of the magnitudes beside it by 1: positive definite.
void make_definite(BandedProblem& problem) {
  std::map<std::pair<Index, Index>, float> elements;
  for (const SparseEntry& entry : problem.entries) {
    if (entry.row < entry.column) elements[{entry.row, entry.column}] = entry.value;
  }
  std::vector<float> sums(static_cast<std::size_t>(problem.n), 1.0F);
  std::map<std::pair<Index, Index>, float> all;
  for (const auto& [place, value] : elements) {
    all[place] = all[{place.second, place.first}] = value;
    sums[static_cast<std::size_t>(place.first)] += std::abs(value);
    sums[static_cast<std::size_t>(place.second)] += std::abs(value);
  }
  for (Index i = 0; i < problem.n; ++i) all[{i, i}] = sums[static_cast<std::size_t>(i)];
  problem.entries.clear();
  for (const auto& [place, value] : all) problem.entries.push_back({place.first, place.second, value});
}

BandedProblem random_problem(Index n, const std::vector<Index>& offsets, std::uint64_t seed, bool definite) {
  BandedProblem problem{.n = n};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  for (Index row = 0; row < n; ++row) {
    for (const Index offset : offsets) {
      if (row + offset < 0 || row + offset >= n) continue;
      problem.entries.push_back({row, row + offset, uniform(random)});
    }
  }
  if (definite) make_definite(problem);
  problem.complete(random);
  return problem;
}

BandedProblem read_problem(const BandedOptions& o) {
  const CoordinateMatrix matrix = read_coordinates(o.input, view_node().available_memory, MatrixShape::square);
  BandedProblem problem{.n = matrix.rows};
  for (const auto& [row, column, value] : matrix.entries) {
    if (!(std::abs(value) <= std::numeric_limits<float>::max())) {
      throw InputError(o.input + ": row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1) +
                       " is beyond single precision, 3.4e38 at most");
    }
    problem.entries.push_back({row, column, static_cast<float>(value)});
  }
  std::mt19937_64 random(o.seed);
  problem.complete(random);
  return problem;
}

using SharedBanded = std::shared_ptr<BandedProblem>;

Variant product_by_rows(const SharedBanded& p, BandedOperation operation) {
  const auto make = [=](ModeRun& run) {
    const auto team = std::make_shared<ThreadTeam>(run.machine().threads);
    const auto matrix = std::make_shared<solvers::RowCompressedMatrix>();
    return Steps{.load = [=] { *matrix = solvers::compress_rows(p->n, p->entries); },
                 .compute =
                     [=] {
                       solvers::multiply(*matrix, p->x, p->expected, *team);
                       if (operation == BandedOperation::none) return;
                       for (std::size_t i = 0; i < p->z.size(); ++i) {
                         p->expected[i] = solvers::applied(operation, p->expected[i], p->z[i]);
                       }
                     }};
  };
  const auto check = [=](ModeRecord& record) {
    p->computed = p->expected;
    record.check =
        p->check("sums in double precision", operation, largest_difference(p->sums_in_double(operation), p->expected));
  };
  return {.name = "csr", .is_reference = true, .make = make, .check = check};
}

/// `max_diagonals`: no fewer than the matrix has.
Variant product_on_device(const SharedBanded& p, BandedVariant variant, BandedOperation operation, Index n,
                          Index max_diagonals) {
  const auto make = [=](ModeRun& run) {
    p->computed.assign(p->x.size(), 0.0F);
    p->product = {p->n, p->entries, p->x, p->computed, operation, p->z};
    return make_banded_product(run.device(), p->product, variant);
  };
  const auto check = [=](ModeRecord& record) {
    record.check = p->check("compressed rows", operation, largest_difference(p->expected, p->computed));
  };
  const auto refusal = [=](const DeviceDescription& device) {
    return banded_obstacle(device, n, max_diagonals, variant);
  };
  return {.name = std::string(name_of(variant)), .make = make, .check = check, .refusal = refusal};
}

/// A x = b, b being the problem's x: by rows on the processor, or on the device.
Variant solution(const SharedBanded& p, bool on_device) {
  const auto system = std::make_shared<solvers::BandedSystem>();
  const auto make = [=](ModeRun& run) {
    p->computed.assign(p->x.size(), 0.0F);
    *system = {.n = p->n, .entries = p->entries, .b = p->x, .x = p->computed};
    if (on_device) return make_banded_solver(run.device(), *system);
    const auto team = std::make_shared<ThreadTeam>(run.machine().threads);
    const auto matrix = std::make_shared<solvers::RowCompressedMatrix>();
    return Steps{.load = [=] { *matrix = solvers::compress_rows(p->n, p->entries); },
                 .compute = [=] { solvers::solve_by_rows(*matrix, *system, *team); }};
  };
  const auto check = [=](ModeRecord& record) {
    record.parameters["iterations"] = system->iterations;
    std::vector<double> residual(p->x.begin(), p->x.end());
    for (const SparseEntry& entry : p->entries) {
      residual[static_cast<std::size_t>(entry.row)] -=
          double{entry.value} * double{p->computed[static_cast<std::size_t>(entry.column)]};
    }
    double square = 0, right = 0;
    for (std::size_t i = 0; i < residual.size(); ++i) {
      square += residual[i] * residual[i];
      right += double{p->x[i]} * double{p->x[i]};
    }
    // rounding of the residual in single precision, beside the tolerance of the iteration
    record.check = ModeCheck{"the equations, by ||b - A x|| / ||b||", std::sqrt(square / right),
                             system->tolerance + tolerance<float>(p->max_in_row)};
  };
  return {.name = on_device ? "cg" : "csr", .is_reference = !on_device, .make = make, .check = check};
}

/// The problem in `p`, which `fill` makes. A record's diagonals are known when it is filled.
Problem banded_problem(const BandedOptions& o, const SharedBanded& p, BandedOperation operation, Index n,
                       Index max_diagonals, std::function<void()> fill) {
  const std::string what =
      "a matrix of order " + std::to_string(n) + " with " + std::to_string(max_diagonals) + " diagonals";
  if (n > std::numeric_limits<std::int32_t>::max()) {
    throw InputError(what + ": rows are counted with 31 bits; use a smaller N");
  }
  // entries, rows, joined diagonals, staging buffer, and software OpenGL's copy
  constexpr double bytes_of_element = sizeof(SparseEntry) + 8 + 3 * sizeof(float);
  const auto variants = [&o, p, operation, n, max_diagonals](const ModeMachine&) {
    std::vector<Variant> all{o.solve ? solution(p, false) : product_by_rows(p, operation)};
    if (o.solve) all.push_back(solution(p, true));
    for (const BandedVariant variant :
         o.solve ? std::vector<BandedVariant>{} : kinds_among(o.variant, solvers::all_banded_variants)) {
      all.push_back(product_on_device(p, variant, operation, n, max_diagonals));
    }
    const auto elements = static_cast<Index>(p->entries.size());
    for (Variant& variant : all) {
      variant.settings = std::to_string(p->diagonals) + (p->diagonals == 1 ? " diagonal" : " diagonals");
      if (operation != BandedOperation::none) variant.settings += ", " + std::string(name_of(operation)) + " z";
      variant.parameters = {
          {"joined_diagonals", p->diagonals}, {"elements", elements}, {"operation", name_of(operation)}};
      variant.flops = o.solve ? 0 : 2.0 * static_cast<double>(elements);
    }
    return all;
  };
  const std::string size = std::to_string(n);
  return {.n = n,
          .size = operation == BandedOperation::none ? size : size + " " + std::string(name_of(operation)),
          .what = what,
          .bytes = static_cast<double>(n) * static_cast<double>(max_diagonals + 4) * bytes_of_element,
          .fill = std::move(fill),
          .variants = variants};
}

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
  return mode_table(
      o, "banded",
      "Multiplies a matrix of few diagonals by a vector, y = A x, its diagonals being textures as Krueger and\n"
      "Westermann have them; checks and compares with compressed rows on the processor.",
      banded_examples,
      {{"Problem", joined(problem_fields(o,
                                         "A, square, from a Matrix Market file (coordinate) or .npy instead of "
                                         "random numbers",
                                         "y of the last result, as .npy or .mtx by the name"),
                          diagonals)},
       {"Variants",
        {variant_field(o.variant, names_of(solvers::all_banded_variants), "csr"),
         {"op", kinds_value(o.operation, solvers::all_banded_operations),
          "op of y = A x op z, z a vector of random numbers from 1 to 2; none: y = A x; all: each"},
         {"solve", flag(o.solve),
          "Solve A x = b by conjugate gradients instead, on the processor and, as cg, on the device; random "
          "matrices are made symmetric and dominant"}}}});
}

BandedOptions parse_banded_options(const Texts& arguments) {
  const Parsed<BandedOptions> parsed = parse(arguments, banded_table);
  check_sources(parsed);
  for (const char* name : {"diagonals", "offsets"}) {
    if (!parsed.given(name) || parsed.options.input.empty()) continue;
    refuse_both("--" + std::string(name), "--input " + parsed.options.input);
  }
  for (const char* name : {"op", "variant"}) {
    if (parsed.options.solve && parsed.given(name)) refuse_both("--solve", "--" + std::string(name));
  }
  if (parsed.given("diagonals") && parsed.given("offsets")) refuse_both("--diagonals", "--offsets");
  return parsed.options;
}

Study banded_study(const BandedOptions& o) {
  const auto p = std::make_shared<BandedProblem>();
  Study study{.fit_degree = 1};  // with as many diagonals, the work is linear in N
  study.needs_device = !kinds_among(o.variant, solvers::all_banded_variants).empty();
  if (!o.input.empty()) {
    *p = read_problem(o);
    for (const BandedOperation operation : o.operation) {
      study.problems.push_back(banded_problem(o, p, operation, p->n, p->diagonals, {}));
    }
  }
  for (const Index n : o.input.empty() ? o.n : std::vector<Index>{}) {
    for (const std::vector<Index>& offsets : offsets_of(o, n)) {
      const auto fill = [&o, p, n, offsets] { *p = random_problem(n, offsets, o.seed, o.solve); };
      const auto max = static_cast<Index>(offsets.size()) * (o.solve ? 2 : 1);  // with those of the transpose
      for (const BandedOperation operation : o.operation) {
        study.problems.push_back(banded_problem(o, p, operation, n, max, fill));
      }
    }
  }
  study.end = [](ModeRun& run) {
    const std::string rows = records_table(run.records(), "iterations",
                                           {{"variant", -40, [](const ModeRecord& r) { return r.series(); }},
                                            {"size", 14, [](const ModeRecord& r) { return r.size; }},
                                            {"iterations", 12, parameter("/iterations")}});
    if (!rows.empty()) run.print("\nConjugate gradients until ||b - A x|| <= 1e-5 ||b||\n" + rows);
  };
  study.result = [p] { return DenseMatrix{p->n, 1, converted<double>(p->computed)}; };
  return study;
}

}  // namespace glinpack::app
