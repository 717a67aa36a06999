#include "global/communication.hpp"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "global/tags.hpp"

namespace glinpack {

namespace {

// Ranks on this node outnumber the cores that they may use; the first of them. Set once by MpiSession.
bool oversubscribed = false;
int first_of_node = 0;

std::function<void()> call_before_abort;

// One to two milliseconds: a column's pivot arrives within that, and a rank that naps answers the next one late. Four
// ranks on two cores took twice as long with 40 tests, and no less with 1000 or 20000 (N = 4000, 2x2).
constexpr int tests_before_nap = 4000;
constexpr std::chrono::microseconds nap{50};

int environment_number(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? -1 : std::atoi(value);
}

// What the launchers tell their processes: of Hydra (MPICH), Open MPI, PMIx, MVAPICH, and Slurm's srun.
int first_number(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const int number = environment_number(name); number >= 0) return number;
  }
  return -1;
}

// Whether MPI_Finalize may hang between nodes. In MPICH before 4.2 a rank that has closed its connections waits for
// the launcher in a blocking read, where it answers no other rank that still closes its own (MPICH pull request 6596).
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200300
constexpr bool finalize_may_hang = true;
#else
constexpr bool finalize_may_hang = false;
#endif

// What MPI_Finalize says to Hydra, in Hydra's protocol PMI-1, while MPI goes on with what others still ask of this
// rank. Hydra takes a process that leaves without it for a failed one. Collective over all ranks that MPI started;
// false where Hydra does not answer, or where the launcher is another one.
class HydraFarewell {
 public:
  bool run() {
    // srun has a PMI_FD, too, but speaks PMI-2, and sets no MPI_LOCALNRANKS
    if (launcher_ < 0 || environment_number("MPI_LOCALNRANKS") < 0) return false;
    return ask("cmd=barrier_in\n", "barrier_out") && ask("cmd=finalize\n", "finalize_ack");
  }

 private:
  bool ask(std::string_view question, std::string_view answer) const {
    // a launcher that has gone must not end this process by a signal
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

// A signal handler that never returns.
void stop_here(int) {
  while (true) pause();
}

// The cores that this node's ranks may use together: with binding, each rank sees only its own.
int cores_of_node(MPI_Comm node) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return INT_MAX;
  GLINPACK_MPI(MPI_Allreduce(MPI_IN_PLACE, &mine, sizeof mine, MPI_BYTE, MPI_BOR, node));
  return CPU_COUNT(&mine);
}

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
  // srun sets PMI_RANK, too, where it speaks for MPICH
  if (is_set("MPI_LOCALNRANKS") && is_set("PMI_RANK")) return "Hydra";
  if (is_set("SLURM_PROCID") && is_set("SLURM_STEP_NUM_TASKS")) return "Slurm";
  if (is_set("PMI_RANK")) return "Hydra";
  return is_set("PMIX_RANK") ? "PMIx" : "";
}

MpiSession::MpiSession(int& argc, char**& argv, ForeignLauncher foreign) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    throw std::runtime_error("MPI_Init failed: start with the launcher of the MPI that glinpack was built with (" +
                             library_version() + ")");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  GLINPACK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
  GLINPACK_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size_));
  const int launched = launched_processes();
  if (size_ == 1 && launched > 1 && foreign == ForeignLauncher::refused) {
    finish(2);
    throw std::runtime_error("the launcher started " + std::to_string(launched) +
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
  // "nodes" that are namespaces of one machine compute on the same cores, and whoever made them says so
  oversubscribed = local_size_ > cores_of_node(node) || std::getenv("GLINPACK_OVERSUBSCRIBED") != nullptr;
  GLINPACK_MPI(MPI_Comm_free(&node));
  // UCX catches what kills a process, and its handler may wait for ever for a lock that the process held: a crash must
  // end the process at once, so that the launcher notices
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
  std::signal(SIGUSR2, stop_here);
  std::thread([exit_code, seconds, finishing = pthread_self()] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    // Ranks run out of time one after the other. The first to leave would set free MPI_Finalize on the next, which went
    // on to a barrier with a rank that has left, and Hydra calls that a failed job: so all stop first, then all leave.
    pthread_kill(finishing, SIGUSR2);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    _exit(exit_code);
  }).detach();
  if (finalize_may_hang && local_size_ < size_ && HydraFarewell().run()) _exit(exit_code);
  MPI_Finalize();
  return exit_code;
}

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  GLINPACK_MPI(MPI_Comm_rank(communicator, &rank));
  return rank;
}

int size_of(MPI_Comm communicator) {
  int size = 1;
  GLINPACK_MPI(MPI_Comm_size(communicator, &size));
  return size;
}

bool ranks_outnumber_cores() { return oversubscribed; }

int first_rank_of_node() { return first_of_node; }

void wait_until(const std::function<bool()>& done, const Pending& pending) {
  if (done()) return own_progress().step();
  const PendingNote note(pending);
  for (int tests = 0; !done(); ++tests) {
    if (!oversubscribed) continue;
    if (tests < tests_before_nap) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(nap);
    }
  }
}

void wait(std::span<MPI_Request> requests, const Pending& pending) {
  if (requests.empty()) return;
  const auto test = [requests] {
    int done = 0;
    GLINPACK_MPI(
        MPI_Testall(message_count(static_cast<Index>(requests.size())), requests.data(), &done, MPI_STATUSES_IGNORE));
    return done != 0;
  };
  wait_until(test, pending);
}

void wait(MPI_Request& request, const Pending& pending) { wait(std::span<MPI_Request>(&request, 1), pending); }

void make_progress(MPI_Comm communicator) {
  int unused = 0;
  GLINPACK_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &unused, MPI_STATUS_IGNORE));
}

void barrier(MPI_Comm communicator) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Ibarrier(communicator, &request));
  wait(request, Pending::with_all_of(communicator));
}

void all_reduce(MPI_Comm communicator, void* in_place, int count, MPI_Datatype type, MPI_Op operation) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Iallreduce(MPI_IN_PLACE, in_place, count, type, operation, communicator, &request));
  wait(request, Pending::with_all_of(communicator));
}

void broadcast_bytes(MPI_Comm communicator, std::string& bytes, int root) {
  unsigned long long size = bytes.size();
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Ibcast(&size, 1, MPI_UNSIGNED_LONG_LONG, root, communicator, &request));
  wait(request, Pending::with_all_of(communicator));
  bytes.resize(size);
  GLINPACK_MPI(MPI_Ibcast(bytes.data(), message_count(static_cast<Index>(bytes.size())), MPI_BYTE, root, communicator,
                          &request));
  wait(request, Pending::with_all_of(communicator));
}

void all_gather(MPI_Comm communicator, const void* mine, void* all, int bytes_each) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Iallgather(mine, bytes_each, MPI_BYTE, all, bytes_each, MPI_BYTE, communicator, &request));
  wait(request, Pending::with_all_of(communicator));
}

std::vector<std::string> gather_bytes(MPI_Comm communicator, const std::string& bytes, int root) {
  int rank = 0;
  int size = 1;
  GLINPACK_MPI(MPI_Comm_rank(communicator, &rank));
  GLINPACK_MPI(MPI_Comm_size(communicator, &size));
  // one message a rank: together they may be more than a gather's int displacements can address
  constexpr int tag = tags::gather;
  if (rank != root) {
    MPI_Request request = MPI_REQUEST_NULL;
    GLINPACK_MPI(MPI_Isend(bytes.data(), message_count(static_cast<Index>(bytes.size())), MPI_BYTE, root, tag,
                           communicator, &request));
    wait(request, Pending::to(communicator, root));
    return {};
  }
  std::vector<std::string> all(static_cast<std::size_t>(size));
  for (int from = 0; from < size; ++from) {
    std::string& into = all[static_cast<std::size_t>(from)];
    if (from == root) {
      into = bytes;
      continue;
    }
    MPI_Status status;
    int arrived = 0;
    const PendingNote note(Pending::from(communicator, from));
    while (true) {
      GLINPACK_MPI(MPI_Iprobe(from, tag, communicator, &arrived, &status));
      if (arrived != 0) break;
      if (oversubscribed) std::this_thread::sleep_for(nap);
    }
    int count = 0;
    GLINPACK_MPI(MPI_Get_count(&status, MPI_BYTE, &count));
    into.resize(static_cast<std::size_t>(count));
    GLINPACK_MPI(MPI_Recv(into.data(), count, MPI_BYTE, from, tag, communicator, MPI_STATUS_IGNORE));
  }
  return all;
}

bool all_agree(MPI_Comm communicator, bool fine) {
  int agreed = fine ? 1 : 0;
  all_reduce(communicator, &agreed, 1, MPI_INT, MPI_MIN);
  return agreed == 1;
}

void agree_or_throw(MPI_Comm communicator, const std::string& error, bool names_its_rank) {
  int rank = 0;
  GLINPACK_MPI(MPI_Comm_rank(communicator, &rank));
  int first_failed = error.empty() ? INT_MAX : rank;
  all_reduce(communicator, &first_failed, 1, MPI_INT, MPI_MIN);
  if (first_failed == INT_MAX) return;
  std::string message = names_its_rank ? error : host_name() + ", rank " + std::to_string(rank) + ": " + error;
  broadcast_bytes(communicator, message, first_failed);
  throw AgreedError(message);
}

void before_abort(std::function<void()> call) { call_before_abort = std::move(call); }

void abort_job(std::string_view what) {
  if (call_before_abort) std::exchange(call_before_abort, {})();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "glinpack: %s, rank %d: %.*s\n", host_name().c_str(), rank, static_cast<int>(what.size()),
               what.data());
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, 3);
  _exit(3);
}

int message_count(Index elements) {
  if (elements > INT_MAX) {
    throw std::runtime_error("a message of " + std::to_string(elements) +
                             " elements: MPI counts to 2^31-1; a smaller block size or more processes are needed");
  }
  return static_cast<int>(elements);
}

void check_mpi(int code, const char* expression) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(expression) + ": " + text);
}

}  // namespace glinpack
