#include "app/command_line.hpp"

#include <algorithm>

#include "app/input/input_error.hpp"
#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/modes/modes.hpp"
#include "app/subcommands.hpp"

namespace glinpack::app {

namespace {

// a line for each of a list of subcommands
std::string lines_of(const auto& commands) {
  constexpr std::size_t name_width = 14;
  std::string lines;
  for (const auto& command : commands) {
    std::string name = command.name;
    name.resize(std::max(name_width, name.size() + 1), ' ');
    lines += "  " + name + command.summary + "\n";
  }
  return lines;
}

}  // namespace

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const std::string& argument) { return argument == "-h" || argument == "--help"; });
}

std::string program_help() {
  return "glinpack: an HPL-class LU benchmark for clusters of GPUs that speak OpenGL\n"
         "Usage: [mpirun -np P*Q] glinpack SUBCOMMAND [OPTIONS]\n"
         "\n"
         "Subcommands:\n" +
         lines_of(subcommands()) +
         "\n"
         "Solvers that run alone, in one process, each with its variants beside the processor's:\n" +
         lines_of(standalone_modes()) +
         "\n"
         "Options:\n"
         "  -h,--help   Print this help message and exit; after a subcommand: that one's\n"
         "  --version   Print version and commit\n"
         "\n"
         "Examples:\n"
         "  mpirun -np 4 glinpack plu --config configs/quickstart.toml\n"
         "  mpirun -np 4 glinpack plu --hpl-dat HPL.dat --backend openblas\n"
         "  mpirun -np 4 glinpack network --n 2048 --nb 256 --grid 2x2\n"
         "  glinpack devices\n"
         "  glinpack ceilings\n"
         "  glinpack matmul --variant multi-pass --packing 2x2 --n 64,100,257\n"
         "  mpirun -np 4 glinpack poisson --n 256\n";
}

std::string devices_help() {
  return "Lists the EGL devices of this machine: index (what --device counts), vendor, renderer, driver, limits and\n"
         "memory in bytes with units, CUDA ordinal, software or not, and why an unusable one is.\n"
         "Usage: glinpack devices [OPTIONS]\n"
         "\n"
         "Options:\n"
         "  -h,--help   Print this help message and exit\n"
         "  --json      As JSON; sizes in bytes\n"
         "\n"
         "Examples:\n"
         "  glinpack devices\n"
         "  EGL_VISIBLE_DEVICES=0 glinpack devices --json\n"
         "\n"
         "Exit code: 0, 1 where no device is usable, 2 for arguments that do not exist.\n";
}

DevicesOptions parse_devices_options(const std::vector<std::string>& arguments) {
  DevicesOptions options;
  const std::vector<std::string> names{"--json", "--help"};
  for (const std::string& argument : arguments) {
    if (argument != "--json") {
      throw InputError("unknown option " + in_quotes(argument) + did_you_mean(argument, names) +
                       "; see glinpack devices --help");
    }
    options.json = true;
  }
  return options;
}

}  // namespace glinpack::app
