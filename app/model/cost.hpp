// What a kind of work costs: so much for each operation, each byte and each time it is begun. Pure.
#pragma once

#include <span>

#include "backend/operations.hpp"

namespace glinpack::app::model {

/// Seconds = per_flop flops + per_byte bytes + per_step steps. All three >= 0.
struct Cost {
  double per_flop = 0;
  double per_byte = 0;
  double per_step = 0;

  double seconds(const Amounts& amounts) const;
  bool known() const { return per_flop > 0 || per_byte > 0 || per_step > 0; }
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// Something measured: what was done, and how long it took.
struct Sample {
  Amounts amounts;
  double seconds = 0;
};

/// The cost that explains the samples best: least squares with coefficients >= 0 (of three unknowns, so every subset of
/// them is tried: Lawson, Hanson, Solving Least Squares Problems, 1974, ch. 23 in small), each sample weighted by
/// 1 / seconds, so that long ones count for more but do not decide alone. Amounts that vary alike in all samples cannot
/// be told apart: then flops take it all, else bytes. Samples that took no time, or did nothing, are left out; without
/// any the cost is unknown (all zero).
Cost fit_cost(std::span<const Sample> samples);

}  // namespace glinpack::app::model
