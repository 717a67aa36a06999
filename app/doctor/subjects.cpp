#include "app/doctor/subjects.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "app/input/values.hpp"
#include "app/program/memory.hpp"
#include "app/program/topology.hpp"
#include "app/record/text.hpp"
#include "base/measuring.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

bool is_unknown(const json& fact) { return fact.is_null() || fact == "" || (fact.is_array() && fact.empty()); }

double median_of(const std::vector<double>& values) { return values.empty() ? 0 : spread_of(values).median; }

std::string fact_text(const json& fact, std::string_view format) {
  if (format == "bytes") return memory_text(fact.get<double>());
  if (format == "list") return list_of_processors(fact.get<std::vector<int>>());
  if (format == "giga") return fmt::format("{:.1f}", fact.get<double>() * 1e-9);
  if (format.starts_with('#')) return counted(fact.get<std::int64_t>(), format.substr(1));
  if (!format.empty()) return fmt::format("{:.{}f}", fact.get<double>(), format.front() - '0');
  if (fact.is_array()) return list_text(fact.get<std::vector<std::string>>());
  return fact.is_string() ? fact.get<std::string>() : fact.dump();
}

// Identifies a GPU within a node. If each rank sees only one GPU, every rank calls it device 0.
json identity_of(const json& device) {
  if (!device.at("uuid").is_null()) return device.at("uuid");
  return device.at("pci").is_null() ? device.at("index") : device.at("pci").at("address");
}

std::string text_of_gpu(const json& device) {
  return device.at("renderer").get<std::string>() + ", " + device.at("version").get<std::string>();
}

// Commands by the launcher in use; their placeholders are of a node or rank.
json commands_of(const std::string& launcher) {
  if (launcher == "Slurm") {
    return {{"start", "srun -n"},
            {"bind", "srun --cpus-per-task={/node/cores_each} --cpu-bind=cores glinpack ..."},
            {"closest", "srun --gpus-per-task=1 --gpu-bind=closest glinpack ..."},
            {"even", "srun --nodes={/job/nodes} --ntasks-per-node={/job/even_size} glinpack ..."}};
  }
  if (launcher == "Open MPI") {
    return {{"start", "mpirun -np"},
            {"bind", "mpirun --map-by slot:PE={/node/cores_each} --bind-to core glinpack ..."},
            {"closest", "mpirun --map-by numa --bind-to numa glinpack ..."},
            {"even", "mpirun -np {/job/even_ranks} --npernode {/job/even_size} glinpack ..."}};
  }
  if (!launcher.empty()) {
    return {{"start", "mpirun -np"},
            {"bind", "mpirun -bind-to core:{/node/cores_each} glinpack ..."},
            {"closest", "mpirun -bind-to numa -map-by numa glinpack ..."},
            {"even", "mpirun -np {/job/even_ranks} -ppn {/job/even_size} glinpack ..."}};
  }
  return {{"start", "mpirun -np"},
          {"bind", "taskset --pid $$  # what this shell binds its programs to"},
          {"closest", "taskset --cpu-list {/rank/gpu/pci/local_processors|list} glinpack ..."}};
}

std::string link_text(double latency, double bandwidth) {
  return fmt::format("{:.2f} us, {:.2f} GB/s", latency * 1e6, bandwidth * 1e-9);
}

json kind_text(const char* kind, const LinkMedian& median) {
  if (median.links == 0) return {};
  return fmt::format("{} {}{}: {}", counted(median.links, "link"), kind, median.links == 1 ? "" : " (medians)",
                     link_text(median.latency, median.bandwidth));
}

// The ranks of each node, in the order of their first ranks. Ranks of a node can share memory, as MPI reports it, and
// have the same host name.
std::vector<std::vector<std::size_t>> ranks_of_nodes(const std::vector<json>& ranks) {
  std::map<std::pair<std::string, int>, std::size_t> places;
  std::vector<std::vector<std::size_t>> nodes;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::pair<std::string, int> key{ranks[rank].at("host"), ranks[rank].at("process").at("node")};
    const std::size_t node = places.try_emplace(key, nodes.size()).first->second;
    if (node == nodes.size()) nodes.emplace_back();
    nodes[node].push_back(rank);
  }
  return nodes;
}

}  // namespace

const json* Subject::find(std::string_view pointer) const {
  const json::json_pointer place{std::string(pointer)};
  for (const json* fact : facts) {
    if (fact->contains(place) && !fact->at(place).is_null()) return &fact->at(place);
  }
  return nullptr;
}

double Subject::number(std::string_view pointer) const {
  const json* fact = find(pointer);
  return fact == nullptr ? 0 : fact->get<double>();
}

std::string Subject::text(std::string_view pointer) const {
  const json* fact = find(pointer);
  return fact == nullptr ? "" : fact_text(*fact, "");
}

bool Subject::holds(std::string_view pointer) const {
  const json* fact = find(pointer);
  return fact != nullptr && fact->get<bool>();
}

std::string Subject::filled(std::string_view text, bool* known) const {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t end = text.find(']', at); text[at] == '[' && end != std::string_view::npos) {
      bool part_is_known = true;
      const std::string part = filled(text.substr(at + 1, end - at - 1), &part_is_known);
      if (part_is_known) result += part;
      at = end + 1;
    } else if (text.substr(at).starts_with("{/")) {
      const std::size_t end = text.find('}', at);
      const std::string_view place = text.substr(at + 1, end - at - 1);
      const std::size_t bar = std::min(place.find('|'), place.size());
      const json* fact = find(place.substr(0, bar));
      if (fact != nullptr) result += fact_text(*fact, place.substr(std::min(bar + 1, place.size())));
      if (known != nullptr && (fact == nullptr || is_unknown(*fact))) *known = false;
      at = end + 1;
    } else {
      result += text[at++];
    }
  }
  return result;
}

Subjects::Subjects(const Facts& facts)
    : facts_(facts), nodes_(ranks_of_nodes(facts.ranks)), of_ranks_(facts.ranks.size(), {{"rank", json::object()}}) {
  for (const auto& ranks : nodes_) derive_node(of_nodes_.emplace_back()["node"], ranks);
  derive_job();
  compare_rates("host", "OpenBLAS's dgemm", !job_["job"]["turns"].is_string());
  compare_rates("device", "its device's update", true);
  compare_burn_ins();
  derive_links();
  subjects_[0] = {{{&job_, &facts.ranks.front()}, ""}};
  subjects_[2].resize(facts.ranks.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const json& first = facts.ranks[nodes_[n].front()];
    subjects_[1].push_back({{&of_nodes_[n], &first, &job_}, first.at("host")});
    for (const std::size_t rank : nodes_[n]) {
      const json& own = facts.ranks[rank];
      subjects_[2][rank] = {
          {&of_ranks_[rank], &own, &of_nodes_[n], &job_}, own.at("host"), own.at("process").at("rank")};
    }
  }
  for (const json& link : of_links_) subjects_[3].push_back({{&link, &job_}, ""});
  for (std::size_t i = 0; i < of_rates_.size(); ++i) subjects_[4][i].facts = {&of_rates_[i], &job_};
}

void Subjects::derive_node(json& node, const std::vector<std::size_t>& ranks) {
  const json& first = facts_.ranks[ranks.front()];
  const json &processor = first.at("processor"), &graphics = first.at("graphics");
  const int size = static_cast<int>(ranks.size()), node_cores = processor.at("node_cores");
  std::set<int> cores;
  std::map<json, int> bound, sharing;  // ranks by their cores, and by their GPU
  std::map<json, json> indices;        // of GPUs, as their first rank has them
  int threads = 0, max_threads = 0;
  bool is_bound = false;
  for (const std::size_t rank : ranks) {
    const json &facts = facts_.ranks[rank], &own = facts.at("processor"), &locked = facts.at("memory").at("locked");
    cores.insert(own.at("cores").begin(), own.at("cores").end());
    ++bound[own.at("cores")];
    is_bound = is_bound || own.at("cores").size() < own.at("node_cores").get<std::size_t>();
    threads += own.at("threads").get<int>();
    max_threads = std::max(max_threads, own.at("threads").get<int>());
    if (!locked.is_null() && (node["locked"].is_null() || locked < node["locked"])) node["locked"] = locked;
    if (const json* device = hardware_of(facts)) {
      ++sharing[identity_of(*device)];
      indices.try_emplace(identity_of(*device), device->at("index"));
    }
  }
  for (const std::size_t rank : ranks) {
    json& derived = of_ranks_[rank]["rank"];
    derived["bound_alike"] = bound[facts_.ranks[rank].at("processor").at("cores")];
    const json* device = hardware_of(facts_.ranks[rank]);
    if (device == nullptr) continue;
    derived["gpu"] = *device;
    derived["gpu_text"] = text_of_gpu(*device);
    derived["sharing"] = sharing[identity_of(*device)];
    derived["shared_index"] = indices[identity_of(*device)];
  }
  const int used = static_cast<int>(cores.size());
  const json &limit = processor.at("core_limit"), &memory = first.at("memory");
  node["size"] = size;
  if (used > 0) node["cores"] = used;
  node["capacity"] = limit.is_null() ? used : std::min(used, limit.get<int>());
  node["is_bound"] = is_bound;
  node["threads"] = threads;
  node["max_threads"] = max_threads;
  node["threads_each"] = std::max(1, node["capacity"].get<int>() / size);
  node["cores_each"] = std::max(1, node_cores / size);
  node["has_gpu"] = !sharing.empty();
  std::string variables;
  for (const std::string variable : graphics.at("variables")) variables += variable.substr(0, variable.find('=')) + ' ';
  node["variables"] = variables.substr(0, variables.size() - 1);
  const json &left = memory.at("left_by_groups"), &available = memory.at("available");
  if (!available.is_null()) node["memory"] = left.is_null() ? available : std::min(left, available);
}

void Subjects::derive_job() {
  const json& process = facts_.ranks.front().at("process");
  const std::string mpi = process.at("mpi_headers"), launcher = process.at("launcher");
  const bool is_open_mpi = mpi.starts_with("Open MPI");
  json& job = job_["job"];
  int capacity = 0;
  std::int64_t gpus = 0;
  std::size_t max_size = 0;
  for (const auto& node : nodes_) gpus += facts_.ranks[node.front()].at("graphics").at("hardware").get<std::int64_t>();
  for (const json& node : of_nodes_) {
    capacity += node["node"]["capacity"].get<int>();
    max_size = std::max(max_size, node["node"]["size"].get<std::size_t>());
  }
  const std::size_t ranks = facts_.ranks.size(), nodes = nodes_.size();
  job = {{"ranks", ranks},
         {"nodes", nodes},
         {"size", counted(ranks, "process") + " on " + counted(nodes, "node")},
         {"max_size", max_size},
         {"even_size", (ranks + nodes - 1) / nodes},
         {"even_ranks", (ranks + nodes - 1) / nodes * nodes},
         {"capacity", std::max(1, capacity)},
         {"gpus", gpus},
         {"program", process.at("program")},
         {"commands", commands_of(launcher)},
         {"matching_launcher", launcher == "Slurm" ? is_open_mpi ? "srun --mpi=pmix -n" : "srun --mpi=pmi2 -n"
                               : is_open_mpi       ? "mpirun.openmpi -np"
                                                   : "mpirun.mpich -np"}};
  for (const json& rank : facts_.ranks) {
    const json* device = hardware_of(rank);
    if (device != nullptr && job["gpu"].is_null()) job["gpu"] = text_of_gpu(*device);
    if (rank.at("process").at("oversubscribed")) job["turns"] = "ranks take turns on cores";
  }
}

// The rates of products of nodes and of their ranks, if all ranks have measured them. A node below 0.9 of the nodes'
// median is a straggler; ranks of one node share memory and power, and vary more.
void Subjects::compare_rates(const char* key, const std::string& name, bool compared) {
  std::vector<double> all, means;
  for (const auto& ranks : nodes_) {
    for (const std::size_t rank : ranks) {
      const json& gemm = facts_.ranks[rank].at("gemm");
      if (gemm.is_null() || gemm.at(key).is_null()) return;
      all.push_back(gemm.at(key));
    }
    const auto size = static_cast<std::ptrdiff_t>(ranks.size());
    means.push_back(std::accumulate(all.end() - size, all.end(), 0.0) / static_cast<double>(size));
  }
  const Measured spread = spread_of(all);
  const std::string range = fmt::format(" a rank (median), {:.1f} to {:.1f}", spread.min * 1e-9, spread.max * 1e-9);
  job_["job"]["gemm"][key] = fmt::format("{:.1f} GFLOPS{}", spread.median * 1e-9, all.size() > 1 ? range : "");
  if (!compared) return;
  const auto add = [&](std::size_t rank, double rate, double usual, const char* of, double limit) {
    const json& host = facts_.ranks[rank].at("host");
    of_rates_.push_back(
        {{"host", host},
         {"rate",
          {{"name", name}, {"value", rate}, {"ratio", rate / usual}, {"of", of}, {"usual", usual}, {"limit", limit}}}});
    subjects_[4].push_back({{}, host});
  };
  for (std::size_t n = 0, first = 0; n < nodes_.size(); first += nodes_[n++].size()) {
    const std::vector<std::size_t>& ranks = nodes_[n];
    const std::vector<double> rates(all.begin() + static_cast<std::ptrdiff_t>(first),
                                    all.begin() + static_cast<std::ptrdiff_t>(first + ranks.size()));
    add(ranks.front(), means[n], median_of(means), "the nodes' median", 0.9);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      add(ranks[i], rates[i], median_of(rates), "its node's median", 0.8);
      subjects_[4].back().rank = facts_.ranks[ranks[i]].at("process").at("rank");
    }
  }
}

// "peers": the devices of a rank's kind that burnt in, and the ratio of its rate to their median.
void Subjects::compare_burn_ins() {
  constexpr std::size_t min_peers = 3;
  std::map<json, std::vector<std::size_t>> kinds;
  for (std::size_t rank = 0; rank < facts_.ranks.size(); ++rank) {
    const json& burn_in = facts_.ranks[rank].at("burn_in");
    if (burn_in.is_null() || burn_in.at("error") != "") continue;
    of_ranks_[rank]["rank"]["burnt_in"] =
        (burn_in.at("device_index") < 0 ? "" : "device " + burn_in.at("device_index").dump() + ", ") +
        burn_in.at("device").get<std::string>();
    if (burn_in.at("measured_loops") > 0) kinds[burn_in.at("device")].push_back(rank);
  }
  for (const auto& [device, ranks] : kinds) {
    std::vector<double> rates;
    for (const std::size_t rank : ranks) rates.push_back(facts_.ranks[rank].at("burn_in").at("median_gflops"));
    const double median = median_of(rates);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      json& peers = of_ranks_[ranks[i]]["rank"]["peers"];
      peers = {{"count", ranks.size()}, {"median", median}};
      if (ranks.size() >= min_peers) {
        peers["ratio"] = rates[i] / median;
      } else {
        peers["too_few"] = "compared over time alone: too few peers";
      }
    }
  }
}

void Subjects::derive_links() {
  if (!facts_.screening) return;
  const Screening& screening = *facts_.screening;
  job_["job"]["links"] = {{"measured", screening.links.size()},
                          {"pairs", screening.pairs},
                          {"within", kind_text("within nodes", screening.within_hosts)},
                          {"between", kind_text("between nodes", screening.between_hosts)}};
  const auto host_of = [&](int rank) -> const json& {
    return facts_.ranks.at(static_cast<std::size_t>(rank)).at("host");
  };
  for (const Link& link : screening.slow) {
    const bool is_within = host_of(link.first) == host_of(link.second);
    const LinkMedian& usual = is_within ? screening.within_hosts : screening.between_hosts;
    of_links_.push_back(
        {{"link",
          {{"first", fmt::format("rank {} ({})", link.first, host_of(link.first).get<std::string>())},
           {"second", fmt::format("rank {} ({})", link.second, host_of(link.second).get<std::string>())},
           {"ratio", link.bandwidth / usual.bandwidth},
           {"text", link_text(link.latency, link.bandwidth)},
           {"usual", link_text(usual.latency, usual.bandwidth)},
           {"ends", fmt::format("{}-{}", link.first, link.second)},
           {"look_at", is_within ? "where the ranks run: hwloc-ps" : "cable, port and `ethtool` of both nodes"}}}});
  }
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string list;
  for (const char c : list_of_processors(ranks)) list += c == ',' ? std::string(", ") : std::string(1, c);
  return (ranks.size() == 1 ? "rank " : "ranks ") + list;
}

std::string list_text(const std::vector<std::string>& names) {
  constexpr std::size_t max_shown = 4;
  std::vector<std::string> shown = names;
  if (shown.size() > max_shown + 1) shown.resize(max_shown);
  const std::string list = fmt::format("{}", fmt::join(shown, ", "));
  return shown.size() == names.size() ? list : fmt::format("{} and {} more", list, names.size() - shown.size());
}

}  // namespace glinpack::app::doctor
