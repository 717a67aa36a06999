// A device that the solvers draw and compute with, and the stages of a computation on it. Stages are timed apart, since
// some papers count packing and transfer and others do not.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/command_stream.hpp"
#include "gl/program.hpp"
#include "gl/raster/painter.hpp"
#include "gl/storage.hpp"

namespace glinpack::solvers {

/// pack: the host puts elements in the order of texels; upload: to the device; compute; download: from the device;
/// unpack: back into rows.
enum class Stage : std::uint8_t { pack, upload, compute, download, unpack };

inline constexpr std::array all_stages{Stage::pack, Stage::upload, Stage::compute, Stage::download, Stage::unpack};

std::string_view name_of(Stage stage);  // "pack", ...

/// Seconds, summed over the intervals of each stage.
struct StageTimes {
  std::array<double, all_stages.size()> seconds{};

  double of(Stage stage) const { return seconds[static_cast<std::size_t>(stage)]; }
  double& of(Stage stage) { return seconds[static_cast<std::size_t>(stage)]; }
  /// Without packing and transfer; with transfer; with both.
  double compute() const { return of(Stage::compute); }
  double with_transfer() const { return of(Stage::upload) + of(Stage::compute) + of(Stage::download); }
  double with_all() const { return with_transfer() + of(Stage::pack) + of(Stage::unpack); }
};

/// An interval on the clock, in seconds since it was made.
struct StageInterval {
  Stage stage = Stage::compute;
  double start = 0;
  double end = 0;
};

/// Not thread-safe. Stages are not nested.
class StageClock {
 public:
  /// Times body(), which must return only after its work is done.
  template <class Body>
  void measure(Stage stage, Body&& body) {
    const double start = now();
    std::forward<Body>(body)();
    intervals_.push_back({stage, start, now()});
  }
  /// Discards all intervals; the clock continues.
  void clear() { intervals_.clear(); }

  StageTimes times() const;
  const std::vector<StageInterval>& intervals() const { return intervals_; }

 private:
  double now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - epoch_).count(); }

  std::chrono::steady_clock::time_point epoch_ = std::chrono::steady_clock::now();
  std::vector<StageInterval> intervals_;
};

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
  /// Times body() and waits for its commands.
  template <class Body>
  void measure(Stage stage, Body&& body) {
    clock_.measure(stage, [&] {
      std::forward<Body>(body)();
      finish();
    });
  }

  /// Mapped host memory of at least `floats` floats to stage texels; the same at every call, so that finish() is needed
  /// between uses. Throws std::runtime_error when there is too little memory.
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

/// A line of a shader's preamble: "#define NAME VALUE\n".
std::string definition(const char* name, Index value);

}  // namespace glinpack::solvers
