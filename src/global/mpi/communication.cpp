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

struct Registered {
  MPI_Comm communicator;
  Awaited what;
  std::vector<int> world_ranks;
};

// The communicators of the present grid.
std::vector<Registered>& all_registered() {
  static std::vector<Registered> all;
  return all;
}

const Registered* find(MPI_Comm communicator) {
  for (const Registered& one : all_registered()) {
    if (one.communicator == communicator) return &one;
  }
  return nullptr;
}

int world_rank(MPI_Comm communicator, int rank) {
  const Registered* const registered = find(communicator);
  return registered == nullptr ? rank : registered->world_ranks[static_cast<std::size_t>(rank)];
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
  const Registered* const registered = find(communicator);
  return {registered == nullptr ? Awaited::all : registered->what, -1};
}

void register_communicator(MPI_Comm communicator, Awaited what) {
  const int size = size_of(communicator);
  MPI_Group here = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  GLINPACK_MPI(MPI_Comm_group(communicator, &here));
  GLINPACK_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  Registered registered{communicator, what, std::vector<int>(ranks.size())};
  GLINPACK_MPI(MPI_Group_translate_ranks(here, size, ranks.data(), world, registered.world_ranks.data()));
  GLINPACK_MPI(MPI_Group_free(&here));
  GLINPACK_MPI(MPI_Group_free(&world));
  all_registered().push_back(std::move(registered));
}

void unregister_communicator(MPI_Comm communicator) {
  std::erase_if(all_registered(), [communicator](const Registered& one) { return one.communicator == communicator; });
}

void wait_until(const std::function<bool()>& done, const Pending& pending) {
  if (done()) return own_progress().step();
  const ScopedWait note(pending);
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

void send_message(MPI_Comm communicator, const MpiMessage& message, int to) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(
      MPI_Isend(message.data, message_count(message.count), message.type, to, message.tag, communicator, &request));
  wait(request, Pending::to(communicator, to));
}

void receive_message(MPI_Comm communicator, const MpiMessage& message, int from) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(
      MPI_Irecv(message.data, message_count(message.count), message.type, from, message.tag, communicator, &request));
  wait(request, Pending::from(communicator, from));
}

void all_reduce(MPI_Comm communicator, void* in_place, int count, MPI_Datatype type, MPI_Op operation) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Iallreduce(MPI_IN_PLACE, in_place, count, type, operation, communicator, &request));
  wait(request, Pending::with_all_of(communicator));
}

namespace {

MPI_Op operation_of(Reduction reduction) {
  return reduction == Reduction::sum ? MPI_SUM : reduction == Reduction::max ? MPI_MAX : MPI_MIN;
}

template <class Real>
void reduce_to(MPI_Comm communicator, int root, std::span<Real> values) {
  const bool receives = rank_in(communicator) == root;
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Ireduce(receives ? MPI_IN_PLACE : values.data(), values.data(),
                           message_count(static_cast<Index>(values.size())), mpi_type<Real>(), MPI_SUM, root,
                           communicator, &request));
  wait(request, Pending::with_all_of(communicator));
}

void broadcast_from(MPI_Comm communicator, int root, void* data, std::size_t count, MPI_Datatype type) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Ibcast(data, message_count(static_cast<Index>(count)), type, root, communicator, &request));
  wait(request, Pending::with_all_of(communicator));
}

}  // namespace

int MpiCommunicator::rank() const { return rank_in(handle_); }

int MpiCommunicator::size() const { return size_of(handle_); }

std::string MpiCommunicator::name_of_rank() const { return host_name() + ", rank " + std::to_string(rank()); }

void MpiCommunicator::barrier() const {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Ibarrier(handle_, &request));
  wait(request, Pending::with_all_of(handle_));
}

void MpiCommunicator::all_reduce(std::span<double> values, Reduction reduction) const {
  glinpack::all_reduce(handle_, values.data(), message_count(static_cast<Index>(values.size())), MPI_DOUBLE,
                       operation_of(reduction));
}

void MpiCommunicator::all_reduce(std::span<std::int64_t> values, Reduction reduction) const {
  glinpack::all_reduce(handle_, values.data(), message_count(static_cast<Index>(values.size())), MPI_INT64_T,
                       operation_of(reduction));
}

void MpiCommunicator::sum_at(int root, std::span<float> values) const { reduce_to(handle_, root, values); }

void MpiCommunicator::sum_at(int root, std::span<double> values) const { reduce_to(handle_, root, values); }

void MpiCommunicator::broadcast(int root, std::span<float> values) const {
  broadcast_from(handle_, root, values.data(), values.size(), MPI_FLOAT);
}

void MpiCommunicator::broadcast(int root, std::span<double> values) const {
  broadcast_from(handle_, root, values.data(), values.size(), MPI_DOUBLE);
}

void MpiCommunicator::broadcast(int root, std::string& bytes) const {
  unsigned long long size = bytes.size();
  broadcast_from(handle_, root, &size, 1, MPI_UNSIGNED_LONG_LONG);
  bytes.resize(size);
  broadcast_from(handle_, root, bytes.data(), bytes.size(), MPI_BYTE);
}

void MpiCommunicator::all_gather(std::span<const std::byte> mine, std::byte* all) const {
  const int bytes = message_count(static_cast<Index>(mine.size()));
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Iallgather(mine.data(), bytes, MPI_BYTE, all, bytes, MPI_BYTE, handle_, &request));
  wait(request, Pending::with_all_of(handle_));
}

std::vector<std::string> MpiCommunicator::gather(int root, const std::string& bytes) const {
  // one message per rank: the sum may exceed the int displacements of MPI_Gatherv
  constexpr int tag = tags::gather;
  if (rank() != root) {
    send_message(handle_, mpi_message(std::span(bytes), tag), root);
    return {};
  }
  std::vector<std::string> all(static_cast<std::size_t>(size()));
  for (int from = 0; from < size(); ++from) {
    std::string& into = all[static_cast<std::size_t>(from)];
    if (from == root) {
      into = bytes;
      continue;
    }
    MPI_Status status;
    int arrived = 0;
    const ScopedWait note(Pending::from(handle_, from));
    while (true) {
      GLINPACK_MPI(MPI_Iprobe(from, tag, handle_, &arrived, &status));
      if (arrived != 0) break;
      if (ranks_outnumber_cores()) std::this_thread::sleep_for(nap);
    }
    int count = 0;
    GLINPACK_MPI(MPI_Get_count(&status, MPI_BYTE, &count));
    into.resize(static_cast<std::size_t>(count));
    GLINPACK_MPI(MPI_Recv(into.data(), count, MPI_BYTE, from, tag, handle_, MPI_STATUS_IGNORE));
  }
  return all;
}

const MpiCommunicator& world() {
  static const MpiCommunicator all(MPI_COMM_WORLD);
  return all;
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
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // a busy launcher loses what it has not yet forwarded
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
