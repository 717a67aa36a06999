// What a run measured. Reports, JSON, CSV and traces are views of it; `report`, `compare` and `plan` read it back.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/input/hpl_dat.hpp"
#include "app/record/breakdown.hpp"
#include "app/record/context.hpp"
#include "app/record/energy.hpp"
#include "app/record/json.hpp"
#include "backend/backend_record.hpp"
#include "matrix/matrix_source.hpp"
#include "run/run.hpp"

namespace glinpack::app {

/// What computed a run: GPUs, the cores of the host's threads, or processes with software devices.
struct ComputeUnits {
  std::string name;  // "GPU", "thread", "process"; empty: unknown
  int count = 0;
};
/// Ranks that share a GPU count it once.
ComputeUnits compute_units(const std::vector<RankRecord>& ranks);

/// The reference of a run's rate.
struct Peak {
  double gflops = 0;    // sum over the processes of the run
  bool stated = false;  // by --peak; else measured
  double exceeded = 0;  // the lower peak that this run's rate has replaced; 0: it has not
};

/// A run: first as planned, then with its result. A record that was read has no timelines, samples and solution.
struct RunRecord {
  RunParameters parameters;
  MatrixKind matrix = MatrixKind::hpl;
  GridShape grid;
  RankOrder order = RankOrder::row_major;
  std::optional<GridShape> node_grid;
  Precision precision = Precision::double_;
  std::string backend;           // as chosen: never "auto"
  BackendValues backend_values;  // of the backends' own options
  HplVariant variant;
  int repeat = 0;  // 0-based
  RunResult result;
  Breakdown breakdown;           // break_down(result)
  std::optional<Energy> energy;  // energy_of(result, --watts)
  ComputeUnits units;            // compute_units(result.ranks)
  std::optional<Peak> peak;      // empty if it is unknown

  std::optional<double> of_peak() const;          // the rate as a share of the peak
  std::optional<double> gflops_per_unit() const;  // the rate by unit
};

/// "N 1000, NB 64, grid 2x2"; with "node grid 1x2" if there is one.
std::string label_of(const RunRecord& run);
/// By blocks, or row by row as in the white paper: as the run's backend, pivoting and grid decide.
LuAlgorithm algorithm_of(const RunRecord& run);

enum class Verdict { passed, failed, unchecked };
constexpr std::string_view name_of(Verdict verdict) {
  return text_by_value(verdict, "PASSED", "FAILED", "not checked");
}
Verdict verdict_of(const RunResult& result);
/// Why a run failed, on one line.
std::string failure_of(const RunResult& result);

/// What is missing in an interrupted sweep.
struct Incomplete {
  std::string signal;  // that ended the program; empty: the program continues, or ended immediately
  std::size_t planned = 0;
  std::size_t finished = 0;
  const RunRecord* ended = nullptr;  // the interrupted run, with the passes that it completed
  bool links_left = false;           // `network`: some links were not measured
};

/// Sentences for the end of the report, one per line. HPL's parsers take none for a result.
std::string incomplete_text(const Incomplete& incomplete);
/// "incomplete" of the JSON document.
nlohmann::json incomplete_json(const Incomplete& incomplete);

/// The JSON document of a program run: docs/result.schema.json describes it. `incomplete`: set if runs are missing.
nlohmann::json results_json(const ReportContext& context, std::span<const RunRecord> records,
                            const std::optional<Incomplete>& incomplete = {});
/// The runs of such a document. Throws InputError that names the location.
std::vector<RunRecord> read_runs(const JsonNode& root);
/// "energy" of a run in such a document.
nlohmann::json energy_json(const Energy& energy);

/// A run in such a document, before NaN and infinity become null.
nlohmann::json run_json(const RunRecord& run);
/// Its parameters.
nlohmann::json parameters_json(const RunRecord& run);

/// One line per run after a header line (RFC 4180, but lines end in \n). Empty: not known. Times in seconds. The last
/// columns are version, hosts, and all parameters and options, so that no two different runs have the same key.
std::string results_csv(const ReportContext& context, std::span<const RunRecord> records);

/// How a JSON document names the rows' exchange.
template <class Json>
void describe(Json& json, RowSwap& swap) {
  json("kind", swap.kind);
  json("threshold", swap.threshold);
  json("pieces", swap.pieces, 1);
}

template <class Json>
void describe(Json& json, GridShape& grid) {
  json("p", grid.rows, 1);
  json("q", grid.columns, 1);
}

/// What runs and their messages alone have in common.
template <class Json>
void describe_case(Json& json, RunRecord& run) {
  json("n", run.parameters.n, 1);
  json("nb", run.parameters.nb, 1);
  json("p", run.grid.rows, 1);
  json("q", run.grid.columns, 1);
  json("precision", run.precision);
  json("pivoting", run.parameters.pivoting);
  json("broadcast", run.parameters.broadcast);
  json.later("row_swap", run.parameters.row_swap);
  json("order", run.order);
  json.later("node_grid", run.node_grid);
  json("repeat", run.repeat);
}

GLINPACK_DESCRIBE(Spread, min, mean, max)

}  // namespace glinpack::app
