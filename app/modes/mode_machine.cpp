#include "app/modes/mode_machine.hpp"

#include "app/machine.hpp"
#include "app/memory.hpp"
#include "app/topology.hpp"
#include "host/host_memory.hpp"
#include "mpi/session.hpp"
#include "openblas/host_solvers.hpp"
#include "openblas/openblas_backend.hpp"

namespace glinpack::app {

namespace {

int device_index(const ModeOptions& options, int local_rank, std::vector<std::string>& notes) {
  const std::vector<gl::DeviceDescription> devices = gl::list_devices();
  if (!options.device && gl::device_for_local_rank(devices, 0, true) < 0) {
    throw InputError(
        "no usable OpenGL device: `glinpack devices` says why; the mode's --help tells what the processor does alone");
  }
  PluOptions plu;
  plu.device = options.device;
  const int index = choose_device(plu, devices, local_rank, true);
  if (!options.device && gl::device_for_local_rank(devices, 0, false) < 0) {
    notes.push_back("no hardware OpenGL device is usable: device " + std::to_string(index) +
                    ", software OpenGL, was taken; `glinpack devices` says what there is");
  }
  return index;
}

}  // namespace

ModeMachine open_machine(const ModeOptions& options, bool needs_device, int local_rank) {
  ModeMachine machine;
  const std::vector<NodeView> views{view_node()};
  machine.threads = options.threads.value_or(threads_for(views, 0));
  if (needs_device) {
    const int index = device_index(options, local_rank, machine.notes);
    try {
      machine.device = std::make_unique<solvers::Device>(index, options.shader_dir);
    } catch (const gl::ShaderFolderError& error) {
      throw InputError("--shader-dir: " + std::string(error.what()));
    }
  }
  set_openblas_threads(machine.threads);
  machine.host_name = host_name();
  machine.processor = processor_name();
  machine.blas = openblas_version();
  machine.kernels = openblas_kernels();
  return machine;
}

void check_host_memory(const std::string& what, double bytes) {
  const auto available = static_cast<double>(available_memory());
  if (available <= 0 || bytes <= available) return;
  throw InputError(what + ": takes " + memory_text(bytes) + " of memory, but this host has " + memory_text(available) +
                   " available; use a smaller size");
}

}  // namespace glinpack::app
