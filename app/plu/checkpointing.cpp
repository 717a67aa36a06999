#include "app/plu/checkpointing.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/program/agreement.hpp"
#include "mpi/communication.hpp"
#include "run/run.hpp"
#include "run/state_saver.hpp"
#include "version.hpp"

namespace glinpack::app {

namespace {

/// Rank 0 alone. Throws InputError if there is no checkpoint.
CheckpointOptions options_of_checkpoint(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    const bool is_missing = !error || error == std::errc::no_such_file_or_directory;
    throw InputError("--resume: " + folder + " is not a folder" + (is_missing ? "" : " (" + error.message() + ")") +
                     "; give the folder of --checkpoint, or leave --resume out to start anew");
  }
  try {
    if (has_checkpoints(folder)) return options_in(folder);
  } catch (const CheckpointError& failure) {
    throw InputError("--resume: " + std::string(failure.what()));
  }
  throw InputError("--resume: " + folder + " has no checkpoint; leave --resume out to start anew");
}

void check_one_run(const SweepInput& input) {
  if (input.planned.size() == 1) return;
  throw InputError(fmt::format(
      "{}: {} runs are planned, but a folder has the checkpoints of one run; give one value of each option, and leave "
      "out --repeat",
      input.options.checkpoint.empty() ? "--resume" : "--checkpoint", input.planned.size()));
}

/// What decides on the bits of the factors.
CheckpointOptions options_of(const SweepInput& input, const RunRecord& run, const BackendInfo& backend) {
  const RunParameters& parameters = run.parameters;
  CheckpointOptions options{{"version", fmt::format("glinpack {} ({})", version, git_commit)},
                            {"--n", std::to_string(parameters.n)},
                            {"--nb", std::to_string(parameters.nb)},
                            {"--grid", text_of(run.grid)},
                            {"--precision", std::string(name_of(run.precision))},
                            {"--backend", run.backend},
                            {"--threads", std::to_string(backend.threads)},
                            {"--pivoting", std::string(name_of(parameters.pivoting))},
                            {"--panel", std::string(name_of(parameters.panel))},
                            {"--lookahead", parameters.lookahead > 0 ? "1" : "0"},
                            {"--row-swap", std::string(name_of(parameters.row_swap.kind))},
                            {"pieces of the row swap", std::to_string(parameters.row_swap.pieces)},
                            {"--tile", input.options.backend_values.at("tile")},
                            {"--products", option_value(run.backend_values, "products")},
                            {"--abft", parameters.abft ? "auto" : "off"},
                            {"--matrix", std::string(name_of(run.matrix))}};
  if (parameters.row_swap.kind == RowSwapKind::mix) {
    options["threshold of SWAP"] = std::to_string(parameters.row_swap.threshold);
  }
  if (!backend.kernels.empty()) options["BLAS"] = backend.blas + " with kernels for " + backend.kernels;
  if (run.matrix != MatrixKind::file) options["--seed"] = std::to_string(input.options.seed);
  return options;
}

template <class Real>
ResumePoint checkpoint_for(const SweepInput& input, const RunRecord& run, const ProcessGrid& grid,
                           const CheckpointOptions& options) {
  return choose_checkpoint(grid.all(), input.options.resume, checkpoint_header<Real>(run.parameters, grid, options),
                           distribution_of(run.parameters, run.grid));
}

bool same_folder(const std::string& a, const std::string& b) {
  std::error_code not_there;
  return std::filesystem::equivalent(a, b, not_there);
}

/// For the report.
std::string resumption_note(const RunRecord& run, const ResumePoint& from) {
  const Index passes = distribution_of(run.parameters, run.grid).passes();
  return fmt::format("resumed from {} after {} of {} passes, which took {:.2f} s",
                     std::filesystem::path(from.file).parent_path().string(), from.header.pass, passes,
                     from.header.seconds);
}

/// The message if `work` throws CheckpointError, else empty.
template <class Work>
std::string error_of(Work work) {
  try {
    work();
  } catch (const CheckpointError& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace

std::vector<std::string> with_checkpoint_options(std::vector<std::string> arguments, const ParsedOptions& parsed) {
  const PluOptions& options = parsed.options;
  const CheckpointOptions found = run_on_root_and_broadcast([&] { return options_of_checkpoint(options.resume); });
  if (found.contains("--input") && options.input.empty()) {
    throw InputError("--resume: the checkpoint in " + options.resume +
                     " is of a matrix from a file: name the file with --input");
  }
  constexpr std::array of_hpl_dat{"n", "nb", "grid", "lookahead", "row-swap"};
  for (const auto& [option, value] : found) {
    if (!option.starts_with("--") || value.empty() || option == "--input") continue;
    const std::string name = option.substr(2);
    const bool in_hpl_dat = !options.hpl_dat.empty() && std::ranges::find(of_hpl_dat, name) != of_hpl_dat.end();
    if (parsed.given(name) || in_hpl_dat || (name == "matrix" && !options.input.empty())) continue;
    arguments.insert(arguments.end(), {option, value});
  }
  return arguments;
}

FolderLock::FolderLock(const std::string& folder, FolderUse use) {
  const std::string path = folder + "/lock";
  int operation = LOCK_EX | LOCK_NB;
  file_ = FileHandle(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file_.get() < 0 && use == FolderUse::read && (errno == EACCES || errno == EROFS)) {
    operation = LOCK_SH | LOCK_NB;
    file_ = FileHandle(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (file_.get() < 0 && errno == ENOENT) return;  // no program has written here, and this one cannot
  }
  if (file_.get() < 0) throw InputError(path + ": " + std::strerror(errno));
  if (flock(file_.get(), operation) == 0) return;
  if (errno != EWOULDBLOCK) throw InputError(path + " cannot be locked: " + std::strerror(errno));
  throw InputError(folder +
                   ": another run has its checkpoints in this folder; wait for its end, or name another folder");
}

void plan_copies(SweepInput& input, std::span<const RankMemory> ranks) {
  if (input.options.checkpoint.empty()) return;
  RunRecord& run = input.planned.front();
  const std::optional<MemoryPool> pool = too_small_for_copies(run, ranks, !input.options.input.empty());
  run.parameters.checkpoint_copy = !pool;
  if (!pool) return;
  input.context.notes.push_back(
      fmt::format("--checkpoint: ranks wait while checkpoints are written. With a copy of the matrix to write from, {} "
                  "would need {}, and {} are free: choose a smaller N",
                  pool->name, memory_text(pool->needed), memory_text(pool->available)));
}

std::unique_ptr<Checkpointing> prepare_checkpointing(SweepInput& input, const BackendInfo& backend, GridCache& grids) {
  const PluOptions& options = input.options;
  if (options.checkpoint.empty() && options.resume.empty()) return nullptr;
  check_one_run(input);
  RunRecord& run = input.planned.front();
  const ProcessGrid& grid = grids.grid_for(run);
  auto checkpointing = std::make_unique<Checkpointing>();
  if (grid.active()) checkpointing->grid = &grid;
  CheckpointPlan& plan = checkpointing->plan;
  plan.folder = options.checkpoint;
  plan.every = options.checkpoint_every.value_or(default_checkpoint_every);
  plan.run = new_run_identity(world());
  plan.options = options_of(input, run, backend);
  if (run.matrix == MatrixKind::file) {
    plan.options["--input"] = run_on_root_and_broadcast(
        [&] { return fmt::format("checksum {:016x}", checksum_of(std::as_bytes(std::span(input.matrix)))); });
  }

  const bool continues_there = same_folder(options.checkpoint, options.resume);
  const bool prepares = !options.checkpoint.empty() && !continues_there;
  run_on_root_and_broadcast([&] {
    if (!options.resume.empty()) {
      checkpointing->locks.emplace_back(options.resume, continues_there ? FolderUse::write : FolderUse::read);
    }
    if (prepares) {
      std::error_code error;
      std::filesystem::create_directories(options.checkpoint, error);
      if (error) {
        throw InputError("--checkpoint: " + options.checkpoint + " cannot be made: " + error.message() +
                         "; name a folder that all ranks share and may write");
      }
      checkpointing->locks.emplace_back(options.checkpoint, FolderUse::write);
    }
  });
  agree_on_input(error_of([&] {
    if (prepares && grid.active()) prepare_checkpoint_folder(options.checkpoint);
  }));
  if (prepares && grid.active()) remove_incomplete_checkpoints(options.checkpoint);
  if (options.resume.empty()) return checkpointing;
  const std::string error = error_of([&] {  // the same on all ranks of the grid
    if (!grid.active()) return;
    plan.resume = run.precision == Precision::double_ ? checkpoint_for<double>(input, run, grid, plan.options)
                                                      : checkpoint_for<float>(input, run, grid, plan.options);
    run.result.resumed = Resumed{plan.resume->header.pass, plan.resume->header.seconds};
  });
  run_on_root_and_broadcast([&] {
    if (!error.empty()) throw InputError("--resume: " + error);
    input.context.notes.push_back(resumption_note(run, *plan.resume));
  });
  return checkpointing;
}

void Checkpointing::remove() const {
  if (grid != nullptr && !plan.folder.empty()) remove_checkpoints(grid->all(), plan.folder, grid->position());
}

std::string how_to_resume(const RunRecord& run, const PluOptions& options) {
  if (!run.result.saved || run.result.saved->passes == 0) return "";
  return fmt::format(
      "Its checkpoint after {} is in {}: the same options with --resume {} continue it; files of results need other "
      "names, or --force.\n",
      counted(run.result.saved->passes, "pass"), options.checkpoint, options.checkpoint);
}

}  // namespace glinpack::app
