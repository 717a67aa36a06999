// The options of `glinpack paranoia` (docs/papers/lu-decomposition.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"

namespace glinpack::app {

struct ParanoiaOptions : ModeOptions {
  // the mode has no timings
  ParanoiaOptions() {
    n = {32, 64, 128, 256, 512};
    repeat = 1;
    warm_up = 0;
  }

  std::vector<std::string> part{"arithmetic", "lu"};
  std::vector<std::string> variant{"compute", "fragment", "cpu"};
  std::vector<Precision> precision{Precision::single, Precision::double_};
  Index samples = 100'000;              // random operands for each operation
  MatrixKind matrix = MatrixKind::hpl;  // of part lu

  bool has_part(const std::string& name) const;
  bool has_variant(const std::string& name) const;
};

OptionTable paranoia_table(ParanoiaOptions& options);
/// Precedence: command line, file, default. Throws InputError.
ParanoiaOptions parse_paranoia_options(const std::vector<std::string>& arguments);

}  // namespace glinpack::app
