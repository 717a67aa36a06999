// Time-independent traces of a planned factorisation, and its platform, for SimGrid 3.32 (smpirun -replay).
#pragma once

#include <string>

#include "app/model/schedule.hpp"

namespace glinpack::app {

/// Throws InputError if SimGrid cannot replay the run as the model does: its ranks have one queue and forward a message
/// only in a call, and its links have no gap.
void check_traces(const model::MachineModel& machine, const model::Problem& problem);

/// Creates the folder with a file for each rank, and traces.txt, hosts.txt, platform.xml, expected.txt: the seconds of
/// the factorisation by our replay. A rank's compute lines count nanoseconds. Messages of more than 1 GiB are split:
/// SimGrid's sizes end at 2 GiB. Throws InputError if the folder exists or cannot be written.
void write_traces(const std::string& folder, const model::Schedule& schedule, const model::MachineModel& machine,
                  const model::Problem& problem, double expected_seconds);

}  // namespace glinpack::app
