// `glinpack slurm`: writes a batch script.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/slurm/slurm_options.hpp"

namespace glinpack::app {

/// Writes to the file that the options name, or to `out`. Throws InputError for a file that exists or cannot be made,
/// std::runtime_error where writing fails.
void run_slurm_command(const SlurmOptions& options, const std::vector<std::string>& command_line, std::ostream& out);

}  // namespace glinpack::app
