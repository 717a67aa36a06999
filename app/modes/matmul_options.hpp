// The options of `glinpack matmul` (docs/papers/matmul.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"
#include "solvers/matmul/matmul.hpp"

namespace glinpack::app {

struct MatmulOptions : ModeOptions {
  std::vector<solvers::ProductExtents> shape;  // replaces n
  std::string input_b;                         // empty: the same file as input
  std::vector<std::string> variant;       // names of solvers::MatmulVariant, and "openblas"; empty: the fastest known
  std::vector<solvers::Packing> packing;  // empty: 2x2, or all with --tune
  std::vector<Index> pass_length;         // empty: 1, or several with --tune
  bool tune = false;
  Precision precision = Precision::single;
  std::string tile;
};

OptionTable matmul_table(MatmulOptions& options);
/// Precedence: command line, file, default. Throws InputError.
MatmulOptions parse_matmul_options(const std::vector<std::string>& arguments);

std::string text_of(const solvers::ProductExtents& extents);  // "33x21x18"

}  // namespace glinpack::app
