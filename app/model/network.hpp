// The network between nodes in a replay: links with LogGP's parameters (Alexandrov et al., LogGP, SPAA 1995), switches
// whose uplinks are shared, and messages as flows that share the links of their route. Pure.
#pragma once

#include <array>
#include <vector>

#include "app/model/machine.hpp"

namespace glinpack::app::model {

/// Flows through links. A flow's rate is that of the link of its route with the smallest share; every link shares its
/// rate equally among its flows (max-min fairness without the redistribution of what a flow cannot use). A route is the
/// sender's uplink, the receiver's downlink, and the topology's shared links between them.
class FlowNetwork {
 public:
  /// `seconds` of flows refer to the full rate of a node's link, which is 1.
  FlowNetwork(const Topology& topology, int nodes);

  /// A flow's end, at the earliest; superseded if the flow ends later or has ended.
  struct End {
    double time = 0;
    int flow = -1;
  };

  /// Starts a flow that takes `seconds` on its own. `to` -1: only the sender's link. Returns its number, which is
  /// reused after its end.
  int start(double now, int from, int to, double seconds);
  /// The rate that another flow would have now.
  double rate_of_another(int from, int to) const;
  /// True if the flow of an End ends at that time; it is removed then.
  bool ends(const End& end);
  /// Ends that have changed since the last call, to be queued.
  const std::vector<End>& new_ends() const { return new_ends_; }
  void clear_new_ends() { new_ends_.clear(); }

 private:
  struct Flow {
    double left = 0;  // seconds at the full rate of a node's link
    double rate = 0;
    double updated = 0;
    double queued_end = 0;
    int links = 0;
    std::array<int, 4> route{};
    std::array<int, 4> place{};  // in the flows of each link of the route
  };
  struct Link {
    double capacity = 1;  // in rates of a node's link
    double share = 1;     // of each flow
    std::vector<int> flows;
  };

  // The links of a flow. Returns their number.
  int route_between(int from, int to, std::array<int, 4>& route) const;
  void set_share(double now, int link);
  void set_rate(double now, int flow);

  Topology topology_;
  int nodes_;
  int groups_;  // leaf switches, or groups of a dragonfly
  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<int> free_;
  std::vector<End> new_ends_;
};

}  // namespace glinpack::app::model
