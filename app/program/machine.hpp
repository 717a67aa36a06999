// The machine of a sweep: the backend that "auto" selects, and each rank's device and threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/options/plu_options.hpp"
#include "app/program/memory.hpp"
#include "backend/backend.hpp"
#include "backend/registry.hpp"
#include "mpi/process_grid.hpp"
#include "mpi/session.hpp"
#include "run/records.hpp"

namespace glinpack::app {

struct Machine {
  std::string backend;             // never "auto"; the same on every rank
  BackendOptions options;          // of this rank
  std::vector<std::string> notes;  // why "auto" took the backend; the tile of this rank's device, and why
  std::optional<std::vector<DeviceDescription>> devices = {};  // of this rank's node; empty if they were not listed
  std::optional<DeviceDescription> device = {};                // of this rank; empty: the processor
};

/// The device with this index. Throws InputError for --device if there is none.
const DeviceDescription& device_of_index(const std::vector<DeviceDescription>& devices, int index);

/// The device of a rank: `asked` by --device, or the rank's number on its node. `devices`: of the catalog. Throws
/// InputError with the reason and the remedy if there is no such device.
DeviceDescription choose_device(const std::optional<int>& asked, const DeviceCatalog& catalog,
                                const std::vector<DeviceDescription>& devices, int local_rank, bool software_allowed);

/// Rates of the update by each backend on this rank's device, 0 where it does not work. All take turns, twice, for a
/// tenth of a second, after an update that raises the clock.
std::vector<double> measured_rates(const std::vector<const BackendRecord*>& backends, const BackendOptions& options,
                                   Precision precision);

/// The place of the backend whose slowest rank is the fastest. Element i: the rates of all ranks with backend i; 0: it
/// does not work there. The first of equals, also if none works.
std::size_t fastest(const std::vector<std::vector<double>>& rates);

/// Collective over MPI_COMM_WORLD. "auto" selects a device backend if every rank has a hardware device, the fastest()
/// if their devices have several; else a host backend. Throws on every rank if a rank has no device for a backend or
/// of an index that the user named, or if the selected backend does not use an option that is given.
Machine choose_machine(const PluOptions& options, const MpiSession& session);

/// Collective over MPI_COMM_WORLD. Threads of this rank: `asked` by --threads, or else threads_for(). Binds the process
/// to its fast cores if they suffice.
int take_threads(const MpiSession& session, const std::optional<int>& asked);

/// "threads of each process by OMP_NUM_THREADS=1"; empty without such a variable.
std::string threads_note(const std::optional<int>& threads_option);

/// Collective over MPI_COMM_WORLD. check_hosts() on every rank if --node-grid is given.
void check_node_grid(const std::optional<GridShape>& node_grid);

/// Collective over MPI_COMM_WORLD. Gathers the memory of every rank, in order, on all ranks. `info`: this rank's
/// backend, before it allocates matrices.
std::vector<RankMemory> gather_memory(const BackendInfo& info, bool copies_to_peers = true);

/// Opens a rank's sensors, those of all processors of its machine and of its GPU (local/sensors/find_sensors.hpp).
/// `info`: this rank's backend. Does not throw: the result lists what cannot be read.
RankSensors open_sensors(const Machine& machine, const BackendInfo& info);

/// Collective over MPI_COMM_WORLD: rank 0 logs host, position in the grid, device and cores of every rank at level
/// debug.
void log_ranks(const ProcessGrid& grid, const BackendInfo& info);

}  // namespace glinpack::app
