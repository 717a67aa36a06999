#include "app/program/outputs.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/program/agreement.hpp"
#include "app/program/log.hpp"

namespace glinpack::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* report_is_lost = "the report cannot be written to standard output";

std::string in_folder(const std::string& folder, const std::string& name) {
  if (name.empty() || folder.empty()) return name;
  return (fs::path(folder) / name).string();
}

// The option that a file's name comes from, for messages.
struct NamedFile {
  const char* option;
  const std::string& path;
};

std::vector<NamedFile> files_of(const OutputPaths& paths) {
  return {
      {"the report", paths.report},        {"--json", paths.json},    {"--csv", paths.csv}, {"--trace", paths.trace},
      {"--save-solution", paths.solution}, {"--output", paths.result}};
}

// Creates a file beside the path and removes it: access rights do not show root, read-only file systems and quotas.
// False with errno.
bool can_create(const fs::path& path) {
  std::string probe;
  const int descriptor = create_beside(path, probe);
  if (descriptor < 0) return false;
  close(descriptor);
  unlink(probe.c_str());
  return true;
}

// The folder itself, or the nearest one above it that exists.
fs::path nearest_existing(fs::path folder) {
  std::error_code error;
  folder = fs::absolute(folder, error).lexically_normal();
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

enum class Missing { is_refused, is_refused_with_advice, is_made };

void check_folder(const fs::path& folder, const std::string& what, Missing missing) {
  const bool will_be_made = missing == Missing::is_made;
  std::error_code error;
  const fs::path present = will_be_made ? nearest_existing(folder) : folder;
  if (!fs::exists(present, error)) {
    throw InputError(
        what + ": folder " + folder.string() + " does not exist; make it" +
        (missing == Missing::is_refused_with_advice ? ", or use --output-dir" : ", or choose another one"));
  }
  if (!fs::is_directory(present, error)) throw InputError(what + ": " + present.string() + " is not a folder");
  if (can_create(present / ".glinpack")) return;
  throw InputError(what + ": folder " + present.string() + " is not writable: " + std::strerror(errno) +
                   "; choose another one");
}

// The same for all names of a file.
fs::path canonical_path(const fs::path& path) { return fs::weakly_canonical(fs::absolute(path)); }

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

// Files are put in place whole, which would replace a link by a file.
void check_kind(const fs::path& path, const std::string& what) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (is_written_directly(path)) {
    if (access(path.c_str(), W_OK) == 0) return;
    throw InputError(what + ": " + path.string() + " cannot be written: " + std::strerror(errno) +
                     "; choose another name");
  }
  const bool dangling = fs::is_symlink(fs::symlink_status(path, error)) && !fs::exists(status);
  if (dangling || (fs::exists(status) && !fs::is_regular_file(status))) {
    throw InputError(what + ": " + path.string() + " is " + (dangling ? "a link to nothing" : "not a regular file") +
                     "; choose another name");
  }
}

// Checks for an existing file.
void check_target(const char* option, const std::string& path, bool force) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw InputError(std::string(option) + ": " + path + " is a folder, not a file");
  check_kind(path, option);
  if (fs::exists(path, error) && !force && !is_written_directly(path)) {
    throw InputError(std::string(option) + ": " + path +
                     " exists and is not overwritten; use --force, or choose another name");
  }
}

// Checks the folder and the name.
void check_place(const char* option, const std::string& path, bool has_folder_option) {
  if (is_written_directly(path)) return;
  check_folder(folder_of(path), option, has_folder_option ? Missing::is_refused_with_advice : Missing::is_refused);
  // a name may be too long, or not one that this file system takes
  if (!can_create(path))
    throw InputError(std::string(option) + ": " + path + " cannot be written: " + std::strerror(errno));
}

// Writes the text to a device, a pipe or an open descriptor.
void write_directly(const std::string& path, const std::string& text) {
  std::cout << std::flush;
  int descriptor = open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  struct stat target {
  }, standard{};
  if (descriptor >= 0 && fstat(descriptor, &target) == 0) {
    // a file behind /dev/stdout is continued where the report ends
    for (const int open_one : {STDOUT_FILENO, STDERR_FILENO}) {
      if (fstat(open_one, &standard) != 0 || standard.st_dev != target.st_dev || standard.st_ino != target.st_ino)
        continue;
      close(descriptor);
      descriptor = dup(open_one);
      break;
    }
  }
  std::size_t done = 0;
  while (descriptor >= 0 && done < text.size()) {
    const ssize_t count = write(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) break;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  const std::string cause = std::strerror(errno);
  if (descriptor >= 0) close(descriptor);
  if (descriptor < 0 || done < text.size()) throw std::runtime_error(path + " cannot be written: " + cause);
}

// With --force, a link stays a link: what it names is replaced.
std::string target_of(const std::string& path, bool may_replace) {
  return may_replace && fs::exists(path) ? fs::canonical(path).string() : path;
}

// As write_file(), but replaces a link itself.
void write_to(const std::string& path, bool may_replace, const std::function<void(std::ostream&)>& write) {
  const std::string temporary = write_beside(path, write);
  if (put_in_place(temporary, path, may_replace)) return;
  throw std::runtime_error(path + " cannot be renamed: " + std::strerror(errno) + "; its content is in " + temporary);
}

}  // namespace

void put_into_folder(OutputPaths& paths) {
  paths.has_folder_option = true;
  if (paths.folder.empty()) return;
  paths.report = "report.txt";
  if (paths.json.empty()) paths.json = "results.json";
  if (paths.csv.empty()) paths.csv = "results.csv";
  for (std::string* name : {&paths.report, &paths.json, &paths.csv, &paths.trace, &paths.solution, &paths.result}) {
    *name = in_folder(paths.folder, *name);
  }
}

OutputPaths output_paths(const PluOptions& options, const std::optional<HplDat>& hpl_dat) {
  OutputPaths paths = output_paths(options);
  paths.solution = in_folder(paths.folder, options.save_solution);
  paths.inputs.push_back(options.hpl_dat);
  if (hpl_dat && !hpl_dat->to_stdout()) {
    paths.report_on_stdout = false;
    paths.report_on_stderr = hpl_dat->to_stderr();
    if (!paths.report_on_stderr) {
      paths.report = in_folder(paths.folder, hpl_dat->output_file);
      paths.may_replace_report = true;
    }
  }
  return paths;
}

void check_outputs(const OutputPaths& paths, bool force) {
  if (!paths.folder.empty()) check_folder(paths.folder, "--output-dir", Missing::is_made);
  if (!paths.solution.empty() && !paths.solution.ends_with(".npy") && !is_written_directly(paths.solution)) {
    throw InputError("--save-solution: " + paths.solution +
                     ": NumPy's format is written; give a name that ends in .npy");
  }
  const std::vector<NamedFile> files = files_of(paths);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& [option, path] = files[i];
    if (path.empty()) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (files[j].path.empty() || canonical_path(files[j].path) != canonical_path(path)) continue;
      throw InputError(std::string(option) + ": " + path + " is also the file of " + files[j].option +
                       "; give them different names");
    }
    check_not_input(option, path, paths.inputs);
    const bool is_of_hpl_dat = &path == &paths.report && paths.may_replace_report;
    check_target(option, path, force || is_of_hpl_dat);
    if (is_of_hpl_dat && !force && fs::is_symlink(path) && !is_written_directly(path)) {
      throw InputError(std::string(option) + ": " + path + " is a link; name its file in HPL.dat, or use --force");
    }
    const fs::path folder = folder_of(path);
    const bool will_be_made =
        !paths.folder.empty() && folder.lexically_normal() == fs::path(paths.folder).lexically_normal();
    if (!will_be_made) check_place(option, path, paths.has_folder_option);
  }
}

void check_output_folder(const std::string& folder, std::span<const std::string> files, bool force) {
  check_folder(folder, "--output-dir", Missing::is_made);
  for (const std::string& file : files) check_target("--output-dir", file, force);
}

void check_output(const char* option, const std::string& path, bool force, const std::vector<std::string>& inputs) {
  if (path.empty()) return;
  check_not_input(option, path, inputs);
  check_target(option, path, force);
  check_place(option, path, false);
}

void check_not_input(const char* option, const std::string& path, std::span<const std::string> inputs) {
  if (path.empty()) return;
  for (const std::string& input : inputs) {
    if (input.empty() || canonical_path(input) != canonical_path(path)) continue;
    throw InputError(std::string(option) + ": " + path + " is also one of the files to read; choose another name");
  }
}

void make_output_folder(const OutputPaths& paths) {
  if (paths.folder.empty()) return;
  std::error_code error;
  fs::create_directories(paths.folder, error);
  if (error) throw InputError("--output-dir: " + paths.folder + " cannot be made: " + error.message());
}

ReportStream::ReportStream(const OutputPaths& paths) : path_(paths.report) {
  if (!path_.empty()) {
    // made here and now, or refused: another run may have made it since it was looked for
    const bool replaces = paths.may_replace || paths.may_replace_report;
    file_.emplace(is_written_directly(path_)
                      ? open(path_.c_str(), O_WRONLY | O_CLOEXEC)
                      : create_file(target_of(path_, paths.may_replace), replaces ? O_TRUNC : O_EXCL));
    if (!file_->is_open()) throw InputError("the report: " + path_ + " cannot be written: " + std::strerror(errno));
  }
  if (paths.report_on_stdout || path_.empty()) {
    targets_.push_back(paths.report_on_stderr ? std::cerr.rdbuf() : std::cout.rdbuf());
  }
  if (file_) targets_.push_back(&*file_);
}

void ReportStream::write(const std::string& text) {
  const auto size = static_cast<std::streamsize>(text.size());
  for (std::streambuf* target : targets_) {  // if one of file and standard output fails, the other continues
    if (target->sputn(text.data(), size) == size && target->pubsync() == 0) continue;
    failure_ = "the report is incomplete" + (path_.empty() ? std::string() : ", on standard output or in " + path_) +
               ": is the disk full, or has its reader ended?";
  }
}

void write_file(const std::string& path, bool may_replace, const std::function<void(std::ostream&)>& write) {
  if (path.empty()) return;
  if (is_written_directly(path)) {
    std::ostringstream text;
    write(text);
    write_directly(path, text.str());
  } else {
    write_to(target_of(path, may_replace), may_replace, write);
  }
}

bool is_written_directly(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const fs::path folder = fs::weakly_canonical(folder_of(path), error);
  return fs::is_character_file(status) || fs::is_fifo(status) || folder == "/dev" ||
         folder.native().starts_with("/proc/");
}

bool is_printed(std::ostream& out, const std::string& text) {
  errno = 0;
  return (out << without_controls(text, "\n\t") << std::flush) || errno == EPIPE;
}

void print(std::ostream& out, const std::string& text) {
  if (!is_printed(out, text)) throw std::runtime_error(report_is_lost);
}

void write_findings(std::ostream& out, const std::string& text, const std::string& path, bool may_replace,
                    const nlohmann::json& document) {
  std::string failures;
  if (!is_printed(out, text)) failures = report_is_lost;
  try {
    write_file(path, may_replace, [&](std::ostream& file) { file << dumped(document, 2) << '\n'; });
  } catch (const std::runtime_error& error) {
    failures += (failures.empty() ? "" : "; ") + std::string(error.what());
  }
  if (!failures.empty()) throw std::runtime_error(failures);
}

void FileWriter::keep(const std::string& path, const std::function<void(std::ostream&)>& content) {
  if (!path.empty() && !is_written_directly(path)) write(path, content);
}

void FileWriter::write(const std::string& path, const std::function<void(std::ostream&)>& content) {
  if (path.empty()) return;
  try {
    // a link made since is no wish of the user
    const bool is_own = !may_replace_ && written_.contains(path) && !is_written_directly(path);
    is_own ? write_to(path, true, content) : write_file(path, may_replace_, content);
    written_.insert(path);
  } catch (const std::exception& error) {
    not_written_ += (not_written_.empty() ? "" : "; ") + std::string(error.what());
  }
}

void FileWriter::finish(const ReportStream& report) {
  not_written_ += (not_written_.empty() || report.failure().empty() ? "" : "; ") + report.failure();
  if (!not_written_.empty()) throw std::runtime_error(not_written_);
}

Progress progress_on_stderr(bool shown) {
  const bool logs = shown && spdlog::should_log(spdlog::level::info);
  const ProgressMode mode = !logs                                      ? ProgressMode::never
                            : spdlog::should_log(spdlog::level::debug) ? ProgressMode::always
                                                                       : ProgressMode::automatic;
  const int terminal = stderr_terminal();
  if (terminal < 0) return {mode, std::cerr, nullptr, false};
  return {mode, std::cerr, [terminal] { return columns_of(terminal); }, terminal != STDERR_FILENO};
}

}  // namespace glinpack::app
