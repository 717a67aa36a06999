#include "app/plu/sweep.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "app/input/matrix_file.hpp"
#include "app/plu/checkpointing.hpp"
#include "app/plu/plan_text.hpp"
#include "app/program/agreement.hpp"
#include "app/program/automatic.hpp"
#include "app/program/log.hpp"
#include "app/program/memory.hpp"
#include "app/program/mpi_command.hpp"
#include "app/program/peak.hpp"
#include "app/record/hpl_report.hpp"
#include "app/record/progress.hpp"
#include "app/record/timeline.hpp"
#include "backend/registry.hpp"
#include "base/measuring.hpp"
#include "matrix/matrix_source.hpp"
#include "mpi/scatter_matrix.hpp"
#include "run/run.hpp"
#include "watch/stop_request.hpp"

namespace glinpack::app {

namespace {

// JSON and CSV are written between runs, too, so that what is finished is not lost, but seldom enough to cost little.
constexpr double min_seconds_between_files = 5;
constexpr double max_share_of_files = 0.05;

// What rank 0 shows and writes.
class Reporter {
 public:
  /// `ranks`: of the first run, without results. `peaks`: of each process, flops a second; empty: unknown. Runs
  /// that reach more raise them.
  Reporter(SweepInput& input, const std::vector<RankRecord>& ranks, std::vector<double>& peaks)
      : input_(input),
        peaks_(peaks),
        stream_(input.outputs),
        progress_(progress_on_stderr()),
        files_(input.outputs.may_replace) {
    stream_.write(report_.head(input.context, input.planned) + report_.machine(ranks));
  }

  /// Starts with the run's timed section: what comes before it is no part of the rate. `kind`: of run, before its
  /// label.
  ProgressObserver observer_of(const RunRecord& run, const std::string& kind = "") {
    const std::string label = kind + label_of(run);
    const Index passes_before = run.result.resumed ? run.result.resumed->passes : 0;
    const Index n = std::max<Index>(0, run.parameters.n - passes_before * run.parameters.nb);
    progress_.prepare(label, run.result.resumed ? "reading the checkpoint" : "generating the matrix");
    return [this, n, label](double fraction) {
      if (fraction == 0) {
        progress_.begin(label, hpl_flops(n), n);
      } else {
        progress_.update(fraction);
      }
    };
  }

  /// True if a signal has asked for an end, and there are runs left.
  bool end(RunRecord& run) {
    progress_.end();
    if (run.result.passes_done) {
      ended_ = &run;
      return true;
    }
    show(run);
    ++finished_;
    const bool complete = finished_ == input_.planned.size();
    if (!complete && stop_signal() == 0) keep_what_is_finished();
    return !complete && stop_signal() != 0;
  }

  void finish() {
    const std::optional<Incomplete> incomplete = what_is_missing();
    std::string text = incomplete ? incomplete_text(*incomplete) : "";
    const RunRecord& first = input_.planned.front();  // the only one with checkpoints
    if (ended_ != nullptr || is_corrupted(first.result)) text += how_to_resume(first, input_.options);
    stream_.write(text + report_.tail());
    write_results(&FileWriter::write, incomplete);
    const OutputPaths& paths = input_.outputs;
    files_.write(paths.trace, [&](std::ostream& out) { write_trace(out, records()); });
    if (!paths.solution.empty() && solution_.empty()) {
      spdlog::warn("the last run has no solution; {} is not written", paths.solution);
    } else {
      files_.write(paths.solution, [&](std::ostream& out) { write_npy(out, solution_); });
    }
    files_.finish(stream_);
  }

  int exit_code() const {
    if (finished_ < input_.planned.size()) return exit_interrupted;
    return report_.failed() > 0 ? 1 : 0;
  }

 private:
  void show(RunRecord& run) {
    make_or_warn("the energy of " + label_of(run), [&] { run.energy = energy_of(run.result); });
    run.breakdown = break_down(run.result);
    run.units = compute_units(run.result.ranks);
    if (!peaks_.empty()) set_peak(run);
    std::string text = report_.run(run) + rate_text(run);
    if (run.energy) text += energy_text(*run.energy);
    const BreakdownTable table = breakdown_table();
    if (table == BreakdownTable::phases) text += phases_text(run.breakdown);
    if (table == BreakdownTable::roles) text += roles_text(run.breakdown);
    stream_.write(text);
    if (!run.result.solution.empty()) solution_ = std::move(run.result.solution);
    keep_for_files(run);
  }

  BreakdownTable breakdown_table() const {
    if (input_.options.breakdown != BreakdownTable::automatic) return input_.options.breakdown;
    return input_.planned.size() <= max_runs_with_breakdown ? BreakdownTable::phases : BreakdownTable::none;
  }

  Peak peak_of(const std::vector<RankRecord>& ranks) const {
    Peak peak{.gflops = 0, .stated = input_.options.peak.has_value()};
    for (const RankRecord& rank : ranks) peak.gflops += peaks_.at(static_cast<std::size_t>(rank.world_rank)) / 1e9;
    return peak;
  }

  /// A measured peak below the rate is wrong: the rate of a run that passed replaces it.
  void set_peak(RunRecord& run) {
    run.peak = peak_of(run.result.ranks);
    const double excess = *run.of_peak();
    if (run.peak->stated || !(excess > 1)) return;
    // other products may exceed the peak, which is that of multiply-adds
    const bool is_plain = run.result.ranks.front().backend.products == "plain";
    if (!run.result.passed || !is_plain) return run.peak.reset();
    for (const RankRecord& rank : run.result.ranks) peaks_.at(static_cast<std::size_t>(rank.world_rank)) *= excess;
    run.peak = Peak{.gflops = run.result.gflops, .exceeded = run.peak->gflops};
  }

  /// Frees what no file will have.
  void keep_for_files(RunRecord& run) const {
    const OutputPaths& paths = input_.outputs;
    if (!paths.trace.empty()) return;
    for (RankRecord& rank : run.result.ranks) {
      rank.intervals = {};
      rank.power = {};
    }
    if (!paths.json.empty() || !paths.csv.empty()) return;
    run.result.ranks.clear();
    run.breakdown = {};
  }

  std::span<const RunRecord> records() const { return std::span(input_.planned).first(finished_); }

  std::optional<Incomplete> what_is_missing() const {
    if (finished_ == input_.planned.size()) return std::nullopt;
    return Incomplete{.signal = name_of_signal(stop_signal()),
                      .planned = input_.planned.size(),
                      .finished = finished_,
                      .ended = ended_};
  }

  void write_results(decltype(&FileWriter::write) write, const std::optional<Incomplete>& incomplete) {
    const OutputPaths& paths = input_.outputs;
    (files_.*write)(paths.json, [&](std::ostream& out) {
      out << dumped(results_json(input_.context, records(), incomplete), 2) << "\n";
    });
    (files_.*write)(paths.csv, [&](std::ostream& out) { out << results_csv(input_.context, records()); });
  }

  void keep_what_is_finished() {
    const double start = steady_seconds();
    const double cost = kept_until_ - keeping_since_;
    if (start - kept_until_ < std::max(min_seconds_between_files, cost / max_share_of_files)) return;
    write_results(&FileWriter::keep, Incomplete{.signal = "", .planned = input_.planned.size(), .finished = finished_});
    keeping_since_ = start;
    kept_until_ = steady_seconds();
    if (const std::string failures = files_.take_failures(); !failures.empty()) {
      spdlog::warn("{}; tried again after later runs", failures);
    }
  }

  SweepInput& input_;
  std::vector<double>& peaks_;
  ReportStream stream_;
  HplReport report_;
  Progress progress_;
  FileWriter files_;
  std::size_t finished_ = 0;
  const RunRecord* ended_ = nullptr;         // the run that a signal has ended
  double keeping_since_ = steady_seconds();  // when JSON and CSV were last written, and how long that took
  double kept_until_ = keeping_since_;
  std::vector<double> solution_;
};

std::unique_ptr<MatrixSource> source_for(const SweepInput& input, const RunRecord& run, const ProcessGrid& grid) {
  if (run.matrix != MatrixKind::file) {
    return make_source(run.matrix, run.parameters.n, input.options.seed);
  }
  const Distribution distribution = distribution_of(run.parameters, run.grid);
  return scatter_matrix(grid, distribution, grid.is_root() ? &input.matrix : nullptr);
}

template <class Real>
bool copies_to_peers(Backend<Real>& backend, int ranks) {
  if (ranks == 1 || backend.info().software_device) return false;
  try {
    return backend.open_peers() != nullptr;
  } catch (const std::runtime_error&) {
    return false;  // the run says why
  }
}

// Collective. Ranks may measure differently with --products auto.
bool take_the_same_products(const BackendInfo& info) {
  const bool are_plain = info.products == "plain";
  return all_agree(world(), are_plain) || all_agree(world(), !are_plain);
}

// Records what the backend has taken for --products auto.
void resolve_products(const BackendInfo& info, SweepInput& input) {
  if (option_value(input.options.backend_values, "products") != "auto") return;
  for (RunRecord& run : input.planned) run.backend_values["products"] = info.products;
  if (info.products != "plain" || !backend_record(info.backend).has_option("products")) return;
  input.context.notes.push_back(
      "--products auto takes plain products: a device has no tensor cores for others, or they are no faster");
}

void log_memory(const RunRecord& run, GridPosition position) {
  const Distribution distribution = distribution_of(run.parameters, run.grid);
  spdlog::debug("{}: local matrix {} x {}; memory taken: {} for matrices on the {}, {} for messages and panels",
                label_of(run), distribution.local_rows(position), distribution.local_columns(position),
                memory_text(static_cast<double>(run.result.memory.device)),
                computes_on_device(run.backend) ? "device" : "host",
                memory_text(static_cast<double>(run.result.memory.host)));
}

template <class Real>
void run_one(const SweepInput& input, RunRecord& run, const ProcessGrid& grid, Backend<Real>& backend,
             const RankSensors& sensors, const Checkpointing* checkpointing, Reporter* reporter, bool is_last) {
  const std::unique_ptr<MatrixSource> source = source_for(input, run, grid);
  RunOptions options;
  options.gather_solution = is_last && !input.options.save_solution.empty();
  if (reporter != nullptr) options.progress = reporter->observer_of(run);
  options.sensors = &sensors;
  if (checkpointing != nullptr) options.checkpoints = checkpointing->plan;
  run.result = glinpack::run(run.parameters, grid, backend, *source, options);
  log_memory(run, grid.position());
}

// Collective.
template <class Real>
std::unique_ptr<Backend<Real>> make_agreed_backend(const Machine& machine, Timeline& timeline) {
  std::unique_ptr<Backend<Real>> backend;
  std::string unusable_option;
  run_on_all_ranks([&] {
    try {
      backend = make_backend<Real>(machine.backend, machine.options, timeline);
    } catch (const BackendOptionError& error) {
      unusable_option = "--" + error.option() + ": " + error.what();
    }
  });
  agree_on_input(unusable_option);
  return backend;
}

// Collective. Hosts and backends of the first run's ranks, on rank 0.
std::vector<RankRecord> ranks_of_first_run(const SweepInput& input, const BackendInfo& info) {
  const ProcessGrid world(MPI_COMM_WORLD, {1, input.session.size()}, RankOrder::row_major);
  RankRecord mine;
  mine.backend = info;
  std::vector<RankRecord> ranks = gather_rank_records(world, std::move(mine));
  if (input.session.rank() == 0) ranks.resize(static_cast<std::size_t>(input.planned.front().grid.size()));
  return ranks;
}

/// Whether measuring the peak takes little of the time of the runs.
bool worth_a_peak(std::span<const RunRecord> planned) {
  constexpr double min_flops = 5e10;  // of a process
  return std::ranges::any_of(
      planned, [](const RunRecord& run) { return hpl_flops(run.parameters.n) >= min_flops * run.grid.size(); });
}

/// The operations that a process has time for with --time; infinite without it. Throws InputError if the peak is
/// unknown.
double max_flops_of_process(const PluOptions& options, const std::vector<double>& peaks) {
  if (!options.time) return std::numeric_limits<double>::infinity();
  if (peaks.empty()) throw InputError("--time: the peak rate is unknown; state it with --peak");
  return *options.time * std::accumulate(peaks.begin(), peaks.end(), 0.0) / static_cast<double>(peaks.size());
}

template <class Real>
int run_sweep_in(SweepInput& input) {
  Timeline timeline;
  std::unique_ptr<Backend<Real>> backend = make_agreed_backend<Real>(input.machine, timeline);
  if (!take_the_same_products(backend->info())) {
    input.machine.options.values["products"] = "plain";
    backend.reset();
    backend = make_agreed_backend<Real>(input.machine, timeline);
  }
  const BackendInfo info = backend->info();
  spdlog::debug("backend {}: {}, {}{}, {} host threads, {} of memory free", info.backend, info.device, info.driver,
                info.kernels.empty() ? "" : ", kernels " + info.kernels, info.threads,
                memory_text(static_cast<double>(info.free_bytes)));
  resolve_products(info, input);

  const std::vector<RankMemory> memory = gather_memory(info, copies_to_peers(*backend, input.session.size()));
  for (RunRecord& run : input.planned) run.backend = info.backend;
  std::vector<double> peaks;
  if (input.options.time) peaks = peak_rates(input.options, input.machine, input.session, true);
  const std::vector<std::string> choices = choose_automatic_values(
      input.planned, memory, {input.options.memory_fraction, max_flops_of_process(input.options, peaks)});
  plan_copies(input, memory);
  if (!input.options.runs()) {
    print_plan(input, choices);
    return 0;
  }
  input.context.notes.insert(input.context.notes.end(), choices.begin(), choices.end());
  GridCache grids;
  log_ranks(grids.grid_for(input.planned.front()), info);
  const auto checkpointing = prepare_checkpointing(input, info, grids);
  std::optional<Reporter> reporter;
  const std::vector<RankRecord> ranks = ranks_of_first_run(input, info);
  run_on_root_and_broadcast([&] {
    check_memory(input.planned, memory, !input.options.input.empty());
    make_output_folder(input.outputs);
    if (info.software_device) {
      input.context.add_note(fmt::format("software {} ({}): the processor computes, no GPU is measured",
                                         device_catalog(info.backend).api, info.device));
    }
    reporter.emplace(input, ranks, peaks);
  });

  if (!input.options.time) {
    peaks = peak_rates(input.options, input.machine, input.session,
                       input.options.measures_peak || worth_a_peak(input.planned));
  }
  const StopSignals signals(input.session.rank() == 0,
                            input.options.checkpoint.empty() ? UserSignal::end : UserSignal::checkpoint);
  const RankSensors sensors = open_sensors(input.machine, info);
  for (RunRecord& run : input.planned) {
    const ProcessGrid& grid = grids.grid_for(run);
    run_on_all_ranks([&] {
      if (!grid.active()) return;
      run_one(input, run, grid, *backend, sensors, checkpointing.get(), reporter ? &*reporter : nullptr,
              &run == &input.planned.back());
    });
    share_stop_signal(MPI_COMM_WORLD);
    if (run_on_root_and_broadcast([&] { return reporter->end(run); })) break;
  }
  if (!peaks.empty() && !input.options.peak && info.products == "plain") {
    const std::vector<double> reached = run_on_root_and_broadcast([&] { return peaks; });
    keep_reached_rate(input.options, input.machine, input.session,
                      reached.at(static_cast<std::size_t>(input.session.rank())));
  }
  const int exit_code = run_on_root_and_broadcast([&] {
    reporter->finish();
    return reporter->exit_code();
  });
  const bool may_resume = exit_code == exit_interrupted || is_corrupted(input.planned.front().result);
  if (checkpointing && !may_resume) checkpointing->remove();
  return exit_code;
}

}  // namespace

void print_plan(const SweepInput& input, std::span<const std::string> choices) {
  run_on_root_and_broadcast([&] {
    const PluOptions& options = input.options;
    std::string text;
    std::vector<std::string> remarks = input.context.notes;
    remarks.insert(remarks.end(), choices.begin(), choices.end());
    if (options.dry_run) {
      text = plan_text(input.planned, input.session.size(), remarks, spdlog::should_log(spdlog::level::debug));
    }
    if (!options.write_hpl_dat.empty()) {
      const std::string hpl_dat = hpl_dat_text(input.planned);
      write_file(options.write_hpl_dat, options.force, [&hpl_dat](std::ostream& out) { out << hpl_dat; });
      if (!is_written_directly(options.write_hpl_dat)) text += "Wrote " + options.write_hpl_dat + "\n";
    }
    if (!options.explain_pass) {
      return print(std::cout, text);
    }
    check_output("--json", options.json, options.force);
    const std::vector<RunRecord> runs = runs_to_explain(input.planned, *options.explain_pass);
    if (options.dry_run) text += "\n";
    write_findings(std::cout, text + explained_passes(runs, *options.explain_pass), options.json, options.force,
                   options.json.empty() ? nlohmann::json() : explained_passes_json(runs, *options.explain_pass));
  });
}

int run_sweep(SweepInput& input) {
  return input.options.precision == Precision::double_ ? run_sweep_in<double>(input) : run_sweep_in<float>(input);
}

}  // namespace glinpack::app
