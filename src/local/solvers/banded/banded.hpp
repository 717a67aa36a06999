// y = A x, A a sparse matrix with few diagonals: by rows on the host, and by joined diagonals on a device (Krueger and
// Westermann 2003, as described by Brodtkorb 2006, section 2.2).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix_view.hpp"
#include "base/threads.hpp"
#include "solvers/device/device.hpp"

namespace glinpack::solvers {

/// An element that is not 0; positions count from 0.
struct SparseEntry {
  Index row = 0;
  Index column = 0;
  float value = 0;
};

/// Compressed sparse rows: those of row i are elements first[i] ... first[i + 1] - 1.
struct RowCompressedMatrix {
  Index rows = 0;
  std::vector<Index> first{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
};

/// `entries` in the order of their rows.
RowCompressedMatrix compress_rows(Index rows, std::span<const SparseEntry> entries);

/// y = A x; each member of the team computes rows with about the same number of elements.
void multiply(const RowCompressedMatrix& a, std::span<const float> x, std::span<float> y, ThreadTeam& team);

/// A square matrix as stored by Krueger and Westermann (2003, as described by Brodtkorb 2006, section 2.2): the i-th
/// diagonal above the main one, which has n - i elements, is joined with the (n - i)-th below, which has i, to one
/// vector of n:
///   element r is A(r, (r + i) mod n),       y(r) = sum over i of element r of diagonal i  x((r + i) mod n)
/// Joined diagonals of zeros are dropped.
struct JoinedDiagonals {
  struct Diagonal {
    Index shift = 0;  // i, 0 ... n - 1
    std::vector<float> elements;
  };
  Index n = 0;
  std::vector<Diagonal> diagonals;  // in the order of shifts
};

JoinedDiagonals join_diagonals(Index n, std::span<const SparseEntry> entries);

/// The number of diagonals of join_diagonals(), without allocating them.
Index count_joined_diagonals(Index n, std::span<const SparseEntry> entries);

/// diagonals: every joined diagonal is a texture of its own, and so is x; a pass draws the products of one of them, and
/// blending adds them. diagonals_1d: the same, the textures being one row of texels. compute: a compute shader, one row
/// per invocation. All in single precision.
enum class BandedVariant : std::uint8_t { diagonals, diagonals_1d, compute };

inline constexpr auto all_banded_variants = values_up_to<BandedVariant::compute>;
constexpr std::string_view name_of(BandedVariant variant) {
  return text_by_value(variant, "diagonals", "diagonals-1d", "compute");
}

/// op of y = A x op z, element by element; none: y = A x.
enum class BandedOperation : std::uint8_t { none, plus, minus, times, over };

inline constexpr auto all_banded_operations = values_up_to<BandedOperation::over>;
constexpr std::string_view name_of(BandedOperation operation) {
  return text_by_value(operation, "none", "+", "-", "*", "/");
}
template <class Real>
Real applied(BandedOperation operation, Real product, Real z) {
  switch (operation) {
    case BandedOperation::plus:
      return product + z;
    case BandedOperation::minus:
      return product - z;
    case BandedOperation::times:
      return product * z;
    case BandedOperation::over:
      return product / z;
    case BandedOperation::none:
      break;
  }
  return product;
}

/// Why the device cannot hold a matrix of order n with `diagonals` joined diagonals, with limit and remedy; empty if no
/// reason is known.
std::string banded_obstacle(const DeviceDescription& device, Index n, Index diagonals, BandedVariant variant);

/// y = A x, or A x op z, of order n (Krueger and Westermann's clMatVec). `entries` in the order of their rows.
struct BandedProduct {
  Index n = 0;
  std::span<const SparseEntry> entries;
  std::span<const float> x;
  std::span<float> y;
  BandedOperation operation = BandedOperation::none;
  std::span<const float> z = {};
};

/// For so many joined diagonals as the entries have now. Allocates and compiles. Throws std::runtime_error as
/// banded_obstacle() says and if the device fails; std::invalid_argument if x, y or z has not n elements, and, when it
/// loads, for another number of joined diagonals.
Steps make_banded_product(Device& device, const BandedProduct& product, BandedVariant variant);

/// A x = b for a symmetric positive definite A by conjugate gradients from x = 0, until the residual's 2-norm is at
/// most `tolerance` times that of b. On a device the operator of BandedVariant::compute, and scalars through the host.
struct BandedSystem {
  Index n = 0;
  std::span<const SparseEntry> entries;
  std::span<const float> b;
  std::span<float> x;
  double tolerance = 1e-5;
  Index iterations = 0;  // result
};

/// As make_banded_product(); compute() throws NoResult if 10 n + 100 iterations are not enough.
Steps make_banded_solver(Device& device, BandedSystem& system);
/// The same on the host, by rows.
void solve_by_rows(const RowCompressedMatrix& a, BandedSystem& system, ThreadTeam& team);

}  // namespace glinpack::solvers
