// Products with a matrix whose elements the device generates.
#pragma once

#include <functional>
#include <memory>

#include "base/matrix_product.hpp"
#include "base/precision.hpp"
#include "device/compute_device.hpp"
#include "device/shader_source.hpp"

namespace glinpack::compute {

/// Runs the commands, of `flops` operations, and returns when they are done.
using RunCommands = std::function<void(double flops, const std::function<void()>& commands)>;

/// Products in double precision by a compute shader, which generates the elements. Compiles the shaders and allocates;
/// rounds elements to single precision if `precision` is single. Throws std::runtime_error.
std::unique_ptr<MatrixProduct> make_matrix_sums(const std::shared_ptr<ComputeDevice>& device,
                                                const ShaderSource& sources, const MatrixElements& elements,
                                                Precision precision, RunCommands run_commands);

}  // namespace glinpack::compute
