// What the reports are written from: one record per run of a sweep, and the context they share.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lu/run.hpp"
#include "matrix/matrix_source.hpp"

namespace glinpack::app {

/// The parameters of HPL's variant code that glinpack does not need: echoed, so that parsers find them (HPL_pdtest.c).
/// Values as in HPL.dat.
struct HplVariant {
  bool given = false;  // by an HPL.dat
  int nbmin = 16;
  int ndiv = 2;
  char pfact = 'R';  // L C R
  char rfact = 'R';
};

/// What the model (docs/planning.md) expected of a run, from what was measured before that: never a fit to the run.
struct Prediction {
  double expected_seconds = 0;
  double measured_seconds = 0;    // of the same part
  bool of_factorization = false;  // else of the whole: factorisation and solution
  int runs = 0;      // earlier ones of this program that the model's figures are of; 0: of the run's own start
  Index passes = 0;  // where they are: its first so many passes

  double ratio() const { return measured_seconds / expected_seconds; }
};

struct RunRecord {
  RunParameters parameters;
  MatrixKind matrix = MatrixKind::hpl;
  GridShape grid;
  RankOrder order = RankOrder::row_major;
  Precision precision = Precision::double_;
  std::string backend;  // as chosen: never "auto"
  HplVariant variant;
  int repeat = 0;  // 0-based
  RunResult result;
  std::optional<Prediction> prediction;  // none where the model does not know the algorithm, or too little was measured
};

struct ReportContext {
  std::vector<std::string> command_line;
  nlohmann::json configuration;    // every option with its value, after config file and defaults
  std::vector<std::string> notes;  // e.g. "OPENBLAS_CORETYPE=SkylakeX set: OpenBLAS had chosen Haswell"
  std::string git_commit;
  std::string version;
  std::string mpi_library;  // MPI_Get_library_version
  int world_size = 1;
};

}  // namespace glinpack::app
