// What a factorisation has to do, pass by pass, as amounts of a few kinds of work: from the schedule alone, without MPI
// and without a machine. docs/planning.md has the formulas.
#pragma once

#include <array>
#include <string_view>

#include "app/model/cost.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/process_grid.hpp"
#include "lu/run.hpp"

namespace glinpack::app::model {

enum class Work {
  panel_host,    // flops of a panel, its bytes, its columns
  panel_device,  // the same where the device factorises it
  normalize,     // flops of U12, its bytes read and written, 1
  swap,          // rows that change places within memory: bytes, 1
  reduce,        // flops, bytes of A22 read and written, 1
  transfer,      // between host and device: bytes, transfers
  substitution,  // backward, in a pass: flops, bytes of U read, 1
  network,       // between nodes, on the way that takes longest: bytes, messages one after the other
  memory,        // between processes of a node: the same
};

inline constexpr std::array all_work{Work::panel_host, Work::panel_device, Work::normalize, Work::swap,  Work::reduce,
                                     Work::transfer,   Work::substitution, Work::network,   Work::memory};

/// "panel of the host", "panel of the device", "normalize", "swap", "reduce", "transfer", "substitution", "network",
/// "memory of a node".
std::string_view name_of(Work work);

template <class Value>
class ByWork {
 public:
  Value& operator[](Work work) { return values_[static_cast<std::size_t>(work)]; }
  const Value& operator[](Work work) const { return values_[static_cast<std::size_t>(work)]; }

 private:
  std::array<Value, all_work.size()> values_{};
};

/// How a machine goes about it.
struct Arrangement {
  bool on_device = false;      // matrices lie where OpenGL computes, software OpenGL too: panels cross to the host
  bool in_background = false;  // it reduces while the host does something else: hardware
  int processes_per_node = 1;
};

/// A run to be predicted, or one that was measured.
struct Problem {
  RunParameters parameters;
  GridShape grid;
  RankOrder order = RankOrder::row_major;
  Precision precision = Precision::double_;
  Arrangement arrangement;

  Distribution distribution() const { return distribution_of(parameters, grid); }
  double element_bytes() const;
  bool panel_on_device() const;
  /// Whether rows of the trailing matrix cross process rows, and all process rows compute U12.
  bool swaps_across() const;
  bool all_compute_u12() const;
};

/// What a rank does itself in a pass: all kinds but network and memory. A panel of tournament pivoting on several
/// process rows is factorised twice; substitution is its share of this pass of the backward one.
ByWork<Amounts> work_in_pass(const Problem& problem, const PassPlan& plan);

/// Bytes of L (pivots, L11 where it goes along, L21) that a rank with this plan receives or sends along its process
/// row.
double bytes_of_l(const Problem& problem, const PassPlan& plan);

}  // namespace glinpack::app::model
