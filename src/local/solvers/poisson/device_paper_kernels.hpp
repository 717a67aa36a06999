// Conjugate gradients by the paper's own kernels (Wang, Gobbert, Olano and Griffin, sections 3.4 and 4): q = A p in a
// kernel of its own, an invocation an element, and level 1 of the BLAS beside it, a kernel an operation. Scalars pass
// through the host. poisson_device_strip.hpp has faster kernels for the same memories.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "solvers/poisson/poisson_device_strip.hpp"

namespace glinpack::solvers {

/// walk: the kernels of poisson_device_strip.hpp. paper: these.
enum class PoissonKernel : std::uint8_t { walk, paper };

inline constexpr auto all_poisson_kernels = values_up_to<PoissonKernel::paper>;
constexpr std::string_view name_of(PoissonKernel kernel) { return text_by_value(kernel, "walk", "paper"); }

/// Vectors that an iteration reads and writes: scal 2, axpy 3 each for p, u and r, A p 2, two scalar products 3.
inline constexpr double paper_vectors_of_an_iteration = 16;

/// Bytes of shared memory that a block of P x P elements takes: the block, its partial results, and four arrays of the
/// cells beside it (equation 7).
constexpr Index paper_tile_bytes(Index p, Precision precision) {
  return (2 * p * p + 4 * p) * static_cast<Index>(factor_bytes(precision));
}
/// The largest P within this shared memory; at least 1.
Index largest_paper_tile(Index shared_bytes, Precision precision);
/// The P that the paper takes: the largest power of two up to that.
Index default_paper_tile(Index shared_bytes, Precision precision);

/// Why the device cannot hold N x N points, or, of `shared`, a block of `tile`; empty if no reason is known.
template <class Real>
std::string paper_poisson_obstacle(const DeviceDescription& device, Index n, PoissonMemory memory,
                                   std::optional<Index> tile);

/// The whole square, without preconditioner. Allocates and compiles. `tile`: P of `shared`; empty:
/// default_paper_tile(). `device` must outlive it. Throws std::runtime_error as paper_poisson_obstacle() says and if
/// the device fails.
template <class Real>
std::unique_ptr<PoissonStrip<Real>> make_paper_poisson_strip(Device& device, Index n, PoissonMemory memory,
                                                             std::optional<Index> tile = {});

}  // namespace glinpack::solvers
