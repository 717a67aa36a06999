// `glinpack-papers paranoia` (docs/papers/lu-decomposition.md): rounding errors of a device and its LU.
#pragma once

#include <vector>

#include "app/papers/study.hpp"

namespace glinpack::app {

struct ParanoiaOptions : ModeOptions {
  // the mode has no timings
  ParanoiaOptions() {
    n = {32, 64, 128, 256, 512};
    repeat = 1;
    warm_up = 0;
  }

  Texts part{"arithmetic", "lu"};
  Texts variant{"compute", "fragment", "cpu"};
  std::vector<Precision> precisions{Precision::single, Precision::double_};
  Index samples = 100'000;              // random operands for each operation
  MatrixKind matrix = MatrixKind::hpl;  // of part lu

  bool has_part(const std::string& name) const;
  bool has_variant(const std::string& name) const;
};

OptionTable paranoia_table(ParanoiaOptions& options);
/// Precedence: command line, file, default. Throws InputError.
ParanoiaOptions parse_paranoia_options(const Texts& arguments);
Study paranoia_study(const ParanoiaOptions& options);

}  // namespace glinpack::app
