// The sizes that `glinpack matmul` measures, and the variants of each.
#pragma once

#include <string>
#include <vector>

#include "app/input/matrix_file.hpp"
#include "app/modes/matmul_options.hpp"
#include "app/modes/mode_machine.hpp"

namespace glinpack::app {

/// The files' matrices; empty without --input.
struct MatmulInputs {
  DenseMatrix a, b;
};
/// Throws InputError if a file is unreadable, extents do not match, or elements exceed the precision.
MatmulInputs read_matmul_inputs(const MatmulOptions& options);

std::vector<solvers::ProductExtents> matmul_sizes(const MatmulOptions& options, const MatmulInputs& inputs);

/// The device variants of a size in the order of measurement; the host is always measured and is not included. Without
/// --variant: the saved result of --tune for the device and the nearest size, else compute. With --tune: the named
/// variants, packings and pass lengths, by default all variants and packings and several pass lengths.
std::vector<solvers::MatmulSettings> matmul_settings(const MatmulOptions& options, const solvers::ProductExtents& e,
                                                     const gl::DeviceDescription& device);

bool matmul_needs_device(const MatmulOptions& options);

/// Throws InputError if the size does not fit the host or the device, and names the limit.
void check_matmul_size(const MatmulOptions& options, const solvers::ProductExtents& e, const ModeMachine& machine);

/// "257", "33x21x18".
std::string size_text(const solvers::ProductExtents& e);
/// "2x2, pass 1"; empty for compute.
std::string settings_text(const solvers::MatmulSettings& settings);

}  // namespace glinpack::app
