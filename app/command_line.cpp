#include "app/command_line.hpp"

#include <algorithm>

#include "app/input/input_error.hpp"
#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/modes/modes.hpp"

namespace glinpack::app {

namespace {

std::string mode_lines() {
  constexpr std::size_t name_width = 14;
  std::string lines;
  for (const Mode& mode : standalone_modes()) {
    std::string name = mode.name;
    name.resize(std::max(name_width, name.size() + 1), ' ');
    lines += "  " + name + mode.summary + "\n";
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
         "Subcommands:\n"
         "  plu         Factorise, solve and check dense systems on a grid of processes; report GFLOPS and where\n"
         "              the time went\n"
         "  network     Send the messages of a factorisation alone, time them, and look for slow links\n"
         "  devices     List the EGL devices of this machine\n"
         "  ceilings    Measure what a device and the host can do at most: copies, multiply-adds, gemm\n"
         "  tune        Choose the tile in which a device reduces fastest, for later runs of plu\n"
         "\n"
         "Solvers that run alone, in one process, each with its variants beside the processor's:\n" +
         mode_lines() +
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
