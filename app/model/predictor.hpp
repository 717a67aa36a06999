// Predicts the time of a run; the report compares the prediction with the measurement.
//
// The model uses the figures of earlier runs of the same program. For the first run it uses that run's first passes, up
// to a quarter of its operations, and predicts the time of the factorisation. In both cases, the prediction is not
// fitted to the time that it is compared with.
#pragma once

#include <optional>
#include <vector>

#include "app/model/observation.hpp"

namespace glinpack::app::model {

class Predictor {
 public:
  /// Predicts a finished run from earlier ones, then adds its timelines to the data for the next runs. Empty if the
  /// model does not support the algorithm, the run failed, or too little was measured before.
  std::optional<Prediction> predict_then_learn(const RunRecord& record);

 private:
  struct Learnt {
    Problem problem;
    double seconds = 0;
    Samples samples;
  };

  std::optional<Prediction> from_earlier_runs(const RunRecord& record, const Problem& problem) const;
  void learn(const RunRecord& record, const Problem& problem);

  std::vector<Learnt> learnt_;  // the fastest of repeated runs
};

/// Predicts the run from its own first passes.
std::optional<Prediction> extrapolate(const RunRecord& record, const Problem& problem);

}  // namespace glinpack::app::model
