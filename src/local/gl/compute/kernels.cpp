#include "local/gl/compute/kernels.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace glinpack::gl {
namespace {

// The shaders' own: see the files.
constexpr Index copy_columns = 512;
constexpr Index transpose_side = 32;
constexpr Index solve_rows = 32;
constexpr Index solve_columns = 64;
constexpr Index reduce_rows = 64;
constexpr Index reduce_vectors = 32;
constexpr Index reduce_depth = 16;

constexpr Index most_groups = 65535;   // of a dispatch in each direction: what GL 4.5 guarantees
constexpr Index most_moves = 8192;     // of a launch
constexpr Index listed_moves = 65536;  // that the list has room for before it starts again at its front
constexpr Index move_alignment = 32;   // moves: 256 bytes, the coarsest that GL allows storage buffers to be bound at
/// Shaders count elements and bytes of a window in 32 bits.
constexpr std::int64_t largest_window = (std::int64_t{1} << 31) - 65536;

Index groups(Index extent, Index tile) { return (extent + tile - 1) / tile; }

/// Calls body(begin, count) for the parts of [0, extent), at most `step` long.
template <class Body>
void for_parts(Index extent, Index step, Body body) {
  for (Index begin = 0; begin < extent; begin += step) body(begin, std::min(step, extent - begin));
}

/// `count` rounded down to whole units, where it holds one.
Index whole_units(Index count, Index unit) { return count < unit ? count : count / unit * unit; }

std::string define(const char* name, bool value) { return std::string("#define ") + name + (value ? " 1\n" : " 0\n"); }

}  // namespace

Kernels::Kernels(const std::shared_ptr<Context>& context, const ShaderSource& sources, Precision precision,
                 std::int64_t window_bytes)
    : element_bytes_(precision == Precision::double_ ? 8 : 4), vector_width_(16 / element_bytes_) {
  window_elements_ = std::min(window_bytes, largest_window) / element_bytes_;
  const ProgramCache cache;
  const std::string types = define("DOUBLE", precision == Precision::double_);
  const auto build = [&](const char* name, const std::string& variant) {
    return Program::compute(context, sources, cache, std::string("compute/") + name, types + variant);
  };
  copy_ = build("copy.comp", define("LISTED", false));
  copy_listed_ = build("copy.comp", define("LISTED", true));
  copy_transposed_ = build("copy_transposed.comp", "");
  solve_ = build("solve.comp", "");
  substitute_ = build("substitute.comp", "");
  reduce_ = build("reduce.comp", define("ALIGNED", false) + define("UNROLLED", false));
  reduce_aligned_ = build("reduce.comp", define("ALIGNED", true) + define("UNROLLED", !context->device().software));
  moves_ = BufferHandle(context);
  constexpr GLbitfield access = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  constexpr auto bytes = static_cast<GLsizeiptr>(listed_moves * static_cast<Index>(sizeof(Move)));
  glNamedBufferStorage(moves_.id(), bytes, nullptr, access);
  mapped_moves_ = static_cast<Move*>(glMapNamedBufferRange(moves_.id(), 0, bytes, access));
  if (!mapped_moves_)
    throw std::runtime_error("the device does not map a buffer of " + std::to_string(bytes) + " bytes");
}

Kernels::Layout Kernels::bind(GLuint binding, const Region& region) const {
  const Window window = window_of(region);
  glBindBufferRange(GL_SHADER_STORAGE_BUFFER, binding, region.buffer, window.begin * element_bytes_,
                    window.size * element_bytes_);
  return {static_cast<GLint>(window.first), static_cast<GLint>(region.leading_dimension)};
}

void Kernels::set(const Program& program, GLint location, const Layout& layout) const {
  program.set(location, layout.first, layout.leading_dimension);
}

void Kernels::dispatch(const Program& program, Index groups_x, Index groups_y) const {
  program.use();
  glDispatchCompute(static_cast<GLuint>(groups_x), static_cast<GLuint>(groups_y), 1);
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT | GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
}

void Kernels::copy(const Region& from, const Region& to) {
  const Index step = std::min({rows_of(from), rows_of(to), most_groups});
  for_parts(from.rows, step, [&](Index row, Index rows) {
    copy_.set(0, static_cast<GLint>(from.columns));
    set(copy_, 1, bind(0, from.row_range(row, rows)));
    set(copy_, 2, bind(1, to.row_range(row, rows)));
    dispatch(copy_, groups(from.columns, copy_columns), rows);
  });
}

void Kernels::copy_rows(const Region& from, const Region& to, std::span<const RowMove> moves) {
  const Index from_step = rows_of(from), to_step = rows_of(to);
  if (from.rows <= from_step && to.rows <= to_step) {
    copy_listed(from, to, moves);
    return;
  }
  // by pairs of windows, each pair's moves counted from the windows' first rows
  std::map<std::pair<Index, Index>, std::vector<RowMove>> by_windows;
  for (const RowMove& move : moves) {
    by_windows[{move.from / from_step, move.to / to_step}].push_back({move.from % from_step, move.to % to_step});
  }
  for (const auto& [windows, local_moves] : by_windows) {
    const Index from_row = windows.first * from_step, to_row = windows.second * to_step;
    copy_listed(from.row_range(from_row, std::min(from_step, from.rows - from_row)),
                to.row_range(to_row, std::min(to_step, to.rows - to_row)), local_moves);
  }
}

void Kernels::copy_listed(const Region& from, const Region& to, std::span<const RowMove> moves) {
  for_parts(static_cast<Index>(moves.size()), most_moves, [&](Index begin, Index count) {
    bind_moves(2, moves.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)));
    copy_listed_.set(0, static_cast<GLint>(from.columns));
    set(copy_listed_, 1, bind(0, from));
    set(copy_listed_, 2, bind(1, to));
    dispatch(copy_listed_, groups(from.columns, copy_columns), count);
  });
}

// Lists follow each other in mapped memory, so that none is written while the device may still read it and no upload
// waits for the kernels before it.
void Kernels::bind_moves(GLuint binding, std::span<const RowMove> moves) {
  const auto count = static_cast<Index>(moves.size());
  if (next_move_ + count > listed_moves) {
    const GLsync all_read = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    while (glClientWaitSync(all_read, GL_SYNC_FLUSH_COMMANDS_BIT, 1'000'000'000) == GL_TIMEOUT_EXPIRED) {
    }
    glDeleteSync(all_read);
    next_move_ = 0;
  }
  std::transform(moves.begin(), moves.end(), mapped_moves_ + next_move_, [](const RowMove& move) {
    return Move{static_cast<GLint>(move.from), static_cast<GLint>(move.to)};
  });
  glBindBufferRange(GL_SHADER_STORAGE_BUFFER, binding, moves_.id(), next_move_ * static_cast<GLintptr>(sizeof(Move)),
                    count * static_cast<GLsizeiptr>(sizeof(Move)));
  next_move_ = round_up(next_move_ + count, move_alignment);
}

void Kernels::copy_transposed(const Region& from, const Region& to) {
  const Index row_step = std::min(rows_of(from), most_groups * transpose_side);
  const Index column_step = std::min(rows_of(to), most_groups * transpose_side);
  for_parts(from.rows, row_step, [&](Index row, Index rows) {
    for_parts(from.columns, column_step, [&](Index column, Index columns) {
      copy_transposed_.set(0, static_cast<GLint>(rows), static_cast<GLint>(columns));
      set(copy_transposed_, 1, bind(0, from.block(row, column, rows, columns)));
      set(copy_transposed_, 2, bind(1, to.block(column, row, columns, rows)));
      const bool rows_first = rows < columns;
      copy_transposed_.set(3, rows_first ? 1 : 0);
      dispatch(copy_transposed_, groups(std::min(rows, columns), transpose_side),
               groups(std::max(rows, columns), transpose_side));
    });
  });
}

void Kernels::normalize(const Region& l_transposed, const Region& a) {
  const Index k = a.rows;
  if (k <= std::min(solve_rows, std::min(rows_of(l_transposed), rows_of(a)))) {
    solve_.set(0, static_cast<GLint>(k), static_cast<GLint>(a.columns));
    set(solve_, 1, bind(0, l_transposed));
    set(solve_, 2, bind(1, a));
    dispatch(solve_, groups(a.columns, solve_columns), 1);
    return;
  }
  //   | L11      | | X1 |   | A1 |      X1 = L11^-1 A1
  //   | L21  L22 | | X2 | = | A2 |      X2 = L22^-1 (A2 - L21 X1)
  const Index half = k > solve_rows ? round_up(k / 2, solve_rows) : k / 2;
  const Region upper = a.row_range(0, half), lower = a.row_range(half, k - half);
  normalize(l_transposed.block(0, 0, half, half), upper);
  reduce(l_transposed.block(0, half, half, k - half), upper, lower);
  normalize(l_transposed.block(half, half, k - half, k - half), lower);
}

void Kernels::reduce(const Region& l_transposed, const Region& u, const Region& c) {
  const Index row_step = whole_units(rows_of(c), reduce_rows);
  const Index depth_step = whole_units(std::min(rows_of(l_transposed), rows_of(u)), reduce_depth);
  for_parts(c.rows, row_step, [&](Index row, Index rows) {
    for_parts(u.rows, depth_step, [&](Index k, Index depth) {
      reduce_window(l_transposed.block(k, row, depth, rows), u.row_range(k, depth), c.row_range(row, rows));
    });
  });
}

void Kernels::reduce_window(const Region& l_transposed, const Region& u, const Region& c) {
  bool aligned = true;
  for (const Region* region : {&l_transposed, &u, &c}) {
    aligned = aligned && region->first % vector_width_ == 0 && region->leading_dimension % vector_width_ == 0;
  }
  const Index whole = aligned ? u.rows / reduce_depth * reduce_depth : 0;
  const Index rest = u.rows - whole;
  if (whole > 0) reduce_tiles(reduce_aligned_, l_transposed.row_range(0, whole), u.row_range(0, whole), c);
  if (rest > 0) reduce_tiles(reduce_, l_transposed.row_range(whole, rest), u.row_range(whole, rest), c);
}

void Kernels::reduce_tiles(const Program& program, const Region& l_transposed, const Region& u, const Region& c) {
  program.set(0, static_cast<GLint>(c.rows), static_cast<GLint>(c.columns));
  program.set(1, static_cast<GLint>(u.rows));
  set(program, 2, bind(0, l_transposed));
  set(program, 3, bind(1, u));
  set(program, 4, bind(2, c));
  dispatch(program, groups(c.columns, reduce_vectors * vector_width_), groups(c.rows, reduce_rows));
}

void Kernels::substitute(const Region& a, const Region& x, const Region& y) {
  const Index row_step = std::min({rows_of(a), rows_of(y), most_groups});
  for_parts(a.rows, row_step, [&](Index row, Index rows) {
    for_parts(a.columns, rows_of(x), [&](Index column, Index columns) {
      substitute_.set(0, static_cast<GLint>(columns));
      set(substitute_, 1, bind(0, a.block(row, column, rows, columns)));
      set(substitute_, 2, bind(1, x.row_range(column, columns)));
      set(substitute_, 3, bind(2, y.row_range(row, rows)));
      dispatch(substitute_, rows, 1);
    });
  });
}

}  // namespace glinpack::gl
