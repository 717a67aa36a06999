#include "app/papers/background.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "app/input/values.hpp"
#include "app/papers/problem.hpp"
#include "solvers/queue/background.hpp"

namespace glinpack::app {

namespace {

constexpr Index largest_systems = 1'000'000;

constexpr const char* background_examples =
    "  glinpack-papers background --n 256 --systems 30 --ratio auto\n"
    "  glinpack-papers background --n 128,256,384,512 --ratio 2 --json background.json\n"
    "  glinpack-papers background --n 256 --variant raster\n"
    "  glinpack-papers background --operation tridiagonal --n 512 --threads 1\n"
    "  glinpack-papers background --operation gauss-jordan --input A.mtx --output x.npy\n";

std::string operations_help() {
  std::string text = "What a system is:";
  for (const BackgroundOperation& operation : background_operations()) {
    text += (text.back() == ':' ? " " : "; ") + std::string(operation.name) + ", " + operation.summary;
  }
  return text;
}

FieldValue operation_value(const BackgroundOperation*& option) {
  Texts names;
  for (const BackgroundOperation& operation : background_operations()) names.emplace_back(operation.name);
  return word(
      one_of(names), [&option, names](const std::string& t) { option = &background_operations()[choose(t, names)]; },
      [&option] { return std::string(option->name); });
}

double parse_ratio(std::string_view text) {
  double ratio = -1;
  try {
    ratio = parse_real(text);
  } catch (const InputError&) {
    // reported below
  }
  if (ratio < 0) {
    throw InputError(in_quotes(text) +
                     " is not a load ratio; auto, or a number of at least 0 is expected: systems that the processor "
                     "solves while the device solves one");
  }
  return ratio;
}

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
    measured.median *= share;
    measured.least *= share;
    measured.most *= share;
  };
  scale(times.compute);
  scale(times.with_transfer);
  scale(times.with_all);
  for (Measured& stage : times.stages) scale(stage);
  return times;
}

/// The problems of one size, and the device's side of them in the queue.
class BackgroundSize {
 public:
  BackgroundSize(const BackgroundOptions& options, Queue& queue, const BackgroundSource& source)
      : options_(options),
        queue_(queue),
        n_(source.n),
        problems_(options.operation->make(source)),
        device_side_(queue_.enqueue(
            [this](solvers::Device& device) { return OnDevice<DeviceSide>{problems_.prepare(device)}; })) {}
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
    answers_.assign(static_cast<std::size_t>(options_.systems), {});
    last_ = solve_with_background<Answer>(
        queue_, options_.systems, balance_, [this](Index problem) { return shared(problems_.solve_on_host(problem)); },
        [this](Index problem) { return enqueue(problem); },
        [this](Index problem, const Answer& answer, bool) { answers_[static_cast<std::size_t>(problem)] = answer; });
  }

  /// Makes times and flops those of a system, and checks all answers.
  void complete(ModeRecord& record) {
    record.flops /= static_cast<double>(options_.systems);
    record.times = of_a_system(std::move(record.times), options_.systems);
    record.check = ModeCheck{options_.operation->against, largest_error(), problems_.tolerance};
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

  /// The answer of the last system in the last round; empty if it failed.
  std::optional<DenseMatrix> result() const {
    if (answers_.empty() || !answers_.back()) return std::nullopt;
    return problems_.matrix_of(*answers_.back());
  }

 private:
  ResultId<TimedAnswer<Answer>> enqueue(Index problem) {
    return queue_.enqueue(
        [problem](solvers::Device&, const DeviceSide& solve) {
          solvers::StageClock clock;
          TimedAnswer<Answer> timed;
          clock.measure(solvers::Stage::compute, [&] { timed.answer = shared(solve(problem)); });
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
      const double error = problems_.error_of(problem, *answers_[static_cast<std::size_t>(problem)]);
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
  BackgroundSource source = {};
  std::unique_ptr<Queue> queue = {};
  std::unique_ptr<BackgroundSize> size = {};
};

void read_source(const BackgroundOptions& o, BackgroundSource& source) {
  if (o.input.empty()) return;
  const DenseMatrix matrix = read_elements(o.input);
  source.n = matrix.rows;
  for (Index e = 0; e < matrix.rows * matrix.rows && o.operation->tridiagonal; ++e) {
    if (matrix.elements[static_cast<std::size_t>(e)] == 0) continue;
    check_on_diagonals(o.input, e / matrix.rows, e % matrix.rows, " by --operation tridiagonal");
  }
  source.matrix = converted<float>(matrix.elements);
}

}  // namespace

OptionTable background_table(BackgroundOptions& o) {
  const std::vector<Field> more_problem{
      {"systems", whole(o.systems, 1, largest_systems), "Systems of every size"},
      {"operation", operation_value(o.operation), operations_help()},
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
  return {.program = papers_name,
          .command = "background",
          .description =
              "Splits systems between the processor and a device that works in the background, by a load ratio;\n"
              "checks all answers, and compares with the processor alone and the device alone.",
          .footer = mode_footer(background_examples),
          .groups = mode_groups(
              o, {{"Problem", joined(problem_fields(o,
                                                    "A of every system, from a .npy or Matrix Market file, instead of "
                                                    "random numbers",
                                                    "The last system's result, as .npy or .mtx by the name"),
                                     more_problem)}})};
}

BackgroundOptions parse_background_options(const Texts& arguments) {
  const Parsed<BackgroundOptions> parsed = parse(arguments, background_table);
  check_sources(parsed);
  return parsed.options;
}

/// The host alone, the device alone, and both.
Study background_study(const BackgroundOptions& o) {
  const auto s = std::make_shared<BackgroundStudy>();
  read_source(o, s->source);
  s->source.count = o.systems;
  s->source.seed = o.seed;
  s->source.shaders = shaders_of(o);
  Study study;
  for (const Index n : o.input.empty() ? o.n : std::vector<Index>{s->source.n}) {
    const auto variants = [&o, s, n](const ModeMachine&) {
      std::vector<Variant> all;
      for (const std::string name : {host_alone, device_alone, host_and_device}) {
        all.push_back({.name = name,
                       .is_reference = name == host_alone,
                       .make =
                           [s, name](ModeRun&) {
                             s->size->begin(name);
                             return Steps{.compute = [s] { s->size->solve(); }};
                           },
                       .check = [s](ModeRecord& record, ModeRun&) { s->size->complete(record); }});
      }
      all[1].refusal = [&o, n](const DeviceDescription& device) {
        return o.operation->obstacle(device, n, shaders_of(o));
      };
      all[2].settings = o.ratio ? fmt::format("ratio {:g}", *o.ratio) : "ratio auto";
      return all;
    };
    // software OpenGL holds its copy of a problem in host memory
    const auto systems = static_cast<double>(o.systems);
    study.problems.push_back({.n = n,
                              .size = std::to_string(n),
                              .what = std::to_string(o.systems) + " systems of size " + std::to_string(n),
                              .parameters = {{"operation", o.operation->name},
                                             {"systems", o.systems},
                                             {"shaders", o.raster ? "raster" : "compute"}},
                              .flops = o.operation->flops(n) * systems,
                              .bytes = sizeof(float) * o.operation->numbers(n) * (systems + 3),
                              .fill =
                                  [&o, s, n] {
                                    s->size.reset();
                                    s->source.n = n;
                                    s->size = std::make_unique<BackgroundSize>(o, *s->queue, s->source);
                                  },
                              .variants = variants,
                              .end = [s](ModeRun& run) { s->size->print_summary(run); }});
  }
  study.begin = [&o, s](ModeRun& run) {
    s->source.threads = run.machine().threads;
    const int device = run.device().description().index;
    s->queue =
        std::make_unique<Queue>([&o, device] { return std::make_shared<solvers::Device>(device, o.shader_dir); });
  };
  study.result = [s] { return s->size->result(); };
  return study;
}

}  // namespace glinpack::app
