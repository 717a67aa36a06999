// The network between nodes in a replay: messages as flows that share the links of both nodes. Pure.
#pragma once

#include <array>
#include <vector>

namespace glinpack::app::model {

/// Flows through links. Each node has an uplink and a downlink, and a flow the sender's uplink and the receiver's
/// downlink. A flow's rate is the smaller share of its two links; every link shares its rate equally among its flows
/// (max-min fairness without the redistribution of what a flow cannot use).
class FlowNetwork {
 public:
  /// `seconds` of flows refer to the full rate of a node's link, which is 1.
  explicit FlowNetwork(int nodes) : nodes_(nodes), links_(2 * static_cast<std::size_t>(nodes)) {}

  /// A flow's end, at the earliest; superseded if the flow ends later or has ended.
  struct End {
    double time = 0;
    int flow = -1;
  };

  /// Starts a flow that takes `seconds` on its own. Returns its number, which is reused after its end.
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
    double left = 0;  // seconds at the full rate
    double rate = 0;
    double updated = 0;
    double queued_end = 0;
    std::array<std::size_t, 2> route{};
    std::array<std::size_t, 2> place{};  // in the flows of each link of the route
  };
  struct Link {
    double share = 1;  // of each flow
    std::vector<int> flows;
  };

  std::array<std::size_t, 2> route_between(int from, int to) const {
    return {static_cast<std::size_t>(from), static_cast<std::size_t>(nodes_ + to)};
  }
  Flow& flow_of(int number) { return flows_[static_cast<std::size_t>(number)]; }
  void set_share(double now, Link& link);
  void set_rate(double now, int flow);

  int nodes_;
  std::vector<Link> links_;  // uplinks, then downlinks
  std::vector<Flow> flows_;
  std::vector<int> free_;
  std::vector<End> new_ends_;
};

}  // namespace glinpack::app::model
