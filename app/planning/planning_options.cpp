#include "app/planning/planning_options.hpp"

#include <nlohmann/json.hpp>

#include "app/input/values.hpp"
#include "app/option_text.hpp"
#include "app/planning/quantities.hpp"

namespace glinpack::app {

namespace {

constexpr const char* planning_examples =
    "Examples:\n"
    "  glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s\n"
    "  glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s --precision single \\\n"
    "    --pivoting tournament --from one-node.json --links network.json\n"
    "  glinpack plan --nodes 4 --backend openblas --from one-core.json --n 2000 --nb 128 --network 100mbit\n"
    "\n"
    "FILE of --from is of `glinpack plu --json`, of --links `glinpack network --json`, of --ceilings\n"
    "`glinpack ceilings --json`. Where nothing was measured, figures of another machine stand in, and the plan says\n"
    "which; nothing is run. Times in seconds unless another unit stands there; rates in FLOPS (operations a second) "
    "and\n"
    "bytes a second, powers of ten.\n"
    "Exit code: 0 planned, 2 unusable input, 3 an error while planning.";

double parse_share(std::string_view text) {
  const double share = parse_real(text);
  if (share > 0 && share <= 1) return share;
  throw InputError(in_quotes(text) + " is out of range; more than 0 and at most 1 is expected");
}

std::vector<Field> cluster_fields(PlanningOptions& o) {
  return {
      {"nodes", whole(o.nodes, 1, largest_processes), "Nodes"},
      {"gpus-per-node", whole(o.processes_per_node, 1, largest_processes),
       "GPUs of a node, a process each; with openblas, processes of a node"},
      {"memory", real(o.memory, "BYTES", parse_bytes),
       "Memory of a GPU, such as 80G or 64GiB; with openblas, for a process"},
      {"memory-fraction", real(o.memory_fraction, "SHARE", parse_share), "Of that memory, that a run may take"},
      {"network", real(o.network, "RATE", parse_link_rate),
       "Link of a node, each direction: bits as in 100Gb/s, or bytes as in 12.5GB/s"},
      {"latency", real(o.latency, "TIME", parse_latency), "A small message from node to node, such as 2us",
       "5us, assumed"},
  };
}

FieldValue planned_backend(std::string& option) {
  FieldValue value = name_value(option, given_backend_choices());
  value.read = [read = value.read](const Texts& texts) {
    if (texts.front() != "auto") return read(texts);
    throw InputError("auto: a plan looks at no machine; openblas or gl-compute is expected");
  };
  return value;
}

std::vector<Field> run_fields(PlanningOptions& o) {
  constexpr int deepest = 1000;
  const char* const as_in_plu = "As in glinpack plu";
  const auto grid = word(
      "PxQ", [&o](const std::string& t) { o.grid = parse_grid(t); }, [&o] { return o.grid ? text_of(*o.grid) : ""; });
  const auto precision =
      single_or_double(o.precision, "mixed: how often a solution is refined is not in the model; plan with single");
  return {
      {"n", whole(o.n, 1, largest_n, "N"), "Order of the matrix", "the largest that fits"},
      {"nb", whole(o.nb, 1, largest_nb, "NB"), "Block size", "the fastest of those measured"},
      {"grid", grid, "Process grid, of all processes", "the fastest"},
      {"backend", planned_backend(o.backend), "gl-compute: a GPU for each process; openblas: processors"},
      {"precision", precision, "Of the factors"},
      {"pivoting", choice(o.pivoting, all_pivotings), as_in_plu},
      {"broadcast", broadcast_value(o.broadcast), as_in_plu},
      {"row-swap", row_swap_value(o.row_swap.kind), as_in_plu},
      {"lookahead", whole(o.lookahead, 0, deepest, "DEPTH"), as_in_plu},
      {"node-broadcast", choice(o.node_transport, all_node_transports), as_in_plu},
      {"messages-only", flag(o.messages_only),
       "The time of `glinpack network`: a factorisation's messages without its arithmetic"},
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
        "neither --memory nor --n is given: how large a matrix to plan for? Give the memory of a GPU "
        "(--memory 80G), or N");
  }
  if (o.nodes > 1 && !o.network && o.links.empty()) {
    throw InputError("--nodes " + std::to_string(o.nodes) +
                     ": how fast is the network between them? Give a node's link (--network 100Gb/s), or what "
                     "`glinpack network --json` measured (--links FILE)");
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
      {"from", from, "Results of glinpack plu on one of the nodes: rates are fitted to them",
       "of gl-compute an H200's"},
      {"links", text(o.links, "FILE"), "Result of glinpack network: latencies and rates by its ping-pongs"},
      {"ceilings", text(o.ceilings, "FILE"), "Result of glinpack ceilings: the default figures are scaled to it"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "All of it as JSON (docs/plan.schema.json)"},
      {"force", flag(o.force), "Overwrite a file that exists"},
  };
  return {.command = "plan",
          .description =
              "Plans a run on a cluster, without one: N, NB, grid, and the time and rate that a model expects of it.",
          .footer = planning_examples,
          .groups = {{"Cluster", cluster_fields(o)},
                     {"Run", run_fields(o)},
                     {"Figures", figures},
                     {"Output", output},
                     {"Configuration", {config_field(o.config)}}}};
}

PlanningOptions parse_planning_options(const Texts& arguments) {
  const PlanningOptions options = parse(arguments, planning_table).options;
  check(options);
  return options;
}

}  // namespace glinpack::app
