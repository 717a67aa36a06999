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
  BackgroundSize(const BackgroundOptions& options, ModeRun& run, Queue& queue, const BackgroundSource& source)
      : options_(options),
        run_(run),
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

  void measure() {
    const std::optional<double> host_seconds = measure_alone(host_alone);
    const std::optional<double> device_seconds = measure_alone(device_alone);
    measure_together(host_seconds, device_seconds);
  }

  /// The answer of the last system in the last round; empty if a system of that round failed.
  std::optional<DenseMatrix> result() const {
    if (answers_.empty() || !answers_.back()) return std::nullopt;
    return problems_.matrix_of(*answers_.back());
  }

 private:
  ModeRecord record_of(const char* variant) const {
    return {.variant = variant,
            .size = std::to_string(n_),
            .n = n_,
            .parameters = {{"operation", options_.operation->name}, {"systems", options_.systems}},
            .is_rival = variant == host_alone,
            .flops = options_.operation->flops(n_)};
  }

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

  /// Solves all systems once, divided between host and device by `balance`.
  BackgroundTimes solve(LoadBalance& balance) {
    answers_.assign(static_cast<std::size_t>(options_.systems), {});
    return solve_with_background<Answer>(
        queue_, options_.systems, balance, [this](Index problem) { return shared(problems_.solve_on_host(problem)); },
        [this](Index problem) { return enqueue(problem); },
        [this](Index problem, const Answer& answer, bool) { answers_[static_cast<std::size_t>(problem)] = answer; });
  }

  /// Runs --warm-up and --repeat rounds. An automatic balance keeps what earlier rounds measured. If a system has no
  /// answer, the record fails and the rounds end.
  void measure_rounds(ModeRecord& record, const LoadBalance& balance) {
    const bool automatic = !options_.ratio && record.variant == host_and_device;
    last_balance_ = balance;
    const double flops_of_a_system = record.flops;
    record.flops *= static_cast<double>(options_.systems);
    solvers::StageClock clock;
    run_.time(record, clock, [&] {
      if (!automatic) last_balance_ = balance;
      clock.measure(solvers::Stage::compute, [&] { last_ = solve(last_balance_); });
    });
    record.flops = flops_of_a_system;
    if (!record.failure.empty()) return answers_.clear();
    record.times = of_a_system(std::move(record.times), options_.systems);
    record.check = ModeCheck{options_.operation->against, largest_error(), problems_.tolerance};
  }

  /// Seconds per system; empty if one has no answer.
  std::optional<double> measure_alone(const char* variant) {
    constexpr double never = 1e18;
    ModeRecord record = record_of(variant);
    measure_rounds(record, LoadBalance::fixed(variant == host_alone ? never : 0, options_.systems));
    std::optional<double> seconds;
    if (record.failure.empty()) seconds = record.times.compute.median;
    run_.add(std::move(record));
    return seconds;
  }

  void measure_together(std::optional<double> host_seconds, std::optional<double> device_seconds) {
    ModeRecord record = record_of(host_and_device);
    record.settings = options_.ratio ? fmt::format("ratio {:g}", *options_.ratio) : "ratio auto";
    const bool known = host_seconds && device_seconds;
    measure_rounds(record, options_.ratio ? LoadBalance::fixed(*options_.ratio, options_.systems)
                           : known        ? LoadBalance::automatic(*host_seconds, *device_seconds)
                                          : LoadBalance::automatic(1, 1));
    if (!record.failure.empty()) return run_.add(std::move(record));
    const auto systems = static_cast<double>(options_.systems);
    record.parameters.update({{"on_cpu", options_.systems - last_.on_device},
                              {"on_gpu", last_.on_device},
                              {"ratio", last_balance_.ratio()},
                              {"ratios", last_balance_.history()},
                              {"cpu_seconds", last_.host / systems},
                              {"waiting_seconds", last_.waiting / systems},
                              {"total_seconds", last_.total / systems}});
    const double both_seconds = record.times.compute.median;
    run_.add(std::move(record));
    if (known) run_.print(summary(*host_seconds, *device_seconds, both_seconds));
  }

  std::string summary(double host, double device, double both) const {
    const auto systems = static_cast<double>(options_.systems);
    return fmt::format(
        "n = {}, average of {} systems: CPU alone {:.4g} s, GPU alone {:.4g} s, both {:.4g} s; speed-up {:.2f} over "
        "the CPU alone, {:.2f} over the GPU alone\n"
        "  last round: {} on the CPU, {} on the GPU, load ratio {:.3g}; a system: {:.4g} s computing on the CPU, "
        "{:.4g} s waiting for the GPU, {:.4g} s in all\n",
        n_, options_.systems, host, device, both, host / both, device / both, options_.systems - last_.on_device,
        last_.on_device, last_balance_.ratio(), last_.host / systems, last_.waiting / systems, last_.total / systems);
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
  ModeRun& run_;
  Queue& queue_;
  Index n_;
  BackgroundProblems problems_;
  ResultId<OnDevice<DeviceSide>> device_side_;
  std::vector<Answer> answers_;
  BackgroundTimes last_;
  LoadBalance last_balance_ = LoadBalance::fixed(0, 0);
};

/// The host alone, the device alone, and both.
class Background final : public Mode {
 public:
  explicit Background(const BackgroundOptions& options) : options_(options) {}

  void prepare() override {
    if (options_.input.empty()) return;
    const DenseMatrix matrix = read_elements(options_.input);
    n_of_input_ = matrix.rows;
    for (Index e = 0; e < matrix.rows * matrix.rows && options_.operation->tridiagonal; ++e) {
      if (matrix.elements[static_cast<std::size_t>(e)] == 0) continue;
      check_on_diagonals(options_.input, e / matrix.rows, e % matrix.rows, " by --operation tridiagonal");
    }
    source_.matrix = converted<float>(matrix.elements);
  }

  std::vector<Index> sizes() const override {
    return options_.input.empty() ? options_.n : std::vector<Index>{n_of_input_};
  }
  std::optional<int> fit_degree() const override { return 3; }  // dense systems
  bool needs_device() const override { return true; }

  void check_size(std::size_t size, const ModeMachine& machine) const override {
    const Index n = sizes()[size];
    const std::string what = std::to_string(options_.systems) + " systems of size " + std::to_string(n);
    // software OpenGL holds its copy of a problem in host memory
    const double numbers = options_.operation->numbers(n);
    check_host_memory(what, sizeof(float) * numbers * (static_cast<double>(options_.systems) + 3));
    check_obstacle(what + ", " + options_.operation->name,
                   options_.operation->obstacle(machine.device->description(), n));
  }

  void begin(ModeRun& run) override {
    source_.count = options_.systems;
    source_.seed = options_.seed;
    source_.threads = run.machine().threads;
    const int device = run.device().description().index;
    queue_ = std::make_unique<Queue>([&] { return std::make_shared<solvers::Device>(device, options_.shader_dir); });
  }

  void measure(std::size_t size, ModeRun& run) override {
    source_.n = sizes()[size];
    BackgroundSize measuring(options_, run, *queue_, source_);
    measuring.measure();
    if (!options_.output.empty()) result_ = measuring.result();
  }

  std::optional<DenseMatrix> result() const override { return result_; }

 private:
  const BackgroundOptions& options_;
  Index n_of_input_ = 0;
  BackgroundSource source_;
  std::unique_ptr<Queue> queue_;
  std::optional<DenseMatrix> result_;
};

}  // namespace

OptionTable background_table(BackgroundOptions& o) {
  const std::vector<Field> more_problem{
      {"systems", whole(o.systems, 1, largest_systems), "Systems of every size"},
      {"operation", operation_value(o.operation), operations_help()},
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

int run_background(const ModeInvocation& invocation) {
  const BackgroundOptions options = parse_background_options(invocation.arguments);
  return run_mode(Background(options), options, background_table, invocation);
}

}  // namespace glinpack::app
