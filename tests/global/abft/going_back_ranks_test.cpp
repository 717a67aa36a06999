// Checksums together with checkpoints: what is saved has been checked, a fault that no check has found is found after
// the resumption, and a failed check goes back to the last checkpoint.
#include <signal.h>

#include "run/run.hpp"
#include "run/state_saver.hpp"
#include "tests/captured_log.hpp"
#include "tests/global/abft/bit_flips.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"
#include "watch/stop_request.hpp"

namespace glinpack {
namespace {

using namespace test;
using testing::HasSubstr;

constexpr Index n = 99, nb = 8, last_pass = 12;
constexpr Index checked_pass = 8;  // rows with a fault of this pass stay on their rank until its check

RunParameters parameters_with_checks(const std::string& backend, int lookahead) {
  RunParameters parameters{.n = n, .nb = nb, .pivoting = Pivoting::partial, .lookahead = lookahead};
  if (backend != "openblas") parameters.panel = PanelPlace::device;
  parameters.abft = true;
  parameters.abft_every = 3;
  return parameters;
}

/// A fault between two passes, which may save the state and end there.
template <class Real>
class SavingPasses final : public PassObserver {
 public:
  SavingPasses(BitFlip<Real>& flip, DeviceMatrix<Real>& a, Index columns, Index saved_pass)
      : faults_(flip, a, columns), saved_pass_(saved_pass) {}
  NextPass before(const PassPlan& pass) override {
    faults_.before(pass);
    return pass.pass == saved_pass_ ? NextPass::run_and_save : NextPass::run;
  }
  void after(const PassPlan& pass) override { faults_.after(pass); }
  bool save(const PassPlan&, const Interchanges& now) override {
    so_far = now;
    return false;
  }
  Interchanges so_far;

 private:
  FaultyPasses<Real> faults_;
  Index saved_pass_;
};

/// A factorisation of HPL's matrix with a fault after a pass, in one go or in two.
template <class Real>
class FaultyFactorization {
 public:
  FaultyFactorization(const ProcessGrid& grid, const std::string& backend, int lookahead)
      : grid_(grid),
        parameters_(parameters_with_checks(backend, lookahead)),
        distribution_(distribution_of(parameters_, grid.shape())),
        cached_(cached_backend<Real>(backend)),
        columns_(distribution_.local_columns(grid.position())) {}

  /// The mismatches of this rank.
  std::vector<Mismatch> mismatches(FlipPlace place, Index pass, bool in_two) {
    Backend<Real>& backend = *cached_.backend;
    BitFlip<Real> flip(backend, place, 8 * static_cast<int>(sizeof(Real)) - 4, pass, 5);
    const bool is_faulty = plan_pass(distribution_, pass, grid_.position()).pivot == grid_.position();
    if (!is_faulty) flip.disarm();
    auto a = on_device(backend, local_part<Real>(*make_hpl_source(n), distribution_, grid_.position()));
    MpiTransport<Real> transport(grid_, parameters_.broadcast, cached_.timeline);
    const RankContext<Real> context{parameters_, distribution_, grid_, backend, transport};
    const auto run = [&](Checksums<Real>& checks, PassRange passes, Interchanges so_far) {
      const auto lu = make_lu<Real>(context, *a, &checks);
      SavingPasses<Real> observer(flip, *a, columns_, in_two && passes.first == 0 ? pass : -1);
      lu->run(observer, passes, std::move(so_far));
      return observer.so_far;
    };
    Checksums<Real> checks(context, *a, parameters_.abft_every);
    Interchanges so_far = run(checks, {0, distribution_.passes()}, {});
    EXPECT_EQ(flip.is_done(), is_faulty);
    if (!in_two) return checks.mismatches();
    EXPECT_TRUE(checks.mismatches().empty());  // what is saved has been checked before the fault
    const std::vector<std::byte> state = checks.state();
    EXPECT_EQ(static_cast<Index>(state.size()), Checksums<Real>::state_bytes(distribution_, grid_.position()));
    a = on_device(backend, from_device(backend, *a));
    Checksums<Real> later(context, *a, parameters_.abft_every);
    later.restore(state);
    run(later, {pass + 1, distribution_.passes()}, std::move(so_far));
    return later.mismatches();
  }

 private:
  const ProcessGrid& grid_;
  RunParameters parameters_;
  Distribution distribution_;
  CachedBackend<Real>& cached_;
  Index columns_;
};

bool are_equal(const Mismatch& a, const Mismatch& b) {
  return a.pass == b.pass && a.part == b.part && a.block_row == b.block_row && a.difference == b.difference &&
         a.bound == b.bound;
}

std::vector<int> lookaheads_of(const std::string& backend) {
  return backend == "openblas" ? std::vector<int>{0, 1} : std::vector<int>{1};
}

class ChecksumsWithCheckpoints : public testing::TestWithParam<std::string> {};

TEST_P(ChecksumsWithCheckpoints, FindAFaultBeforeTheCheckpointAfterItWithTheSameBits) {
  on_every_grid([&](const ProcessGrid& grid) {
    for (const int lookahead : lookaheads_of(GetParam())) {
      FaultyFactorization<float> run(grid, GetParam(), lookahead);
      for (const FlipPlace place : {FlipPlace::stored_l, FlipPlace::stored_u, FlipPlace::a_between_passes}) {
        SCOPED_TRACE(testing::Message() << name_of(place) << ", look-ahead " << lookahead);
        const std::vector<Mismatch> whole = run.mismatches(place, 3, false), resumed = run.mismatches(place, 3, true);
        EXPECT_FALSE(all_agree(grid.all(), whole.empty()));
        EXPECT_TRUE(std::ranges::equal(whole, resumed, are_equal));
      }
    }
  });
}

/// A run of which one rank computes wrongly.
class FaultyRun {
 public:
  /// `folder`: of its checkpoints, which it removes at its end.
  FaultyRun(const SharedFolder& folder, const ProcessGrid& grid, const std::string& backend, int lookahead)
      : parameters(parameters_with_checks(backend, lookahead)), grid_(grid), cached_(cached_backend<float>(backend)) {
    options.gather_solution = true;
    options.checkpoints = CheckpointPlan{
        .folder = folder.path, .every = 0, .run = new_run_identity(grid.all()), .options = {}, .resume = {}};
  }

  RunResult clean() {
    RunOptions without;
    without.gather_solution = true;
    return run(parameters, grid_, *cached_.backend, *make_hpl_source(n), without);
  }
  /// Flips an exponent's bit before an update from a pass on; again and again if `repeats`.
  RunResult with_fault(Index pass, bool repeats) {
    BitFlip<float> flip(*cached_.backend, FlipPlace::a_before_update, 28, pass, 3);
    if (rank_in(grid_.all()) != faulty_rank()) flip.disarm();
    if (repeats) flip.repeat();
    const Index columns = distribution_of(parameters, grid_.shape()).local_columns(grid_.position());
    FaultyBackend<float> faulty(*cached_.backend, cached_.timeline, flip, nullptr, columns);
    return run(parameters, grid_, faulty, *make_hpl_source(n), options);
  }
  int faulty_rank() const { return size_of(grid_.all()) - 1; }
  bool has_checkpoint() const {
    grid_.all().barrier();
    return has_checkpoints(options.checkpoints->folder);
  }
  FaultyRun(const FaultyRun&) = delete;
  FaultyRun& operator=(const FaultyRun&) = delete;
  ~FaultyRun() {
    grid_.all().barrier();
    remove_checkpoints(grid_.all(), options.checkpoints->folder, grid_.position());
    grid_.all().barrier();
  }

  RunParameters parameters;
  RunOptions options;

 private:
  const ProcessGrid& grid_;
  CachedBackend<float>& cached_;
};

TEST_P(ChecksumsWithCheckpoints, GoBackAfterAFaultAndComeToTheSameSolution) {
  const SharedFolder folder;
  on_every_grid([&](const ProcessGrid& grid) {
    for (const int lookahead : lookaheads_of(GetParam())) {
      FaultyRun run(folder, grid, GetParam(), lookahead);
      const RunResult clean = run.clean();
      const CapturedLog log;
      const RunResult result = run.with_fault(checked_pass, false);
      EXPECT_TRUE(result.passed) << result.failure;
      EXPECT_EQ(result.solution, clean.solution);
      ASSERT_TRUE(result.checksums);
      EXPECT_FALSE(result.checksums->corrupted);
      ASSERT_EQ(result.checksums->rollbacks.size(), 1U);
      const Rollback& back = result.checksums->rollbacks.front();
      EXPECT_GT(back.to, 0);
      EXPECT_LE(back.to, checked_pass);
      EXPECT_GT(back.seconds, 0);
      if (!grid.is_root()) continue;
      EXPECT_EQ(back.from, checked_pass + 1);
      EXPECT_EQ(back.rank, run.faulty_rank());
      EXPECT_THAT(log.lines(), HasSubstr("rolled back to the checkpoint after " + std::to_string(back.to)));
    }
  });
}

TEST(GoingBack, EndsAfterThreeTimesToTheSameCheckpointAndKeepsIt) {
  const SharedFolder folder;
  on_every_grid([&](const ProcessGrid& grid) {
    FaultyRun run(folder, grid, "openblas", 1);
    const CapturedLog log;
    const RunResult result = run.with_fault(checked_pass, true);
    EXPECT_TRUE(is_corrupted(result));
    EXPECT_TRUE(result.checksums->stopped);
    const std::vector<Rollback>& back = result.checksums->rollbacks;
    ASSERT_GE(back.size(), 3U);
    EXPECT_TRUE(std::all_of(back.end() - 3, back.end(), [&](const Rollback& b) { return b.to == back.back().to; }));
    EXPECT_TRUE(run.has_checkpoint());
    EXPECT_EQ(result.saved->passes, back.back().to);
    EXPECT_LE(result.saved->passes, checked_pass);
    if (!grid.is_root()) return;
    const std::string rank = "rank " + std::to_string(run.faulty_rank()) + " on ";
    EXPECT_THAT(result.failure, HasSubstr(grid.shape().rows > 1 ? "found by " + rank : "CORRUPTED: " + rank));
    EXPECT_THAT(log.lines(), HasSubstr("no more checkpoints are written"));
  });
}

// Rows move between the ranks of a process column before the check.
TEST(FaultyRank, IsAmongThoseThatAreNamed) {
  const SharedFolder folder;
  on_every_grid([&](const ProcessGrid& grid) {
    for (const Index pass : {0, 1, 3, 6, 7}) {
      FaultyRun run(folder, grid, "openblas", 1);
      run.options.checkpoints->every = 1e9;
      const CapturedLog log;
      const RunResult result = run.with_fault(pass, false);
      EXPECT_TRUE(is_corrupted(result));
      if (!grid.is_root()) continue;
      const std::string rank = std::to_string(run.faulty_rank());
      const std::string named = grid.shape().rows == 1 ? "CORRUPTED: rank " + rank + " on .*"
                                                       : "CORRUPTED: one of ranks ([0-9]+, )*" + rank +
                                                             "(, [0-9]+)*: found by rank [0-9]+ on .*";
      EXPECT_THAT(result.failure, testing::MatchesRegex(named)) << "pass " << pass;
    }
  });
}

TEST(GoingBack, NeedsACheckpointAndAWrongStateIsNotSaved) {
  const SharedFolder folder;
  on_every_grid([&](const ProcessGrid& grid) {
    FaultyRun run(folder, grid, "openblas", 1);
    const CapturedLog log;
    const RunResult result = run.with_fault(0, false);
    EXPECT_TRUE(is_corrupted(result));
    EXPECT_TRUE(result.checksums->rollbacks.empty());
    EXPECT_FALSE(result.saved);
    EXPECT_FALSE(run.has_checkpoint());
  });
}

/// A signal ends the first half of a run, and the second half writes no checkpoints.
void prepare_second_half(FaultyRun& run, const ProcessGrid& grid) {
  const StopSignals signals(false, UserSignal::checkpoint);
  run.options.progress = [](double fraction) {
    if (fraction > 0.5) raise(SIGTERM);
  };
  ASSERT_TRUE(run.with_fault(last_pass, false).saved);
  CheckpointPlan& plan = *run.options.checkpoints;
  plan.resume = choose_checkpoint(grid.all(), plan.folder, checkpoint_header<float>(run.parameters, grid, {}),
                                  distribution_of(run.parameters, grid.shape()));
  plan.every = 1e9;
  run.options.progress = {};
}

TEST(GoingBack, AlsoLeadsToTheCheckpointOfAnEarlierRun) {
  const SharedFolder folder;
  on_every_grid([&](const ProcessGrid& grid) {
    FaultyRun run(folder, grid, "openblas", 1);
    const RunResult clean = run.clean();
    prepare_second_half(run, grid);
    const StopSignals none(false);
    const CapturedLog log;
    const RunResult result = run.with_fault(last_pass - 2, false);
    EXPECT_TRUE(result.passed) << result.failure;
    EXPECT_EQ(result.solution, clean.solution);
    ASSERT_EQ(result.checksums->rollbacks.size(), 1U);
    EXPECT_EQ(result.checksums->rollbacks.front().to, result.resumed->passes);
  });
}

TEST(GoingBack, EndsTheRunIfTheCheckpointCannotBeRead) {
  const SharedFolder folder;
  on_every_grid([&](const ProcessGrid& grid) {
    FaultyRun run(folder, grid, "openblas", 1);
    prepare_second_half(run, grid);
    const StopSignals none(false);
    run.options.progress = [&](double) { std::filesystem::remove_all(run.options.checkpoints->resume->file); };
    const CapturedLog log;
    const RunResult result = run.with_fault(last_pass - 2, false);
    EXPECT_TRUE(is_corrupted(result));
    EXPECT_TRUE(result.checksums->stopped);
    EXPECT_FALSE(result.checked);
    if (!grid.is_root()) return;
    EXPECT_THAT(result.failure, HasSubstr("ended by a checkpoint that cannot be read"));
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, ChecksumsWithCheckpoints, testing::Values("openblas", queued_vulkan),
                         [](const auto& info) { return info.param == "openblas" ? "openblas" : "vk_compute"; });

}  // namespace
}  // namespace glinpack
