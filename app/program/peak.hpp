// The peak rate of every process: the reference of a run's GFLOPS.
#pragma once

#include <vector>

#include "app/options/plu_options.hpp"
#include "app/program/machine.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

/// Collective over MPI_COMM_WORLD. The peak of each process in flops a second, in rank order, on every rank; empty if
/// it is unknown. --peak states it. Else it is what `glinpack peaks` measures, with all processes at once, since
/// they share caches, memory and power: the GEMM of the host or the multiply-adds of the device. The best measured
/// value is kept in the cache folder by processor or device, driver or BLAS, threads, processes of the node, and
/// precision. It is measured again until no other programs used the node meanwhile. `may_measure`: if false, only kept
/// values are used.
std::vector<double> peak_rates(const PluOptions& options, const Machine& machine, const MpiSession& session,
                               bool may_measure);

/// Keeps the rate of this process that a run has reached, in flops a second, if it is above the kept one.
void keep_reached_rate(const PluOptions& options, const Machine& machine, const MpiSession& session, double rate);

// The processors of this node that other programs use during a measurement.

class NodeLoad {
 public:
  /// The measurement begins.
  NodeLoad();
  /// Collective over MPI_COMM_WORLD; the measurement has ended. The mean number of processors that programs other than
  /// this job used meanwhile, and that other guests took from a virtual machine. 0 if the kernel does not report it.
  double of_others() const;

 private:
  double begun_;
  double node_seconds_;
  double own_seconds_;
};

/// Processors of the node, including hardware threads.
int node_processors();

/// True if other programs use more than a twentieth of the processors of a node.
bool is_loaded(double processors_of_others, int processors);

}  // namespace glinpack::app
