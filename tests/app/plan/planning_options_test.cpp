#include "app/input/values.hpp"
#include "app/plan/planner.hpp"
#include "app/plan/planning_command.hpp"
#include "app/record/text.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

class PlanningFiles : public FolderTest {};

TEST(Quantities, HaveUnits) {
  EXPECT_EQ(parse_bytes("80G"), 80e9);
  EXPECT_EQ(parse_bytes("80 GB"), 80e9);
  EXPECT_EQ(parse_bytes("0.5TiB"), 549755813888.0);
  for (const char* rate : {"100Gb/s", "100 Gbit/s", "100Gbps", "12.5GB/s"}) EXPECT_EQ(parse_link_rate(rate), 12.5e9);
  EXPECT_EQ(parse_link_rate("100mbit"), 12.5e6);
  EXPECT_EQ(parse_link_rate("12.5GB/s"), 12.5e9);
  EXPECT_EQ(parse_latency("2us"), 2e-6);
  EXPECT_EQ(parse_latency("2\u00b5s"), 2e-6);
  EXPECT_EQ(parse_latency("1.5ms"), 1.5e-3);
}

TEST(Quantities, WithoutAUnitAreRejected) {
  expect_input_error([] { parse_bytes("80"); }, {"'80'", "no unit", "80G"});
  expect_input_error([] { parse_link_rate("100"); }, {"'100'", "no unit", "100Gb/s", "12.5GB/s"});
  expect_input_error([] { parse_link_rate("100G"); }, {"'G'", "bits as in"});
  expect_input_error([] { parse_latency("2"); }, {"'2'", "no unit", "2us"});
  expect_input_error([] { parse_bytes("0G"); }, {"'0G'", "out of range"});
  expect_input_error([] { parse_bytes("G"); }, {"'G'", "no number"});
  expect_input_error([] { parse_bytes("1.2.3G"); }, {"1.2.3"});
  expect_input_error([] { parse_bytes("-1G"); }, {"'-1G'"});
}

TEST(PlanningOptions, EveryOptionIsParsedAndIsInTheConfiguration) {
  const PlanningOptions o = parse_planning_options(arguments_of(
      "--nodes 16 --gpus-per-node 4 --memory 80G --memory-fraction 0.9 --network 100Gb/s --latency 2us --n "
      "1000 --nb 100 --grid 8x8 --backend openblas --precision single --pivoting tournament --broadcast "
      "long --row-swap mix --lookahead 0 --replay --from a.json,b.json --links l.json --json p.json --slurm "
      "--force"));
  EXPECT_EQ(to_json(o, planning_table), nlohmann::json::parse(R"({"nodes": 16, "gpus-per-node": 4, "memory": 80e9,
    "memory-fraction": 0.9, "network": 12.5e9, "latency": 2e-6, "n": 1000, "nb": 100, "grid": "8x8",
    "backend": "openblas", "precision": "single", "pivoting": "tournament", "broadcast": "long", "row-swap": "mix",
    "lookahead": 0, "from": ["a.json", "b.json"], "links": "l.json",
    "replay": true, "slurm": true, "json": "p.json", "force": true})"));
}

TEST(Grids, OfAPrimeNumberHaveASquarerOneOfLess) {
  EXPECT_EQ(squarer_grid(1009), (GridShape{28, 36}));
  EXPECT_EQ(squarer_grid(11), (GridShape{3, 3}));
  for (const int processes : {1, 7, 8, 12, 1000, 10000}) EXPECT_EQ(squarer_grid(processes), std::nullopt) << processes;
}

TEST(PlanningOptions, RejectsInvalidValues) {
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse_planning_options(arguments); }, parts);
  };
  refused({"--nodes", "0", "--n", "1000"}, {"--nodes", "'0'"});
  refused({"--memory", "80"}, {"--memory", "'80'", "no unit"});
  refused({"--nodes", "2", "--n", "1000", "--network", "100"}, {"--network", "'100'", "no unit"});
  refused({}, {"--memory", "--n"});
  refused({"--nodes", "2", "--n", "1000"}, {"--nodes 2", "--network", "--links"});
  refused({"--nodes", "3", "--n", "1000", "--network", "1Gb/s", "--grid", "2x2"}, {"--grid 2x2", "4", "3"});
  refused({"--nodes", "1000000", "--gpus-per-node", "1000000", "--n", "1000", "--network", "1Gb/s"}, {"1000000"});
  refused({"--n", "1000", "--precision", "mixed"}, {"--precision", "mixed", "single"});
  refused({"--n", "1000", "--backend", "auto"}, {"--backend", "auto"});
  refused({"--n", "1000", "--memory-fraction", "2"}, {"--memory-fraction", "'2'"});
  refused({"--nodes", "50000", "--n", "1000", "--network", "1Gb/s", "--replay"}, {"--replay", "50000", "20000"});
  refused({"--nodes", "200000", "--n", "1000", "--network", "1Gb/s"}, {"--nodes", "200000", "100000"});
  refused({"--nodse", "2"}, {"'--nodse'", "--nodes"});
}

TEST_F(PlanningFiles, RejectsFilesOfOtherPrograms) {
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { plan_cluster(parse_planning_options(arguments)); }, parts);
  };
  const std::string missing = path("none.json");
  const std::string text = write("text.json", "N 1000");
  const std::string other = write("other.json", R"({"runs": []})");
  const std::string empty = write("empty.json", R"({"format": 1, "context": {"version": "0.1.0"}, "runs": []})");
  const std::string odd =
      write("odd.json", R"({"format": 1, "context": {"version": "0.1.0"}, "runs": [{"n": "many"}]})");
  refused({"--n", "1000", "--from", missing}, {missing});
  refused({"--n", "1000", "--from", text}, {text, "not JSON", "glinpack plu --json"});
  refused({"--n", "1000", "--from", other}, {other, "glinpack plu --json"});
  refused({"--n", "1000", "--from", empty}, {empty, "no finished run"});
  refused({"--n", "1000", "--from", odd}, {odd, "'/runs/0/n'", "a whole number from 1 is expected"});
  refused({"--n", "1000", "--links", empty}, {empty, "glinpack network --json"});
  refused({"--n", "1000", "--backend", "openblas"}, {"no figure", "--from"});
  refused({"--n", "1000", "--nb", "8193"}, {"--nb", "8193", "8192"});
  refused({"--n", "1000000000000000", "--nb", "1"}, {"1000000000000000", "passes", "--nb"});
}

TEST(Planning, ChoosesTheLargestMatrixThatFitsAndTheFastestGrid) {
  const PlanningOptions options = parse_planning_options(
      {"--nodes", "2", "--gpus-per-node", "4", "--memory", "20G", "--network", "100Gb/s", "--precision", "single"});
  const ClusterPlan plan = plan_cluster(options);
  const model::Problem& problem = plan.chosen.problem;
  EXPECT_EQ(problem.grid.size(), 8);
  EXPECT_LE(plan.device_bytes, 0.8 * 20e9);
  EXPECT_GE(plan.device_bytes, 0.7 * 20e9);
  for (const Candidate& other : plan.others) EXPECT_LE(other.forecast.gflops, plan.chosen.forecast.gflops);
  EXPECT_GT(plan.chosen.forecast.gflops, 0);
}

TEST(Planning, FasterNetworksAndMoreNodesAreNeverSlower) {
  const auto gflops = [](const char* nodes, const char* network) {
    return plan_cluster(parse_planning_options(
                            {"--nodes", nodes, "--n", "50000", "--network", network, "--precision", "single"}))
        .chosen.forecast.gflops;
  };
  const double eight_nodes = gflops("8", "100Gb/s");
  EXPECT_GT(eight_nodes, gflops("8", "10Gb/s"));
  EXPECT_GT(eight_nodes, gflops("2", "100Gb/s"));
}

TEST(Planning, NamesTheSourceOfEveryValue) {
  const PlanningOptions options =
      parse_planning_options({"--nodes", "2", "--n", "20000", "--network", "10Gb/s", "--precision", "single"});
  const ClusterPlan plan = plan_cluster(options);
  for (const Work work : all_work) {
    const model::Figure& figure = plan.machine.figures[work];
    EXPECT_EQ(figure.cost.known(), !figure.source.empty()) << name_of(work);
  }
  const std::string text = planning_text(options, plan);
  for (const char* part :
       {"N         20000", "expected", "--network; latency assumed", "results/runs.md", "\n  mpirun -np 2 -ppn 1 "}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Planning, PrintsTheSlurmJobInsteadOfTheMpiCommand) {
  PlanningOptions options = parse_planning_options({"--gpus-per-node", "4", "--n", "8192", "--slurm"});
  const std::string text = planning_text(options, plan_cluster(options));
  EXPECT_THAT(text, HasSubstr("glinpack slurm --nodes 1 --gpus-per-node 4 -- --n 8192 --nb 512 --grid 1x4 "));
  EXPECT_THAT(text, HasSubstr(" --backend gl-compute | sbatch\n"));
  EXPECT_THAT(text, Not(HasSubstr("mpirun")));
}

}  // namespace
}  // namespace glinpack::app
