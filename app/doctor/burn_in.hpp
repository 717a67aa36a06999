// The burn-in: every rank factorises matrices of its own, with checksums, on the device that it computes on in a run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/doctor/facts.hpp"
#include "app/options/plu_options.hpp"

namespace glinpack::app::doctor {

/// "burn_in" of this rank's facts. All ranks factorise the same matrix at the same time, again and again, until a loop
/// ends after this time or a signal requests the end. The matrix is as large as memory allows, but a loop takes at most
/// about a twentieth of the time. `machine`: backend, device, threads and precision. Collective over MPI_COMM_WORLD.
/// Does not throw: the result holds a backend's error. An error in a loop ends the job.
nlohmann::json measure_burn_in(const MpiSession& session, const PluOptions& machine, double minutes);

/// A table of the devices: a line for each rank. Empty without a burn-in.
std::string burn_in_text(const Facts& facts);

}  // namespace glinpack::app::doctor
