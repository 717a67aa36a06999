#include "checkpoint/checkpoints.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iterator>
#include <random>
#include <regex>
#include <set>
#include <sstream>

#include "transport/wire.hpp"

namespace glinpack {

namespace {

namespace fs = std::filesystem;

// Ends the name of a generation's folder while it is written or removed.
constexpr const char* part_suffix = ".part";

struct Generation {
  Index pass = 0;
  std::string run;
  friend auto operator<=>(const Generation&, const Generation&) = default;

  std::string name() const { return "pass-" + std::to_string(pass) + "-" + run; }
  std::string folder_in(const std::string& folder) const { return folder + "/" + name(); }
};

template <class Wire>
void describe(Wire& wire, Generation& generation) {
  wire("pass", generation.pass);
  wire("run", generation.run);
}

std::string file_name(GridPosition at) {
  return "row" + std::to_string(at.row) + "-column" + std::to_string(at.column);
}

std::optional<Generation> generation_named(const std::string& name) {
  static const std::regex pattern("pass-([0-9]{1,17})-([0-9a-f]{8})");
  std::smatch parts;
  if (!std::regex_match(name, parts, pattern)) return {};
  return Generation{std::stoll(parts[1]), parts[2]};
}

/// Newest first; the complete ones, or those with a suffix. Throws CheckpointError if the folder is there and cannot be
/// read.
std::vector<Generation> generations_in(const std::string& folder, const std::string& suffix = "") {
  std::set<Generation, std::greater<>> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() != suffix) continue;
    if (const auto generation = generation_named(entry->path().stem().string())) found.insert(*generation);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw CheckpointError(folder + " cannot be read: " + error.message() +
                          "; every rank needs permission to read it (chmod u+rx)");
  }
  return {found.begin(), found.end()};
}

bool is_there(const fs::path& file) {
  std::error_code not_there;
  return fs::exists(file, not_there);
}

/// Removes this rank's file of a generation, and its folder after the last rank's. From now on it is not complete.
void remove_file(const std::string& generation, GridPosition at) {
  std::error_code ignored;
  fs::rename(generation, generation + part_suffix, ignored);
  fs::remove(fs::path(generation + part_suffix) / file_name(at), ignored);
  fs::remove(generation + part_suffix, ignored);
}

/// The names in a folder are on the disk when this returns, as far as the file system can do that.
void sync_folder(const std::string& folder) {
  const FileHandle handle(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.get() >= 0) fsync(handle.get());
}

/// "name: THERE in the checkpoint, HERE now", if they differ, after what `text` has.
void compare(std::string& text, const std::string& name, const std::string& there, const std::string& here) {
  if (there == here) return;
  text += (text.empty() ? "" : "; ") + name + ": " + (there.empty() ? "none" : there) + " in the checkpoint, " +
          (here.empty() ? "none" : here) + " now";
}

std::string different_options(const CheckpointHeader& found, const CheckpointHeader& mine) {
  CheckpointOptions all = found.options;
  all.insert(mine.options.begin(), mine.options.end());
  const auto value_of = [](const CheckpointOptions& options, const std::string& name) {
    const auto option = options.find(name);
    return option == options.end() ? std::string() : option->second;
  };
  std::string text;
  for (const auto& [name, value] : all)
    compare(text, name, value_of(found.options, name), value_of(mine.options, name));
  return text;
}

/// With equal options these agree, unless the file was made by something else.
std::string different_extents(const CheckpointHeader& found, const CheckpointHeader& mine,
                              const Distribution& distribution) {
  std::string text;
  const auto compare_numbers = [&text](const char* name, Index there, Index here) {
    compare(text, name, std::to_string(there), std::to_string(here));
  };
  compare(text, "place in the grid", file_name(found.at), file_name(mine.at));
  compare_numbers("rows of the local matrix", found.rows, mine.rows);
  compare_numbers("columns of the local matrix", found.columns, mine.columns);
  compare_numbers("rows of a piece", found.piece_rows, mine.piece_rows);
  compare_numbers("bytes of an element", found.element, mine.element);
  compare_numbers("bytes of the checks of rows", found.state_bytes, mine.state_bytes);
  const Index pass = std::clamp<Index>(found.pass, 1, distribution.passes());
  compare_numbers("pass", found.pass, pass);
  compare_numbers("pivots", found.pivots, std::min(distribution.n, pass * distribution.nb));
  return text;
}

/// Throws CheckpointError if this rank's file does not fit or is damaged.
ResumePoint verified(const std::string& folder, const Generation& generation, const CheckpointHeader& mine,
                     const Distribution& distribution) {
  const std::string path = generation.folder_in(folder) + "/" + file_name(mine.at);
  if (!is_there(path)) throw CheckpointError(path + " is missing");
  ResumePoint point{path, CheckpointReader(path).header()};
  std::string text = different_options(point.header, mine);
  if (text.empty()) text = different_extents(point.header, mine, distribution);
  const Generation written{point.header.pass, point.header.run};
  if (text.empty() && written != generation) text = "it was written as part of " + written.name();
  if (!text.empty()) throw CheckpointError(path + " does not fit: " + text);
  for (const GlobalIndex pivot : verify_checkpoint_file(path)) {
    if (pivot.value < 0 || pivot.value >= distribution.n) {
      throw CheckpointError(path + " does not fit: pivot " + std::to_string(pivot.value) + " is no row");
    }
  }
  return point;
}

/// The options of a checkpoint on the root, before files of another grid are missed.
void check_options(const std::string& folder, const Generation& generation, const CheckpointHeader& mine) {
  const std::string path = generation.folder_in(folder) + "/" + file_name(mine.at);
  CheckpointHeader found;
  try {
    found = CheckpointReader(path).header();
  } catch (const CheckpointError&) {
    return;  // verified() says why
  }
  if (found.options == mine.options) return;
  throw CheckpointError(path + " does not fit: " + different_options(found, mine));
}

/// Collective. The root's result on every rank; its error is thrown on every rank.
template <class Make>
auto from_root(const Communicator& communicator, Make make) {
  decltype(make()) result;
  std::string error;
  if (communicator.rank() == 0) error = error_of([&] { result = make(); });
  communicator.broadcast(0, error);
  if (!error.empty()) throw CheckpointError(error);
  return broadcast_value(communicator, result, 0);
}

}  // namespace

std::string new_run_identity(const Communicator& communicator) {
  return from_root(communicator, [] {
    std::ostringstream text;
    text << std::hex << std::setw(8) << std::setfill('0') << std::random_device{}();
    return text.str();
  });
}

bool has_checkpoints(const std::string& folder) {
  return !generations_in(folder).empty() || !generations_in(folder, part_suffix).empty();
}

CheckpointOptions options_in(const std::string& folder) {
  for (const Generation& generation : generations_in(folder)) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(generation.folder_in(folder), error)) {
      try {
        return CheckpointReader(entry.path().string()).header().options;
      } catch (const CheckpointError&) {
        continue;  // choose_checkpoint() says why
      }
    }
  }
  return {};
}

void prepare_checkpoint_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw CheckpointError(folder + " cannot be made: " + error.message() +
                          "; name a folder that all ranks share and may write");
  }
  if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0) {
    throw CheckpointError(folder + ": " + std::strerror(errno) + "; name a folder that all ranks share and may write");
  }
  if (const std::vector<Generation> complete = generations_in(folder); !complete.empty()) {
    throw CheckpointError(folder + " has a checkpoint, " + complete.front().name() +
                          ": resume from it with --resume, remove it, or name another folder");
  }
}

void remove_incomplete_checkpoints(const std::string& folder) {
  std::error_code ignored;
  for (const Generation& generation : generations_in(folder, part_suffix)) {
    fs::remove_all(generation.folder_in(folder) + part_suffix, ignored);
  }
}

ResumePoint choose_checkpoint(const Communicator& communicator, const std::string& folder, const CheckpointHeader& mine,
                              const Distribution& distribution) {
  const std::vector<Generation> complete = from_root(communicator, [&] {
    const std::vector<Generation> found = generations_in(folder);
    if (found.empty()) throw CheckpointError(folder + " has no checkpoint");
    check_options(folder, found.front(), mine);
    return found;
  });
  const auto verified_by_all = [&](const Generation& generation) {
    return make_collectively(communicator, [&] { return verified(folder, generation, mine, distribution); });
  };
  std::string why_not;
  try {
    return verified_by_all(complete.front());
  } catch (const AgreedError& error) {
    why_not = error.what();
  }
  for (std::size_t i = 1; i < complete.size(); ++i) {
    try {
      verified_by_all(complete[i]);
    } catch (const AgreedError&) {
      continue;
    }
    throw CheckpointError(why_not + ". " + complete[i].name() + " is whole: remove " +
                          complete.front().folder_in(folder) + " to continue from it");
  }
  throw CheckpointError(why_not + ". No older checkpoint is whole: remove the folder to start anew");
}

void remove_checkpoints(const Communicator& communicator, const std::string& folder, GridPosition at) {
  const std::vector<Generation> generations = from_root(communicator, [&] {
    std::vector<Generation> all = generations_in(folder);
    for (const Generation& generation : all) {
      std::error_code ignored;
      fs::rename(generation.folder_in(folder), generation.folder_in(folder) + part_suffix, ignored);
    }
    std::ranges::copy(generations_in(folder, part_suffix), std::back_inserter(all));
    return all;
  });
  for (const Generation& generation : generations) remove_file(generation.folder_in(folder), at);
}

Checkpoints::Checkpoints(const Communicator& communicator, const CheckpointPlan& plan, Timeline& timeline,
                         CheckpointCopy* copy)
    : communicator_(communicator), plan_(plan), timeline_(timeline), copy_(copy) {}

Checkpoints::~Checkpoints() {
  abandon();
  wait_for(writing_);
  wait_for(removing_);
}

// A disk may take longer than the watchdog allows: this is progress.
void Checkpoints::wait_for(const std::future<void>& thread) {
  if (!thread.valid()) return;
  while (thread.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout) timeline_.step();
}

template <class Work>
void Checkpoints::keep_error(Work work) {
  if (error_.empty()) error_ = error_of(work);
}

void Checkpoints::begin(const CheckpointHeader& header, std::span<const GlobalIndex> pivots) {
  header_ = header;
  header_->run = plan_.run;
  folder_ = Generation{header.pass, plan_.run}.folder_in(plan_.folder);
  wait_for(removing_);                      // two generations at most
  if (removing_.valid()) removing_.wait();  // removes them if no thread could be started
  keep_error([&] {
    if (copy_ == nullptr) return open_file(pivots);
    copy_->clear();
    pivots_.assign(pivots.begin(), pivots.end());
  });
}

void Checkpoints::add(std::span<const std::byte> piece) {
  const auto scope = timeline_.scope(Lane::cpu, Phase::checkpoint, static_cast<std::int64_t>(piece.size()));
  keep_error([&] { copy_ != nullptr ? copy_->add(piece) : writer_->add(piece); });
}

// If no thread can be started, commit() writes.
void Checkpoints::end() {
  keep_error([&] {
    writing_ = std::async([this] {
      if (copy_ != nullptr) write_copy();
      writer_->finish();
      sync_folder(folder_ + part_suffix);
      on_disk_ = Clock::now();
    });
  });
}

void Checkpoints::open_file(std::span<const GlobalIndex> pivots) {
  opened_ = Clock::now();
  fs::create_directories(folder_ + part_suffix);
  writer_.emplace(folder_ + part_suffix + "/" + file_name(header_->at), *header_, pivots);
}

void Checkpoints::write_copy() {
  open_file(pivots_);
  for (const std::span<const std::byte> piece : copy_->pieces()) {
    if (abandoned_) throw CheckpointError(folder_ + " is abandoned");
    writer_->add(piece);
  }
}

bool Checkpoints::is_writing() const {
  return writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
}

void Checkpoints::commit() {
  if (!is_pending()) return;
  if (writing_.valid()) {
    const auto scope = timeline_.scope(Lane::cpu, Phase::checkpoint);
    wait_for(writing_);
    keep_error([&] { writing_.get(); });
  }
  writer_.reset();
  const Index pass = header_->pass;
  std::vector<Generation> others;
  try {
    agree_or_throw(communicator_, error_);
    keep_error([&] {
      std::error_code error;  // another rank on this host may have renamed it
      fs::rename(folder_ + part_suffix, folder_, error);
      if (error && !is_there(folder_)) throw CheckpointError(folder_ + ": " + error.message());
      sync_folder(plan_.folder);
      // now: no rank begins the next one before all have agreed
      others = generations_in(plan_.folder);
      std::erase(others, Generation{pass, plan_.run});
      std::ranges::copy(generations_in(plan_.folder, part_suffix), std::back_inserter(others));
    });
    agree_or_throw(communicator_, error_);
  } catch (const AgreedError& failure) {
    remove_file(folder_, header_->at);
    ++failed_;
    const std::string earlier = last_ ? "; the one after " + std::to_string(*last_) + " is " : "";
    const bool is_kept = keeps_last(header_->at);
    if (communicator_.rank() == 0) {
      spdlog::warn("the checkpoint after {} passes is not written: {}{}", pass, failure.what(),
                   earlier.empty() ? "" : earlier + (is_kept ? "kept" : "gone, too"));
    }
    clear();
    return;
  }
  // a file system takes a while to free the blocks of a large file
  removing_ = std::async([this, others = std::move(others), at = header_->at] {
    for (const Generation& generation : others) remove_file(generation.folder_in(plan_.folder), at);
  });
  seconds_of_disk_ += std::chrono::duration<double>(on_disk_ - opened_).count();
  last_ = pass;
  ++completed_;
  clear();
}

bool Checkpoints::keeps_last(GridPosition at) {
  if (!last_ || !all_agree(communicator_, is_there(last_file(at)))) last_.reset();
  return last_.has_value();
}

std::string Checkpoints::last_file(GridPosition at) const {
  return Generation{*last_, plan_.run}.folder_in(plan_.folder) + "/" + file_name(at);
}

void Checkpoints::clear() {
  header_.reset();
  error_.clear();
}

}  // namespace glinpack
