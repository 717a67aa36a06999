// `glinpack-papers paranoia` (docs/papers/lu-decomposition.md): rounding errors of a device and its LU.
#pragma once

#include <string>
#include <vector>

#include "app/papers/study.hpp"
#include "solvers/paranoia/errors.hpp"

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
ParanoiaOptions parse_paranoia_options(const Texts& arguments);
Study paranoia_study(const ParanoiaOptions& options);

// Part arithmetic: the errors of operations against exact results and what GLSL demands.

/// The result of one operation in one variant.
struct OperationRecord {
  std::string variant;  // "compute", "fragment", "cpu"
  Precision precision = Precision::single;
  arithmetic::Operation operation = arithmetic::Operation::addition;
  Index directed = 0;  // operands
  Index random = 0;
  arithmetic::OperationErrors errors = {};
};

/// The changes that a transfer to a variant and back makes to numbers.
struct CarriedRecord {
  std::string variant;
  Precision precision = Precision::single;
  Index numbers = 0;
  Index denormals_flushed = 0;
  Index changed = 0;  // without NaNs

  bool passed() const { return changed == 0; }
};

struct ParanoiaFindings {
  std::vector<OperationRecord> operations;
  std::vector<CarriedRecord> carried;

  bool passed() const;
};

/// Adds the errors of all operations and variants in one precision. Prints their table beside the paper's Table 4, and
/// the treatment of denormals, zeros and infinities.
void measure_arithmetic(const ParanoiaOptions& options, Precision precision, ModeRun& run, ParanoiaFindings& findings);

void add_to_json(const ParanoiaFindings& findings, ModeRun& run);
/// One line per operation and variant, with the min and the max error.
std::string operations_csv(const ParanoiaFindings& findings);

}  // namespace glinpack::app
