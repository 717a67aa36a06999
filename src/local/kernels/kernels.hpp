// The compute shaders of one precision, launched on regions of any size. Each launch accesses the regions through
// windows that fit a storage block.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/arithmetic.hpp"
#include "base/precision.hpp"
#include "device/compute_device.hpp"
#include "device/shader_source.hpp"
#include "kernels/region.hpp"
#include "kernels/tuning.hpp"

namespace glinpack::compute {

/// Invocations of a subgroup, in shaders that reduce over subgroups.
inline constexpr int min_subgroup = 8;

/// Work groups for `extent` elements, `part` for each.
constexpr Index groups(Index extent, Index part) { return (extent + part - 1) / part; }

/// How update applies the product: C <- C - L U, or C <- C + L U.
enum class Update { subtract, add };

/// Operations run in the order of the calls. The device must be current. Regions that are written do not overlap those
/// that are read, unless said otherwise; extents fit each other and are not 0.
class Kernels {
 public:
  /// `window_bytes`: the most that a storage block may have. `stripe_width`: of all regions that have stripes. `tile`,
  /// `update`: of the trailing update. Compiles all shaders; throws std::runtime_error.
  Kernels(std::shared_ptr<ComputeDevice> device, const ShaderSource& sources, Precision precision,
          std::int64_t window_bytes, Index stripe_width, const UpdateTile& tile, Update update = Update::subtract);

  /// Compiles update and solve_u12 for another tile.
  void set_tile(const ShaderSource& sources, const UpdateTile& tile);
  /// Compiles solve_u12 for strips of `vectors_each` vectors an invocation, 1 or 2; set_tile() chooses for the device.
  void set_strip(const ShaderSource& sources, Index vectors_each);

  /// to <- from.
  void copy(const Region& from, const Region& to);
  /// Row moves[i].to of `to` <- row moves[i].from of `from`.
  void copy_rows(const Region& from, const Region& to, std::span<const RowMove> moves);
  /// Moves rows of `region` in place and simultaneously; each `to` is distinct, and no row moves to itself. Returns
  /// false and moves nothing if this is impossible or slow: a row goes to several rows, chains of moves are long, or a
  /// window does not hold all rows.
  bool move_rows(const Region& region, std::span<const RowMove> moves);
  /// to <- from^T.
  void copy_transposed(const Region& from, const Region& to) { copy_transposed(from, to, -(from.rows + from.columns)); }
  /// A <- L^-1 A: unit lower triangular L given as L^T (k x k), a: k x columns. By blocks of 64 rows, with inverses of
  /// the diagonal blocks of L (shaders/compute/solve_u12.comp); the results of a column do not depend on the other
  /// columns. `finish` false: dispatches that follow may run at the same time; they must not access A.
  void solve_u12(const Region& l_transposed, const Region& a, bool finish = true);
  /// to <- I - L^-1: unit lower triangular L given as L^T. L^-1 A is A - (I - L^-1) A.
  void invert_unit_lower(const Region& l_transposed, const Region& to);
  /// C <- C - L U, or C <- C + L U, depending on `update`: l_transposed k x rows, u k x columns, c rows x columns. U
  /// and C may be different rows of a matrix.
  void update(const Region& l_transposed, const Region& u, const Region& c);
  /// C <- C - L U for one or two rows of C; extents as for update. Not if `update` is add.
  void update_few_rows(const Region& l_transposed, const Region& u, const Region& c);
  /// X <- T^-1 X for a triangle of t (shaders/compute/solve_triangle.comp).
  void solve_triangle(Triangle triangle, const Region& t, const Region& x);
  /// y <- y - A x. x and y may be different rows of a matrix.
  void substitute(const Region& a, const Region& x, const Region& y);

  /// For other programs that use regions: the preamble of every shader; the number of elements of the largest window;
  /// binding a region's window to a storage block, with its layout (place.glsl) in the uniform `location`; and a
  /// dispatch, after which shaders see all writes.
  const std::string& types() const { return types_; }
  Index window_elements() const { return window_elements_; }
  Index stripe_width() const { return stripe_width_; }
  void bind(ComputeDevice& queue, DeviceProgram& program, std::uint32_t binding, int location,
            const Region& region) const;
  void bind(DeviceProgram& program, std::uint32_t binding, int location, const Region& region) const {
    bind(*device_, program, binding, location, region);
  }
  void dispatch(DeviceProgram& program, Index groups_x, Index groups_y) const;
  /// Independent dispatches; call finish_dispatches() after the last one.
  void dispatch_independent(DeviceProgram& program, Index groups_x, Index groups_y) const;
  void finish_dispatches() const;
  ComputeDevice& device() const { return *device_; }

 private:
  using ProgramPointer = std::unique_ptr<DeviceProgram>;
  ProgramPointer build_product(const ShaderSource& sources, const char* name, const UpdateTile& tile,
                               bool vectors) const;
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
    std::int32_t first;
    std::int32_t second;
  };

  /// Makes writes to host memory, which regions without stripes are in, visible to the host after the next fence.
  void make_visible_to_host(const Region& region) const;
  void copy_rows_by_windows(const Region& from, const Region& to, std::span<const RowMove> moves);
  void copy_listed(const Region& from, const Region& to, std::span<const RowMove> moves);
  /// With zeros instead of elements (i, j) of `to` with i - j <= zero_up_to.
  void copy_transposed(const Region& from, const Region& to, Index zero_up_to);
  void copy_tiles_transposed(const Region& from, const Region& to, Index zero_up_to);
  void make_room(Index pairs);
  template <class Item>
  void bind_list(std::uint32_t binding, std::span<const Item> list);
  void invert(const Region& l_transposed);
  void solve_u12_window(const Region& a);
  bool aligned(const Region& region) const;
  void solve_triangle_in_windows(Triangle triangle, const Region& t, const Region& x);
  template <class Product>
  void each_product(const Region& l_transposed, const Region& u, const Region& c, Product product);
  void bind_product(DeviceProgram& program, const Region& l_transposed, const Region& u, const Region& c) const;
  void update_window(const Region& l_transposed, const Region& u, const Region& c);
  void update_tiles(DeviceProgram& program, const UpdateTile& tile, const Region& l_transposed, const Region& u,
                    const Region& c);

  std::shared_ptr<ComputeDevice> device_;
  Index element_bytes_;
  Index vector_width_;
  Index window_elements_;
  Index stripe_width_;
  UpdateTile tile_;
  UpdateTile strip_;  // the tile of solve_u12
  Update sign_;
  std::string types_;  // preamble of every shader
  ProgramPointer copy_, copy_listed_, move_rows_, copy_transposed_, invert_, solve_u12_unaligned_, solve_u12_aligned_,
      update_unaligned_, update_aligned_, update_few_rows_, solve_unit_lower_, solve_upper_, substitute_;
  std::unique_ptr<DeviceBuffer> triangle_;  // inverse for solve_u12: shaders/compute/invert.comp
  std::unique_ptr<DeviceBuffer> pairs_;     // consecutive lists
  Pair* mapped_pairs_ = nullptr;
  Index next_pair_ = 0;
};

}  // namespace glinpack::compute
