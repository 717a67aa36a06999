#include "app/plan/planning_options.hpp"

#include <nlohmann/json.hpp>

#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/plan/quantities.hpp"

namespace glinpack::app {

namespace {

const Footer planning_footer{
    .examples =
        "glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s\n"
        "glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s --precision single "
        "--pivoting tournament --from one-node.json --links network.json\n"
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

FieldValue planned_backend(std::string& option) {
  FieldValue value = name_value(option, given_backend_choices());
  value.read = [read = value.read](const Texts& texts) {
    if (texts.front() != "auto") return read(texts);
    throw InputError("auto: a plan does not look at the machine; openblas or gl-compute is expected");
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
      {"nb", whole(o.nb, 1, largest_nb, "NB"), "Block size, in rows and columns", "the fastest of those measured"},
      {"grid", grid, "Process grid of all processes", "the fastest"},
      {"backend", planned_backend(o.backend), "gl-compute: one GPU per process; openblas: processors"},
      {"precision", precision, "Precision of the factors"},
      {"pivoting", choice(o.pivoting, all_pivotings), as_in_plu},
      {"broadcast", broadcast_value(o.broadcast), as_in_plu},
      {"row-swap", row_swap_value(o.row_swap.kind), as_in_plu},
      {"lookahead", whole(o.lookahead, 0, deepest, "DEPTH"), as_in_plu},
      {"node-broadcast", choice(o.node_transport, all_node_transports), as_in_plu},
      {"messages-only", flag(o.messages_only),
       "Predict `glinpack network`: the messages of a factorisation without its arithmetic"},
  };
}

void check(const PlanningOptions& o) {
  const auto processes = static_cast<std::int64_t>(o.nodes) * o.processes_per_node;
  if (processes > largest_processes) {
    throw InputError("--nodes " + std::to_string(o.nodes) + " of " + std::to_string(o.processes_per_node) +
                     " processes are more than the " + std::to_string(largest_processes) +
                     " that glinpack can address");
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
  if (o.grid && o.grid->size() != o.processes()) {
    throw InputError("--grid " + text_of(*o.grid) + " has " + std::to_string(o.grid->size()) + " processes, but " +
                     std::to_string(o.nodes) + " x " + std::to_string(o.processes_per_node) +
                     " (--nodes, --gpus-per-node) are " + std::to_string(o.processes()));
  }
}

}  // namespace

OptionTable planning_table(PlanningOptions& o) {
  const FieldValue from{.form = FieldValue::Form::list,
                        .type = "FILES",
                        .read = [&o](const Texts& files) { o.from = files; },
                        .json = [&o] { return nlohmann::json(o.from); }};
  const std::vector<Field> figures{
      {"from", from, "Results of `glinpack plu --json` on one of the nodes; the rates of the model are fitted to them",
       "with gl-compute, those of an H200"},
      {"links", text(o.links, "FILE"),
       "Result of `glinpack network --json`: latencies and rates come from its ping-pongs"},
      {"ceilings", text(o.ceilings, "FILE"),
       "Result of `glinpack ceilings --json`: the default rates are scaled to it"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "Write the plan as JSON (docs/plan.schema.json)"},
      {"force", flag(o.force), "Overwrite an existing file"},
  };
  return {.command = "plan",
          .description = "Predicts N, NB, grid, time and rate of a run on a cluster by a model. Runs nothing.",
          .footer = planning_footer,
          .groups = {{"Cluster", cluster_fields(o)},
                     {"Run", run_fields(o)},
                     {"Measurements", figures},
                     {"Output", output},
                     {"Configuration", {config_field(o.config)}}}};
}

PlanningOptions parse_planning_options(const Texts& arguments) {
  const PlanningOptions options = parse(arguments, planning_table).options;
  check(options);
  return options;
}

}  // namespace glinpack::app
