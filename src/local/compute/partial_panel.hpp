// Partial pivoting by a compute shader: a panel is one dispatch, whose work groups wait for each other.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/non_copyable.hpp"
#include "base/precision.hpp"
#include "kernels/kernels.hpp"

namespace glinpack::compute {

/// Limits of panels with partial pivoting. 0: the implementation's own; tests set smaller ones.
struct PartialPanelLimits {
  Index rows_per_group = 0;  // a power of two, at least 64
  Index groups = 0;          // at the same time, at most
  Index polls = 0;           // of one wait
  Index absent_groups = 0;   // never started, so that the others give up
  bool delays = false;       // random ones before a group publishes or arrives

  friend bool operator==(const PartialPanelLimits&, const PartialPanelLimits&) = default;
};

/// How the rows of a panel are distributed: `groups` work groups with `slabs` slabs of `rows_per_group` rows each.
struct PartialPanelShape {
  Index rows_per_group = 0;
  Index groups = 0;
  Index slabs = 0;
};

/// The programs of panels of all extents. Finds how many of their work groups run at the same time, unless NumberCache
/// has the count. A GPU starts the groups of a dispatch before those of later dispatches, so waiting groups do not wait
/// for groups that cannot start.
class PartialPanelPrograms : NonCopyable {
 public:
  /// Compiles shaders; throws std::runtime_error. The arguments by reference must outlive it.
  PartialPanelPrograms(const ShaderSource& sources, Precision precision, Kernels& kernels,
                       const PartialPanelLimits& limits);

  PartialPanelShape shape_of(Index rows) const;
  /// Compiles the program of several slabs when it is first used.
  DeviceProgram& program_of(const PartialPanelShape& shape);

  Kernels& kernels() const { return kernels_; }
  const PartialPanelLimits& limits() const { return limits_; }
  Index element_bytes() const { return element_bytes_; }
  /// Slots for the candidates of a column.
  Index slots_of_column() const { return slots_of_column_; }

 private:
  struct Variant {
    Index rows_per_group;
    std::unique_ptr<DeviceProgram> in_registers;
  };
  std::string preamble(Index rows_per_group, bool streamed) const;
  std::unique_ptr<DeviceProgram> build(Index rows_per_group, bool streamed) const;
  Index counted_groups();

  const ShaderSource& sources_;
  Kernels& kernels_;
  PartialPanelLimits limits_;
  Index element_bytes_;
  Index slots_of_column_;
  Index groups_;                             // that run at the same time
  std::vector<Variant> variants_;            // by ascending size
  std::unique_ptr<DeviceProgram> streamed_;  // of the largest size; null until it is used
};

class PartialPanel {
 public:
  /// Null if the device cannot factorise panels of rows x columns. The programs must outlive it. Throws
  /// std::runtime_error.
  static std::unique_ptr<PartialPanel> make(PartialPanelPrograms& programs, Index rows, Index columns);

  /// See DevicePanel. Dispatches on the queue, without a barrier after it: what is dispatched next runs at the same
  /// time. `a_transposed` must fit a window of the kernels.
  void factorize(ComputeDevice& queue, const Region& a_transposed);
  /// Whether the pivots of the last panel have arrived in host memory, or never will.
  bool has_outcome() const;
  /// See DevicePanel; call when has_outcome(). Throws std::runtime_error if a work group gave up waiting.
  std::optional<Index> outcome(std::span<Index> pivots) const;

 private:
  friend class PartialPanelPrograms;
  PartialPanel(PartialPanelPrograms& programs, Index columns);
  /// Whether that many groups of an empty panel do.
  bool run_at_the_same_time(DeviceProgram& program, Index groups);
  void dispatch(ComputeDevice& queue, DeviceProgram& program, const PartialPanelShape& shape, Index rows,
                Index columns);
  void expect_outcome(Index columns);
  void fill(const DeviceBuffer& buffer, std::int64_t bytes, std::uint32_t word);

  PartialPanelPrograms& programs_;
  Index polls_;
  std::unique_ptr<DeviceBuffer> slots_, arrivals_, chosen_, outcome_;
  Index slots_of_panel_ = 0;
  std::uint32_t arrived_ = 0;
  int parity_ = 0;
  Index columns_ = 0;  // of the last panel
  volatile std::int32_t* mapped_outcome_ = nullptr;
};

}  // namespace glinpack::compute
