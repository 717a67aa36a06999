// A computation that is repeated and timed: its steps, and the stages of a run. Stages are timed apart, since some
// papers count packing and transfer and others do not.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/enumerators.hpp"
#include "base/measuring.hpp"
#include "base/scope_exit.hpp"

namespace glinpack::solvers {

/// pack: the host puts elements in the order of texels; upload: to the device; compute; download: from the device;
/// unpack: back into rows.
enum class Stage : std::uint8_t { pack, upload, compute, download, unpack };

inline constexpr auto all_stages = values_up_to<Stage::unpack>;

constexpr std::string_view name_of(Stage stage) {
  return text_by_value(stage, "pack", "upload", "compute", "download", "unpack");
}

/// Seconds, summed over the measurements of each stage.
struct StageTimes {
  std::array<double, all_stages.size()> seconds{};

  double of(Stage stage) const { return seconds[static_cast<std::size_t>(stage)]; }
  double& of(Stage stage) { return seconds[static_cast<std::size_t>(stage)]; }
  /// Without packing and transfer; with transfer; with both.
  double compute() const { return of(Stage::compute); }
  double with_transfer() const { return of(Stage::upload) + of(Stage::compute) + of(Stage::download); }
  double with_all() const { return with_transfer() + of(Stage::pack) + of(Stage::unpack); }
};

/// Not thread-safe. Stages are not nested.
class StageClock {
 public:
  /// Times body(), which must return or throw only after its work is done. Returns its result.
  template <class Body>
  auto measure(Stage stage, Body&& body) {
    const ScopeExit add([this, stage, start = steady_seconds()] { times_.of(stage) += steady_seconds() - start; });
    return std::forward<Body>(body)();
  }
  void clear() { times_ = {}; }
  const StageTimes& times() const { return times_; }

 private:
  StageTimes times_;
};

/// A computation has no result, because of a singular matrix or a zero pivot.
class NoResult : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What is repeated: from the operands that it was made for, on the host, to the results. A step may be missing. A
/// step throws NoResult. The device and the views of operands and results must outlive the steps; the elements may
/// change between runs.
struct Steps {
  std::function<void()> load = {};
  std::function<void()> compute = {};
  std::function<void()> store = {};
  /// The clock on which the steps measure their stages. Null: they are measured as pack, compute and unpack.
  StageClock* clock = nullptr;

  void run() const {
    for (const std::function<void()>* step : {&load, &compute, &store}) {
      if (*step) (*step)();
    }
  }
};

/// The steps of an object, which they own.
template <class Solver>
Steps steps_of(StageClock& clock, std::shared_ptr<Solver> solver) {
  return {.load = [solver] { solver->load(); },
          .compute = [solver] { solver->compute(); },
          .store = [solver] { solver->store(); },
          .clock = &clock};
}

}  // namespace glinpack::solvers
