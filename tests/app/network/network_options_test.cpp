#include "app/network/network_command.hpp"
#include "app/program/planned_runs.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::SizeIs;
NetworkOptions parsed(const Arguments& arguments) { return parse(arguments, network_table).options; }

void network_refuses(const Arguments& arguments, const std::vector<std::string>& parts) {
  expect_input_error([&] { parsed(arguments); }, parts);
}

nlohmann::json json_of(const NetworkOptions& options) { return to_json(options, network_table); }

class NetworkConfigFile : public FolderTest {};

TEST(NetworkOptions, DefaultsAreThoseOfPluAndLinksAreMeasured) {
  const NetworkOptions o = parsed({});
  const nlohmann::json plu = to_json(PluOptions{}, plu_table);
  for (const char* key : {"n", "nb", "grid", "precision", "pivoting", "row-swap", "repeat", "watchdog"}) {
    EXPECT_EQ(json_of(o).at(key), plu.at(key)) << key;
  }
  EXPECT_THAT(o.broadcast, ElementsAre(BroadcastKind::ring));
  EXPECT_EQ(o.ping_pong, When::automatic);
  EXPECT_EQ(o.screen, When::automatic);
  EXPECT_EQ(o.screen_seconds, 10);
  EXPECT_FALSE(o.screen_together);
}

TEST(NetworkOptions, EveryOptionIsParsed) {
  const NetworkOptions o =
      parsed(arguments_of("--n 10,20 --nb 4 --grid 2x3 --precision single --pivoting local --repeat 3 "
                          "--broadcast ring,5 ibcast --ping-pong 0-3,2-1 --screen always --screen-seconds 2.5 "
                          "--screen-together --output-dir o --json j --csv c --force"));
  expect_members(json_of(o), R"({"n": [10, 20], "nb": [4], "grid": ["2x3"], "precision": "single", "pivoting": "local",
    "repeat": 3, "broadcast": ["ring", "long-modified", "ibcast"], "ping-pong": ["0-3", "2-1"], "screen": "always",
    "screen-seconds": 2.5, "screen-together": true, "output-dir": "o", "json": "j", "csv": "c", "force": true})");
}

TEST(NetworkOptions, AllMeansEveryBroadcast) {
  EXPECT_THAT(parsed({"--broadcast", "all"}).broadcast, ::testing::ElementsAreArray(all_broadcasts));
}

TEST(NetworkOptions, PingPongCanBeDisabled) {
  const NetworkOptions o = parsed({"--ping-pong", "never"});
  EXPECT_EQ(o.ping_pong, When::never);
  EXPECT_THAT(o.ping_pong_pairs, IsEmpty());
  expect_members(json_of(o), R"({"ping-pong": "never", "screen-together": false})");
}

TEST(NetworkOptions, InvalidValuesAreRejectedWithOptionAndValue) {
  network_refuses({"--n", "0"}, {"--n", "'0'"});
  for (const std::string option : {"--n", "--nb", "--grid"}) {
    network_refuses({option, "auto"}, {option, "'auto'"});
  }
  network_refuses({"--precision", "mixed"}, {"--precision", "'mixed'", "single"});
  network_refuses({"--broadcast", "rign"}, {"--broadcast", "'rign'", "did you mean ring?", "all"});
  network_refuses({"--ping-pong", "03"}, {"--ping-pong", "'03'", "0-3"});
  network_refuses({"--ping-pong", "-3"}, {"--ping-pong"});
  network_refuses({"--ping-pong", "2-2"}, {"--ping-pong", "'2-2'", "different"});
  network_refuses({"--ping-pong", "0-x"}, {"--ping-pong", "'0-x'", "'x'"});
  network_refuses({"--ping-pong", "never,0-1"}, {"--ping-pong", "'never'"});
  network_refuses({"--screen", "sometimes"}, {"--screen", "'sometimes'"});
  network_refuses({"--screen-seconds", "0"}, {"--screen-seconds", "'0'"});
  network_refuses({"--screen-seconds", "soon"}, {"--screen-seconds", "'soon'"});
  network_refuses({"--backend", "openblas"}, {"'--backend'", "glinpack network --help"});
  network_refuses({"--scren", "auto"}, {"'--scren'", "did you mean --screen?"});
  network_refuses({"--repeat", "1", "--repeat", "2"}, {"--repeat is given 2 times", "give it once"});
}

TEST_F(NetworkConfigFile, ErrorsNameTheirLine) {
  network_refuses({"--config", write("d.toml", "n = 64\nscren = 'auto'\n")},
                  {"d.toml:2: ", "'scren'", "did you mean screen?"});
  network_refuses({"--config", write("e.toml", "backend = 'openblas'\n")},
                  {"e.toml:1: ", "'backend'", "glinpack network"});
}

TEST(NetworkPlan, RunsEveryCombinationWithBroadcastsAndRepetitionsInnermost) {
  const auto plan = [](const Arguments& arguments, int ranks) {
    const NetworkOptions options = parsed(arguments);
    return plan_network_runs(options, options.broadcast, ranks);
  };
  const auto planned = plan({"--n", "10,20", "--grid", "1x2,2x1", "--broadcast", "ring,ibcast", "--repeat", "2"}, 2);
  ASSERT_EQ(planned.size(), 16U);
  EXPECT_EQ(planned[1].repeat, 1);
  EXPECT_EQ(planned[2].parameters.broadcast, BroadcastKind::ibcast);
  EXPECT_EQ(planned[4].parameters.n, 20);
  EXPECT_EQ(planned[8].grid, (GridShape{2, 1}));
  for (const RunRecord& run : planned) EXPECT_EQ(run.parameters.parts, RunParts::messages);
  EXPECT_EQ(plan({}, 6)[0].grid, (GridShape{2, 3}));
  expect_input_error([&] { plan({"--repeat", "1000000"}, 1); }, {"100000 runs"});
}

TEST(ComputeOnlyPlan, ChecksNothing) {
  const ParsedOptions options = parse_plu_options({"--compute-only", "--threshold", "16"});
  const auto planned = plan_runs(options, std::nullopt, std::nullopt, 4);
  ASSERT_EQ(planned.size(), 1U);
  EXPECT_EQ(planned[0].parameters.parts, RunParts::compute);
  EXPECT_LT(planned[0].parameters.threshold, 0);
}

}  // namespace
}  // namespace glinpack::app
