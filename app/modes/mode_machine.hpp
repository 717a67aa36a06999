// The machine of a standalone mode: the host and, if its variants need one, a device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"
#include "solvers/device/device.hpp"

namespace glinpack::app {

struct ModeMachine {
  std::unique_ptr<solvers::Device> device;  // null: only the host
  std::string host_name;
  std::string processor;
  std::string blas;     // "OpenBLAS 0.3.21"
  std::string kernels;  // "SkylakeX"
  int threads = 1;      // also of OpenBLAS
  std::vector<std::string> notes;
};

/// Opens --device, else the first hardware device, else software OpenGL with a note. Sets OpenBLAS's threads. The ranks
/// of a host open successive devices, cyclically. Throws InputError if there is no such device, or no device.
ModeMachine open_machine(const ModeOptions& options, bool needs_device, int local_rank = 0);

/// Throws InputError if `bytes` exceeds the available memory of this host. `what` begins the message ("--n 4096"). The
/// caller includes device memory for software devices.
void check_host_memory(const std::string& what, double bytes);

}  // namespace glinpack::app
