#include "app/sweep.hpp"

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/agreement.hpp"
#include "app/automatic.hpp"
#include "app/grid_cache.hpp"
#include "app/input/matrix_file.hpp"
#include "app/model/predictor.hpp"
#include "app/report/progress.hpp"
#include "app/report/report.hpp"
#include "global/run.hpp"
#include "global/scatter.hpp"
#include "local/gl/shader_source.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_breakdowns = 10;  // that --breakdown auto shows

// What rank 0 shows and writes.
class Reporter {
 public:
  explicit Reporter(SweepInput& input)
      : input_(input),
        stream_(input.outputs),
        report_(stream_.stream()),
        progress_(progress_on_stderr(input.options.progress)),
        breakdowns_(input.options.breakdown == When::always ||
                    (input.options.breakdown == When::automatic && input.planned.size() <= most_breakdowns)),
        keeps_records_(!input.outputs.json.empty() || !input.outputs.csv.empty() || !input.outputs.trace.empty()) {
    report_.head(input.context, input.planned);
    stream_.flush();
  }

  /// Starts with the run's timed section: what comes before it is no part of the rate.
  ProgressObserver observer_of(const RunRecord& run) {
    return [this, &run](double fraction) {
      if (fraction == 0) {
        progress_.begin(label_of(run), hpl_flops(run.parameters.n));
      } else {
        progress_.update(fraction);
      }
    };
  }

  void end(RunRecord& run) {
    progress_.end();
    run.prediction = predictor_.predict_then_learn(run);
    report_.run(run);
    if (breakdowns_) stream_.stream() << breakdown_text(run);
    stream_.stream() << prediction_text(run);
    stream_.flush();
    if (!run.result.solution.empty()) solution_ = std::move(run.result.solution);
    if (!keeps_records_) run.result.ranks.clear();
  }

  void finish() {
    report_.tail();
    stream_.flush();
    const std::span<const RunRecord> records = input_.planned;
    const OutputPaths& paths = input_.outputs;
    FileWriter files(paths.may_replace);
    files.write(paths.json,
                [&](std::ostream& out) { out << dumped(results_json(input_.context, records), 2) << "\n"; });
    files.write(paths.csv, [&](std::ostream& out) { out << results_csv(records); });
    files.write(paths.trace, [&](std::ostream& out) { write_trace(out, records); });
    if (!paths.solution.empty() && solution_.empty()) {
      std::cerr << "glinpack: the last run has no solution; " << paths.solution << " is not written\n";
    } else {
      files.write(paths.solution, [&](std::ostream& out) { write_npy(out, solution_); });
    }
    files.finish();
  }

  int failed() const { return report_.failed(); }

 private:
  SweepInput& input_;
  ReportStream stream_;
  HplReport report_;
  Progress progress_;
  model::Predictor predictor_;
  bool breakdowns_;
  bool keeps_records_;
  std::vector<double> solution_;
};

std::unique_ptr<MatrixSource> source_for(const SweepInput& input, const RunRecord& run, const ProcessGrid& grid) {
  if (run.matrix != MatrixKind::file) return make_source(run.matrix, run.parameters.n, input.options.seed);
  const Distribution distribution = distribution_of(run.parameters, run.grid);
  return scatter_matrix(grid, distribution, grid.is_root() ? &input.matrix : nullptr);
}

template <class Real>
void run_one(const SweepInput& input, RunRecord& run, const ProcessGrid& grid, Backend<Real>& backend,
             Timeline& timeline, Reporter* reporter, bool is_last) {
  const std::unique_ptr<MatrixSource> source = source_for(input, run, grid);
  RunOptions options;
  options.gather_solution = is_last && !input.options.save_solution.empty();
  if (reporter != nullptr) options.progress = reporter->observer_of(run);
  run.result = glinpack::run(run.parameters, grid, backend, timeline, *source, options);
}

void add_software_note(const BackendInfo& info, ReportContext& context) {
  if (!info.software_gl) return;
  context.notes.push_back("software OpenGL (" + info.device + "): the processor draws, no GPU is measured");
}

// Collective.
template <class Real>
std::unique_ptr<Backend<Real>> make_agreed_backend(const Machine& machine, Timeline& timeline) {
  std::unique_ptr<Backend<Real>> backend;
  std::string unusable_shaders;
  together([&] {
    try {
      backend = make_backend<Real>(machine.backend, machine.options, timeline);
    } catch (const gl::ShaderFolderError& error) {
      unusable_shaders = std::string("--shader-dir: ") + error.what();
    }
  });
  agree_on_input(unusable_shaders);
  return backend;
}

// Collective. What the options left to glinpack, now that backend and memory are known; in sentences, on rank 0.
std::vector<std::string> settle_plan(SweepInput& input, std::span<const RankMemory> memory) {
  if (all_settled(input.planned)) return {};
  std::vector<std::string> choices;
  const nlohmann::json plan = decided_by_first_rank([&] {
    choices = settle(input.planned, memory, input.options.memory_fraction);
    return plan_to_json(input.planned);
  });
  if (input.session.rank() != 0) input.planned = plan_from_json(plan);
  return choices;
}

template <class Real>
int run_sweep_in(SweepInput& input) {
  Timeline timeline;
  const std::unique_ptr<Backend<Real>> backend = make_agreed_backend<Real>(input.machine, timeline);
  const BackendInfo info = backend->info();

  const std::vector<RankMemory> memory = gather_memory(info);
  for (RunRecord& run : input.planned) run.backend = info.backend;
  const std::vector<std::string> choices = settle_plan(input, memory);
  if (!input.options.runs()) {
    print_plan(input, choices);
    return 0;
  }
  input.context.notes.insert(input.context.notes.end(), choices.begin(), choices.end());
  std::optional<Reporter> reporter;
  decided_by_first_rank([&] {
    check_memory(input.planned, memory, !input.options.input.empty());
    make_output_folder(input.outputs);
    add_software_note(info, input.context);
    reporter.emplace(input);
    return nlohmann::json();
  });

  GridCache grids;
  for (RunRecord& run : input.planned) {
    const ProcessGrid& grid = grids.grid_for(run);
    together([&] {
      if (!grid.active()) return;
      run_one(input, run, grid, *backend, timeline, reporter ? &*reporter : nullptr, &run == &input.planned.back());
    });
    decided_by_first_rank([&] {
      reporter->end(run);
      return nlohmann::json();
    });
  }
  const nlohmann::json failed = decided_by_first_rank([&] {
    reporter->finish();
    return nlohmann::json(reporter->failed());
  });
  return failed.get<int>() > 0 ? 1 : 0;
}

}  // namespace

void print_plan(const SweepInput& input, std::span<const std::string> choices) {
  decided_by_first_rank([&] {
    const PluOptions& options = input.options;
    std::string text;
    if (options.dry_run) text = plan_text(input.planned, input.session.size(), choices);
    if (options.dry_run && options.explain_pass) text += "\n";
    if (options.explain_pass) text += explained_passes(input.planned, *options.explain_pass);
    if (!(std::cout << text << std::flush)) throw std::runtime_error("the plan cannot be written to standard output");
    return nlohmann::json();
  });
}

int run_sweep(SweepInput& input) {
  return input.options.precision == Precision::double_ ? run_sweep_in<double>(input) : run_sweep_in<float>(input);
}

}  // namespace glinpack::app
