// Products with a part of HPL's random matrix that a device makes again, element by element, for each of them: the
// matrix is never stored.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "local/hpl_generator.hpp"

namespace glinpack {

/// What a part's elements are made of: element (i, j) is hpl_value(rows[i](columns[j])).
struct HplElements {
  std::vector<HplJump> rows;
  std::vector<std::uint64_t> columns;
};

/// A: rows x columns, as Backend::make_hpl_product was told. Sums are in double precision and the same to the last bit
/// in every call. Results are there when a function returns; the device's time is in Phase::refinement.
class HplProduct {
 public:
  virtual ~HplProduct() = default;
  /// y <- A x.
  virtual void multiply(std::span<const double> x, std::span<double> y) = 0;
  /// Of the |a_ij| of each row, of each column. Returns the largest |a_ij|, 0 where there is none.
  virtual double sum_rows(std::span<double> sums) = 0;
  virtual double sum_columns(std::span<double> sums) = 0;
};

}  // namespace glinpack
