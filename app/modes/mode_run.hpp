// A run of a standalone mode: measures, prints a line per result, writes the files at the end.
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
  /// Checks that the output files can be written; writes nothing yet. `configuration`: every option of the mode with
  /// its value. Throws InputError.
  ModeRun(std::string mode, const ModeOptions& options, nlohmann::json configuration, const ModeInvocation& invocation);

  /// Prints the report's head. Call it once all input is known to be usable.
  void begin(const ModeMachine& machine);
  /// The same without the head of the table of times: the mode prints tables of its own.
  void begin_without_times(const ModeMachine& machine);

  /// Calls once() --warm-up times, then --repeat times, and takes the stages of each from the clock. `label` names it
  /// where progress is shown; `flops` of one round, 0: not counted.
  MeasuredStages measure(solvers::StageClock& clock, const std::string& label, double flops,
                         const std::function<void()>& once);

  /// Prints the record's line. The rival of a size comes before those that are compared with it.
  void add(ModeRecord record);
  /// Keeps a record whose line the mode prints itself.
  void keep(ModeRecord record) { records_.push_back(std::move(record)); }
  const std::vector<ModeRecord>& records() const { return records_; }

  /// Prints text into the report: tables of the mode's own.
  void print(const std::string& text);
  /// Puts a value of the mode's own into the JSON, under a key that docs/solver.schema.json has.
  void add_to_json(const std::string& key, nlohmann::json value) { more_[key] = std::move(value); }

  /// Puts the mode's own text into --csv instead of a line per record.
  void replace_csv(std::string text) { csv_ = std::move(text); }

  /// Writes --output by `write`, unless it is not asked for.
  void write_result(const std::function<void(std::ostream&)>& write);
  const OutputPaths& outputs() const { return outputs_; }

  /// Fits (where --fit asks for them; polynomials of this degree) and files. Returns the exit code.
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
  std::string csv_;  // empty: the records'
  nlohmann::json more_ = nlohmann::json::object();
};

}  // namespace glinpack::app
