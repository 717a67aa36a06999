#include "kernels/kernels.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "base/row_interchanges.hpp"
#include "device/mapped_buffer.hpp"

namespace glinpack::compute {
namespace {

// Must equal the constants of the shaders.
constexpr Index copy_columns = 512;
constexpr Index transpose_side = 32;
constexpr Index update_depth = 16;
constexpr Index inverted_block = 64;
constexpr int solve_triangle_side = 32;
constexpr Index substitute_rows = 16;
constexpr Index few_rows_columns = 32;

// The rows of a launch of solve_triangle; substitute multiplies the other parts of larger triangles.
constexpr Index max_triangle_rows = 512;

constexpr Index triangle_rows = 512;   // of L per launch of solve_u12; a multiple of inverted_block
constexpr UpdateTile unaligned_tile;   // of operands that are not aligned
constexpr Index max_groups = 65535;    // of a dispatch in each dimension; guaranteed by OpenGL and Vulkan
constexpr Index max_moves = 8192;      // of a launch
constexpr Index longest_chain = 32;    // of moves that one work group makes, one after the other
constexpr Index listed_pairs = 65536;  // capacity of the list, which is used as a ring
// of pairs: 256 bytes, the coarsest alignment of a binding that a driver may ask for
constexpr Index pair_alignment = 32;
/// Shaders count elements and bytes of a window in 32 bits.
constexpr std::int64_t largest_window = (std::int64_t{1} << 31) - 65536;

/// Calls body(begin, count) for the parts of [0, extent), at most `step` long.
template <class Body>
void for_parts(Index extent, Index step, Body body) {
  for (Index begin = 0; begin < extent; begin += step) body(begin, std::min(step, extent - begin));
}

}  // namespace

Kernels::Kernels(std::shared_ptr<ComputeDevice> device, const ShaderSource& sources, Precision precision,
                 std::int64_t window_bytes, Index stripe_width, const UpdateTile& tile, Update update)
    : device_(std::move(device)),
      element_bytes_(precision == Precision::double_ ? 8 : 4),
      vector_width_(16 / element_bytes_),
      window_elements_(std::min(window_bytes, largest_window) / element_bytes_),
      stripe_width_(stripe_width),
      sign_(update) {
  types_ = define("DOUBLE", precision == Precision::double_) +
           define("STRIPE_SHIFT", std::countr_zero(static_cast<std::uint64_t>(stripe_width)));
  const auto build = [&](const char* name, const std::string& variant) {
    return device_->make_program(sources, std::string("compute/") + name, types_ + variant);
  };
  copy_ = build("copy.comp", define("LISTED", false));
  copy_listed_ = build("copy.comp", define("LISTED", true));
  move_rows_ = build("move_rows.comp", "");
  copy_transposed_ = build("copy_transposed.comp", "");
  invert_ = build("invert.comp", define("RESULT_LEADING", triangle_rows));
  substitute_ = build("substitute.comp", "");
  if (sign_ == Update::subtract) update_few_rows_ = build("update_few_rows.comp", "");
  const std::string solves = define("MAX_ROWS", max_triangle_rows) +
                             define("SUBGROUPS", device_->description().subgroup_size >= solve_triangle_side);
  solve_unit_lower_ = build("solve_triangle.comp", solves + define("UPPER", false));
  solve_upper_ = build("solve_triangle.comp", solves + define("UPPER", true));
  update_unaligned_ = build_product(sources, "update.comp", unaligned_tile, false);
  solve_u12_unaligned_ = build_product(sources, "solve_u12.comp", unaligned_tile, false);
  set_tile(sources, tile);
  triangle_ = make_buffer(*device_, triangle_rows * triangle_rows * element_bytes_);
  pairs_ = make_buffer(*device_, listed_pairs * static_cast<Index>(sizeof(Pair)), Memory::list);
  mapped_pairs_ = static_cast<Pair*>(pairs_->data());
}

// Programs of update and solve_u12: one for operands at any offset, and one with the tile for operands whose vectors
// are aligned in their buffers, as nearly all are.
std::unique_ptr<DeviceProgram> Kernels::build_product(const ShaderSource& sources, const char* name,
                                                      const UpdateTile& tile, bool vectors) const {
  const std::string shape = define("ACROSS", tile.across) + define("DOWN", tile.down) + define("BAND", tile.band) +
                            define("VECTORS_EACH", tile.vectors_each) + define("STAGE_DEPTH", tile.stage_depth) +
                            define("LEFT_LEADING", triangle_rows) +
                            (sign_ == Update::add ? "#define UPDATE +\n" : "#define UPDATE -\n");
  return device_->make_program(sources, std::string("compute/") + name,
                               types_ + shape + define("ALIGNED", vectors) +
                                   define("UNROLLED", vectors && !device_->description().software) +
                                   define("PREFETCH", vectors && tile.prefetch) +
                                   define("LOADS_BEFORE_STORES", vectors && tile.loads_before_stores));
}

void Kernels::set_tile(const ShaderSource& sources, const UpdateTile& tile) {
  tile_ = tile;
  strip_ = {.across = std::min<Index>(tile.across, 16), .prefetch = tile.prefetch, .loads_before_stores = true};
  update_aligned_ = build_product(sources, "update.comp", tile_, true);
  // Strips of one vector make twice as many work groups. In single precision a GPU is faster with up to 23040 columns
  // and as fast with 46080; double is slower (results/h200/logs.md u12-strips), as is llvmpipe.
  const bool is_narrow = element_bytes_ == 4 && !device_->description().software;
  set_strip(sources, is_narrow ? 1 : 2);
}

void Kernels::set_strip(const ShaderSource& sources, Index vectors_each) {
  strip_.vectors_each = vectors_each;
  solve_u12_aligned_ = build_product(sources, "solve_u12.comp", strip_, true);
}

// Binds the region's window to a shader's storage block, and sets `location` to the region's offset within it.
void Kernels::bind(ComputeDevice& queue, DeviceProgram& program, std::uint32_t binding, int location,
                   const Region& region) const {
  const Window window = window_of(region);
  queue.bind(binding, region.buffer, window.begin * element_bytes_, window.size * element_bytes_);
  // a plain region is one of stripes that follow each other in every row
  const Index stripe_stride = region.striped() ? region.stripe_stride : stripe_width_;
  program.set(location, window.first, region.leading_dimension, region.column, stripe_stride);
}

void Kernels::dispatch(DeviceProgram& program, Index groups_x, Index groups_y) const {
  dispatch_independent(program, groups_x, groups_y);
  finish_dispatches();
}

void Kernels::dispatch_independent(DeviceProgram& program, Index groups_x, Index groups_y) const {
  device_->dispatch(program, groups_x, groups_y);
}

void Kernels::finish_dispatches() const { device_->barrier(Readers::shaders); }

void Kernels::make_visible_to_host(const Region& region) const {
  // or to a copy of the whole buffer
  if (!region.striped()) device_->barrier(Readers::host | Readers::copies);
}

void Kernels::copy(const Region& from, const Region& to) {
  each_part(from, 1, [&](Index i, Index j, Index some_rows, Index some_columns) {
    const Region source = from.block(i, j, some_rows, some_columns), target = to.block(i, j, some_rows, some_columns);
    each_part(target, 1, [&](Index row, Index column, Index rows, Index columns) {
      for_parts(rows, max_groups, [&](Index first, Index count) {
        copy_->set(0, columns);
        bind(*copy_, 0, 1, source.block(row + first, column, count, columns));
        bind(*copy_, 1, 2, target.block(row + first, column, count, columns));
        dispatch(*copy_, groups(columns, copy_columns), count);
      });
    });
  });
  make_visible_to_host(to);
}

void Kernels::copy_rows(const Region& from, const Region& to, std::span<const RowMove> moves) {
  for_column_parts(from, window_elements_, [&](Index j, Index some_columns) {
    const Region source = from.column_range(j, some_columns), target = to.column_range(j, some_columns);
    for_column_parts(target, window_elements_, [&](Index column, Index columns) {
      copy_rows_by_windows(source.column_range(column, columns), target.column_range(column, columns), moves);
    });
  });
  make_visible_to_host(to);
}

// For columns of which a window may hold only some rows.
void Kernels::copy_rows_by_windows(const Region& from, const Region& to, std::span<const RowMove> moves) {
  if (fits(from) && fits(to)) {
    copy_listed(from, to, moves);
    return;
  }
  // by pairs of windows; rows of each pair's moves are relative to the windows' first rows
  const Index from_step = rows_of(from), to_step = rows_of(to);
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
  for_parts(static_cast<Index>(moves.size()), max_moves, [&](Index begin, Index count) {
    make_room(count);
    bind_list(2, moves.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)));
    copy_listed_->set(0, from.columns);
    bind(*copy_listed_, 0, 1, from);
    bind(*copy_listed_, 1, 2, to);
    dispatch(*copy_listed_, count, groups(from.columns, copy_columns));
  });
}

bool Kernels::move_rows(const Region& region, std::span<const RowMove> moves) {
  if (static_cast<Index>(moves.size()) > max_moves) return false;
  bool all_rows_fit = true;
  for_column_parts(region, window_elements_, [&](Index j, Index columns) {
    all_rows_fit = all_rows_fit && fits(region.column_range(j, columns));
  });
  if (!all_rows_fit) return false;
  const std::optional<RowChains> ordered = chains_of(moves, region.rows);
  if (!ordered) return false;
  const std::span<const RowMove> in_chains = ordered->moves;
  const std::span<const RowChains::Chain> chains = ordered->chains;
  if (std::ranges::any_of(chains, [](const auto& chain) { return chain.count > longest_chain; })) return false;
  make_room(2 * round_up(static_cast<Index>(moves.size()), pair_alignment));
  bind_list(1, in_chains);
  bind_list(2, chains);
  for_column_parts(region, window_elements_, [&](Index j, Index columns) {
    move_rows_->set(0, columns);
    bind(*move_rows_, 0, 1, region.column_range(j, columns));
    dispatch(*move_rows_, static_cast<Index>(chains.size()), groups(columns, copy_columns));
  });
  return true;
}

// Lists are consecutive in mapped memory. None is overwritten while the device may still read it, and no upload waits
// for earlier kernels.
void Kernels::make_room(Index pairs) {
  if (next_pair_ + pairs <= listed_pairs) return;
  device_->insert_sync()->wait();  // all lists were read
  next_pair_ = 0;
}

// There must be room.
template <class Item>
void Kernels::bind_list(std::uint32_t binding, std::span<const Item> list) {
  const auto count = static_cast<Index>(list.size());
  std::transform(list.begin(), list.end(), mapped_pairs_ + next_pair_, [](const Item& item) {
    const auto& [first, second] = item;
    return Pair{static_cast<std::int32_t>(first), static_cast<std::int32_t>(second)};
  });
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(Pair));
  device_->bind(binding, pairs_->id(), next_pair_ * bytes, count * bytes);
  next_pair_ = round_up(next_pair_ + count, pair_alignment);
}

void Kernels::copy_transposed(const Region& from, const Region& to, Index zero_up_to) {
  each_part(from, 1, [&](Index i, Index j, Index some_rows, Index some_columns) {
    const Region source = from.block(i, j, some_rows, some_columns), target = to.block(j, i, some_columns, some_rows);
    each_part(target, 1, [&](Index column, Index row, Index columns, Index rows) {
      for_parts(rows, max_groups * transpose_side, [&](Index first_row, Index m) {
        for_parts(columns, max_groups * transpose_side, [&](Index first_column, Index n) {
          copy_tiles_transposed(source.block(row + first_row, column + first_column, m, n),
                                target.block(column + first_column, row + first_row, n, m),
                                zero_up_to + (i + row + first_row) - (j + column + first_column));
        });
      });
    });
  });
  make_visible_to_host(to);
}

void Kernels::copy_tiles_transposed(const Region& from, const Region& to, Index zero_up_to) {
  copy_transposed_->set(0, from.rows, from.columns);
  bind(*copy_transposed_, 0, 1, from);
  bind(*copy_transposed_, 1, 2, to);
  copy_transposed_->set(3, from.rows < from.columns ? 1 : 0);
  copy_transposed_->set(4, zero_up_to);
  dispatch(*copy_transposed_, groups(std::min(from.rows, from.columns), transpose_side),
           groups(std::max(from.rows, from.columns), transpose_side));
}

void Kernels::solve_u12(const Region& l_transposed, const Region& a, bool finish) {
  const Index k = a.rows;
  if (k <= std::min(triangle_rows, rows_of(a))) {
    invert(l_transposed);
    each_part(a, k,
              [&](Index, Index column, Index, Index columns) { solve_u12_window(a.column_range(column, columns)); });
    if (finish) finish_dispatches();
    return;
  }
  //   | L11      | | X1 |   | A1 |      X1 = L11^-1 A1
  //   | L21  L22 | | X2 | = | A2 |      X2 = L22^-1 (A2 - L21 X1)
  const Index half = k > inverted_block ? round_up(k / 2, inverted_block) : k / 2;
  const Region upper = a.row_range(0, half), lower = a.row_range(half, k - half);
  solve_u12(l_transposed.block(0, 0, half, half), upper);
  update(l_transposed.block(0, half, half, k - half), upper, lower);
  solve_u12(l_transposed.block(half, half, k - half, k - half), lower, finish);
}

// L (I - L^-1) = L - I.
void Kernels::invert_unit_lower(const Region& l_transposed, const Region& to) {
  copy_transposed(l_transposed, to, 0);
  solve_u12(l_transposed, to);
}

// triangle_ <- L^T with its blocks on the diagonal inverted.
void Kernels::invert(const Region& l_transposed) {
  const Index k = l_transposed.rows, blocks = groups(k, inverted_block);
  const Region copied{triangle_->id(), triangle_rows * triangle_rows, 0, 0, k, k, triangle_rows, 0, 0};
  const bool in_place = !fits(l_transposed);
  if (in_place) copy(l_transposed, copied);
  invert_->set(0, k);
  bind(*invert_, 0, 1, in_place ? copied : l_transposed);
  device_->bind(1, triangle_->id());
  dispatch(*invert_, blocks, blocks);
}

// With the L of triangle_.
void Kernels::solve_u12_window(const Region& a) {
  const bool vectors = aligned(a) && a.rows % update_depth == 0;
  DeviceProgram& program = vectors ? *solve_u12_aligned_ : *solve_u12_unaligned_;
  const UpdateTile& strip = vectors ? strip_ : unaligned_tile;
  program.set(0, a.rows, a.columns);
  device_->bind(0, triangle_->id());
  bind(program, 1, 1, a);
  dispatch_independent(program, groups(a.columns, strip.vectors() * vector_width_), 1);
}

// Windows of c run concurrently: the last groups of one window, too few for the device, overlap the next window's.
template <class Product>
void Kernels::each_product(const Region& l_transposed, const Region& u, const Region& c, Product product) {
  each_part(c, tile_.rows(), [&](Index i, Index j, Index c_rows, Index c_columns) {
    const Region some_u = u.column_range(j, c_columns);
    each_part(some_u, update_depth, [&](Index u_k, Index u_j, Index u_depth, Index columns) {
      const Region some_l = l_transposed.block(u_k, i, u_depth, c_rows);
      each_part(some_l, update_depth, [&](Index k, Index row, Index depth, Index rows) {
        product(some_l.block(k, row, depth, rows), some_u.block(u_k + k, u_j, depth, columns),
                c.block(i + row, j + u_j, rows, columns));
        if (depth < u.rows) finish_dispatches();  // the next part updates the same elements of c
      });
    });
  });
  finish_dispatches();
}

void Kernels::update(const Region& l_transposed, const Region& u, const Region& c) {
  each_product(l_transposed, u, c,
               [&](const Region& l, const Region& some_u, const Region& some_c) { update_window(l, some_u, some_c); });
}

void Kernels::update_few_rows(const Region& l_transposed, const Region& u, const Region& c) {
  each_product(l_transposed, u, c, [&](const Region& l, const Region& some_u, const Region& some_c) {
    bind_product(*update_few_rows_, l, some_u, some_c);
    dispatch_independent(*update_few_rows_, groups(some_c.columns, few_rows_columns), 1);
  });
}

// Whether vectors of rows are aligned with those of the buffer.
bool Kernels::aligned(const Region& region) const {
  return region.first % vector_width_ == 0 && region.column % vector_width_ == 0 &&
         region.leading_dimension % vector_width_ == 0;
}

void Kernels::update_window(const Region& l_transposed, const Region& u, const Region& c) {
  const bool vectors = aligned(l_transposed) && aligned(u) && aligned(c);
  const Index whole = vectors ? u.rows / update_depth * update_depth : 0;
  const Index rest = u.rows - whole;
  if (whole > 0) update_tiles(*update_aligned_, tile_, l_transposed.row_range(0, whole), u.row_range(0, whole), c);
  if (whole > 0 && rest > 0) finish_dispatches();
  if (rest > 0)
    update_tiles(*update_unaligned_, unaligned_tile, l_transposed.row_range(whole, rest), u.row_range(whole, rest), c);
}

void Kernels::bind_product(DeviceProgram& program, const Region& l_transposed, const Region& u, const Region& c) const {
  program.set(0, c.rows, c.columns);
  program.set(1, u.rows);
  bind(program, 0, 2, l_transposed);
  bind(program, 1, 3, u);
  bind(program, 2, 4, c);
}

void Kernels::update_tiles(DeviceProgram& program, const UpdateTile& tile, const Region& l_transposed, const Region& u,
                           const Region& c) {
  bind_product(program, l_transposed, u, c);
  dispatch_independent(program, groups(c.columns, tile.vectors() * vector_width_), groups(c.rows, tile.rows()));
}

void Kernels::solve_triangle(Triangle triangle, const Region& t, const Region& x) {
  for_column_parts(x, window_elements_,
                   [&](Index j, Index columns) { solve_triangle_in_windows(triangle, t, x.column_range(j, columns)); });
}

//   | T11  T12 | | X1 |   | B1 |      upper: X2 = T22^-1 B2, X1 = T11^-1 (B1 - T12 X2); lower: in the reverse order
//   | T21  T22 | | X2 | = | B2 |
void Kernels::solve_triangle_in_windows(Triangle triangle, const Region& t, const Region& x) {
  const Index k = x.rows;
  if (k <= max_triangle_rows && fits(t) && fits(x)) {
    DeviceProgram& program = triangle == Triangle::upper ? *solve_upper_ : *solve_unit_lower_;
    program.set(0, k);
    bind(program, 0, 1, t);
    bind(program, 1, 2, x);
    dispatch(program, x.columns, 1);
    return;
  }
  const Index half = k / 2;
  const Region upper = x.row_range(0, half), lower = x.row_range(half, k - half);
  const bool is_upper = triangle == Triangle::upper;
  const Region& first = is_upper ? lower : upper;
  const Region& second = is_upper ? upper : lower;
  const auto diagonal_block = [&](bool lower_one) {
    return lower_one ? t.block(half, half, k - half, k - half) : t.block(0, 0, half, half);
  };
  solve_triangle_in_windows(triangle, diagonal_block(is_upper), first);
  const Region coupling = is_upper ? t.block(0, half, half, k - half) : t.block(half, 0, k - half, half);
  for (Index j = 0; j < x.columns; ++j) substitute(coupling, first.column_range(j, 1), second.column_range(j, 1));
  solve_triangle_in_windows(triangle, diagonal_block(!is_upper), second);
}

void Kernels::substitute(const Region& a, const Region& x, const Region& y) {
  each_part(a, 1, [&](Index i, Index j, Index a_rows, Index a_columns) {
    for_parts(a_rows, std::min(rows_of(y), max_groups * substitute_rows), [&](Index row, Index rows) {
      for_parts(a_columns, rows_of(x), [&](Index column, Index columns) {
        substitute_->set(0, rows, columns);
        bind(*substitute_, 0, 1, a.block(i + row, j + column, rows, columns));
        bind(*substitute_, 1, 2, x.row_range(j + column, columns));
        bind(*substitute_, 2, 3, y.row_range(i + row, rows));
        dispatch(*substitute_, groups(rows, substitute_rows), 1);
      });
    });
  });
}

}  // namespace glinpack::compute
