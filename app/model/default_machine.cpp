#include "app/model/default_machine.hpp"

#include "app/input/values.hpp"
#include "backend/registry.hpp"

namespace glinpack::app::model {

namespace {

// The figures are for the backend that "auto" selects on devices.
bool is_measured(const std::string& backend) {
  return find_backend(backend) == &automatic_backend(MemorySpace::device);
}

// tests/system/planning.py repeats the fit.
MachineModel h200_single() {
  const std::string runs = std::string(default_device) + ": results/h200/single-*.json, partial-32768.json, h200-x4/gpus-[24]-*.json";
  MachineModel machine;
  machine.figures[Work::panel_host] = {{.per_flop = 2.2228e-12, .per_byte = 0, .per_step = 0}, runs};
  machine.figures[Work::panel_device] = {{.per_flop = 1.3057e-13, .per_byte = 0, .per_step = 3.1951e-6}, runs};
  machine.figures[Work::normalize] = {{.per_flop = 4.8530e-14, .per_byte = 0, .per_step = 1.6908e-4}, runs};
  machine.figures[Work::swap] = {{.per_flop = 0, .per_byte = 2.7696e-12, .per_step = 0}, runs};
  machine.figures[Work::reduce] = {{.per_flop = 2.0929e-14, .per_byte = 0, .per_step = 1.9296e-5}, runs};
  machine.figures[Work::transfer] = {{.per_flop = 0, .per_byte = 2.7526e-11, .per_step = 0}, runs};
  machine.figures[Work::substitution] = {{.per_flop = 0, .per_byte = 0, .per_step = 1.5044e-4}, runs};
  machine.figures[Work::memory] = {{.per_flop = 0, .per_byte = 3.3532e-11, .per_step = 0}, runs};
  return machine;
}

// The host's panels were not measured in this precision: they are single's, scaled by the host's gemm. Costs per byte
// are unchanged.
MachineModel h200_double() {
  const std::string runs = std::string(default_device) + ": results/h200/double-32768.json, double-32768-nb768.json";
  const DefaultCeilings ceilings;
  MachineModel machine = h200_single();
  Figure& host = machine.figures[Work::panel_host];
  host.cost.per_flop *= ceilings.gemm_single / ceilings.gemm_double;
  host.source += ", single precision; scaled by gemm in results/h200/ceilings.txt";
  for (const Work work : {Work::transfer, Work::memory}) machine.figures[work].source += ", single precision";
  machine.figures[Work::panel_device] = {{.per_flop = 7.7306e-14, .per_byte = 4.6545e-11, .per_step = 0}, runs};
  machine.figures[Work::normalize] = {{.per_flop = 4.1520e-14, .per_byte = 3.0391e-12, .per_step = 0}, runs};
  machine.figures[Work::swap] = {{.per_flop = 0, .per_byte = 2.1789e-12, .per_step = 0}, runs};
  machine.figures[Work::reduce] = {{.per_flop = 4.2623e-14, .per_byte = 3.1574e-13, .per_step = 0}, runs};
  machine.figures[Work::substitution] = {{.per_flop = 1.2258e-11, .per_byte = 0, .per_step = 0}, runs};
  return machine;
}

}  // namespace

MachineModel default_machine(const std::string& backend, Precision precision) {
  if (!is_measured(backend)) return {};
  return precision == Precision::double_ ? h200_double() : h200_single();
}

std::vector<Index> default_block_sizes(const std::string& backend, Precision precision) {
  if (!is_measured(backend)) return {backend_record(backend).block_size(precision, largest_n)};
  return precision == Precision::double_ ? std::vector<Index>{512, 768} : std::vector<Index>{512};
}

}  // namespace glinpack::app::model
