// Factors do not depend on when MPI sends and receives, and nothing is left over. GLINPACK_CHAOS_SEEDS=100 for more
// seeds than a few, GLINPACK_CHAOS_FIRST_SEED to repeat one.

#include <cstdlib>
#include <random>
#include <span>

#include "backend/registry.hpp"
#include "mpi/communication.hpp"
#include "mpi/session.hpp"
#include "run/memory_need.hpp"
#include "run/run.hpp"
#include "tests/global/chaos/chaos_mpi.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using namespace test;

long environment_number(const char* name, long otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atol(text);
}

long chaos_seeds() { return environment_number("GLINPACK_CHAOS_SEEDS", 4); }

// the same on every rank
struct Choices {
  std::mt19937 random;
  template <class Range>
  auto one_of(const Range& range) {
    return *(std::begin(range) + static_cast<std::ptrdiff_t>(random() % std::size(range)));
  }
};

constexpr std::array<test::Size, 6> all_sizes{{{1, 1}, {5, 8}, {30, 3}, {45, 8}, {50, 33}, {64, 16}}};
constexpr std::array<test::Size, 4> sizes_on_devices{{{30, 4}, {45, 8}, {64, 16}, {97, 40}}};

RunParameters random_parameters(Choices& choices, Pivoting pivoting, std::span<const test::Size> sizes = all_sizes) {
  RunParameters parameters = test::parameters_of(choices.one_of(sizes), pivoting);
  parameters.broadcast = choices.one_of(all_broadcasts);
  parameters.row_swap = {choices.one_of(all_row_swaps), 20, choices.one_of(std::array{1, 2, 3})};
  parameters.lookahead = choices.one_of(std::array{0, 1});
  parameters.node_memory = choices.one_of(std::array{true, false});
  return parameters;
}

template <class Real>
void expect_same_factors(const ProcessGrid& grid, const RunParameters& parameters, const std::string& backend,
                         std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << grid.shape().rows << "x" << grid.shape().columns << ", "
                                  << backend << ", " << name_of(precision_of<Real>) << ", N = " << parameters.n
                                  << ", nb = " << parameters.nb << ", " << name_of(parameters.pivoting) << " pivoting, "
                                  << name_of(parameters.broadcast) << ", rows by " << name_of(parameters.row_swap.kind)
                                  << ", look-ahead " << parameters.lookahead);
  const bool on_device = parameters.panel == PanelPlace::device;
  std::unique_ptr<NodeWindows> windows;
  if (uses_node_windows(parameters)) {
    windows = make_node_windows(grid, broadcast_sizes<Real>(parameters, grid.shape(), grid.position(), on_device), 1);
    ASSERT_TRUE(windows);
  }
  const auto source = make_hpl_source(parameters.n);
  const auto expected = factorize_and_gather<Real>(parameters, grid, backend, *source, windows.get());
  const Chaos chaos(seed * 1000 + static_cast<std::uint64_t>(test::world_rank()));
  const auto factors = factorize_and_gather<Real>(parameters, grid, backend, *source, windows.get());
  if (grid.is_root()) test::expect_equal(factors, expected);
  EXPECT_EQ(take_mpi_leaks(), "");
}

/// `expect`: called with every grid of this world, for several seeds.
template <class Expect>
void with_every_grid_and_seed(long seeds, Expect expect) {
  const long first = environment_number("GLINPACK_CHAOS_FIRST_SEED", 1);
  for (long seed = first; seed < first + seeds; ++seed) {
    Choices choices{std::mt19937(static_cast<unsigned>(seed))};
    for (const GridShape shape : test::grids_of_this_world()) {
      expect(ProcessGrid(MPI_COMM_WORLD, shape, RankOrder::row_major), choices, static_cast<std::uint64_t>(seed));
      EXPECT_EQ(take_mpi_leaks(), "") << "after the grid's communicators were freed";
    }
  }
}

TEST(Chaos, DoesNotChangeFactors) {
  with_every_grid_and_seed(chaos_seeds(), [](const ProcessGrid& grid, Choices& choices, std::uint64_t seed) {
    for (const Pivoting pivoting : all_pivotings) {
      const RunParameters parameters = random_parameters(choices, pivoting);
      const std::string backend = choices.one_of(std::array{"openblas", "reference"});
      const bool single = choices.one_of(std::array{false, true});
      if (!grid.active()) continue;
      (single ? expect_same_factors<float> : expect_same_factors<double>)(grid, parameters, backend, seed);
    }
  });
}

// Panels that devices factorise, with transfers that overlap kernels: a fourth of the seeds, in single precision.
TEST(Chaos, DoesNotChangeFactorsOfDevicePanels) {
  const long seeds = (chaos_seeds() + 3) / 4;
  if (test::world_size() > 4) GTEST_SKIP() << "four ranks have panels of every kind";
  with_every_grid_and_seed(seeds, [](const ProcessGrid& grid, Choices& choices, std::uint64_t seed) {
    for (const Pivoting pivoting : {Pivoting::partial, Pivoting::tournament}) {
      RunParameters parameters = random_parameters(choices, pivoting, sizes_on_devices);
      parameters.panel = PanelPlace::device;
      expect_same_factors<float>(grid, parameters, test::queued_backend, seed);
    }
  });
}

/// MPI, and the peer copies of `lines`.
template <class Real>
class PeerTransport final : public MpiTransport<Real> {
 public:
  static inline PeerLines* lines = nullptr;

  PeerTransport(const ProcessGrid& grid, BroadcastKind broadcast, Timeline& timeline, Windows node)
      : MpiTransport<Real>(grid, broadcast, timeline, {node.node, lines}), grid_(grid) {}
  void map_windows() { ASSERT_TRUE(glinpack::map_windows(grid_, *lines)); }

 private:
  const ProcessGrid& grid_;
};

// Messages between devices, by the driver of fake_cuda.cpp on lavapipe's memory: the same factors as through the host's
// memory, whatever the order of their notices and acknowledgements.
TEST(Chaos, DoesNotChangeFactorsOfPeers) {
  if (test::world_size() > 4) GTEST_SKIP() << "four ranks have panels of every kind";
  auto& backend = *test::cached_backend<float>(test::queued_vulkan).backend;
  setenv("FAKE_CUDA_UUID", backend.info().device_uuid.c_str(), 1);
  PeerMemory* const memory = backend.open_peers();
  if (memory == nullptr) GTEST_SKIP() << "no libcuda.so.1";
  with_every_grid_and_seed((chaos_seeds() + 1) / 2, [&](const ProcessGrid& grid, Choices& choices, std::uint64_t seed) {
    RunParameters parameters = random_parameters(choices, Pivoting::partial, sizes_on_devices);
    parameters.panel = PanelPlace::device;
    parameters.broadcast = BroadcastKind::ring;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << grid.shape().rows << "x" << grid.shape().columns
                                    << ", N = " << parameters.n << ", nb = " << parameters.nb << ", rows by "
                                    << name_of(parameters.row_swap.kind));
    const auto source = make_hpl_source(parameters.n);
    const auto node =
        make_node_windows(grid, broadcast_sizes<float>(parameters, grid.shape(), grid.position(), true), 1);
    const auto expected = factorize_and_gather<float>(parameters, grid, test::queued_vulkan, *source, node.get());
    const auto lines = open_peer_lines(grid, [memory] { return memory; });
    ASSERT_TRUE(lines);
    PeerTransport<float>::lines = lines.get();
    const Chaos chaos(seed * 1000 + static_cast<std::uint64_t>(test::world_rank()));
    const auto factors =
        factorize_and_gather<float, PeerTransport<float>>(parameters, grid, test::queued_vulkan, *source, node.get());
    if (grid.is_root()) test::expect_equal(factors, expected);
    EXPECT_EQ(take_mpi_leaks(), "");
  });
}

// The memory that is counted for buffers of such messages is what they take.
TEST(Peers, TakeTheMemoryThatIsCounted) {
  auto& cached = *test::cached_backend<float>(test::queued_vulkan).backend;
  setenv("FAKE_CUDA_UUID", cached.info().device_uuid.c_str(), 1);
  if (cached.open_peers() == nullptr) GTEST_SKIP() << "no libcuda.so.1";
  test::on_every_grid([&](const ProcessGrid& grid) {
    const RunParameters parameters{.n = 203, .nb = 16, .pivoting = Pivoting::partial, .panel = PanelPlace::device};
    const RankPlace place{grid.shape(), grid.position(), nodes_of(grid.row()), nodes_of(grid.column())};
    const auto counted = [&](bool has_peers) {
      const ModelledDevice device{.has_memory = true,
                                  .is_asynchronous = true,
                                  .has_peers = has_peers,
                                  .matrix_bytes = backend_record("vk-compute").matrix_bytes};
      return count_memory(parameters, Precision::single, place, device).device;
    };
    EXPECT_GT(counted(true), counted(false));
    Timeline timeline;  // a backend keeps memory for the next run
    const auto backend = test::make_test_backend<float>(test::queued_vulkan, timeline);
    EXPECT_EQ(counted(true), run(parameters, grid, *backend, *make_hpl_source(parameters.n)).memory.device);
  });
}

// The library itself: without these, the test above could not fail.
TEST(Chaos, ReordersMessagesAndCompletions) {
  int first_of_second_tag = 0, sent_late = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Chaos chaos(seed);
    int sent[] = {1, 2}, received[] = {0, 0};
    MPI_Request requests[4];
    for (const int tag : {0, 1}) {
      MPI_Irecv(received + tag, 1, MPI_INT, 0, tag, MPI_COMM_SELF, requests + tag);
      MPI_Isend(sent + tag, 1, MPI_INT, 0, tag, MPI_COMM_SELF, requests + 2 + tag);
    }
    sent[0] = 3;  // too early
    int ended = 0, indices[4];
    while (ended == 0) MPI_Testsome(2, requests, &ended, indices, MPI_STATUSES_IGNORE);
    first_of_second_tag += indices[0] == 1 ? 1 : 0;
    wait(requests);
    EXPECT_EQ(received[1], 2);
    sent_late += received[0] == 3 ? 1 : 0;
  }
  EXPECT_GT(first_of_second_tag, 5);
  EXPECT_LT(first_of_second_tag, 35);
  EXPECT_EQ(sent_late, 40);
  EXPECT_EQ(take_mpi_leaks(), "");
}

TEST(Chaos, FindsLeftOverRequestsAndMessages) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const int size = test::world_size(), rank = test::world_rank();
  ASSERT_GT(size, 1);  // a message to oneself would wait for its receive
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int sent = 1;
  int received = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&received, 1, MPI_INT, left, 7, copy, &request);
  const std::string from = " from rank " + std::to_string(left);
  EXPECT_EQ(take_mpi_leaks(), "not completed: receive" + from + ", tag 7\n");
  for (int message = 0; message < 2; ++message) send_message(copy, {&sent, 1, MPI_INT, 7}, right);
  wait(request);
  PMPI_Recv(&received, 1, MPI_INT, left, 7, copy, MPI_STATUS_IGNORE);  // not counted
  MPI_Comm_free(&copy);
  EXPECT_EQ(take_mpi_leaks(), "of 2 messages" + from + " of a communicator, 1 were received\n");
}

}  // namespace
}  // namespace glinpack
