// The input of reports: one record per run of a sweep, and their common context.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lu/run.hpp"
#include "matrix/matrix_source.hpp"

namespace glinpack::app {

/// Parameters of HPL's variant code that glinpack does not use. They are echoed for parsers (HPL_pdtest.c). Values as
/// in HPL.dat.
struct HplVariant {
  bool given = false;  // set by an HPL.dat
  int nbmin = 16;
  int ndiv = 2;
  char pfact = 'R';  // L C R
  char rfact = 'R';
};

/// The model's prediction for a run (docs/planning.md), from earlier measurements only, never a fit to the run.
struct Prediction {
  double expected_seconds = 0;
  double measured_seconds = 0;    // of the same part
  bool of_factorization = false;  // else of factorisation and solution
  int runs = 0;                   // number of earlier runs behind the figures; 0: the start of this run
  Index passes = 0;               // if runs is 0: the number of its first passes used

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
  std::optional<Prediction> prediction;  // empty if the model does not support the algorithm or too little was measured
};

struct ReportContext {
  std::vector<std::string> command_line;
  nlohmann::json configuration;    // every option with its value: command line, configuration file and defaults
  std::vector<std::string> notes;  // e.g. "OPENBLAS_CORETYPE=SkylakeX set: OpenBLAS had chosen Haswell"
  std::string git_commit;
  std::string version;
  std::string mpi_library;  // MPI_Get_library_version
  int world_size = 1;
};

}  // namespace glinpack::app
