// Partial pivoting by a compute shader: a panel is one dispatch, whose work groups wait for each other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/precision.hpp"
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

/// Finds how many of the work groups run at the same time, when it is made. A GPU starts the groups of a dispatch
/// before those of later dispatches, so waiting groups do not wait for groups that cannot start.
class PartialPanel {
 public:
  /// Null if the device cannot factorise panels of rows x columns. The kernels must outlive it. Compiles the shaders;
  /// throws std::runtime_error.
  static std::unique_ptr<PartialPanel> make(const std::shared_ptr<Context>& context, const ShaderSource& sources,
                                            Precision precision, Kernels& kernels, Index rows, Index columns,
                                            const PartialPanelLimits& limits);

  /// See DevicePanel. Dispatches, without a barrier after it: what is dispatched next runs at the same time.
  /// `a_transposed` must fit a window of the kernels.
  void factorize(const Region& a_transposed);
  /// Whether the pivots of the last panel have arrived in host memory, or never will.
  bool has_outcome() const;
  /// See DevicePanel; call when has_outcome(). Throws std::runtime_error if a work group gave up waiting.
  std::optional<Index> outcome(std::span<Index> pivots) const;

 private:
  struct Variant {
    Index rows_per_group;
    Program in_registers, streamed;
  };
  PartialPanel(const std::shared_ptr<Context>& context, const ShaderSource& sources, Precision precision,
               Kernels& kernels, Index rows, Index columns, const PartialPanelLimits& limits);
  bool run_at_the_same_time(const Program& program, Index groups);
  void dispatch(const Program& program, const PartialPanelShape& shape, Index rows, Index columns);
  PartialPanelShape shape_of(Index rows) const;
  const Variant& variant_of(const PartialPanelShape& shape) const;
  void expect_outcome(Index columns);

  Kernels& kernels_;
  Index polls_;
  Index absent_groups_;
  Index groups_;  // that run at the same time
  std::vector<Variant> variants_;
  BufferHandle slots_, arrivals_, chosen_, outcome_;
  Index slots_of_panel_ = 0;
  GLuint arrived_ = 0;
  int parity_ = 0;
  Index columns_ = 0;  // of the last panel
  volatile GLint* mapped_outcome_ = nullptr;
};

}  // namespace glinpack::gl
