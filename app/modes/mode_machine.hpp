// What a standalone mode runs on: a device, where its variants need one, and the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"
#include "solvers/device/device.hpp"

namespace glinpack::app {

struct ModeMachine {
  std::unique_ptr<solvers::Device> device;  // none: the host alone
  std::string host_name;
  std::string processor;
  std::string blas;     // "OpenBLAS 0.3.21"
  std::string kernels;  // "SkylakeX"
  int threads = 1;      // OpenBLAS's, too
  std::vector<std::string> notes;
};

/// Opens --device, or the first hardware device, or else software OpenGL, which a note says; sets OpenBLAS's threads.
/// Of a host's ranks each opens the next device, and begins again at the first after the last.
/// Throws InputError where there is no such device, or none at all.
ModeMachine open_machine(const ModeOptions& options, bool needs_device, int local_rank = 0);

/// Throws InputError where so many bytes are more than this host has available. `what` begins the message ("--n 4096").
/// Device memory counts where the device is software.
void check_host_memory(const std::string& what, double bytes);

}  // namespace glinpack::app
