#include "tests/global/chaos/chaos_mpi.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace {

bool disturbs = false;
std::mt19937_64 random_numbers;
long calls = 0;  // of functions that make progress: the clock of all delays
std::string leaks;

long below(long limit) { return static_cast<long>(random_numbers() % static_cast<std::uint64_t>(limit)); }

long later() {
  if (!disturbs) return calls;
  return calls + (below(8) > 0 ? below(4) : below(60));
}

// A request that the caller has not completed. Small messages may share a handle.
struct Request {
  std::string name;
  long ripe = 0;
  int count = 0;
};
std::map<MPI_Request, Request> requests;

int opened(int code, MPI_Request request, const std::string& name) {
  Request& opened = requests[request];
  opened.name = name;
  opened.ripe = later();
  ++opened.count;
  return code;
}

void closed(MPI_Request request) {
  const auto found = requests.find(request);
  if (found != requests.end() && --found->second.count == 0) requests.erase(found);
}

bool is_ripe(MPI_Request request) {
  const auto found = requests.find(request);
  return found == requests.end() || found->second.ripe <= calls;
}

// Messages between this rank and the others of a communicator.
struct Counts {
  std::vector<int> sent, received;
};
std::map<MPI_Comm, Counts> counts;

void count_message(MPI_Comm communicator, int peer, bool receives) {
  if (peer < 0) return;  // MPI_PROC_NULL
  Counts& of = counts[communicator];
  std::vector<int>& messages = receives ? of.received : of.sent;
  messages.resize(std::max(messages.size(), static_cast<std::size_t>(peer) + 1));
  ++messages[static_cast<std::size_t>(peer)];
}

// Collective: receives that match no message, and messages that match no receive.
void compare_counts(MPI_Comm communicator) {
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  Counts& mine = counts[communicator];
  mine.sent.resize(static_cast<std::size_t>(size));
  mine.received.resize(static_cast<std::size_t>(size));
  std::vector<int> sent_to_me(static_cast<std::size_t>(size));
  PMPI_Alltoall(mine.sent.data(), 1, MPI_INT, sent_to_me.data(), 1, MPI_INT, communicator);
  for (std::size_t peer = 0; peer < sent_to_me.size(); ++peer) {
    if (sent_to_me[peer] == mine.received[peer]) continue;
    leaks += "of " + std::to_string(sent_to_me[peer]) + " messages from rank " + std::to_string(peer) +
             " of a communicator, " + std::to_string(mine.received[peer]) + " were received\n";
  }
  counts.erase(communicator);
}

// A message that is not sent or received yet, or not completely.
struct Held {
  bool receives;
  void* data;
  int count;
  MPI_Datatype type;
  int peer, tag;
  MPI_Comm communicator;
  MPI_Request of_caller = MPI_REQUEST_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  long start_at = 0;
  bool started = false;

  bool has_envelope_of(const Held& other) const {
    return receives == other.receives && peer == other.peer && tag == other.tag && communicator == other.communicator;
  }
  int start(MPI_Request* into) const {
    return receives ? PMPI_Irecv(data, count, type, peer, tag, communicator, into)
                    : PMPI_Isend(data, count, type, peer, tag, communicator, into);
  }
};
std::list<Held> all_held;

// Messages with the same envelope keep their order.
bool may_start(std::list<Held>::const_iterator held) {
  return held->start_at <= calls && std::none_of(all_held.cbegin(), held, [&](const Held& earlier) {
           return !earlier.started && earlier.has_envelope_of(*held);
         });
}

void make_progress() {
  ++calls;
  for (auto held = all_held.begin(); held != all_held.end();) {
    if (!held->started && may_start(held)) {
      held->start(&held->request);
      held->started = true;
    }
    int done = 0;
    if (held->started) PMPI_Test(&held->request, &done, MPI_STATUS_IGNORE);
    if (done == 0) {
      ++held;
      continue;
    }
    PMPI_Type_free(&held->type);
    PMPI_Grequest_complete(held->of_caller);
    held = all_held.erase(held);
  }
}

int no_status(void*, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int nothing_to_free(void*) { return MPI_SUCCESS; }
int not_cancelled(void*, int) { return MPI_SUCCESS; }

int post(Held held, MPI_Request* request) {
  const std::string name = std::string(held.receives ? "a receive from" : "a send to") + " rank " +
                           std::to_string(held.peer) + ", tag " + std::to_string(held.tag);
  count_message(held.communicator, held.peer, held.receives);
  if (!disturbs) {
    const int code = held.start(request);
    return opened(code, *request, name);
  }
  MPI_Datatype type = held.type;  // the caller may free it
  PMPI_Type_dup(type, &held.type);
  const int code = PMPI_Grequest_start(no_status, nothing_to_free, not_cancelled, nullptr, request);
  held.of_caller = *request;
  held.start_at = later();
  all_held.push_back(held);
  return opened(code, *request, name);
}

}  // namespace

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  return post({false, const_cast<void*>(data), count, type, to, tag, communicator}, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  return post({true, data, count, type, from, tag, communicator}, request);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator, MPI_Status* status) {
  count_message(communicator, from, true);
  return PMPI_Recv(data, count, type, from, tag, communicator, status);
}

int MPI_Ibarrier(MPI_Comm communicator, MPI_Request* request) {
  const int code = PMPI_Ibarrier(communicator, request);
  return opened(code, *request, "MPI_Ibarrier");
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm communicator, MPI_Request* request) {
  const int code = PMPI_Ibcast(data, count, type, root, communicator, request);
  return opened(code, *request, "MPI_Ibcast");
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator,
                   MPI_Request* request) {
  const int code = PMPI_Iallreduce(from, to, count, type, operation, communicator, request);
  return opened(code, *request, "MPI_Iallreduce");
}

int MPI_Ireduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, int root,
                MPI_Comm communicator, MPI_Request* request) {
  const int code = PMPI_Ireduce(from, to, count, type, operation, root, communicator, request);
  return opened(code, *request, "MPI_Ireduce");
}

int MPI_Iallgather(const void* from, int sent, MPI_Datatype sent_type, void* to, int received, MPI_Datatype type,
                   MPI_Comm communicator, MPI_Request* request) {
  const int code = PMPI_Iallgather(from, sent, sent_type, to, received, type, communicator, request);
  return opened(code, *request, "MPI_Iallgather");
}

int MPI_Iprobe(int from, int tag, MPI_Comm communicator, int* arrived, MPI_Status* status) {
  make_progress();
  const int code = PMPI_Iprobe(from, tag, communicator, arrived, status);
  if (disturbs && below(3) == 0) *arrived = 0;
  return code;
}

int MPI_Testall(int count, MPI_Request all[], int* done, MPI_Status statuses[]) {
  make_progress();
  if (!std::all_of(all, all + count, is_ripe)) {
    *done = 0;
    int unused = 0;
    return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &unused, MPI_STATUS_IGNORE);
  }
  const std::vector<MPI_Request> before(all, all + count);
  const int code = PMPI_Testall(count, all, done, statuses);
  if (*done != 0) std::for_each(before.begin(), before.end(), closed);
  return code;
}

int MPI_Testsome(int count, MPI_Request all[], int* ended, int indices[], MPI_Status statuses[]) {
  make_progress();
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  if (disturbs) std::shuffle(order.begin(), order.end(), random_numbers);
  *ended = std::all_of(all, all + count, [](MPI_Request request) { return request == MPI_REQUEST_NULL; })
               ? MPI_UNDEFINED
               : 0;
  for (const int index : order) {
    const MPI_Request before = all[index];
    if (before == MPI_REQUEST_NULL || !is_ripe(before) || (disturbs && below(4) == 0)) continue;
    int done = 0;
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + *ended;
    if (const int code = PMPI_Test(all + index, &done, status); code != MPI_SUCCESS) return code;
    if (done == 0) continue;
    closed(before);
    indices[(*ended)++] = index;
  }
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm* communicator) {
  compare_counts(*communicator);
  return PMPI_Comm_free(communicator);
}

int MPI_Finalize() {
  compare_counts(MPI_COMM_WORLD);
  const std::string found = glinpack::test::take_mpi_leaks();
  std::fputs(found.c_str(), stderr);
  const int code = PMPI_Finalize();
  if (!found.empty()) _exit(1);
  return code;
}

}  // extern "C"

namespace glinpack::test {

Chaos::Chaos(std::uint64_t seed) {
  random_numbers.seed(seed);
  disturbs = true;
}

Chaos::~Chaos() { disturbs = false; }

std::string take_mpi_leaks() {
  for (const auto& [handle, request] : requests) {
    leaks += std::to_string(request.count) + " not completed: " + request.name + "\n";
  }
  requests.clear();
  return std::exchange(leaks, {});
}

}  // namespace glinpack::test
