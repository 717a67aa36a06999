// Helpers of the checks: collects a finding, formats ranks and nodes, declares the checks by file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/doctor/checks.hpp"

namespace glinpack::app::doctor {

/// Collects the evidence of one check.
class Judgement {
 public:
  explicit Judgement(std::string check) : check_(std::move(check)) {}
  /// Evidence that is shown if nothing is wrong.
  void ok(std::string evidence);
  /// Evidence that is shown if there is no other.
  void unknown(std::string evidence);
  void warn(std::string evidence, std::string remedy);
  void fail(std::string evidence, std::string remedy);
  /// The worst verdict. The evidence lists the problems (the first few of many), or else the good values.
  Finding finding() const;

 private:
  void add_problem(Verdict verdict, std::string evidence, std::string remedy);

  std::string check_;
  std::vector<std::string> well_;
  std::vector<std::string> not_known_;
  std::vector<std::string> problems_;
  std::vector<std::string> remedies_;
  Verdict worst_ = Verdict::unknown;
};

/// Ranks that share a node: they can share memory, as MPI reports it, and have the same host name.
struct Node {
  std::string host;
  std::vector<const RankFacts*> ranks;  // at least one
  const RankFacts& first() const { return *ranks.front(); }
};
std::vector<Node> nodes_in(const Facts& facts);

/// "rank 3", "ranks 0-2, 5".
std::string ranks_text(const std::vector<int>& ranks);
std::string ranks_text(std::span<const RankFacts* const> ranks);
/// "1 rank", "4 ranks", for any noun with a plural in s.
std::string counted(std::int64_t count, const std::string& noun);
/// "a, b, c, d and 3 more".
std::string list_text(const std::vector<std::string>& names);
/// "4.0 GiB", or "4.0 to 16.0 GiB" for several values.
std::string memory_range(const std::vector<std::int64_t>& bytes);
/// The mean of the middle two if the number of values is even; 0 for no values.
double median_of(std::vector<double> values);
/// The command that starts `ranks` ranks with the current launcher: "mpirun -np 4 glinpack ...".
std::string start_command(const ProcessFacts& process, std::int64_t ranks);

/// The EGL device that a rank computes on, or null.
const DeviceFacts* device_of(const RankFacts& rank);
/// Like device_of(), but null for software OpenGL.
const DeviceFacts* hardware_of(const RankFacts& rank);

// checks_launch.cpp
Finding check_mpi(const Facts& facts);
Finding check_world(const Facts& facts);
Finding check_hosts(const Facts& facts);
Finding check_program(const Facts& facts);
// checks_processor.cpp
Finding check_affinity(const Facts& facts);
Finding check_threads(const Facts& facts);
Finding check_kernels(const Facts& facts);
Finding check_clocks(const Facts& facts);
// checks_drivers.cpp
Finding check_container(const Facts& facts);
Finding check_render_nodes(const Facts& facts);
Finding check_devices(const Facts& facts);
Finding check_driver(const Facts& facts);
// checks_devices.cpp
Finding check_renderer(const Facts& facts);
Finding check_gpu_map(const Facts& facts);
Finding check_gpu_distance(const Facts& facts);
Finding check_device_memory(const Facts& facts);
// checks_memory.cpp
Finding check_host_memory(const Facts& facts);
Finding check_shared_memory(const Facts& facts);
Finding check_temporary_space(const Facts& facts);
Finding check_locked_memory(const Facts& facts);
// checks_measured.cpp
Finding check_network(const Facts& facts);
Finding check_gemm(const Facts& facts);

}  // namespace glinpack::app::doctor
