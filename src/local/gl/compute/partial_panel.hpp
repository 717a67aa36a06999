// Partial pivoting by a compute shader: a panel is one dispatch, whose work groups wait for each other.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/precision.hpp"
#include "gl/compute/kernels.hpp"
#include "gl/compute/partial_panel_limits.hpp"
#include "gl/handle.hpp"

namespace glinpack::gl {

/// How the rows of a panel are distributed: `groups` work groups with `slabs` slabs of `rows_per_group` rows each.
struct PartialPanelShape {
  Index rows_per_group = 0;
  Index groups = 0;
  Index slabs = 0;
};

/// The programs of panels of all extents. Finds how many of their work groups run at the same time, unless NumberCache
/// has the count. A GPU starts the groups of a dispatch before those of later dispatches, so waiting groups do not wait
/// for groups that cannot start.
class PartialPanelPrograms {
 public:
  /// Compiles shaders; throws std::runtime_error. The arguments by reference must outlive it.
  PartialPanelPrograms(const std::shared_ptr<Context>& context, const ShaderSource& sources, Precision precision,
                       Kernels& kernels, const PartialPanelLimits& limits);
  PartialPanelPrograms(const PartialPanelPrograms&) = delete;
  PartialPanelPrograms& operator=(const PartialPanelPrograms&) = delete;

  PartialPanelShape shape_of(Index rows) const;
  /// Compiles the program of several slabs when it is first used.
  const Program& program_of(const PartialPanelShape& shape);

  const std::shared_ptr<Context>& context() const { return context_; }
  Kernels& kernels() const { return kernels_; }
  const PartialPanelLimits& limits() const { return limits_; }
  Index element_bytes() const { return element_bytes_; }
  /// Slots for the candidates of a column.
  Index slots_of_column() const { return slots_of_column_; }

 private:
  struct Variant {
    Index rows_per_group;
    Program in_registers;
  };
  std::string preamble(Index rows_per_group, bool streamed) const;
  Program build(Index rows_per_group, bool streamed) const;
  Index counted_groups();

  std::shared_ptr<Context> context_;
  const ShaderSource& sources_;
  Kernels& kernels_;
  PartialPanelLimits limits_;
  Index element_bytes_;
  Index slots_of_column_;
  Index groups_;                     // that run at the same time
  std::vector<Variant> variants_;    // by ascending size
  std::optional<Program> streamed_;  // of the largest size
};

class PartialPanel {
 public:
  /// Null if the device cannot factorise panels of rows x columns. The programs must outlive it. Throws
  /// std::runtime_error.
  static std::unique_ptr<PartialPanel> make(PartialPanelPrograms& programs, Index rows, Index columns);

  /// See DevicePanel. Dispatches, without a barrier after it: what is dispatched next runs at the same time.
  /// `a_transposed` must fit a window of the kernels.
  void factorize(const Region& a_transposed);
  /// Whether the pivots of the last panel have arrived in host memory, or never will.
  bool has_outcome() const;
  /// See DevicePanel; call when has_outcome(). Throws std::runtime_error if a work group gave up waiting.
  std::optional<Index> outcome(std::span<Index> pivots) const;

 private:
  friend class PartialPanelPrograms;
  PartialPanel(PartialPanelPrograms& programs, Index columns);
  /// Whether that many groups of an empty panel do.
  bool run_at_the_same_time(const Program& program, Index groups);
  void dispatch(const Program& program, const PartialPanelShape& shape, Index rows, Index columns);
  void expect_outcome(Index columns);

  PartialPanelPrograms& programs_;
  Index polls_;
  BufferHandle slots_, arrivals_, chosen_, outcome_;
  Index slots_of_panel_ = 0;
  GLuint arrived_ = 0;
  int parity_ = 0;
  Index columns_ = 0;  // of the last panel
  volatile GLint* mapped_outcome_ = nullptr;
};

}  // namespace glinpack::gl
