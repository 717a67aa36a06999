#include "app/plu/plu_command.hpp"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/input/matrix_file.hpp"
#include "app/plu/checkpointing.hpp"
#include "app/plu/sweep.hpp"
#include "app/program/agreement.hpp"
#include "app/program/automatic.hpp"
#include "app/program/mpi_command.hpp"
#include "app/program/program_context.hpp"
#include "app/program/topology.hpp"

namespace glinpack::app {

namespace {

// The options, and the HPL.dat that they name.
struct PluInput {
  ParsedOptions parsed;
  std::optional<HplDat> hpl_dat;
};

void check_combinations(const PluOptions& o) {
  const std::initializer_list<std::pair<bool, const char*>> contradictions{
      {o.compute_only && o.pivoting == Pivoting::tournament,
       "--compute-only and --pivoting tournament: the winners of a tournament depend on rows that messages bring; use "
       "--pivoting partial or local"},
      {o.compute_only && o.precision == Precision::mixed,
       "--precision mixed: --compute-only solves nothing that could be refined; use --precision single"},
      {o.compute_only && !o.save_solution.empty(),
       "--save-solution: --compute-only solves nothing; leave one of the two out"},
      {o.checkpoint_every && o.checkpoint.empty(),
       "--checkpoint-every: no checkpoints are written; name their folder with --checkpoint"},
      {o.compute_only && !o.checkpoint.empty(),
       "--checkpoint: --compute-only has no results to save; leave one of the two out"},
      {o.compute_only && !o.resume.empty(),
       "--resume: --compute-only has no results to continue from; leave one of the two out"}};
  for (const auto& [is_met, message] : contradictions) {
    if (is_met) throw InputError(message);
  }
}

PluInput parse_input(const std::vector<std::string>& arguments, TextFiles& files) {
  PluInput input{.parsed = parse_plu_options(arguments, files), .hpl_dat = {}};
  choose_default_hpl_dat(input.parsed, files);
  check_combinations(input.parsed.options);
  input.hpl_dat = hpl_dat_of(input.parsed, files);
  return input;
}

// Collective.
void plan(const PluInput& given, SweepInput& input) {
  const PluOptions& options = input.options;
  const int world_size = input.session.size();
  std::optional<Index> file_order;
  if (!options.input.empty()) file_order = run_on_root_and_broadcast([&] { return read_matrix_order(options.input); });
  input.planned = plan_runs(given.parsed, given.hpl_dat, file_order, world_size);
  // the largest N depends on the number of processes
  if (options.runs() || !all_have_values(input.planned)) {
    const bool grids_of_file = given.hpl_dat && !given.parsed.overrides_hpl_dat("grid");
    check_grids(input.planned, world_size, grids_of_file ? options.hpl_dat + ":10: " : "");
    check_node_grid(options.node_grid);
  }
}

// Rank 0 alone: what it writes, and the matrix that it reads.
void prepare_files(const PluInput& given, SweepInput& input) {
  const PluOptions& options = input.options;
  input.context.configuration = to_json(options, plu_table);
  input.context.add_note(given.parsed.hpl_dat_note);
  input.context.add_note(given.parsed.backend_note);
  input.context.add_note(default_order_note(given.parsed));
  if (given.hpl_dat) {
    for (const std::string& note : given.hpl_dat->notes) input.context.add_note(note);
    if (given.hpl_dat->has_variant) input.context.add_note(unused_parameters_note(options.hpl_dat));
  }
  check_output("--write-hpl-dat", options.write_hpl_dat, options.force, {options.hpl_dat, options.input});
  if (!options.runs()) return;
  input.outputs = output_paths(options, given.hpl_dat);
  check_outputs(input.outputs, options.force);
  if (options.input.empty()) return;
  DenseMatrix matrix = read_matrix(options.input, view_node().available_memory);
  if (options.precision != Precision::double_) check_single_precision(options.input, matrix.elements, matrix.columns);
  input.matrix = std::move(matrix.elements);
}

// False if the runs need more processes than there are: a plan is printed all the same.
bool may_have_gpu_defaults(const PluInput& given, const SweepInput& input) {
  const auto fits = [&](const RunRecord& run) { return run.grid.size() <= input.session.size(); };
  return !given.hpl_dat && !(given.parsed.given("nb") && given.parsed.given("grid")) &&
         std::ranges::all_of(input.planned, fits) &&
         (input.options.backend == "auto" || computes_on_device(input.options.backend));
}

int plan_and_run(const std::vector<std::string>& arguments, SweepInput& input, ChecksBeforeRun checks) {
  PluInput given = parse_alike(arguments, parse_input);
  if (const ParsedOptions& parsed = given.parsed; !parsed.options.resume.empty()) {
    given = parse_alike(with_checkpoint_options(arguments, parsed), parse_input);
  }
  input.options = given.parsed.options;
  plan(given, input);
  run_on_root_and_broadcast([&] { prepare_files(given, input); });
  if (!input.options.runs() && all_have_values(input.planned) && !may_have_gpu_defaults(given, input)) {
    print_plan(input, {});
    return 0;
  }
  input.machine = choose_machine(input.options, input.session);
  if (all_agree(world(), input.machine.device && !input.machine.device->software)) {
    use_gpu_defaults(given.parsed, input.planned);
  }
  for (const std::string& note : input.machine.notes) input.context.add_note(note);
  input.context.add_note(threads_note(input.options.threads));
  if (input.options.doctor && input.options.runs()) {
    for (const std::string& note : checks(input.session, input.options, input.machine)) input.context.add_note(note);
  }
  return run_sweep(input);
}

}  // namespace

int run_plu_command(const Invocation& invocation, ChecksBeforeRun checks) {
  execute_again_with_better_kernels(invocation.argv);
  return run_under_mpi(invocation, watchdog_limit<plu_table>,
                       [&](const MpiSession& session, const Texts& arguments, ReportContext context) {
                         SweepInput input{.session = session, .context = std::move(context)};
                         input.context.notes = reexecution_notes();
                         return plan_and_run(arguments, input, checks);
                       });
}

}  // namespace glinpack::app
