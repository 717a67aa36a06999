// The messages without the arithmetic, and the arithmetic without the messages, against whole factorisations.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "global/candidate_reduction.hpp"
#include "global/panel.hpp"
#include "global/plan_swap.hpp"
#include "global/run_messages.hpp"
#include "global/stand_ins.hpp"
#include "global/tournament_tree.hpp"
#include "tests/mpi/kept_backend.hpp"

namespace glinpack {
namespace {

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::vector<GridShape> grids_of_this_world() {
  std::vector<GridShape> grids;
  for (int rows = 1; rows <= world_size(); ++rows) {
    if (world_size() % rows == 0) grids.push_back({rows, world_size() / rows});
  }
  return grids;
}

std::vector<RunParameters> cases(RunParts parts) {
  std::vector<RunParameters> all;
  for (const auto& [n, nb] :
       {std::pair<Index, Index>{1, 1}, {5, 8}, {30, 3}, {65, 16}, {97, 40}, {130, 33}, {150, 100}}) {
    for (const Pivoting pivoting : {Pivoting::local, Pivoting::partial, Pivoting::tournament}) {
      RunParameters parameters;
      parameters.n = n;
      parameters.nb = nb;
      parameters.pivoting = pivoting;
      parameters.parts = parts;
      all.push_back(parameters);
    }
  }
  for (const auto& [n, nb] : {std::pair<Index, Index>{5, 8}, {30, 3}, {97, 40}}) {
    for (const RowSwapKind kind : all_row_swaps) {
      RunParameters parameters;
      parameters.n = n;
      parameters.nb = nb;
      parameters.pivoting = kind == RowSwapKind::spread_roll ? Pivoting::tournament : Pivoting::partial;
      parameters.parts = parts;
      parameters.row_swap = {kind, 20, 3};
      all.push_back(parameters);
    }
  }
  return all;
}

testing::Message description(const RunParameters& parameters, GridShape grid) {
  return testing::Message() << "N = " << parameters.n << ", nb = " << parameters.nb << ", " << grid.rows << "x"
                            << grid.columns << ", " << name_of(parameters.pivoting) << " pivoting, rows by "
                            << name_of(parameters.row_swap.kind) << ", " << parameters.row_swap.pieces << " pieces";
}

// What one rank receives: by phase, messages and bytes.
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

// The schedule's messages to the rank at `at`, in the form in which they travel; of row exchanges, whose extents the
// schedule does not know, the most possible; candidates meet in an all-reduce for each column, which brings every rank
// one message.
template <class Real>
ByPhase scheduled_for(const RunParameters& parameters, const Distribution& distribution, GridPosition at) {
  ByPhase received;
  const auto add = [&received](Phase phase, Index messages, Index bytes) {
    received[phase].messages += messages;
    received[phase].bytes += messages * bytes;
  };
  constexpr Index real = sizeof(Real);
  for (Index pass = 0; pass < distribution.passes(); ++pass) {
    const Index width = distribution.pass_width(pass);
    bool has_candidates = false;
    for (const Message& message : messages_of_pass(distribution, parameters.pivoting, pass, parameters.row_swap)) {
      if (std::find(message.to.begin(), message.to.end(), at) == message.to.end()) continue;
      switch (message.kind) {
        case Message::Kind::panel_row:
          add(Phase::broadcast_l, 1, panel_message_elements<Real>(message.elements / width, width) * real);
          break;
        case Message::Kind::u11_column:
          add(Phase::broadcast_u, 1, u11_message_elements(width) * real);
          break;
        case Message::Kind::u12_column:
          add(Phase::broadcast_u, message.parts, message.elements / message.parts * real);
          received[Phase::broadcast_u].bytes += message.elements % message.parts * real;
          break;
        case Message::Kind::candidate:
          has_candidates = true;
          break;
        case Message::Kind::match:
          add(Phase::panel, message.parts, 0);
          received[Phase::panel].bytes += candidates_message_elements<Real>(message.elements / width, width) * real;
          break;
        case Message::Kind::winners:
          add(Phase::broadcast_u, message.parts, 0);
          received[Phase::broadcast_u].bytes +=
              winners_message_elements<Real>(width, width) * real + (message.parts - 1) * Index{sizeof(std::int64_t)};
          break;
        case Message::Kind::row_exchange:
        case Message::Kind::u_exchange:
        case Message::Kind::spread:
        case Message::Kind::equal_pieces:
        case Message::Kind::roll:
          add(Phase::swap, message.parts, 0);
          received[Phase::swap].bytes += message.elements * real;
          break;
      }
    }
    if (has_candidates) {
      add(Phase::panel, width, static_cast<Index>(sizeof(CandidateHeader)) + 2 * width * real);
    }
    // a rank without rows of the panel is told the pivots all the same
    const PassPlan plan = plan_pass(distribution, pass, at);
    const bool has_l11 = all_compute_u12(parameters.row_swap, parameters.pivoting, distribution.shape);
    if (!plan.in_pivot_column && plan.panel_rows == 0 && !has_l11) {
      add(Phase::broadcast_l, 1, panel_message_elements<Real>(0, width) * real);
    }
  }
  return received;
}

// Rows of the drawn pivots that reach the rank at `at` from other process rows.
template <class Real>
Received drawn_rows_for(const RunParameters& parameters, const Distribution& distribution, GridPosition at) {
  Received received;
  if (!pivots_across_processes(parameters.pivoting)) return received;
  for (Index pass = 0; pass < distribution.passes(); ++pass) {
    const auto pivots = drawn_pivots(distribution, parameters.pivoting, pass);
    const PassPlan plan = plan_pass(distribution, pass, at);
    for (ColumnRange piece = first_piece(plan.trailing_columns, distribution.nb, parameters.row_swap.pieces);
         piece.count > 0; piece = piece_after(piece, plan.trailing_columns)) {
      const RowExchangePlan exchange = plan_swap(parameters, distribution, at, plan, pivots, piece);
      received.messages += exchange.messages_received();
      received.bytes += exchange.rows_received() * piece.count * Index{sizeof(Real)};
    }
  }
  return received;
}

template <class Real>
void expect_the_schedules_messages(const RunParameters& parameters, const ProcessGrid& grid) {
  const RunResult result = run_messages(parameters, grid, precision_of<Real>);
  EXPECT_GE(result.seconds, 0);
  const Distribution distribution = distribution_of(parameters, grid.shape());
  for (const RankRecord& rank : result.ranks) {
    const GridPosition at{rank.row, rank.column};
    SCOPED_TRACE(testing::Message() << "rank (" << at.row << ", " << at.column << ")");
    ByPhase expected = scheduled_for<Real>(parameters, distribution, at);
    const Received most = expected[Phase::swap];
    expected.erase(Phase::swap);
    if (const Received rows = drawn_rows_for<Real>(parameters, distribution, at); rows.messages > 0) {
      expected[Phase::swap] = rows;
      // a direct exchange goes both ways, and the schedule has the rows that leave the pivot's process row
      if (all_compute_u12(parameters.row_swap, parameters.pivoting, distribution.shape)) {
        EXPECT_LE(rows.messages, most.messages);
        EXPECT_LE(rows.bytes, most.bytes);
      }
    }
    EXPECT_EQ(received_by(rank), expected);
  }
}

TEST(MessageSteps, SendTheMessagesOfTheScheduleAndNoOthers) {
  for (const GridShape shape : grids_of_this_world()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    for (RunParameters parameters : cases(RunParts::messages)) {
      SCOPED_TRACE(description(parameters, shape));
      expect_the_schedules_messages<float>(parameters, grid);
      expect_the_schedules_messages<double>(parameters, grid);
      parameters.broadcast = BroadcastKind::long_modified;
      expect_the_schedules_messages<float>(parameters, grid);
      parameters.node_transport = NodeTransport::mpi;
      expect_the_schedules_messages<float>(parameters, grid);
    }
  }
}

template <class Real>
RunResult run_with(const RunParameters& parameters, const ProcessGrid& grid, const std::string& backend_name) {
  auto& [timeline, backend] = test::kept_backend<Real>(backend_name);
  return run(parameters, grid, *backend, timeline, *make_hpl_source(parameters.n));
}

// Which rows a matrix exchanges is its own affair; all else is the same.
TEST(MessageSteps, SendWhatAWholeFactorisationSends) {
  for (const GridShape shape : grids_of_this_world()) {
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

// Operations and bytes by what they are for, the network's and the row exchanges' apart: those depend on the matrix.
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
  for (const GridShape shape : grids_of_this_world()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    for (const RunParameters& parameters : cases(RunParts::compute)) {
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
          EXPECT_NE(interval.phase, Phase::substitution) << "nothing is solved";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ComputeOnly, testing::Values("reference", "openblas", "gl-compute"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace glinpack
