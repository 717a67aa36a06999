#include "app/plan/traces.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/program/outputs.hpp"

namespace glinpack::app {

namespace {

constexpr double largest_message = 1024.0 * 1024 * 1024;  // bytes
constexpr double counts_a_second = 1e9;                   // of a host: compute lines are nanoseconds

// The actions of one rank, in its host's order.
class RankTrace {
 public:
  RankTrace(const model::Problem& problem, const model::Schedule& schedule, std::size_t rank)
      : problem_(problem), list_(schedule.ranks[rank]), rank_(static_cast<int>(rank)) {
    progress_.resize(list_.messages.size());
  }

  std::string text() {
    add("init");
    for (const model::TimedOperation& operation : list_.operations) {
      switch (operation.kind) {
        case Operation::Kind::compute:
          nanoseconds_ += operation.seconds * counts_a_second;
          break;
        case Operation::Kind::wait_for_work:
          break;
        case Operation::Kind::start_message:
          start(operation.target);
          break;
        case Operation::Kind::wait_for_data:
          advance(operation.target, false);
          break;
        case Operation::Kind::wait_for_end:
          advance(operation.target, true);
          break;
      }
    }
    add_computing();
    add("finalize");
    return std::move(text_);
  }

 private:
  struct Progress {
    std::uint32_t posted = 0;    // steps
    std::vector<bool> finished;  // of the posted ones
    std::uint32_t received = 0;
  };

  void add(const std::string& action) { text_ += fmt::format("{} {}\n", rank_, action); }
  void add_computing() {
    if (nanoseconds_ > 0) add(fmt::format("compute {:.1f}", nanoseconds_));
    nanoseconds_ = 0;
  }

  static std::vector<std::int64_t> pieces_of(double bytes) {
    const auto count = static_cast<std::int64_t>(std::max(1.0, std::ceil(bytes / largest_message)));
    const auto whole = static_cast<std::int64_t>(bytes);
    std::vector<std::int64_t> pieces;
    for (std::int64_t i = 0; i < count; ++i) pieces.push_back(whole * (i + 1) / count - whole * i / count);
    return pieces;
  }

  void post(int peer, int tag, double bytes, bool receives) {
    add_computing();
    for (const std::int64_t piece : pieces_of(bytes)) {
      add(fmt::format("{} {} {} {}", receives ? "irecv" : "isend", peer, tag, piece));
    }
  }
  void wait(int peer, int tag, double bytes, bool receives) {
    add_computing();
    for (std::size_t i = 0; i < pieces_of(bytes).size(); ++i) {
      add(receives ? fmt::format("wait {} {} {}", peer, rank_, tag) : fmt::format("wait {} {} {}", rank_, peer, tag));
    }
  }

  static int tag_of(const model::ScheduledMessage& message) { return static_cast<int>(message.kind); }
  const model::Step& step(const model::ScheduledMessage& message, std::uint32_t i) const {
    return list_.steps[message.first + i];
  }

  void start(std::uint32_t number) {
    const model::ScheduledMessage& message = list_.messages[number];
    if (message.count == 1 && step(message, 0).peer == model::Step::whole_column) {
      all_reduce(tag_of(message), step(message, 0).bytes);
      progress_[number] = {.posted = 1, .finished = {true}, .received = 1};
      return;
    }
    post_ready(number);
  }

  void post_ready(std::uint32_t number) {
    const model::ScheduledMessage& message = list_.messages[number];
    Progress& progress = progress_[number];
    for (; progress.posted < message.count; ++progress.posted) {
      const model::Step& next = step(message, progress.posted);
      const bool earlier_done =
          std::all_of(progress.finished.begin(), progress.finished.end(), [](bool f) { return f; });
      if (next.after_receives > static_cast<std::int32_t>(progress.received)) return;
      if (next.after_earlier && !earlier_done) return;
      post(next.peer, tag_of(message), next.bytes, next.receives);
      progress.finished.push_back(false);
    }
  }

  void finish(std::uint32_t number, std::uint32_t i) {
    const model::ScheduledMessage& message = list_.messages[number];
    Progress& progress = progress_[number];
    if (progress.finished[i]) return;
    const model::Step& done = step(message, i);
    wait(done.peer, tag_of(message), done.bytes, done.receives);
    progress.finished[i] = true;
    if (done.receives) ++progress.received;
  }

  // Until all data are received and everything that depends on them is sent; `to_the_end`: and has been sent.
  void advance(std::uint32_t number, bool to_the_end) {
    const model::ScheduledMessage& message = list_.messages[number];
    Progress& progress = progress_[number];
    while (true) {
      for (std::uint32_t i = 0; i < progress.posted; ++i) {
        if (step(message, i).receives && !progress.finished[i]) {
          finish(number, i);
          post_ready(number);
        }
      }
      if (progress.posted == message.count) break;
      // the next step depends on sends, too
      for (std::uint32_t i = 0; i < progress.posted; ++i) finish(number, i);
      post_ready(number);
    }
    if (to_the_end) {
      for (std::uint32_t i = 0; i < message.count; ++i) finish(number, i);
    }
  }

  // Recursive doubling over the process column. Rows beyond a power of two first send, and receive at the end.
  void all_reduce(int tag, double bytes) {
    const int rows = problem_.grid.rows, row = list_.at.row;
    const int most = static_cast<int>(std::bit_floor(static_cast<unsigned>(rows)));
    const auto rank_at = [&](int other) { return other * problem_.grid.columns + list_.at.column; };
    const auto transfer = [&](int other, bool sends, bool receives) {
      if (sends) post(rank_at(other), tag, bytes, false);
      if (receives) post(rank_at(other), tag, bytes, true);
      if (sends) wait(rank_at(other), tag, bytes, false);
      if (receives) wait(rank_at(other), tag, bytes, true);
    };
    if (row >= most) {
      transfer(row - most, true, false);
      transfer(row - most, false, true);
      return;
    }
    if (row + most < rows) transfer(row + most, false, true);
    for (int distance = 1; distance < most; distance *= 2) transfer(row ^ distance, true, true);
    if (row + most < rows) transfer(row + most, true, false);
  }

  const model::Problem& problem_;
  const model::RankSchedule& list_;
  int rank_;
  std::string text_;
  double nanoseconds_ = 0;  // computed since the last action
  std::vector<Progress> progress_;
};

// Nodes are hosts; the links of the topology join clusters of them.
std::string platform_text(const model::MachineModel& machine, const model::Problem& problem, int nodes) {
  const model::Cost& network = machine.figures[Work::network].cost;
  const model::Cost& memory = machine.figures[Work::memory].cost;
  constexpr double no_limit = 1e15;  // bytes a second
  const auto rate = [](const model::Cost& cost) { return cost.per_byte > 0 ? 1 / cost.per_byte : no_limit; };
  const model::Topology& topology = machine.topology;
  const bool is_crossbar = topology.kind == model::Topology::Kind::crossbar;
  const int group = is_crossbar ? nodes : topology.group;
  const int groups = (nodes + group - 1) / group;
  std::string text =
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform "
      "version=\"4.1\">\n";
  if (groups > 1) text += "<zone id=\"all\" routing=\"Full\">\n";
  for (int g = 0; g < groups; ++g) {
    text += fmt::format(
        "<cluster id=\"group{}\" prefix=\"node\" suffix=\"\" radical=\"{}-{}\" speed=\"1Gf\" core=\"{}\" "
        "bw=\"{:.6e}Bps\" lat=\"{:.9e}s\" sharing_policy=\"SPLITDUPLEX\" loopback_bw=\"{:.6e}Bps\" "
        "loopback_lat=\"{:.9e}s\" router_id=\"router{}\"/>\n",
        g, g * group, std::min(nodes, (g + 1) * group) - 1, problem.arrangement.processes_per_node, rate(network),
        network.per_step / 2, rate(memory), memory.per_step, g);
  }
  if (groups == 1) return text + "</platform>\n";
  const auto link = [&](const std::string& name, double links) {
    text += fmt::format("<link id=\"{}\" bandwidth=\"{:.6e}Bps\" latency=\"0s\"/>\n", name, links * rate(network));
  };
  const double uplink = topology.group / topology.taper;
  const bool is_tree = topology.kind == model::Topology::Kind::fat_tree;
  for (int from = 0; from < groups; ++from) {
    if (is_tree) link(fmt::format("up{}", from), uplink);
    if (is_tree) link(fmt::format("down{}", from), uplink);
    for (int to = 0; to < groups && !is_tree; ++to) {
      if (to != from) link(fmt::format("link{}to{}", from, to), uplink / std::max(1, groups - 1));
    }
  }
  for (int from = 0; from < groups; ++from) {
    for (int to = 0; to < groups; ++to) {
      if (to == from) continue;
      const std::string route = is_tree ? fmt::format("<link_ctn id=\"up{}\"/><link_ctn id=\"down{}\"/>", from, to)
                                        : fmt::format("<link_ctn id=\"link{}to{}\"/>", from, to);
      text += fmt::format(
          "<zoneRoute src=\"group{}\" dst=\"group{}\" gw_src=\"router{}\" gw_dst=\"router{}\" "
          "symmetrical=\"NO\">{}</zoneRoute>\n",
          from, to, from, to, route);
    }
  }
  return text + "</zone>\n</platform>\n";
}

void write(const std::filesystem::path& path, const std::string& text) {
  write_file(path.string(), false, [&text](std::ostream& file) { file << text; });
}

}  // namespace

void check_traces(const model::MachineModel& machine, const model::Problem& problem) {
  if (machine.overhead > 0 || machine.gap > 0) {
    throw InputError("--traces: SimGrid's links have no --overhead and no --gap; leave them out");
  }
  if (problem.arrangement.in_background) {
    throw InputError(
        "--traces: a rank of SimGrid's traces cannot compute on a GPU while its host sends; give --backend openblas "
        "and --from");
  }
  if (problem.parameters.lookahead > 0) {
    throw InputError(
        "--traces: a rank of SimGrid's traces forwards nothing while it computes, as it does with look-ahead; give "
        "--lookahead 0");
  }
}

void write_traces(const std::string& folder, const model::Schedule& schedule, const model::MachineModel& machine,
                  const model::Problem& problem, double expected_seconds) {
  std::error_code error;
  if (!std::filesystem::create_directory(folder, error)) {
    throw InputError("--traces " + folder + ": " + (error ? error.message() : "exists already; name a new folder"));
  }
  const std::filesystem::path path(folder);
  std::string list, hosts;
  int nodes = 1;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const std::string name = fmt::format("rank{}.txt", rank);
    write(path / name, RankTrace(problem, schedule, rank).text());
    list += name + "\n";
    hosts += fmt::format("node{}\n", schedule.ranks[rank].node);
    nodes = std::max(nodes, schedule.ranks[rank].node + 1);
  }
  write(path / "traces.txt", list);
  write(path / "hosts.txt", hosts);
  write(path / "platform.xml", platform_text(machine, problem, nodes));
  write(path / "expected.txt", fmt::format("{:.9e}\n", expected_seconds));
}

}  // namespace glinpack::app
