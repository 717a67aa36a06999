#include "solvers/device/device.hpp"

#include <spdlog/fmt/fmt.h>

#include "base/scope_exit.hpp"

namespace glinpack::solvers {

Device::Device(int index, const std::string& shader_directory, bool debug)
    : context_(gl::Context::create(index, debug)),
      sources_(shader_directory),
      fences_(context_),
      painter_(context_, fences_) {}

gl::Program Device::fragment_program(const std::string& name, const std::string& preamble) const {
  context_->make_current();
  return gl::Program::drawing(context_, sources_, cache_, "raster/quad.vert", name, preamble);
}

gl::Program Device::compute_program(const std::string& name, const std::string& preamble) const {
  context_->make_current();
  return gl::Program::compute(context_, sources_, cache_, name, preamble);
}

void Device::draw(const gl::Program& program, const gl::Target& target, std::initializer_list<GLuint> textures,
                  std::span<const gl::Quad> quads) {
  context_->make_current();
  fences_.note_commands();
  painter_.bind(textures);
  painter_.draw(program, target, quads);
}

void Device::draw_added(const gl::Program& program, const gl::Target& target, std::initializer_list<GLuint> textures,
                        std::span<const gl::Quad> quads) {
  context_->make_current();
  glEnable(GL_BLEND);
  glBlendFunc(GL_ONE, GL_ONE);
  const ScopeExit disable([] { glDisable(GL_BLEND); });
  draw(program, target, textures, quads);
}

void Device::dispatch(const gl::Program& program, Index groups_x, Index groups_y, Index groups_z) {
  context_->make_current();
  fences_.note_commands();
  program.use();
  glDispatchCompute(static_cast<GLuint>(groups_x), static_cast<GLuint>(groups_y), static_cast<GLuint>(groups_z));
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT | GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
}

void Device::finish() {
  context_->make_current();
  fences_.finish();
  context_->throw_debug_error();
}

MappedBuffer<float>& Device::staging(Index floats) {
  if (!staging_ || staging_->size() < floats) {
    staging_.reset();
    context_->make_current();
    staging_ = MappedBuffer<float>::create(context_, floats);
  }
  return *staging_;
}

std::string memory_obstacle(const DeviceDescription& device, const std::string& what, double bytes,
                            const std::string& remedy) {
  if (device.free_memory <= 0 || bytes <= static_cast<double>(device.free_memory)) return {};
  return fmt::format("{} {:.2f} GiB on the device, but {} has {:.2f} GiB free: {}", what, bytes / (1 << 30),
                     device.renderer, gibibytes(device.free_memory), remedy);
}

}  // namespace glinpack::solvers
