// The cost of a kind of work: per operation, per byte and per step. Pure.
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

/// A measurement: the amounts of work and the time.
struct Sample {
  Amounts amounts;
  double seconds = 0;
};

/// Fits the cost to the samples: weighted least squares with coefficients >= 0. It tries every subset of the three
/// unknowns (a small case of Lawson, Hanson, Solving Least Squares Problems, 1974, ch. 23). The weight is 1 / seconds,
/// so that long samples do not dominate. If amounts are proportional in all samples, flops get the whole cost, else
/// bytes. Ignores samples without time or work. Without samples the cost is unknown (all zero).
Cost fit_cost(std::span<const Sample> samples);

}  // namespace glinpack::app::model
