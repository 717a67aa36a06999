// What the sweep runs on: the backend that "auto" stands for, and each rank's device and threads.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/memory.hpp"
#include "app/options.hpp"
#include "backend/registry.hpp"
#include "gl/devices.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

struct Machine {
  std::string backend;     // never "auto"; the same on every rank
  BackendOptions options;  // this rank's
  std::string tile_note;   // of a tiled backend: the tile that this rank's device reduces in, and why it
  std::optional<std::vector<gl::DeviceDescription>> devices = {};  // of this rank's node; none where EGL was not asked
};

/// The device of a rank: --device, or by the rank's number on its node. Throws InputError where there is none for it,
/// with the reason and the remedy.
int choose_device(const PluOptions& options, std::span<const gl::DeviceDescription> devices, int local_rank,
                  bool software_allowed);

/// Collective over MPI_COMM_WORLD. "auto" becomes a backend on devices if every rank has a hardware device, else one on
/// hosts. Throws on every rank alike if a rank has no device for a backend that is asked for by name.
Machine choose_machine(const PluOptions& options, const MpiSession& session);

/// Collective over MPI_COMM_WORLD: this rank's share of its node's cores.
int threads_by_cores(const MpiSession& session);

/// Collective over MPI_COMM_WORLD: the memory of every rank, in order, on all ranks. `info`: of this rank's backend,
/// before it has allocated matrices.
std::vector<RankMemory> gather_memory(const BackendInfo& info);

}  // namespace glinpack::app
