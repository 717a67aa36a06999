#include "app/program/automatic.hpp"

#include <functional>
#include <stdexcept>

#include "app/options/plu_options.hpp"
#include "app/program/machine.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

std::vector<RankMemory> on_processors(std::size_t ranks, std::int64_t bytes) {
  return std::vector<RankMemory>(ranks, {.host = "a", .host_available = bytes});
}

// One GPU per rank.
std::vector<RankMemory> on_gpus(std::size_t ranks, std::int64_t bytes) {
  std::vector<RankMemory> memory(ranks, {.host = "a", .host_available = 1000 * gibibyte, .device_is_host = false});
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    memory[rank].device = "device " + std::to_string(rank);
    memory[rank].device_available = bytes;
  }
  return memory;
}

RunRecord run_of(const std::string& backend, Index n, Index nb, GridShape grid) {
  RunRecord run;
  run.backend = backend;
  run.parameters.n = n;
  run.parameters.nb = nb;
  run.grid = grid;
  return run;
}

RunRecord with_values(RunRecord run, std::span<const RankMemory> ranks, double fraction) {
  std::vector<RunRecord> planned{run};
  choose_automatic_values(planned, ranks, {fraction});
  EXPECT_TRUE(all_have_values(planned));
  return planned.front();
}

double fullest(const RunRecord& run, std::span<const RankMemory> ranks) {
  double share = 0;
  for (const MemoryPool& pool : pools_of(run, ranks, false)) share = std::max(share, pool.needed / pool.available);
  return share;
}

TEST(AutomaticOrder, FillsAtMostTheFractionOfTheMemory) {
  for (const double fraction : {0.01, 0.5, 0.8, 0.9, 1.0}) {
    for (const GridShape grid : {GridShape{1, 1}, GridShape{1, 3}, GridShape{2, 2}}) {
      const auto processes = static_cast<std::size_t>(grid.size());
      for (const auto& [backend, ranks] : {std::pair{"openblas", on_processors(processes, 64 * gibibyte)},
                                           std::pair{"gl-compute", on_gpus(processes, 80 * gibibyte)}}) {
        RunRecord run = with_values(run_of(backend, automatic, 128, grid), ranks, fraction);
        EXPECT_LE(fullest(run, ranks), fraction) << backend << " " << fraction;
        EXPECT_EQ(run.parameters.n % 128, 0);
        run.parameters.n += run.parameters.n / 40 + 128;
        EXPECT_GT(fullest(run, ranks), fraction) << backend << " " << fraction;
      }
    }
  }
}

TEST(AutomaticOrder, CanFillNinetyPerCentOfADevice) {
  const std::vector<RankMemory> ranks = on_gpus(1, 80 * gibibyte);
  RunRecord run = with_values(run_of("gl-compute", automatic, 512, {1, 1}), ranks, 0.9);
  const auto n = static_cast<double>(run.parameters.n);
  EXPECT_GT(8 * n * n, 0.87 * 80 * gibibyte);
  run.parameters.n += 2048;
  EXPECT_GT(fullest(run, ranks), 0.9);
}

TEST(AutomaticOrder, IsLimitedByTheRankWithTheLeastMemory) {
  std::vector<RankMemory> ranks = on_gpus(2, 80 * gibibyte);
  const Index alike = with_values(run_of("gl-compute", automatic, 128, {1, 2}), ranks, 0.8).parameters.n;
  ranks[1].device_available = 20 * gibibyte;
  const Index uneven = with_values(run_of("gl-compute", automatic, 128, {1, 2}), ranks, 0.8).parameters.n;
  EXPECT_NEAR(static_cast<double>(alike) / static_cast<double>(uneven), 2, 0.05);
}

TEST(AutomaticOrder, IsSmallerIfRanksShareADevice) {
  std::vector<RankMemory> ranks = on_gpus(2, 80 * gibibyte);
  const Index apart = with_values(run_of("gl-compute", automatic, 128, {1, 2}), ranks, 0.8).parameters.n;
  ranks[1].device = ranks[0].device;
  const Index shared = with_values(run_of("gl-compute", automatic, 128, {1, 2}), ranks, 0.8).parameters.n;
  EXPECT_NEAR(static_cast<double>(apart) / static_cast<double>(shared), 1.414, 0.05);
}

TEST(AutomaticOrder, IsLargerInSinglePrecision) {
  const std::vector<RankMemory> ranks = on_processors(1, 64 * gibibyte);
  RunRecord run = run_of("openblas", automatic, 128, {1, 1});
  const Index in_double = with_values(run, ranks, 0.8).parameters.n;
  run.precision = Precision::single;
  EXPECT_NEAR(static_cast<double>(with_values(run, ranks, 0.8).parameters.n) / static_cast<double>(in_double), 1.414,
              0.05);
}

TEST(AutomaticOrder, StaysWithinTextureAndSoftwareOpenGLLimits) {
  std::vector<RankMemory> ranks = on_processors(4, 1000 * gibibyte);
  for (RankMemory& rank : ranks) rank.largest_rows = rank.largest_columns = 1000;
  RunRecord run = run_of("gl-raster", automatic, 32, {2, 2});
  run.precision = Precision::single;
  const Index n = with_values(run, ranks, 1).parameters.n;
  EXPECT_LE(n, 2000);  // the right-hand side is one more column
  EXPECT_GE(n, 1920);
  for (RankMemory& rank : ranks) {
    rank.largest_rows = rank.largest_columns = 0;
    rank.largest_matrix = gibibyte;
  }
  const auto side = static_cast<double>(with_values(run, ranks, 1).parameters.n) / 2;
  EXPECT_LE(side * side * 4, gibibyte);
  EXPECT_GT(side * side * 4, 0.95 * gibibyte);
}

TEST(AutomaticOrder, IsRoundedToWholeBlocksAndToAllProcessesIfThatCostsLittle) {
  EXPECT_EQ(rounded_order(100'000, 128, {1, 1}), 99'968);
  EXPECT_EQ(rounded_order(100'000, 128, {2, 3}), 99'840);  // 130 times 6 blocks
  EXPECT_EQ(rounded_order(10'000, 128, {4, 7}), 9'984);    // does not give up the 6 blocks beyond 2 x 28
  EXPECT_EQ(rounded_order(3'000, 512, {1, 4}), 2'560);
  EXPECT_EQ(rounded_order(100, 128, {1, 1}), 100);
  EXPECT_EQ(rounded_order(128, 128, {2, 2}), 128);
}

TEST(AutomaticOrder, IsRejectedIfNothingFitsOrNothingIsKnown) {
  const auto refused = [](const char* backend, const std::vector<RankMemory>& ranks, double fraction,
                          const std::vector<std::string>& parts) {
    expect_input_error([&] { with_values(run_of(backend, automatic, 128, {1, 1}), ranks, fraction); }, parts);
  };
  refused("openblas", on_processors(1, 1000), 0.01, {"--n auto", "1 %", "NB 128", "grid 1x1", "--memory-fraction"});
  refused("openblas", on_processors(1, 0), 0.8, {"--n auto", "a has free", "give N as a number"});
  refused("gl-compute", on_gpus(1, 0), 0.8, {"a, device 0"});
}

TEST(AutomaticBlockSize, FollowsTheMeasurements) {
  const auto on_gpu = [](Precision precision, Index n) {
    return automatic_block_size("gl-compute", precision, n, {1, 1});
  };
  EXPECT_EQ(on_gpu(Precision::single, 16384), 256);
  EXPECT_EQ(on_gpu(Precision::single, 32768), 512);
  EXPECT_EQ(on_gpu(Precision::mixed, 32768), 512);
  EXPECT_EQ(on_gpu(Precision::double_, 32768), 256);
  EXPECT_EQ(on_gpu(Precision::double_, 65536), 512);
  const auto with_products = [](const char* products, Precision precision, Index n) {
    return automatic_block_size("vk-compute", precision, n, {1, 1}, {{"products", products}});
  };
  EXPECT_EQ(with_products("int8", Precision::double_, 16384), 512);
  EXPECT_EQ(with_products("int8:14", Precision::double_, 32768), 1024);
  EXPECT_EQ(with_products("split", Precision::mixed, 16384), 256);
  EXPECT_EQ(with_products("split", Precision::mixed, 65536), 512);
  EXPECT_EQ(with_products("half", Precision::mixed, 65536), 768);
  EXPECT_EQ(automatic_block_size("gl-raster", Precision::single, 32768, {1, 1}), 32);
  EXPECT_EQ(automatic_block_size("reference", Precision::double_, 32768, {1, 1}), 32);
  EXPECT_EQ(automatic_block_size("openblas", Precision::double_, 32768, {2, 2}), 128);
}

TEST(AutomaticBlockSize, KeepsFourBlocksPerProcessOfSmallMatricesAndAtLeastEightColumns) {
  EXPECT_EQ(automatic_block_size("openblas", Precision::double_, 1000, {2, 2}), 120);
  EXPECT_EQ(automatic_block_size("openblas", Precision::double_, 1000, {1, 8}), 24);
  EXPECT_EQ(automatic_block_size("openblas", Precision::double_, 1000, {8, 1}), 24);
  for (const Index n : {1, 7, 40}) {
    EXPECT_EQ(automatic_block_size("gl-compute", Precision::single, n, {2, 2}), 8) << n;
  }
}

TEST(AutomaticGrid, IsOneRowOnTheGpusOfOneHostAndOtherwiseTheSquarest) {
  EXPECT_EQ(automatic_grid("gl-compute", on_gpus(4, gibibyte)), (GridShape{1, 4}));
  EXPECT_EQ(automatic_grid("gl-compute", on_processors(4, gibibyte)), (GridShape{2, 2}));
  EXPECT_EQ(automatic_grid("gl-raster", on_gpus(4, gibibyte)), (GridShape{2, 2}));
  EXPECT_EQ(automatic_grid("openblas", on_processors(6, gibibyte)), (GridShape{2, 3}));
  std::vector<RankMemory> two_hosts = on_gpus(8, gibibyte);
  for (std::size_t rank = 4; rank < 8; ++rank) two_hosts[rank].host = "b";
  EXPECT_EQ(automatic_grid("gl-compute", two_hosts), (GridShape{2, 4}));
  EXPECT_EQ(automatic_grid("gl-compute", two_hosts, GridShape{4, 1}), (GridShape{4, 2}));
  EXPECT_EQ(automatic_grid("gl-compute", on_gpus(4, gibibyte), GridShape{2, 2}), (GridShape{2, 2}));
}

TEST(AutomaticPieces, AreFourIfSeveralGpusFactorisePanelsAndFewerIfTheyCopyToEachOther) {
  const auto pieces = [](const std::string& backend, GridShape grid, Pivoting pivoting, PanelPlace panel) {
    RunRecord run = run_of(backend, 1000, 100, grid);
    run.parameters.pivoting = pivoting;
    run.parameters.panel = panel;
    return automatic_pieces(run, on_gpus(2, gibibyte));
  };
  EXPECT_EQ(pieces("gl-compute", {2, 1}, Pivoting::partial, PanelPlace::automatic), 4);
  EXPECT_EQ(pieces("gl-compute", {2, 1}, Pivoting::tournament, PanelPlace::device), 4);
  EXPECT_EQ(pieces("gl-compute", {2, 1}, Pivoting::local, PanelPlace::automatic), 1);
  EXPECT_EQ(pieces("gl-compute", {2, 1}, Pivoting::partial, PanelPlace::host), 1);
  EXPECT_EQ(pieces("gl-compute", {1, 2}, Pivoting::partial, PanelPlace::automatic), 4);
  EXPECT_EQ(pieces("vk-compute", {1, 2}, Pivoting::partial, PanelPlace::automatic), 2);
  EXPECT_EQ(pieces("vk-compute", {2, 1}, Pivoting::partial, PanelPlace::automatic), 1);
  EXPECT_EQ(pieces("vk-compute", {2, 2}, Pivoting::partial, PanelPlace::automatic), 4);
  EXPECT_EQ(pieces("gl-compute", {1, 1}, Pivoting::partial, PanelPlace::automatic), 1);
  EXPECT_EQ(pieces("gl-raster", {2, 1}, Pivoting::tournament, PanelPlace::automatic), 1);
  EXPECT_EQ(automatic_pieces(run_of("gl-compute", 1000, 100, {2, 1}), on_processors(2, gibibyte)), 1);
  std::vector<RankMemory> nodes = on_gpus(2, gibibyte);
  nodes[1].node = 1;
  EXPECT_EQ(automatic_pieces(run_of("vk-compute", 1000, 100, {2, 1}), nodes), 4);
  EXPECT_EQ(automatic_pieces(run_of("vk-compute", 1000, 100, {1, 2}), nodes), 2);
  std::vector<RankMemory> without_copies = on_gpus(2, gibibyte);
  without_copies[1].copies_to_peers = false;
  EXPECT_EQ(automatic_pieces(run_of("vk-compute", 1000, 100, {2, 1}), without_copies), 4);
}

TEST(AutomaticPieces, KeepANumberThatIsGiven) {
  std::vector<RunRecord> planned(2, run_of("gl-compute", 1000, 100, {2, 1}));
  planned[0].parameters.row_swap.pieces = automatic;
  planned[1].parameters.row_swap.pieces = 7;
  choose_automatic_values(planned, on_gpus(2, gibibyte), {0.8});
  EXPECT_EQ(planned[0].parameters.row_swap.pieces, 4);
  EXPECT_EQ(planned[1].parameters.row_swap.pieces, 7);
}

TEST(AutomaticValues, ChoosesAllThreeAndReportsThemOnce) {
  const std::vector<RankMemory> ranks = on_gpus(4, 80 * gibibyte);
  std::vector<RunRecord> planned(3, run_of("gl-compute", automatic, automatic, automatic_shape));
  planned.push_back(run_of("gl-compute", 1000, 100, {2, 2}));
  EXPECT_FALSE(all_have_values(planned));
  const std::vector<std::string> notes = choose_automatic_values(planned, ranks, {0.8});
  EXPECT_TRUE(all_have_values(planned));
  EXPECT_THAT(notes,
              ElementsAre(HasSubstr("--grid auto: 1x4"), HasSubstr("--n auto: N "), HasSubstr("--nb auto: NB 512")));
  EXPECT_THAT(notes[1], HasSubstr("80 %"));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(planned[i].grid, (GridShape{1, 4}));
    EXPECT_EQ(planned[i].parameters.nb, 512);
    EXPECT_EQ(planned[i].parameters.n, planned[0].parameters.n);
    EXPECT_GT(planned[i].parameters.n, 150'000);
  }
  EXPECT_EQ(label_of(planned[3]), "N 1000, NB 100, grid 2x2");
}

TEST(AutomaticValues, LimitsTheOperationsOfEveryProcess) {
  const std::vector<RankMemory> ranks = on_processors(4, 64 * gibibyte);
  std::vector<RunRecord> planned{run_of("openblas", automatic, 128, {2, 2}),
                                 run_of("openblas", automatic, 128, {1, 1})};
  const double flops = 1e12;
  EXPECT_THAT(choose_automatic_values(planned, ranks, {0.8, flops}), Contains(HasSubstr("--time is a limit, too")));
  for (const RunRecord& run : planned) {
    EXPECT_LE(hpl_flops(run.parameters.n), flops * run.grid.size() * 1.001);
    EXPECT_GT(hpl_flops(run.parameters.n + 256), flops * run.grid.size());
  }
}

TEST(AutomaticValues, NeedsNoMemoryForABlockSizeOrAGrid) {
  const std::vector<RankMemory> unknown = on_processors(4, 0);
  const RunRecord run = with_values(run_of("openblas", 4000, automatic, automatic_shape), unknown, 0.8);
  EXPECT_EQ(label_of(run), "N 4000, NB 128, grid 2x2");
}

TEST(AutomaticValues, ChoosesAnOrderForEveryListedBlockSize) {
  const std::vector<RankMemory> ranks = on_processors(1, gibibyte);
  std::vector<RunRecord> planned{run_of("openblas", automatic, 8, {1, 1}), run_of("openblas", automatic, 1024, {1, 1})};
  choose_automatic_values(planned, ranks, {0.5});
  EXPECT_EQ(planned[0].parameters.n % 8, 0);
  EXPECT_EQ(planned[1].parameters.n % 1024, 0);
  EXPECT_LT(planned[1].parameters.n, planned[0].parameters.n);
}

// Updates of backends that count the turns of all.
int turns = 0;
template <int of_first_turn>
constexpr TileCatalog tiles_with_rate{
    .choose = nullptr,
    .tune = nullptr,
    .open_update = [](const BackendOptions&, Precision) -> std::function<double(const MeasuringOptions&)> {
      return [](const MeasuringOptions&) { return of_first_turn - 10.0 * ++turns; };
    },
    .keep = nullptr,
};

TEST(MeasuredRates, AreTheBestOfTwoTurnsAndZeroOfABackendThatDoesNotWork) {
  static constexpr TileCatalog no_device{
      .choose = nullptr,
      .tune = nullptr,
      .open_update = [](const BackendOptions&, Precision) -> std::function<double(const MeasuringOptions&)> {
        throw std::runtime_error("no device");
      },
      .keep = nullptr,
  };
  static constexpr TileCatalog fails{
      .choose = nullptr,
      .tune = nullptr,
      .open_update = [](const BackendOptions&, Precision) -> std::function<double(const MeasuringOptions&)> {
        return [](const MeasuringOptions&) -> double { throw std::runtime_error("the device was lost"); };
      },
      .keep = nullptr,
  };
  const BackendRecord first{.name = "first", .tiles = &tiles_with_rate<1000>},
      second{.name = "second", .tiles = &no_device}, third{.name = "third", .tiles = &fails},
      fourth{.name = "fourth", .tiles = &tiles_with_rate<2000>};
  turns = 0;
  // the warm-up is the first turn, by the last backend; then the first and the last take two turns each
  EXPECT_THAT(measured_rates({&first, &second, &third, &fourth}, {}, Precision::single),
              ElementsAre(1000 - 20, 0, 0, 2000 - 30));
  EXPECT_EQ(turns, 5);
}

TEST(ChosenDevice, IsThatOfTheOptionUnlessAutoDoesNotTakeIt) {
  std::vector<DeviceDescription> devices(2);
  for (DeviceDescription& one : devices) one.usable = true;
  devices[1].index = 1;
  devices[0].software = true;
  devices[0].api = device_catalog("vk-compute").api;
  const auto chosen = [&](int index, bool software_allowed) {
    return choose_device(index, device_catalog(), devices, 0, software_allowed).index;
  };
  EXPECT_EQ(chosen(0, true), 0);
  EXPECT_EQ(chosen(1, false), 1);
  expect_input_error([&] { chosen(3, true); },
                     {"--device 3: there is no such device", "2 devices", "glinpack devices"});
  expect_input_error([&] { chosen(0, false); }, {"--device 0 is software", "--backend auto", "--backend vk-compute"});
}

TEST(Fastest, IsTheBackendWhoseSlowestRankIsTheFastest) {
  EXPECT_EQ(fastest({{5, 3}, {4, 4}}), 1u);
  EXPECT_EQ(fastest({{4, 4}, {9, 0}}), 0u) << "it does not work on a rank";
  EXPECT_EQ(fastest({{4, 4}, {4, 5}}), 0u);
  EXPECT_EQ(fastest({{0, 1}, {0, 0}}), 0u);
}

}  // namespace
}  // namespace glinpack::app
