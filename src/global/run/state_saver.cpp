#include "run/state_saver.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "watch/stop_request.hpp"

namespace glinpack {

namespace {

// To one checkpoint. Every later one is progress.
constexpr int max_rollbacks = 3;

std::span<std::byte> bytes_of_strip(const auto& strip) {
  return std::as_writable_bytes(std::span(strip.view().data, static_cast<std::size_t>(strip.rows * strip.columns)));
}

}  // namespace

template <class Real>
CheckpointHeader checkpoint_header(const RunParameters& parameters, const Grid& grid,
                                   const CheckpointOptions& options) {
  const Distribution distribution = distribution_of(parameters, grid.shape());
  const Index rows = distribution.local_rows(grid.position()), columns = distribution.stored_columns(grid.position());
  return {.options = options,
          .run = {},
          .at = grid.position(),
          .rows = rows,
          .columns = columns,
          .piece_rows = std::max<Index>(1, matrix_strip_rows(rows, columns)),
          .element = sizeof(Real),
          .state_bytes = parameters.abft ? Checksums<Real>::state_bytes(distribution, grid.position()) : 0};
}

template <class Real>
LoadedState load_checkpoint(Workspace<Real>& workspace, const std::string& file) {
  DeviceMemory<Real>& memory = workspace.context.backend;
  CheckpointReader reader(file);
  LoadedState state{reader.header().pass, {.pivots = reader.read_pivots()}};
  const auto read = [&](std::span<std::byte> piece) {
    const auto bytes = static_cast<std::int64_t>(piece.size());
    const auto scope = workspace.context.timeline().scope(Lane::cpu, Phase::checkpoint, bytes);
    reader.read(piece);
  };
  workspace.for_each_strip([&](const DeviceBlock<Real>& strip, const HostBlock<Real>& on_host, Index /*first*/) {
    read(bytes_of_strip(on_host));
    memory.wait(memory.upload(on_host, strip));
  });
  if (workspace.checksums) {
    std::vector<std::byte> checks(static_cast<std::size_t>(reader.header().state_bytes));
    read(checks);
    workspace.checksums->restore(checks);
  }
  return state;
}

template <class Real>
StateSaver<Real>::StateSaver(const CheckpointPlan& plan, double earlier_seconds, Workspace<Real>& workspace)
    : plan_(plan),
      workspace_(workspace),
      communicator_(workspace.grid.all()),
      timeline_(workspace.context.timeline()),
      header_(checkpoint_header<Real>(workspace.context.parameters, workspace.grid, plan.options)),
      earlier_seconds_(earlier_seconds),
      checkpoints_(communicator_, plan, timeline_, workspace.checkpoint_copy.get()) {
  if (plan.resume) good_ = Good{.file = plan.resume->file};
}

template <class Real>
bool StateSaver<Real>::is_due() const {
  const std::chrono::duration<double> since = Clock::now() - last_;
  return !is_pending() && (checkpoint_requested() || since.count() >= plan_.every);
}

template <class Real>
void StateSaver<Real>::commit() {
  const double begun = timeline_.now();
  const int before = checkpoints_.completed();
  checkpoints_.commit();
  if (checkpoints_.completed() > before) good_ = Good{.file = checkpoints_.last_file(header_.at), .left_at = saved_at_};
  waited_ += timeline_.now() - begun;
}

template <class Real>
void StateSaver<Real>::save(Index passes, const Interchanges& so_far) {
  commit();  // the one before may be pending if a signal ends the run
  const double begun = timeline_.now();
  header_.pass = passes;
  header_.pivots = static_cast<Index>(so_far.pivots.size());
  header_.seconds = all_reduced(communicator_, earlier_seconds_ + timeline_.now(), Reduction::max);
  checkpoints_.begin(header_, so_far.pivots);
  add_matrix();
  checkpoints_.end();
  waited_ += timeline_.now() - begun;
  forget_checkpoint_request();
  last_ = Clock::now();
  saved_at_ = timeline_.now();
}

template <class Real>
void StateSaver<Real>::add_matrix() {
  DeviceMemory<Real>& memory = workspace_.context.backend;
  workspace_.for_each_strip([&](const DeviceBlock<Real>& strip, const HostBlock<Real>& on_host, Index /*first*/) {
    memory.wait(memory.download(strip, on_host));
    checkpoints_.add(bytes_of_strip(on_host));
  });
  if (workspace_.checksums) checkpoints_.add(workspace_.checksums->state());
}

template <class Real>
bool StateSaver<Real>::can_roll_back() {
  commit();
  return good_ && good_->returns < max_rollbacks;
}

template <class Real>
std::optional<LoadedState> StateSaver<Real>::roll_back(ChecksumRecord& record) {
  Rollback back = worst_mismatch(workspace_.grid, workspace_.checksums->mismatches());
  ++good_->returns;
  LoadedState state;
  try {
    state = make_collectively(communicator_, [&] {
      workspace_.context.backend.wait_all();
      return load_checkpoint(workspace_, good_->file);
    });
  } catch (const AgreedError& agreed) {
    record.stopped_by = std::string("a checkpoint that cannot be read: ") + agreed.what();
    return std::nullopt;
  }
  back.to = state.passes;
  back.seconds = timeline_.now() - std::exchange(good_->left_at, timeline_.now());
  back.seconds = all_reduced(communicator_, back.seconds, Reduction::max);
  if (workspace_.grid.is_root()) {
    spdlog::warn("a check of checksums has failed after {} passes: the run rolled back to the checkpoint after {}",
                 back.from, back.to);
  }
  record.rollbacks.push_back(back);
  workspace_.checksums->forget_mismatches();
  return state;
}

template <class Real>
std::optional<Saved> StateSaver<Real>::saved() {
  if (checkpoints_.completed() + checkpoints_.failed() == 0) return std::nullopt;
  checkpoints_.keeps_last(header_.at);
  double slowest[2] = {waited_, checkpoints_.seconds_of_disk()};
  communicator_.all_reduce(slowest, Reduction::max);
  return Saved{.checkpoints = checkpoints_.completed(),
               .failed = checkpoints_.failed(),
               .passes = checkpoints_.last().value_or(0),
               .in_background = workspace_.checkpoint_copy != nullptr,
               .waited = slowest[0],
               .disk = slowest[1]};
}

template CheckpointHeader checkpoint_header<float>(const RunParameters&, const Grid&, const CheckpointOptions&);
template LoadedState load_checkpoint(Workspace<float>&, const std::string&);
template class StateSaver<float>;
template CheckpointHeader checkpoint_header<double>(const RunParameters&, const Grid&, const CheckpointOptions&);
template LoadedState load_checkpoint(Workspace<double>&, const std::string&);
template class StateSaver<double>;

}  // namespace glinpack
