// The studies in one process but paranoia: their options, and their rows of problems and variants. Each has a source
// file of its name.
//
// ..._study() reads the files of --input.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/papers/problem.hpp"
#include "app/papers/study.hpp"
#include "solvers/banded/banded.hpp"
#include "solvers/elimination/elimination.hpp"
#include "solvers/lu_study/lu_methods.hpp"
#include "solvers/lu_study/lu_orders.hpp"
#include "solvers/matmul/matmul.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"

namespace glinpack::app {

/// C = A B (docs/papers/matmul.md).
struct MatmulOptions : ModeOptions {
  std::vector<solvers::ProductExtents> shape;  // replaces n
  Texts variant;                          // names of solvers::MatmulVariant, and "openblas"; empty: the fastest known
  std::vector<solvers::Packing> packing;  // empty: 2x2, or all with --tune
  std::vector<Index> pass_length;         // empty: 1, or several with --tune
  Index quad_side = 64;
  bool tune = false;
  std::string tile;
};

OptionTable matmul_table(MatmulOptions& options);
MatmulOptions parse_matmul_options(const Texts& arguments);
Study matmul_study(const MatmulOptions& options);

/// y = A x for a matrix of few diagonals (docs/papers/matmul.md).
struct BandedOptions : ModeOptions {
  BandedOptions() { n = {4096}; }

  std::vector<Index> diagonals{10};
  std::vector<Index> offsets;             // empty: `diagonals` ones around the main one
  Texts variant{"diagonals", "compute"};  // names of solvers::BandedVariant, and "csr"
  std::vector<solvers::BandedOperation> operation{solvers::BandedOperation::none};
  bool solve = false;
};

OptionTable banded_table(BandedOptions& options);
BandedOptions parse_banded_options(const Texts& arguments);
Study banded_study(const BandedOptions& options);
/// Offsets of `count` diagonals around the main one: 0, 1, -1, 2, -2 ...
std::vector<Index> offsets_around_main(Index count);

/// Dense systems A X = B: gauss-jordan (docs/papers/coprocessor.md), and plu-packed.
struct EliminationOptions : ModeOptions {
  Index right_hand_sides = 1;    // 0: plu-packed computes only the factors
  Texts variant{"double-rows"};  // names of solvers::EliminationVariant, and "openblas"
  std::vector<solvers::PivotMeasure> measure{solvers::PivotMeasure::magnitudes};
  Texts group;  // numbers of invocations, of compute; empty: the one kept, or 128
  bool tune = false;
  // of gauss-jordan
  bool inverse = false;
  std::vector<solvers::EliminationPivoting> pivoting{solvers::EliminationPivoting::partial};
};

OptionTable gauss_jordan_table(EliminationOptions& options);
OptionTable plu_packed_table(EliminationOptions& options);
EliminationOptions parse_gauss_jordan_options(const Texts& arguments);
EliminationOptions parse_plu_packed_options(const Texts& arguments);
Study gauss_jordan_study(const EliminationOptions& options);
Study plu_packed_study(const EliminationOptions& options);

/// The combinations to be measured on a device, without numbers of invocations. The pivot measure does not matter for
/// single rows.
std::vector<solvers::EliminationSettings> settings_of(const EliminationOptions& options);

/// The value of --methods for the blocked method, in addition to the paper's four.
inline constexpr const char* blocked_lu_name = "compute";

/// A = L U without pivoting by the methods of Ino et al. 2005 (docs/papers/lu-decomposition.md).
struct LuMethodsOptions : ModeOptions {
  LuMethodsOptions() { n = {64, 128, 256}; }

  Texts methods{"M1", "M2", "M3", "M4", blocked_lu_name};
  std::vector<solvers::LuStrategy> strategy{solvers::all_lu_strategies.begin(), solvers::all_lu_strategies.end()};
  std::vector<solvers::LuDivision> division{solvers::LuDivision::quotient};

  /// The paper's methods among the options, each with every strategy.
  std::vector<solvers::LuSettings> drawn() const;
  std::vector<solvers::LuOrder> orders() const;
  bool blocked() const;
};

OptionTable lu_methods_table(LuMethodsOptions& options);
LuMethodsOptions parse_lu_methods_options(const Texts& arguments);
Study lu_methods_study(const LuMethodsOptions& options);

/// The paper's Tables 1 and 3 of the records that have their parameters; and accesses. Empty without such records.
std::string lu_tables(std::span<const ModeRecord> records, const DevicePeaks& peaks);
/// The sizes from which on branches by the processor are faster than those by the shader, or the reverse; empty without
/// fits of both.
std::string trade_offs_text(std::span<const SeriesFit> fits, double min_n, double max_n);

/// Many tridiagonal systems at once (docs/papers/coprocessor.md).
struct TridiagonalOptions : ModeOptions {
  std::vector<Index> systems;  // empty: 1024; with input, the columns of input_b, or 1
  Texts variant{"compute"};    // names of solvers::TridiagonalVariant, and "lapack"
  solvers::Share share = solvers::Share::automatic;
  std::optional<Index> steps;
  std::optional<Index> tile;
  Texts group;  // numbers of invocations; empty: the one kept, or the variant's own
  bool tune = false;

  solvers::TridiagonalSettings settings_of(solvers::TridiagonalVariant which) const {
    return {.variant = which, .share = share, .steps = steps, .tile = tile};
  }
};

OptionTable tridiagonal_table(TridiagonalOptions& options);
TridiagonalOptions parse_tridiagonal_options(const Texts& arguments);
Study tridiagonal_study(const TridiagonalOptions& options);

/// Problems that the host and, in the background, a device solve together (docs/papers/coprocessor.md).
enum class BackgroundOperation : std::uint8_t { plu_packed, matmul };

inline constexpr auto all_background_operations = values_up_to<BackgroundOperation::matmul>;
constexpr std::string_view name_of(BackgroundOperation operation) {
  return text_by_value(operation, "plu-packed", "matmul");
}

struct BackgroundOptions : ModeOptions {
  Index systems = 30;  // as in the paper's figure 5
  BackgroundOperation operation = BackgroundOperation::plu_packed;
  bool raster = false;          // --variant raster: the paper's fragment shaders
  std::optional<double> ratio;  // unset: measured, and adjusted during the run
};

OptionTable background_table(BackgroundOptions& options);
BackgroundOptions parse_background_options(const Texts& arguments);
Study background_study(const BackgroundOptions& options);

}  // namespace glinpack::app
