#include "app/program/machine.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/input/values.hpp"
#include "app/program/agreement.hpp"
#include "app/program/topology.hpp"
#include "host/host_memory.hpp"
#include "mpi/communication.hpp"
#include "sensors/find_sensors.hpp"
#include "transport/wire.hpp"

namespace glinpack::app {

namespace {

// Mesa's llvmpipe allows larger buffers, but their allocation may fail, depending on the version.
constexpr std::int64_t largest_software_matrix = std::int64_t{2} << 30;

std::string why_no_device(const DeviceCatalog& catalog, const std::vector<DeviceDescription>& devices) {
  const std::string noun(catalog.noun);
  const std::string other = fmt::format("use --backend {}", automatic_backend(MemorySpace::host).name);
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
  const std::string start = std::string(backend.name) + " updates in tiles of ";
  const std::string& tile = options.backend_values.at("tile");
  if (!tile.empty()) return start + tile + ", as asked for";
  const TileCatalog::Choice choice = backend.tiles->choose(device, options.precision);
  return start + choice.name +
         (choice.is_kept ? ", as glinpack tune chose" : ", the default: glinpack tune looks for a faster one");
}

/// Collective. The description, by the API of the backend that "auto" takes, of this rank's device, which has `apis`.
DeviceDescription choose_api(const std::vector<DeviceDescription>& apis, const BackendOptions& options,
                             Precision precision, std::vector<std::string>& notes) {
  std::vector<const BackendRecord*> backends;
  std::vector<DeviceDescription> descriptions;
  for (const BackendRecord* backend : automatic_backends(MemorySpace::device)) {
    const auto found = std::ranges::find(apis, backend->devices->api, &DeviceDescription::api);
    if (!all_agree(world(), found != apis.end() && found->usable)) continue;
    backends.push_back(backend);
    descriptions.push_back(*found);
  }
  agree_on_input(backends.empty() ? "the processes' devices have no GPU API in common: name a --backend" : "");
  if (backends.size() == 1) return descriptions.front();
  std::vector<std::vector<double>> rates;
  for (const double rate : measured_rates(backends, options, precision)) rates.push_back(all_gathered(world(), rate));
  const std::size_t taken = fastest(rates);
  std::string note = fmt::format("--backend auto takes {}; trailing update:", backends[taken]->name);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    note += fmt::format("{} {} {:.0f} GFLOPS", i > 0 ? "," : "", backends[i]->name,
                        *std::ranges::min_element(rates[i]) * 1e-9);
  }
  spdlog::debug("{}", notes.emplace_back(std::move(note)));
  return descriptions[taken];
}

/// The device of a rank for "auto", by the API in which it is the fastest; none, and the reason, if a rank has none.
std::optional<DeviceDescription> choose_automatically(const PluOptions& options, const MpiSession& session,
                                                      Machine& machine) {
  std::string error;
  std::vector<std::vector<DeviceDescription>> all = list_all_devices();
  std::vector<DeviceDescription>& devices = machine.devices.emplace();
  for (std::vector<DeviceDescription>& apis : all) {
    for (DeviceDescription& one : apis) one = for_precision(one, options.precision);
    devices.push_back(best_of(apis));
  }
  std::optional<DeviceDescription> device;
  try {
    device = choose_device(options.device, device_catalog(), devices, session.local_rank(), false);
  } catch (const InputError& failure) {
    error = failure.what();
  }
  if (options.device) agree_on_input(error);
  if (!all_agree(world(), device.has_value())) {
    spdlog::debug("no device: {}", !error.empty() ? error : "another rank has no hardware device");
    return std::nullopt;
  }
  const BackendOptions own{.device = device->index, .values = values_for_backend(options), .uuid = device->uuid};
  return choose_api(all[static_cast<std::size_t>(device->index)], own, options.precision, machine.notes);
}

void add(sensors::FoundSensors&& found, RankSensors& sensors) {
  for (const auto& sensor : found.sensors) spdlog::debug("sensor {}: read", sensor->info().name);
  for (const sensors::Unread& unread : found.unread) spdlog::debug("a sensor is not read: {}", unread.why);
  sensors.found.insert(sensors.found.end(), std::make_move_iterator(found.sensors.begin()),
                       std::make_move_iterator(found.sensors.end()));
  sensors.unread.insert(sensors.unread.end(), found.unread.begin(), found.unread.end());
}

}  // namespace

const DeviceDescription& device_of_index(const std::vector<DeviceDescription>& devices, int index) {
  const auto device = std::ranges::find(devices, index, &DeviceDescription::index);
  if (device != devices.end()) return *device;
  throw InputError(
      fmt::format("--device {}: there is no such device; this machine has {}, counted from 0: see glinpack devices",
                  index, counted(std::ssize(devices), "device")));
}

DeviceDescription choose_device(const std::optional<int>& asked, const DeviceCatalog& catalog,
                                const std::vector<DeviceDescription>& devices, int local_rank, bool software_allowed) {
  const int chosen = asked.value_or(device_for_local_rank(devices, local_rank, software_allowed));
  if (!asked && chosen < 0) throw InputError(why_no_device(catalog, devices));
  const DeviceDescription& device = device_of_index(devices, chosen);
  if (!device.usable) throw InputError("--device " + std::to_string(chosen) + ": " + device.why_unusable);
  if (device.software && !software_allowed) {
    throw InputError(
        fmt::format("--device {} is software {}, which --backend auto does not take; use --backend {}, or "
                    "leave --device out",
                    chosen, device.api, automatic_backend(device.api).name));
  }
  spdlog::debug("device {}: chosen by {}", chosen, asked ? "--device" : fmt::format("local rank {}", local_rank));
  return device;
}

std::size_t fastest(const std::vector<std::vector<double>>& rates) {
  std::vector<double> slowest;
  for (const std::vector<double>& of_ranks : rates) slowest.push_back(*std::ranges::min_element(of_ranks));
  return static_cast<std::size_t>(std::ranges::max_element(slowest) - slowest.begin());
}

int take_threads(const MpiSession& session, const std::optional<int>& asked) {
  const std::vector<NodeView> views = gather_values(world(), view_node(), 0);
  const auto ranks = run_on_root_and_broadcast([&] {
    std::vector<std::pair<int, bool>> threads_and_binding;
    for (std::size_t rank = 0; rank < views.size(); ++rank) {
      const int threads = asked ? *asked : threads_for(views, rank);
      threads_and_binding.emplace_back(threads, fast_cores_suffice(views, rank, threads));
    }
    return threads_and_binding;
  });
  const auto [threads, binds] = ranks[static_cast<std::size_t>(session.rank())];
  if (binds) bind_to_fast_cores();
  return threads;
}

std::string threads_note(const std::optional<int>& threads_option) {
  const std::optional<ThreadLimit> limit = thread_limit_of_environment();
  if (threads_option || !limit) return "";
  return "threads of each process by " + limit->variable + "=" + std::to_string(limit->threads) +
         "; --threads overrides it";
}

std::vector<double> measured_rates(const std::vector<const BackendRecord*>& backends, const BackendOptions& options,
                                   Precision precision) {
  constexpr MeasuringOptions warm_up{.repeat = 1, .seconds = 0.2}, turn{.repeat = 1, .seconds = 0.025};
  std::vector<double> rates(backends.size());
  std::vector<std::function<double(const MeasuringOptions&)>> updates(backends.size());
  for (const bool is_measured : {false, true, true}) {
    for (std::size_t i = 0; i < backends.size(); ++i) {
      try {
        if (!updates[i]) updates[i] = backends[i]->tiles->open_update(options, precision);
        if (is_measured) rates[i] = std::max(rates[i], updates[i](turn));
        if (!is_measured && i + 1 == backends.size()) updates[i](warm_up);
      } catch (const std::exception& error) {
        spdlog::debug("{} is not measured: {}", backends[i]->name, error.what());
      }
    }
  }
  return rates;
}

Machine choose_machine(const PluOptions& options, const MpiSession& session) {
  Machine machine{.backend = options.backend, .options = {}, .notes = {}};
  machine.options.values = values_for_backend(options);
  if (options.backend == "auto") {
    machine.device = choose_automatically(options, session, machine);
    machine.backend =
        (machine.device ? automatic_backend(machine.device->api) : automatic_backend(MemorySpace::host)).name;
    spdlog::debug("backend {}", machine.backend);
    check_options_of_backend(options, machine.backend);
  } else if (computes_on_device(options.backend)) {
    std::vector<DeviceDescription>& devices = machine.devices.emplace(list_devices(options.backend));
    for (DeviceDescription& one : devices) one = for_precision(one, options.precision);
    prepare_on_all_ranks([&] {
      machine.device =
          choose_device(options.device, device_catalog(options.backend), devices, session.local_rank(), true);
    });
  }
  if (machine.device) {
    machine.options.device = machine.device->index;
    machine.options.uuid = machine.device->uuid;
    if (const BackendRecord& backend = backend_record(machine.backend); backend.tiles != nullptr) {
      spdlog::debug("{}", machine.notes.emplace_back(tile_note_of(backend, options, *machine.device)));
    }
  }

  machine.options.threads = take_threads(session, options.threads);
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
  run_on_root_and_broadcast([&] { check_hosts(*node_grid, nodes, hosts); });
}

std::vector<RankMemory> gather_memory(const BackendInfo& info, bool copies_to_peers) {
  const NodeView node = view_node();
  const bool on_device = info.device_index >= 0 && !info.software_device;
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
      .copies_to_peers = copies_to_peers,
      .largest_rows = info.largest_rows,
      .largest_columns = info.largest_columns,
      .largest_matrix = info.software_device ? largest_software_matrix : 0,
  };
  return broadcast_value(world(), gather_values(world(), mine, 0), 0);
}

RankSensors open_sensors(const Machine& machine, const BackendInfo& info) {
  const sensors::Places places = sensors::Places::from_environment();
  RankSensors sensors;
  sensors.machine = sensors::machine_id(places);
  add(sensors::find_processor_sensors(places), sensors);
  if (info.device_index < 0 || info.software_device || !machine.device) return sensors;
  const DeviceDescription& device = *machine.device;
  sensors::FoundSensors gpu =
      sensors::find_gpu_sensor(places, {.vendor = device.vendor, .uuid = device.uuid, .drm_file = device.drm_file});
  sensors.gpu = !gpu.sensors.empty()   ? gpu.sensors.front()->info().id
                : !device.uuid.empty() ? "UUID " + device.uuid
                                       : "device " + std::to_string(device.index);
  add(std::move(gpu), sensors);
  return sensors;
}

void log_ranks(const ProcessGrid& grid, const BackendInfo& info) {
  if (!run_on_root_and_broadcast([] { return spdlog::should_log(spdlog::level::debug); })) return;
  const NodeView node = view_node();
  const GridPosition at = grid.position();
  constexpr const char* row = "{:>6}  {:<20} {:<12} {:<40} {}\n";
  const std::string mine = fmt::format(
      row, rank_in(MPI_COMM_WORLD), node.host, grid.active() ? fmt::format("({}, {})", at.row, at.column) : "idle",
      info.device_index < 0 ? info.device : fmt::format("{}: {}", info.device_index, info.device),
      list_of_processors(node.cores));
  const std::vector<std::string> rows = world().gather(0, mine);
  if (rows.empty()) return;
  spdlog::debug("\n{}{}", fmt::format(row, "rank", "host", "(p, q)", "device", "cores"), fmt::join(rows, ""));
}

}  // namespace glinpack::app
