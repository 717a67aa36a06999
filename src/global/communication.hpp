// MPI as glinpack uses it: started and ended safely, waited for in one place, errors that name where they happened.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "global/pending.hpp"
#include "local/matrix_view.hpp"

namespace glinpack {

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

/// What to do with the launcher of another MPI, which starts several processes that each see a world of one.
enum class ForeignLauncher { refused, tolerated };

/// MPI from its start to its guarded end. One per program.
class MpiSession {
 public:
  /// Starts MPI. Throws std::runtime_error where the launcher belongs to another MPI and that is refused.
  MpiSession(int& argc, char**& argv, ForeignLauncher foreign = ForeignLauncher::refused);
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Ranks on this host, and this rank's number among them.
  int local_size() const { return local_size_; }
  int local_rank() const { return local_rank_; }
  static std::string library_version();
  /// "MPICH 4.0.2", "Open MPI 4.1.4": the MPI whose headers glinpack was compiled with; "MPI 4.0" where it is another.
  static std::string headers_version();

  /// Ends MPI; call once results are on disk, on every rank. Returns exit_code, or leaves the process with it: between
  /// nodes, where this MPI's MPI_Finalize may hang, Hydra is told the end and the process leaves without. An end that
  /// takes longer than `seconds` is cut short: the process stops where it is and leaves a second later.
  int finish(int exit_code, double seconds = 5.0);

 private:
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
  bool finished_ = false;
};

/// The process number that a launcher gave this process (PMI_RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID ...), 0 where
/// none did: known before MPI starts, so that only one process speaks.
int launcher_rank();

/// How many processes the launcher says it started; 0 where it does not, or there is none.
int launched_processes();

/// "Hydra" (MPICH's, Intel MPI's), "Open MPI", "Slurm" (srun), "MVAPICH", "PMIx" (another one that speaks it); empty
/// where the environment tells of none.
std::string launcher_name();

/// Whether the ranks of this node outnumber the cores that they may use.
bool ranks_outnumber_cores();

/// This process's rank in a communicator, and how many there are.
int rank_in(MPI_Comm communicator);
int size_of(MPI_Comm communicator);

/// The first rank of MPI_COMM_WORLD that MPI can give memory in common with this one.
int first_rank_of_node();

/// The one way to wait. Tests; where ranks outnumber the cores they may use, yields and then naps between tests, since
/// a spinning rank takes the core from the one that it is waiting for. GLINPACK_OVERSUBSCRIBED in the environment says
/// so where the ranks cannot see it.
/// `pending`: what is waited for, for whoever watches this rank.
void wait_until(const std::function<bool()>& done, const Pending& pending = {});
void wait(MPI_Request& request, const Pending& pending = {});
void wait(std::span<MPI_Request> requests, const Pending& pending = {});
/// Lets MPI go on with what others ask of this rank, while it waits for something else.
void make_progress(MPI_Comm communicator);
/// A barrier that waits so, too.
void barrier(MPI_Comm communicator);
/// MPI_Allreduce, MPI_Bcast, MPI_Allgather and MPI_Gather(v) that wait so, too.
void all_reduce(MPI_Comm communicator, void* in_place, int count, MPI_Datatype type, MPI_Op operation);
void broadcast_bytes(MPI_Comm communicator, std::string& bytes, int root);
void all_gather(MPI_Comm communicator, const void* mine, void* all, int bytes_each);
/// The values of all ranks, in order, on every rank.
template <class Value>
std::vector<Value> all_gather(MPI_Comm communicator, const Value& mine) {
  static_assert(std::is_trivially_copyable_v<Value>);
  int size = 1;
  MPI_Comm_size(communicator, &size);
  std::vector<Value> all(static_cast<std::size_t>(size));
  all_gather(communicator, &mine, all.data(), static_cast<int>(sizeof mine));
  return all;
}
/// The strings of all ranks, in order, on the root; empty elsewhere.
std::vector<std::string> gather_bytes(MPI_Comm communicator, const std::string& bytes, int root);
/// True on every rank if it is true on every rank: how ranks agree that all went well before they go on.
bool all_agree(MPI_Comm communicator, bool fine);

/// An error that every rank of a communicator has been told of: they may all leave. Any other error after the first
/// collective call is one rank's own, and ends the job.
class AgreedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collective. Every rank hands in what went wrong on it, empty where nothing did; throws AgreedError with the first
/// failing rank's message on every rank alike, with its host and rank unless the message `names_its_rank` already.
void agree_or_throw(MPI_Comm communicator, const std::string& error, bool names_its_rank = false);

/// Collective. What `make` returns, a pointer or the like; throws as agree_or_throw does where it threw on any rank.
template <class Make>
auto made_by_all(MPI_Comm communicator, Make make) {
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

/// Prints host, rank and what, and ends the whole job (MPI_Abort): for errors after the first collective call, when the
/// other ranks wait for this one and cannot be told otherwise.
[[noreturn]] void abort_job(std::string_view what);
/// Called by abort_job() before it ends the job, so that who watches it knows; may be empty.
void before_abort(std::function<void()> call);
/// MPI counts elements with ints: throws std::runtime_error, with the remedy, where that is too few.
int message_count(Index elements);
/// For every MPI call: throws std::runtime_error with the expression and MPI's own words when it fails.
void check_mpi(int code, const char* expression);
std::string host_name();
#define GLINPACK_MPI(call) ::glinpack::check_mpi((call), #call)

}  // namespace glinpack
