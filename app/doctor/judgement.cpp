#include "app/doctor/judgement.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <utility>

#include "app/doctor/pci.hpp"
#include "app/memory.hpp"
#include "backend/measuring.hpp"

namespace glinpack::app::doctor {

namespace {

constexpr std::size_t most_shown = 4;  // entries of a list

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::warn:
      return "warn";
    case Verdict::fail:
      return "fail";
    case Verdict::unknown:
      break;
  }
  return "n/a";
}

std::vector<Finding> judge(const Facts& facts) {
  std::vector<Finding> findings;
  for (Finding (*check)(const Facts&) :
       {check_mpi,           check_world,       check_hosts,         check_program,         check_affinity,
        check_threads,       check_kernels,     check_clocks,        check_container,       check_render_nodes,
        check_devices,       check_driver,      check_renderer,      check_gpu_map,         check_gpu_distance,
        check_device_memory, check_host_memory, check_shared_memory, check_temporary_space, check_locked_memory,
        check_network,       check_gemm}) {
    findings.push_back(check(facts));
  }
  return findings;
}

Verdict worst_of(std::span<const Finding> findings) {
  Verdict worst = Verdict::unknown;
  for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

void Judgement::ok(std::string evidence) { well_.push_back(std::move(evidence)); }

void Judgement::unknown(std::string evidence) { not_known_.push_back(std::move(evidence)); }

void Judgement::warn(std::string evidence, std::string remedy) {
  add_problem(Verdict::warn, std::move(evidence), std::move(remedy));
}

void Judgement::fail(std::string evidence, std::string remedy) {
  add_problem(Verdict::fail, std::move(evidence), std::move(remedy));
}

void Judgement::add_problem(Verdict verdict, std::string evidence, std::string remedy) {
  // the worst come first
  const bool first = verdict > worst_;
  worst_ = std::max(worst_, verdict);
  problems_.insert(first ? problems_.begin() : problems_.end(), std::move(evidence));
  if (std::find(remedies_.begin(), remedies_.end(), remedy) != remedies_.end()) return;
  remedies_.insert(first ? remedies_.begin() : remedies_.end(), std::move(remedy));
}

Finding Judgement::finding() const {
  if (problems_.empty()) {
    const bool well = !well_.empty();
    return {check_,
            well ? Verdict::ok : Verdict::unknown,
            fmt::format("{}", fmt::join(well ? well_ : not_known_, "; ")),
            {}};
  }
  std::vector<std::string> shown(
      problems_.begin(), problems_.begin() + static_cast<std::ptrdiff_t>(std::min(most_shown, problems_.size())));
  if (problems_.size() > most_shown)
    shown.push_back(fmt::format("and {} more like these", problems_.size() - most_shown));
  std::vector<std::string> remedies = remedies_;
  remedies.resize(std::min(remedies.size(), most_shown));
  return {check_, worst_, fmt::format("{}", fmt::join(shown, "; ")), std::move(remedies)};
}

std::vector<Node> nodes_in(const Facts& facts) {
  std::vector<Node> nodes;
  std::map<std::pair<std::string, int>, std::size_t> places;
  for (const RankFacts& rank : facts.ranks) {
    const auto [place, is_new] = places.try_emplace({rank.host.name, rank.process.node}, nodes.size());
    if (is_new) nodes.push_back({rank.host.name, {}});
    nodes[place->second].ranks.push_back(&rank);
  }
  return nodes;
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string list;
  for (const char c : processor_list(ranks)) list += c == ',' ? std::string(", ") : std::string(1, c);
  return (ranks.size() == 1 ? "rank " : "ranks ") + list;
}

std::string ranks_text(std::span<const RankFacts* const> ranks) {
  std::vector<int> numbers;
  for (const RankFacts* rank : ranks) numbers.push_back(rank->process.rank);
  return ranks_text(numbers);
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string list_text(const std::vector<std::string>& names) {
  std::vector<std::string> shown = names;
  if (shown.size() > most_shown + 1) shown.resize(most_shown);
  const std::string text = fmt::format("{}", fmt::join(shown, ", "));
  return shown.size() == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown.size());
}

std::string memory_range(const std::vector<std::int64_t>& bytes) {
  if (bytes.empty()) return "none";
  const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
  const std::string from = memory_text(static_cast<double>(*least)), to = memory_text(static_cast<double>(*most));
  return from == to ? to : from + " to " + to;
}

double median_of(std::vector<double> values) { return values.empty() ? 0 : spread_of(std::move(values)).median; }

std::string start_command(const ProcessFacts& process, std::int64_t ranks) {
  return fmt::format("{} {} glinpack ...", process.launcher == "Slurm" ? "srun -n" : "mpirun -np", ranks);
}

const DeviceFacts* device_of(const RankFacts& rank) {
  const GraphicsFacts& graphics = rank.graphics;
  const auto chosen = std::find_if(graphics.devices.begin(), graphics.devices.end(), [&](const DeviceFacts& device) {
    return device.index == graphics.chosen && device.usable;
  });
  return chosen == graphics.devices.end() ? nullptr : &*chosen;
}

const DeviceFacts* hardware_of(const RankFacts& rank) {
  const DeviceFacts* device = device_of(rank);
  return device == nullptr || device->software ? nullptr : device;
}

}  // namespace glinpack::app::doctor
