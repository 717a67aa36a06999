// HPL's own report, as a view of RunRecords.
#pragma once

#include <map>
#include <span>
#include <string>

#include "app/record/run_record.hpp"

namespace glinpack::app {

/// HPL's own report: the head with the lists of parameters, a table head and row per run, the residual lines and the
/// closing counts (HPL_pdinfo.c, HPL_pdtest.c, HPL_pdfini.c). Parsers read it, so their lines are byte for byte HPL's.
class HplReport {
 public:
  /// What HPL prints before the first run; the lists as given (N, NB, P, Q, ...), in `configuration`'s order.
  static std::string head(const ReportContext& context, std::span<const RunRecord> planned);
  /// The devices, drivers and BLAS kernels of some ranks, unless the last ones were the same.
  std::string machine(const std::vector<RankRecord>& ranks);
  /// Table head, row, start and end time, residual line; FAILED says why, and norms are always printed. Before a run on
  /// other hardware, that hardware.
  std::string run(const RunRecord& record);
  /// The best run of each N if there were several runs. Then: Finished ... tests with the following results, End of
  /// Tests.
  std::string tail() const;

  int failed() const { return failed_; }

 private:
  struct Best {
    double gflops = 0;
    std::string line;
  };

  std::map<Index, Best> best_;  // the fastest that did not fail, by N
  int passed_ = 0;
  int unchecked_ = 0;
  int failed_ = 0;
  std::string machine_;  // the last one
};

/// The rate by GPU or core, and as a share of the peak.
std::string rate_text(const RunRecord& record);

}  // namespace glinpack::app
