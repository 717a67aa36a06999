// Messages between ranks by MPI: tags, waiting, collective operations, and the end of the job after an error.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix_view.hpp"
#include "base/progress_record.hpp"
#include "transport/communicator.hpp"

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
// added to a message's tag: its receiver has copied it from the sender's GPU
inline constexpr int acknowledgement = 100;
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
template <>
inline MPI_Datatype mpi_type<char>() {
  return MPI_BYTE;
}

int element_bytes(MPI_Datatype type);

/// This process's rank in a communicator, and the number of its ranks.
int rank_in(MPI_Comm communicator);
int size_of(MPI_Comm communicator);

/// A pending message or collective operation, recorded for the watchdog (base/progress_record.hpp). Calls no MPI.
struct Pending {
  Awaited awaited = Awaited::unnamed;
  int peer = -1;  // rank in MPI_COMM_WORLD if the communicator was registered, else in the communicator

  static Pending from(MPI_Comm communicator, int rank);
  static Pending to(MPI_Comm communicator, int rank);
  /// A collective operation.
  static Pending with_all_of(MPI_Comm communicator);
  friend bool operator==(const Pending&, const Pending&) = default;
};

/// Registers a communicator and its kind, so that Pending has ranks of MPI_COMM_WORLD. Main thread only.
void register_communicator(MPI_Comm communicator, Awaited what);
/// Call it before the communicator is freed.
void unregister_communicator(MPI_Comm communicator);

/// Records a pending operation during its lifetime.
class ScopedWait {
 public:
  explicit ScopedWait(const Pending& pending) { own_progress().await(pending.awaited, pending.peer); }
  ScopedWait(const ScopedWait&) = delete;
  ScopedWait& operator=(const ScopedWait&) = delete;
  ~ScopedWait() { own_progress().await(Awaited::nothing, -1); }
};

/// Waits until done() returns true; every wait uses it. Under oversubscription it yields and then naps between tests,
/// since a spinning rank takes the core from the rank that it waits for. `pending` describes the wait for the watchdog.
void wait_until(const std::function<bool()>& done, const Pending& pending = {});
void wait(MPI_Request& request, const Pending& pending = {});
void wait(std::span<MPI_Request> requests, const Pending& pending = {});
/// MPI progress while this rank waits for something else.
void make_progress(MPI_Comm communicator);

/// Elements to send, or memory for those to receive.
struct MpiMessage {
  void* data;
  Index count;
  MPI_Datatype type;
  int tag;
};
template <class Element>
MpiMessage mpi_message(std::span<Element> elements, int tag) {
  using Value = std::remove_const_t<Element>;
  return {const_cast<Value*>(elements.data()), static_cast<Index>(elements.size()), mpi_type<Value>(), tag};
}

/// Sends or receives a message, and waits for it.
void send_message(MPI_Comm communicator, const MpiMessage& message, int to);
void receive_message(MPI_Comm communicator, const MpiMessage& message, int from);

/// MPI_Allreduce, with wait_until().
void all_reduce(MPI_Comm communicator, void* in_place, int count, MPI_Datatype type, MPI_Op operation);

/// A communicator of MPI, which it does not own. Its operations are non-blocking ones with wait_until().
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() = default;
  explicit MpiCommunicator(MPI_Comm handle) : handle_(handle) {}
  operator MPI_Comm() const { return handle_; }

  int rank() const override;
  int size() const override;
  std::string name_of_rank() const override;
  void barrier() const override;
  void all_reduce(std::span<double> values, Reduction reduction) const override;
  void all_reduce(std::span<std::int64_t> values, Reduction reduction) const override;
  void sum_at(int root, std::span<float> values) const override;
  void sum_at(int root, std::span<double> values) const override;
  void broadcast(int root, std::span<float> values) const override;
  void broadcast(int root, std::span<double> values) const override;
  void broadcast(int root, std::string& bytes) const override;
  std::vector<std::string> gather(int root, const std::string& bytes) const override;
  void all_gather(std::span<const std::byte> mine, std::byte* all) const override;

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

/// MPI_COMM_WORLD.
const MpiCommunicator& world();

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
