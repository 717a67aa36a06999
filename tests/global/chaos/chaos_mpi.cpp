#include "tests/global/chaos/chaos_mpi.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "mpi/communication.hpp"

namespace glinpack::test {
namespace {

using Type = MPI_Datatype;
using Comm = MPI_Comm;
using Request = MPI_Request;

bool disturbs = false;
std::mt19937_64 random_numbers;
long requests = 0, calls = 0;  // of functions that make progress: the clock of all delays
std::string leaks;
long below(long limit) { return static_cast<long>(random_numbers() % static_cast<std::uint64_t>(limit)); }
long later() { return calls + (!disturbs ? 0 : below(8) > 0 ? below(4) : below(60)); }

// What the caller has not completed.
struct Held {
  std::string name;                          // direction, peer and tag of a message
  std::function<void(Request*)> start = {};  // empty: started
  Request real = MPI_REQUEST_NULL;
  long start_at = later(), complete_at = later();
  bool reported = false;
};
std::map<Request, Held> all_held;  // by the caller's requests, which are numbers in the order of the calls
std::map<std::pair<Comm, int>, std::array<int, 2>> messages;  // with a rank: sent, received

void make_progress() {
  ++calls;
  for (auto& [request, held] : all_held) {
    if (held.start && held.start_at <= calls) std::exchange(held.start, {})(&held.real);
  }
}

bool is_complete(Request request) {
  if (request == MPI_REQUEST_NULL) return true;
  Held& held = all_held.at(request);
  int done = 0;
  if (!held.start && held.complete_at <= calls) PMPI_Test(&held.real, &done, MPI_STATUS_IGNORE);
  return done != 0;
}
void finish(Request& request) { all_held.erase(std::exchange(request, MPI_REQUEST_NULL)); }
int hold(const Held& held, Request* request) {
  all_held.emplace(*request = (Request)(++requests), held);
  if (!disturbs) make_progress();
  return MPI_SUCCESS;
}
// Messages with the same envelope keep their order. The caller may free its type.
int hold_message(const char* name, auto call, auto* data, int n, Type type, int peer, int tag, Comm all, Request* out) {
  static std::map<std::pair<std::string, Comm>, long> last_start;
  if (peer >= 0) ++messages[{all, peer}][*name == 'r' ? 1 : 0];  // else MPI_PROC_NULL
  PMPI_Type_dup(type, &type);
  Held held{name + std::to_string(peer) + ", tag " + std::to_string(tag), [=](Request* real) mutable {
              call(data, n, type, peer, tag, all, real);
              PMPI_Type_free(&type);
            }};
  long& last = last_start[{held.name, all}];
  last = held.start_at = std::max(last, held.start_at);
  return hold(held, out);
}

// Receives that match no message, and messages that match no receive.
void compare_messages(Comm communicator) {
  const int size = size_of(communicator);
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

Chaos::Chaos(std::uint64_t seed) { disturbs = true, random_numbers.seed(seed); }
Chaos::~Chaos() { disturbs = false; }
std::string take_mpi_leaks() {
  for (auto& [request, held] : all_held) {
    if (!std::exchange(held.reported, true)) leaks += "not completed: " + held.name + "\n";
  }
  return std::exchange(leaks, {});
}

// The functions that src/global calls. They complete requests by MPI_Testall and MPI_Testsome alone, without statuses.
extern "C" {
int MPI_Isend(const void* data, int n, Type type, int to, int tag, Comm all, Request* request) {
  return hold_message("send to rank ", PMPI_Isend, data, n, type, to, tag, all, request);
}
int MPI_Irecv(void* data, int n, Type type, int from, int tag, Comm all, Request* request) {
  return hold_message("receive from rank ", PMPI_Irecv, data, n, type, from, tag, all, request);
}
int MPI_Recv(void* data, int n, Type type, int from, int tag, Comm all, MPI_Status* status) {
  return ++messages[{all, from}][1], PMPI_Recv(data, n, type, from, tag, all, status);
}

// All ranks start collective operations in the same order: at once.
#define HOLD(call, parameters, ...) \
  int MPI_##call parameters { return PMPI_##call(__VA_ARGS__, r), hold({.name = "MPI_" #call, .real = *r}, r); }
HOLD(Ibarrier, (Comm all, Request* r), all)
HOLD(Ibcast, (void* a, int n, Type t, int root, Comm all, Request* r), a, n, t, root, all)
HOLD(Iallreduce, (const void* a, void* b, int n, Type t, MPI_Op op, Comm all, Request* r), a, b, n, t, op, all)
HOLD(Ireduce, (const void* a, void* b, int n, Type t, MPI_Op op, int to, Comm all, Request* r), a, b, n, t, op, to, all)
HOLD(Iallgather, (const void* a, int n, Type t, void* b, int m, Type u, Comm all, Request* r), a, n, t, b, m, u, all)

int MPI_Iprobe(int from, int tag, Comm all, int* arrived, MPI_Status* status) {
  make_progress();
  if (disturbs && below(3) == 0) return *arrived = 0, MPI_SUCCESS;
  return PMPI_Iprobe(from, tag, all, arrived, status);
}
int MPI_Testall(int count, Request all[], int* done, MPI_Status*) {
  make_progress();
  *done = std::all_of(all, all + count, is_complete) ? 1 : 0;
  if (*done != 0) std::for_each(all, all + count, finish);
  return MPI_SUCCESS;
}
int MPI_Testsome(int count, Request all[], int* ended, int indices[], MPI_Status*) {
  make_progress();
  const bool none = std::all_of(all, all + count, [](Request request) { return request == MPI_REQUEST_NULL; });
  for (int i = 0; i < count; ++i) indices[i] = i;
  if (disturbs) std::shuffle(indices, indices + count, random_numbers);
  int* const end = std::remove_if(indices, indices + count, [all](int i) {
    return all[i] == MPI_REQUEST_NULL || (disturbs && below(4) == 0) || !is_complete(all[i]);
  });
  std::for_each(indices, end, [all](int i) { finish(all[i]); });
  *ended = none ? MPI_UNDEFINED : static_cast<int>(end - indices);
  return MPI_SUCCESS;
}

int MPI_Comm_free(Comm* communicator) { return compare_messages(*communicator), PMPI_Comm_free(communicator); }
int MPI_Finalize() {
  compare_messages(MPI_COMM_WORLD);
  const std::string found = take_mpi_leaks();
  std::cerr << found;
  return found.empty() ? PMPI_Finalize() : PMPI_Abort(MPI_COMM_WORLD, 1);
}
}  // extern "C"
}  // namespace glinpack::test
