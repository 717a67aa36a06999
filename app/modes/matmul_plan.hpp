// What `glinpack matmul` measures: its sizes, and the variants of each.
#pragma once

#include <string>
#include <vector>

#include "app/input/matrix_file.hpp"
#include "app/modes/matmul_options.hpp"
#include "app/modes/mode_machine.hpp"

namespace glinpack::app {

/// The files' matrices; none without --input.
struct MatmulInputs {
  DenseMatrix a, b;
};
/// Throws InputError: unreadable, extents that do not match, elements beyond the precision.
MatmulInputs read_matmul_inputs(const MatmulOptions& options);

std::vector<solvers::ProductExtents> matmul_sizes(const MatmulOptions& options, const MatmulInputs& inputs);

/// Of a size, in the order in which they are measured; the host, which is measured always, left out. Without --variant:
/// what --tune has kept for the device and the nearest size, else compute. With --tune: all, unless some are named, in
/// all packings and with several pass lengths, unless those are named.
std::vector<solvers::MatmulSettings> matmul_settings(const MatmulOptions& options, const solvers::ProductExtents& e,
                                                     const gl::DeviceDescription& device);

bool matmul_needs_device(const MatmulOptions& options);

/// Throws InputError where the size does not fit the host or the device, naming the limit.
void check_matmul_size(const MatmulOptions& options, const solvers::ProductExtents& e, const ModeMachine& machine);

/// "257", "33x21x18".
std::string size_text(const solvers::ProductExtents& e);
/// "2x2, pass 1"; empty for compute.
std::string settings_text(const solvers::MatmulSettings& settings);

}  // namespace glinpack::app
