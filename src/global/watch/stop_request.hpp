// Signals that request the end of a run, or a checkpoint.
#pragma once

#include <mpi.h>

#include <string>

namespace glinpack {

/// What SIGUSR1 requests.
enum class UserSignal { end, checkpoint };

/// Catches SIGTERM, SIGUSR1 and SIGINT during its lifetime. The first signal requests an end; another one at least a
/// second later ends the process by its default action. Earlier ones are the same request, since launchers and batch
/// systems forward a signal in several ways. After a request, signals stay caught. One object at a time.
class StopSignals {
 public:
  /// `prints`: a notice of the first signal on stderr. SIGUSR1 may request a checkpoint instead, any number of times.
  explicit StopSignals(bool prints, UserSignal user_signal = UserSignal::end);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();
};

/// The signal that requested the end on this rank, 0 for none.
int stop_signal();
/// Collective: makes the signal of any rank that of all ranks, and returns it. Ranks that act alike must use the
/// result: stop_signal() may change on some of them at any moment.
int share_stop_signal(MPI_Comm communicator);
/// Whether SIGUSR1 has requested a checkpoint on this rank since the last call of forget_checkpoint_request().
bool checkpoint_requested();
void forget_checkpoint_request();
/// "SIGTERM", ...
std::string name_of_signal(int signal);

}  // namespace glinpack
