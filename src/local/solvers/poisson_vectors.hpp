// r and p of a strip of the elliptic test problem, in the memory that kernels read neighbours from (section 4 of the
// paper, poisson_problem.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "local/poisson_strip.hpp"
#include "local/solvers/device.hpp"

namespace glinpack::solvers {

/// global: storage buffers, 16 bytes at a time. texture1d: texel buffers. texture2d: 2D textures, whose border says
/// what is beyond the boundary. shared: storage buffers, by tiles with the cells around them in shared memory.
enum class PoissonMemory : std::uint8_t { global, texture1d, texture2d, shared };

/// How vectors lie: row i of a strip at (i + ghost_rows) pitch, n elements, then zeros.
struct PoissonLayout {
  Index pitch = 0;       // elements from row to row
  Index item_width = 1;  // elements that an invocation takes at a time
  Index ghost_rows = 1;  // above, and as many below; none in 2D textures
  Index elements = 0;

  Index items() const { return pitch / item_width; }  // from row to row
};

template <class Real>
PoissonLayout poisson_layout(const PoissonExtents& extents, PoissonMemory memory);

/// Shaders find r, p, and where the new p goes, by what is bound here (shaders/solvers/poisson_memory.glsl).
template <class Real>
class PoissonVectors {
 public:
  virtual ~PoissonVectors() = default;

  /// r, row by row, ghost rows too where there are any (fill(row, r), row from -1 on); p = 0. Stages pack and upload.
  virtual void begin(const std::function<void(Index row, Real* r)>& fill) = 0;
  virtual void bind_direction() = 0;
  virtual void bind_update() = 0;
  /// The new p is p from here on.
  virtual void exchange() = 0;
  /// After a kernel: the next one sees what it wrote.
  virtual void settle() const = 0;
  /// The buffer of r; 0 where it is none.
  virtual GLuint residual_buffer() const = 0;
};

/// Throws std::runtime_error where the device cannot hold them.
template <class Real>
std::unique_ptr<PoissonVectors<Real>> make_poisson_vectors(Device& device, const PoissonExtents& extents,
                                                           PoissonMemory memory);

}  // namespace glinpack::solvers
