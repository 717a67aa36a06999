#include "solvers/lu_study/lu_drawing.hpp"

#include <algorithm>

#include "base/measuring.hpp"
#include "base/scope_exit.hpp"

namespace glinpack::solvers {
namespace {

using gl::Coordinates;

constexpr Index components = 4;
constexpr GLint pivot_channel_location = 8;

/// Restricts writes to some channels during the life of the returned object.
[[nodiscard]] auto masked(LuChannels first) {
  const auto on = [first](LuChannels channel) -> GLboolean { return channel >= first ? GL_TRUE : GL_FALSE; };
  glColorMask(on(LuChannels::rgba), on(LuChannels::gba), on(LuChannels::ba), on(LuChannels::a));
  return ScopeExit([] { glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE); });
}

/// n x n texels of four channels, or, with four rows a texel, n x ceil(n / 4).
TextureMatrix make_texture(Device& device, Index n, const LuSettings& settings) {
  return {device, vectorised(settings.method) ? n : n * components, n, Packing::p4x1};
}

Index place(const LuSettings& settings, Index width, Index row, Index column) {
  return vectorised(settings.method) ? (row / components * width + column) * components + row % components
                                     : (row * width + column) * components;
}

double seconds_between(const gl::TimestampHandle& first, const gl::TimestampHandle& last) {
  GLuint64 begin = 0, end = 0;
  glGetQueryObjectui64v(first.id(), GL_QUERY_RESULT, &begin);
  glGetQueryObjectui64v(last.id(), GL_QUERY_RESULT, &end);
  return (static_cast<double>(end) - static_cast<double>(begin)) * 1e-9;
}

}  // namespace

LuDrawing::LuDrawing(Device& device, const DenseSystem<float>& system, const LuSettings& settings)
    : device_(device),
      system_(system),
      n_(system.a.rows),
      settings_(settings),
      textures_{make_texture(device, n_, settings), make_texture(device, n_, settings)},
      programs_(make_programs(false)),
      access_programs_(make_programs(true)) {
  check_extents(system);
  for (Index i = 0; i < n_; ++i) steps_.push_back(lu_step(settings, n_, i));
}

std::string LuDrawing::obstacle(const DeviceDescription& device, Index n, const LuSettings& settings) {
  const std::string message =
      texture_obstacle(device, n, n, vectorised(settings.method) ? Packing::p4x1 : Packing::p1x1);
  if (!message.empty()) return message;
  const double elements = static_cast<double>(n) * static_cast<double>(n);
  const double bytes = 2.0 * lu_texel_bytes * elements / (vectorised(settings.method) ? components : 1);
  return memory_obstacle(device, "its two textures take", bytes);
}

LuDrawing::Programs LuDrawing::make_programs(bool access) const {
  Programs programs;
  const bool four = vectorised(settings_.method);
  for (const LuOperation operation : {LuOperation::multipliers, LuOperation::reduce, LuOperation::fused}) {
    if (branches(settings_.method) != (operation == LuOperation::fused)) continue;
    for (int channels = 0; channels < (four ? components : 1); ++channels) {
      programs[static_cast<std::size_t>(operation)].emplace_back(
          device_, "solvers/lu_methods.frag",
          define("VECTOR", four) + define("CHANNELS_FROM", channels) +
              define("OPERATION", static_cast<int>(operation) + 1) + define("ACCESS", access) +
              define("RECIPROCAL", settings_.division == LuDivision::reciprocal),
          ShaderKind::fragment);
    }
  }
  return programs;
}

void LuDrawing::load() {
  const PaddedMatrix<float> matrix = device_.clock().measure(Stage::pack, [&] { return padded(system_.a, {}, 1); });
  largest_ = static_cast<double>(matrix.largest);
  if (vectorised(settings_.method)) {
    textures_[0].upload(matrix.view());
  } else {
    textures_[0].upload_texels([&](float* texels) {
      std::fill_n(texels, n_ * n_ * components, 0.0F);
      for (Index e = 0; e < n_ * n_; ++e) texels[e * components] = matrix.elements[static_cast<std::size_t>(e)];
    });
  }
  device_.measure(Stage::upload, [&] { textures_[0].copy_texels(0, 0, textures_[1]); });
}

void LuDrawing::compute(Work work) {
  device_.measure(Stage::compute, [&] { perform(work, {}); });
}

LuDrawing::Seconds LuDrawing::compute_timed(Work work) {
  device_.finish();
  Seconds seconds;
  std::vector<gl::TimestampHandle> stamps;
  if (!device_.description().software) {
    for (const LuStep& step : steps_) {
      for (std::size_t stamp = 0; stamp < 3 * step.phases.size(); ++stamp) stamps.emplace_back(device_.context());
    }
  }
  std::size_t next = 0;
  const bool copies = settings_.strategy == LuStrategy::copying;
  const auto wait = [&](double& part) {
    const double issued = steady_seconds();
    device_.finish();
    part += steady_seconds() - issued;
  };
  const auto stamp = [&](int which) {
    if (!stamps.empty()) return glQueryCounter(stamps[next++].id(), GL_TIMESTAMP);
    if (which == 1 || (which == 2 && copies)) wait(which == 1 ? seconds.passes : seconds.copies);
  };
  const double start = steady_seconds();
  perform(work, stamp);
  device_.finish();
  seconds.whole = steady_seconds() - start;
  for (std::size_t phase = 0; phase + 2 < stamps.size(); phase += 3) {
    seconds.passes += seconds_between(stamps[phase], stamps[phase + 1]);
    if (copies) seconds.copies += seconds_between(stamps[phase + 1], stamps[phase + 2]);
  }
  seconds.commands = std::max(0.0, seconds.whole - seconds.passes - seconds.copies);
  return seconds;
}

void LuDrawing::perform(Work work, const Stamp& stamp) {
  device_.context()->make_current();
  counts_ = {};
  for (const LuStep& step : steps_) perform(step, work, stamp);
}

void LuDrawing::perform(const LuStep& step, Work work, const Stamp& stamp) {
  for (const LuPhase& phase : step.phases) {
    if (stamp) stamp(0);
    // with switching textures, the multipliers are in other texels of the target
    const bool reads_target =
        settings_.strategy == LuStrategy::switching && phase.passes.front().operation == LuOperation::reduce;
    if (reads_target) device_.texture_barrier();
    for (const LuPass& pass : phase.passes) draw(step, pass, work);
    if (stamp) stamp(1);
    if (phase.copied) copy(*phase.copied, work);
    if (stamp) stamp(2);
  }
}

void LuDrawing::draw(const LuStep& step, const LuPass& pass, Work work) {
  const LuRectangle& drawn = pass.drawn;
  const Programs& programs = work == Work::access ? access_programs_ : programs_;
  const TexelProgram& program =
      programs[static_cast<std::size_t>(pass.operation)][static_cast<std::size_t>(pass.channels)];
  const bool switching = settings_.strategy == LuStrategy::switching;
  const TextureMatrix& read = textures_[static_cast<std::size_t>(switching ? step.column % 2 : 0)];
  const TextureMatrix& target = textures_[static_cast<std::size_t>(switching ? 1 - step.column % 2 : 1)];
  const bool by_pivot = pass.operation == LuOperation::multipliers;
  const gl::Quad quad{
      drawn.x,
      drawn.y,
      drawn.width,
      drawn.height,
      {Coordinates::rectangle(drawn.x, drawn.y), Coordinates::column(step.column, drawn.y),
       by_pivot ? Coordinates{step.column, step.pivot_row} : Coordinates::row(drawn.x, step.pivot_row)}};
  program.program().set(pivot_channel_location, step.pivot_channel);
  const auto mask = masked(pass.channels);
  if (pass.operation == LuOperation::reduce) {
    program.run(target, {read.texture(), switching ? target.texture() : read.texture()}, quad);
  } else {
    program.run(target, {read.texture()}, quad);
  }
  ++counts_.passes;
  counts_.passes_with_texels += drawn.texels() > 0 ? 1 : 0;
  counts_.drawn_texels += drawn.texels();
  counts_.read_bytes += lu_texel_bytes * texels_read({pass.operation, pass.channels, drawn}, step.column);
}

void LuDrawing::copy(const LuRectangle& rectangle, Work work) {
  const bool copied = work == Work::whole;
  const Index width = copied ? rectangle.width : 0, height = copied ? rectangle.height : 0;
  // an empty rectangle may begin beyond the last texel
  const Index x = width > 0 ? rectangle.x : 0, y = height > 0 ? rectangle.y : 0;
  textures_[1].copy_texels(x, y, textures_[0], x, y, width, height);
  ++counts_.copies;
  counts_.copied_bytes += lu_texel_bytes * width * height;
}

/// The texture that holds an element of the factors.
Index LuDrawing::home(Index row, Index column) const {
  const bool lower = row > column;
  if (settings_.strategy == LuStrategy::copying) return lower ? 1 : 0;
  return lower ? (column + 1) % 2 : row % 2;
}

void LuDrawing::store() const {
  const RowMajorView<float> factors = system_.factors;
  for (Index texture = 0; texture < 2; ++texture) {
    const TextureMatrix& from = textures_[static_cast<std::size_t>(texture)];
    from.download_texels([&](const float* texels) {
      for (Index i = 0; i < n_; ++i) {
        for (Index j = 0; j < n_; ++j) {
          if (home(i, j) == texture) factors(i, j) = texels[place(settings_, from.width(), i, j)];
        }
      }
    });
  }
  check_pivots(factors, largest_);
}

}  // namespace glinpack::solvers
