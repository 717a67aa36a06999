#include "app/program/node_load.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "base/measuring.hpp"
#include "mpi/communication.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

namespace {

// Seconds that all processors of the node have computed, for any program; 0 if the kernel does not report it.
double busy_seconds_of_node() {
  std::ifstream file("/proc/stat");
  std::string name;
  std::array<double, 8> ticks{};  // user, nice, system, idle, waiting for files, interrupts (2), taken by other guests
  file >> name;
  for (double& each : ticks) file >> each;
  if (!file || name != "cpu") return 0;
  const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double busy_seconds_of_process() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct OwnSeconds {
  int node;
  double seconds;
};

}  // namespace

NodeLoad::NodeLoad()
    : begun_(steady_seconds()), node_seconds_(busy_seconds_of_node()), own_seconds_(busy_seconds_of_process()) {}

double NodeLoad::of_others() const {
  world().barrier();  // ranks that are still measuring are no other programs
  const double elapsed = steady_seconds() - begun_;
  const double node = busy_seconds_of_node() - node_seconds_;
  const OwnSeconds mine{first_rank_of_node(), busy_seconds_of_process() - own_seconds_};
  double others = node;
  for (const OwnSeconds& rank : all_gathered(world(), mine)) others -= rank.node == mine.node ? rank.seconds : 0;
  return elapsed > 0 ? std::max(0.0, others / elapsed) : 0;
}

int node_processors() { return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

bool is_loaded(double processors_of_others, int processors) {
  constexpr double tolerated = 0.05;
  return processors_of_others > tolerated * processors;
}

}  // namespace glinpack::app
