// What checks look at: the job, its nodes, ranks, slow links and rates, each with its facts and what follows from them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/doctor/facts.hpp"

namespace glinpack::app::doctor {

enum class Scope { job, node, rank, link, rate };

/// A pointer that the facts of a rank lack refers to its node, then to the job: "/memory/total", "/node/size",
/// "/job/ranks". A node has the facts of its first rank, the job those of rank 0.
struct Subject {
  std::vector<const nlohmann::json*> facts;
  std::string host = {};  // empty: of several
  int rank = -1;          // -1: of several

  /// Null if no fact is there, or if it is null.
  const nlohmann::json* find(std::string_view pointer) const;
  double number(std::string_view pointer) const;     // 0 if unknown
  std::string text(std::string_view pointer) const;  // empty if unknown
  bool holds(std::string_view pointer) const;        // false if unknown

  /// Replaces "{/pointer}" by the fact. "{/pointer|bytes}" is "4.0 GiB", "|list" "0-3,8", "|giga" in 10^9, "|2" with
  /// two decimals, "|#core" "1 core" or "4 cores". "[...]" vanishes if a fact in it is unknown. `known`: set to false
  /// if a fact outside of brackets is unknown.
  std::string filled(std::string_view text, bool* known = nullptr) const;
};

/// The subjects of a job. Refers to `facts`.
class Subjects {
 public:
  explicit Subjects(const Facts& facts);
  Subjects(const Subjects&) = delete;
  Subjects& operator=(const Subjects&) = delete;
  const std::vector<Subject>& of(Scope scope) const { return subjects_[static_cast<std::size_t>(scope)]; }

 private:
  void derive_node(nlohmann::json& node, const std::vector<std::size_t>& ranks);
  void derive_job();
  void derive_links();
  void compare_rates(const char* key, const std::string& name, bool compared);
  void compare_burn_ins();

  const Facts& facts_;
  std::vector<std::vector<std::size_t>> nodes_;  // the ranks of each
  // what follows from the facts: "job"; "node" of each node; "rank" of each rank; "link" of each slow link; "rate" of
  // each node and rank
  nlohmann::json job_;
  std::vector<nlohmann::json> of_nodes_, of_ranks_, of_links_, of_rates_;
  std::vector<Subject> subjects_[5];
};

/// "rank 3", "ranks 0-2, 5".
std::string ranks_text(const std::vector<int>& ranks);
/// "a, b, c, d and 3 more".
std::string list_text(const std::vector<std::string>& names);

}  // namespace glinpack::app::doctor
