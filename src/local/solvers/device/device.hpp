// A device that the solvers draw and compute with.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "device/command_stream.hpp"
#include "gl/program.hpp"
#include "gl/raster/painter.hpp"
#include "gl/storage.hpp"
#include "solvers/device/steps.hpp"

namespace glinpack::solvers {

inline GLint to_int(Index value) { return static_cast<GLint>(value); }

/// A context on an EGL device, with what drawing and computing in it needs. All GL objects made with it keep the
/// context alive; the Device itself must outlive the solvers that refer to it. Not thread-safe.
class Device {
 public:
  /// `index` as `glinpack devices` counts. `shader_directory`: GLSL files that replace the embedded ones.
  /// `debug` asks for KHR_debug, whose errors finish() throws. Throws std::runtime_error with cause and remedy.
  explicit Device(int index, const std::string& shader_directory = {}, bool debug = false);

  const DeviceDescription& description() const { return context_->description(); }
  const std::shared_ptr<gl::Context>& context() const { return context_; }
  const ShaderSource& sources() const { return sources_; }
  Fences& fences() { return fences_; }
  StageClock& clock() { return clock_; }

  /// The program of a fragment shader ("solvers/matmul.frag"), drawn with raster/quad.vert: sampler bindings 0, 1, 2
  /// ... and up to three interpolated coordinates. Throws std::runtime_error with the driver's log.
  gl::Program fragment_program(const std::string& name, const std::string& preamble) const;
  /// The program of a compute shader.
  gl::Program compute_program(const std::string& name, const std::string& preamble) const;

  /// Draws rectangles of the target, the shader's samplers reading the textures in the order given. What one call
  /// draws, later calls read.
  void draw(const gl::Program& program, const gl::Target& target, std::initializer_list<GLuint> textures,
            std::span<const gl::Quad> quads);
  /// The same, adding to the content of the target (the papers' blending).
  void draw_added(const gl::Program& program, const gl::Target& target, std::initializer_list<GLuint> textures,
                  std::span<const gl::Quad> quads);
  /// Before a texture is drawn that is also read: from here on reads see what was drawn (ARB_texture_barrier, GL 4.5).
  /// Then drawing into a texture that is read is defined as long as a fragment reads its own texel only, once.
  void texture_barrier() const { glTextureBarrier(); }

  /// Starts a compute shader's work groups; later commands see their writes.
  void dispatch(const gl::Program& program, Index groups_x, Index groups_y = 1, Index groups_z = 1);

  /// Waits for all commands. Throws std::runtime_error if the device reports an error.
  void finish();
  /// Times body(), the context being current, and waits for its commands.
  template <class Body>
  void measure(Stage stage, Body&& body) {
    clock_.measure(stage, [&] {
      context_->make_current();
      std::forward<Body>(body)();
      finish();
    });
  }

  /// Stages pack and upload: fill(memory) with `floats` floats, then commands(buffer), which copy them to the device.
  /// Throws std::runtime_error when there is too little memory.
  template <class Fill, class Commands>
  void upload(Index floats, const Fill& fill, const Commands& commands) {
    const MappedBuffer<float>& buffer = staging(floats);
    clock_.measure(Stage::pack, [&] { fill(buffer.data()); });
    measure(Stage::upload, [&] { commands(buffer); });
  }
  /// The reverse, in stages download and unpack.
  template <class Commands, class Take>
  void download(Index floats, const Commands& commands, const Take& take) {
    const MappedBuffer<float>& buffer = staging(floats);
    measure(Stage::download, [&] { commands(buffer); });
    clock_.measure(Stage::unpack, [&] { take(buffer.data()); });
  }
  /// The memory that upload() and download() copy through: at least `floats` floats, the same at every call. Throws
  /// std::runtime_error when there is too little.
  MappedBuffer<float>& staging(Index floats);
  /// Frees that memory.
  void release_staging() { staging_.reset(); }

 private:
  std::shared_ptr<gl::Context> context_;
  ShaderSource sources_;
  ProgramCache cache_;
  Fences fences_;
  gl::Painter painter_;
  StageClock clock_;
  std::unique_ptr<MappedBuffer<float>> staging_;
};

/// Why the device cannot hold so many bytes, with the limit and the remedy; empty if it can, or if its memory is
/// unknown. `what`: "the matrices take".
std::string memory_obstacle(const DeviceDescription& device, const std::string& what, double bytes,
                            const std::string& remedy = "use a smaller N");

}  // namespace glinpack::solvers
