// Reports. All are views of RunRecords; nothing here measures or computes beyond sums over timelines.
#pragma once

#include <iosfwd>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "app/report/breakdown.hpp"
#include "app/report/incomplete.hpp"
#include "app/report/run_record.hpp"

namespace glinpack::app {

/// HPL's own report: the head with the lists of parameters, a table head and row per run, the residual lines and the
/// closing counts (HPL_pdinfo.c, HPL_pdtest.c, HPL_pdfini.c). Parsers read it, so their lines are byte for byte HPL's.
class HplReport {
 public:
  explicit HplReport(std::ostream& out) : out_(out) {}

  /// What HPL prints before the first run; the lists as given (N, NB, P, Q, ...), in `configuration`'s order.
  void head(const ReportContext& context, std::span<const RunRecord> planned);
  /// The devices, drivers and BLAS kernels of some ranks, unless the last ones printed were the same.
  void machine(const std::vector<RankRecord>& ranks);
  /// Table head, row, start and end time, residual line; FAILED says why, and norms are always printed. Before a run on
  /// other hardware, that hardware.
  void run(const RunRecord& record);
  /// A combination that could not be run ("skipped because of illegal input values").
  void skipped() { ++skipped_; }
  /// The best run of each N if there were several runs. Then: Finished ... tests with the following results, End of
  /// Tests.
  void tail();

  int failed() const { return failed_; }

 private:
  void keep_if_best(const RunRecord& record);

  std::ostream& out_;
  std::map<Index, RunRecord> best_;  // the fastest that did not fail, by N; without its ranks
  int passed_ = 0;
  int unchecked_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
  std::string machine_;  // as printed last
};

/// Network against compute: per role and phase minimum, mean and maximum over ranks in seconds and per cent of the
/// run; GFLOPS of compute; bytes and GB/s of network and transfers; network exposed against total; idle time. At most
/// 100 columns; no line of it looks like a result to HPL's parsers.
std::string breakdown_text(const RunRecord& record);

/// What the model expected of the run beside what was measured; "" where it expected nothing.
std::string prediction_text(const RunRecord& record);

/// What all runs share, in every JSON document: program, versions, hosts, command line, options.
/// How rows change places, as a run of results and of messages has it.
nlohmann::json row_swap_json(const RowSwap& swap);
/// {"min", "mean", "max"}.
nlohmann::json spread_json(const Spread& spread);
nlohmann::json context_json(const ReportContext& context, const std::set<std::string>& hosts);

/// The JSON document of a whole program run: docs/result.schema.json describes it. `incomplete`: where there are more
/// runs to be made.
nlohmann::json results_json(const ReportContext& context, std::span<const RunRecord> records,
                            const std::optional<Incomplete>& incomplete = {});

/// One line per run, with a head line (RFC 4180, but lines end in \n). Empty: not known. Times in seconds.
std::string results_csv(std::span<const RunRecord> records);

/// Chrome's trace event format, which ui.perfetto.dev opens: pid = world rank, lanes cpu, gpu, net as threads, and
/// what sensors told as counters. Runs follow one another. Written as it is formed: a trace may be larger than memory
/// allows.
void write_trace(std::ostream& out, std::span<const RunRecord> records);

}  // namespace glinpack::app
