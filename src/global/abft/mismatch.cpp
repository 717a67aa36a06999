#include "abft/mismatch.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace glinpack {

std::string text_of(const Mismatch& mismatch) {
  if (mismatch.part == CheckedPart::solution) {
    return fmt::format("solution, block row {}: U x differs from y by {:.3g}, rounding explains {:.3g}",
                       mismatch.block_row, std::fabs(mismatch.difference), mismatch.bound);
  }
  return fmt::format(
      "{} after pass {}, block row {}: the sum of a row differs by {:.3g} from its checksum, rounding explains {:.3g}",
      name_of(mismatch.part), mismatch.pass, mismatch.block_row, std::fabs(mismatch.difference), mismatch.bound);
}

void log_failed_check(const Mismatch& mismatch, const std::string& device) {
  spdlog::error("checksums: {}; device {}", text_of(mismatch), device);
}

bool is_worse(const Mismatch& a, const Mismatch& b) {
  const auto share = [](const Mismatch& m) {
    const double value = std::fabs(m.difference) / m.bound;
    return std::isnan(value) ? INFINITY : value;
  };
  return std::pair(a.pass, -share(a)) < std::pair(b.pass, -share(b));
}

}  // namespace glinpack
