#include "mpi/session.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/threads.hpp"
#include "mpi/communication.hpp"

namespace glinpack {

namespace {

// Ranks on this node outnumber the cores that they may use; the first of them. Set once by MpiSession.
bool oversubscribed = false;
int first_of_node = 0;

int environment_number(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? -1 : std::atoi(value);
}

// Environment variables of the launchers: Hydra (MPICH), Open MPI, PMIx, MVAPICH, and Slurm's srun.
int first_number(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const int number = environment_number(name); number >= 0) return number;
  }
  return -1;
}

// Whether MPI_Finalize may hang between nodes. In MPICH before 4.2, a rank that has closed its connections blocks in a
// read from the launcher. It then answers no rank that is still closing connections (MPICH pull request 6596).
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200300
constexpr bool finalize_may_hang = true;
#else
constexpr bool finalize_may_hang = false;
#endif

// Sends Hydra the message of MPI_Finalize in its protocol PMI-1, while MPI keeps serving other ranks. Hydra treats a
// process that exits without this message as failed. Collective over all ranks that MPI started. False if Hydra does
// not answer, or for another launcher.
class HydraFinalize {
 public:
  bool run() {
    // srun has a PMI_FD, too, but speaks PMI-2, and sets no MPI_LOCALNRANKS
    if (launcher_ < 0 || environment_number("MPI_LOCALNRANKS") < 0) return false;
    return ask("cmd=barrier_in\n", "barrier_out") && ask("cmd=finalize\n", "finalize_ack");
  }

 private:
  bool ask(std::string_view question, std::string_view answer) const {
    // a launcher that has exited must not end this process by SIGPIPE
    if (send(launcher_, question.data(), question.size(), MSG_NOSIGNAL) < 0) return false;
    std::string answers;
    while (answers.find(answer) == std::string::npos) {
      int unused = 0;
      if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &unused, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
      pollfd readable{.fd = launcher_, .events = POLLIN, .revents = 0};
      if (poll(&readable, 1, 1) <= 0) continue;
      char piece[256];
      const ssize_t length = read(launcher_, piece, sizeof piece);
      if (length <= 0) return false;
      answers.append(piece, static_cast<std::size_t>(length));
    }
    return true;
  }

  int launcher_ = environment_number("PMI_FD");
};

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid  // until glibc 2.38
#endif

volatile std::sig_atomic_t exit_code_of_timeout = 0;

// Ranks run out of time one after the other. The first exit would let MPI_Finalize continue on another rank, into a
// barrier with the rank that has exited. Hydra reports that as a failed job. So all ranks stop, then all exit.
void stop_then_exit(int) {
  const timespec second{.tv_sec = 1, .tv_nsec = 0};
  nanosleep(&second, nullptr);
  _exit(exit_code_of_timeout);
}

// Ends the process after `seconds`, by a signal to this thread: memory for another thread may be lacking.
void exit_after(double seconds, int exit_code) {
  exit_code_of_timeout = exit_code;
  std::signal(SIGUSR2, stop_then_exit);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR2;
  event.sigev_notify_thread_id = gettid();
  timer_t timer{};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return;
  itimerspec time{};
  time.it_value.tv_sec = static_cast<time_t>(seconds);
  time.it_value.tv_nsec = std::max(1L, static_cast<long>(1e9 * (seconds - std::floor(seconds))));
  timer_settime(timer, 0, &time, nullptr);
}

// The number of cores that this node's ranks may use. With binding, each rank sees only its own.
int cores_of_node(MPI_Comm node) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return INT_MAX;
  GLINPACK_MPI(MPI_Allreduce(MPI_IN_PLACE, &mine, sizeof mine, MPI_BYTE, MPI_BOR, node));
  return CPU_COUNT(&mine);
}

// Message layout.
struct NodeName {
  int first_rank = 0;  // first_rank_of_node()
  char host[HOST_NAME_MAX + 1] = {};
  friend bool operator==(const NodeName& a, const NodeName& b) {
    return a.first_rank == b.first_rank && std::strcmp(a.host, b.host) == 0;
  }
};

}  // namespace

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown host";
}

int launcher_rank() {
  return std::max(
      0, first_number({"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"}));
}

int launched_processes() {
  return std::max(0, first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}));
}

std::string launcher_name() {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  if (is_set("OMPI_COMM_WORLD_SIZE")) return "Open MPI";
  if (is_set("MV2_COMM_WORLD_SIZE")) return "MVAPICH";
  // srun also sets PMI_RANK with its MPICH plugin
  if (is_set("MPI_LOCALNRANKS") && is_set("PMI_RANK")) return "Hydra";
  if (is_set("SLURM_PROCID") && is_set("SLURM_STEP_NUM_TASKS")) return "Slurm";
  if (is_set("PMI_RANK")) return "Hydra";
  return is_set("PMIX_RANK") ? "PMIx" : "";
}

namespace {

// MPI aborts if it cannot start its threads, and drivers hang. Before MPI starts, each rank ends alone and prints.
void end_unless_threads_start() {
  constexpr int of_mpi_watchdog_and_drivers = 4;
  try {
    check_that_threads_start(of_mpi_watchdog_and_drivers);
  } catch (const std::exception& error) {
    const std::string place = host_name() + ", rank " + std::to_string(launcher_rank());
    std::fputs(("glinpack: " + place + ": " + error.what() + "\n").c_str(), stderr);
    std::_Exit(3);
  }
}

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv, ForeignLauncher foreign) {
  end_unless_threads_start();
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    throw LauncherError("MPI_Init failed: start with the launcher of the MPI that glinpack was built with (" +
                        library_version() + ")");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  GLINPACK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
  GLINPACK_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size_));
  const int launched = launched_processes();
  if (size_ == 1 && launched > 1 && foreign == ForeignLauncher::refused) {
    finish(2);
    throw LauncherError("the launcher started " + std::to_string(launched) +
                        " processes, but each of them sees a world of its own: it belongs to another MPI than "
                        "glinpack was built with (" +
                        library_version() + "); use that one's launcher, e.g. mpirun.mpich or srun --mpi=pmi2");
  }
  MPI_Comm node = MPI_COMM_NULL;
  GLINPACK_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node));
  GLINPACK_MPI(MPI_Comm_rank(node, &local_rank_));
  GLINPACK_MPI(MPI_Comm_size(node, &local_size_));
  first_of_node = rank_;
  GLINPACK_MPI(MPI_Bcast(&first_of_node, 1, MPI_INT, 0, node));
  // "nodes" may be namespaces of one machine that share its cores; their creator declares that in the environment
  oversubscribed = local_size_ > cores_of_node(node) || std::getenv("GLINPACK_OVERSUBSCRIBED") != nullptr;
  GLINPACK_MPI(MPI_Comm_free(&node));
  // UCX handles fatal signals, and its handler may wait forever for a lock that the process held. A crash must end the
  // process at once, so that the launcher detects it.
  for (const int deadly : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(deadly, SIG_DFL);
  prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds; the default of 50 us would double every nap
}

MpiSession::~MpiSession() { finish(1); }

std::string MpiSession::library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text, static_cast<std::size_t>(std::max(0, length)));
  std::string first = all.substr(0, all.find('\n'));
  for (char& c : first) {
    if (c == '\t') c = ' ';
  }
  while (!first.empty() && (first.back() == ' ' || first.back() == '\0' || first.back() == '\r')) first.pop_back();
  return first;
}

std::string MpiSession::headers_version() {
#if defined(OMPI_MAJOR_VERSION)
  return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + "." + std::to_string(OMPI_MINOR_VERSION) + "." +
         std::to_string(OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
  return std::string("MPICH ") + MPICH_VERSION;
#else
  return "MPI " + std::to_string(MPI_VERSION) + "." + std::to_string(MPI_SUBVERSION);
#endif
}

int MpiSession::finish(int exit_code, double seconds) {
  if (finished_) return exit_code;
  finished_ = true;
  std::fflush(nullptr);
  exit_after(seconds, exit_code);
  if (finalize_may_hang && local_size_ < size_ && HydraFinalize().run()) _exit(exit_code);
  MPI_Finalize();
  return exit_code;
}

bool ranks_outnumber_cores() { return oversubscribed; }

int first_rank_of_node() { return first_of_node; }

std::vector<int> nodes_of(MPI_Comm communicator) {
  NodeName mine;
  mine.first_rank = first_rank_of_node();
  const std::string host = host_name();
  std::copy_n(host.begin(), std::min(host.size(), sizeof mine.host - 1), mine.host);
  const std::vector<NodeName> names = all_gathered(MpiCommunicator(communicator), mine);
  std::vector<int> nodes;
  for (const NodeName& name : names) {
    nodes.push_back(static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin()));
  }
  return nodes;
}

}  // namespace glinpack
