// Checkpoints of all ranks: which of them is chosen, and runs that go on from one.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "checkpoint/checkpoints.hpp"
#include "mpi/communication.hpp"
#include "run/run.hpp"
#include "run/state_saver.hpp"
#include "tests/captured_log.hpp"
#include "tests/global/cached_backend.hpp"
#include "tests/global/world.hpp"
#include "watch/stop_request.hpp"

namespace glinpack {
namespace {

namespace fs = std::filesystem;
using test::SharedFolder;
using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder));
  }
  std::ranges::sort(files);
  return files;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// In place of a file: a pipe, to which writing waits for release().
class SlowDisk {
 public:
  explicit SlowDisk(std::string path) : path_(std::move(path)) {
    fs::create_directories(fs::path(path_).parent_path());
    if (mkfifo(path_.c_str(), 0600) != 0) ADD_FAILURE() << path_;
  }
  void release() { reader_ = FileHandle(open(path_.c_str(), O_RDONLY | O_NONBLOCK)); }
  /// What was written, if it fits into a pipe.
  std::string content() const {
    std::string content(65536, '\0');
    std::size_t size = 0;
    for (ssize_t count = 1; count > 0; size += static_cast<std::size_t>(std::max<ssize_t>(0, count))) {
      count = read(reader_.get(), content.data() + size, content.size() - size);
    }
    content.resize(size);
    return content;
  }

 private:
  std::string path_;
  FileHandle reader_;
};

/// Checkpoints of a matrix of order 8 with blocks of 2, on a grid of one row with all ranks.
class CheckpointsOfAllRanks : public testing::Test {
 protected:
  CheckpointsOfAllRanks() {
    mine_.options = {{"--n", "8"}};
    mine_.at = grid_.position();
    mine_.rows = distribution_.local_rows(mine_.at);
    mine_.columns = distribution_.local_columns(mine_.at);
    mine_.piece_rows = mine_.rows;
    mine_.element = 8;
  }

  void write(Index pass, const std::string& run) {
    const CheckpointPlan plan{.folder = folder_.path, .run = run, .options = mine_.options, .resume = {}};
    Timeline timeline;
    Checkpoints checkpoints(grid_.all(), plan, timeline);
    begin_and_end(checkpoints, pass);
    checkpoints.commit();
    EXPECT_EQ(checkpoints.last(), pass);
    grid_.all().barrier();
  }
  /// A matrix that does not live longer.
  void begin_and_end(Checkpoints& checkpoints, Index pass) const {
    CheckpointHeader header = mine_;
    header.pass = pass;
    header.pivots = 2 * pass;
    const std::vector<double> matrix(static_cast<std::size_t>(mine_.rows * mine_.columns), static_cast<double>(pass));
    checkpoints.begin(header, std::vector<GlobalIndex>(static_cast<std::size_t>(header.pivots)));
    if (!matrix.empty()) checkpoints.add(std::as_bytes(std::span(matrix)));
    checkpoints.end();
  }
  /// `suffix`: of the generation's folder.
  std::string file_of(Index pass, const std::string& run, const std::string& suffix = "") const {
    return folder_.path + "/pass-" + std::to_string(pass) + "-" + run + suffix + "/row0-column" +
           std::to_string(grid_.position().column);
  }
  void rename(const std::string& from, const std::string& to) const {
    grid_.all().barrier();
    if (grid_.is_root()) fs::rename(folder_.path + "/" + from, folder_.path + "/" + to);
    grid_.all().barrier();
  }
  Index chosen_pass() const { return choose_checkpoint(grid_.all(), folder_.path, mine_, distribution_).header.pass; }
  std::string refusal(const CheckpointHeader& mine) const {
    try {
      choose_checkpoint(grid_.all(), folder_.path, mine, distribution_);
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "";
  }
  std::string refusal() const { return refusal(mine_); }
  void alter(const std::string& file) const {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-20, std::ios::end);
    stream.put('x');
  }
  bool is_last() const { return grid_.position().column == grid_.shape().columns - 1; }

  SharedFolder folder_;
  ProcessGrid grid_{MPI_COMM_WORLD, {1, test::world_size()}, RankOrder::row_major};
  Distribution distribution_{8, 2, grid_.shape()};
  CheckpointHeader mine_;
};

TEST_F(CheckpointsOfAllRanks, TheNextGenerationReplacesTheOneBefore) {
  write(1, "0000000a");
  EXPECT_EQ(chosen_pass(), 1);
  grid_.all().barrier();
  write(3, "0000000a");
  EXPECT_EQ(chosen_pass(), 3);
  EXPECT_EQ(files_in(folder_.path).size(), static_cast<std::size_t>(test::world_size()));
  grid_.all().barrier();
  remove_checkpoints(grid_.all(), folder_.path, mine_.at);
  grid_.all().barrier();
  EXPECT_TRUE(fs::is_empty(folder_.path));
}

TEST_F(CheckpointsOfAllRanks, FilesOfAnotherRunAreRefused) {
  write(3, "0000000b");
  rename("pass-3-0000000b", "pass-3-0000000c");
  EXPECT_THAT(refusal(), HasSubstr("it was written as part of pass-3-0000000b"));
}

// What is left if the program is killed while it writes or removes them.
TEST_F(CheckpointsOfAllRanks, OnesThatAreHalfWrittenOrHalfRemovedDoNotCount) {
  write(1, "0000000a");
  rename("pass-1-0000000a", "kept");  // the next one removes it
  write(2, "0000000a");
  rename("kept", "pass-1-0000000a");
  EXPECT_EQ(chosen_pass(), 2);
  rename("pass-2-0000000a", "pass-2-0000000a.part");
  EXPECT_EQ(chosen_pass(), 1);
  rename("pass-1-0000000a", "pass-1-0000000a.part");
  EXPECT_THAT(refusal(), HasSubstr("has no checkpoint"));
  prepare_checkpoint_folder(folder_.path);
  grid_.all().barrier();
  remove_incomplete_checkpoints(folder_.path);
  grid_.all().barrier();
  EXPECT_TRUE(fs::is_empty(folder_.path));
}

TEST_F(CheckpointsOfAllRanks, AreRefusedIfTheyDoNotFitAndTheMessageSaysWhatDiffers) {
  EXPECT_THAT(refusal(), HasSubstr("has no checkpoint"));
  grid_.all().barrier();
  write(2, "0000000a");
  CheckpointHeader other = mine_;
  other.options = {{"--n", "9"}, {"--seed", "1"}};
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("pass-2-0000000a"), HasSubstr("--n: 8 in the checkpoint, 9 now"),
                                    HasSubstr("--seed: none in the checkpoint, 1 now")));
  other = mine_;
  if (is_last()) other.columns += 1;
  EXPECT_THAT(refusal(other), HasSubstr("columns of the local matrix"));
  other = mine_;
  if (is_last()) other.at.row = 1;  // another grid
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("pass-2-0000000a/row1-column"), HasSubstr(" is missing")));
  grid_.all().barrier();
  write(5, "0000000a");  // of 4 passes
  EXPECT_THAT(refusal(), HasSubstr("pass: 5 in the checkpoint, 4 now"));
}

TEST_F(CheckpointsOfAllRanks, ADamagedOneIsRefusedAndAnOlderOneOffered) {
  write(1, "0000000a");
  rename("pass-1-0000000a", "kept");
  write(2, "0000000a");
  if (is_last()) alter(file_of(2, "0000000a"));
  grid_.all().barrier();
  EXPECT_THAT(refusal(), AllOf(HasSubstr("pass-2-0000000a/row0-column"), HasSubstr("is altered"),
                               HasSubstr("No older checkpoint is whole")));
  rename("kept", "pass-1-0000000a");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("is altered"), HasSubstr("pass-1-0000000a is whole: remove")));
  grid_.all().barrier();
  if (is_last()) fs::remove(file_of(2, "0000000a"));
  grid_.all().barrier();
  EXPECT_THAT(refusal(), AllOf(HasSubstr(" is missing"), HasSubstr("pass-1-0000000a is whole: remove")));
}

TEST_F(CheckpointsOfAllRanks, ARankThatCannotWriteCostsTheGenerationOfAll) {
  write(1, "0000000a");
  const CheckpointPlan plan{.folder = folder_.path, .run = "0000000b", .options = mine_.options, .resume = {}};
  Timeline timeline;
  Checkpoints checkpoints(grid_.all(), plan, timeline);
  const CapturedLog log;
  if (is_last()) fs::create_directories(file_of(2, "0000000b", ".part") + "/in the way");
  grid_.all().barrier();
  CheckpointHeader header = mine_;
  header.pass = 2;
  header.rows = 0;
  checkpoints.begin(header, {});
  checkpoints.end();
  checkpoints.commit();
  EXPECT_FALSE(checkpoints.is_pending());
  EXPECT_EQ(checkpoints.last(), std::nullopt);
  EXPECT_EQ(checkpoints.failed(), 1);
  if (grid_.is_root()) {
    EXPECT_THAT(log.lines(), AllOf(HasSubstr("after 2 passes is not written"), HasSubstr(": Is a directory")));
  }
  EXPECT_EQ(chosen_pass(), 1);
}

TEST_F(CheckpointsOfAllRanks, OneIsWrittenWhileTheRunGoesOn) {
  write(1, "0000000a");
  const CheckpointPlan plan{.folder = folder_.path, .run = "0000000b", .options = mine_.options, .resume = {}};
  Timeline timeline;
  CheckpointCopy copy(static_cast<std::size_t>(mine_.rows * mine_.columns * mine_.element), 1);
  Checkpoints checkpoints(grid_.all(), plan, timeline, &copy);
  SlowDisk disk(file_of(2, plan.run, ".part"));
  begin_and_end(checkpoints, 2);
  EXPECT_TRUE(checkpoints.is_writing());
  const CapturedLog log;
  disk.release();
  checkpoints.commit();
  const std::string written = disk.content();
  EXPECT_FALSE(checkpoints.is_writing());
  if (grid_.is_root()) {
    EXPECT_THAT(log.lines(), HasSubstr("Invalid argument"));  // no fsync of a pipe
  }
  EXPECT_EQ(chosen_pass(), 1);
  grid_.all().barrier();
  begin_and_end(checkpoints, 2);
  checkpoints.commit();
  EXPECT_EQ(checkpoints.last(), 2);
  EXPECT_EQ(content_of(file_of(2, plan.run)), written);
}

TEST_F(CheckpointsOfAllRanks, AreRemovedFromFoldersThatHostsDoNotShare) {
  write(1, "0000000a");
  const std::string of_host = folder_.path + "/host" + std::to_string(test::world_rank());
  const fs::path file = file_of(1, "0000000a"), generation = fs::path(of_host) / "pass-1-0000000a";
  fs::create_directories(generation);
  fs::rename(file, generation / file.filename());
  remove_checkpoints(grid_.all(), of_host, mine_.at);
  EXPECT_TRUE(fs::is_empty(of_host));
  grid_.all().barrier();
}

TEST_F(CheckpointsOfAllRanks, AFolderWithACheckpointIsNotForANewRun) {
  prepare_checkpoint_folder(folder_.path);
  grid_.all().barrier();
  write(1, "0000000a");
  EXPECT_THROW(prepare_checkpoint_folder(folder_.path), CheckpointError);
}

struct Resumption {
  Pivoting pivoting;
  bool refine;
  bool in_background;
};

class ResumedRun : public testing::TestWithParam<Resumption> {};

TEST_P(ResumedRun, HasTheSolutionOfOneWithoutInterruption) {
  const SharedFolder folder;
  test::on_every_grid([&](const ProcessGrid& grid) {
    auto& [timeline, backend] = test::cached_backend<float>("openblas");
    const RunParameters parameters{.n = 100,
                                   .nb = 8,
                                   .pivoting = GetParam().pivoting,
                                   .refine = GetParam().refine,
                                   .checkpoint_copy = GetParam().in_background};
    const auto source = make_hpl_source(parameters.n);
    RunOptions options;
    options.gather_solution = true;
    const RunResult whole = run(parameters, grid, *backend, *source, options);

    const CheckpointOptions names{{"--n", "100"}};
    options.checkpoints = CheckpointPlan{
        .folder = folder.path, .every = 0, .run = new_run_identity(grid.all()), .options = names, .resume = {}};
    {
      const StopSignals signals(false, UserSignal::checkpoint);
      const auto at_half = [](double fraction) {
        if (fraction > 0.5) raise(SIGTERM);
      };
      options.progress = at_half;  // on rank 0 of the grid
      const RunResult ended = run(parameters, grid, *backend, *source, options);
      ASSERT_TRUE(ended.saved);
      EXPECT_EQ(ended.passes_done, ended.saved->passes);
      EXPECT_GT(ended.saved->checkpoints, 1);
      EXPECT_EQ(ended.saved->in_background, GetParam().in_background);
      EXPECT_GT(ended.saved->waited, 0);
      EXPECT_GT(ended.saved->disk, 0);
      options.checkpoints->resume =
          choose_checkpoint(grid.all(), folder.path, checkpoint_header<float>(parameters, grid, names),
                            distribution_of(parameters, grid.shape()));
      EXPECT_EQ(options.checkpoints->resume->header.pass, ended.saved->passes);
    }
    const StopSignals none(false);
    options.progress = {};
    options.checkpoints->run = new_run_identity(grid.all());
    const RunResult resumed = run(parameters, grid, *backend, *source, options);
    ASSERT_TRUE(resumed.resumed);
    EXPECT_EQ(resumed.resumed->passes, options.checkpoints->resume->header.pass);
    EXPECT_GT(resumed.resumed->seconds, 0);
    EXPECT_TRUE(resumed.passed) << resumed.failure;
    EXPECT_EQ(resumed.solution, whole.solution);
    EXPECT_EQ(resumed.growth, whole.growth);
    grid.all().barrier();
    remove_checkpoints(grid.all(), folder.path, grid.position());
    grid.all().barrier();
  });
}

/// Folders of all generations that a run might write. Released when `passes_are_done` is there, or after a minute.
class SlowDisks {
 public:
  SlowDisks(const CheckpointPlan& plan, Index passes, GridPosition at, std::string passes_are_done) {
    for (Index pass = 1; pass <= passes; ++pass) {
      disks_.emplace_back(plan.folder + "/pass-" + std::to_string(pass) + "-" + plan.run + ".part/row" +
                          std::to_string(at.row) + "-column" + std::to_string(at.column));
    }
    release_ = std::async(std::launch::async, [this, passes_are_done] {
      constexpr int max = 60'000;
      for (int i = 0; i < max && !fs::exists(passes_are_done); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      are_in_time = fs::exists(passes_are_done);
      for (SlowDisk& disk : disks_) disk.release();
    });
  }
  ~SlowDisks() { release_.wait(); }
  std::atomic<bool> are_in_time = false;

 private:
  std::vector<SlowDisk> disks_;
  std::future<void> release_;
};

TEST(SlowDisks, DoNotDelayPasses) {
  const SharedFolder folder;
  const ProcessGrid grid(MPI_COMM_WORLD, {1, test::world_size()}, RankOrder::row_major);
  auto& [timeline, backend] = test::cached_backend<float>("openblas");
  const RunParameters parameters{.n = 48, .nb = 4, .checkpoint_copy = true};
  RunOptions options;
  options.checkpoints = CheckpointPlan{
      .folder = folder.path + "/ck", .every = 0, .run = new_run_identity(grid.all()), .options = {}, .resume = {}};
  const std::string passes_are_done = folder.path + "/done";
  options.progress = [&](double fraction) {
    if (fraction == 1) std::ofstream(passes_are_done) << "\n";
  };
  const StopSignals signals(false, UserSignal::checkpoint);
  RunResult result;
  {
    const SlowDisks disks(*options.checkpoints, 12, grid.position(), passes_are_done);
    result = run(parameters, grid, *backend, *make_hpl_source(parameters.n), options);
    EXPECT_TRUE(disks.are_in_time);
  }
  EXPECT_TRUE(result.passed) << result.failure;
  EXPECT_FALSE(result.saved);
  const std::vector<Interval>& intervals = timeline.intervals();
  const auto copies = std::ranges::count(intervals, Phase::checkpoint, &Interval::phase);
  EXPECT_EQ(copies, 1) << "the next one waits for this one";
}

TEST(RequestedCheckpoint, IsWrittenAndTheRunGoesOn) {
  const SharedFolder folder;
  test::on_every_grid([&](const ProcessGrid& grid) {
    auto& [timeline, backend] = test::cached_backend<float>("openblas");
    const RunParameters parameters{.n = 48, .nb = 4};
    RunOptions options;
    options.checkpoints.emplace();
    options.checkpoints->folder = folder.path;
    options.checkpoints->run = new_run_identity(grid.all());
    const StopSignals signals(false, UserSignal::checkpoint);
    const bool is_last = grid.position() == GridPosition{grid.shape().rows - 1, grid.shape().columns - 1};
    if (is_last) raise(SIGUSR1);
    const RunResult result = run(parameters, grid, *backend, *make_hpl_source(parameters.n), options);
    EXPECT_TRUE(result.passed) << result.failure;
    EXPECT_FALSE(checkpoint_requested());
    EXPECT_EQ(stop_signal(), 0);
    EXPECT_TRUE(has_checkpoints(folder.path));
    grid.all().barrier();
    remove_checkpoints(grid.all(), folder.path, grid.position());
    grid.all().barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Pivotings, ResumedRun,
                         testing::Values(Resumption{Pivoting::partial, false, false},
                                         Resumption{Pivoting::tournament, false, true},
                                         Resumption{Pivoting::partial, true, true},
                                         Resumption{Pivoting::local, true, false}));

}  // namespace
}  // namespace glinpack
