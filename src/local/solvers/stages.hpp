// The stages of a computation on a device, timed apart, since the papers count packing and transfer or leave them out.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace glinpack::solvers {

/// pack: the host puts elements in the order of texels; upload: to the device; compute; download: from the device;
/// unpack: back into rows.
enum class Stage : std::uint8_t { pack, upload, compute, download, unpack };

inline constexpr std::array all_stages{Stage::pack, Stage::upload, Stage::compute, Stage::download, Stage::unpack};

std::string_view name_of(Stage stage);  // "pack", ...

/// Seconds, summed over the intervals of each stage.
struct StageTimes {
  std::array<double, all_stages.size()> seconds{};

  double of(Stage stage) const { return seconds[static_cast<std::size_t>(stage)]; }
  double& of(Stage stage) { return seconds[static_cast<std::size_t>(stage)]; }
  /// Without packing and transfer; with transfer; with both.
  double compute() const { return of(Stage::compute); }
  double with_transfer() const { return of(Stage::upload) + of(Stage::compute) + of(Stage::download); }
  double with_all() const { return with_transfer() + of(Stage::pack) + of(Stage::unpack); }
};

/// An interval on the clock, in seconds since it was made.
struct StageInterval {
  Stage stage = Stage::compute;
  double start = 0;
  double end = 0;
};

/// Not thread-safe. Stages do not lie within each other.
class StageClock {
 public:
  /// Times body(), which returns when its work is done, not merely begun.
  template <class Body>
  void measure(Stage stage, Body&& body) {
    const double start = now();
    std::forward<Body>(body)();
    intervals_.push_back({stage, start, now()});
  }
  /// Forgets what was measured; the clock goes on.
  void clear() { intervals_.clear(); }

  StageTimes times() const;
  const std::vector<StageInterval>& intervals() const { return intervals_; }

 private:
  double now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - epoch_).count(); }

  std::chrono::steady_clock::time_point epoch_ = std::chrono::steady_clock::now();
  std::vector<StageInterval> intervals_;
};

}  // namespace glinpack::solvers
