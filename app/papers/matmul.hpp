// `glinpack-papers matmul` (docs/papers/matmul.md): C = A B.
#pragma once

#include <string>
#include <vector>

#include "app/papers/study.hpp"
#include "solvers/matmul/matmul.hpp"

namespace glinpack::app {

struct MatmulOptions : ModeOptions {
  std::vector<solvers::ProductExtents> shape;  // replaces n
  Texts variant;                          // names of solvers::MatmulVariant, and "openblas"; empty: the fastest known
  std::vector<solvers::Packing> packing;  // empty: 2x2, or all with --tune
  std::vector<Index> pass_length;         // empty: 1, or several with --tune
  bool tune = false;
  std::string tile;
};

OptionTable matmul_table(MatmulOptions& options);
/// Precedence: command line, file, default. Throws InputError.
MatmulOptions parse_matmul_options(const Texts& arguments);
Study matmul_study(const MatmulOptions& options);

}  // namespace glinpack::app
