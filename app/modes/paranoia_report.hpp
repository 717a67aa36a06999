// Reports of `glinpack paranoia`: tables, JSON, CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "app/modes/mode_record.hpp"
#include "solvers/paranoia/errors.hpp"

namespace glinpack::app {

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

/// The table of one precision compared with the paper's Table 4, and the treatment of denormals, zeros and infinities.
std::string operations_text(const ParanoiaFindings& findings, Precision precision);
/// The growth of LU's errors: one line per order and precision.
std::string lu_errors_text(std::span<const ModeRecord> records);

nlohmann::json operations_json(const ParanoiaFindings& findings);
nlohmann::json carried_json(const ParanoiaFindings& findings);
/// One line per number: the least and largest error of arithmetic, forward and backward errors of LU.
std::string paranoia_csv(const ParanoiaFindings& findings, std::span<const ModeRecord> records);

}  // namespace glinpack::app
