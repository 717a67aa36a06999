// A = L U without pivoting by fragment shaders: the methods M1 to M4 of Ino et al. 2005 (lu_methods.hpp).
//
// Two textures hold A. With the copying strategy passes read the first one and draw into the second one, the paper's
// pixel buffer. With the switching strategy step i reads texture i % 2 and draws into the other one; M1 and M3 then
// read the multipliers from the texture that the second pass draws into, but from other texels (texture barrier). Rows
// of U and columns of L stay in the texture of their last pass. The host combines both textures after reading them
// back.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "gl/handle.hpp"
#include "solvers/device/texture_matrix.hpp"
#include "solvers/lu_study/lu_methods.hpp"

namespace glinpack::solvers {

class LuDrawing {
 public:
  /// access: without copies, and shaders read what they would read but do not compute; the result is wrong.
  enum class Work : std::uint8_t { whole, access };

  /// Parts of one run, which add up to `whole`; none is negative.
  struct Seconds {
    double whole = 0;
    double passes = 0;    // the device draws
    double copies = 0;    // the device copies
    double commands = 0;  // the host gives commands, and the rest
  };

  /// The factors of A, of at least one row, go to system.factors. Throws std::invalid_argument if their extents do not
  /// match, std::runtime_error as obstacle() says, and if the device fails. `device` and `system` must outlive it.
  LuDrawing(Device& device, const DenseSystem<float>& system, const LuSettings& settings);

  /// Why the device cannot hold it, naming the limit; empty if none is known.
  static std::string obstacle(const DeviceDescription& device, Index n, const LuSettings& settings);

  /// Stages pack and upload of the device's clock. Throws std::invalid_argument if A is not finite.
  void load();
  /// Stage compute. The factors are those of the last load() if this is whole, and was not called since.
  void compute(Work work = Work::whole);
  /// The same, with times: between timestamps of the device; on software OpenGL, whose timestamps mean nothing, of the
  /// host, which then waits after the passes and after the copy of each phase.
  Seconds compute_timed(Work work);
  /// Stages download and unpack. Throws SingularMatrixError, naming the first step whose pivot was too small.
  void store() const;

  /// Counts of the last run, at the OpenGL calls.
  const LuCounts& counts() const { return counts_; }

 private:
  using Programs = std::array<std::vector<TexelProgram>, 3>;  // by operation, then channels

  Programs make_programs(bool access) const;
  /// Called before the passes of a phase, between them and the copy, and after it.
  using Stamp = std::function<void(int which)>;

  void perform(Work work, const Stamp& stamp);
  void perform(const LuStep& step, Work work, const Stamp& stamp);
  void draw(const LuStep& step, const LuPass& pass, Work work);
  void copy(const LuRectangle& rectangle, Work work);
  Index home(Index row, Index column) const;

  Device& device_;
  const DenseSystem<float>& system_;
  Index n_;
  LuSettings settings_;
  std::vector<LuStep> steps_;
  std::array<TextureMatrix, 2> textures_;
  Programs programs_;
  Programs access_programs_;
  LuCounts counts_;
  double largest_ = 0;
};

}  // namespace glinpack::solvers
