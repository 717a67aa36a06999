// Tournament pivoting by compute shaders: panels that do not leave the device.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "base/precision.hpp"
#include "kernels/kernels.hpp"

namespace glinpack::compute {

/// Launches the kernels that factorise a panel, by blocks of 32 columns:
///   candidates  TSLU: every work group selects 32 of its candidate rows; the next tree level reduces the winners
///   swap        moves the root's winners to the top of all columns; stores their L \ U; computes U12 of the block
///   eliminate   computes L21 of the block
///   reduce      updates the columns to the right of the block, within its group of blocks
/// After the last block of a group, `upper` computes U12 to the right of the group, and `reduce` updates those columns.
/// Updates of 32 columns at a time would read and write the whole panel for each block.
/// With 256 rows per group, a panel of 32768 rows takes four levels: 128 nodes, 16 for their 4096 winners, 2, 1.
class ComputePanel {
 public:
  /// For panels of up to rows x columns. A work group reduces `rows_per_group` candidate rows. `upper` is group x
  /// columns, for U12. The kernels must outlive it. Compiles all shaders; throws std::runtime_error.
  ComputePanel(const ShaderSource& sources, Precision precision, Kernels& kernels, Index rows, Index columns,
               Index rows_per_group, const Region& upper);

  /// See DevicePanel. `a_transposed` must fit a window of the kernels.
  void factorize(const Region& a_transposed);
  std::optional<Index> outcome(std::span<Index> pivots) const;
  /// u12 and a22 may be empty. Overwrites `upper`.
  void solve_l21_and_update(const Region& a_transposed, const Region& u12, const Region& a22);

  /// Columns whose pivots one reduction tree chooses.
  static constexpr Index block = 32;
  /// Columns of a group of blocks.
  static constexpr Index group = 128;

 private:
  void factorize_block(const Region& a_transposed, Index first, Index group_end);
  void reduce_beyond(const Region& a_transposed, Index first);
  void launch_eliminate(DeviceProgram& program, const Region& a_transposed, Index first, Index width, Index first_row);
  void choose_pivots(const Region& a_transposed, Index first, Index width);
  void reduce_candidates(const Region& a_transposed, Index first, Index width, Index count, bool listed, bool is_root,
                         const DeviceBuffer& candidates, const DeviceBuffer& winners);

  Kernels& kernels_;
  Index rows_per_group_;
  Region upper_;  // group x columns, for U12 by rows
  std::array<std::unique_ptr<DeviceProgram>, 4> candidate_programs_;
  std::unique_ptr<DeviceProgram> swap_, eliminate_, eliminate_in_place_, upper_program_;
  std::array<std::unique_ptr<DeviceBuffer>, 2> lists_;
  std::unique_ptr<DeviceBuffer> factors_, moves_, outcome_, outcome_on_host_;
  std::int64_t outcome_bytes_ = 0;
  const std::int32_t* mapped_outcome_ = nullptr;
};

}  // namespace glinpack::compute
