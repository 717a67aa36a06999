#include "local/solvers/stages.hpp"

namespace glinpack::solvers {

std::string_view name_of(Stage stage) {
  constexpr std::array<std::string_view, all_stages.size()> names{"pack", "upload", "compute", "download", "unpack"};
  return names[static_cast<std::size_t>(stage)];
}

StageTimes StageClock::times() const {
  StageTimes times;
  for (const StageInterval& interval : intervals_) times.of(interval.stage) += interval.end - interval.start;
  return times;
}

}  // namespace glinpack::solvers
