#include "app/model/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace glinpack::app::model {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
// The share of a link with many flows is set anew if it has changed by this much, so that a flow of a busy link costs
// little time to simulate.
constexpr double noticeable = 0.02;

}  // namespace

double FlowNetwork::rate_of_another(int from, int to) const {
  std::size_t flows = 0;
  for (const std::size_t link : route_between(from, to)) flows = std::max(flows, links_[link].flows.size());
  return 1 / static_cast<double>(flows + 1);
}

int FlowNetwork::start(double now, int from, int to, double seconds) {
  if (free_.empty()) {
    free_.push_back(static_cast<int>(flows_.size()));
    flows_.emplace_back();
  }
  const int number = free_.back();
  free_.pop_back();
  Flow& flow = flow_of(number);
  flow = {.left = seconds, .rate = 0, .updated = now, .queued_end = never, .route = route_between(from, to)};
  for (std::size_t hop = 0; hop < flow.route.size(); ++hop) {
    std::vector<int>& flows = links_[flow.route[hop]].flows;
    flow.place[hop] = flows.size();
    flows.push_back(number);
  }
  for (const std::size_t link : flow.route) set_share(now, links_[link]);
  set_rate(now, number);
  return number;
}

bool FlowNetwork::ends(const End& end) {
  Flow& flow = flow_of(end.flow);
  if (flow.queued_end != end.time) return false;
  const double real_end = flow.updated + flow.left / flow.rate;
  // roundoff must not repeat an end for ever
  if (real_end > end.time * (1 + 4 * std::numeric_limits<double>::epsilon())) {
    flow.queued_end = real_end;
    new_ends_.push_back({real_end, end.flow});
    return false;
  }
  for (std::size_t hop = 0; hop < flow.route.size(); ++hop) {
    std::vector<int>& flows = links_[flow.route[hop]].flows;
    const int moved = flows[flow.place[hop]] = flows.back();
    flows.pop_back();
    flow_of(moved).place[hop] = flow.place[hop];
  }
  flow.queued_end = never;
  for (const std::size_t link : flow.route) set_share(end.time, links_[link]);
  free_.push_back(end.flow);
  return true;
}

void FlowNetwork::set_share(double now, Link& link) {
  const double share = 1 / static_cast<double>(std::max<std::size_t>(1, link.flows.size()));
  if (!link.flows.empty() && std::abs(share - link.share) <= noticeable * link.share) return;
  link.share = share;
  for (const int flow : link.flows) set_rate(now, flow);
}

void FlowNetwork::set_rate(double now, int number) {
  Flow& flow = flow_of(number);
  const double rate = std::min(links_[flow.route[0]].share, links_[flow.route[1]].share);
  if (rate == flow.rate) return;
  flow.left = std::max(0.0, flow.left - (now - flow.updated) * flow.rate);
  flow.updated = now;
  flow.rate = rate;
  const double end = now + flow.left / rate;
  if (end >= flow.queued_end) return;  // found out when the earlier end comes
  flow.queued_end = end;
  new_ends_.push_back({end, number});
}

}  // namespace glinpack::app::model
