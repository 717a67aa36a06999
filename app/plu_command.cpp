#include "app/plu_command.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "app/agreement.hpp"
#include "app/automatic.hpp"
#include "app/doctor/doctor_command.hpp"
#include "app/input/matrix_file.hpp"
#include "app/mpi_command.hpp"
#include "app/sweep.hpp"
#include "app/topology.hpp"

namespace glinpack::app {

namespace {

std::optional<HplDat> read_hpl_dat_of(const PluOptions& options) {
  if (options.hpl_dat.empty()) return std::nullopt;
  return read_hpl_dat(options.hpl_dat);
}

void check_combinations(const PluOptions& options) {
  if (options.compute_only && options.precision == Precision::mixed) {
    throw InputError("--precision mixed: --compute-only solves nothing that could be refined; use --precision single");
  }
  if (options.compute_only && !options.save_solution.empty()) {
    throw InputError("--save-solution: --compute-only solves nothing; leave one of the two out");
  }
}

// Rank 0's part of the preparation: reads and checks everything that needs no other rank.
nlohmann::json read_input(const std::vector<std::string>& arguments, SweepInput& input) {
  const ParsedOptions parsed = parse_plu_options(arguments);
  input.options = parsed.options;
  const PluOptions& options = input.options;
  check_combinations(options);
  const std::optional<HplDat> hpl_dat = read_hpl_dat_of(options);
  if (hpl_dat) input.context.notes.push_back(unused_parameters_note(options.hpl_dat));
  std::optional<Index> file_order;
  if (!options.input.empty()) file_order = read_matrix_order(options.input);

  const int world_size = input.session.size();
  input.planned = plan_runs(parsed, hpl_dat, file_order, world_size);
  // how large N may become is known of the processes that there are
  if (options.runs() || !all_settled(input.planned)) {
    const bool grids_of_file = hpl_dat && !parsed.overrides_hpl_dat("grid");
    check_grids(input.planned, world_size, grids_of_file ? options.hpl_dat + ":10: " : "");
  }
  if (options.runs()) {
    input.outputs = output_paths(options, hpl_dat);
    check_outputs(input.outputs, options.force);
    if (!options.input.empty()) input.matrix = read_matrix(options.input, view_node().available_memory).elements;
  }
  input.context.configuration = to_json(options);
  return {{"options", input.context.configuration}, {"plan", plan_to_json(input.planned)}};
}

int plan_and_run(const std::vector<std::string>& arguments, SweepInput& input) {
  const nlohmann::json agreed = run_on_root_and_broadcast([&] { return read_input(arguments, input); });
  if (input.session.rank() != 0) {
    input.options = from_json(agreed.at("options"));
    input.planned = plan_from_json(agreed.at("plan"));
  }
  if (!input.options.runs() && all_settled(input.planned)) {
    print_plan(input, {});
    return 0;
  }
  input.machine = choose_machine(input.options, input.session);
  if (!input.machine.tile_note.empty()) input.context.notes.push_back(input.machine.tile_note);
  if (input.options.doctor && input.options.runs()) {
    const doctor::Target target{.backend = input.options.backend,
                                .device = input.options.device,
                                .threads = input.machine.options.threads,
                                .threads_asked = input.options.threads.has_value()};
    for (std::string& note : doctor::notes_before_run(input.session, target, input.machine.devices)) {
      input.context.notes.push_back(std::move(note));
    }
  }
  return run_sweep(input);
}

}  // namespace

int run_plu_command(int argc, char** argv, std::vector<std::string> notes) {
  return run_under_mpi(
      argc, argv, [&](const MpiSession& session, const std::vector<std::string>& arguments, ReportContext context) {
        SweepInput input{.options = {},
                         .planned = {},
                         .machine = {},
                         .session = session,
                         .matrix = {},
                         .outputs = {},
                         .context = std::move(context)};
        input.context.notes = std::move(notes);
        return plan_and_run(arguments, input);
      });
}

}  // namespace glinpack::app
