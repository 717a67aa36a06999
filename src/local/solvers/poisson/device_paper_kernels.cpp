#include "solvers/poisson/device_paper_kernels.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "base/measuring.hpp"
#include "base/precision.hpp"
#include "solvers/device/blas1.hpp"
#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index texture_group = 16;  // invocations a side, of the variant with a 2D texture

template <class Real>
class PaperStrip final : public PoissonStrip<Real> {
 public:
  PaperStrip(Device& device, Index n, PoissonMemory memory, Index tile)
      : PoissonStrip<Real>({.n = n, .first_row = 0, .rows = n}, PoissonPreconditioner::none),
        device_(device),
        memory_(memory),
        tile_(tile),
        u_(device, n * n),
        r_(device, n * n),
        p_(device, n * n),
        q_(device, n * n),
        blas_(device, n * n),
        product_(device.compute_program("solvers/poisson_product.comp",
                                        define("DOUBLE", precision_of<Real> == Precision::double_) +
                                            define("MEMORY", static_cast<Index>(memory)) + define("TILE", tile))) {
    if (memory == PoissonMemory::texture1d) texels_.emplace(device.context());
    if (memory != PoissonMemory::texture2d) return;
    texture_.emplace(device, n, n, Packing::p1x1);
    for (const GLenum direction : std::array<GLenum, 2>{GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T}) {
      glTextureParameteri(texture_->texture(), direction, GL_CLAMP_TO_BORDER);
    }
  }

  bool returns_early() const override { return false; }

  void begin(const PoissonProblem& problem, const CgLimits& limits) override {
    u_.clear();
    r_.upload(count(), [&](Real* r) {
      for (Index i = 0; i < extents_.n; ++i) {
        for (Index j = 0; j < extents_.n; ++j) *r++ = static_cast<Real>(problem.right(i, j));
      }
    });
    limit_scale_ = limits.tolerance * limits.tolerance;
    squares_.clear();
    done_ = false;
    sums_[index(PoissonSum::residual)] = blas_.dot(r_, r_);
  }

  // lines 12 to 19 of Algorithm 1, and p . q of line 20
  void advance_direction(Index iteration) override {
    squares_.push_back(sums_[index(PoissonSum::residual)]);
    done_ = squares_.back() <= limit_scale_ * squares_.front();
    if (done_) return;
    if (iteration == 0) {
      blas_.copy(r_, p_);
    } else {
      blas_.scale(squares_.back() / squares_[squares_.size() - 2], p_);
      blas_.add(1, r_, p_);
    }
    bind_texture();
    multiply();
    sums_[index(PoissonSum::curvature)] = blas_.dot(p_, q_);
  }

  // lines 20 to 24
  void update(Index /*iteration*/, StripRows /*rows*/) override {
    if (done_) return;
    const double alpha = squares_.back() / sums_[index(PoissonSum::curvature)];
    blas_.add(alpha, p_, u_);
    blas_.add(-alpha, q_, r_);
    sums_[index(PoissonSum::residual)] = blas_.dot(r_, r_);
  }

  double own_sum(PoissonSum which) override { return sums_[index(which)]; }
  void set_sum(PoissonSum which, double total) override { sums_[index(which)] = total; }
  std::vector<double> residual_squares(Index first, Index number) override {
    return {squares_.begin() + first, squares_.begin() + first + number};
  }

  void begin_reading_edges() override { refuse_edges(); }
  PoissonEdges<Real> edges() override { refuse_edges(); }
  void write_ghost_rows(std::span<const Real> /*above*/, std::span<const Real> /*below*/) override { refuse_edges(); }

  void store(std::span<Real> u) override { u_.download(u); }

  double binding_seconds() override {
    constexpr int repetitions = 32;
    if (!texels_ && !texture_) return 0;
    device_.finish();
    const double start = steady_seconds();
    for (int repetition = 0; repetition < repetitions; ++repetition) bind_texture();
    device_.finish();
    return (steady_seconds() - start) / repetitions;
  }

 private:
  using PoissonStrip<Real>::extents_;

  static std::size_t index(PoissonSum sum) { return static_cast<std::size_t>(sum); }
  Index count() const { return extents_.n * extents_.n; }
  [[noreturn]] static void refuse_edges() { throw std::logic_error("the paper's kernels compute the whole square"); }

  void bind_texture() {
    if (texels_) {
      glTextureBuffer(texels_->id(), GL_R32F, p_.id());
      glBindTextureUnit(0, texels_->id());
      glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT);
    }
    if (!texture_) return;
    glMemoryBarrier(GL_PIXEL_BUFFER_BARRIER_BIT);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, p_.id());
    const auto side = static_cast<GLsizei>(extents_.n);
    glTextureSubImage2D(texture_->texture(), 0, 0, 0, side, side, GL_RED, GL_FLOAT, nullptr);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glBindTextureUnit(0, texture_->texture());
  }

  void multiply() {
    p_.bind(0);
    q_.bind(1);
    product_.set(0, to_int(extents_.n));
    const Index side = memory_ == PoissonMemory::shared      ? divide_up(extents_.n, tile_)
                       : memory_ == PoissonMemory::texture2d ? divide_up(extents_.n, texture_group)
                                                             : 0;
    side > 0 ? device_.dispatch(product_, side, side) : blas_.dispatch(product_);
  }

  Device& device_;
  PoissonMemory memory_;
  Index tile_;
  DeviceArray<Real> u_, r_, p_, q_;
  Blas1<Real> blas_;
  gl::Program product_;
  std::optional<gl::TexelBufferHandle> texels_;  // p, of texture1d
  std::optional<TextureMatrix> texture_;         // a copy of p, of texture2d
  std::array<double, 2> sums_{};
  std::vector<double> squares_;  // r . r before every iteration
  double limit_scale_ = 0;       // of r . r, against that of iteration 0
  bool done_ = false;
};

}  // namespace

Index largest_paper_tile(Index shared_bytes, Precision precision) {
  Index tile = 1;
  while (paper_tile_bytes(tile + 1, precision) <= shared_bytes) ++tile;
  return tile;
}

Index default_paper_tile(Index shared_bytes, Precision precision) {
  Index tile = 1;
  while (2 * tile <= largest_paper_tile(shared_bytes, precision)) tile *= 2;
  return tile;
}

template <class Real>
std::string paper_poisson_obstacle(const DeviceDescription& device, Index n, PoissonMemory memory,
                                   std::optional<Index> tile) {
  constexpr Precision precision = precision_of<Real>;
  if (memory == PoissonMemory::shared && tile && paper_tile_bytes(*tile, precision) > device.shared_memory) {
    return fmt::format(
        "--tile {}: (2 P^2 + 4 P) {} is {} bytes, but a work group of {} has {} bytes of shared memory (equation 7): "
        "P is at most {}",
        *tile, factor_bytes(precision), paper_tile_bytes(*tile, precision), device.renderer, device.shared_memory,
        largest_paper_tile(device.shared_memory, precision));
  }
  return poisson_obstacle<Real>(device, {.n = n, .first_row = 0, .rows = n}, memory);
}

template <class Real>
std::unique_ptr<PoissonStrip<Real>> make_paper_poisson_strip(Device& device, Index n, PoissonMemory memory,
                                                             std::optional<Index> tile) {
  const DeviceDescription& description = device.description();
  const std::string obstacle = paper_poisson_obstacle<Real>(description, n, memory, tile);
  if (!obstacle.empty()) throw std::runtime_error(obstacle);
  return std::make_unique<PaperStrip<Real>>(
      device, n, memory, tile.value_or(default_paper_tile(description.shared_memory, precision_of<Real>)));
}

template std::string paper_poisson_obstacle<float>(const DeviceDescription&, Index, PoissonMemory,
                                                   std::optional<Index>);
template std::string paper_poisson_obstacle<double>(const DeviceDescription&, Index, PoissonMemory,
                                                    std::optional<Index>);
template std::unique_ptr<PoissonStrip<float>> make_paper_poisson_strip(Device&, Index, PoissonMemory,
                                                                       std::optional<Index>);
template std::unique_ptr<PoissonStrip<double>> make_paper_poisson_strip(Device&, Index, PoissonMemory,
                                                                        std::optional<Index>);

}  // namespace glinpack::solvers
