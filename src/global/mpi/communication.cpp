#include "mpi/communication.hpp"

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <numeric>
#include <thread>
#include <utility>

#include "base/printable.hpp"
#include "mpi/session.hpp"

namespace glinpack {

namespace {

std::function<void()> call_before_abort;

// One to two milliseconds. A column's pivot arrives within that time, and a rank that naps answers the next one late.
// Four ranks on two cores took twice as long with 40 tests, and no less with 1000 or 20000 (N = 4000, 2x2).
constexpr int tests_before_nap = 4000;
constexpr std::chrono::microseconds nap{50};

struct Introduced {
  MPI_Comm communicator;
  Awaited what;
  std::vector<int> world_ranks;
};

// The communicators of the present grid.
std::vector<Introduced>& all_introduced() {
  static std::vector<Introduced> all;
  return all;
}

const Introduced* find(MPI_Comm communicator) {
  for (const Introduced& one : all_introduced()) {
    if (one.communicator == communicator) return &one;
  }
  return nullptr;
}

int world_rank(MPI_Comm communicator, int rank) {
  const Introduced* const introduced = find(communicator);
  return introduced == nullptr ? rank : introduced->world_ranks[static_cast<std::size_t>(rank)];
}

}  // namespace

int element_bytes(MPI_Datatype type) {
  int bytes = 0;
  GLINPACK_MPI(MPI_Type_size(type, &bytes));
  return bytes;
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

Pending Pending::from(MPI_Comm communicator, int rank) { return {Awaited::from, world_rank(communicator, rank)}; }

Pending Pending::to(MPI_Comm communicator, int rank) { return {Awaited::to, world_rank(communicator, rank)}; }

Pending Pending::with_all_of(MPI_Comm communicator) {
  const Introduced* const introduced = find(communicator);
  return {introduced == nullptr ? Awaited::all : introduced->what, -1};
}

void introduce_communicator(MPI_Comm communicator, Awaited what) {
  const int size = size_of(communicator);
  MPI_Group here = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  GLINPACK_MPI(MPI_Comm_group(communicator, &here));
  GLINPACK_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  Introduced introduced{communicator, what, std::vector<int>(ranks.size())};
  GLINPACK_MPI(MPI_Group_translate_ranks(here, size, ranks.data(), world, introduced.world_ranks.data()));
  GLINPACK_MPI(MPI_Group_free(&here));
  GLINPACK_MPI(MPI_Group_free(&world));
  all_introduced().push_back(std::move(introduced));
}

void forget_communicator(MPI_Comm communicator) {
  std::erase_if(all_introduced(), [communicator](const Introduced& one) { return one.communicator == communicator; });
}

void wait_until(const std::function<bool()>& done, const Pending& pending) {
  if (done()) return own_progress().step();
  const PendingNote note(pending);
  for (int tests = 0; !done(); ++tests) {
    if (!ranks_outnumber_cores()) continue;
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

void send_message(MPI_Comm communicator, const void* data, Index count, MPI_Datatype type, int to, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Isend(data, message_count(count), type, to, tag, communicator, &request));
  wait(request, Pending::to(communicator, to));
}

void receive_message(MPI_Comm communicator, void* data, Index count, MPI_Datatype type, int from, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Irecv(data, message_count(count), type, from, tag, communicator, &request));
  wait(request, Pending::from(communicator, from));
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

void sum_over(MPI_Comm communicator, std::span<double> values) {
  all_reduce(communicator, values.data(), message_count(static_cast<Index>(values.size())), MPI_DOUBLE, MPI_SUM);
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
  // one message per rank: the sum may exceed the int displacements of MPI_Gatherv
  constexpr int tag = tags::gather;
  if (rank_in(communicator) != root) {
    send_message(communicator, bytes.data(), static_cast<Index>(bytes.size()), MPI_BYTE, root, tag);
    return {};
  }
  const int size = size_of(communicator);
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
      if (ranks_outnumber_cores()) std::this_thread::sleep_for(nap);
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
  const int rank = rank_in(communicator);
  int first_failed = error.empty() ? INT_MAX : rank;
  all_reduce(communicator, &first_failed, 1, MPI_INT, MPI_MIN);
  if (first_failed == INT_MAX) return;
  std::string message = names_its_rank ? error : host_name() + ", rank " + std::to_string(rank) + ": " + error;
  broadcast_bytes(communicator, message, first_failed);
  throw AgreedError(message);
}

void before_abort(std::function<void()> call) { call_before_abort = std::move(call); }

void abort_job(std::string_view message) {
  const std::string what = without_controls(message, "\n");
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
