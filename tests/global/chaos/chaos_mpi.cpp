#include "tests/global/chaos/chaos_mpi.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <vector>

namespace {

bool disturbs = false;
std::mt19937_64 random_numbers;
long calls = 0;  // of functions that make progress: the clock of all delays
std::string leaks;

long below(long limit) { return static_cast<long>(random_numbers() % static_cast<std::uint64_t>(limit)); }
long later() { return calls + (!disturbs ? 0 : below(8) > 0 ? below(4) : below(60)); }

// What the caller has not completed.
struct Held {
  std::string name;  // direction, peer and tag of a message
  MPI_Comm communicator = MPI_COMM_NULL;
  std::function<void(MPI_Datatype, MPI_Request*)> start = {};
  MPI_Datatype type = MPI_DATATYPE_NULL;  // a copy: the caller may free its own
  bool started = false, reported = false;
  long start_at = later(), complete_at = later();
  MPI_Request real = MPI_REQUEST_NULL;
};
std::map<MPI_Request, Held> all_held;  // by the caller's requests, which are numbers in the order of the calls
std::map<std::pair<MPI_Comm, int>, std::array<int, 2>> messages;  // with a rank: sent, received

// Messages with the same envelope keep their order.
void make_progress() {
  ++calls;
  std::vector<std::pair<std::string, MPI_Comm>> waiting;
  for (auto& [request, held] : all_held) {
    if (held.started) continue;
    const std::pair envelope(held.name, held.communicator);
    if (held.start_at > calls || std::ranges::count(waiting, envelope) > 0) {
      waiting.push_back(envelope);
      continue;
    }
    held.start(held.type, &held.real);
    held.started = true;
    PMPI_Type_free(&held.type);
  }
}

bool is_complete(MPI_Request request) {
  int done = 1;
  if (request == MPI_REQUEST_NULL) return true;
  Held& held = all_held.at(request);
  if (!held.started || held.complete_at > calls) return false;
  PMPI_Test(&held.real, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

void finish(MPI_Request& request) { all_held.erase(std::exchange(request, MPI_REQUEST_NULL)); }

int hold(const Held& held, MPI_Request* request) {
  static long last_number = 0;
  *request = (MPI_Request)(++last_number);
  all_held.emplace(*request, held);
  if (!disturbs) make_progress();
  return MPI_SUCCESS;
}

int hold_message(const char* name, int peer, int tag, MPI_Comm all, MPI_Datatype type, MPI_Request* request,
                 auto start) {
  if (peer >= 0) ++messages[{all, peer}][*name == 'r' ? 1 : 0];  // else MPI_PROC_NULL
  Held held{name + std::to_string(peer) + ", tag " + std::to_string(tag), all, start};
  PMPI_Type_dup(type, &held.type);
  return hold(held, request);
}

// All ranks start collective operations in the same order: at once.
int hold_collective(const char* name, MPI_Request real, MPI_Request* request) {
  return hold({.name = name, .started = true, .real = real}, request);
}

// Collective: receives that match no message, and messages that match no receive.
void compare_messages(MPI_Comm communicator) {
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  std::vector<std::array<int, 2>> mine, theirs(static_cast<std::size_t>(size));
  for (int peer = 0; peer < size; ++peer) mine.push_back(std::exchange(messages[{communicator, peer}], {}));
  PMPI_Alltoall(mine.data(), 2, MPI_INT, theirs.data(), 2, MPI_INT, communicator);
  for (std::size_t peer = 0; peer < mine.size(); ++peer) {
    if (theirs[peer][0] == mine[peer][1]) continue;
    leaks += "of " + std::to_string(theirs[peer][0]) + " messages from rank " + std::to_string(peer) +
             " of a communicator, " + std::to_string(mine[peer][1]) + " were received\n";
  }
}

}  // namespace

// The functions that src/global calls. They complete requests by MPI_Testall and MPI_Testsome alone, without statuses.
extern "C" {

int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm all, MPI_Request* request) {
  return hold_message("send to rank ", to, tag, all, type, request,
                      [=](MPI_Datatype copy, MPI_Request* real) { PMPI_Isend(data, n, copy, to, tag, all, real); });
}
int MPI_Irecv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm all, MPI_Request* request) {
  return hold_message("receive from rank ", from, tag, all, type, request,
                      [=](MPI_Datatype copy, MPI_Request* real) { PMPI_Irecv(data, n, copy, from, tag, all, real); });
}
int MPI_Recv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm all, MPI_Status* status) {
  ++messages[{all, from}][1];
  return PMPI_Recv(data, n, type, from, tag, all, status);
}

using Type = MPI_Datatype;
#define GLINPACK_COLLECTIVE(function, parameters, ...)                                 \
  int function parameters {                                                            \
    const int code = P##function(__VA_ARGS__, request);                                \
    return code != MPI_SUCCESS ? code : hold_collective(#function, *request, request); \
  }
GLINPACK_COLLECTIVE(MPI_Ibarrier, (MPI_Comm all, MPI_Request* request), all)
GLINPACK_COLLECTIVE(MPI_Ibcast, (void* a, int n, Type type, int root, MPI_Comm all, MPI_Request* request), a, n, type,
                    root, all)
GLINPACK_COLLECTIVE(MPI_Iallreduce,
                    (const void* a, void* b, int n, Type type, MPI_Op op, MPI_Comm all, MPI_Request* request), a, b, n,
                    type, op, all)
GLINPACK_COLLECTIVE(MPI_Ireduce,
                    (const void* a, void* b, int n, Type type, MPI_Op op, int root, MPI_Comm all, MPI_Request* request),
                    a, b, n, type, op, root, all)
GLINPACK_COLLECTIVE(MPI_Iallgather,
                    (const void* a, int n_a, Type type_a, void* b, int n_b, Type type_b, MPI_Comm all,
                     MPI_Request* request),
                    a, n_a, type_a, b, n_b, type_b, all)

int MPI_Iprobe(int from, int tag, MPI_Comm all, int* arrived, MPI_Status* status) {
  make_progress();
  const int code = PMPI_Iprobe(from, tag, all, arrived, status);
  if (disturbs && below(3) == 0) *arrived = 0;
  return code;
}

int MPI_Testall(int count, MPI_Request all[], int* done, MPI_Status*) {
  make_progress();
  *done = std::all_of(all, all + count, is_complete) ? 1 : 0;
  if (*done != 0) std::for_each(all, all + count, finish);
  return MPI_SUCCESS;
}

int MPI_Testsome(int count, MPI_Request all[], int* ended, int indices[], MPI_Status*) {
  make_progress();
  std::iota(indices, indices + count, 0);
  int* end = std::remove_if(indices, indices + count, [all](int index) { return all[index] == MPI_REQUEST_NULL; });
  const bool none = end == indices;
  if (disturbs) std::shuffle(indices, end, random_numbers);
  end = std::remove_if(indices, end, [all](int i) { return (disturbs && below(4) == 0) || !is_complete(all[i]); });
  std::for_each(indices, end, [all](int index) { finish(all[index]); });
  *ended = none ? MPI_UNDEFINED : static_cast<int>(end - indices);
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm* communicator) {
  compare_messages(*communicator);
  return PMPI_Comm_free(communicator);
}

int MPI_Finalize() {
  compare_messages(MPI_COMM_WORLD);
  const std::string found = glinpack::test::take_mpi_leaks();
  std::cerr << found;
  const int code = PMPI_Finalize();
  if (!found.empty()) _exit(1);
  return code;
}

}  // extern "C"

namespace glinpack::test {

Chaos::Chaos(std::uint64_t seed) { disturbs = true, random_numbers.seed(seed); }
Chaos::~Chaos() { disturbs = false; }

std::string take_mpi_leaks() {
  for (auto& [request, held] : all_held) {
    if (!std::exchange(held.reported, true)) leaks += "not completed: " + held.name + "\n";
  }
  return std::exchange(leaks, {});
}

}  // namespace glinpack::test
