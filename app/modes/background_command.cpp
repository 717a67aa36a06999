
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/modes/background_options.hpp"
#include "app/modes/fit.hpp"
#include "app/modes/mode_run.hpp"
#include "app/modes/modes.hpp"
#include "app/topology.hpp"
#include "solvers/queue/background.hpp"

namespace glinpack::app {

namespace {

constexpr int background_fit_degree = 3;  // of the times over N: dense systems
constexpr const char* alone_on_host = "cpu";
constexpr const char* alone_on_device = "gpu";
constexpr const char* together = "both";

using DeviceSide = std::unique_ptr<BackgroundProblems::OnDevice>;
using Queue = OperationQueue<solvers::Device>;
/// Handed on without being copied.
using Answer = std::shared_ptr<const BackgroundAnswer>;

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

/// One size: its problems, and the device's side of them in the queue.
class BackgroundSize {
 public:
  BackgroundSize(const BackgroundOptions& options, ModeRun& run, Queue& queue, const BackgroundSource& source)
      : options_(options),
        run_(run),
        queue_(queue),
        n_(source.n),
        problems_(options.operation->make(source)),
        device_side_(queue.enqueue(
            [this](solvers::Device& device) { return OnDevice<DeviceSide>{problems_->prepare(device)}; })) {}
  BackgroundSize(const BackgroundSize&) = delete;
  BackgroundSize& operator=(const BackgroundSize&) = delete;
  // queued operations refer to the problems
  ~BackgroundSize() {
    queue_.release(device_side_);
    const auto last = queue_.enqueue([](solvers::Device&) { return true; });
    queue_.take(last);
  }

  void measure() {
    const std::optional<double> host_seconds = measure_alone(alone_on_host);
    const std::optional<double> device_seconds = measure_alone(alone_on_device);
    measure_shared_rounds(host_seconds, device_seconds);
  }

  /// The answer of the last system in the last round; empty if a system of that round failed.
  std::optional<DenseMatrix> result() const {
    if (answers_.empty() || !answers_.back()) return std::nullopt;
    return problems_->matrix_of(*answers_.back());
  }

 private:
  ModeRecord record_of(const char* variant) const {
    return {.variant = variant,
            .size = std::to_string(n_),
            .n = n_,
            .parameters = {{"operation", options_.operation->name}, {"systems", options_.systems}},
            .is_rival = variant == alone_on_host,
            .flops = options_.operation->flops(n_)};
  }

  ResultId<TimedAnswer<Answer>> enqueue(Index problem) {
    return queue_.enqueue(
        [problem](solvers::Device&, const DeviceSide& side) {
          solvers::StageClock clock;
          TimedAnswer<Answer> timed;
          clock.measure(solvers::Stage::compute, [&] { timed.answer = shared(side->solve(problem)); });
          timed.seconds = clock.times().compute();
          return timed;
        },
        device_side_);
  }

  /// Solves all systems once, divided between host and device by `balance`.
  BackgroundTimes solve(LoadBalance& balance) {
    answers_.assign(static_cast<std::size_t>(options_.systems), {});
    return solve_with_background<Answer>(
        queue_, options_.systems, balance, [this](Index problem) { return shared(problems_->solve_on_host(problem)); },
        [this](Index problem) { return enqueue(problem); },
        [this](Index problem, const Answer& answer, bool) { answers_[static_cast<std::size_t>(problem)] = answer; });
  }

  /// Runs --warm-up and --repeat rounds. An automatic balance keeps what earlier rounds measured. If a system has no
  /// answer, the record fails and the rounds end.
  void measure_rounds(ModeRecord& record, const LoadBalance& balance) {
    const double flops = record.flops * static_cast<double>(options_.systems);
    solvers::StageClock clock;
    const bool automatic = !options_.ratio && record.variant == together;
    last_balance_ = balance;
    const MeasuredStages all = run_.measure(clock, record.series() + ", " + record.size, flops, [&] {
      if (!record.failure.empty()) return;
      if (!automatic) last_balance_ = balance;
      try {
        clock.measure(solvers::Stage::compute, [&] { last_ = solve(last_balance_); });
      } catch (const NoAnswer& error) {
        record.failure = error.what();
        answers_.clear();
      }
    });
    if (!record.failure.empty()) return;
    record.times = of_a_system(all, options_.systems);
    record.check = ModeCheck{options_.operation->against, largest_error(), problems_->tolerance()};
  }

  /// Seconds per system; empty if one has no answer.
  std::optional<double> measure_alone(const char* variant) {
    constexpr double never = 1e18;
    ModeRecord record = record_of(variant);
    measure_rounds(record, LoadBalance::fixed(variant == alone_on_host ? never : 0, options_.systems));
    std::optional<double> seconds;
    if (record.failure.empty()) seconds = record.times.compute.median;
    run_.add(std::move(record));
    return seconds;
  }

  void measure_shared_rounds(std::optional<double> host_seconds, std::optional<double> device_seconds) {
    ModeRecord record = record_of(together);
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
      const double error = problems_->error_of(problem, *answers_[static_cast<std::size_t>(problem)]);
      if (!std::isfinite(error)) return error;
      largest = std::max(largest, error);
    }
    return largest;
  }

  const BackgroundOptions& options_;
  ModeRun& run_;
  Queue& queue_;
  Index n_;
  std::unique_ptr<BackgroundProblems> problems_;
  ResultId<OnDevice<DeviceSide>> device_side_;
  std::vector<Answer> answers_;
  BackgroundTimes last_;
  LoadBalance last_balance_ = LoadBalance::fixed(0, 0);
};

/// The matrix A of every system; empty without --input.
std::vector<float> read_input(const BackgroundOptions& options, Index& n) {
  if (options.input.empty()) return {};
  const DenseMatrix matrix = read_matrix(options.input, view_node().available_memory);
  check_single_precision(options.input, matrix.elements, matrix.columns);
  n = matrix.rows;
  for (Index i = 0; i < n && options.operation->tridiagonal; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (std::abs(i - j) <= 1 || matrix.elements[static_cast<std::size_t>(i * n + j)] == 0) continue;
      throw InputError(fmt::format(
          "--input {}: row {}, column {}: the element is not on one of the three diagonals; a tridiagonal matrix is "
          "expected by --operation tridiagonal",
          options.input, i + 1, j + 1));
    }
  }
  std::vector<float> elements;
  for (const double element : matrix.elements) elements.push_back(static_cast<float>(element));
  return elements;
}

void check_size(const BackgroundOptions& options, Index n, const ModeMachine& machine) {
  const std::string what = std::to_string(options.systems) + " systems of size " + std::to_string(n);
  // software OpenGL holds its copy of a problem in host memory
  const double numbers = options.operation->numbers(n);
  check_host_memory(what, sizeof(float) * numbers * (static_cast<double>(options.systems) + 3));
  const std::string obstacle = options.operation->obstacle(machine.device->description(), n);
  if (!obstacle.empty()) throw InputError(what + ", " + options.operation->name + ": " + obstacle);
}

}  // namespace

int run_background(const ModeInvocation& invocation) {
  const BackgroundOptions options = parse_background_options(invocation.arguments);
  check_matrix_name(options.output);
  ModeRun run("background", options, to_json(options, background_table), invocation);
  BackgroundSource source{.count = options.systems, .seed = options.seed};
  source.matrix = read_input(options, source.n);
  const std::vector<Index> orders = options.input.empty() ? options.n : std::vector<Index>{source.n};
  check_fit(options.fit, orders, background_fit_degree);
  const ModeMachine machine = open_machine(options, true);
  for (const Index n : orders) check_size(options, n, machine);
  run.begin(machine);
  source.threads = machine.threads;
  const int index = machine.device->description().index;
  Queue queue([&] { return std::make_shared<solvers::Device>(index, options.shader_dir); });
  std::optional<DenseMatrix> result;
  for (const Index n : orders) {
    source.n = n;
    BackgroundSize size(options, run, queue, source);
    size.measure();
    if (!options.output.empty()) result = size.result();
  }
  if (result) run.write_result([&](std::ostream& out) { write_matrix(out, options.output, *result); });
  return run.finish(machine, background_fit_degree);
}

}  // namespace glinpack::app
