#include "app/model/forecast.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "app/model/links.hpp"

namespace glinpack::app::model {

namespace {

Index first_piece_of(const Distribution& distribution, Index trailing) { return std::min(distribution.nb, trailing); }

class Passes {
 public:
  Passes(const MachineModel& machine, const Problem& problem)
      : machine_(machine),
        problem_(problem),
        distribution_(problem.distribution()),
        links_(machine, problem),
        free_(static_cast<std::size_t>(problem.grid.columns), 0.0),
        entered_(free_),
        arrival_(free_) {
    const RunParts parts = problem.parameters.parts;
    computes_ = parts != RunParts::messages;
    sends_ = parts != RunParts::compute;
    looks_ahead_ = computes_ && problem.parameters.lookahead > 0;
  }

  Forecast run() {
    const Index passes = distribution_.passes();
    for (Index k = 0; k < passes; ++k) {
      const bool is_started = looks_ahead_ && k > 0;
      if (!is_started) start_panel(k);
      next_panel_.reset();
      for (int q = 0; q < problem_.grid.columns; ++q) column_in_pass(k, q, looks_ahead_ && k + 1 < passes);
      if (next_panel_) send_l(k + 1, *next_panel_);
    }
    return finished();
  }

 private:
  // The rank of a process column with most rows from a block row on.
  PassPlan plan_of(Index k, Index block, int column) const {
    return plan_pass(distribution_, k, {static_cast<int>(block % problem_.grid.rows), column});
  }

  double time(Work work, const Amounts& amounts) {
    if (!computes_) return 0;
    const double seconds = machine_.seconds(work, amounts);
    busy_[work] += seconds;
    return seconds;
  }

  // Of the panel of pass k: its factors, with the messages in which its ranks agree on pivots.
  double panel(Index k, const PassPlan& plan) {
    const ByWork<Amounts> work = work_in_pass(problem_, plan);
    const Work place = problem_.panel_on_device() ? Work::panel_device : Work::panel_host;
    const double messages = sends_ ? links_.panel_messages(distribution_.pass_width(k)) : 0;
    // with local pivoting the others go on from U11 when the pivot rank is done
    const bool in_turn = problem_.grid.rows > 1 && problem_.parameters.pivoting == Pivoting::local;
    return (in_turn ? 2 : 1) * time(place, work[place]) + messages;
  }

  // L between a device and its host, one way.
  double transfer_of_l(const PassPlan& plan) {
    if (!problem_.arrangement.on_device) return 0;
    return time(Work::transfer, {0, bytes_of_l(problem_, plan), 1});
  }

  // Without look-ahead, or before the first pass.
  void start_panel(Index k) {
    const int owner = static_cast<int>(k % problem_.grid.columns);
    double& free = free_[static_cast<std::size_t>(owner)];
    const PassPlan plan = plan_of(k, k, owner);
    if (computes_ && leaves_device()) free += transfer_of_l(plan);
    free += panel(k, plan);
    entered_ = free_;
    send_l(k, free);
  }

  // Panels of the host, and those that others need, cross from the device to host memory.
  bool leaves_device() const { return !problem_.panel_on_device() || problem_.grid.columns > 1; }

  // L on its way to the other process columns, and there to their devices.
  void send_l(Index k, double begin) {
    const int owner = static_cast<int>(k % problem_.grid.columns);
    const PassPlan plan = plan_of(k, k, owner);
    const double bytes = bytes_of_l(problem_, plan);
    // without look-ahead the root's column goes on to its rows and U12 at once
    const double beside = looks_ahead_ ? 0 : links_.swap_messages(plan.width, plan.trailing_columns);
    arrival_ = sends_ ? links_.broadcast_along_row(owner, begin, bytes, entered_, beside)
                      : std::vector<double>(arrival_.size(), begin);
    for (std::size_t q = 0; q < arrival_.size(); ++q) {
      const bool has_it = static_cast<int>(q) == owner && problem_.panel_on_device();
      if (!has_it) arrival_[q] += transfer_of_l(plan);
    }
  }

  void column_in_pass(Index k, int column, bool ahead) {
    const auto q = static_cast<std::size_t>(column);
    const PassPlan plan = plan_of(k, k + 1, column);
    const ByWork<Amounts> work = work_in_pass(problem_, plan);
    double now = std::max(free_[q], sends_ || owns(k, column) ? arrival_[q] : 0.0);
    now = swapped_and_normalized(k, column, now);
    const bool has_next = ahead && owns(k + 1, column);
    entered_[q] = now;
    if (!has_next) {
      free_[q] = now + time(Work::reduce, work[Work::reduce]);
      return;
    }
    PassPlan first = plan;
    first.trailing_columns = first_piece_of(distribution_, plan.trailing_columns);
    PassPlan rest = plan;
    rest.trailing_columns -= first.trailing_columns;
    Amounts ahead_of_rest = work_in_pass(problem_, first)[Work::reduce];
    ahead_of_rest.steps = 0;  // a pass has one
    now += time(Work::reduce, ahead_of_rest);
    const double reduction = time(Work::reduce, work_in_pass(problem_, rest)[Work::reduce]);
    const PassPlan next = plan_of(k + 1, k + 1, column);
    const double down = leaves_device() ? transfer_of_l(next) : 0;
    if (problem_.panel_on_device()) {  // in the device's order; the copy goes beside what follows
      const double factors = now + panel(k + 1, next);
      next_panel_ = factors + down;
      free_[q] = factors + reduction;
    } else if (problem_.arrangement.in_background) {  // the device goes on while the host has the panel
      next_panel_ = now + down + panel(k + 1, next);
      free_[q] = now + down + reduction;
    } else {
      next_panel_ = now + down + panel(k + 1, next);
      free_[q] = *next_panel_ + reduction;
    }
    entered_[q] = *next_panel_;
  }

  bool owns(Index k, int column) const { return k % problem_.grid.columns == column; }

  // Rows of A12, A22 exchanged and U12 computed.
  double swapped_and_normalized(Index k, int column, double now) {
    const PassPlan plan = plan_of(k, k, column);  // the pivot's process row: it has U12 in any case
    const ByWork<Amounts> work = work_in_pass(problem_, plan);
    now += time(Work::swap, work[Work::swap]);
    const bool crosses = problem_.grid.rows > 1 && plan.trailing_columns > 0;
    const bool through_host = crosses && problem_.arrangement.on_device;
    const double bytes = work[Work::normalize].bytes;  // U12, once each way
    if (through_host) now += time(Work::transfer, {0, bytes, 2});
    const double normalize = time(Work::normalize, work[Work::normalize]);
    // U12 travels after its arithmetic, or the rows that it is made of before
    const bool before = !problem_.all_compute_u12();
    if (before) now += normalize;
    if (sends_ && crosses) now = links_.swap_in_column(column, now, plan.width, plan.trailing_columns);
    return before ? now : now + normalize;
  }

  double solution() {
    if (problem_.parameters.parts != RunParts::all) return 0;
    double seconds = 0;
    for (Index k = 0; k < distribution_.passes(); ++k) {
      const int owner = static_cast<int>(k % problem_.grid.columns);
      const PassPlan plan = plan_of(k, k, owner);
      seconds += machine_.seconds(Work::substitution, work_in_pass(problem_, plan)[Work::substitution]) +
                 links_.substitution_messages(plan.width);
    }
    return seconds;
  }

  Forecast finished() {
    Forecast result;
    result.factor_seconds = *std::max_element(free_.begin(), free_.end());
    result.solve_seconds = solution();
    result.seconds = result.factor_seconds + result.solve_seconds;
    const auto columns = static_cast<double>(problem_.grid.columns);
    double computing = 0;
    for (const Work work : all_work) {
      result.busy[work] = busy_[work] / columns;
      const bool beside = work == Work::transfer || (work == Work::panel_host && problem_.arrangement.in_background);
      if (!beside) computing += result.busy[work];
    }
    result.exposed_seconds = std::max(0.0, result.factor_seconds - computing);
    const Index n = problem_.parameters.n;
    const double flops = problem_.parameters.parts == RunParts::all ? hpl_flops(n) : factorization_flops(n);
    result.gflops = result.seconds > 0 && computes_ ? flops / result.seconds * 1e-9 : 0;
    return result;
  }

  const MachineModel& machine_;
  const Problem& problem_;
  Distribution distribution_;
  Links links_;
  bool computes_ = true;
  bool sends_ = true;
  bool looks_ahead_ = true;
  std::vector<double> free_;     // of every process column: when it has done what it was given
  std::vector<double> entered_;  // when it looks after the next broadcast
  std::vector<double> arrival_;  // when it has L of the pass
  std::optional<double> next_panel_;
  ByWork<double> busy_;  // sums over process columns
};

}  // namespace

Forecast forecast(const MachineModel& machine, const Problem& problem) { return Passes(machine, problem).run(); }

std::string missing_figure(const MachineModel& machine, const Problem& problem) {
  const auto needs = [&](Work work) {
    const bool across_nodes = problem.grid.size() > problem.arrangement.processes_per_node;
    const bool computes = problem.parameters.parts != RunParts::messages;
    switch (work) {
      case Work::panel_host:
        return computes && !problem.panel_on_device();
      case Work::panel_device:
        return computes && problem.panel_on_device();
      case Work::transfer:
        return computes && problem.arrangement.on_device && !(problem.panel_on_device() && problem.grid.size() == 1);
      case Work::network:
        return across_nodes && problem.parameters.parts != RunParts::compute;
      case Work::memory:
        return problem.grid.size() > 1 && problem.arrangement.processes_per_node > 1 &&
               problem.parameters.parts != RunParts::compute;
      case Work::substitution:
        return problem.parameters.parts == RunParts::all;
      default:
        return computes;
    }
  };
  for (const Work work : all_work) {
    if (needs(work) && !machine.figures[work].cost.known()) return std::string(name_of(work));
  }
  return {};
}

}  // namespace glinpack::app::model
