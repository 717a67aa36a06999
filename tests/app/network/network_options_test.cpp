#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "app/manual/pages.hpp"
#include "app/network/network_command.hpp"
#include "app/program/planned_runs.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Arguments = std::vector<std::string>;

NetworkOptions parsed(const Arguments& arguments) { return parse(arguments, network_table).options; }

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
  EXPECT_THAT(o.n, ElementsAre(10, 20));
  EXPECT_THAT(o.nb, ElementsAre(4));
  EXPECT_THAT(o.grid, ElementsAre(GridShape{2, 3}));
  EXPECT_EQ(o.precision, Precision::single);
  EXPECT_EQ(o.pivoting, Pivoting::local);
  EXPECT_EQ(o.repeat, 3);
  EXPECT_THAT(o.broadcast, ElementsAre(BroadcastKind::ring, BroadcastKind::long_modified, BroadcastKind::ibcast));
  EXPECT_EQ(o.ping_pong, When::always);
  EXPECT_THAT(o.ping_pong_pairs, ElementsAre(RankPair{0, 3}, RankPair{2, 1}));
  EXPECT_EQ(o.screen, When::always);
  EXPECT_EQ(o.screen_seconds, 2.5);
  EXPECT_TRUE(o.screen_together);
  EXPECT_EQ(o.output_dir, "o");
  EXPECT_EQ(o.json, "j");
  EXPECT_EQ(o.csv, "c");
  EXPECT_TRUE(o.force);
}

TEST(NetworkOptions, AllMeansEveryBroadcast) {
  EXPECT_THAT(parsed({"--broadcast", "all"}).broadcast, ::testing::ElementsAreArray(all_broadcasts));
}

TEST(NetworkOptions, PingPongCanBeDisabled) {
  EXPECT_EQ(parsed({"--ping-pong", "never"}).ping_pong, When::never);
  EXPECT_THAT(parsed({"--ping-pong", "never"}).ping_pong_pairs, IsEmpty());
}

TEST(NetworkOptions, HaveTheirNamesAndValuesInJson) {
  const nlohmann::json json =
      json_of(parsed({"--broadcast", "ring,ibcast", "--ping-pong", "0-1,0-2", "--screen-seconds", "0.1"}));
  EXPECT_EQ(json.at("broadcast"), nlohmann::json({"ring", "ibcast"}));
  EXPECT_EQ(json.at("ping-pong"), nlohmann::json({"0-1", "0-2"}));
  EXPECT_EQ(json.at("screen-seconds"), 0.1);
  EXPECT_EQ(json.at("screen-together"), false);
  EXPECT_EQ(json_of(parsed({"--ping-pong", "never"})).at("ping-pong"), "never");
}

TEST(NetworkOptions, InvalidValuesAreRejectedWithOptionAndValue) {
  expect_input_error([] { parsed({"--n", "0"}); }, {"--n", "'0'"});
  for (const std::string option : {"--n", "--nb", "--grid"}) {
    expect_input_error([&] { parsed({option, "auto"}); }, {option, "'auto'"});
  }
  expect_input_error([] { parsed({"--precision", "mixed"}); }, {"--precision", "'mixed'", "single"});
  expect_input_error([] { parsed({"--broadcast", "rign"}); }, {"--broadcast", "'rign'", "did you mean ring?", "all"});
  expect_input_error([] { parsed({"--ping-pong", "03"}); }, {"--ping-pong", "'03'", "0-3"});
  expect_input_error([] { parsed({"--ping-pong", "-3"}); }, {"--ping-pong"});
  expect_input_error([] { parsed({"--ping-pong", "2-2"}); }, {"--ping-pong", "'2-2'", "different"});
  expect_input_error([] { parsed({"--ping-pong", "0-x"}); }, {"--ping-pong", "'0-x'", "'x'"});
  expect_input_error([] { parsed({"--ping-pong", "never,0-1"}); }, {"--ping-pong", "'never'"});
  expect_input_error([] { parsed({"--screen", "sometimes"}); }, {"--screen", "'sometimes'"});
  expect_input_error([] { parsed({"--screen-seconds", "0"}); }, {"--screen-seconds", "'0'"});
  expect_input_error([] { parsed({"--screen-seconds", "soon"}); }, {"--screen-seconds", "'soon'"});
  expect_input_error([] { parsed({"--backend", "openblas"}); }, {"'--backend'", "glinpack network --help"});
  expect_input_error([] { parsed({"--scren", "auto"}); }, {"'--scren'", "did you mean --screen?"});
  expect_input_error([] { parsed({"--repeat", "1", "--repeat", "2"}); }, {"--repeat is given 2 times", "give it once"});
}

TEST(NetworkOptions, HelpShowsEveryOptionUnitsAndExamples) {
  const std::string help = help_of(network_table);
  const nlohmann::json configuration = json_of(NetworkOptions{});
  for (const auto& [key, value] : configuration.items()) {
    EXPECT_NE(help.find("--" + key + " "), std::string::npos) << key;
  }
  for (const char* part : {"--config", "Examples:", "[default: auto]", "seconds", "GB/s", "drawn", "Exit code"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part;
  }
}

TEST_F(NetworkConfigFile, KeysAreTheOptionsAndErrorsNameTheirLine) {
  const NetworkOptions o = parsed({"--config",
                                   write("c.toml",
                                         "n = [100, 200]\nbroadcast = 'all'\nping-pong = '0-1'\n"
                                         "screen = 'never'\nscreen_seconds = 3\n"),
                                   "--n", "50"});
  EXPECT_THAT(o.n, ElementsAre(50));
  EXPECT_THAT(o.broadcast, SizeIs(all_broadcasts.size()));
  EXPECT_THAT(o.ping_pong_pairs, ElementsAre(RankPair{0, 1}));
  EXPECT_EQ(o.screen, When::never);
  EXPECT_EQ(o.screen_seconds, 3);
  expect_input_error(
      [&] {
        parsed({"--config", write("d.toml", "n = 64\nscren = 'auto'\n")});
      },
      {"d.toml:2: ", "'scren'", "did you mean screen?"});
  expect_input_error(
      [&] {
        parsed({"--config", write("e.toml", "backend = 'openblas'\n")});
      },
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
