#include "app/program/machine.hpp"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "app/program/agreement.hpp"
#include "app/program/topology.hpp"
#include "host/host_memory.hpp"
#include "mpi/communication.hpp"
#include "transport/wire.hpp"

namespace glinpack::app {

namespace {

// Mesa's llvmpipe allows larger buffers, but their allocation may fail, depending on the version.
constexpr std::int64_t largest_software_matrix = std::int64_t{2} << 30;

std::string name_of_automatic(MemorySpace memory) { return std::string(automatic_backend(memory).name); }

std::string why_no_device(const DeviceCatalog& catalog, const std::vector<DeviceDescription>& devices) {
  const std::string noun(catalog.noun);
  const std::string other = "use --backend " + name_of_automatic(MemorySpace::host);
  if (devices.empty()) {
    const std::string variables = catalog.driver_variables_text();
    return "no " + noun + " was found; " + (variables.empty() ? std::string(catalog.install) : variables) + ", or " +
           other;
  }
  for (const DeviceDescription& device : devices) {
    if (!device.usable && !device.why_unusable.empty()) {
      return "no " + noun + " is usable; device " + std::to_string(device.index) + ": " + device.why_unusable +
             "; see glinpack devices, or " + other;
    }
  }
  return "no " + noun + " is usable; see glinpack devices, or " + other;
}

std::string tile_note_of(const BackendRecord& backend, const PluOptions& options, const DeviceDescription& device) {
  const std::string start = std::string(backend.name) + " reduces in tiles of ";
  const std::string& tile = options.backend_values.at("tile");
  if (!tile.empty()) return start + tile + ", as asked for";
  const TileCatalog::Choice choice = backend.tiles->choose(device, options.precision);
  return start + choice.name +
         (choice.is_kept ? ", as glinpack tune chose" : ", the default: glinpack tune looks for a faster one");
}

}  // namespace

int choose_device(const PluOptions& options, const DeviceCatalog& catalog,
                  const std::vector<DeviceDescription>& devices, int local_rank, bool software_allowed) {
  if (!options.device) {
    const int chosen = device_for_local_rank(devices, local_rank, software_allowed);
    if (chosen < 0) throw InputError(why_no_device(catalog, devices));
    spdlog::debug("device {}: chosen by local rank {}", chosen, local_rank);
    return chosen;
  }
  for (const DeviceDescription& device : devices) {
    if (device.index != *options.device) continue;
    if (!device.usable) throw InputError("--device " + std::to_string(device.index) + ": " + device.why_unusable);
    if (device.software && !software_allowed) {
      throw InputError("--device " + std::to_string(device.index) + " is software " + std::string(catalog.api));
    }
    spdlog::debug("device {}: chosen by --device", device.index);
    return device.index;
  }
  throw InputError("--device " + std::to_string(*options.device) + ": there is no such device, but " +
                   std::to_string(devices.size()) + ", counted from 0; see glinpack devices");
}

int default_threads(const MpiSession& session) {
  const std::vector<NodeView> views = gather_values(world(), view_node(), 0);
  std::vector<int> threads;
  for (std::size_t rank = 0; rank < views.size(); ++rank) threads.push_back(threads_for(views, rank));
  return broadcast_value(world(), threads, 0)[static_cast<std::size_t>(session.rank())];
}

std::string threads_note(const std::optional<int>& threads_option) {
  const std::optional<ThreadLimit> limit = thread_limit_of_environment();
  if (threads_option || !limit) return "";
  return "threads of each process by " + limit->variable + "=" + std::to_string(limit->threads) +
         "; --threads overrides it";
}

Machine choose_machine(const PluOptions& options, const MpiSession& session) {
  Machine machine{.backend = options.backend, .options = {}, .tile_note = {}};
  machine.options.values = options.backend_values;
  const bool by_name = options.backend != "auto";
  if (!by_name || computes_on_device(options.backend)) {
    std::string error;
    const DeviceCatalog& catalog = device_catalog(options.backend);
    const std::vector<DeviceDescription>& devices = machine.devices.emplace(catalog.list());
    try {
      machine.options.device = choose_device(options, catalog, devices, session.local_rank(), by_name);
    } catch (const InputError& failure) {
      error = failure.what();
    }
    if (by_name) agree_on_input(error);
    if (!by_name) {
      const bool all_have_devices = all_agree(world(), error.empty());
      machine.backend = name_of_automatic(all_have_devices ? MemorySpace::device : MemorySpace::host);
      spdlog::debug("backend {}: {}", machine.backend,
                    all_have_devices ? "every rank has a hardware device"
                    : !error.empty() ? error
                                     : "another rank has no hardware device");
    }
    if (const BackendRecord& backend = backend_record(machine.backend); backend.tiles != nullptr) {
      const DeviceDescription& device = devices[static_cast<std::size_t>(machine.options.device)];
      machine.tile_note = tile_note_of(backend, options, device);
      spdlog::debug("{}", machine.tile_note);
    }
  }

  const int by_default = default_threads(session);
  machine.options.threads = options.threads.value_or(by_default);
  const std::string note = threads_note(options.threads);
  spdlog::debug("host threads: {}, {}", machine.options.threads,
                options.threads ? "by --threads"
                : !note.empty() ? note
                                : "this rank's share of the node's cores");
  return machine;
}

void check_node_grid(const std::optional<GridShape>& node_grid) {
  if (!node_grid) return;
  const std::vector<int> nodes = nodes_of(MPI_COMM_WORLD);
  const std::vector<std::string> hosts = world().gather(0, host_name());
  run_on_root_and_broadcast([&] {
    check_hosts(*node_grid, nodes, hosts);
    return nlohmann::json();
  });
}

std::vector<RankMemory> gather_memory(const BackendInfo& info) {
  const NodeView node = view_node();
  const bool on_device = info.device_index >= 0 && !info.software_gl;
  // if each rank sees only one GPU, every rank calls it device 0: the UUID identifies it
  std::string device = "device " + std::to_string(info.device_index);
  if (!info.device_uuid.empty()) device += " (UUID " + info.device_uuid + ")";
  const RankMemory mine{
      .host = node.host,
      .node = nodes_of(MPI_COMM_WORLD)[static_cast<std::size_t>(rank_in(MPI_COMM_WORLD))],
      .host_available = node.available_memory,
      .device_is_host = !on_device,
      .device = device,
      .address_space = address_space_left(),
      .device_available = info.free_bytes,
      .largest_rows = info.largest_rows,
      .largest_columns = info.largest_columns,
      .largest_matrix = info.software_gl ? largest_software_matrix : 0,
  };
  return broadcast_value(world(), gather_values(world(), mine, 0), 0);
}

}  // namespace glinpack::app
