#include "app/modes/mode_run.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/agreement.hpp"
#include "app/modes/fit.hpp"
#include "app/modes/mode_report.hpp"
#include "app/program_context.hpp"

namespace glinpack::app {

namespace {

constexpr int exit_check_failed = 1;

MeasuredStages spread_of_stages(const std::vector<solvers::StageTimes>& rounds) {
  const auto spread = [&](const auto& seconds) {
    std::vector<double> values;
    for (const solvers::StageTimes& times : rounds) values.push_back(seconds(times));
    return spread_of(std::move(values));
  };
  MeasuredStages measured;
  measured.compute = spread([](const solvers::StageTimes& times) { return times.compute(); });
  measured.with_transfer = spread([](const solvers::StageTimes& times) { return times.with_transfer(); });
  measured.with_all = spread([](const solvers::StageTimes& times) { return times.with_all(); });
  for (const solvers::Stage stage : solvers::all_stages) {
    measured.stages[static_cast<std::size_t>(stage)] =
        spread([stage](const solvers::StageTimes& times) { return times.of(stage); });
  }
  return measured;
}

}  // namespace

ModeRun::ModeRun(std::string mode, const ModeOptions& options, nlohmann::json configuration,
                 const ModeInvocation& invocation)
    : mode_(std::move(mode)),
      options_(options),
      configuration_(std::move(configuration)),
      invocation_(invocation),
      outputs_(output_paths(options)),
      progress_(progress_on_stderr(options.progress)) {
  check_outputs(outputs_, options.force);
}

void ModeRun::begin(const ModeMachine& machine) {
  begin_without_times(machine);
  print(mode_table_head());
}

void ModeRun::begin_without_times(const ModeMachine& machine) {
  make_output_folder(outputs_);
  report_ = std::make_unique<ReportStream>(outputs_);
  std::string head = mode_head(mode_, machine);
  for (const std::string& note : invocation_.notes) head += note + "\n";
  print(head);
}

void ModeRun::print(const std::string& text) {
  report_->stream() << text;
  report_->flush();
}

MeasuredStages ModeRun::measure(solvers::StageClock& clock, const std::string& label, double flops,
                                const std::function<void()>& once) {
  const int rounds = options_.warm_up + options_.repeat;
  progress_.begin(mode_ + " " + label, flops * rounds);
  std::vector<solvers::StageTimes> times;
  for (int round = 0; round < rounds; ++round) {
    clock.clear();
    once();
    if (round >= options_.warm_up) times.push_back(clock.times());
    progress_.update(static_cast<double>(round + 1) / rounds);
  }
  progress_.end();
  MeasuredStages measured = spread_of_stages(times);
  measured.intervals = clock.intervals();
  return measured;
}

void ModeRun::add(ModeRecord record) {
  const auto rival = std::find_if(records_.rbegin(), records_.rend(), [&](const ModeRecord& other) {
    return other.is_rival && other.size == record.size && other.precision == record.precision;
  });
  if (!record.is_rival && record.failure.empty() && rival != records_.rend() && rival->failure.empty()) {
    const auto ratio = [](const Measured& theirs, const Measured& ours) -> std::optional<double> {
      if (theirs.median <= 0 || ours.median <= 0) return std::nullopt;
      return theirs.median / ours.median;
    };
    record.speedup = ratio(rival->times.compute, record.times.compute);
    record.speedup_with_all = ratio(rival->times.with_all, record.times.with_all);
  }
  print(mode_line(record));
  records_.push_back(std::move(record));
}

void ModeRun::write_result(const std::function<void(std::ostream&)>& write) {
  write_file(outputs_.result, options_.force, write);
}

int ModeRun::finish(const ModeMachine& machine, int fit_degree) {
  std::vector<SeriesFit> fits;
  if (options_.fit) fits = fit_series(records_, fit_degree);
  print(fits_text(fits));
  nlohmann::json document = mode_json(mode_, machine, records_, fits);
  document["context"] = program_context(invocation_.command_line, configuration_);
  for (const std::string& note : invocation_.notes) document["notes"].push_back(note);
  document.update(more_);
  FileWriter files(options_.force);
  files.write(outputs_.json, [&](std::ostream& file) { file << dumped(document, 2) << '\n'; });
  files.write(outputs_.csv, [&](std::ostream& file) { file << (csv_.empty() ? mode_csv(mode_, records_) : csv_); });
  files.write(outputs_.trace, [&](std::ostream& file) { file << dumped(mode_trace(mode_, records_)) << '\n'; });
  files.finish(*report_);
  const bool passed =
      std::all_of(records_.begin(), records_.end(), [](const ModeRecord& record) { return record.passed(); });
  return passed ? 0 : exit_check_failed;
}

}  // namespace glinpack::app
