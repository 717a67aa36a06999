// Messages of a pass on the links of a machine: who is on a node with whom, and how long a message takes.
#pragma once

#include <vector>

#include "app/model/machine.hpp"

namespace glinpack::app::model {

/// The first process row stands for all rows: nodes hold as many ranks of each. Times are in seconds of one clock.
class Links {
 public:
  Links(const MachineModel& machine, const Problem& problem);

  /// When each process column has L, of so many bytes. The root has it at `begin`; a column receives and passes on from
  /// `ready` on. `beside`: seconds of other messages with which the root's link is shared meanwhile.
  std::vector<double> broadcast_along_row(int root, double begin, double bytes, const std::vector<double>& ready,
                                          double beside = 0);

  /// Seconds in which rows change places in a process column, U12 being `width` rows of `columns` elements.
  double swap_messages(Index width, Index columns) const;
  /// When rows have changed places in a process column, and U12 is everywhere but for its arithmetic, if all its ranks
  /// begin at `begin`.
  double swap_in_column(int column, double begin, Index width, Index columns) const;

  /// Seconds of the messages in which the ranks of a process column agree on a panel's pivots.
  double panel_messages(Index width) const;
  /// Of those of a pass of the backward substitution, by trees: partial sums along a row, x up a column.
  double substitution_messages(Index width) const;

 private:
  struct Member {
    int column = 0;
    int node = 0;
  };

  double message(bool same_node, double bytes, double sharing) const;
  /// So many messages, to partners at distances 1, 2, 4, ...; the first ones within a node.
  double messages_by_doubling(int ranks, int ranks_on_node, double bytes, double sharing) const;
  double binary_exchange(double bytes) const;
  double spread_roll(double bytes) const;
  double direct(double bytes) const;
  std::vector<Member> members_from(int root) const;
  void forward(const std::vector<Member>& members, double bytes, double beside, const std::vector<double>& ready,
               std::vector<double>& arrival);
  void together(const std::vector<Member>& members, double bytes, double beside, const std::vector<double>& ready,
                std::vector<double>& arrival);
  double hand_on_in_node(double bytes) const;

  const MachineModel& machine_;
  const Problem problem_;
  std::vector<int> node_;                   // of every process column
  std::vector<double> link_free_;           // of every node of the row: when its link out is
  std::vector<std::vector<int>> children_;  // whom a place of the broadcast sends to; none in a roll
  bool through_nodes_ = true;               // one rank of a node takes part in a broadcast's messages
  int rows_on_node_ = 1;                    // process rows that share a node's link
  int row_ranks_on_node_ = 1;               // of one process row
  int column_ranks_on_node_ = 1;            // of one process column
};

}  // namespace glinpack::app::model
