// Tournament pivoting by compute shaders: panels that do not leave the device.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/precision.hpp"
#include "device/mapped_buffer.hpp"
#include "kernels/kernels.hpp"

namespace glinpack::compute {

/// Launches the kernels that factorise a panel, by blocks of 32 columns:
///   candidates  TSLU: every work group selects 32 of its candidate rows; the next tree level reduces the winners
///   swap        moves the root's winners to the top of all columns; stores their L \ U; computes U12 of the block
///   eliminate   computes L21 of the block
///   update      updates the columns to the right of the block, within its group of blocks
/// After the last block of a group, `upper` computes U12 to the right of the group, and `update` updates those columns.
/// Updates of 32 columns at a time would read and write the whole panel for each block.
/// With 256 rows per group, a panel of 32768 rows takes four levels: 128 nodes, 16 for their 4096 winners, 2, 1.
class ComputePanel {
 public:
  /// For panels of up to rows x columns. A work group reduces `rows_per_group` candidate rows. `upper` is group x
  /// columns, for U12. The kernels must outlive it. Compiles all shaders; throws std::runtime_error.
  ComputePanel(const ShaderSource& sources, Precision precision, Kernels& kernels, Index rows, Index columns,
               Index rows_per_group, const Region& upper)
      : kernels_(kernels), rows_per_group_(rows_per_group), upper_(upper) {
    ComputeDevice& device = kernels.device();
    const auto build = [&](const char* name, const std::string& defines) {
      return device.make_program(sources, std::string("compute/") + name, kernels.types() + defines);
    };
    const std::string preamble = define("ROWS_PER_GROUP", rows_per_group) +
                                 define("SUBGROUPS", device.description().subgroup_size >= min_subgroup);
    for (const bool listed : {false, true}) {
      for (const bool is_root : {false, true}) {
        candidate_programs_[variant(listed, is_root)] =
            build("panel_candidates.comp", preamble + define("LISTED", listed) + define("FINAL", is_root));
      }
    }
    swap_ = build("panel_swap.comp", "");
    eliminate_ = build("panel_eliminate.comp", define("IN_PLACE", false));
    eliminate_in_place_ = build("panel_eliminate.comp", define("IN_PLACE", true));
    upper_program_ = build("panel_upper.comp", define("GROUP", group));

    const auto bytes_of = [](Index count, std::size_t size) { return count * static_cast<std::int64_t>(size); };
    const Index largest_list = groups(std::max<Index>(rows, 1), rows_per_group) * block;
    for (auto& list : lists_) list = make_buffer(device, bytes_of(largest_list, sizeof(std::int32_t)));
    factors_ = make_buffer(device, block * block * (precision == Precision::double_ ? 8 : 4));
    moves_ = make_buffer(device, bytes_of(2 * block, 2 * sizeof(std::int32_t)));
    // the device writes device memory, copied to the host once per panel: a write across the bus would stall the shader
    outcome_bytes_ = bytes_of(1 + columns, sizeof(std::int32_t));
    outcome_ = make_buffer(device, outcome_bytes_);
    outcome_on_host_ = make_buffer(device, outcome_bytes_, Memory::host);
    mapped_outcome_ = static_cast<const std::int32_t*>(outcome_on_host_->data());
  }

  /// See DevicePanel. `a_transposed` must fit a window of the kernels.
  void factorize(const Region& a_transposed) {
    for (Index begin = 0; begin < a_transposed.rows; begin += group) {
      const Index end = std::min(begin + group, a_transposed.rows);
      for (Index first = begin; first < end; first += block) factorize_block(a_transposed, first, end);
      if (end < a_transposed.rows) update_beyond(a_transposed, begin);
    }
    kernels_.device().barrier(Readers::copies);
    kernels_.device().copy(outcome_->id(), 0, outcome_on_host_->id(), 0, outcome_bytes_);
  }
  std::optional<Index> outcome(std::span<Index> pivots) const {
    std::copy_n(mapped_outcome_ + 1, pivots.size(), pivots.begin());
    return *mapped_outcome_ < 0 ? std::nullopt : std::optional<Index>(*mapped_outcome_);
  }
  /// u12 and a22 may be empty. Overwrites `upper`.
  void solve_l21_and_update(const Region& a_transposed, const Region& u12, const Region& a22) {
    const Index columns = a_transposed.rows, rows = a_transposed.columns - columns;
    for (Index first = 0; first < columns; first += block) {
      const Index width = std::min(block, columns - first);
      const Index right = columns - first - width;
      launch_eliminate(*eliminate_in_place_, a_transposed, first, width, columns);
      if (right == 0) break;
      const Region upper = upper_.block(0, 0, width, right);
      kernels_.copy_transposed(a_transposed.block(first + width, first, right, width), upper);
      kernels_.update(upper, a_transposed.block(first, columns, width, rows),
                      a_transposed.block(first + width, columns, right, rows));
    }
    if (a22.columns > 0) kernels_.update(a_transposed.block(0, columns, columns, rows), u12, a22);
  }

  /// Columns whose pivots one reduction tree chooses.
  static constexpr Index block = 32;
  /// Columns of a group of blocks.
  static constexpr Index group = 128;

 private:
  void factorize_block(const Region& a_transposed, Index first, Index group_end) {
    const Index columns = a_transposed.rows, rows = a_transposed.columns;
    const Index width = std::min(block, group_end - first);
    const Index below = rows - first - width, right = group_end - first - width;
    choose_pivots(a_transposed, first, width);

    swap_->set(0, first, width);
    kernels_.bind(*swap_, 0, 1, a_transposed);
    kernels_.device().bind(1, factors_->id());
    kernels_.device().bind(2, moves_->id());
    kernels_.bind(*swap_, 3, 2, upper_);
    swap_->set(3, group_end);
    kernels_.dispatch(*swap_, columns, 1);
    if (below == 0) return;

    kernels_.device().bind(1, factors_->id());
    launch_eliminate(*eliminate_, a_transposed, first, width, first + width);
    if (right == 0) return;

    // (A22 - L21 U12)^T = A22^T - U12^T L21^T: U12 is stored by rows, so it is the transposed left operand
    kernels_.update(upper_.block(0, 0, width, right), a_transposed.block(first, first + width, width, below),
                    a_transposed.block(first + width, first + width, right, below));
  }
  // Updates the columns to the right of a whole group. rows >= columns, so there are rows below the group.
  void update_beyond(const Region& a_transposed, Index first) {
    const Index end = first + group;
    const Index below = a_transposed.columns - end, right = a_transposed.rows - end;
    upper_program_->set(0, first);
    upper_program_->set(1, right);
    kernels_.bind(*upper_program_, 0, 2, a_transposed);
    kernels_.bind(*upper_program_, 1, 3, upper_);
    kernels_.dispatch(*upper_program_, groups(right, upper_columns), 1);
    kernels_.update(upper_.block(0, 0, group, right), a_transposed.block(first, end, group, below),
                    a_transposed.block(end, end, right, below));
  }

  void launch_eliminate(DeviceProgram& program, const Region& a_transposed, Index first, Index width, Index first_row) {
    const Index rows = a_transposed.columns - first_row;
    program.set(0, first, width);
    program.set(1, first_row, rows);
    kernels_.bind(program, 0, 2, a_transposed);
    kernels_.dispatch(program, groups(rows, eliminate_rows), 1);
  }
  void choose_pivots(const Region& a_transposed, Index first, Index width) {
    Index count = a_transposed.columns - first;
    bool listed = false;
    std::size_t list = 0;
    while (count > rows_per_group_) {
      reduce_candidates(a_transposed, first, width, count, listed, false, *lists_[list], *lists_[1 - list]);
      count = groups(count, rows_per_group_) * width;
      listed = true;
      list = 1 - list;
    }
    reduce_candidates(a_transposed, first, width, count, listed, true, *lists_[list], *factors_);
  }

  void reduce_candidates(const Region& a_transposed, Index first, Index width, Index count, bool listed, bool is_root,
                         const DeviceBuffer& candidates, const DeviceBuffer& winners) {
    DeviceProgram& program = *candidate_programs_[variant(listed, is_root)];
    program.set(0, first, width);
    program.set(1, count);
    kernels_.bind(program, 0, 2, a_transposed);
    kernels_.device().bind(1, candidates.id());
    kernels_.device().bind(2, winners.id());
    if (is_root) {
      kernels_.device().bind(3, moves_->id());
      kernels_.device().bind(4, outcome_->id());
    }
    kernels_.dispatch(program, groups(count, rows_per_group_), 1);
  }

  // Must equal the shaders' constants.
  static constexpr Index eliminate_rows = 256;
  static constexpr Index upper_columns = 4;

  static std::size_t variant(bool listed, bool is_root) { return (listed ? 2U : 0U) + (is_root ? 1U : 0U); }

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
