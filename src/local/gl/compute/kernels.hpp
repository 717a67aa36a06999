// The compute shaders of one precision, launched on regions of any size: each launch sees the regions through windows
// that fit a storage block.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "local/backend.hpp"
#include "local/gl/compute/reduce_tile.hpp"
#include "local/gl/compute/region.hpp"
#include "local/gl/program.hpp"
#include "local/precision.hpp"

namespace glinpack::gl {

/// A line of a shader's preamble.
inline std::string define(const char* name, Index value) {
  return std::string("#define ") + name + " " + std::to_string(value) + "\n";
}

/// Work groups for `extent` elements, `part` for each.
constexpr Index groups(Index extent, Index part) { return (extent + part - 1) / part; }

/// What reduce does with the product: C <- C - L U, or C <- C + L U.
enum class Update { subtract, add };

/// Operations run in the order of the calls. The context must be current. Regions that are written do not overlap those
/// that are read, unless said otherwise; extents fit each other and are not 0.
class Kernels {
 public:
  /// `window_bytes`: the most that a storage block may have. `stripe_width`: of all regions that have stripes. `tile`,
  /// `update`: of reduce. Compiles all shaders; throws std::runtime_error.
  Kernels(const std::shared_ptr<Context>& context, const ShaderSource& sources, Precision precision,
          std::int64_t window_bytes, Index stripe_width, const ReduceTile& tile, Update update = Update::subtract);

  /// Compiles reduce and normalize for another tile.
  void take_tile(const std::shared_ptr<Context>& context, const ShaderSource& sources, const ReduceTile& tile);

  /// to <- from.
  void copy(const Region& from, const Region& to);
  /// Row moves[i].to of `to` <- row moves[i].from of `from`.
  void copy_rows(const Region& from, const Region& to, std::span<const RowMove> moves);
  /// Rows of `region` where they lie, all moves at once, each `to` once, none to where it is. False, and nothing moved,
  /// where that does not go, or not fast: a row goes to several, moves follow each other in long chains, a window does
  /// not hold all rows.
  bool move_rows(const Region& region, std::span<const RowMove> moves);
  /// to <- from^T.
  void copy_transposed(const Region& from, const Region& to);
  /// A <- L^-1 A: unit lower triangular L given as L^T (k x k), a: k x columns. By blocks of 64 rows, with inverses of
  /// the diagonal blocks of L (shaders/compute/normalize.comp); a column's results do not depend on which others there
  /// are.
  void normalize(const Region& l_transposed, const Region& a);
  /// C <- C - L U, or as `update` was given: l_transposed k x rows, u k x columns, c rows x columns. U and C may be
  /// different rows of a matrix.
  void reduce(const Region& l_transposed, const Region& u, const Region& c);
  /// y <- y - A x.
  void substitute(const Region& a, const Region& x, const Region& y);

  /// For other programs that work on such regions: the preamble of every shader; the elements of the largest window; a
  /// region's window bound to a storage block, its layout (place.glsl) in the uniform `location`; and a launch, after
  /// which shaders see what was written.
  const std::string& types() const { return types_; }
  Index window_elements() const { return window_elements_; }
  void bind(const Program& program, GLuint binding, GLint location, const Region& region) const;
  void dispatch(const Program& program, Index groups_x, Index groups_y) const;

 private:
  /// Launches that touch nothing of each other's, after whose last comes end_dispatches().
  void dispatch_beside(const Program& program, Index groups_x, Index groups_y) const;
  void end_dispatches() const;
  Program build_product(const std::shared_ptr<Context>& context, const ShaderSource& sources, const char* name,
                        const ReduceTile& tile, bool vectors) const;
  Index rows_of(const Region& region) const { return rows_per_window(region, window_elements_); }
  bool fits(const Region& region) const { return region.in_one_buffer() && window_of(region).size <= window_elements_; }
  template <class Body>
  void each_part(const Region& region, Index row_unit, Body body) const {
    if (fits(region)) {
      body(Index{0}, Index{0}, region.rows, region.columns);
    } else {
      for_window_parts(region, window_elements_, row_unit, body);
    }
  }

  /// An item of a list as shaders read it, ivec2: a row move, or a chain of them.
  struct Pair {
    GLint first;
    GLint second;
  };

  /// After writing: a region without stripes is in memory that the host maps, and reads after the next fence.
  static void show_to_host(const Region& region);
  void copy_rows_by_windows(const Region& from, const Region& to, std::span<const RowMove> moves);
  void copy_listed(const Region& from, const Region& to, std::span<const RowMove> moves);
  void copy_tiles_transposed(const Region& from, const Region& to);
  void make_room(Index pairs);
  template <class Item>
  void bind_list(GLuint binding, std::span<const Item> list);
  void invert(const Region& l_transposed);
  void normalize_window(const Region& a);
  bool aligned(const Region& region) const;
  void reduce_window(const Region& l_transposed, const Region& u, const Region& c);
  void reduce_tiles(const Program& program, const ReduceTile& tile, const Region& l_transposed, const Region& u,
                    const Region& c);

  Index element_bytes_;
  Index vector_width_;
  Index window_elements_;
  Index stripe_width_;
  ReduceTile tile_;
  ReduceTile strip_;  // the tile of normalize
  Update update_;
  std::string types_;  // preamble of every shader
  Program copy_, copy_listed_, move_rows_, copy_transposed_, invert_, normalize_, normalize_aligned_, reduce_,
      reduce_aligned_, substitute_;
  BufferHandle triangle_;  // what normalize multiplies by: shaders/compute/invert.comp
  BufferHandle pairs_;     // lists, one behind the other
  Pair* mapped_pairs_ = nullptr;
  Index next_pair_ = 0;
};

}  // namespace glinpack::gl
