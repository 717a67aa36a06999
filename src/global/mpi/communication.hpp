// Messages between ranks: tags, waiting, collective operations, and errors that name host and rank.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/matrix_view.hpp"
#include "base/progress_record.hpp"

namespace glinpack {

/// All message tags, so that simultaneous messages of different kinds on a communicator have different tags.
namespace tags {
inline constexpr int gather = 1;
inline constexpr int panel_row = 2;     // P, L11, L21 along process rows
inline constexpr int u11_column = 3;    // U11 down the pivot's process column (local pivoting)
inline constexpr int u12_column = 4;    // U12 down process columns
inline constexpr int row_exchange = 5;  // within process columns
inline constexpr int solution = 6;      // blocks of x down process columns
inline constexpr int scatter = 7;       // a matrix read from a file
inline constexpr int ping_pong = 8;
inline constexpr int tournament = 9;     // candidate rows up the reduction tree (tournament pivoting)
inline constexpr int winners = 10;       // its outcome down the pivot's process column
inline constexpr int ghost_rows = 11;    // between neighbouring strips of the elliptic test problem
inline constexpr int panel_column = 12;  // rows of a panel to and from the pivot's rank
}  // namespace tags

template <class Real>
MPI_Datatype mpi_type();
template <>
inline MPI_Datatype mpi_type<float>() {
  return MPI_FLOAT;
}
template <>
inline MPI_Datatype mpi_type<double>() {
  return MPI_DOUBLE;
}

int element_bytes(MPI_Datatype type);

/// This process's rank in a communicator, and the number of its ranks.
int rank_in(MPI_Comm communicator);
int size_of(MPI_Comm communicator);

/// A pending message or collective operation, recorded for the watchdog (base/progress_record.hpp). Calls no MPI.
struct Pending {
  Awaited awaited = Awaited::unnamed;
  int peer = -1;  // rank in MPI_COMM_WORLD if the communicator was introduced, else in the communicator

  static Pending from(MPI_Comm communicator, int rank);
  static Pending to(MPI_Comm communicator, int rank);
  /// A collective operation.
  static Pending with_all_of(MPI_Comm communicator);
  friend bool operator==(const Pending&, const Pending&) = default;
};

/// Registers a communicator and its kind, so that Pending has ranks of MPI_COMM_WORLD. Main thread only.
void introduce_communicator(MPI_Comm communicator, Awaited what);
/// Call it before the communicator is freed.
void forget_communicator(MPI_Comm communicator);

/// Records a pending operation during its lifetime.
class PendingNote {
 public:
  explicit PendingNote(const Pending& pending) { own_progress().await(pending.awaited, pending.peer); }
  PendingNote(const PendingNote&) = delete;
  PendingNote& operator=(const PendingNote&) = delete;
  ~PendingNote() { own_progress().await(Awaited::nothing, -1); }
};

/// Waits until done() returns true; every wait uses it. Under oversubscription it yields and then naps between tests,
/// since a spinning rank takes the core from the rank that it waits for. `pending` describes the wait for the watchdog.
void wait_until(const std::function<bool()>& done, const Pending& pending = {});
void wait(MPI_Request& request, const Pending& pending = {});
void wait(std::span<MPI_Request> requests, const Pending& pending = {});
/// MPI progress while this rank waits for something else.
void make_progress(MPI_Comm communicator);

/// Sends or receives a message of `count` elements, and waits for it.
void send_message(MPI_Comm communicator, const void* data, Index count, MPI_Datatype type, int to, int tag);
void receive_message(MPI_Comm communicator, void* data, Index count, MPI_Datatype type, int from, int tag);

/// MPI_Barrier, MPI_Allreduce, MPI_Bcast, MPI_Allgather and MPI_Gather(v), with wait_until().
void barrier(MPI_Comm communicator);
void all_reduce(MPI_Comm communicator, void* in_place, int count, MPI_Datatype type, MPI_Op operation);
/// Replaces the values by their sums over the ranks. MPI requires the same bits on every rank, but not in every run.
void sum_over(MPI_Comm communicator, std::span<double> values);
void broadcast_bytes(MPI_Comm communicator, std::string& bytes, int root);
void all_gather(MPI_Comm communicator, const void* mine, void* all, int bytes_each);
/// The values of all ranks, in order, on every rank.
template <class Value>
std::vector<Value> all_gather(MPI_Comm communicator, const Value& mine) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<Value> all(static_cast<std::size_t>(size_of(communicator)));
  all_gather(communicator, &mine, all.data(), static_cast<int>(sizeof mine));
  return all;
}
/// The strings of all ranks, in order, on the root; empty elsewhere.
std::vector<std::string> gather_bytes(MPI_Comm communicator, const std::string& bytes, int root);
/// Logical AND over the communicator.
bool all_agree(MPI_Comm communicator, bool fine);

/// An error that every rank of a communicator throws, so that all may return. After the first collective call, any
/// other error is local to one rank and ends the job.
class AgreedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collective. Every rank passes its error, empty for none. Every rank throws AgreedError with the message of the first
/// failing rank. The message gets that rank's host and number unless it `names_its_rank` already.
void agree_or_throw(MPI_Comm communicator, const std::string& error, bool names_its_rank = false);

/// Collective. Returns the result of make(). If it threw on any rank, every rank throws as agree_or_throw does.
template <class Make>
auto make_collectively(MPI_Comm communicator, Make make) {
  decltype(make()) made{};
  std::string error;
  try {
    made = make();
  } catch (const std::exception& failure) {
    error = failure.what();
    if (error.empty()) error = "unknown error";
  }
  agree_or_throw(communicator, error);
  return made;
}

/// Prints host, rank and what, and ends the job (MPI_Abort). For errors after the first collective call: the other
/// ranks wait for this one, and there is no other way to notify them.
[[noreturn]] void abort_job(std::string_view message);
/// abort_job() calls it before it ends the job, to notify the watchdog; may be empty.
void before_abort(std::function<void()> call);
/// Converts to an MPI count. Throws std::runtime_error with the remedy if it exceeds int.
int message_count(Index elements);
/// For every MPI call: throws std::runtime_error with the expression and MPI's message if it fails.
void check_mpi(int code, const char* expression);
#define GLINPACK_MPI(call) ::glinpack::check_mpi((call), #call)

}  // namespace glinpack
