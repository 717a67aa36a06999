// Compares message-only and compute-only runs with whole factorisations.
#include <mpi.h>

#include <map>
#include <tuple>
#include <vector>

#include "lu/recording.hpp"
#include "mpi/communication.hpp"
#include "mpi/session.hpp"
#include "run/run.hpp"
#include "tests/global/cached_backend.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"
#include "transport/message_record.hpp"

// This process's MPI calls that send, receive, reduce and broadcast are intercepted (MPI's profiling interface), and
// recorded while a SentMessages object exists.
namespace {

struct Intercepted {
  MPI_Comm communicator;
  int peer;  // -1: collective
  int tag;   // -1: collective
  bool receives;
  glinpack::Index bytes;
};

bool intercepting = false;
std::vector<Intercepted> intercepted;

void intercept(MPI_Comm communicator, int peer, int tag, bool receives, int count, MPI_Datatype type) {
  if (!intercepting) return;
  int size = 0;
  PMPI_Type_size(type, &size);
  intercepted.push_back({communicator, peer, tag, receives, static_cast<glinpack::Index>(count) * size});
}

}  // namespace

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  intercept(communicator, to, tag, false, count, type);
  return PMPI_Isend(data, count, type, to, tag, communicator, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  intercept(communicator, from, tag, true, count, type);
  return PMPI_Irecv(data, count, type, from, tag, communicator, request);
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator,
                   MPI_Request* request) {
  intercept(communicator, -1, -1, true, count, type);
  return PMPI_Iallreduce(from, to, count, type, operation, communicator, request);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm communicator, MPI_Request* request) {
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  intercept(communicator, -1, -1, rank != root, count, type);
  return PMPI_Ibcast(data, count, type, root, communicator, request);
}

}  // extern "C"

namespace glinpack::test {

class SentMessages {
 public:
  SentMessages() {
    intercepted.clear();
    intercepting = true;
  }
  SentMessages(const SentMessages&) = delete;
  SentMessages& operator=(const SentMessages&) = delete;
  ~SentMessages() { intercepting = false; }

  /// The messages on `communicator`, in call order: those of row exchanges, or all others. `line`: the line of the grid
  /// that the communicator spans.
  std::vector<WireMessage> on(MPI_Comm communicator, Line line, bool rows) const {
    std::vector<WireMessage> messages;
    for (const Intercepted& message : intercepted) {
      if (message.communicator != communicator || (message.tag == tags::row_exchange) != rows) continue;
      messages.push_back({line, message.peer, message.receives, message.bytes});
    }
    return messages;
  }
};

}  // namespace glinpack::test

namespace glinpack {
namespace {

using test::world_size;

// Four ranks test grids of one row and of one column.
std::vector<GridShape> grids_of_all_ranks() {
  std::vector<GridShape> grids;
  for (int rows = 1; rows <= world_size(); ++rows) {
    const GridShape grid{rows, world_size() / rows};
    const bool is_line = grid.rows == 1 || grid.columns == 1;
    if (grid.size() == world_size() && !(is_line && world_size() > 4)) grids.push_back(grid);
  }
  return grids;
}

std::vector<RunParameters> cases(RunParts parts) {
  std::vector<RunParameters> all;
  for (const auto& [n, nb] :
       {std::pair<Index, Index>{1, 1}, {5, 8}, {20, 2}, {33, 8}, {49, 20}, {65, 17}, {150, 100}}) {
    for (const Pivoting pivoting : all_pivotings) {
      all.push_back({.n = n, .nb = nb, .pivoting = pivoting, .parts = parts});
    }
  }
  for (const auto& [n, nb] : {std::pair<Index, Index>{5, 8}, {20, 2}, {49, 20}}) {
    for (const RowSwapKind kind : all_row_swaps) {
      all.push_back({.n = n,
                     .nb = nb,
                     .pivoting = kind == RowSwapKind::spread_roll ? Pivoting::tournament : Pivoting::partial,
                     .row_swap = {kind, 20, 3},
                     .parts = parts});
    }
  }
  return all;
}

// Two of the eight broadcasts for each case: in the whole list of cases every pivoting and row swap meets several.
std::vector<BroadcastKind> broadcasts_of_case(std::size_t index) {
  return {all_broadcasts[index % 8], all_broadcasts[(index + 3) % 8]};
}
static_assert(all_broadcasts.size() == 8);

testing::Message description(const RunParameters& parameters, GridShape grid) {
  return testing::Message() << "N = " << parameters.n << ", nb = " << parameters.nb << ", " << grid.rows << "x"
                            << grid.columns << ", " << name_of(parameters.pivoting) << " pivoting, rows by "
                            << name_of(parameters.row_swap.kind) << ", " << parameters.row_swap.pieces << " pieces";
}

// The messages and bytes that one rank receives, by phase.
struct Received {
  Index messages = 0;
  Index bytes = 0;
  friend bool operator==(const Received&, const Received&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Received& received) {
    return out << received.messages << " messages, " << received.bytes << " bytes";
  }
};
using ByPhase = std::map<Phase, Received>;

ByPhase received_by(const RankRecord& rank) {
  ByPhase received;
  for (const Interval& interval : rank.intervals) {
    if (interval.lane != Lane::net || interval.pass < 0) continue;
    received[interval.phase].messages += interval.messages;
    received[interval.phase].bytes += interval.bytes;
  }
  std::erase_if(received, [](const auto& entry) { return entry.second == Received{}; });
  return received;
}

// The messages of each pair of ranks in order. Messages of different pairs are independent, and so are row exchanges,
// whose rounds start when they are polled, and all others.
using ByPeer = std::map<std::tuple<Line, int, bool, bool>, std::vector<Index>>;

void add_by_peer(ByPeer& sorted, const std::vector<WireMessage>& messages, bool rows) {
  for (const WireMessage& message : messages) {
    if (message.in_memory) continue;  // not an MPI message
    sorted[{message.line, message.peer, message.receives, rows}].push_back(message.bytes);
  }
}

ByPeer by_peer(const test::SentMessages& messages, const ProcessGrid& grid) {
  ByPeer sorted;
  for (const bool rows : {false, true}) {
    add_by_peer(sorted, messages.on(grid.row(), Line::row, rows), rows);
    add_by_peer(sorted, messages.on(grid.column(), Line::column, rows), rows);
  }
  return sorted;
}

// This rank's messages as the recorder lists them.
ByPeer recorded(const RunParameters& parameters, const ProcessGrid& grid, Precision precision,
                const BroadcastRoutes& routes, LuAlgorithm algorithm = LuAlgorithm::blocked) {
  const Distribution distribution = distribution_of(parameters, grid.shape());
  const auto element_bytes = static_cast<Index>(factor_bytes(precision));
  ByPeer messages;
  const PassRange all{0, distribution.passes()};
  const RankOperations list = record_on_host(parameters, {grid.shape(), grid.position()}, all, precision, algorithm);
  for (const MessageRecord& record : list.messages) {
    add_by_peer(messages, wire_messages(record, grid.shape(), grid.position(), routes, element_bytes),
                record.kind == MessageKind::rows);
  }
  return messages;
}

BroadcastRoutes routes_of(const RunParameters& parameters, const ProcessGrid& grid, Precision precision) {
  BroadcastRoutes routes{.kind = parameters.broadcast, .nodes_of_row = {}, .nodes_of_column = {}, .largest = {}};
  if (!uses_node_windows(parameters)) return routes;
  routes.nodes_of_row = nodes_of(grid.row());
  routes.nodes_of_column = nodes_of(grid.column());
  routes.largest = precision == Precision::double_ ? broadcast_sizes<double>(parameters, grid.shape(), grid.position())
                                                   : broadcast_sizes<float>(parameters, grid.shape(), grid.position());
  return routes;
}

// The messages of a factorisation by a backend that computes nothing.
ByPeer sent_by(const RunParameters& parameters, const ProcessGrid& grid, const ModelledDevice& device,
               NodeWindows* windows = nullptr) {
  const Distribution distribution = distribution_of(parameters, grid.shape());
  const GridPosition at = grid.position();
  Timeline timeline;
  OperationList unused(timeline);
  const auto backend = make_none_backend<float>(timeline, HostPages::lazy, device, &unused);
  const auto a = backend->allocate(distribution.local_rows(at), distribution.local_columns(at));
  const test::SentMessages messages;
  test::factorize(parameters, distribution, grid, *backend, timeline, *a, windows);
  return by_peer(messages, grid);
}

void expect_recorded_messages(const RunParameters& parameters, const ProcessGrid& grid, Precision precision) {
  RunParameters sequential = parameters;
  sequential.lookahead = 0;  // as in run_messages()
  const ByPeer expected = recorded(sequential, grid, precision, routes_of(sequential, grid, precision));
  ByPeer sent;
  {
    const test::SentMessages messages;
    run_messages(parameters, grid, precision);
    sent = by_peer(messages, grid);
  }
  EXPECT_EQ(sent, expected) << name_of(parameters.broadcast) << ", node memory " << parameters.node_memory;
}

// Every pivoting and row swap on every grid, over MPI and over shared memory; each broadcast with some of them.
TEST(Recorder, ListsTheMessagesThatMpiSends) {
  for (const GridShape shape : grids_of_all_ranks()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    std::size_t index = 0;
    for (RunParameters parameters : cases(RunParts::messages)) {
      SCOPED_TRACE(description(parameters, shape));
      for (const BroadcastKind broadcast : broadcasts_of_case(index++)) {
        parameters.broadcast = broadcast;
        const Precision precision = index % 2 == 0 ? Precision::single : Precision::double_;
        for (const bool node_memory : {true, false}) {
          parameters.node_memory = node_memory;
          expect_recorded_messages(parameters, grid, precision);
        }
      }
    }
  }
}

// A pipelined ring splits messages of this size on one or two process rows.
TEST(Recorder, ListsTheMessagesOfEveryBroadcast) {
  for (const GridShape shape : grids_of_all_ranks()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    RunParameters parameters{.n = 800, .nb = 200, .node_memory = false};
    for (const BroadcastKind broadcast : all_broadcasts) {
      parameters.broadcast = broadcast;
      SCOPED_TRACE(description(parameters, shape));
      expect_recorded_messages(parameters, grid, Precision::double_);
    }
  }
}

// Two ranks a node: the messages between the first ranks of the nodes.
TEST(Recorder, ListsTheMessagesBetweenNodesWithLookAhead) {
  const auto nodes_of_two = [](int size) {
    std::vector<int> nodes;
    for (int rank = 0; rank < size; ++rank) nodes.push_back(rank / 2 * 2);
    return nodes;
  };
  for (const GridShape shape : grids_of_all_ranks()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    std::size_t index = 0;
    for (RunParameters parameters : cases(RunParts::messages)) {
      SCOPED_TRACE(description(parameters, shape));
      parameters.lookahead = 1;
      BroadcastRoutes routes{.kind = {},
                             .nodes_of_row = nodes_of_two(shape.columns),
                             .nodes_of_column = nodes_of_two(shape.rows),
                             .largest = broadcast_sizes<float>(parameters, shape, grid.position())};
      NodeWindows windows(grid, routes.nodes_of_row, routes.nodes_of_column, routes.largest, 1);
      for (const BroadcastKind kind : broadcasts_of_case(index++)) {
        routes.kind = parameters.broadcast = kind;
        EXPECT_EQ(sent_by(parameters, grid, {}, &windows), recorded(parameters, grid, Precision::single, routes))
            << name_of(kind);
      }
    }
  }
}

TEST(Recorder, ListsTheMessagesOfTheRowByRowAlgorithm) {
  for (const GridShape shape : grids_of_all_ranks()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    for (RunParameters parameters : cases(RunParts::all)) {
      const LuAlgorithm algorithm = lu_algorithm(true, parameters.pivoting, shape);
      if (algorithm == LuAlgorithm::blocked) continue;
      SCOPED_TRACE(description(parameters, shape));
      parameters.node_memory = false;
      EXPECT_EQ(
          sent_by(parameters, grid, {.row_by_row = true}),
          recorded(parameters, grid, Precision::single, routes_of(parameters, grid, Precision::single), algorithm));
    }
  }
}

template <class Real>
RunResult run_with(const RunParameters& parameters, const ProcessGrid& grid, const std::string& backend_name) {
  auto& [timeline, backend] = test::cached_backend<Real>(backend_name);
  return run(parameters, grid, *backend, *make_hpl_source(parameters.n));
}

// The row exchanges depend on the matrix; all other messages are the same.
TEST(NetworkRun, SendsTheMessagesOfAWholeFactorisation) {
  for (const GridShape shape : grids_of_all_ranks()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::column_major);
    for (const RunParameters& parameters : cases(RunParts::messages)) {
      SCOPED_TRACE(description(parameters, shape));
      RunParameters whole = parameters;
      whole.parts = RunParts::all;
      const RunResult messages = run_messages(parameters, grid, Precision::single);
      const RunResult real = run_with<float>(whole, grid, "openblas");
      ASSERT_EQ(messages.ranks.size(), real.ranks.size());
      for (std::size_t rank = 0; rank < real.ranks.size(); ++rank) {
        ByPhase sent = received_by(messages.ranks[rank]);
        ByPhase expected = received_by(real.ranks[rank]);
        sent.erase(Phase::swap);
        expected.erase(Phase::swap);
        EXPECT_EQ(sent, expected) << "rank " << rank;
      }
    }
  }
}

// Operations and bytes by role, phase and lane; without network and row exchanges, which depend on the matrix.
using Work = std::map<std::tuple<Role, Phase, Lane>, std::pair<double, std::int64_t>>;

Work work_of(const RankRecord& rank) {
  Work work;
  for (const Interval& interval : rank.intervals) {
    if (interval.pass < 0 || interval.lane == Lane::net) continue;
    if (interval.phase == Phase::swap || interval.phase == Phase::wait) continue;
    auto& [flops, bytes] = work[{interval.role, interval.phase, interval.lane}];
    flops += interval.flops;
    bytes += interval.bytes;
  }
  return work;
}

class ComputeOnly : public testing::TestWithParam<std::string> {};

TEST_P(ComputeOnly, DoesTheArithmeticOfAWholeFactorisationAndSendsNothing) {
  for (const GridShape shape : grids_of_all_ranks()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    for (const RunParameters& parameters : cases(RunParts::compute)) {
      if (parameters.pivoting == Pivoting::tournament) continue;
      SCOPED_TRACE(description(parameters, shape));
      RunParameters whole = parameters;
      whole.parts = RunParts::all;
      const RunResult computed = run_with<double>(parameters, grid, GetParam());
      const RunResult real = run_with<double>(whole, grid, GetParam());
      EXPECT_FALSE(computed.checked);
      EXPECT_FALSE(computed.passed);
      EXPECT_EQ(computed.failure, "");
      EXPECT_EQ(computed.solve_seconds, 0);
      ASSERT_EQ(computed.ranks.size(), real.ranks.size());
      for (std::size_t rank = 0; rank < real.ranks.size(); ++rank) {
        EXPECT_EQ(work_of(computed.ranks[rank]), work_of(real.ranks[rank])) << "rank " << rank;
        for (const Interval& interval : computed.ranks[rank].intervals) {
          EXPECT_NE(interval.lane, Lane::net);
          EXPECT_NE(interval.phase, Phase::substitution) << "a compute-only run solved";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ComputeOnly, testing::Values("reference", "openblas", "gl-compute", "vk-compute"),
                         test::backend_identifier);

}  // namespace
}  // namespace glinpack
