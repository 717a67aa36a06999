#include "local/gl/compute/compute_panel.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace glinpack::gl {
namespace {

// The shaders' own: see the files.
constexpr Index eliminate_rows = 256;
constexpr Index upper_columns = 4;

constexpr int least_subgroup = 8;

BufferHandle storage(const std::shared_ptr<Context>& context, std::int64_t bytes, GLbitfield flags = 0) {
  BufferHandle buffer(context);
  glNamedBufferStorage(buffer.id(), static_cast<GLsizeiptr>(bytes), nullptr, flags);
  return buffer;
}

std::size_t variant(bool listed, bool decides) { return (listed ? 2U : 0U) + (decides ? 1U : 0U); }

}  // namespace

ComputePanel::ComputePanel(const std::shared_ptr<Context>& context, const ShaderSource& sources, Precision precision,
                           Kernels& kernels, Index rows, Index columns, Index players, const Region& upper)
    : kernels_(kernels), players_(players), upper_(upper) {
  const ProgramCache cache;
  const auto build = [&](const char* name, const std::string& preamble) {
    return Program::compute(context, sources, cache, std::string("compute/") + name, kernels.types() + preamble);
  };
  const std::string match =
      define("PLAYERS", players) + define("SUBGROUPS", context->device().subgroup_size >= least_subgroup);
  for (const bool listed : {false, true}) {
    for (const bool decides : {false, true}) {
      matches_[variant(listed, decides)] =
          build("panel_match.comp", match + define("LISTED", listed) + define("FINAL", decides));
    }
  }
  swap_ = build("panel_swap.comp", "");
  eliminate_ = build("panel_eliminate.comp", define("IN_PLACE", false));
  eliminate_in_place_ = build("panel_eliminate.comp", define("IN_PLACE", true));
  upper_program_ = build("panel_upper.comp", define("GROUP", group));

  const auto bytes_of = [](Index count, std::size_t size) { return count * static_cast<std::int64_t>(size); };
  const Index largest_list = groups(std::max<Index>(rows, 1), players) * block;
  for (BufferHandle& list : lists_) list = storage(context, bytes_of(largest_list, sizeof(GLint)));
  factors_ = storage(context, block * block * (precision == Precision::double_ ? 8 : 4));
  moves_ = storage(context, bytes_of(2 * block, 2 * sizeof(GLint)));
  // the device writes to memory of its own, which is copied once for a panel: what crosses the bus would be waited for
  outcome_bytes_ = bytes_of(1 + columns, sizeof(GLint));
  outcome_ = storage(context, outcome_bytes_);
  constexpr GLbitfield access = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  outcome_on_host_ = storage(context, outcome_bytes_, access | GL_CLIENT_STORAGE_BIT);
  mapped_outcome_ = static_cast<const GLint*>(
      glMapNamedBufferRange(outcome_on_host_.id(), 0, static_cast<GLsizeiptr>(outcome_bytes_), access));
  if (!mapped_outcome_) {
    throw std::runtime_error("the device does not map a buffer of " + std::to_string(outcome_bytes_) + " bytes");
  }
}

void ComputePanel::factorize(const Region& a_transposed) {
  for (Index begin = 0; begin < a_transposed.rows; begin += group) {
    const Index end = std::min(begin + group, a_transposed.rows);
    for (Index first = begin; first < end; first += block) factorize_block(a_transposed, first, end);
    if (end < a_transposed.rows) reduce_beyond(a_transposed, begin);
  }
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  glCopyNamedBufferSubData(outcome_.id(), outcome_on_host_.id(), 0, 0, static_cast<GLsizeiptr>(outcome_bytes_));
}

void ComputePanel::factorize_block(const Region& a_transposed, Index first, Index group_end) {
  const Index columns = a_transposed.rows, rows = a_transposed.columns;
  const Index width = std::min(block, group_end - first);
  const Index below = rows - first - width, beside = group_end - first - width;
  decide(a_transposed, first, width);

  swap_.set(0, static_cast<GLint>(first), static_cast<GLint>(width));
  kernels_.bind(swap_, 0, 1, a_transposed);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, factors_.id());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 2, moves_.id());
  kernels_.bind(swap_, 3, 2, upper_);
  swap_.set(3, static_cast<GLint>(group_end));
  kernels_.dispatch(swap_, columns, 1);
  if (below == 0) return;

  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, factors_.id());
  launch_eliminate(eliminate_, a_transposed, first, width, first + width);
  if (beside == 0) return;

  // (A22 - L21 U12)^T: the transposed panel's rows are columns, and U12, which is by rows, is the transposed left
  kernels_.reduce(upper_.block(0, 0, width, beside), a_transposed.block(first, first + width, width, below),
                  a_transposed.block(first + width, first + width, beside, below));
}

void ComputePanel::launch_eliminate(const Program& program, const Region& a_transposed, Index first, Index width,
                                    Index first_row) {
  const Index rows = a_transposed.columns - first_row;
  program.set(0, static_cast<GLint>(first), static_cast<GLint>(width));
  program.set(1, static_cast<GLint>(first_row), static_cast<GLint>(rows));
  kernels_.bind(program, 0, 2, a_transposed);
  kernels_.dispatch(program, groups(rows, eliminate_rows), 1);
}

void ComputePanel::eliminate(const Region& a_transposed, const Region& u12, const Region& a22) {
  const Index columns = a_transposed.rows, rows = a_transposed.columns - columns;
  for (Index first = 0; first < columns; first += block) {
    const Index width = std::min(block, columns - first);
    const Index beside = columns - first - width;
    launch_eliminate(eliminate_in_place_, a_transposed, first, width, columns);
    if (beside == 0) break;
    const Region upper = upper_.block(0, 0, width, beside);
    kernels_.copy_transposed(a_transposed.block(first + width, first, beside, width), upper);
    kernels_.reduce(upper, a_transposed.block(first, columns, width, rows),
                    a_transposed.block(first + width, columns, beside, rows));
  }
  if (a22.columns > 0) kernels_.reduce(a_transposed.block(0, columns, columns, rows), u12, a22);
}

// Of the columns to the right of a group, which is whole, then. There are as many rows as columns, or more, so that
// some are below it.
void ComputePanel::reduce_beyond(const Region& a_transposed, Index first) {
  const Index end = first + group;
  const Index below = a_transposed.columns - end, beside = a_transposed.rows - end;
  upper_program_.set(0, static_cast<GLint>(first));
  upper_program_.set(1, static_cast<GLint>(beside));
  kernels_.bind(upper_program_, 0, 2, a_transposed);
  kernels_.bind(upper_program_, 1, 3, upper_);
  kernels_.dispatch(upper_program_, groups(beside, upper_columns), 1);
  kernels_.reduce(upper_.block(0, 0, group, beside), a_transposed.block(first, end, group, below),
                  a_transposed.block(end, end, beside, below));
}

void ComputePanel::decide(const Region& a_transposed, Index first, Index width) {
  Index count = a_transposed.columns - first;
  bool listed = false;
  std::size_t list = 0;
  while (count > players_) {
    play(a_transposed, first, width, count, listed, false, lists_[list].id(), lists_[1 - list].id());
    count = groups(count, players_) * width;
    listed = true;
    list = 1 - list;
  }
  play(a_transposed, first, width, count, listed, true, lists_[list].id(), 0);
}

void ComputePanel::play(const Region& a_transposed, Index first, Index width, Index count, bool listed, bool decides,
                        GLuint listed_players, GLuint winners) {
  const Program& match = matches_[variant(listed, decides)];
  match.set(0, static_cast<GLint>(first), static_cast<GLint>(width));
  match.set(1, static_cast<GLint>(count));
  kernels_.bind(match, 0, 2, a_transposed);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, listed_players);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 2, decides ? factors_.id() : winners);
  if (decides) {
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 3, moves_.id());
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 4, outcome_.id());
  }
  kernels_.dispatch(match, groups(count, players_), 1);
}

std::optional<Index> ComputePanel::outcome(std::span<Index> pivots) const {
  std::copy_n(mapped_outcome_ + 1, pivots.size(), pivots.begin());
  return *mapped_outcome_ < 0 ? std::nullopt : std::optional<Index>(*mapped_outcome_);
}

}  // namespace glinpack::gl
