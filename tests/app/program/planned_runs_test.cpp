#include "app/program/planned_runs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "app/plu/plan_text.hpp"
#include "app/program/machine.hpp"
#include "app/program/memory.hpp"
#include "app/program/outputs.hpp"
#include "app/program/topology.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

const std::string netlib = std::string(GLINPACK_TEST_DATA) + "/HPL.dat";

std::vector<RunRecord> plan(const std::vector<std::string>& arguments, int world_size = 4) {
  TextFiles files;
  const ParsedOptions parsed = parse_plu_options(arguments, files);
  return plan_runs(parsed, hpl_dat_of(parsed, files), std::nullopt, world_size);
}

void plan_refuses(const std::vector<std::string>& arguments, const std::vector<std::string>& parts,
                  int world_size = 4) {
  expect_input_error([&] { plan(arguments, world_size); }, parts);
}

TEST(Plan, ListsMakeASweepWithRepetitionsFastest) {
  std::vector<std::string> labels;
  for (const RunRecord& run : plan({"--n", "10,20", "--nb", "2,3", "--grid", "1x2,2x1", "--repeat", "2"})) {
    labels.push_back(label_of(run) + " " + std::to_string(run.repeat));
  }
  ASSERT_EQ(labels.size(), 16U);
  EXPECT_EQ(labels[0], "N 10, NB 2, grid 1x2 0");
  EXPECT_EQ(labels[1], "N 10, NB 2, grid 1x2 1");
  EXPECT_EQ(labels[2], "N 10, NB 3, grid 1x2 0");
  EXPECT_EQ(labels[4], "N 20, NB 2, grid 1x2 0");
  EXPECT_EQ(labels[8], "N 10, NB 2, grid 2x1 0");
}

class PlanFiles : public FolderTest {};

TEST(Plan, NbAndTheGridAreAutomaticOnGpusUnlessGiven) {
  const auto on_gpus = [](const std::vector<std::string>& arguments) {
    TextFiles files;
    const ParsedOptions parsed = parse_plu_options(arguments, files);
    std::vector<RunRecord> runs = plan_runs(parsed, hpl_dat_of(parsed, files), std::nullopt, 4);
    use_gpu_defaults(parsed, runs);
    return label_of(runs.front());
  };
  EXPECT_EQ(on_gpus({"--n", "1000"}), "N 1000, NB 0, grid 0x0");
  EXPECT_EQ(on_gpus({"--n", "1000", "--nb", "64"}), "N 1000, NB 64, grid 0x0");
  EXPECT_EQ(on_gpus({"--n", "1000", "--grid", "2x2"}), "N 1000, NB 0, grid 2x2");
  EXPECT_EQ(on_gpus({"--hpl-dat", netlib}), label_of(plan({"--hpl-dat", netlib}).front()));
}

TEST(Plan, TheGridIsTheSquarestUnlessGiven) {
  EXPECT_EQ(plan({}, 6).front().grid, (GridShape{2, 3}));
  EXPECT_EQ(plan({}, 1).front().grid, (GridShape{1, 1}));
  EXPECT_EQ(plan({"--node-grid", "2x1"}, 4).front().grid, (GridShape{2, 2}));
  for (const int processes : {1, 6}) {
    plan_refuses({"--node-grid", "2x2"},
                 {"--node-grid 2x2", "must be a multiple of 4", std::to_string(processes) + " were started"},
                 processes);
  }
}

TEST(Plan, PanelsOfSeveralProcessRowsAreNotFactorisedOnDevicesWithLocalPivoting) {
  const std::vector<std::string> named{"--panel device", "with local pivoting", "of the grid 2x2"};
  plan_refuses({"--panel", "device", "--pivoting", "local"}, named);
  plan_refuses({"--panel", "device", "--pivoting", "local", "--grid", "1x4,2x2"}, named);
  EXPECT_EQ(plan({"--panel", "device", "--pivoting", "local", "--grid", "1x4"}).front().parameters.panel,
            PanelPlace::device);
  EXPECT_EQ(plan({"--panel", "device"}).front().parameters.panel, PanelPlace::device);
  EXPECT_EQ(plan({"--panel", "device", "--pivoting", "tournament"}).front().parameters.panel, PanelPlace::device);
}

TEST(Plan, RowByRowThereIsNoLookAhead) {
  EXPECT_EQ(plan({"--backend", "gl-raster"}).front().parameters.lookahead, 0);
  plan_refuses({"--backend", "gl-raster", "--lookahead", "1"}, {"--lookahead 1", "row by row", "--lookahead 0"});
}

TEST(Plan, NetlibsHplDatMakes864RunsInHplsOrder) {
  const std::vector<RunRecord> runs = plan({"--hpl-dat", netlib});
  ASSERT_EQ(runs.size(), 864U);
  EXPECT_EQ(label_of(runs[0]), "N 29, NB 1, grid 2x2");
  EXPECT_EQ(label_of(runs[17]), "N 29, NB 1, grid 2x2");
  EXPECT_EQ(label_of(runs[18]), "N 29, NB 2, grid 2x2");
  EXPECT_EQ(label_of(runs[72]), "N 30, NB 1, grid 2x2");
  EXPECT_EQ(label_of(runs[288]), "N 29, NB 1, grid 1x4");
  EXPECT_EQ(label_of(runs[863]), "N 35, NB 4, grid 4x1");
  EXPECT_EQ(runs[0].precision, Precision::double_);
}

TEST_F(PlanFiles, OptionsOverrideALineOfHplDatThatWouldBeRefused) {
  std::ifstream file(netlib);
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string changed = write("HPL.dat", text.replace(text.find("\n29 30"), 6, "\nmany "));
  plan_refuses({"--hpl-dat", changed}, {changed + ":6: ", "'many'"});
  EXPECT_EQ(plan({"--hpl-dat", changed, "--n", "50"}).size(), 216U);
}

TEST(Plan, OptionsOverrideHplDat) {
  const std::vector<RunRecord> runs =
      plan({"--hpl-dat", netlib, "--n", "50", "--grid", "2x2", "--broadcast", "long", "--threshold", "1"});
  EXPECT_EQ(runs.size(), 72U);
  EXPECT_EQ(runs[0].parameters.n, 50);
  EXPECT_EQ(runs[0].parameters.broadcast, BroadcastKind::long_);
  EXPECT_EQ(runs[0].parameters.threshold, 1.0);
}

TEST(Plan, HplDatSetsTheRowSwapUnlessAnOptionDoes) {
  EXPECT_EQ(plan({}).front().parameters.row_swap, (RowSwap{RowSwapKind::binary_exchange, 64, automatic}));
  EXPECT_EQ(plan({"--row-swap", "long"}).front().parameters.row_swap,
            (RowSwap{RowSwapKind::spread_roll, 64, automatic}));
  EXPECT_EQ(plan({"--hpl-dat", netlib}).front().parameters.row_swap, (RowSwap{RowSwapKind::mix, 64, automatic}));
  EXPECT_EQ(plan({"--hpl-dat", netlib, "--row-swap", "direct"}).front().parameters.row_swap,
            (RowSwap{RowSwapKind::direct, 64, automatic}));
}

TEST(Plan, MoreThanAHundredThousandRunsAreRejected) {
  plan_refuses({"--n", "1,2", "--repeat", "50001"}, {"100000 runs"});
  EXPECT_EQ(plan({"--n", "1,2", "--repeat", "50000"}).size(), 100000U);
}

TEST(Plan, GridsLargerThanTheWorldAreRejectedWithBothNumbers) {
  const std::vector<RunRecord> runs = plan({"--grid", "1x1,2x3"});
  expect_input_error([&] { check_grids(runs, 4, "HPL.dat:10: "); },
                     {"HPL.dat:10: ", "2x3", "at least 6", "started with 4", "-np 6"});
  EXPECT_NO_THROW(check_grids(runs, 6, ""));
}

TEST(Plan, TheMatrixOfAFileSetsN) {
  const ParsedOptions parsed = parse_plu_options({"--input", "a.npy", "--n", "10"});
  expect_input_error([&] { plan_runs(parsed, std::nullopt, 12, 1); }, {"--n", "a.npy", "12"});
  EXPECT_EQ(plan_runs(parsed, std::nullopt, 10, 1).front().parameters.n, 10);
  EXPECT_EQ(plan_runs(parse_plu_options({"--input", "a.npy"}), std::nullopt, 12, 1).front().parameters.n, 12);
}

TEST(Plan, AutoValuesStayUnset) {
  for (const RunRecord& run : plan({"--n", "auto", "--nb", "auto", "--grid", "auto", "--repeat", "2"})) {
    EXPECT_EQ(run.parameters.n, automatic);
    EXPECT_EQ(run.parameters.nb, automatic);
    EXPECT_EQ(run.grid, automatic_shape);
  }
  const std::vector<RunRecord> runs = plan({"--hpl-dat", netlib, "--n", "auto"});
  ASSERT_EQ(runs.size(), 216U);
  EXPECT_EQ(runs[0].parameters.n, automatic);
  EXPECT_EQ(runs[0].parameters.nb, 1);
  EXPECT_EQ(runs[0].grid, (GridShape{2, 2}));
}

TEST(Plan, TheMatrixOfAFileSetsAutomaticN) {
  const ParsedOptions parsed = parse_plu_options({"--input", "a.npy", "--n", "auto"});
  EXPECT_EQ(plan_runs(parsed, std::nullopt, 12, 1).front().parameters.n, 12);
}

TEST(Plan, DryRunShowsTheChosenValues) {
  const std::vector<std::string> choices{"--nb auto: NB 8"};
  EXPECT_TRUE(plan_text(plan({"--n", "100"}), 4, choices).ends_with("\n--nb auto: NB 8\n"));
}

TEST(Plan, DryRunShowsTheFirstAndLastOfManyRuns) {
  const std::vector<RunRecord> runs = plan({"--n", "100", "--repeat", "30"});
  const std::string text = plan_text(runs, 4);
  EXPECT_NE(text.find("\n  ...  15 more runs: --log-level debug prints all\n   26 "), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 1 + 10 + 1 + 5 + 1);
  const std::string all = plan_text(runs, 4, {}, true);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1 + 1 + 30 + 1);
  EXPECT_EQ(all.substr(all.find("Altogether")), text.substr(text.find("Altogether")));
}

TEST(Plan, GridsAreMultiplesOfTheNodeGrid) {
  const RunRecord run = plan({"--node-grid", "4x1"}, 8).front();
  EXPECT_EQ(run.node_grid, (GridShape{4, 1}));
  EXPECT_EQ(run.grid, (GridShape{4, 2}));
  EXPECT_EQ(label_of(run), "N 2000, NB 128, grid 4x2, node grid 4x1");
  EXPECT_EQ(plan({"--grid", "4x3", "--node-grid", "2x3"}, 12).front().grid, (GridShape{4, 3}));
  EXPECT_EQ(plan({"--grid", "auto", "--node-grid", "2x3"}, 12).front().grid, automatic_shape);
  EXPECT_EQ(plan({}).front().node_grid, std::nullopt);
  plan_refuses({"--grid", "4x3,3x4", "--node-grid", "2x3"},
               {"--node-grid 2x3", "3x4 is not a multiple", "rows must be a multiple of 2", "columns of 3"}, 12);
  plan_refuses({"--hpl-dat", netlib, "--node-grid", "2x2"}, {"--node-grid 2x2", "1x4"});
}

TEST(Plan, EveryHostMustHaveTheProcessesOfTheNodeGrid) {
  const std::vector<std::string> hosts{"a", "b", "a", "b", "b"};
  EXPECT_NO_THROW(check_hosts({1, 2}, std::vector{0, 1, 0, 1}, hosts));
  expect_input_error(
      [&] {
        check_hosts({1, 2}, std::vector{0, 1, 0, 1, 1}, hosts);
      },
      {"--node-grid 1x2 needs 2 processes on every host, but b has 3", "mpirun -ppn 2"});
  expect_input_error([&] { check_hosts({2, 2}, std::vector{0, 1, 0, 1}, hosts); }, {"a has 2", "start 4 on each"});
}

TEST(Plan, RunsHaveTheVariantOfHplDat) {
  const RunRecord run = plan({"--hpl-dat", netlib, "--pivoting", "local", "--precision", "single"})[20];
  EXPECT_TRUE(run.variant.given);
  EXPECT_FALSE(plan({}).front().variant.given);
  EXPECT_EQ(run.parameters.pivoting, Pivoting::local);
  EXPECT_EQ(run.precision, Precision::single);
}

TEST(Plan, RunsInMixedPrecisionRefine) {
  for (const std::string precision : {"single", "double", "mixed"}) {
    const std::vector<RunRecord> runs = plan({"--n", "10,20", "--precision", precision});
    for (const RunRecord& run : runs) {
      EXPECT_EQ(run.parameters.refine, precision == "mixed");
      EXPECT_EQ(name_of(run.precision), precision);
    }
  }
}

TEST(Plan, EveryRunHasItsMatrix) {
  const std::vector<RunRecord> runs = plan({"--matrix", "wilkinson", "--n", "10,20"});
  for (const RunRecord& run : runs) EXPECT_EQ(run.matrix, MatrixKind::wilkinson);
  const ParsedOptions from_file = parse_plu_options({"--input", "a.npy"});
  EXPECT_EQ(plan_runs(from_file, std::nullopt, 12, 1).front().matrix, MatrixKind::file);
}

TEST(Plan, DryRunShowsRunsMemoryAndFlops) {
  const std::string text = plan_text(plan({"--n", "1000000000000", "--grid", "4x4"}), 4);
  EXPECT_NE(text.find("needs 16 processes"), std::string::npos) << text;
  EXPECT_NE(text.find("6.667e+35"), std::string::npos) << text;
}

TEST(Plan, DryRunAlignsTheLongestSettings) {
  const std::string text = plan_text(plan({"--n", "1000000000000", "--nb", "1000000", "--backend", "gl-compute",
                                           "--pivoting", "tournament", "--broadcast", "two-rings-modified"}),
                                     4);
  const std::size_t head = text.find('\n') + 1, row = text.find('\n', head) + 1;
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"backend", "gl-compute"}, {"pivoting", "tournament"}, {"broadcast", "two-rings-modified"}}) {
    EXPECT_EQ(text.find(name, head) - head, text.find(value, row) - row) << text;
  }
}

TEST(Plan, WrittenHplDatGivesTheSameRuns) {
  const auto same_runs = [](const std::vector<std::string>& arguments) {
    const std::vector<RunRecord> runs = plan(arguments);
    TextFiles files({{"written", hpl_dat_text(runs)}});
    const ParsedOptions parsed = parse_plu_options({"--hpl-dat", "written"});
    const std::vector<RunRecord> again = plan_runs(parsed, hpl_dat_of(parsed, files), std::nullopt, 4);
    ASSERT_EQ(again.size(), runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      EXPECT_EQ(label_of(again[i]), label_of(runs[i]));
      EXPECT_EQ(again[i].parameters.broadcast, runs[i].parameters.broadcast);
      EXPECT_EQ(again[i].parameters.lookahead, runs[i].parameters.lookahead);
      EXPECT_EQ(again[i].parameters.row_swap, runs[i].parameters.row_swap);
      EXPECT_EQ(again[i].order, runs[i].order);
      EXPECT_EQ(again[i].variant.nbmin, runs[i].variant.given ? runs[i].variant.nbmin : 4);
    }
  };
  same_runs({"--n", "10,20", "--nb", "4", "--broadcast", "two-rings", "--lookahead", "0", "--row-swap", "mix"});
  same_runs({"--hpl-dat", netlib});
  same_runs({"--hpl-dat", netlib, "--broadcast", "long-modified", "--lookahead", "2", "--row-swap", "spread-roll"});
}

TEST(Plan, DryRunShowsTheMemoryOfOneBlockIfNbIsLargerThanN) {
  const auto text_with = [](const std::string& nb) {
    std::string text = plan_text(plan({"--n", "999", "--nb", nb, "--grid", "2x1"}, 2), 2);
    return text.replace(text.find(nb), nb.size(), "NB..");
  };
  EXPECT_EQ(text_with("9000"), text_with("1000"));
}

TEST(Plan, DryRunShowsTheMemoryOfMixedPrecisionAndItsRefinement) {
  const std::vector<std::string> arguments{"--n", "20000", "--nb", "100", "--grid", "1x1", "--backend", "openblas"};
  const auto need = [&](const std::string& precision) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--precision", precision});
    const RunRecord run = plan(all).front();
    EXPECT_NE(plan_text(plan(all), 1).find(precision), std::string::npos);
    return largest_need(run);
  };
  EXPECT_EQ(need("mixed").device, need("single").device);
  const auto more = need("mixed").host - need("single").host;
  const auto vectors = more / (20000 * sizeof(double));
  EXPECT_GE(vectors, 101);  // the two bases of GMRES
  EXPECT_LT(vectors, 115);
}

TEST(ExplainPass, ExplainsEqualSchedulesOnce) {
  const std::vector<RunRecord> runs = plan({"--n", "100", "--nb", "32", "--grid", "2x2", "--repeat", "3"});
  EXPECT_EQ(runs_to_explain(runs, 3).size(), 1U);
  expect_input_error([&] { runs_to_explain(runs, 4); }, {"--explain-pass", "0 ... 3", "4"});
}

std::string explained(std::vector<std::string> arguments, Index pass, int ranks = 4) {
  const std::vector<RunRecord> runs = plan(arguments, ranks);
  return explained_passes(runs_to_explain(runs, pass), pass);
}

// figure 2 of the white paper: four nodes, third pass; the pivot is process 0 again
TEST(ExplainPass, NamesRolesMessagesAndStepsOfTheWhitePaperFigure) {
  const std::string text = explained({"--n", "512", "--nb", "64", "--grid", "2x2", "--pivoting", "local"}, 2);
  for (const char* part : {"(0,0)              pivot", "(0,1)              normalize", "(1,0)              eliminate",
                           "(1,1)              reduce", "(0,0) -> (1,0)  U11 down the process column: 32776",
                           "(0,1) -> (1,1)  U12 down the process column",
                           "  pivot (0,0):         panel; sends U11; sends P, L11, L21; row swap; U12 = L11^-1 A12;",
                           "  eliminate (1,0):     waits for U11; panel; sends P, L11, L21; waits for U12;",
                           "  reduce (1,1):        waits for P, L11, L21; waits for U12; A22 = A22 - L21 U12"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(ExplainPass, NamesTheAlgorithmAndTheRowSwap) {
  const std::vector<std::string> run{"--n", "512", "--nb", "64", "--grid", "2x2"};
  const auto with = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all = run;
    all.insert(all.end(), options.begin(), options.end());
    return explained(all, 2);
  };
  EXPECT_THAT(with({"--backend", "gl-raster", "--precision", "single", "--pivoting", "local"}),
              HasSubstr("local pivoting, row by row"));
  EXPECT_THAT(with({"--backend", "openblas", "--row-swap", "mix"}), HasSubstr("rows exchanged by mix"));
}

TEST(ExplainPass, NamesTheCandidatesOfATournament) {
  const std::string text = explained(
      {"--n", "2048", "--nb", "128", "--grid", "5x1", "--backend", "openblas", "--pivoting", "tournament"}, 1, 5);
  for (const auto* line : {"(2,0) -> (1,0)  candidate rows up the tournament's tree: 132096 in 2 messages",
                           "(4,0) -> (3,0)  candidate rows up the tournament's tree: 132096 in 2 messages",
                           "(3,0) -> (1,0)  candidate rows up the tournament's tree: 132096 in 2 messages",
                           "(0,0) -> (1,0)  candidate rows up the tournament's tree: 132096 in 2 messages",
                           "winners and the rows they displace: 263184 in 2 messages"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(ExplainPass, StepsFitIn100Columns) {
  for (const char* grid : {"1x1", "1x5", "5x1", "2x3", "16x16"}) {
    for (const Pivoting pivoting : all_pivotings) {
      for (const Index pass : {0, 1, 77, 127}) {
        std::istringstream text(explained({"--n", "12800", "--nb", "100", "--grid", grid, "--backend", "openblas",
                                           "--pivoting", std::string(name_of(pivoting))},
                                          pass, 256));
        bool has_steps = false;
        for (std::string line; std::getline(text, line);) {
          has_steps = has_steps || line.starts_with("Steps of");
          EXPECT_TRUE(!has_steps || line.size() <= 100U) << line;
        }
        EXPECT_TRUE(has_steps);
      }
    }
  }
}

TEST(ExplainPass, ListsOperationsAndMessagesOfEveryRankAsJson) {
  const std::vector<RunRecord> runs =
      plan({"--n", "64", "--nb", "8", "--grid", "2x2", "--backend", "openblas", "--pivoting", "local"});
  const nlohmann::json document = explained_passes_json(runs, 2);
  const nlohmann::json& ranks = document.at("runs").at(0).at("ranks");
  ASSERT_EQ(ranks.size(), 4U);
  for (const nlohmann::json& rank : ranks) {
    std::set<std::size_t> named;
    for (const nlohmann::json& operation : rank.at("operations")) {
      if (operation.contains("message")) named.insert(operation.at("message").get<std::size_t>());
    }
    EXPECT_EQ(named.size(), rank.at("messages").size());
    EXPECT_FALSE(rank.at("operations").empty());
  }
  EXPECT_EQ(ranks[0].at("role"), "pivot");
  EXPECT_EQ(ranks[0].at("messages").at(0).at("kind"), "u11");
}

std::vector<RankMemory> ranks(int count, std::int64_t host_available) {
  return std::vector<RankMemory>(static_cast<std::size_t>(count), {.host = "a", .host_available = host_available});
}

TEST(Memory, RunsThatFitAreAccepted) {
  EXPECT_NO_THROW(check_memory(plan({"--n", "1000"}), ranks(4, std::int64_t{1} << 30), false));
  EXPECT_NO_THROW(check_memory(plan({"--n", "1000000"}), ranks(4, 0), false)) << "0 means unknown";
}

TEST(Memory, RunsThatDoNotFitAreRejectedWithTheLargestN) {
  const auto memory = ranks(4, std::int64_t{1} << 30);
  const auto refused = [&](const std::string& n) {
    check_memory(plan({"--n", n, "--nb", "64", "--grid", "2x2"}), memory, false);
  };
  expect_input_error([&] { refused("20000"); }, {"N 20000", "4 ranks need", "1.0 GiB is available", "largest N"});
  expect_input_error([&] { refused("1000000000000"); }, {"6.6 YiB"});
  std::string message;
  try {
    refused("20000");
  } catch (const InputError& error) {
    message = error.what();
  }
  const Index largest = std::stoll(message.substr(message.rfind(' ') + 1));
  EXPECT_NO_THROW(refused(std::to_string(largest)));
  EXPECT_THROW(refused(std::to_string(largest + 1)), InputError);
}

TEST(Memory, AMatrixFromAFileIsCounted) {
  const auto memory = ranks(1, 300 << 20);
  EXPECT_NO_THROW(check_memory(plan({"--n", "4500", "--grid", "1x1"}), memory, false));
  EXPECT_THROW(check_memory(plan({"--n", "4500", "--grid", "1x1"}), memory, true), InputError);
}

TEST(Memory, CopiesToWriteCheckpointsFromNeedRoomOnEveryNode) {
  std::vector<RankMemory> memory = ranks(4, std::int64_t{1} << 30);
  const RunRecord run = plan({"--n", "4500", "--nb", "64", "--grid", "1x4"}, 4).front();  // 39 MiB a rank
  EXPECT_FALSE(too_small_for_copies(run, memory, false));
  for (RankMemory& rank : std::span(memory).last(2)) {
    rank.host = "b";
    rank.host_available = 180 << 20;
  }
  EXPECT_NO_THROW(check_memory({&run, 1}, memory, false));
  const std::optional<MemoryPool> pool = too_small_for_copies(run, memory, false);
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool->name, "b");
  EXPECT_EQ(pool->ranks, 2);
  for (RankMemory& rank : memory) {
    rank.device_is_host = false;
    rank.device_available = 90 << 20;  // which the matrices of two ranks fill
  }
  EXPECT_NO_THROW(check_memory({&run, 1}, memory, false));
  EXPECT_FALSE(too_small_for_copies(run, memory, false));
  for (RankMemory& rank : memory) rank.device_is_host = true;
  RunRecord with_copies = run;
  with_copies.parameters.checkpoint_copy = true;
  const double more = pools_of(with_copies, memory, false).back().needed - pools_of(run, memory, false).back().needed;
  const Distribution distribution = distribution_of(run.parameters, run.grid);
  EXPECT_EQ(more,
            8 * 4500 * static_cast<double>(distribution.local_columns({0, 2}) + distribution.local_columns({0, 3})));
}

TEST(Memory, RanksThatShareADeviceShareItsMemory) {
  std::vector<RankMemory> memory = ranks(2, std::int64_t{1} << 40);
  for (RankMemory& rank : memory) {
    rank.device_is_host = false;
    rank.device_available = 100 << 20;
  }
  memory[0].device = "device 0 (UUID a)";
  memory[1].device = "device 0 (UUID b)";
  const auto runs = plan({"--n", "4500", "--nb", "64", "--grid", "1x2"}, 2);  // slightly more than 81 MiB a rank
  EXPECT_NO_THROW(check_memory(runs, memory, false));
  memory[1].device = memory[0].device;
  expect_input_error([&] { check_memory(runs, memory, false); }, {"device 0", "2 ranks"});
}

TEST(Memory, ColumnsAddedByABackendAreCounted) {
  std::vector<RankMemory> memory = ranks(1, std::int64_t{1} << 40);
  memory[0].device_is_host = false;
  memory[0].device_available = 1060 * 1060 * 8 * 3 / 2;
  const auto runs = [](const std::string& n) {
    std::vector<RunRecord> planned = plan({"--n", n, "--nb", "8", "--grid", "1x1"}, 1);
    planned.front().backend = "gl-compute";
    return planned;
  };
  EXPECT_NO_THROW(check_memory(runs("1020"), memory, false));
  EXPECT_THROW(check_memory(runs("1060"), memory, false), InputError) << "stripes of 1024 columns";
}

TEST(Memory, AnAddressSpaceLimitAppliesToEachRankAndIncludesOpenblas) {
  std::vector<RankMemory> memory = ranks(2, std::int64_t{1} << 40);
  // slightly more than 81 MiB and a strip a rank
  const auto runs = plan({"--n", "4500", "--nb", "64", "--grid", "1x2"}, 2);
  memory[0].address_space = std::int64_t{1} << 30;
  memory[1].address_space = 300 << 20;
  EXPECT_NO_THROW(check_memory(runs, memory, false));
  memory[1].address_space = 150 << 20;  // the matrix alone would fit
  expect_input_error([&] { check_memory(runs, memory, false); }, {"address space of rank 1", "ulimit -v"});
}

TEST(Memory, AmountsAreReadable) {
  EXPECT_EQ(memory_text(0), "0 B");
  EXPECT_EQ(memory_text(1536), "1.5 KiB");
  EXPECT_EQ(memory_text(double{1 << 30} * 139), "139.0 GiB");
}

TEST(Topology, ThreadsAreCoresDividedByTheRanksThatShareThem) {
  const NodeView unbound{.host = "a", .cores = {0, 1, 2, 3, 4, 5, 6, 7}};
  EXPECT_EQ(threads_for(std::vector<NodeView>(1, unbound), 0), 8);
  EXPECT_EQ(threads_for(std::vector<NodeView>(3, unbound), 2), 2);
  EXPECT_EQ(threads_for(std::vector<NodeView>(16, unbound), 0), 1);
  const std::vector<NodeView> bound{{.host = "a", .cores = {0, 1}}, {.host = "a", .cores = {2, 3, 4}}};
  EXPECT_EQ(threads_for(bound, 0), 2);
  EXPECT_EQ(threads_for(bound, 1), 3);
  const std::vector<NodeView> two_nodes{unbound, {.host = "b", .cores = unbound.cores}};
  EXPECT_EQ(threads_for(two_nodes, 1), 8);
  const NodeView limited{.host = "a", .cores = unbound.cores, .core_limit = 4};
  EXPECT_EQ(threads_for(std::vector<NodeView>(2, limited), 0), 2);
  const std::vector<NodeView> asked{unbound, {.host = "a", .cores = unbound.cores, .asked_threads = 3}};
  EXPECT_EQ(threads_for(asked, 0), 4);
  EXPECT_EQ(threads_for(asked, 1), 3);
}

TEST(Topology, SlowCoresAreLeftOutUnlessRanksOutnumberFastOnes) {
  const NodeView mixed{.host = "a", .cores = {0, 1, 2, 3, 4, 5}, .fast_cores = {4, 5}};
  const std::vector<NodeView> alone(1, mixed), pair(2, mixed), six(6, mixed);
  EXPECT_EQ(threads_for(alone, 0), 2);
  EXPECT_EQ(threads_for(pair, 1), 1);
  EXPECT_EQ(threads_for(six, 0), 1);
  EXPECT_TRUE(fast_cores_suffice(alone, 0, 2));
  EXPECT_FALSE(fast_cores_suffice(alone, 0, 3));
  EXPECT_FALSE(fast_cores_suffice(six, 0, 1));
  const NodeView alike{.host = "a", .cores = mixed.cores};
  EXPECT_FALSE(fast_cores_suffice(std::vector<NodeView>(1, alike), 0, 1));
}

TEST(Topology, OpenBlasVariableComesBeforeOpenMps) {
  const char* const openblas = "OPENBLAS_NUM_THREADS";
  const char* const omp = "OMP_NUM_THREADS";
  std::map<const char*, std::optional<std::string>> before;
  for (const char* variable : {openblas, omp}) {
    if (const char* value = std::getenv(variable)) before[variable] = value;
    unsetenv(variable);
  }
  EXPECT_EQ(view_node().asked_threads, 0);
  EXPECT_EQ(threads_note(std::nullopt), "");
  setenv(omp, "4,2", 1);  // OpenMP's list, by level
  EXPECT_EQ(view_node().asked_threads, 4);
  setenv(openblas, "3", 1);
  EXPECT_EQ(view_node().asked_threads, 3);
  EXPECT_EQ(threads_note(std::nullopt), "threads of each process by OPENBLAS_NUM_THREADS=3; --threads overrides it");
  EXPECT_EQ(threads_note(2), "");
  for (const char* no_number : {"", "0", "-1", "many"}) {
    setenv(openblas, no_number, 1);
    EXPECT_EQ(view_node().asked_threads, 4) << no_number;
  }
  for (const char* variable : {openblas, omp}) {
    before[variable] ? setenv(variable, before[variable]->c_str(), 1) : unsetenv(variable);
  }
}

TEST(Topology, ThisNodeHasCoresAndMemory) {
  const NodeView here = view_node();
  EXPECT_FALSE(here.host.empty());
  EXPECT_GE(here.cores.size(), 1U);
  EXPECT_GT(here.available_memory, 1 << 20);
}

class Outputs : public FolderTest {
 protected:
  OutputPaths paths(const std::vector<std::string>& arguments) const {
    return output_paths(parse_plu_options(arguments).options, std::nullopt);
  }
  void expect_rejected(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) const {
    expect_input_error([&] { check_outputs(paths(arguments), false); }, parts);
  }
};

TEST_F(Outputs, AreWrittenToTheOutputFolder) {
  const OutputPaths named = paths({"--output-dir", "d", "--json", "j", "--trace", "/t"});
  EXPECT_EQ(named.json, "d/j");
  EXPECT_EQ(named.trace, "/t");
  EXPECT_EQ(named.report, "d/report.txt");
  EXPECT_EQ(named.csv, "d/results.csv");
  const OutputPaths unnamed = paths({"--output-dir", "d"});
  EXPECT_EQ(unnamed.report, "d/report.txt");
  EXPECT_EQ(unnamed.json, "d/results.json");
  EXPECT_EQ(unnamed.csv, "d/results.csv");
  EXPECT_TRUE(unnamed.report_on_stdout);
}

TEST_F(Outputs, DeviceOfHplDatRedirectsTheReport) {
  TextFiles files;
  HplDat hpl_dat = read_hpl_dat(netlib, files);
  const PluOptions options;
  EXPECT_TRUE(output_paths(options, hpl_dat).report_on_stdout);
  hpl_dat.device = 7;
  EXPECT_TRUE(output_paths(options, hpl_dat).report_on_stderr);
  EXPECT_FALSE(output_paths(options, hpl_dat).may_replace_report);
  hpl_dat.device = 8;
  EXPECT_TRUE(output_paths(options, hpl_dat).may_replace_report);
  EXPECT_EQ(output_paths(options, hpl_dat).report, "HPL.out");
  EXPECT_FALSE(output_paths(options, hpl_dat).report_on_stdout);
  EXPECT_EQ(output_paths(parse_plu_options({"--output-dir", "d"}).options, hpl_dat).report, "d/HPL.out");
}

TEST_F(Outputs, ExistingFilesAreNotOverwrittenWithoutForce) {
  const std::string file = write("j.json", "{}");
  expect_rejected({"--json", file}, {"--json", "j.json", "exists", "--force"});
  EXPECT_NO_THROW(check_outputs(paths({"--json", file}), true));
}

TEST_F(Outputs, InputsAreNeverReplaced) {
  const std::string matrix = write("a.npy", ""), config = write("c.toml", "n = 5\n");
  const auto expect_rejected_with_force = [&](const std::vector<std::string>& arguments, const std::string& option) {
    expect_input_error([&] { check_outputs(paths(arguments), true); }, {option, "also one of the files to read"});
  };
  expect_rejected_with_force({"--input", matrix, "--json", matrix}, "--json");
  expect_rejected_with_force({"--config", config, "--trace", config}, "--trace");
  expect_rejected_with_force({"--hpl-dat", path("HPL.dat"), "--csv", path("./HPL.dat")}, "--csv");
}

TEST_F(Outputs, UnusablePathsAreRejectedAndNothingIsCreated) {
  const std::string file = write("file", "");
  expect_rejected({"--json", path("missing/j")}, {"--json", "does not exist", "or use --output-dir"});
  expect_input_error([&] { check_output("--json", path("missing/j"), false); },
                     {"--json", "does not exist; make it, or choose another one"});
  expect_input_error([&] { check_output_folder(path("file/d"), {}, false); }, {"--output-dir", "not a folder"});
  expect_rejected({"--output-dir", path("file/d")}, {"--output-dir", "not a folder"});
  expect_rejected({"--output-dir", "/proc/glinpack"}, {"--output-dir", "/proc", "not writable"});
  expect_rejected({"--json", path("")}, {"--json", "is a folder"});
  expect_rejected({"--save-solution", path("x.txt")}, {"--save-solution", "x.txt", ".npy"});
  expect_rejected({"--json", path("x"), "--csv", path("./x")}, {"--csv", "./x", "--json", "different names"});
  EXPECT_NO_THROW(check_outputs(paths({"--output-dir", path("new/folder"), "--json", "j"}), false));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

TEST_F(Outputs, FilesAreWrittenAtomically) {
  write_file(path("a"), false, [&](std::ostream& out) {
    out << "text";
    EXPECT_FALSE(std::filesystem::exists(path("a")));
  });
  std::ifstream file(path("a"));
  std::string text;
  EXPECT_TRUE(file >> text);
  EXPECT_EQ(text, "text");
  EXPECT_THROW(write_file(path("missing/a"), false, [](std::ostream&) {}), std::runtime_error);
}

TEST_F(Outputs, DevicesAndOpenDescriptorsAreWrittenDirectly) {
  std::ofstream(path("file")) << "before,";
  const int descriptor = open(path("file").c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(descriptor, 0);
  // a file behind the name of a descriptor, as behind /dev/stdout
  const std::string name = "/dev/fd/" + std::to_string(descriptor);
  const int standard = dup(STDERR_FILENO);
  dup2(descriptor, STDERR_FILENO);
  EXPECT_NO_THROW(check_outputs(paths({"--json", name}), false));
  write_file(name, false, [](std::ostream& out) { out << "now"; });
  FileWriter(false).keep(name, [](std::ostream& out) { out << "in between"; });
  dup2(standard, STDERR_FILENO);
  close(standard);
  close(descriptor);
  std::string text;
  std::ifstream(path("file")) >> text;
  EXPECT_EQ(text, "before,now");
  EXPECT_NO_THROW(check_outputs(paths({"--json", "/dev/null"}), false));
  EXPECT_NO_THROW(write_file("/dev/null", false, [](std::ostream& out) { out << "x"; }));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THROW(write_file("/dev/full", false, [](std::ostream& out) { out << "x"; }), std::runtime_error);
  expect_rejected({"--json", "/dev/no-such-device"}, {"--json", "/dev/no-such-device", "cannot be written"});
}

TEST_F(Outputs, AFileCreatedInTheMeantimeIsReplacedOnlyWithForce) {
  const auto write = [](std::ostream& out) { out << "mine"; };
  std::ofstream(path("theirs")) << "theirs";
  std::string text, kept;
  try {
    write_file(path("theirs"), false, write);
    ADD_FAILURE() << "replaced without --force";
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    kept = message.substr(message.rfind(' ') + 1);
  }
  std::ifstream(kept) >> text;
  EXPECT_EQ(text, "mine");
  std::ifstream(path("theirs")) >> text;
  EXPECT_EQ(text, "theirs");
  write_file(path("theirs"), true, write);
  std::ifstream(path("theirs")) >> text;
  EXPECT_EQ(text, "mine");
}

}  // namespace
}  // namespace glinpack::app
