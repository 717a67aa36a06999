// The methods of "Performance Study of LU Decomposition on the Programmable GPU" (Ino, Matsui, Goda, Hagihara, 2005):
// what a step of each draws and copies, as data, and the counts of the paper's Table 1. A = L U, right-looking
// (Fig. 2), without pivoting; L has a unit diagonal that is not stored.
//
// Step i, counted from 0, has m = n - i - 1 rows below it and as many columns to its right.
//   M1      two passes: the multipliers L of column i, then the m x m elements A - L U. The host decides what to
//           compute by the program that it selects.
//   M2      one pass over both, (m + 1) columns: the shader decides by the column, and divides for every element
//           (Fig. 3b).
//   M3, M4  M1 and M2 on texels of four rows (packing 4x1). In the first row of texels, the channels of rows above or
//           at the pivot must not change: four programs render RGBA, GBA, BA and A.
// copying: passes draw into one texture, the paper's pixel buffer, from which what was drawn is copied into the other
// one, which is read. switching: two textures alternate as source and target.
//
// Details that the paper omits and its Table 1 implies:
//   - Texels of M1 and M2 have 16 bytes, too (element in red), and M1 copies all (m + 1) columns after both its passes.
//   - M3 has 8 passes a step, M4 4: every pass of M1 and M2 is one of each of the four programs, in turn. At most two
//     of them have rows in a step. The others have no extent, nor have the passes of the last step.
//   - M3 and M4 copy m columns of ceil(m / 4) texels, twice a step: M3 after L (from column i on) and after U (from
//     column i + 1 on), M4 after the programs of the first row of texels and after that of the others. M4 never reads
//     column i of L again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/elimination/elimination.hpp"

namespace glinpack::solvers {

enum class LuMethod : std::uint8_t { m1, m2, m3, m4 };
enum class LuStrategy : std::uint8_t { copying, switching };

inline constexpr auto all_lu_methods = values_up_to<LuMethod::m4>;
inline constexpr auto all_lu_strategies = values_up_to<LuStrategy::switching>;
constexpr std::string_view name_of(LuMethod method) { return text_by_value(method, "M1", "M2", "M3", "M4"); }
constexpr std::string_view name_of(LuStrategy strategy) { return text_by_value(strategy, "copy", "switch"); }

/// quotient: a / b. reciprocal: a (1 / b), as GPUs of 2005 computed a division.
enum class LuDivision : std::uint8_t { quotient, reciprocal };
inline constexpr auto all_lu_divisions = values_up_to<LuDivision::reciprocal>;
constexpr std::string_view name_of(LuDivision division) { return text_by_value(division, "quotient", "reciprocal"); }

struct LuSettings {
  LuMethod method = LuMethod::m1;
  LuStrategy strategy = LuStrategy::switching;
  LuDivision division = LuDivision::quotient;
};

/// Four rows a texel.
constexpr bool vectorised(LuMethod method) { return method == LuMethod::m3 || method == LuMethod::m4; }
/// The shader decides what to compute.
constexpr bool branches(LuMethod method) { return method == LuMethod::m2 || method == LuMethod::m4; }

inline constexpr Index lu_texel_bytes = 16;  // RGBA32F

/// What a pass computes, and which channels of texels it renders.
enum class LuOperation : std::uint8_t { multipliers, reduce, fused };
enum class LuChannels : std::uint8_t { rgba, gba, ba, a };

/// Texels.
struct LuRectangle {
  Index x = 0;
  Index y = 0;
  Index width = 0;
  Index height = 0;

  Index texels() const { return width * height; }
};

struct LuPass {
  LuOperation operation = LuOperation::fused;
  LuChannels channels = LuChannels::rgba;
  LuRectangle drawn;  // may have no texels
};

/// Passes that do not read what one another draws, and the copy after them.
struct LuPhase {
  std::vector<LuPass> passes;
  std::optional<LuRectangle> copied;  // none: the strategy does not copy
};

/// The pivot is channel `pivot_channel` of texel (column, pivot_row).
struct LuStep {
  Index column = 0;
  Index pivot_row = 0;
  int pivot_channel = 0;
  std::vector<LuPhase> phases;
};

/// Step i of n.
LuStep lu_step(const LuSettings& settings, Index n, Index i);

/// A decomposition's passes and copies.
struct LuCounts {
  Index passes = 0;
  Index copies = 0;
  Index copied_bytes = 0;
  // beyond the paper's table
  Index passes_with_texels = 0;
  Index drawn_texels = 0;
  Index read_bytes = 0;  // texels that fragments fetch, 16 bytes each: see texels_read()
};

/// Texels that the fragments of a pass fetch: multipliers 2 (own, pivot), reduce 3 (own, L, U), fused 2 in the pivot's
/// column, and 4 elsewhere.
Index texels_read(const LuPass& pass, Index pivot_column);

/// The paper's Table 1: passes, copies, copied bytes; the rest is 0. If texels have four rows, the paper's formula
/// holds only for multiples of 4; std::nullopt for other n.
std::optional<LuCounts> lu_table1(const LuSettings& settings, Index n);
/// "weight" of a pass in that table: 1, or 1/4 if texels have four rows.
constexpr double lu_table1_weight(LuMethod method) { return vectorised(method) ? 0.25 : 1; }

/// Throws SingularMatrixError unless pivot `step` of n, from 0, exceeds in magnitude tolerance<float>(n) times
/// `largest`, the largest magnitude in A.
void check_pivot(Index step, Index n, float pivot, double largest);
/// The same of all pivots of the factors.
void check_pivots(RowMajorView<const float> factors, double largest);

// A = L U without pivoting, blocked and right-looking: block columns on the host, the rest by the compute shaders of
// the backend gl-compute. A modern baseline for the methods above.
//
// For each block k of 64 columns:
//   1. the block column goes to the host: A_kk = L_kk U_kk column by column, L21 = A21 U_kk^-1 (BLAS trsm)
//   2. and back; U12 = L_kk^-1 A12, A22 <- A22 - L21 U12 on the device

inline constexpr Index unpivoted_block = 64;

/// The factors of A go to system.factors; all in the step compute, on a clock of its own. On EGL device `device` in a
/// context of its own, with `threads` host threads. `shader_directory`: GLSL files that replace the embedded ones, if
/// it has any under compute/. Throws std::runtime_error if the device cannot hold the matrix.
Steps make_unpivoted_lu(int device, int threads, const std::string& shader_directory, const DenseSystem<float>& system,
                        LuDivision division = LuDivision::quotient);

}  // namespace glinpack::solvers
