// One rank's timeline: every kernel, transfer, broadcast and wait as an interval. The report, the network-against-
// compute breakdown, the JSON and the trace are all views of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/enumerators.hpp"
#include "base/matrix_view.hpp"
#include "base/non_copyable.hpp"
#include "base/progress_record.hpp"
#include "base/scope_exit.hpp"

namespace glinpack {

/// The role of a rank in a pass (white paper, section 3.1). `none`: outside the passes (substitution, idle ranks).
enum class Role : std::uint8_t { none, pivot, normalize, eliminate, reduce };

/// The resource of an interval. Intervals of a lane never overlap, so their lengths may be added. `copy`: between host
/// and device, overlapping the gpu lane.
enum class Lane : std::uint8_t { cpu, gpu, net, copy };

/// The kind of work of an interval. `transfer`: host to device and back; `refinement`: residuals in double precision
/// for mixed precision; `checksum`: sums of rows, to find wrong numbers (ABFT); `checkpoint`: the state is
/// copied or goes to a disk; `wait`: the host waits for the device.
enum class Phase : std::uint8_t {
  panel,
  swap,
  broadcast_l,
  broadcast_u,
  normalize,
  eliminate,
  reduce,
  transfer,
  substitution,
  refinement,
  checksum,
  checkpoint,
  wait
};

inline constexpr auto all_lanes = values_up_to<Lane::copy>;
inline constexpr auto all_roles = values_up_to<Role::reduce>;
inline constexpr auto all_phases = values_up_to<Phase::wait>;

constexpr std::string_view name_of(Role role) {
  return text_by_value(role, "none", "pivot", "normalize", "eliminate", "reduce");
}
constexpr std::string_view name_of(Lane lane) { return text_by_value(lane, "cpu", "gpu", "net", "copy"); }
constexpr std::string_view name_of(Phase phase) {
  return text_by_value(phase, "panel", "swap", "broadcast L", "broadcast U", "normalize", "eliminate", "reduce",
                       "transfer", "substitution", "refinement", "checksum", "checkpoint", "wait");
}

struct Interval {
  double start = 0;  // seconds since the timeline's restart()
  double end = 0;
  double flops = 0;        // floating-point operations done in it
  std::int64_t bytes = 0;  // moved over the network, or between host and device
  std::int32_t pass = -1;  // -1 outside the passes
  Role role = Role::none;
  Lane lane = Lane::cpu;
  Phase phase = Phase::wait;
  std::int32_t messages = 0;  // received in it, with those bytes

  double seconds() const { return end - start; }
};

// Floating-point operations of the local operations, as BLAS counts them.

/// L11 k x k with a unit diagonal, `columns` right-hand sides.
inline double solve_unit_lower_flops(Index k, Index columns) {
  return static_cast<double>(k) * static_cast<double>(k - 1) * static_cast<double>(columns);
}

inline double product_flops(Index rows, Index columns, Index k) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(k);
}

inline double substitute_flops(Index rows, Index columns) { return product_flops(rows, 1, columns); }

/// P A = L U, A rows x columns (LAPACK getrf): the terms of third order.
inline double lu_flops(Index rows, Index columns) {
  const auto m = static_cast<double>(rows);
  const auto n = static_cast<double>(columns);
  const double k = std::min(m, n);
  return 2 * (m * n * k - (m + n) * k * k / 2 + k * k * k / 3);
}

class Timeline {
 public:
  /// Also records passes, phases and every interval in `progress`, which must outlive the timeline.
  void report_progress_to(ProgressRecord& progress) { progress_ = &progress; }

  /// Drops all intervals and starts the clock at 0.
  void restart() {
    intervals_.clear();
    epoch_ = std::chrono::steady_clock::now();
    leave_passes();
  }
  /// Seconds since restart().
  double now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - epoch_).count(); }
  /// When restart() was called.
  std::chrono::steady_clock::time_point epoch() const { return epoch_; }
  /// Intervals from here on belong to this pass and role.
  void enter_pass(Index pass, Role role) {
    pass_ = static_cast<std::int32_t>(pass);
    role_ = role;
    if (progress_ != nullptr) progress_->enter_pass(pass_);
  }
  /// The same until the end of the returned object's life; then to the previous pass and role.
  [[nodiscard]] auto in_pass(Index pass, Role role) {
    const std::int32_t pass_before = pass_;
    const Role role_before = role_;
    enter_pass(pass, role);
    return ScopeExit([this, pass_before, role_before] { enter_pass(pass_before, role_before); });
  }
  /// What backends compute and copy until the end of the returned object's life is of this phase.
  [[nodiscard]] auto in_phase(Phase phase) {
    phase_ = phase;
    return ScopeExit([this] { phase_.reset(); });
  }
  /// The phase to record for an operation of phase `usual`: that of in_phase() if there is one. Waits keep theirs.
  Phase phase_of(Phase usual) const { return usual == Phase::wait ? usual : phase_.value_or(usual); }
  void leave_passes() { enter_pass(-1, Role::none); }

  std::int32_t pass() const { return pass_; }
  Role role() const { return role_; }

  /// Adds an interval as it is (device intervals are known only afterwards; the caller keeps pass and role).
  void add(const Interval& interval) {
    intervals_.push_back(interval);
    if (progress_ != nullptr) progress_->step();
  }
  /// Measures from here to the end of the returned object's life, in the current pass and role.
  class Scope : NonCopyable {
   public:
    Scope(Timeline& timeline, const Interval& started) : timeline_(timeline), interval_(started) {}
    ~Scope() {
      interval_.end = timeline_.now();
      timeline_.add(interval_);
    }

   private:
    Timeline& timeline_;
    Interval interval_;
  };
  [[nodiscard]] Scope scope(Lane lane, Phase phase, std::int64_t bytes = 0, double flops = 0,
                            std::int32_t messages = 0) {
    const Phase counted = phase_of(phase);
    resume(counted);
    const double start = now();
    return {*this, Interval{start, start, flops, bytes, pass_, role_, lane, counted, messages}};
  }

  /// Starts an interval of waiting for an earlier operation.
  void resume(Phase phase) const {
    if (progress_ != nullptr) progress_->enter(phase);
  }
  /// Part of a long interval is done. By any thread.
  void step() const {
    if (progress_ != nullptr) progress_->step();
  }

  const std::vector<Interval>& intervals() const { return intervals_; }

 private:
  std::vector<Interval> intervals_;
  std::chrono::steady_clock::time_point epoch_ = std::chrono::steady_clock::now();
  std::int32_t pass_ = -1;
  Role role_ = Role::none;
  std::optional<Phase> phase_;
  ProgressRecord* progress_ = nullptr;
};

}  // namespace glinpack
