// Tournament pivoting by compute shaders: panels that do not leave the device.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "local/gl/compute/kernels.hpp"
#include "local/gl/handle.hpp"
#include "local/precision.hpp"

namespace glinpack::gl {

/// Launches what factorises a panel, by blocks of 32 columns:
///   matches   every work group chooses 32 of the rows that it has; the winners meet again, until one match is left
///   swap      its winners to the top of all columns; their L \ U; U12 of the block
///   eliminate L21 of the block
///   reduce    the panel's columns to the right of it, as far as its group of blocks goes
/// and, behind the last block of a group, U12 (upper) and the reduction (reduce) of what is to the right of the group:
/// products of 32 columns alone would read and write the whole panel for each of them.
/// With 256 players a match, a panel of 32768 rows takes four rounds: 128 matches, 16 of their 4096 winners, 2, 1.
class ComputePanel {
 public:
  /// For panels of up to rows x columns, whose matches are of `players` rows. `upper`: group x columns, for U12. The
  /// kernels must outlive it. Compiles all shaders; throws std::runtime_error.
  ComputePanel(const std::shared_ptr<Context>& context, const ShaderSource& sources, Precision precision,
               Kernels& kernels, Index rows, Index columns, Index players, const Region& upper);

  /// See DevicePanel. `a_transposed` must fit a window of the kernels.
  void factorize(const Region& a_transposed);
  std::optional<Index> outcome(std::span<Index> pivots) const;
  /// u12 and a22 may be empty; what `upper` holds is overwritten.
  void eliminate(const Region& a_transposed, const Region& u12, const Region& a22);

  /// Columns that a tournament chooses pivots for.
  static constexpr Index block = 32;
  /// Columns of a group of blocks.
  static constexpr Index group = 128;

 private:
  void factorize_block(const Region& a_transposed, Index first, Index group_end);
  void reduce_beyond(const Region& a_transposed, Index first);
  void launch_eliminate(const Program& program, const Region& a_transposed, Index first, Index width, Index first_row);
  void decide(const Region& a_transposed, Index first, Index width);
  void play(const Region& a_transposed, Index first, Index width, Index count, bool listed, bool decides,
            GLuint players, GLuint winners);

  Kernels& kernels_;
  Index players_;  // of a match
  Region upper_;   // group x columns, for U12 by rows
  std::array<Program, 4> matches_;
  Program swap_, eliminate_, eliminate_in_place_, upper_program_;
  std::array<BufferHandle, 2> lists_;
  BufferHandle factors_, moves_, outcome_, outcome_on_host_;
  std::int64_t outcome_bytes_ = 0;
  const GLint* mapped_outcome_ = nullptr;
};

}  // namespace glinpack::gl
