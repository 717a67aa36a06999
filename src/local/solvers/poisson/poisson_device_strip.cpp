#include "solvers/poisson/poisson_device_strip.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "base/precision.hpp"
#include "solvers/device/device_array.hpp"
#include "solvers/poisson/poisson_multigrid.hpp"
#include "solvers/poisson/poisson_vectors.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index max_texels = Index{1} << 27;  // of a texel buffer; what llvmpipe and NVIDIA's driver have
constexpr Index max_updates = 3;              // of parts of a strip, in an iteration: its first row, its last, the rest

template <class Real>
constexpr Index bytes_of = static_cast<Index>(sizeof(Real));

/// Points a side of a tile, poisson_tile.glsl's.
template <class Real>
constexpr Index tile_side = precision_of<Real> == Precision::double_ ? 32 : 64;

template <class Real>
std::string preamble(PoissonMemory memory, PoissonPreconditioner preconditioner) {
  std::string text = define("DOUBLE", precision_of<Real> == Precision::double_) +
                     define("MULTIGRID", preconditioner == PoissonPreconditioner::multigrid);
  if (memory != PoissonMemory::shared) text += define("MEMORY", static_cast<Index>(memory));
  return text;
}

template <class Real>
gl::Program make_program(const Device& device, const std::string& name, PoissonMemory memory,
                         PoissonPreconditioner preconditioner) {
  return device.compute_program("solvers/" + name + (memory == PoissonMemory::shared ? "_tile.comp" : ".comp"),
                                preamble<Real>(memory, preconditioner));
}

/// The preconditioner, by compute shaders.
template <class Real>
class DeviceMultigrid {
 public:
  /// For n x n points, n at least 2, in the layout of storage buffers (poisson_layout). Allocates and compiles.
  /// `device` must outlive it. Throws std::runtime_error if the device fails.
  DeviceMultigrid(Device& device, Index n)
      : device_(device),
        max_groups_(max_poisson_groups(device.description())),
        smooth_before_(program("smooth_before")),
        restrict_(program("restrict")),
        interpolate_(program("interpolate")),
        smooth_after_(program("smooth_after")),
        smooth_finest_after_(program("smooth_after", true)) {
    for (const Index points : multigrid_grids(n)) grids_.emplace_back(device, points, points == n);
  }

  /// z <- B r (poisson_multigrid.hpp) and r . z, r being a buffer. Leaves max_poisson_groups() parts of the sum in
  /// `parts` at most, from `first_part` on; returns their count. Does not wait.
  Index apply(GLuint r, const DeviceArray<double>& parts, Index first_part) {
    const std::size_t last = grids_.size() - 1;
    const auto bind_residual = [&](std::size_t grid) {
      if (grid > 0) return grids_[grid].r.bind(residual_binding);
      glBindBufferBase(GL_SHADER_STORAGE_BUFFER, residual_binding, r);
    };
    device_.context()->make_current();
    for (std::size_t number = 0; number < last; ++number) {
      const Grid &grid = grids_[number], &next = grids_[number + 1];
      bind_residual(number);
      grid.z.bind(correction_binding);
      dispatch(smooth_before_, grid, next);
      next.r.bind(result_binding);
      dispatch(restrict_, grid, next);
    }
    parts.bind(new_parts_binding);
    Index count = 0;
    for (std::size_t number = last; number-- > 0;) {
      const Grid &grid = grids_[number], &next = grids_[number + 1];
      (number + 1 == last ? next.r : next.smoothed).bind(residual_binding);
      grid.z.bind(correction_binding);
      dispatch(interpolate_, grid, next);
      bind_residual(number);
      grid.smoothed.bind(result_binding);
      count = dispatch(number == 0 ? smooth_finest_after_ : smooth_after_, grid, next, first_part);
    }
    return count;
  }
  /// z of the last apply().
  const DeviceArray<Real>& z() const { return grids_.front().smoothed; }

 private:
  // bindings of the multigrid kernels in addition to poisson.glsl's: z, and the output
  static constexpr GLuint correction_binding = 4, result_binding = 5;

  struct Grid {
    Grid(Device& device, Index points, bool finest)
        : n(points),
          pitch(layout_of(points).pitch),
          r(device, finest ? 1 : layout_of(points).elements),
          z(device, layout_of(points).elements),
          smoothed(device, layout_of(points).elements) {}

    Index n;
    Index pitch;
    DeviceArray<Real> r;  // of the finest: empty
    DeviceArray<Real> z, smoothed;
  };

  static PoissonLayout layout_of(Index n) {
    return poisson_layout<Real>({.n = n, .first_row = 0, .rows = n}, PoissonMemory::global);
  }

  gl::Program program(const char* name, bool finest = false) const {
    constexpr MultigridSmoother smoother;
    return device_.compute_program(std::string("solvers/multigrid_") + name + ".comp",
                                   define("DOUBLE", precision_of<Real> == Precision::double_) + define("MULTIGRID", 1) +
                                       define("OF_RESIDUAL", smoother.of_residual) +
                                       define("OF_PRODUCT", smoother.of_product) + define("DIVISOR", smoother.divisor) +
                                       define("MAX_FINE_POINTS", max_fine_points) + define("FINEST", finest));
  }

  /// Runs a kernel on a grid and the adjacent grid `next`. Returns the number of work groups.
  Index dispatch(const gl::Program& kernel, const Grid& grid, const Grid& next, Index first_part = 0) {
    const bool next_is_last = next.n == 1;  // whose z is r / 4
    const ColumnBlocks blocks = column_blocks(grid.n, grid.n, max_groups_);
    kernel.set(0, to_int(grid.n), to_int(grid.pitch), to_int(grid.n), to_int(blocks.rows));
    kernel.set(1, 0, 0, to_int(first_part), 0);
    kernel.set(3, to_int(next.n), to_int(next.pitch), next_is_last ? 4 : 1, 0);
    device_.dispatch(kernel, blocks.groups);
    return blocks.groups;
  }

  Device& device_;
  Index max_groups_;
  std::vector<Grid> grids_;
  gl::Program smooth_before_, restrict_, interpolate_, smooth_after_, smooth_finest_after_;
};

template <class Real>
class DevicePoissonStrip final : public PoissonStrip<Real> {
 public:
  DevicePoissonStrip(Device& device, const PoissonExtents& extents, PoissonMemory memory,
                     PoissonPreconditioner preconditioner)
      : PoissonStrip<Real>(extents, preconditioner),
        device_(device),
        memory_(memory),
        layout_(poisson_layout<Real>(extents, memory)),
        groups_limit_(max_poisson_groups(device.description())),
        u_(device, layout_.elements),
        vectors_(device, extents, memory),
        sums_{Sum(device, groups_limit_), Sum(device, max_updates * groups_limit_)},
        direction_program_(make_program<Real>(device, "poisson_direction", memory, preconditioner)),
        update_program_(make_program<Real>(device, "poisson_update", memory, preconditioner)),
        read_back_(MappedBuffer<double>::create(device.context(), max_updates * groups_limit_)),
        edges_(MappedBuffer<Real>::create(device.context(), 4 * extents.n)) {
    if (preconditioner == PoissonPreconditioner::multigrid) multigrid_.emplace(device, extents.n);
  }

  bool returns_early() const override { return true; }
  void begin(const PoissonProblem& problem, const CgLimits& limits) override {
    u_.clear();
    double square = 0;
    vectors_.begin([&](Index row, Real* r) {
      double row_square = 0;
      for (Index j = 0; j < extents_.n; ++j) {
        r[j] = static_cast<Real>(problem.right(extents_.first_row + row, j));
        row_square += static_cast<double>(r[j]) * static_cast<double>(r[j]);
      }
      if (row >= 0 && row < extents_.rows) square += row_square;
    });
    // a residual for every iteration, and the one after the last
    scalars_ = std::make_unique<DeviceArray<double>>(device_, limits.max_iterations + 2);
    scalars_->upload(std::array{limits.tolerance * limits.tolerance});
    if (multigrid_) products_ = std::make_unique<DeviceArray<double>>(device_, limits.max_iterations + 2);
    Sum& residual = sum(PoissonSum::residual);
    residual.parts.upload(std::array{square});
    residual.count = 1;
    residual.is_set = false;
  }

  void precondition() override {
    if (!multigrid_) return;
    const Sum& residual = sum(PoissonSum::residual);
    product_parts_ = multigrid_->apply(vectors_.residual_buffer(), residual.parts, residual.count);
  }

  void advance_direction(Index iteration) override {
    Sum &residual = sum(PoissonSum::residual), &curvature = sum(PoissonSum::curvature);
    vectors_.bind_direction();
    if (multigrid_) multigrid_->z().bind(residual_binding);
    curvature.count = 0;
    dispatch(direction_program_, iteration, {0, extents_.rows}, residual, curvature);
    vectors_.exchange();
    residual.count = 0;
  }

  void update(Index iteration, StripRows rows) override {
    if (rows.end <= rows.begin) return;
    vectors_.bind_update();
    u_.bind(solution_binding);
    dispatch(update_program_, iteration, rows, sum(PoissonSum::curvature), sum(PoissonSum::residual));
  }

  double own_sum(PoissonSum which) override {
    const Sum& own = sum(which);
    const std::span<const double> parts = own.parts.read(0, own.count, *read_back_);
    return std::accumulate(parts.begin(), parts.end(), 0.0);
  }

  void set_sum(PoissonSum which, double total) override {
    device_.context()->make_current();
    glClearNamedBufferData(sum(which).total.id(), GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, &total);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    sum(which).is_set = true;
  }

  std::vector<double> residual_squares(Index first, Index count) override {
    std::vector<double> squares;
    while (count > 0) {
      const Index some = std::min<Index>(count, read_back_->size());
      const std::span<const double> read = scalars_->read(first + 1, some, *read_back_);
      squares.insert(squares.end(), read.begin(), read.end());
      first += some;
      count -= some;
    }
    return squares;
  }

  void begin_reading_edges() override {
    device_.context()->make_current();
    glCopyNamedBufferSubData(vectors_.residual_buffer(), edges_->id(), row_offset(0), 0, row_bytes());
    glCopyNamedBufferSubData(vectors_.residual_buffer(), edges_->id(), row_offset(extents_.rows - 1), row_bytes(),
                             row_bytes());
    glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
    device_.fences().note_commands();
    edges_read_ = device_.fences().take();
  }

  PoissonEdges<Real> edges() override {
    device_.fences().wait(edges_read_);
    const auto n = static_cast<std::size_t>(extents_.n);
    return {{edges_->data(), n}, {edges_->data() + n, n}};
  }

  void write_ghost_rows(std::span<const Real> above, std::span<const Real> below) override {
    device_.context()->make_current();
    device_.fences().wait(ghosts_written_);
    const auto write = [&](std::span<const Real> from, Index slot, Index row) {
      if (from.empty()) return;
      std::copy_n(from.begin(), extents_.n, edges_->data() + slot * extents_.n);
      glCopyNamedBufferSubData(edges_->id(), vectors_.residual_buffer(), slot * row_bytes(), row_offset(row),
                               row_bytes());
    };
    write(above, 2, -1);
    write(below, 3, extents_.rows);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    device_.fences().note_commands();
    ghosts_written_ = device_.fences().take();
  }

  void store(std::span<Real> u) override {
    u_.download(layout_.elements, [&](const Real* elements) {
      for (Index i = 0; i < extents_.rows; ++i) {
        std::copy_n(elements + (i + layout_.ghost_rows) * layout_.pitch, extents_.n, u.begin() + i * extents_.n);
      }
    });
  }

 private:
  using PoissonStrip<Real>::extents_;
  /// A scalar product: the parts of the work groups, or the total of set_sum().
  struct Sum {
    Sum(Device& device, Index max_parts) : parts(device, max_parts), total(device, 1) {}
    DeviceArray<double> parts;
    DeviceArray<double> total;
    Index count = 0;
    bool is_set = false;
  };

  Sum& sum(PoissonSum which) { return sums_[static_cast<std::size_t>(which)]; }
  /// The offset of row i of the strip in bytes.
  GLintptr row_offset(Index i) const {
    return static_cast<GLintptr>((i + layout_.ghost_rows) * layout_.pitch * bytes_of<Real>);
  }
  GLsizeiptr row_bytes() const { return static_cast<GLsizeiptr>(extents_.n * bytes_of<Real>); }
  ColumnBlocks blocks_of(Index rows) const {
    if (memory_ != PoissonMemory::shared) return column_blocks(rows, layout_.items(), groups_limit_);
    return {
        .rows = 1,
        .groups = std::min(divide_up(rows, tile_side<Real>) * divide_up(extents_.n, tile_side<Real>), groups_limit_)};
  }

  void dispatch(const gl::Program& program, Index iteration, StripRows rows, Sum& from, Sum& to) {
    const ColumnBlocks blocks = blocks_of(rows.end - rows.begin);
    if (to.count + blocks.groups > to.parts.size())
      throw std::logic_error("a strip is updated in more parts than it has");
    scalars_->bind(scalars_binding);
    if (products_) products_->bind(products_binding);
    (from.is_set ? from.total : from.parts).bind(parts_binding);
    to.parts.bind(new_parts_binding);
    program.set(0, to_int(extents_.n), to_int(layout_.items()), to_int(extents_.rows), to_int(blocks.rows));
    program.set(1, to_int(iteration), to_int(from.is_set ? 1 : from.count), to_int(to.count), to_int(product_parts_));
    program.set(2, to_int(rows.begin), to_int(rows.end));
    device_.dispatch(program, blocks.groups);
    vectors_.make_writes_visible();
    to.count += blocks.groups;
    to.is_set = false;
  }

  Device& device_;
  PoissonMemory memory_;
  PoissonLayout layout_;
  Index groups_limit_;
  DeviceArray<Real> u_;
  PoissonVectors<Real> vectors_;
  std::unique_ptr<DeviceArray<double>> scalars_;   // poisson.glsl's Scalars
  std::unique_ptr<DeviceArray<double>> products_;  // and its Products, of multigrid
  std::optional<DeviceMultigrid<Real>> multigrid_;
  Index product_parts_ = 0;  // of r . z, behind those of r . r
  std::array<Sum, 2> sums_;
  gl::Program direction_program_, update_program_;
  std::unique_ptr<MappedBuffer<double>> read_back_;
  std::unique_ptr<MappedBuffer<Real>> edges_;  // first row, last row, ghost rows above and below
  Fence edges_read_, ghosts_written_;
};

}  // namespace

double poisson_vectors_of_an_iteration(Index n, PoissonPreconditioner preconditioner) {
  return 8 + (preconditioner == PoissonPreconditioner::multigrid ? multigrid_vectors(n) : 0);
}

template <class Real>
std::string poisson_obstacle(const DeviceDescription& device, const PoissonExtents& extents, PoissonMemory memory,
                             PoissonPreconditioner preconditioner) {
  const bool multigrid = preconditioner == PoissonPreconditioner::multigrid;
  const PoissonLayout layout = poisson_layout<Real>(extents, memory);
  const Index bytes = layout.elements * bytes_of<Real>;
  if (precision_of<Real> == Precision::double_ && !has_double_precision(memory)) {
    return "textures hold single precision: use --precision single, or --memory global,shared";
  }
  if (multigrid && !allows_multigrid(memory)) {
    return "multigrid works in storage buffers: use --memory global,shared, or --preconditioner none";
  }
  if (memory == PoissonMemory::texture2d && extents.rows != extents.n) {
    return "2D textures hold whole squares: use --memory global";
  }
  if (memory == PoissonMemory::texture2d && extents.n > device.texture_side) {
    return fmt::format("a texture of {} has at most {} texels a side: use a smaller N, or --memory global",
                       device.renderer, device.texture_side);
  }
  if (memory == PoissonMemory::texture1d && layout.elements > max_texels) {
    return fmt::format(
        "a vector of {} x {} points is more than the {} texels that a texel buffer surely has: use a "
        "smaller N, or --memory global",
        extents.rows, extents.n, max_texels);
  }
  if (bytes > device.storage_block) {
    return fmt::format(
        "a vector of {} x {} points takes {:.2f} GiB, but a storage block of {} has at most {:.2f} GiB: use a smaller "
        "N{}",
        extents.rows, extents.n, gibibytes(bytes), device.renderer, gibibytes(device.storage_block),
        precision_of<Real> == Precision::double_ ? ", or --precision single" : "");
  }
  // u, r, p and the p before; multigrid has two of every grid, and an r of all but the finest
  const Index vectors = multigrid ? 7 : 4;
  return memory_obstacle(device, fmt::format("{} vectors take", vectors), static_cast<double>(vectors * bytes));
}

template <class Real>
std::unique_ptr<PoissonStrip<Real>> make_poisson_strip(Device& device, const PoissonExtents& extents,
                                                       PoissonMemory memory, PoissonPreconditioner preconditioner) {
  check_poisson_strip(extents, preconditioner);
  if (extents.n == 1) preconditioner = PoissonPreconditioner::none;  // there is no coarser grid
  const std::string obstacle = poisson_obstacle<Real>(device.description(), extents, memory, preconditioner);
  if (!obstacle.empty()) throw std::runtime_error(obstacle);
  return std::make_unique<DevicePoissonStrip<Real>>(device, extents, memory, preconditioner);
}

template std::string poisson_obstacle<float>(const DeviceDescription&, const PoissonExtents&, PoissonMemory,
                                             PoissonPreconditioner);
template std::string poisson_obstacle<double>(const DeviceDescription&, const PoissonExtents&, PoissonMemory,
                                              PoissonPreconditioner);
template std::unique_ptr<PoissonStrip<float>> make_poisson_strip(Device&, const PoissonExtents&, PoissonMemory,
                                                                 PoissonPreconditioner);
template std::unique_ptr<PoissonStrip<double>> make_poisson_strip(Device&, const PoissonExtents&, PoissonMemory,
                                                                  PoissonPreconditioner);

}  // namespace glinpack::solvers
