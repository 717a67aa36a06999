#include "solvers/queue/background.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "app/input/values.hpp"
#include "app/papers/studies.hpp"
#include "base/row_interchanges.hpp"
#include "base/scaled_residual.hpp"
#include "base/timeline.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::app {

namespace {

constexpr Index largest_systems = 1'000'000;

constexpr const char* background_examples =
    "  glinpack-papers background --n 256 --systems 30 --ratio auto\n"
    "  glinpack-papers background --n 128,256,384,512 --ratio 2 --json background.json\n"
    "  glinpack-papers background --n 256 --variant raster\n"
    "  glinpack-papers background --operation matmul --n 512 --threads 1\n";

double parse_ratio(std::string_view text) {
  if (const std::optional<double> ratio = real_of(text); ratio && *ratio >= 0) return *ratio;
  throw InputError(in_quotes(text) +
                   " is not a load ratio; auto, or a number of at least 0 is expected: systems that the processor "
                   "solves while the device solves one");
}

// ---- Problems

/// A problem: two matrices, row-major.
struct Pair {
  std::vector<float> left, right;
};

/// A problem's result. Of factors, row i of P A is row row_order[i] of A; LAPACK's factors are column-major.
struct BackgroundAnswer {
  std::vector<float> numbers = {};
  std::vector<Index> row_order = {};
  bool by_columns = false;
};

/// The problems of a size. Several threads may call the functions at the same time.
struct BackgroundProblems {
  using Solve = std::function<BackgroundAnswer(const Pair&)>;

  std::vector<Pair> pairs = {};
  /// Returns the device's solver. The thread that owns the device creates, uses and destroys it. Solving includes
  /// packing and transfer. It throws NoResult, and std::runtime_error if the device fails.
  std::function<Solve(solvers::Device&, const Pair& first)> prepare = {};
  /// Solves with OpenBLAS or LAPACK. Throws NoResult.
  Solve solve_on_host = {};
  const char* against = nullptr;  // the reference of the error
  /// The error of a host or device answer, to be compared with tolerance; not finite if the answer is not.
  std::function<double(const Pair&, const BackgroundAnswer&)> error_of = {};
  double tolerance = 0;
};

// The paper's variants are drawn.
solvers::EliminationSettings elimination_of(const BackgroundOptions& o) {
  using Variant = solvers::EliminationVariant;
  return {.variant = o.raster ? Variant::double_rows : Variant::compute};
}
solvers::MatmulSettings product_of(const BackgroundOptions& o) {
  using Variant = solvers::MatmulVariant;
  return {.variant = o.raster ? Variant::single_pass : Variant::compute};
}

std::size_t at(Index problem) { return static_cast<std::size_t>(problem); }

/// A vector of elements in [-1, 1), to compare matrices by their product with it (R. Freivalds, 1977).
std::vector<double> random_probe(Index n, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> probe(at(n));
  for (double& element : probe) element = uniform(random);
  return probe;
}

/// y_i = the sum of element(i, j) x_j for first(i) <= j < last(i), in double precision.
template <class Element, class First, class Last>
std::vector<double> times_vector(const std::vector<double>& x, Element element, First first, Last last) {
  std::vector<double> y(x.size());
  for (Index i = 0; i < static_cast<Index>(x.size()); ++i) {
    for (Index j = first(i); j < last(i); ++j) y[at(i)] += static_cast<double>(element(i, j)) * x[at(j)];
  }
  return y;
}
/// A x.
std::vector<double> times_vector(const std::vector<float>& matrix, Index n, const std::vector<double>& x) {
  const RowMajorView<const float> a = square_view(matrix, n);
  return times_vector(
      x, [&](Index i, Index j) { return a(i, j); }, [](Index) { return Index{0}; }, [n](Index) { return n; });
}

/// P A = L U, as in the paper's figure 5; downloads the factors. The pair: A in the device's and in LAPACK's layout.
BackgroundProblems factor_problems(const BackgroundOptions& o, Index n) {
  BackgroundProblems problems{.against = "P A v = L (U v) in double precision",
                              .tolerance = solvers::largest_scaled_residual};
  std::mt19937_64 random(o.seed);
  for (Index problem = 0; problem < o.systems; ++problem) {
    std::vector<float> a = random_elements<float>(n * n, random);
    std::vector<float> columns = transposed(a, n, n);
    problems.pairs.push_back({std::move(a), std::move(columns)});
  }
  problems.prepare = [n, settings = elimination_of(o)](solvers::Device& device, const Pair& first) {
    const auto system = std::make_shared<solvers::DenseSystem<float>>();
    const auto set = [n, system](const Pair& pair, std::vector<float>& factors) {
      system->a = square_view(pair.left, n);
      system->factors = square_view(factors, n);
    };
    std::vector<float> unused(at(n * n));
    set(first, unused);
    return [n, system, set, steps = solvers::plu_packed.make(device, *system, settings)](const Pair& pair) {
      BackgroundAnswer answer{.numbers = std::vector<float>(at(n * n))};
      set(pair, answer.numbers);
      steps.run();
      answer.row_order = system->row_order;
      return answer;
    };
  };
  problems.solve_on_host = [n](const Pair& pair) {
    BackgroundAnswer answer{.numbers = pair.right, .by_columns = true};
    std::vector<Index> pivots(at(n));
    check_regular(factorize_on_host<float>({answer.numbers.data(), n, n, n}, pivots), n);
    answer.row_order = row_order_of(pivots);
    return answer;
  };
  // || P A v - L (U v) || / (eps || A || n) in the maximum norm, for v with elements below 1 (R. Freivalds, 1977). It
  // is at most the scaled residual of the factors in `glinpack-papers plu-packed`.
  problems.error_of = [n, probe = random_probe(n, random)](const Pair& pair, const BackgroundAnswer& answer) {
    const float* factors = answer.numbers.data();
    const auto element = [&](Index i, Index j) { return answer.by_columns ? factors[i + j * n] : factors[i * n + j]; };
    const auto zero = [](Index) { return Index{0}; };
    const auto row = [](Index i) { return i; };
    const auto all = [n](Index) { return n; };
    const std::vector<double> upper = times_vector(probe, element, row, all);
    std::vector<double> product = times_vector(upper, element, zero, row);
    for (std::size_t i = 0; i < product.size(); ++i) product[i] += upper[i];
    const std::vector<double> unordered = times_vector(pair.left, n, probe);
    std::vector<double> expected(unordered.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = unordered[at(answer.row_order[i])];
    return scaled_residual(
        {.residual = largest_difference(expected, product), .a = row_sum_norm(square_view(pair.left, n)), .x = 1},
        epsilon_of(Precision::single), static_cast<double>(n));
  };
  return problems;
}

/// C = A B.
BackgroundProblems product_problems(const BackgroundOptions& o, Index n) {
  BackgroundProblems problems{.against = "A (B v) in double precision", .tolerance = tolerance<float>(n)};
  std::mt19937_64 random(o.seed);
  for (Index problem = 0; problem < o.systems; ++problem) {
    std::vector<float> a = random_elements<float>(n * n, random);
    problems.pairs.push_back({std::move(a), random_elements<float>(n * n, random)});
  }
  problems.prepare = [n, settings = product_of(o)](solvers::Device& device, const Pair& first) {
    const auto product = std::make_shared<solvers::Product<float>>();
    const auto set = [n, product](const Pair& pair, std::vector<float>& c) {
      *product = {square_view(pair.left, n), square_view(pair.right, n), square_view(c, n)};
    };
    std::vector<float> unused(at(n * n));
    set(first, unused);
    return [n, product, set, steps = solvers::make_product(device, *product, settings)](const Pair& pair) {
      BackgroundAnswer answer{.numbers = std::vector<float>(at(n * n))};
      set(pair, answer.numbers);
      steps.run();
      return answer;
    };
  };
  problems.solve_on_host = [n](const Pair& pair) {
    BackgroundAnswer answer{.numbers = std::vector<float>(at(n * n))};
    multiply_on_host<float>(square_view(pair.left, n), square_view(pair.right, n), square_view(answer.numbers, n));
    return answer;
  };
  // Compares C v with A (B v), so that all elements take part. A sum of n elements of C has n times their tolerance,
  // relative to the largest possible product of elements.
  problems.error_of = [n, probe = random_probe(n, random)](const Pair& pair, const BackgroundAnswer& answer) {
    const std::vector<double> expected = times_vector(pair.left, n, times_vector(pair.right, n, probe));
    const double difference = largest_difference(expected, times_vector(answer.numbers, n, probe));
    if (difference == 0) return 0.0;
    return difference / (largest_magnitude(pair.left) * largest_magnitude(pair.right) * static_cast<double>(n));
  };
  return problems;
}

// ---- Runs

constexpr const char* host_alone = "cpu";
constexpr const char* device_alone = "gpu";
constexpr const char* host_and_device = "both";

using DeviceSide = BackgroundProblems::Solve;
using Queue = OperationQueue<solvers::Device>;
using Answer = std::shared_ptr<const BackgroundAnswer>;  // passed on without a copy

Answer shared(BackgroundAnswer answer) { return std::make_shared<const BackgroundAnswer>(std::move(answer)); }

/// The stages' seconds per system.
MeasuredStages of_a_system(MeasuredStages times, Index systems) {
  const double share = 1 / static_cast<double>(systems);
  const auto scale = [share](Measured& measured) {
    for (double* seconds : {&measured.median, &measured.min, &measured.max}) *seconds *= share;
  };
  for (Measured* measured : {&times.compute, &times.with_transfer, &times.with_all}) scale(*measured);
  for (Measured& stage : times.stages) scale(stage);
  return times;
}

/// The problems of one size, and the device's side of them in the queue.
class BackgroundSize {
 public:
  BackgroundSize(const BackgroundOptions& options, Queue& queue, Index n)
      : options_(options),
        queue_(queue),
        n_(n),
        problems_(options.operation == BackgroundOperation::matmul ? product_problems(options, n)
                                                                   : factor_problems(options, n)),
        device_side_(queue_.enqueue([this](solvers::Device& device) {
          return OnDevice<DeviceSide>{problems_.prepare(device, problems_.pairs.front())};
        })) {}
  BackgroundSize(const BackgroundSize&) = delete;
  BackgroundSize& operator=(const BackgroundSize&) = delete;
  // queued operations refer to the problems
  ~BackgroundSize() {
    queue_.release(device_side_);
    const auto last = queue_.enqueue([](solvers::Device&) { return true; });
    queue_.take(last);
  }

  /// Solves all systems once, divided between host and device: the host's alone, the device's alone, or by the ratio.
  /// An automatic balance keeps what earlier rounds measured.
  void begin(const std::string& variant) {
    constexpr double never = 1e18;
    const bool known = host_seconds_ && device_seconds_;
    answers_.clear();
    start_ = variant == host_alone     ? LoadBalance::fixed(never, options_.systems)
             : variant == device_alone ? LoadBalance::fixed(0, options_.systems)
             : options_.ratio          ? LoadBalance::fixed(*options_.ratio, options_.systems)
             : known                   ? LoadBalance::automatic(*host_seconds_, *device_seconds_)
                                       : LoadBalance::automatic(1, 1);
    keeps_balance_ = variant == host_and_device && !options_.ratio;
    balance_ = start_;
  }
  void solve() {
    if (!keeps_balance_) balance_ = start_;
    answers_.assign(at(options_.systems), {});
    last_ = solve_with_background<Answer>(
        queue_, options_.systems, balance_,
        [this](Index problem) { return shared(problems_.solve_on_host(problems_.pairs[at(problem)])); },
        [this](Index problem) { return enqueue(problem); },
        [this](Index problem, const Answer& answer, bool) { answers_[at(problem)] = answer; });
  }

  /// Makes times and flops those of a system, and checks all answers.
  void complete(ModeRecord& record) {
    record.flops /= static_cast<double>(options_.systems);
    record.times = of_a_system(std::move(record.times), options_.systems);
    record.check = ModeCheck{problems_.against, largest_error(), problems_.tolerance};
    const double seconds = record.times.compute.median;
    if (record.variant == host_alone) host_seconds_ = seconds;
    if (record.variant == device_alone) device_seconds_ = seconds;
    if (record.variant != host_and_device) return;
    const auto systems = static_cast<double>(options_.systems);
    record.parameters.update({{"on_cpu", options_.systems - last_.on_device},
                              {"on_gpu", last_.on_device},
                              {"ratio", balance_.ratio()},
                              {"ratios", balance_.history()},
                              {"cpu_seconds", last_.host / systems},
                              {"waiting_seconds", last_.waiting / systems},
                              {"total_seconds", last_.total / systems}});
    both_seconds_ = seconds;
  }

  void print_summary(ModeRun& run) const {
    if (host_seconds_ && device_seconds_ && both_seconds_) {
      run.print(summary(*host_seconds_, *device_seconds_, *both_seconds_));
    }
  }

 private:
  ResultId<TimedAnswer<Answer>> enqueue(Index problem) {
    return queue_.enqueue(
        [&pair = problems_.pairs[at(problem)]](solvers::Device&, const DeviceSide& solve) {
          solvers::StageClock clock;
          TimedAnswer<Answer> timed;
          clock.measure(solvers::Stage::compute, [&] { timed.answer = shared(solve(pair)); });
          timed.seconds = clock.times().compute();
          return timed;
        },
        device_side_);
  }

  std::string summary(double host, double device, double both) const {
    const auto systems = static_cast<double>(options_.systems);
    return fmt::format(
        "n = {}, average of {} systems: CPU alone {:.4g} s, GPU alone {:.4g} s, both {:.4g} s; speed-up {:.2f} over "
        "the CPU alone, {:.2f} over the GPU alone\n"
        "  last round: {} on the CPU, {} on the GPU, load ratio {:.3g}; a system: {:.4g} s computing on the CPU, "
        "{:.4g} s waiting for the GPU, {:.4g} s in all\n",
        n_, options_.systems, host, device, both, host / both, device / both, options_.systems - last_.on_device,
        last_.on_device, balance_.ratio(), last_.host / systems, last_.waiting / systems, last_.total / systems);
  }

  double largest_error() const {
    double largest = 0;
    for (Index problem = 0; problem < options_.systems; ++problem) {
      const double error = problems_.error_of(problems_.pairs[at(problem)], *answers_[at(problem)]);
      if (!std::isfinite(error)) return error;
      largest = std::max(largest, error);
    }
    return largest;
  }

  const BackgroundOptions& options_;
  Queue& queue_;
  Index n_;
  BackgroundProblems problems_;
  ResultId<OnDevice<DeviceSide>> device_side_;
  std::vector<Answer> answers_;
  BackgroundTimes last_;
  LoadBalance start_ = LoadBalance::fixed(0, 0);
  LoadBalance balance_ = LoadBalance::fixed(0, 0);
  bool keeps_balance_ = false;
  std::optional<double> host_seconds_, device_seconds_, both_seconds_;  // of a system
};

/// The queue, and the problems of the size that is measured.
struct BackgroundStudy {
  std::unique_ptr<Queue> queue = {};
  std::unique_ptr<BackgroundSize> size = {};
};

}  // namespace

OptionTable background_table(BackgroundOptions& o) {
  const std::vector<Field> problem{
      size_field(o),
      seed_field(o),
      {"systems", whole(o.systems, 1, largest_systems), "Systems of every size"},
      {"operation", choice(o.operation, all_background_operations),
       "What a system is: plu-packed, the factors of a matrix of order N; matmul, a product of two matrices of order "
       "N"},
      {"variant",
       word(
           one_of(Texts{"raster", "compute"}),
           [&o](const std::string& text) {
             o.raster = choose(text, Texts{"raster", "compute"}) == 0;
           },
           [&o] { return std::string(o.raster ? "raster" : "compute"); }),
       "Of the device: raster, the paper's fragment shaders with 2x2 packing; compute, compute shaders"},
      {"ratio", or_auto(real(o.ratio, "RATIO", parse_ratio), [&o] { o.ratio.reset(); }),
       "Systems that the processor solves while the device solves one; auto: measured, and adjusted during the run"},
  };
  return mode_table(o, "background",
                    "Splits systems between the processor and a device that works in the background, by a load ratio;\n"
                    "checks all answers, and compares with the processor alone and the device alone.",
                    background_examples, {{"Problem", problem}});
}

BackgroundOptions parse_background_options(const Texts& arguments) {
  return parse(arguments, background_table).options;
}

/// The host alone, the device alone, and both.
Study background_study(const BackgroundOptions& o) {
  const auto s = std::make_shared<BackgroundStudy>();
  const bool products = o.operation == BackgroundOperation::matmul;
  Study study;
  for (const Index n : o.n) {
    const auto variants = [&o, s, n, products](const ModeMachine&) {
      std::vector<Variant> all;
      for (const std::string name : {host_alone, device_alone, host_and_device}) {
        all.push_back({.name = name,
                       .is_reference = name == host_alone,
                       .make =
                           [s, name](ModeRun&) {
                             s->size->begin(name);
                             return Steps{.compute = [s] { s->size->solve(); }};
                           },
                       .check = [s](ModeRecord& record) { s->size->complete(record); }});
      }
      all[1].refusal = [&o, n, products](const DeviceDescription& device) {
        return products ? matmul_obstacle(device, {n, n, n}, product_of(o), Precision::single)
                        : solvers::plu_packed.obstacle(device, n, 0, elimination_of(o));
      };
      all[2].settings = o.ratio ? fmt::format("ratio {:g}", *o.ratio) : "ratio auto";
      return all;
    };
    // software OpenGL holds its copy of a problem in host memory
    const auto systems = static_cast<double>(o.systems);
    study.problems.push_back(
        {.n = n,
         .what = std::to_string(o.systems) + " systems of size " + std::to_string(n),
         .parameters = {{"operation", name_of(o.operation)},
                        {"systems", o.systems},
                        {"shaders", o.raster ? "raster" : "compute"}},
         .flops = systems * (products ? product_flops(n, n, n) : 2 * square(n) * static_cast<double>(n) / 3),
         .bytes = sizeof(float) * 3 * square(n) * (systems + 3),
         .fill =
             [&o, s, n] {
               s->size.reset();
               s->size = std::make_unique<BackgroundSize>(o, *s->queue, n);
             },
         .variants = variants,
         .end = [s](ModeRun& run) { s->size->print_summary(run); }});
  }
  study.begin = [&o, s](ModeRun& run) {
    const int device = run.device().description().index;
    s->queue =
        std::make_unique<Queue>([&o, device] { return std::make_shared<solvers::Device>(device, o.shader_dir); });
  };
  return study;
}

}  // namespace glinpack::app
