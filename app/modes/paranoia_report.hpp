// What `glinpack paranoia` found: tables, JSON, CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "app/modes/mode_record.hpp"
#include "solvers/paranoia/errors.hpp"

namespace glinpack::app {

/// An operation on a variant.
struct OperationRecord {
  std::string variant;  // "compute", "fragment", "cpu"
  Precision precision = Precision::single;
  arithmetic::Operation operation = arithmetic::Operation::addition;
  Index directed = 0;  // operands
  Index random = 0;
  arithmetic::OperationErrors errors = {};
};

/// What the way to a variant and back does to numbers that are only carried.
struct CarriedRecord {
  std::string variant;
  Precision precision = Precision::single;
  Index numbers = 0;
  Index denormals_flushed = 0;
  Index changed = 0;  // any other than NaNs

  bool passed() const { return changed == 0; }
};

struct ParanoiaFindings {
  std::vector<OperationRecord> operations;
  std::vector<CarriedRecord> carried;

  bool passed() const;
};

/// The table of one precision, beside the paper's Table 4, and what happens to denormals, zeros and infinities.
std::string operations_text(const ParanoiaFindings& findings, Precision precision);
/// How LU's errors grow: a line for every order and precision.
std::string lu_errors_text(std::span<const ModeRecord> records);

nlohmann::json operations_json(const ParanoiaFindings& findings);
nlohmann::json carried_json(const ParanoiaFindings& findings);
/// A line for every number: of arithmetic its least and most error, of LU forward and backward errors.
std::string paranoia_csv(const ParanoiaFindings& findings, std::span<const ModeRecord> records);

}  // namespace glinpack::app
