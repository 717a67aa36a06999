// The MPI session of a process, its launcher, and the nodes of its ranks.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace glinpack {

/// Policy for the launcher of another MPI library. Such a launcher starts several processes, each with a world of one.
enum class ForeignLauncher { refused, tolerated };

/// The launcher does not fit the MPI library.
class LauncherError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// MPI from its start to its guarded end. One per program.
class MpiSession {
 public:
  /// Starts MPI. Throws LauncherError if the launcher belongs to another MPI library and `foreign` is refused.
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
  /// The MPI whose headers glinpack was compiled with, such as "MPICH 4.0.2" or "Open MPI 4.1.4"; "MPI 4.0" for any
  /// other.
  static std::string headers_version();

  /// Ends MPI; every rank calls it once results are on disk. Returns exit_code, or exits the process with it. Between
  /// nodes, this MPI's MPI_Finalize may hang: the process then reports its end to Hydra and exits without it. After
  /// `seconds`, the process stops waiting and exits a second later.
  int finish(int exit_code, double seconds = 5.0);

 private:
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
  bool finished_ = false;
};

/// The process number from the launcher (PMI_RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID ...), 0 without a launcher. It is
/// known before MPI starts, so that only one process prints.
int launcher_rank();

/// The number of processes that the launcher started; 0 if it is unknown or there is no launcher.
int launched_processes();

/// "Hydra" (MPICH, Intel MPI), "Open MPI", "Slurm" (srun), "MVAPICH", or "PMIx" (any other with that protocol); empty
/// without a launcher.
std::string launcher_name();

std::string host_name();

/// Whether the ranks of this node outnumber the cores that they may use. The environment variable
/// GLINPACK_OVERSUBSCRIBED declares oversubscription that the ranks cannot detect.
bool ranks_outnumber_cores();

/// The first rank of MPI_COMM_WORLD that MPI can give memory in common with this one.
int first_rank_of_node();

/// The first rank of its node, for every rank of the communicator. Collective. Two ranks are on one node if MPI says
/// that they can share memory and their host names are equal. Namespaces of one machine with different host names are
/// therefore different nodes.
std::vector<int> nodes_of(MPI_Comm communicator);

}  // namespace glinpack
