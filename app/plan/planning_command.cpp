#include "app/plan/planning_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/values.hpp"
#include "app/model/forecast.hpp"
#include "app/options/option_text.hpp"
#include "app/plan/replay_study.hpp"
#include "app/program/memory.hpp"
#include "app/program/outputs.hpp"
#include "app/program/program_context.hpp"
#include "app/record/text.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

namespace {

const Footer planning_footer{
    .examples =
        "glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s\n"
        "glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s --precision single "
        "--pivoting tournament --from one-node.json --links network.json\n"
        "glinpack plan --config examples/cluster-1000.toml --replay\n"
        "glinpack plan --nodes 4 --backend openblas --from one-core.json --n 2000 --nb 128 --network 100mbit",
    .notes =
        {"Without measurements, the plan uses those of another machine and says which. Times are in seconds unless "
         "a unit is named; rates in FLOPS (operations a second) and bytes a second, with powers of ten."},
    .exit_codes = {{0, "planned"}, {2, "unusable input"}, {3, "an error while planning"}}};

std::vector<Field> cluster_fields(PlanningOptions& o) {
  return {
      {"nodes", whole(o.nodes, 1, largest_processes), "Number of nodes"},
      {"gpus-per-node", whole(o.processes_per_node, 1, largest_processes),
       "GPUs of a node, one process each; with openblas, processes of a node"},
      {"memory", real(o.memory, "BYTES", parse_bytes),
       "Memory of a GPU, such as 80G or 64GiB; with openblas, of a process"},
      {"memory-fraction", real(o.memory_fraction, "FRACTION", parse_fraction),
       "Part of that memory for a run, more than 0, at most 1"},
      {"network", real(o.network, "RATE", parse_link_rate),
       "Rate of a node's link in each direction, in bits (100Gb/s) or bytes (12.5GB/s)"},
      {"latency", real(o.latency, "TIME", parse_latency), "Time of a small message between nodes, such as 2us",
       "5us, assumed"},
  };
}

constexpr Index largest_planned_nb = 8192;  // the driver runs, with diagonal blocks in memory

FieldValue planned_backend(std::string& option) {
  FieldValue value = name_value(option, backend_choices(&BackendRecord::automatic));
  value.read = [read = value.read](const Texts& texts) {
    if (texts.front() != "auto") return read(texts);
    throw InputError("auto: a plan does not depend on this machine; openblas or gl-compute is expected");
  };
  return value;
}

std::vector<Field> run_fields(PlanningOptions& o) {
  constexpr int deepest = 1000;
  const char* const as_in_plu = "As in glinpack plu";
  const auto grid = word(
      "PxQ", [&o](const std::string& t) { o.grid = parse_grid(t); }, [&o] { return o.grid ? text_of(*o.grid) : ""; });
  const auto precision = single_or_double(o.precision, "mixed: the model has no refinement; plan with single");
  return {
      {"n", whole(o.n, 1, largest_n, "N"), "Order of the matrix", "the largest that fits"},
      {"nb", whole(o.nb, 1, largest_planned_nb, "NB"), "Block size, in rows and columns",
       "the fastest of those measured"},
      {"grid", grid, "Process grid of all processes", "the fastest"},
      {"backend", planned_backend(o.backend), "gl-compute: one GPU per process; openblas: processors"},
      {"precision", precision, "Precision of the factors"},
      {"pivoting", choice(o.pivoting, all_pivotings), as_in_plu},
      {"broadcast", broadcast_choice(o.broadcast), as_in_plu},
      {"row-swap", row_swap_choice(o.row_swap.kind), as_in_plu},
      {"lookahead", whole(o.lookahead, 0, deepest, "DEPTH"), as_in_plu},
  };
}

std::vector<Field> figure_fields(PlanningOptions& o) {
  const FieldValue from{.form = FieldValue::Form::list,
                        .type = "FILES",
                        .read = [&o](const Texts& files) { o.from = files; },
                        .json = [&o] { return nlohmann::json(o.from); }};
  return {
      {"from", from, "Results of `glinpack plu --json` on one of the nodes; the rates of the model are fitted to them",
       "with gl-compute, those of an H200"},
      {"links", text(o.links, "FILE"),
       "Result of `glinpack network --json`: latencies and rates come from its ping-pongs"},
  };
}

void check(const PlanningOptions& o) {
  const auto processes = static_cast<std::int64_t>(o.nodes) * o.processes_per_node;
  if (processes > largest_processes) {
    throw InputError("--nodes " + std::to_string(o.nodes) + " of " + counted(o.processes_per_node, "process") +
                     " are more than the " + std::to_string(largest_processes) + " that glinpack can address");
  }
  if (!o.n && !o.memory) {
    throw InputError(
        "neither --memory nor --n is given; give the memory of a GPU (--memory 80G), or the order of the matrix "
        "(--n N)");
  }
  if (o.nodes > 1 && !o.network && o.links.empty()) {
    throw InputError("--nodes " + std::to_string(o.nodes) +
                     ": the rate of the network is missing; give a node's link (--network 100Gb/s), or a result of "
                     "`glinpack network --json` (--links FILE)");
  }
  const auto check_replayed = [&](const char* option, int max) {
    if (processes <= max) return;
    throw InputError(
        fmt::format("{}: {} processes are more than the {} whose messages fit into memory", option, processes, max));
  };
  check_replayed("--nodes", model::max_replayed_ranks);
  if (o.replay) check_replayed("--replay", model::max_ranks_replayed_thoroughly);
  if (o.grid && o.grid->size() != o.processes()) {
    throw InputError("--grid " + text_of(*o.grid) + " has " + std::to_string(o.grid->size()) + " processes, but " +
                     std::to_string(o.nodes) + " x " + std::to_string(o.processes_per_node) +
                     " (--nodes, --gpus-per-node) are " + std::to_string(o.processes()));
  }
}

using nlohmann::json;

constexpr std::size_t max_others = 8;

std::string rate_of(const Candidate& candidate) { return flop_rate_text(candidate.forecast.gflops * 1e9); }

// The meaning of one step of a kind of work.
std::string_view step_name(Work work) {
  return text_by_value(work, "a column", "a column", "a call", "a call", "a call", "a transfer", "a pass", "a message",
                       "a message");
}

std::string cost_text(Work work, const model::Cost& cost) {
  std::string text;
  const auto append = [&text](const std::string& part) { text += (text.empty() ? "" : " + ") + part; };
  if (cost.per_flop > 0) append(flop_rate_text(1 / cost.per_flop));
  if (cost.per_byte > 0) append(link_rate_text(1 / cost.per_byte));
  if (cost.per_step > 0) append(fmt::format("{} {}", seconds_text(cost.per_step), step_name(work)));
  return text.empty() ? "not known" : text;
}

std::string line_of(const Candidate& candidate) {
  const RunParameters& parameters = candidate.problem.parameters;
  return fmt::format("  {:>9}  {:>6}  {:>12}  {:>12}  {:>14}\n", text_of(candidate.problem.grid), parameters.nb,
                     parameters.n, seconds_text(candidate.forecast.seconds), rate_of(candidate));
}

std::string others_text(const ClusterPlan& plan) {
  if (plan.others.empty()) return "";
  std::string text = fmt::format("\n  {:>9}  {:>6}  {:>12}  {:>12}  {:>14}\n", "grid", "NB", "N", "time", "rate");
  text += line_of(plan.chosen);
  for (std::size_t i = 0; i < std::min(max_others, plan.others.size()); ++i) text += line_of(plan.others[i]);
  return text;
}

std::string figures_text(const ClusterPlan& plan) {
  std::string text = "\nRates assumed for each process\n";
  for (const Work work : all_work) {
    const model::Figure& figure = plan.machine.figures[work];
    if (!figure.cost.known()) continue;
    text += fmt::format("  {:<19} {}\n  {:<19}   {}\n", name_of(work), cost_text(work, figure.cost), "", figure.source);
  }
  return text;
}

std::string fitted_text(const ClusterPlan& plan) {
  if (plan.fitted.empty()) return "";
  std::string text = "\nThe fit: runs that the figures are fitted to, as measured and as the model has them\n";
  for (const FittedRun& fitted : plan.fitted) {
    const model::Problem& problem = fitted.run.observation.problem;
    text += fmt::format("  {:>9}  {:>6}  {:>12}  {:>12}  {:>12}  {:5.2f}\n", text_of(problem.grid),
                        problem.parameters.nb, problem.parameters.n, seconds_text(fitted.run.seconds),
                        seconds_text(fitted.seconds), fitted.seconds / fitted.run.seconds);
  }
  return text;
}

std::string launch_of(const PlanningOptions& options) {
  if (options.slurm) {
    return fmt::format("glinpack slurm --nodes {} --{}-per-node {} --", options.nodes,
                       computes_on_device(options.backend) ? "gpus" : "ranks", options.processes_per_node);
  }
  return fmt::format("mpirun -np {} -ppn {} glinpack plu", options.processes(), options.processes_per_node);
}

std::string command_of(const PlanningOptions& options, const Candidate& chosen) {
  const RunParameters& parameters = chosen.problem.parameters;
  std::string command = launch_of(options);
  command += fmt::format(" --n {} --nb {} --grid {} --precision {} --pivoting {}", parameters.n, parameters.nb,
                         text_of(chosen.problem.grid), name_of(options.precision), name_of(options.pivoting));
  if (options.broadcast != BroadcastKind::ring) {
    command += fmt::format(" --broadcast {}", name_of(options.broadcast));
  }
  if (options.row_swap.kind != RowSwapKind::binary_exchange) {
    command += fmt::format(" --row-swap {}", name_of(options.row_swap.kind));
  }
  if (options.lookahead != 1) command += fmt::format(" --lookahead {}", options.lookahead);
  return command + " --backend " + options.backend + (options.slurm ? " | sbatch" : "");
}

json forecast_json(const Candidate& candidate) {
  const RunParameters& parameters = candidate.problem.parameters;
  const model::Forecast& forecast = candidate.forecast;
  json busy;
  for (const Work work : all_work) {
    if (forecast.busy[work] > 0) busy[std::string(name_of(work))] = forecast.busy[work];
  }
  return {{"n", parameters.n},
          {"nb", parameters.nb},
          {"p", candidate.problem.grid.rows},
          {"q", candidate.problem.grid.columns},
          {"seconds", forecast.seconds},
          {"gflops", forecast.gflops},
          {"factor_seconds", forecast.factor_seconds},
          {"solve_seconds", forecast.solve_seconds},
          {"exposed_seconds", forecast.exposed_seconds},
          {"busy", busy.is_null() ? json::object() : busy}};
}

// The second line of a plan, if it uses figures of the default device.
std::string assumption_text(const ClusterPlan& plan) {
  std::string assumed;
  for (const Work work : all_work) {
    const bool is_used = plan.chosen.forecast.busy[work] > 0;
    if (!is_used || !plan.machine.figures[work].source.starts_with(model::default_device)) continue;
    assumed += fmt::format("{}{}", assumed.empty() ? "" : ", ", name_of(work));
  }
  if (assumed.empty()) return "";
  return fmt::format("Assumed, not measured here: {} of {}. --from RESULTS uses your own runs.\n", assumed,
                     model::default_device);
}

}  // namespace

OptionTable planning_table(PlanningOptions& o) {
  const std::vector<Field> output{
      {"replay", flag(o.replay), "Replay more passes: uncertainty, bounds, what changes would bring"},
      {"slurm", flag(o.slurm), "Print the Slurm job of the plan instead of its mpirun command"},
      {"json", text(o.json, "FILE"), "Write the plan as JSON (docs/plan.schema.json)"},
      {"force", flag(o.force), "Overwrite an existing file"},
  };
  return {.command = "plan",
          .description = "Predicts N, NB, grid, time and rate of a run on a cluster by a model. Runs nothing.",
          .footer = planning_footer,
          .groups = {{"Cluster", cluster_fields(o)},
                     {"Run", run_fields(o)},
                     {"Measurements", figure_fields(o)},
                     {"Output", output},
                     {"Configuration", {config_field(o.config)}}}};
}

PlanningOptions parse_planning_options(const Texts& arguments) {
  PlanningOptions options = parse(arguments, planning_table).options;
  check(options);
  return options;
}

std::string planning_text(const PlanningOptions& options, const ClusterPlan& plan) {
  const Candidate& chosen = plan.chosen;
  const model::Forecast& forecast = chosen.forecast;
  const int processes = options.processes();
  std::string text = fmt::format("Plan for {} on {}: {}, {} precision, {} pivoting\n{}\n",
                                 counted(processes, "process"), counted(options.nodes, "node"), options.backend,
                                 name_of(options.precision), name_of(options.pivoting), assumption_text(plan));
  text += fmt::format("  N         {}\n  NB        {}\n  grid      {}\n", chosen.problem.parameters.n,
                      chosen.problem.parameters.nb, text_of(chosen.problem.grid));
  if (const auto squarer = options.grid ? std::nullopt : squarer_grid(processes)) {
    text += fmt::format("            {} processes have no squarer grid: {} as {} may be faster\n", processes,
                        squarer->size(), text_of(*squarer));
  }
  text += fmt::format("  expected  {}, {}, {} a process\n", seconds_text(forecast.seconds), rate_of(chosen),
                      flop_rate_text(forecast.gflops * 1e9 / processes));
  text += fmt::format("            {} of them solve, {} are exposed messages, transfers and waits\n",
                      seconds_text(forecast.solve_seconds), seconds_text(forecast.exposed_seconds));
  text += "  memory    ";
  if (plan.device_bytes > 0) text += memory_text(plan.device_bytes) + " of a GPU, ";
  text += fmt::format(
      "{} of a node for {}, at most\n", memory_text(plan.host_bytes * options.processes_per_node),
      options.processes_per_node == 1 ? "its process" : fmt::format("its {} processes", options.processes_per_node));
  text += "\n  " + command_of(options, chosen) + "\n";
  return text + others_text(plan) + figures_text(plan) + fitted_text(plan);
}

json planning_json(const ClusterPlan& plan) {
  json figures = json::array();
  for (const Work work : all_work) {
    const model::Figure& figure = plan.machine.figures[work];
    if (!figure.cost.known()) continue;
    figures.push_back({{"work", name_of(work)},
                       {"seconds_per_flop", figure.cost.per_flop},
                       {"seconds_per_byte", figure.cost.per_byte},
                       {"seconds_per_step", figure.cost.per_step},
                       {"source", figure.source}});
  }
  json fitted = json::array();
  for (const FittedRun& run : plan.fitted) {
    const model::Problem& problem = run.run.observation.problem;
    fitted.push_back({{"file", run.run.file},
                      {"n", problem.parameters.n},
                      {"nb", problem.parameters.nb},
                      {"p", problem.grid.rows},
                      {"q", problem.grid.columns},
                      {"measured_seconds", run.run.seconds},
                      {"fitted_seconds", run.seconds}});
  }
  json others = json::array();
  for (const Candidate& other : plan.others) others.push_back(forecast_json(other));
  return {{"format", 1},
          {"plan", forecast_json(plan.chosen)},
          {"device_bytes", plan.device_bytes},
          {"host_bytes", plan.host_bytes},
          {"others", others},
          {"figures", figures},
          {"fitted", fitted}};
}

void run_planning_command(const PlanningOptions& options, const std::vector<std::string>& command_line,
                          std::ostream& out) {
  Texts inputs{options.links, options.config};
  inputs.insert(inputs.end(), options.from.begin(), options.from.end());
  check_output("--json", options.json, options.force, inputs);
  const ClusterPlan plan = plan_cluster(options);
  json document = planning_json(plan);
  document["context"] = program_context(command_line, to_json(options, planning_table));
  std::string text = planning_text(options, plan);
  if (options.replay) {
    const ReplayStudy study = study_by_replay(options, plan);
    document["replay"] = study_json(study);
    text += study_text(study);
  }
  write_findings(out, text, options.json, options.force, document);
}

}  // namespace glinpack::app
