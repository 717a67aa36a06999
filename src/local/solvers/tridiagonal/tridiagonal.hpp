// Many tridiagonal systems, solved in parallel on a device, without pivoting:
//   raster            Brodtkorb 2008, section 4.4: a system is a texture column, an equation a texel. n - 1 passes
//                     forward and n - 1 backward draw a row each.
//   compute           An invocation solves a system (Thomas), or a piece of sixteen equations.
//   cyclic_reduction  Parallel cyclic reduction, for few large systems. The paper leaves this open and refers to H. S.
//                     Stone, Parallel tridiagonal equation solvers (1975). Every step splits a system into two. Once
//                     there are enough systems, each is solved by one invocation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/precision.hpp"
#include "solvers/device/device.hpp"
#include "solvers/tridiagonal/tridiagonal_systems.hpp"

namespace glinpack::solvers {

enum class TridiagonalVariant : std::uint8_t { raster, compute, cyclic_reduction };

inline constexpr auto all_tridiagonal_variants = values_up_to<TridiagonalVariant::cyclic_reduction>;
constexpr std::string_view name_of(TridiagonalVariant variant) {
  return text_by_value(variant, "raster", "compute", "cyclic-reduction");
}

/// Equations that an invocation of the variant compute takes. automatic: sixteen on a GPU, which reads and writes
/// everything once; the system on software devices, since that is the least arithmetic.
enum class Share : std::uint8_t { automatic, sixteen, system };
inline constexpr auto all_shares = values_up_to<Share::system>;
constexpr std::string_view name_of(Share share) { return text_by_value(share, "auto", "16", "all"); }

inline constexpr Index piece_equations = 16;

struct TridiagonalSettings {
  TridiagonalVariant variant = TridiagonalVariant::compute;
  Share share = Share::automatic;  // of compute
  /// For cyclic_reduction, >= 0; empty: as many as give 16384 invocations work.
  std::optional<Index> steps = {};
  /// Invocations of a work group, not of raster: a multiple of 32, or as many as a system has pieces, if that is more;
  /// empty: 64 or 128, by the shader.
  std::optional<Index> group = {};
  /// For raster: the maximum of systems, and of equations, in a texture; empty: the device's limit.
  std::optional<Index> tile = {};
  /// For the others: the maximum of elements in a buffer; empty: the device's limit.
  std::optional<Index> elements = {};
};

/// What a variant does with these systems on this device, for reports: "1 tile", "whole", "pieces of 16", "4 steps".
std::string describe(const DeviceDescription& device, const TridiagonalSettings& settings, Index count, Index n);

/// Why the device cannot hold the systems, with limit and remedy; empty if no reason is known.
std::string tridiagonal_obstacle(const DeviceDescription& device, const TridiagonalSettings& settings,
                                 Precision precision, Index count, Index n);

/// As many elements of the solution as of the right-hand sides, system after system; it may be their memory.
template <class Real>
struct TridiagonalOperands {
  const TridiagonalSystems<Real>* systems = nullptr;
  std::span<Real> solution = {};
};

/// Allocates and compiles for the extents of the systems, at least 1 each. The step store throws ZeroPivotError; the
/// solution of that system, and of systems that the variant solves in the same group, is then invalid. Throws
/// std::invalid_argument for raster in double precision and for other numbers of elements than the extents',
/// std::runtime_error as tridiagonal_obstacle() says and if the device fails.
template <class Real>
Steps make_tridiagonal(Device& device, const TridiagonalOperands<Real>& operands, const TridiagonalSettings& settings);

/// Additions, multiplications and divisions of Gaussian elimination (8 an equation), as rates count them whatever a
/// variant does.
constexpr double tridiagonal_flops(Index count, Index n) {
  return 8.0 * static_cast<double>(count) * static_cast<double>(n);
}

}  // namespace glinpack::solvers
