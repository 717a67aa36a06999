// Common parts of Gauss-Jordan elimination and PLU factorisation on textures: variants, pivots, singular matrices.
//
// Double rows (Brodtkorb 2008, section 4.2). A texel has a block of 2 x 2 elements, so that a step takes two columns,
// and exchanges two rows at a time: half the steps, half the exchanges. The candidates of a step are the blocks of its
// column, from the diagonal down. A block r g over b a is measured by what elimination within it leaves on its
// diagonal,
//   q11 = r    q22 = a - (b / r) g    k = q11 q22 / (q11 + q22),
// half the harmonic mean of the two; the block of the largest k is the pivot, of equal ones the one farthest down (and
// right). The paper says nothing of signs, but speaks of norms and of a mean: `magnitudes` takes |q11| and |q22|, so
// that k lies between the half and the whole of the smaller one, and is large if both are. `as_signed` uses the
// formula as printed, and the magnitude of k: then q11 near -q22 makes k large even if both are small.
//
// What that costs. Rows within a block are never exchanged, and candidates are only those blocks: multipliers are not
// bounded by 1 as with partial pivoting of single rows, and a matrix that is not singular can have no pivot at all (a
// permutation matrix that exchanges rows 1 and 2 has r = 0 in its first block). It is reported as singular then.
//
// A result is therefore judged by its backward error, as in HPL, and not by its distance from LAPACK's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix_view.hpp"
#include "base/precision.hpp"
#include "solvers/device/packing.hpp"
#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {

/// double_rows: as above, by fragment shaders. plain: packing 1x1 and single rows, the candidate of the largest
/// magnitude being the pivot, as textbooks and LAPACK have it. compute: double_rows by compute shaders, also in double
/// precision.
enum class EliminationVariant : std::uint8_t { double_rows, plain, compute };
/// partial: candidates are those of a column; full: of the whole remaining matrix, with exchanges of columns.
enum class EliminationPivoting : std::uint8_t { partial, full };
/// largest: the largest magnitude in the block, to find that of a matrix; no option.
enum class PivotMeasure : std::uint8_t { magnitudes, as_signed, largest };

inline constexpr auto all_elimination_variants = values_up_to<EliminationVariant::compute>;
inline constexpr auto all_elimination_pivotings = values_up_to<EliminationPivoting::full>;
inline constexpr auto all_pivot_measures = values_up_to<PivotMeasure::as_signed>;
constexpr std::string_view name_of(EliminationVariant variant) {
  return text_by_value(variant, "double-rows", "plain", "compute");
}
constexpr std::string_view name_of(EliminationPivoting pivoting) { return text_by_value(pivoting, "partial", "full"); }
constexpr std::string_view name_of(PivotMeasure measure) {
  return text_by_value(measure, "magnitudes", "signed", "largest");
}

struct EliminationSettings {
  EliminationVariant variant = EliminationVariant::double_rows;
  EliminationPivoting pivoting = EliminationPivoting::partial;  // of Gauss-Jordan elimination
  PivotMeasure measure = PivotMeasure::magnitudes;              // of double rows
  Precision precision = Precision::single;                      // double_: of compute
  std::optional<Index> group = {};                              // of compute: invocations of a work group
};
constexpr TexelFormat format_of(const EliminationSettings& settings) {
  return settings.precision == Precision::double_ ? TexelFormat::doubles : TexelFormat::single;
}

constexpr Packing packing_of(EliminationVariant variant) {
  return variant == EliminationVariant::plain ? Packing::p1x1 : Packing::p2x2;
}
constexpr ShaderKind shaders_of(EliminationVariant variant) {
  return variant == EliminationVariant::compute ? ShaderKind::compute : ShaderKind::fragment;
}
/// Rows, and columns, of a block: what a step eliminates.
constexpr Index block_size(EliminationVariant variant) { return texel_rows(packing_of(variant)); }
/// A program of step `step`, from 1 on, which includes solvers/block.glsl.
TexelProgram step_program(Device& device, const char* name, const EliminationSettings& settings, int step);

/// The matrix is singular, or so nearly that its solution would be roundoff: no candidate of a step measures more than
/// tolerance<Real>(n) times the largest magnitude in A. what() says step, columns (counted from 1) and both numbers.
class SingularMatrixError : public NoResult {
 public:
  SingularMatrixError(const std::string& message, Index step) : NoResult(message), step_(step) {}
  Index step() const { return step_; }  // from 0; of blocks

 private:
  Index step_;
};

/// A matrix of n rows on the host, padded to whole blocks: for odd n, with a row and a column of zeros whose diagonal
/// element is the largest magnitude in A.
template <class Real>
struct PaddedMatrix {
  Index rows = 0;
  Index columns = 0;
  std::vector<Real> elements;  // row-major
  Real largest = 0;            // magnitude in A

  RowMajorView<const Real> view() const { return {elements.data(), rows, columns, columns}; }
};
/// [A | B], or A alone if b has no columns. Throws std::invalid_argument if an element is NaN or infinite, with its
/// position.
template <class Real>
PaddedMatrix<Real> padded(RowMajorView<const Real> a, RowMajorView<const Real> b, Index block);

/// The largest scaled_residual() (openblas/host_solvers.hpp) of an accepted solution: HPL's threshold, the c of
/// c n epsilon. A variant whose pivots are too small for a matrix fails it; the bound stays.
inline constexpr double largest_scaled_residual = 16;

/// A X = B, or P A = L U; row-major. A is n x n. Real: float or double.
template <class Real>
struct DenseSystem {
  RowMajorView<const Real> a = {};
  RowMajorView<const Real> b = {};    // n rows; without columns: only the factors
  RowMajorView<Real> x = {};          // of B's extents
  RowMajorView<Real> factors = {};    // of PLU, n x n, or empty: not stored. U on and above the diagonal, L below
  std::vector<Index> row_order = {};  // of PLU: row i of P A is row row_order[i] of A
};

/// A way of elimination. make() allocates and compiles; it throws std::invalid_argument if extents do not match or the
/// variant does not have the precision, std::runtime_error as `obstacle` says and if the device fails. load() throws
/// std::invalid_argument if an element is NaN or infinite, compute() SingularMatrixError.
struct Elimination {
  Steps (*make_single)(Device& device, DenseSystem<float>& system, const EliminationSettings& settings);
  Steps (*make_double)(Device& device, DenseSystem<double>& system, const EliminationSettings& settings);
  /// Why the device cannot hold it, with the limit; empty if no reason is known.
  std::string (*obstacle)(const DeviceDescription& device, Index n, Index right_hand_sides,
                          const EliminationSettings& settings);

  Steps make(Device& device, DenseSystem<float>& system, const EliminationSettings& settings) const {
    return make_single(device, system, settings);
  }
  Steps make(Device& device, DenseSystem<double>& system, const EliminationSettings& settings) const {
    return make_double(device, system, settings);
  }
};

/// Gauss-Jordan elimination (Brodtkorb 2008, section 4.2): gauss_jordan.cpp. At least one right-hand side; those of the
/// identity make X the inverse. n^3 + 2 n^2 r operations for r right-hand sides, half as many again as LU needs for A,
/// but half its passes.
extern const Elimination gauss_jordan;
/// P A = L U by Doolittle's method, L and U packed into one texture (Brodtkorb 2008, section 4.3), and substitution:
/// plu_packed.cpp. settings.pivoting must be partial, or std::invalid_argument is thrown.
extern const Elimination plu_packed;

/// Throws std::invalid_argument if the extents do not match.
template <class Real>
void check_extents(const DenseSystem<Real>& system);

/// What Gauss-Jordan elimination and PLU factorisation of systems on the host have in common.
template <class Real>
struct EliminationSteps {
  /// Throws std::invalid_argument if the extents do not match, or the settings are not those of a variant that has this
  /// precision.
  EliminationSteps(Device& device, DenseSystem<Real>& system, const EliminationSettings& settings);

  /// A texture of whole blocks, `columns` columns.
  TextureMatrix texture(Index columns) const {
    return {device, side * block, columns, packing_of(settings.variant), format_of(settings)};
  }
  /// [A | right] for a texture, with the least pivot to be accepted.
  PaddedMatrix<Real> pack(RowMajorView<const Real> right);

  Device& device;
  DenseSystem<Real>& system;
  EliminationSettings settings;
  Index block;  // rows
  Index side;   // of A in blocks
  double min_pivot = 0;
};

/// A texel of the matrix.
struct BlockPivot {
  Index row = 0;
  Index column = 0;
  double norm = 0;  // EliminationSettings::measure; 0: there is none
};

/// A reduction of the candidates in several passes (Brodtkorb 2008, section 4.2): shaders/solvers/pivot.frag.
class PivotSearch {
 public:
  PivotSearch(Device& device, const EliminationSettings& settings);
  /// For matrices of `side` texels a side.
  PivotSearch(Device& device, Index side, const EliminationSettings& settings) : PivotSearch(device, settings) {
    resize(side);
  }
  void resize(Index side);

  /// Among the candidates of a step, the texels from (step, step) on: down, or, with full pivoting, down and to the
  /// right. Waits for the device. Throws SingularMatrixError if the largest norm is at most `min`.
  BlockPivot find(const TextureMatrix& matrix, Index step, double min);

 private:
  /// Reduces the candidates from (x, y) on into the next texture; returns the extents of the result.
  TextureExtents reduce(const TexelProgram& program, GLuint source, Index x, Index y, TextureExtents candidates,
                        bool downwards);

  Device* device_;
  Index side_ = 0;
  EliminationSettings settings_;
  std::optional<PingPong> candidates_;
  TexelProgram measure_;
  TexelProgram reduce_;
};

// Elimination of matrices that are in textures. A is of `side` texels a side, padded as padded() does.

class GaussJordan {
 public:
  GaussJordan(Device& device, const EliminationSettings& settings);

  void resize(Index side) { search_.resize(side); }
  /// [A | B] in the front texture, B from texel column `side` on, becomes [. | X]. Returns the pivots of the steps.
  /// Throws SingularMatrixError if a pivot measures at most `min`.
  std::vector<BlockPivot> eliminate(PingPong& system, Index side, double min);

 private:
  BlockPivot step(PingPong& system, Index side, Index k, double min);

  PivotSearch search_;
  TexelProgram normalize_, exchange_, eliminate_;
};

class PluPacked {
 public:
  PluPacked(Device& device, const EliminationSettings& settings);

  void resize(Index side);
  /// A becomes L and U. Returns with which row of texels each was exchanged, as LAPACK's pivots. Throws
  /// SingularMatrixError if a pivot measures at most `min`.
  std::vector<Index> factorize(TextureMatrix& a, double min);
  /// X of A X = B. Row i of texels of P A is row order[i] of A.
  void solve(const TextureMatrix& factors, std::span<const Index> order, const TextureMatrix& b, TextureMatrix& x);

 private:
  /// A pass that reads its target, and the factors.
  void change(int step, const TextureMatrix& target, const TextureMatrix& factors, const gl::Quad& quad);

  Device* device_;
  EliminationSettings settings_;
  PivotSearch search_;
  std::vector<TexelProgram> programs_;     // by PluStep
  std::optional<TextureMatrix> two_rows_;  // that are exchanged
};

}  // namespace glinpack::solvers
