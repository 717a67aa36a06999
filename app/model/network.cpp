#include "app/model/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace glinpack::app::model {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
// The share of a link with many flows is set anew if it has changed by this much, so that a flow of a busy uplink costs
// little time to simulate.
constexpr double noticeable = 0.02;

}  // namespace

FlowNetwork::FlowNetwork(const Topology& topology, int nodes)
    : topology_(topology),
      nodes_(nodes),
      groups_(topology.kind == Topology::Kind::crossbar ? 0 : (nodes + topology.group - 1) / topology.group) {
  const auto link_count = [](int count) { return static_cast<std::size_t>(count); };
  links_.resize(link_count(2 * nodes));
  switch (topology.kind) {
    case Topology::Kind::crossbar:
      break;
    case Topology::Kind::fat_tree:
      links_.resize(link_count(2 * nodes + 2 * groups_), {.capacity = topology.group / topology.taper, .flows = {}});
      break;
    case Topology::Kind::dragonfly: {
      const double all = topology.group / topology.taper;  // of a group's links to all others
      links_.resize(link_count(2 * nodes + groups_ * groups_),
                    {.capacity = all / std::max(1, groups_ - 1), .flows = {}});
      break;
    }
  }
}

int FlowNetwork::route_between(int from, int to, std::array<int, 4>& route) const {
  std::size_t links = 0;
  route[links++] = from;
  if (to < 0) return 1;
  const int from_group = groups_ > 0 ? from / topology_.group : 0, to_group = groups_ > 0 ? to / topology_.group : 0;
  if (from_group != to_group && topology_.kind == Topology::Kind::fat_tree) {
    route[links++] = 2 * nodes_ + from_group;
    route[links++] = 2 * nodes_ + groups_ + to_group;
  }
  if (from_group != to_group && topology_.kind == Topology::Kind::dragonfly) {
    route[links++] = 2 * nodes_ + from_group * groups_ + to_group;
  }
  route[links++] = nodes_ + to;
  return static_cast<int>(links);
}

double FlowNetwork::rate_of_another(int from, int to) const {
  std::array<int, 4> route{};
  const int links = route_between(from, to, route);
  double rate = 1;
  for (int hop = 0; hop < links; ++hop) {
    const Link& link = links_[static_cast<std::size_t>(route[static_cast<std::size_t>(hop)])];
    rate = std::min(rate, link.capacity / static_cast<double>(link.flows.size() + 1));
  }
  return rate;
}

int FlowNetwork::start(double now, int from, int to, double seconds) {
  if (free_.empty()) {
    free_.push_back(static_cast<int>(flows_.size()));
    flows_.emplace_back();
  }
  const int number = free_.back();
  free_.pop_back();
  Flow& flow = flows_[static_cast<std::size_t>(number)];
  flow = {.left = seconds, .rate = 0, .updated = now, .queued_end = never};
  flow.links = route_between(from, to, flow.route);
  for (int hop = 0; hop < flow.links; ++hop) {
    const auto place = static_cast<std::size_t>(hop);
    std::vector<int>& flows = links_[static_cast<std::size_t>(flow.route[place])].flows;
    flow.place[place] = static_cast<int>(flows.size());
    flows.push_back(number);
  }
  for (int hop = 0; hop < flow.links; ++hop) set_share(now, flow.route[static_cast<std::size_t>(hop)]);
  set_rate(now, number);
  return number;
}

bool FlowNetwork::ends(const End& end) {
  Flow& flow = flows_[static_cast<std::size_t>(end.flow)];
  if (flow.queued_end != end.time) return false;
  const double real_end = flow.updated + flow.left / flow.rate;
  // roundoff must not repeat an end for ever
  if (real_end > end.time * (1 + 4 * std::numeric_limits<double>::epsilon())) {
    flow.queued_end = real_end;
    new_ends_.push_back({real_end, end.flow});
    return false;
  }
  for (int hop = 0; hop < flow.links; ++hop) {
    const auto place = static_cast<std::size_t>(hop);
    std::vector<int>& flows = links_[static_cast<std::size_t>(flow.route[place])].flows;
    const int moved = flows[static_cast<std::size_t>(flow.place[place])] = flows.back();
    flows.pop_back();
    Flow& other = flows_[static_cast<std::size_t>(moved)];
    for (int i = 0; i < other.links; ++i) {
      const auto other_place = static_cast<std::size_t>(i);
      if (other.route[other_place] == flow.route[place]) other.place[other_place] = flow.place[place];
    }
  }
  flow.queued_end = never;
  for (int hop = 0; hop < flow.links; ++hop) set_share(end.time, flow.route[static_cast<std::size_t>(hop)]);
  free_.push_back(end.flow);
  return true;
}

void FlowNetwork::set_share(double now, int number) {
  Link& link = links_[static_cast<std::size_t>(number)];
  if (link.flows.empty()) {
    link.share = std::min(1.0, link.capacity);
    return;
  }
  // no flow is faster than a node's link
  const double share = std::min(1.0, link.capacity / static_cast<double>(link.flows.size()));
  if (std::abs(share - link.share) <= noticeable * link.share) return;
  link.share = share;
  for (const int flow : link.flows) set_rate(now, flow);
}

void FlowNetwork::set_rate(double now, int number) {
  Flow& flow = flows_[static_cast<std::size_t>(number)];
  double rate = 1;
  for (int hop = 0; hop < flow.links; ++hop) {
    rate = std::min(rate, links_[static_cast<std::size_t>(flow.route[static_cast<std::size_t>(hop)])].share);
  }
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
