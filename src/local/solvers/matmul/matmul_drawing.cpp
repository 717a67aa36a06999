#include "solvers/matmul/matmul.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {
namespace {

/// Common parts of the four variants: A and B in textures, C drawn.
class DrawnProduct : public MatrixProduct<float> {
 public:
  DrawnProduct(Device& device, const ProductExtents& extents, const MatmulSettings& settings,
               const std::string& preamble)
      : device_(device),
        packing_(settings.packing),
        steps_(round_up(extents.depth, step_depth(packing_)) / step_depth(packing_)),
        left_(device, extents.rows, steps_ * step_depth(packing_), packing_),
        right_(device, steps_ * step_depth(packing_), extents.columns, packing_),
        program_(device.fragment_program(
            "solvers/matmul.frag", "#define PACKING " +
                                       std::to_string(texel_rows(packing_) * 10 + texel_columns(packing_)) + "\n" +
                                       preamble)) {}

  void load(RowMajorView<const float> a, RowMajorView<const float> b) final {
    left_.upload(a);
    right_.upload(b);
  }
  void compute() final {
    device_.measure(Stage::compute, [&] { draw(); });
  }
  void store(RowMajorView<float> c) final { result().download(c); }

 protected:
  virtual void draw() = 0;
  virtual const TextureMatrix& result() const = 0;

  void draw_steps(const TextureMatrix& target, GLuint sums, Index first, Index end) {
    program_.set(1, static_cast<GLint>(first), static_cast<GLint>(end));
    const gl::Quad all = target.quad();
    device_.draw(program_, target.target(), {left_.texture(), right_.texture(), sums}, {&all, 1});
  }

  Device& device_;
  Packing packing_;
  Index steps_;
  TextureMatrix left_;
  TextureMatrix right_;
  gl::Program program_;
};

class SinglePass final : public DrawnProduct {
 public:
  SinglePass(Device& device, const ProductExtents& extents, const MatmulSettings& settings)
      : DrawnProduct(device, extents, settings, "#define PLANE 0\n#define ACCUMULATE 0\n"),
        result_(device, extents.rows, extents.columns, settings.packing) {}

 private:
  void draw() override { draw_steps(result_, 0, 0, steps_); }
  const TextureMatrix& result() const override { return result_; }

  TextureMatrix result_;
};

/// Reads and draws the sums in one texture: each fragment reads its own texel, after a barrier before every pass.
class OneBuffer final : public DrawnProduct {
 public:
  OneBuffer(Device& device, const ProductExtents& extents, const MatmulSettings& settings)
      : DrawnProduct(device, extents, settings, "#define PLANE 0\n#define ACCUMULATE 1\n"),
        pass_length_(settings.pass_length),
        result_(device, extents.rows, extents.columns, settings.packing) {}

 private:
  void draw() override {
    result_.clear();
    for (Index first = 0; first < steps_; first += pass_length_) {
      device_.texture_barrier();
      draw_steps(result_, result_.texture(), first, std::min(steps_, first + pass_length_));
    }
  }
  const TextureMatrix& result() const override { return result_; }

  Index pass_length_;
  TextureMatrix result_;
};

class TwoBuffers final : public DrawnProduct {
 public:
  TwoBuffers(Device& device, const ProductExtents& extents, const MatmulSettings& settings)
      : DrawnProduct(device, extents, settings, "#define PLANE 0\n#define ACCUMULATE 1\n"),
        pass_length_(settings.pass_length),
        sums_(device, extents.rows, extents.columns, settings.packing) {}

 private:
  void draw() override {
    sums_.front().clear();
    for (Index first = 0; first < steps_; first += pass_length_) {
      draw_steps(sums_.back(), sums_.front().texture(), first, std::min(steps_, first + pass_length_));
      sums_.exchange();
    }
  }
  const TextureMatrix& result() const override { return sums_.front(); }

  Index pass_length_;
  PingPong sums_;
};

/// Processor (i, j, k) has A(i, k) and B(k, j); the planes of equal k are rectangles over each other.
class ProcessorCube final : public DrawnProduct {
 public:
  ProcessorCube(Device& device, const ProductExtents& extents, const MatmulSettings& settings)
      : DrawnProduct(device, extents, settings, "#define PLANE 1\n#define ACCUMULATE 0\n"),
        result_(device, extents.rows, extents.columns, settings.packing) {
    // a plane is a column of A's texels and a row of B's: the first of its step
    const Index left_step = left_.width() / steps_, right_step = right_.height() / steps_;
    for (Index k = 0; k < steps_; ++k) {
      planes_.push_back(
          result_.quad({gl::Coordinates::column(k * left_step, 0), gl::Coordinates::row(0, k * right_step)}));
    }
  }

 private:
  void draw() override {
    result_.clear();
    device_.draw_added(program_, result_.target(), {left_.texture(), right_.texture()}, planes_);
  }
  const TextureMatrix& result() const override { return result_; }

  TextureMatrix result_;
  std::vector<gl::Quad> planes_;
};

}  // namespace

std::unique_ptr<MatrixProduct<float>> make_drawn_product(Device& device, const ProductExtents& extents,
                                                         const MatmulSettings& settings) {
  switch (settings.variant) {
    case MatmulVariant::single_pass:
      return std::make_unique<SinglePass>(device, extents, settings);
    case MatmulVariant::multi_pass:
      return std::make_unique<OneBuffer>(device, extents, settings);
    case MatmulVariant::multi_pass_two_buffers:
      return std::make_unique<TwoBuffers>(device, extents, settings);
    default:
      return std::make_unique<ProcessorCube>(device, extents, settings);
  }
}

}  // namespace glinpack::solvers
