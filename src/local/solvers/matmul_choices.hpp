// Which variant multiplies fastest on a device, by size: found by measuring, kept for later runs (automatic tuning, as
// Jiang and Snir's, Brodtkorb 2008, sections 2 and 6).
#pragma once

#include <optional>
#include <string>

#include "local/solvers/matmul.hpp"

namespace glinpack::solvers {

/// The choices for a device, a driver and a precision, and for this version of the shaders: a file each in one folder,
/// beside the tiles that are kept for gl-compute. Where that cannot be written nothing is kept.
class MatmulChoices {
 public:
  /// In gl::user_cache().
  MatmulChoices();
  explicit MatmulChoices(std::string directory);

  /// The choice for the size nearest to this one, by the number of products; none where there is none.
  std::optional<MatmulSettings> load(const gl::DeviceDescription& device, Precision precision,
                                     const ProductExtents& extents) const;
  /// Takes the place of an earlier choice for the same size. Whether it was kept.
  bool store(const gl::DeviceDescription& device, Precision precision, const ProductExtents& extents,
             const MatmulSettings& settings) const;
  std::string path_of(const gl::DeviceDescription& device, Precision precision) const;

 private:
  std::string directory_;
};

}  // namespace glinpack::solvers
