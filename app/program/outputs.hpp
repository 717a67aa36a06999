// Where results go: checked before any run, written so that a reader never sees half a file.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/input/hpl_dat.hpp"
#include "app/options/plu_options.hpp"
#include "app/record/progress.hpp"
#include "base/new_file.hpp"

namespace glinpack::app {

/// Names of the files to write, the output folder in front; empty: not written.
struct OutputPaths {
  std::string folder;
  std::string report;  // beside or instead of stdout
  std::string json;
  std::string csv;
  std::string trace;
  std::string solution;
  std::string result;               // a standalone mode's --output
  std::vector<std::string> inputs;  // files that the command reads; empty names: none
  bool may_replace = false;         // --force
  bool may_replace_report = false;  // HPL.dat names it: xhpl overwrites it
  bool has_folder_option = false;   // the command has --output-dir
  bool report_on_stdout = true;
  bool report_on_stderr = false;  // HPL.dat's device 7
};

/// Puts the folder before the names; report.txt, results.json and results.csv are the names of those without one.
void put_into_folder(OutputPaths& paths);

/// HPL.dat's device line moves the report from stdout to stderr or its file. With an output folder:
/// report.txt, results.json and results.csv in it, unless an option or HPL.dat names them.
OutputPaths output_paths(const PluOptions& options, const std::optional<HplDat>& hpl_dat);
/// The same for what subcommands share.
template <class Options>
OutputPaths output_paths(const Options& options) {
  OutputPaths paths;
  paths.folder = options.output_dir;
  paths.json = options.json;
  paths.csv = options.csv;
  paths.may_replace = options.force;
  paths.inputs = {options.config};
  if constexpr (requires { options.trace; }) paths.trace = options.trace;
  if constexpr (requires { options.output; }) paths.result = options.output;
  if constexpr (requires { options.input; }) paths.inputs.push_back(options.input);
  put_into_folder(paths);
  return paths;
}

/// Throws InputError: a folder that is missing (all but --output-dir must exist) or not writable, a file that exists
/// (without `force`), the same file twice, a file that is also read. Leaves no files.
void check_outputs(const OutputPaths& paths, bool force);

/// The same for files of --output-dir that no option names; the folder may be missing.
void check_output_folder(const std::string& folder, std::span<const std::string> files, bool force);

/// The same for one file, which the option names; nothing for an empty path. `inputs`: the files to read.
void check_output(const char* option, const std::string& path, bool force, const std::vector<std::string>& inputs = {});

/// Throws InputError if the file to write is one of those to read. Ignores empty names.
void check_not_input(const char* option, const std::string& path, std::span<const std::string> inputs);

/// Makes the output folder if it is missing. Throws InputError.
void make_output_folder(const OutputPaths& paths);

/// The report, on stdout, on stderr, in its file, or on stdout and in the file.
class ReportStream {
 public:
  explicit ReportStream(const OutputPaths& paths);
  ReportStream(const ReportStream&) = delete;
  ReportStream& operator=(const ReportStream&) = delete;
  /// If something cannot be written, the run continues: its other files are worth having.
  void write(const std::string& text);
  /// Why some of the report is missing; empty if all was written.
  const std::string& failure() const { return failure_; }

 private:
  std::string path_;
  std::optional<FileBuffer> file_;
  std::vector<std::streambuf*> targets_;
  std::string failure_;
};

/// Writes a device or a pipe directly. Else writes a temporary file in the folder of `path`, then puts it in place.
/// Replaces an existing file only if `may_replace`; else the temporary file stays. Does nothing if the path is empty.
/// Throws std::runtime_error naming path and cause.
void write_file(const std::string& path, bool may_replace, const std::function<void(std::ostream&)>& write);

/// True for a device, a pipe, and the name of an open descriptor, such as /dev/stdout: no file can be put in its place.
bool is_written_directly(const std::string& path);

/// Prints without control characters but newlines and tabs. True if the text was written, or if its reader has ended,
/// as `head` does.
bool is_printed(std::ostream& out, const std::string& text);

/// Throws std::runtime_error unless the text is printed.
void print(std::ostream& out, const std::string& text);

/// What a tool found: prints `text`, and writes its JSON to `path` unless that is empty, each even if the other fails.
/// Throws std::runtime_error that says what failed.
void write_findings(std::ostream& out, const std::string& text, const std::string& path, bool may_replace,
                    const nlohmann::json& document);

/// Writes several files: one that cannot be written does not cost the others. What it has written itself it may
/// replace.
class FileWriter {
 public:
  explicit FileWriter(bool may_replace) : may_replace_(may_replace) {}
  /// As write_file, but what is thrown is kept.
  void write(const std::string& path, const std::function<void(std::ostream&)>& content);
  /// The same for results that a later write() replaces: nothing for a device or a pipe.
  void keep(const std::string& path, const std::function<void(std::ostream&)>& content);
  /// All that went wrong so far, or nothing; it is forgotten.
  std::string take_failures() { return std::exchange(not_written_, {}); }
  /// Throws std::runtime_error with all that went wrong, with the report, too.
  void finish(const ReportStream& report);

 private:
  bool may_replace_;
  std::set<std::string> written_;
  std::string not_written_;
};

/// Progress at the level info of the log; at debug, of short runs, too. Not `shown`: none.
Progress progress_on_stderr(bool shown = true);

}  // namespace glinpack::app
