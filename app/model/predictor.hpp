// What is to be expected of a run, beside which its report shows what was measured.
//
// The figures are those of earlier runs of the same program; of the first run, of its own first passes, up to a quarter
// of its operations. Neither has seen what it is compared with: of the first passes the factorisation's time is
// expected, most of which comes after them.
#pragma once

#include <optional>
#include <vector>

#include "app/model/observation.hpp"

namespace glinpack::app::model {

class Predictor {
 public:
  /// For a run that has ended, with its timelines; then takes it into account for the next ones. None where the model
  /// does not know the algorithm, where the run did not end well, or where too little was measured before.
  std::optional<Prediction> predict_then_learn(const RunRecord& record);

 private:
  struct Learnt {
    Problem problem;
    double seconds = 0;
    Samples samples;
  };

  std::optional<Prediction> from_earlier_runs(const RunRecord& record, const Problem& problem) const;
  void learn(const RunRecord& record, const Problem& problem);

  std::vector<Learnt> learnt_;  // of repeated runs the fastest
};

/// By the first passes of the run.
std::optional<Prediction> extrapolate(const RunRecord& record, const Problem& problem);

}  // namespace glinpack::app::model
