// A run of a standalone mode: measures, prints one line per result, writes the files at the end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/modes/mode_machine.hpp"
#include "app/modes/mode_record.hpp"
#include "app/modes/modes.hpp"
#include "app/outputs.hpp"
#include "app/report/progress.hpp"

namespace glinpack::app {

class ModeRun {
 public:
  /// Checks that the output files can be written, without writing them. `configuration`: every option of the mode with
  /// its value. Throws InputError.
  ModeRun(std::string mode, const ModeOptions& options, nlohmann::json configuration, const ModeInvocation& invocation);

  /// Prints the report's head. Call it after all input has been checked.
  void begin(const ModeMachine& machine);
  /// Like begin(), without the head of the table of times, for modes with their own tables.
  void begin_without_times(const ModeMachine& machine);

  /// Calls once() --warm-up times, then --repeat times, and reads the stages of each from the clock. `label`: the name
  /// for the progress display; `flops` of one call, 0 if unknown.
  MeasuredStages measure(solvers::StageClock& clock, const std::string& label, double flops,
                         const std::function<void()>& once);

  /// Prints the record's line. Add the rival of a size before the records to be compared with it.
  void add(ModeRecord record);
  /// Stores a record without printing a line.
  void keep(ModeRecord record) { records_.push_back(std::move(record)); }
  const std::vector<ModeRecord>& records() const { return records_; }

  /// Prints text into the report, for a mode's own tables.
  void print(const std::string& text);
  /// Sets a mode-specific value in the JSON; docs/solver.schema.json must have the key.
  void add_to_json(const std::string& key, nlohmann::json value) { more_[key] = std::move(value); }

  /// Replaces the default --csv content.
  void replace_csv(std::string text) { csv_ = std::move(text); }

  /// Writes --output by `write` if it is requested.
  void write_result(const std::function<void(std::ostream&)>& write);
  const OutputPaths& outputs() const { return outputs_; }

  /// Prints fits of this degree if --fit is given, and writes the files. Returns the exit code.
  int finish(const ModeMachine& machine, int fit_degree);

 private:
  std::string mode_;
  ModeOptions options_;
  nlohmann::json configuration_;
  ModeInvocation invocation_;
  OutputPaths outputs_;
  Progress progress_;
  std::unique_ptr<ReportStream> report_;
  std::vector<ModeRecord> records_;
  std::string csv_;  // empty: one line per record
  nlohmann::json more_ = nlohmann::json::object();
};

}  // namespace glinpack::app
