// Default figures for planning without measurements, from the machines whose runs are in results/.
#pragma once

#include <string>
#include <vector>

#include "app/model/machine.hpp"

namespace glinpack::app::model {

/// The figures that `glinpack plan --from` fits to the files named as their sources. gl-compute: an H200 and 16 cores
/// of its host. Other backends and the network have no figures.
MachineModel default_machine(const std::string& backend, Precision precision);

/// The source texts of the figures begin with this name.
inline constexpr const char* default_device = "an H200";

/// The block sizes that the figures were measured with.
std::vector<Index> default_block_sizes(const std::string& backend, Precision precision);

/// The ceilings of the default machine of gl-compute (results/h200/ceilings.txt).
struct DefaultCeilings {
  double fma_single = 63842e9;  // flops a second of the device
  double fma_double = 32700e9;
  double copy = 2172e9;  // bytes a second, read and written
  double download = 52.88e9;
  double dispatch = 3.303e-6;   // seconds
  double gemm_single = 1230e9;  // flops a second of the host
  double gemm_double = 612.8e9;
};

}  // namespace glinpack::app::model
