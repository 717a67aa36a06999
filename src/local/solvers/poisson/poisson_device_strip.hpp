// A strip of the elliptic test problem on a device, by compute shaders.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "solvers/device/device.hpp"
#include "solvers/poisson/poisson_cg.hpp"

namespace glinpack::solvers {

/// global: storage buffers, 16 bytes at a time. texture1d: texel buffers. texture2d: 2D textures, whose border holds
/// the boundary values. shared: storage buffers, in tiles with their surrounding cells in shared memory.
enum class PoissonMemory : std::uint8_t { global, texture1d, texture2d, shared };

inline constexpr auto all_poisson_memories = values_up_to<PoissonMemory::shared>;
constexpr std::string_view name_of(PoissonMemory memory) {
  return text_by_value(memory, "global", "texture1d", "texture2d", "shared");
}

/// Textures hold single precision.
constexpr bool has_double_precision(PoissonMemory memory) {
  return memory == PoissonMemory::global || memory == PoissonMemory::shared;
}

/// Multigrid works in storage buffers.
constexpr bool allows_multigrid(PoissonMemory memory) { return has_double_precision(memory); }

/// The vectors that the device's kernels must at least read and write in an iteration: r, p, and the new p; p, r, u,
/// and the new r and u; and a V-cycle's, with z instead of r in the first.
double poisson_vectors_of_an_iteration(Index n, PoissonPreconditioner preconditioner);

/// Why the device cannot hold such a strip, with limit and remedy; empty if no reason is known. texture2d holds only
/// whole squares, with the boundary as its border.
template <class Real>
std::string poisson_obstacle(const DeviceDescription& device, const PoissonExtents& extents, PoissonMemory memory,
                             PoissonPreconditioner preconditioner = PoissonPreconditioner::none);

/// Allocates and compiles. `device` must outlive the strip. begin() takes the stages pack and upload of its clock,
/// store() download and unpack; the rest none. Throws std::runtime_error as poisson_obstacle() says and if the device
/// fails.
template <class Real>
std::unique_ptr<PoissonStrip<Real>> make_poisson_strip(
    Device& device, const PoissonExtents& extents, PoissonMemory memory,
    PoissonPreconditioner preconditioner = PoissonPreconditioner::none);

}  // namespace glinpack::solvers
