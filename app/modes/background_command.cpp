#include "app/modes/background_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "app/modes/fit.hpp"
#include "app/modes/mode_run.hpp"
#include "local/background.hpp"

namespace glinpack::app {

namespace {

constexpr int fit_degree = 3;  // of the times over N: dense systems
constexpr const char* alone_on_host = "cpu";
constexpr const char* alone_on_device = "gpu";
constexpr const char* together = "both";

using DeviceSide = std::unique_ptr<BackgroundProblems::OnDevice>;
using Queue = OperationQueue<solvers::Device>;
/// Handed on without being copied.
using Answer = std::shared_ptr<const Numbers>;

Answer answer_of(Numbers numbers) { return std::make_shared<const Numbers>(std::move(numbers)); }

/// The stages' seconds, of a system instead of all.
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

/// A size: its problems, and the device's side of them in the queue.
class BackgroundSize {
 public:
  BackgroundSize(const BackgroundOptions& options, ModeRun& run, const ModeMachine& machine, Queue& queue, Index n)
      : options_(options),
        run_(run),
        queue_(queue),
        n_(n),
        problems_(options.operation->make(options.systems, n, options.seed, machine.threads)),
        device_side_(queue.enqueue(
            [this](solvers::Device& device) { return OnDevice<DeviceSide>{problems_->prepare(device)}; })) {}
  BackgroundSize(const BackgroundSize&) = delete;
  BackgroundSize& operator=(const BackgroundSize&) = delete;
  // operations refer to the problems
  ~BackgroundSize() {
    queue_.release(device_side_);
    const auto last = queue_.enqueue([](solvers::Device&) { return true; });
    queue_.take(last);
  }

  void measure() {
    const double host_seconds = measure_alone(alone_on_host);
    const double device_seconds = measure_alone(alone_on_device);
    measure_together(host_seconds, device_seconds);
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
          clock.measure(solvers::Stage::compute, [&] { timed.answer = answer_of(side->solve(problem)); });
          timed.seconds = clock.times().compute();
          return timed;
        },
        device_side_);
  }

  /// One round: all systems, shared as `balance` says.
  BackgroundTimes solve(LoadBalance& balance) {
    answers_.assign(static_cast<std::size_t>(options_.systems), {});
    return solve_with_background<Answer>(
        queue_, options_.systems, balance,
        [this](Index problem) { return answer_of(problems_->solve_on_host(problem)); },
        [this](Index problem) { return enqueue(problem); },
        [this](Index problem, const Answer& answer, bool) { answers_[static_cast<std::size_t>(problem)] = answer; });
  }

  /// Rounds as --warm-up and --repeat say. An automatic balance goes on with what the round before has taught it.
  void measure_rounds(ModeRecord& record, const LoadBalance& balance) {
    const double flops = record.flops * static_cast<double>(options_.systems);
    solvers::StageClock clock;
    const bool automatic = !options_.ratio && record.variant == together;
    last_balance_ = balance;
    const MeasuredStages all = run_.measure(clock, record.series() + ", " + record.size, flops, [&] {
      if (!automatic) last_balance_ = balance;
      clock.measure(solvers::Stage::compute, [&] { last_ = solve(last_balance_); });
    });
    record.times = of_a_system(all, options_.systems);
    record.check = ModeCheck{options_.operation->against, largest_error(), problems_->tolerance()};
  }

  double measure_alone(const char* variant) {
    constexpr double never = 1e18;
    ModeRecord record = record_of(variant);
    measure_rounds(record, LoadBalance::fixed(variant == alone_on_host ? never : 0, options_.systems));
    const double seconds = record.times.compute.median;
    run_.add(std::move(record));
    return seconds;
  }

  void measure_together(double host_seconds, double device_seconds) {
    ModeRecord record = record_of(together);
    record.settings = options_.ratio ? fmt::format("ratio {:g}", *options_.ratio) : "ratio auto";
    measure_rounds(record, options_.ratio ? LoadBalance::fixed(*options_.ratio, options_.systems)
                                          : LoadBalance::automatic(host_seconds, device_seconds));
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
    run_.print(summary(host_seconds, device_seconds, both_seconds));
  }

  std::string summary(double host, double device, double both) const {
    const auto systems = static_cast<double>(options_.systems);
    return fmt::format(
        "n = {}, average of {} systems: CPU alone {:.4g} s, GPU alone {:.4g} s, both {:.4g} s; speed-up {:.2f} over "
        "the CPU "
        "alone, {:.2f} over the GPU alone\n"
        "  last round: {} on the CPU, {} on the GPU, load ratio {:.3g}; a system: {:.4g} s computing on the CPU, "
        "{:.4g} s "
        "waiting for the GPU, {:.4g} s in all\n",
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

void check_size(const BackgroundOptions& options, Index n, const ModeMachine& machine) {
  const std::string what = std::to_string(options.systems) + " systems of size " + std::to_string(n);
  // what a device has of one lies in host memory where it is software
  const double numbers = options.operation->numbers(n);
  check_host_memory(what, sizeof(float) * numbers * (static_cast<double>(options.systems) + 3));
  const std::string obstacle = options.operation->obstacle(machine.device->description(), n);
  if (!obstacle.empty()) throw InputError(what + ", " + options.operation->name + ": " + obstacle);
}

}  // namespace

int run_background(const ModeInvocation& invocation) {
  const BackgroundOptions options = parse_background_options(invocation.arguments);
  ModeRun run("background", options, to_json(options), invocation);
  check_fit(options.fit, options.n, fit_degree);
  const ModeMachine machine = open_machine(options, true);
  for (const Index n : options.n) check_size(options, n, machine);
  run.begin(machine);
  const int index = machine.device->description().index;
  Queue queue([&] { return std::make_shared<solvers::Device>(index, options.shader_dir); });
  for (const Index n : options.n) BackgroundSize(options, run, machine, queue, n).measure();
  return run.finish(machine, fit_degree);
}

}  // namespace glinpack::app
