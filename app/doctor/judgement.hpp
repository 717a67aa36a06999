// What the checks share: the job and its nodes, the collection of a finding, texts.
#pragma once

#include <spdlog/fmt/fmt.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/doctor/checks.hpp"

namespace glinpack::app::doctor {

/// Ranks that share a node: they can share memory, as MPI reports it, and have the same host name.
struct Node {
  std::string host;
  std::vector<const nlohmann::json*> ranks;  // at least one

  /// A part of the first rank's facts, such as "memory".
  const nlohmann::json& part(const char* name) const { return ranks.front()->at(name); }
  int size() const { return static_cast<int>(ranks.size()); }
};

struct Job {
  explicit Job(const Facts& of_ranks);

  const Facts& facts;
  std::vector<Node> nodes;  // in the order of their first ranks

  /// A part of rank 0's facts.
  const nlohmann::json& part(const char* name) const { return facts.ranks.front().at(name); }
};

/// Collects the evidence of one check.
class Judgement {
 public:
  explicit Judgement(std::string check) : check_(std::move(check)) {}

  /// Evidence that is shown if nothing is wrong.
  void ok(std::string evidence) { good_.push_back(std::move(evidence)); }
  /// Evidence that is shown if there is no other.
  void unknown(std::string evidence) { unknown_.push_back(std::move(evidence)); }
  void add_problem(Verdict verdict, const std::string& remedy, const std::string& evidence) {
    insert(verdict, remedy, evidence);
  }
  /// Evidence that several ranks share is shown once, with their hosts and numbers.
  void add_problem_of(const nlohmann::json& rank, Verdict verdict, const std::string& remedy,
                      const std::string& evidence);

  /// Add a problem if `wrong`, and return `wrong`. The rest is the format of the evidence, and its values.
  template <class... Values>
  bool warn_if(bool wrong, const std::string& remedy, fmt::format_string<Values...> format, Values&&... values) {
    if (wrong) add_problem(Verdict::warn, remedy, fmt::format(format, std::forward<Values>(values)...));
    return wrong;
  }
  template <class... Values>
  bool fail_if(bool wrong, const std::string& remedy, fmt::format_string<Values...> format, Values&&... values) {
    if (wrong) add_problem(Verdict::fail, remedy, fmt::format(format, std::forward<Values>(values)...));
    return wrong;
  }

  /// The worst verdict. The evidence lists the problems (the first few of many), or else the good values.
  Finding finding() const;

 private:
  struct Problem {
    std::string evidence;
    std::set<std::string> hosts;
    std::vector<int> ranks;  // empty: the evidence names them, or is of no rank
    std::string text() const;
  };
  Problem& insert(Verdict verdict, const std::string& remedy, const std::string& evidence);

  std::string check_;
  std::vector<std::string> good_, unknown_, remedies_;
  std::vector<Problem> problems_;
  Verdict worst_ = Verdict::unknown;
};

/// A text, list of texts, or number of facts.
std::string fact_text(const nlohmann::json& fact);

int number_of(const nlohmann::json& rank);
std::string host_of(const nlohmann::json& rank);

/// "node0, device 1, NVIDIA H200": where a rank's burn-in computed.
std::string burnt_in_device(const nlohmann::json& rank);

/// "rank 3", "ranks 0-2, 5".
std::string ranks_text(const std::vector<int>& ranks);
/// "1 rank", "4 ranks", for any noun with a plural in s.
std::string counted(std::int64_t count, const std::string& noun);
/// "a, b, c, d and 3 more".
std::string list_text(const std::vector<std::string>& names);
/// "4.0 GiB", or "4.0 to 16.0 GiB" for several values.
std::string memory_range(const std::vector<std::int64_t>& bytes);
/// The command that starts `ranks` ranks with the current launcher: "mpirun -np 4 glinpack ...".
std::string start_command(const nlohmann::json& process, std::int64_t ranks);

/// The mean of the middle two if the number of values is even; 0 for no values.
double median_of(std::vector<double> values);

// performance_checks.cpp
void check_load(const Job& job, Judgement& judgement);
void check_affinity(const Job& job, Judgement& judgement);
void check_threads(const Node& node, Judgement& judgement);
void check_kernels(const Job& job, Judgement& judgement);
void check_clocks(const Job& job, Judgement& judgement);
void check_network(const Job& job, Judgement& judgement);
void check_gemm(const Job& job, Judgement& judgement);
void check_burn_in(const Job& job, Judgement& judgement);

// device_checks.cpp: the checks of OpenGL's prerequisites and of each rank's device
void check_container(const Node& node, Judgement& judgement);
void check_render_nodes(const Node& node, Judgement& judgement);
void check_devices(const Job& job, Judgement& judgement);
void check_driver(const Job& job, Judgement& judgement);
void check_renderer(const Job& job, Judgement& judgement);
void check_gpu_map(const Job& job, Judgement& judgement);
void check_gpu_distance(const Job& job, Judgement& judgement);
void check_device_memory(const Job& job, Judgement& judgement);

}  // namespace glinpack::app::doctor
