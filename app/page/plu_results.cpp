#include "app/page/plu_results.hpp"

#include <algorithm>

#include "app/variant/variant_code.hpp"

namespace glinpack::app {

namespace {

double mean_of(const JsonNode& node, std::string_view key) { return node.at(key).number("mean"); }

double mean_or_0(const JsonNode& node, std::string_view key) {
  const std::optional<JsonNode> spread = node.find(key);
  return spread ? spread->number("mean") : 0;
}

Spread read_spread(const JsonNode& node) { return {node.number("min"), node.number("mean"), node.number("max")}; }

/// `get(node, key)` reads means over ranks or one rank's numbers.
template <class Get>
TimeParts read_parts(const JsonNode& node, Get get) {
  return {get(node, "seconds"), get(node, "computing"), get(node, "transfer"),
          get(node, "network"), get(node, "idle"),      get(node, "waiting")};
}

std::vector<RoleShare> read_roles_of_ranks(const JsonNode& breakdown) {
  std::vector<RoleShare> roles;
  const std::optional<JsonNode> list = breakdown.find("roles");
  if (!list) return roles;
  for (const JsonNode& role : list->items()) {
    roles.push_back({role.text("role"), role.whole("ranks", 1), read_parts(role, mean_of)});
  }
  return roles;
}

std::vector<RoleShare> read_roles_of_rank(const JsonNode& rank) {
  std::vector<RoleShare> roles;
  const std::optional<JsonNode> list = rank.find("roles");
  if (!list) return roles;
  const auto number = [](const JsonNode& node, std::string_view key) { return node.number(key); };
  for (const JsonNode& role : list->items()) roles.push_back({role.text("role"), 1, read_parts(role, number)});
  return roles;
}

RunTimes read_times(const JsonNode& node) {
  RunTimes times;
  times.computing = mean_of(node, "computing");
  times.transfer = mean_of(node, "transfer");
  times.network_exposed = mean_of(node.at("network"), "exposed");
  times.network_hidden = mean_of(node.at("network"), "hidden");
  times.waiting = mean_or_0(node, "waiting");
  times.network_bytes = node.number("network_bytes");
  times.transfer_bytes = node.number("transfer_bytes");
  times.roles = read_roles_of_ranks(node);
  for (const JsonNode& line : node.at("phases").items()) {
    times.phases.push_back({line.text("role"), line.text("phase"), line.text("lane"), read_spread(line.at("seconds")),
                            line.number("bytes"), line.optional_number("gflops"),
                            line.optional_number("gigabytes_per_second")});
  }
  return times;
}

std::optional<RunEnergy> read_energy(const JsonNode& run) {
  const std::optional<JsonNode> node = run.find("energy");
  const std::optional<double> joules = node ? node->optional_number("joules") : std::nullopt;
  if (!joules) return std::nullopt;
  const std::optional<JsonNode> rough = node->find("rough");
  return RunEnergy{.joules = *joules,
                   .average_watts = node->optional_number("average_watts"),
                   .peak_watts = node->optional_number("peak_watts"),
                   .gflops_per_watt = node->optional_number("gflops_per_watt"),
                   .scope = node->text_or("scope", ""),
                   .rough = rough && rough->boolean()};
}

std::optional<RunPrediction> read_prediction(const JsonNode& run) {
  const std::optional<JsonNode> node = run.find("prediction");
  if (!node) return std::nullopt;
  return RunPrediction{.expected_seconds = node->number("expected_seconds"),
                       .measured_seconds = node->number("measured_seconds"),
                       .ratio = node->number("ratio"),
                       .part = node->text("part"),
                       .from = node->text("from"),
                       .runs = node->whole("runs"),
                       .passes = node->whole("passes")};
}

RankShare read_rank(const JsonNode& node) {
  RankShare rank;
  rank.rank = node.whole("rank");
  rank.row = node.whole("row");
  rank.column = node.whole("column");
  rank.threads = node.whole("threads");
  rank.host = node.text("host");
  rank.backend = node.text("backend");
  rank.device = node.text("device");
  rank.driver = node.text("driver");
  rank.blas = node.text_or("blas", "");
  rank.kernels = node.text_or("kernels", "");
  rank.software_gl = node.boolean("software_gl");
  rank.roles = read_roles_of_rank(node);
  return rank;
}

std::string row_swap_of(const JsonNode& run) {
  const std::optional<JsonNode> swap = run.find("row_swap");
  if (!swap) return "";
  std::string text = swap->text("kind");
  if (text == "mix") text += " " + swap->at("threshold").shown();
  if (const std::string pieces = swap->at("pieces").shown(); pieces != "1") text += " in " + pieces + " pieces";
  return text;
}

Parameters parameters_of(const JsonNode& run) {
  Parameters parameters{{"n", run.at("n").shown()}, {"nb", run.at("nb").shown()}};
  parameters.emplace_back("grid", run.at("p").shown() + "x" + run.at("q").shown());
  for (const char* key : {"backend", "precision", "pivoting", "panel", "broadcast", "order", "matrix"}) {
    if (const std::optional<JsonNode> value = run.find(key)) parameters.emplace_back(key, value->text());
  }
  if (const std::string swap = row_swap_of(run); !swap.empty()) parameters.emplace_back("row swap", swap);
  if (const std::optional<JsonNode> variant = run.find("variant")) {
    parameters.emplace_back("lookahead", variant->at("depth").shown());
  }
  if (const std::optional<JsonNode> alone = run.find("compute_only"); alone && alone->boolean()) {
    parameters.emplace_back("compute only", "yes");
  }
  return parameters;
}

/// HPL's variant code, from the names in the JSON.
std::string variant_of(const JsonNode& run) {
  const std::optional<JsonNode> node = run.find("variant");
  const std::optional<BroadcastKind> broadcast = broadcast_from_name(run.text("broadcast"));
  if (!node || !broadcast) return "";
  const std::string pfact = node->text("pfact"), rfact = node->text("rfact");
  if (pfact.size() != 1 || rfact.size() != 1) return "";
  VariantCode code;
  code.row_major = run.text("order") == "row-major";
  code.depth = node->whole("depth");
  code.broadcast = hpl_digit(*broadcast);
  code.rfact = rfact.front();
  code.ndiv = node->whole("ndiv", INT64_MIN);
  code.pfact = pfact.front();
  code.nbmin = node->whole("nbmin", INT64_MIN);
  return text_of(code);
}

void read_outcome(const JsonNode& node, PluRun& run) {
  run.seconds = node.number("time");
  run.factor_seconds = node.number("factor_seconds");
  run.solve_seconds = node.number("solve_seconds");
  run.start_time = node.number("start_time");
  run.gflops = node.optional_number("gflops");
  run.residual = node.optional_number("residual");
  run.failure = node.text_or("failure", "");
  if (const std::optional<JsonNode> column = node.find("singular_column"); column && run.failure.empty()) {
    run.failure = "singular: zero pivot in global column " + std::to_string(column->whole());
  }
  const bool checked = node.boolean("checked");
  const bool passed = node.boolean("passed");
  run.verdict = passed ? Verdict::passed : Verdict::failed;
  if (!checked) run.verdict = run.failure.empty() ? Verdict::unchecked : Verdict::failed;
  if (run.verdict == Verdict::failed && run.failure.empty()) {
    run.failure = "the scaled residual is not below the threshold";
  }
}

PluRun read_plu_run(const JsonNode& node) {
  PluRun run;
  run.n = node.whole("n", 1);
  run.nb = node.whole("nb", 1);
  run.p = node.whole("p", 1);
  run.q = node.whole("q", 1);
  run.backend = node.text("backend");
  run.precision = node.text("precision");
  run.pivoting = node.text("pivoting");
  run.repeat = node.whole("repeat");
  run.parameters = parameters_of(node);
  run.variant = variant_of(node);
  read_outcome(node, run);
  if (const std::optional<JsonNode> breakdown = node.find("breakdown")) run.times = read_times(*breakdown);
  run.energy = read_energy(node);
  run.prediction = read_prediction(node);
  for (const JsonNode& rank : node.at("ranks").items()) run.ranks.push_back(read_rank(rank));
  const bool software = std::any_of(run.ranks.begin(), run.ranks.end(), [](const auto& r) { return r.software_gl; });
  if (software) run.hardware = "software";
  return run;
}

}  // namespace

std::string PluRun::parameter(const std::string& name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return "";
}

std::vector<PluRun> read_plu_runs(const JsonNode& root) {
  std::vector<PluRun> runs;
  for (const JsonNode& node : root.at("runs").items()) runs.push_back(read_plu_run(node));
  return runs;
}

}  // namespace glinpack::app
