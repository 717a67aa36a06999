// The processors of this node that other programs use during a measurement.
#pragma once

namespace glinpack::app {

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
