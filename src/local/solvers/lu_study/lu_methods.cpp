#include "solvers/lu_study/lu_methods.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "base/precision.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index vector_length = 4;

/// Rows of texels that a step draws: some channels of the first, all of the others.
struct Rows {
  Index first = 0;
  Index count = 0;
  LuChannels of_first = LuChannels::rgba;
};

Rows rows_of(const LuSettings& settings, Index n, Index i) {
  const Index below = n - i - 1;
  if (!vectorised(settings.method)) return {i + 1, below, LuChannels::rgba};
  const Index first = (i + 1) / vector_length;
  return {first, below == 0 ? 0 : divide_up(n, vector_length) - first,
          static_cast<LuChannels>((i + 1) % vector_length)};
}

/// A pass of M1 or M2 over columns from `x` on; of M3 and M4 one of every program.
std::vector<LuPass> passes_of(const LuSettings& settings, LuOperation operation, const Rows& rows, Index x,
                              Index width) {
  if (!vectorised(settings.method)) return {{operation, LuChannels::rgba, {x, rows.first, width, rows.count}}};
  const bool divided = rows.of_first != LuChannels::rgba && rows.count > 0;
  std::vector<LuPass> passes;
  for (const LuChannels channels : {LuChannels::gba, LuChannels::ba, LuChannels::a}) {
    passes.push_back({operation, channels, {x, rows.first, width, divided && channels == rows.of_first ? 1 : 0}});
  }
  const Index skipped = divided ? 1 : 0;
  passes.push_back({operation, LuChannels::rgba, {x, rows.first + skipped, width, rows.count - skipped}});
  return passes;
}

}  // namespace

LuStep lu_step(const LuSettings& settings, Index n, Index i) {
  const Index right = n - i - 1;
  const Rows rows = rows_of(settings, n, i);
  const bool four = vectorised(settings.method);
  LuStep step{i, four ? i / vector_length : i, static_cast<int>(four ? i % vector_length : 0), {}};
  const auto copied = [&](Index x, Index width) {
    return settings.strategy == LuStrategy::copying ? std::optional(LuRectangle{x, rows.first, width, rows.count})
                                                    : std::nullopt;
  };
  if (!branches(settings.method)) {
    step.phases.push_back(
        {passes_of(settings, LuOperation::multipliers, rows, i, 1), four ? copied(i, right) : copied(i, right + 1)});
    step.phases.push_back({passes_of(settings, LuOperation::reduce, rows, i + 1, right),
                           four ? copied(i + 1, right) : copied(i, right + 1)});
    return step;
  }
  std::vector<LuPass> passes = passes_of(settings, LuOperation::fused, rows, i, right + 1);
  if (!four) {
    step.phases.push_back({std::move(passes), copied(i, right + 1)});
    return step;
  }
  const LuPass whole_texels = passes.back();
  passes.pop_back();
  step.phases.push_back({std::move(passes), copied(i + 1, right)});
  step.phases.push_back({{whole_texels}, copied(i + 1, right)});
  return step;
}

Index texels_read(const LuPass& pass, Index pivot_column) {
  const LuRectangle& drawn = pass.drawn;
  if (pass.operation == LuOperation::multipliers) return 2 * drawn.texels();
  if (pass.operation == LuOperation::reduce) return 3 * drawn.texels();
  const Index in_column = drawn.x == pivot_column ? std::min<Index>(1, drawn.width) * drawn.height : 0;
  return 2 * in_column + 4 * (drawn.texels() - in_column);
}

std::optional<LuCounts> lu_table1(const LuSettings& settings, Index n) {
  LuCounts counts;
  const bool copying = settings.strategy == LuStrategy::copying;
  switch (settings.method) {
    case LuMethod::m1:
      counts.passes = 2 * n;
      counts.copies = 2 * n;
      counts.copied_bytes = 32 * n * (n * n - 1) / 3;
      break;
    case LuMethod::m2:
      counts.passes = n;
      counts.copies = n;
      counts.copied_bytes = 16 * n * (n * n - 1) / 3;
      break;
    case LuMethod::m3:
    case LuMethod::m4:
      if (n % vector_length != 0) return std::nullopt;
      counts.passes = settings.method == LuMethod::m3 ? 8 * n : 4 * n;
      counts.copies = 2 * n;
      counts.copied_bytes = 2 * n * (4 * n * n + 3 * n - 4) / 3;
      break;
  }
  if (!copying) counts.copies = counts.copied_bytes = 0;
  return counts;
}

void check_pivot(Index step, Index n, float pivot, double largest) {
  const double min = tolerance<float>(n) * largest;
  if (std::abs(double{pivot}) > min) return;
  throw SingularMatrixError(
      fmt::format("step {} of {}: the pivot, {:.3g}, is too small without exchanges of rows, of which these methods "
                  "have none: it must exceed {:.3g}; `glinpack-papers plu-packed` pivots",
                  step + 1, n, pivot, min),
      step);
}

void check_pivots(RowMajorView<const float> factors, double largest) {
  for (Index i = 0; i < factors.rows; ++i) check_pivot(i, factors.rows, factors(i, i), largest);
}

}  // namespace glinpack::solvers
