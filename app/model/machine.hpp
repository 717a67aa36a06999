// A machine as the model sees it: what each kind of work costs there, and where each figure is from.
#pragma once

#include <string>

#include "app/model/work.hpp"

namespace glinpack::app::model {

struct Figure {
  Cost cost;
  std::string source;  // "results/h200/single-32768.json and 2 more", "--network"
};

struct MachineModel {
  ByWork<Figure> figures;

  double seconds(Work work, const Amounts& amounts) const { return figures[work].cost.seconds(amounts); }
};

/// The first kind of work that a run needs and the machine has no figure for; "" where it has them all.
std::string missing_figure(const MachineModel& machine, const Problem& problem);

}  // namespace glinpack::app::model
