#include "app/slurm/slurm_command.hpp"

#include <filesystem>
#include <ostream>
#include <stdexcept>

#include "app/program/outputs.hpp"
#include "app/slurm/slurm_script.hpp"

namespace glinpack::app {

void run_slurm_command(const SlurmOptions& options, const std::vector<std::string>& command_line, std::ostream& out) {
  const std::string program =
      options.program.empty() ? std::filesystem::read_symlink("/proc/self/exe").string() : options.program;
  const std::string script = slurm_script(options, command_line, program);
  if (options.output.empty()) {
    if (!(out << script << std::flush)) throw std::runtime_error("the script cannot be written to standard output");
    return;
  }
  check_output("--output", options.output, options.force);
  write_file(options.output, options.force, [&](std::ostream& file) { file << script; });
}

}  // namespace glinpack::app
