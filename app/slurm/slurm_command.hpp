// `glinpack slurm`: writes a batch script.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/slurm/slurm_options.hpp"

namespace glinpack::app {

/// Writes to the file that the options name, or to `out`. Throws InputError if the file exists or cannot be created,
/// std::runtime_error if writing fails.
void run_slurm_command(const SlurmOptions& options, const std::vector<std::string>& command_line, std::ostream& out);

}  // namespace glinpack::app
