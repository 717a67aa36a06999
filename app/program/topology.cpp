#include "app/program/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "host/host_memory.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};

// Null if hwloc fails.
std::unique_ptr<hwloc_topology, Destroy> load_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  std::unique_ptr<hwloc_topology, Destroy> loaded(topology);
  return hwloc_topology_load(topology) == 0 ? std::move(loaded) : nullptr;
}

// Fills in the cores from hwloc.
void read_cores(NodeView& view) {
  // hwloc reads hundreds of files; what they say does not change
  static const std::unique_ptr<hwloc_topology, Destroy> topology = load_topology();
  if (topology == nullptr) return;
  const std::unique_ptr<hwloc_bitmap_s, Destroy> bound(hwloc_bitmap_alloc());
  // queries this thread: the process has no binding if its threads differ, as OpenGL drivers unbind theirs
  if (hwloc_get_cpubind(topology.get(), bound.get(), HWLOC_CPUBIND_THREAD) != 0) {
    hwloc_bitmap_copy(bound.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
  }
  // containers may hide cores but show processing units: then count those
  const bool has_cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology.get(), type, core)) != nullptr;) {
    if (hwloc_bitmap_intersects(core->cpuset, bound.get()) != 0) {
      view.cores.push_back(static_cast<int>(core->logical_index));
    }
  }
  for (int processor = -1; (processor = hwloc_bitmap_next(bound.get(), processor)) >= 0;) {
    view.processors.push_back(processor);
  }
  view.node_cores = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), type));
  view.node_processors = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU));
  view.sockets = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE));
  view.numa_nodes = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE));
}

}  // namespace

NodeView view_node() {
  NodeView view{.host = host_name(),
                .cores = {},
                .core_limit = processor_limit_of_control_groups(),
                .available_memory = available_memory()};
  read_cores(view);
  if (const auto limit = thread_limit_of_environment()) view.asked_threads = limit->threads;
  return view;
}

int threads_for(std::span<const NodeView> views, std::size_t rank) {
  const NodeView& mine = views[rank];
  if (mine.asked_threads > 0) return mine.asked_threads;
  const auto on_node = [&mine](const NodeView& other) { return other.host == mine.host; };
  const auto sharing = [&](const NodeView& other) { return on_node(other) && other.cores == mine.cores; };
  const auto ranks_sharing = static_cast<int>(std::count_if(views.begin(), views.end(), sharing));
  int threads = static_cast<int>(mine.cores.size()) / ranks_sharing;
  if (mine.core_limit > 0) {
    const auto ranks_on_node = static_cast<int>(std::count_if(views.begin(), views.end(), on_node));
    threads = std::min(threads, mine.core_limit / ranks_on_node);
  }
  return std::max(1, threads);
}

}  // namespace glinpack::app
