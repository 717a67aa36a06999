#include "app/record/energy.hpp"

#include <sstream>

#include "app/record/timeline.hpp"
#include "tests/app/report_records.hpp"

namespace glinpack::app {
namespace {

using sensors::Kind;
using sensors::known;
using sensors::Sample;
using sensors::unknown;

Sample counted(double seconds, double joules) { return {seconds, {.joules = joules}}; }
Sample powered(double seconds, double watts) { return {seconds, {.watts = watts}}; }
Sample throttled(double seconds, std::uint32_t reasons) { return {seconds, {.watts = 1, .throttle = reasons}}; }

SensorRecord package(const std::string& id, std::vector<Sample> samples) {
  return {{.kind = Kind::package, .id = id, .name = id, .source = "RAPL"}, std::move(samples)};
}
SensorRecord gpu(const std::string& id, std::vector<Sample> samples) {
  return {{.kind = Kind::gpu, .id = id, .name = "H200", .source = "NVML", .power_limit_watts = 700},
          std::move(samples)};
}

/// Four seconds on two machines with a GPU each, 100 W each package and 300 W each GPU: 1600 GFLOPS.
RunResult measured_run() {
  RunResult result;
  result.seconds = 4;
  result.gflops = 1600;
  for (const int rank : {0, 1}) {
    RankRecord record = example::rank_record(2 * rank, 0, rank);
    record.power.machine = "boot" + std::to_string(rank);
    record.power.gpu = "0000:19:00.0";
    record.power.read.push_back(package("package-0", {counted(-0.5, 0), counted(2, 250), counted(4.5, 500)}));
    record.power.read.push_back(gpu("0000:19:00.0", {{-0.5, {0, 300, 1900, unknown, 60, 0}},
                                                     {2, {750, 300, 1700, unknown, 64, 0}},
                                                     {4.5, {1500, 300, 1900, unknown, 62, 0}}}));
    result.ranks.push_back(record);
  }
  return result;
}

std::string energy_text(const RunResult& result) {
  const std::optional<Energy> energy = energy_of(result);
  return energy ? energy_text(*energy) : "";
}

nlohmann::json energy_json(const RunResult& result) {
  RunRecord record;
  record.parameters = example::passed_run().parameters;
  record.result = result;
  return results_json({}, std::vector{example::summarised(record)}).at("runs").at(0).at("energy");
}

TEST(Energy, a_counter_counts_between_its_samples_in_proportion_to_time) {
  const std::vector<Sample> samples{counted(-1, 10), counted(1, 30), counted(2, 80)};
  EXPECT_DOUBLE_EQ(joules_of(samples, 1.5), 55 - 20);
  // energy before the first and after the last sample is unknown
  EXPECT_DOUBLE_EQ(joules_of(samples, 3), 60);
}

TEST(Energy, without_a_counter_power_is_interpolated_linearly) {
  const std::vector<Sample> samples{powered(-1, 0), powered(1, 200), powered(3, 100)};
  // 0 s: 100 W, 1 s: 200 W, 2 s: 150 W
  EXPECT_DOUBLE_EQ(joules_of(samples, 2), 150 + 175);
}

TEST(Energy, a_constant_counter_gives_no_energy) {
  EXPECT_FALSE(known(joules_of(std::vector{counted(-1, 5), counted(3, 5)}, 2)));
  EXPECT_FALSE(known(joules_of({}, 2)));
  // but the power does
  EXPECT_DOUBLE_EQ(joules_of(std::vector<Sample>{{-1, {.joules = 5, .watts = 10}}, {3, {.joules = 5, .watts = 10}}}, 2),
                   20);
}

TEST(Energy, a_curve_has_the_power_of_each_time_interval) {
  const std::vector<Sample> counter{counted(-1, 0), counted(0, 10), counted(1, 110), counted(2, 130)};
  EXPECT_THAT(power_curve(counter, 2, 2), ElementsAre(100, 20));
  EXPECT_THAT(power_curve(std::vector{powered(0, 0), powered(2, 200)}, 2, 2), ElementsAre(50, 150));
  EXPECT_THAT(power_curve({}, 2, 2), IsEmpty());
}

TEST(Energy, a_reason_to_throttle_holds_until_halfway_to_the_next_sample) {
  const auto shares =
      throttle_shares(std::vector{throttled(-1, 0), throttled(1, sensors::throttle_power_cap),
                                  throttled(2, sensors::throttle_power_cap | sensors::throttle_hardware_thermal),
                                  throttled(4, sensors::throttle_idle)},
                      4);
  ASSERT_EQ(shares.size(), 2U);  // idle is not reported as a reason
  EXPECT_EQ(shares[0].reason, sensors::throttle_power_cap);
  EXPECT_DOUBLE_EQ(shares[0].share, 3.0 / 4);
  EXPECT_EQ(shares[1].reason, sensors::throttle_hardware_thermal);
  EXPECT_DOUBLE_EQ(shares[1].share, 1.5 / 4);
  EXPECT_THAT(throttle_shares(std::vector{throttled(1, sensors::unknown_throttle)}, 4), IsEmpty());
}

TEST(Energy, sensors_of_all_ranks_add_up) {
  const RunResult result = measured_run();
  const std::optional<Energy> energy = energy_of(result);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->joules, 2 * (400 + 1200));
  EXPECT_DOUBLE_EQ(energy->average_watts, 800);
  EXPECT_DOUBLE_EQ(energy->peak_watts, 800);
  EXPECT_DOUBLE_EQ(energy->gflops_per_watt, 2);
  EXPECT_FALSE(energy->rough);
  EXPECT_EQ(energy->scope, "2 nodes: CPU packages by RAPL, 2 GPUs by NVML; not: memory, network, power supplies");
  ASSERT_EQ(energy->sensors.size(), 4U);
  EXPECT_EQ(energy->sensors[3].rank, 2);
  EXPECT_DOUBLE_EQ(energy->sensors[3].average_watts, 300);
  EXPECT_DOUBLE_EQ(energy->sensors[3].megahertz->min, 1700);
  EXPECT_DOUBLE_EQ(energy->sensors[3].celsius->max, 64);
  EXPECT_FALSE(energy->sensors[0].megahertz);
}

TEST(Energy, the_peak_is_of_the_sum_of_all_sensors) {
  RunResult result;
  result.seconds = 2;
  result.ranks.push_back(example::rank_record(0, 0, 0));
  result.ranks[0].power.read = {package("package-0", {counted(0, 0), counted(1, 100), counted(2, 110)}),
                                package("package-1", {counted(0, 0), counted(1, 10), counted(2, 110)})};
  const std::optional<Energy> energy = energy_of(result);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->sensors[0].peak_watts, 100);
  EXPECT_DOUBLE_EQ(energy->sensors[1].peak_watts, 100);
  EXPECT_DOUBLE_EQ(energy->peak_watts, 110);
}

TEST(Energy, a_sensor_without_samples_does_not_remove_the_peak) {
  RunResult result;
  result.seconds = 2;
  for (const int rank : {0, 1}) result.ranks.push_back(example::rank_record(rank, 0, rank));
  result.ranks[0].power.read = {package("package-0", {counted(0, 0), counted(1, 100), counted(2, 110)})};
  result.ranks[1].power.read = {package("package-0", {})};
  const std::optional<Energy> energy = energy_of(result);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->joules, 110);
  EXPECT_DOUBLE_EQ(energy->peak_watts, 100);
}

TEST(Energy, no_rate_is_given_if_part_of_the_machine_is_not_measured) {
  RunResult one_node = measured_run();
  one_node.ranks[1].power.read.erase(one_node.ranks[1].power.read.begin());  // its package
  EXPECT_FALSE(known(energy_of(one_node)->gflops_per_watt));
  EXPECT_EQ(energy_of(one_node)->scope,
            "2 nodes: CPU packages by RAPL (of 1 node only), 2 GPUs by NVML; not: memory, network, power supplies");

  RunResult one_gpu = measured_run();
  one_gpu.ranks[1].power.read.pop_back();
  EXPECT_FALSE(known(energy_of(one_gpu)->gflops_per_watt));
  EXPECT_THAT(energy_of(one_gpu)->scope, HasSubstr("1 of 2 GPUs by NVML"));

  RunResult no_gpu = measured_run();
  for (RankRecord& rank : no_gpu.ranks) rank.power.read.pop_back();
  EXPECT_FALSE(known(energy_of(no_gpu)->gflops_per_watt));
  EXPECT_EQ(energy_of(no_gpu)->scope, "2 nodes: CPU packages by RAPL; not: 2 GPUs, memory, network, power supplies");

  RunResult one_package = measured_run();
  one_package.ranks[0].power.unread.push_back({Kind::package, "RAPL package-1: Permission denied"});
  EXPECT_FALSE(known(energy_of(one_package)->gflops_per_watt));
}

TEST(Energy, a_rate_of_gpus_alone_is_labelled) {
  RunResult result = measured_run();
  for (RankRecord& rank : result.ranks) {
    rank.power.read.erase(rank.power.read.begin());
    rank.power.unread.push_back({Kind::package, "RAPL package-0: Permission denied"});
  }
  const std::optional<Energy> energy = energy_of(result);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->gflops_per_watt, 1600.0 / 600);
  EXPECT_EQ(energy->scope, "2 nodes: 2 GPUs by NVML; not: CPU packages, memory, network, power supplies");
  EXPECT_THAT(energy->unread,
              ElementsAre("node01: RAPL package-0: Permission denied", "node02: RAPL package-0: Permission denied"));
}

TEST(Energy, a_run_without_sensors_prints_no_energy) {
  const RunRecord record = example::passed_run();
  EXPECT_FALSE(energy_of(record.result));
  EXPECT_EQ(energy_text(record.result), "");
  EXPECT_TRUE(energy_json(record.result).is_null());
}

TEST(Energy, unreadable_sensors_are_only_in_the_json) {
  RunResult result = example::passed_run().result;
  result.ranks[0].power.unread.push_back({Kind::package, "RAPL package-0: Permission denied"});
  result.ranks[1].power.read.push_back(package("package-1", {counted(-1, 3), counted(5, 3)}));
  EXPECT_EQ(energy_text(result), "");
  const nlohmann::json json = energy_json(result);
  EXPECT_TRUE(json.at("joules").is_null());
  EXPECT_TRUE(json.at("scope").is_null());
  EXPECT_EQ(json.at("unread"), nlohmann::json({"node01: RAPL package-0: Permission denied",
                                               "node01: RAPL package-1: its counter stood still during the run"}));
}

TEST(Energy, a_wall_meter_gives_the_rate_instead_of_the_sensors) {
  const RunResult result = measured_run();
  std::optional<Energy> energy = energy_of(result);
  ASSERT_TRUE(energy);
  set_wall_watts(*energy, 1000, result.gflops);
  EXPECT_EQ(energy->gflops_per_watt, 1.6);
  EXPECT_EQ(energy->average_watts, 800);
  const std::string text = energy_text(*energy);
  EXPECT_THAT(text, HasSubstr("Power: 1000 W by a wall meter; 1.6 GFLOPS/W\n"));
  EXPECT_THAT(text, HasSubstr("Energy: 3200.0 J, 800.0 W on average, 800.0 W at most, by the sensors\n"));
  EXPECT_THAT(example::lines_that_look_like_results(text), IsEmpty());
}

TEST(Energy, a_wall_meter_needs_no_sensors) {
  RunRecord record = example::passed_run();
  record.result.gflops = 900;
  set_wall_watts(record.energy.emplace(), 450, record.result.gflops);
  EXPECT_EQ(energy_text(*record.energy), "\nPower: 450 W by a wall meter; 2 GFLOPS/W\n");
  const nlohmann::json json = results_json({}, std::vector{record}).at("runs").at(0).at("energy");
  EXPECT_EQ(json.at("wall_watts"), 450);
  EXPECT_EQ(json.at("gflops_per_watt"), 2);
  EXPECT_TRUE(json.at("joules").is_null());
  EXPECT_TRUE(json.at("scope").is_null());
}

TEST(Energy, the_text_names_rate_scope_and_throttle_reasons) {
  RunResult result = measured_run();
  for (Sample& sample : result.ranks[1].power.read[1].samples) {
    sample.reading.throttle = sensors::throttle_power_cap | sensors::throttle_idle;
  }
  const std::string text = energy_text(result);
  EXPECT_THAT(text, HasSubstr("Energy: 3200.0 J, 800.0 W on average, 800.0 W at most; 2 GFLOPS/W\n"));
  EXPECT_THAT(text, HasSubstr("  2 nodes: CPU packages by RAPL"));
  EXPECT_THAT(text, HasSubstr("node02 GPU 0000:19:00.0 (H200): 300.0 W on average, 300.0 W at most; "));
  EXPECT_THAT(text, HasSubstr("(1700 to 1900); 64 C at most; power cap for 100 % of the time\n"));
  EXPECT_THAT(text, Not(HasSubstr("idle")));
  EXPECT_THAT(text, Not(HasSubstr("rough")));
  EXPECT_THAT(example::lines_that_look_like_results(text), IsEmpty());
  result.seconds = 1;
  EXPECT_THAT(energy_text(result), HasSubstr("rough, for the run is short"));
}

TEST(Energy, the_trace_has_power_as_counters) {
  RunRecord record = example::passed_run();
  record.result.ranks[0].power.read = {
      package("package-0", {counted(-1, 0), counted(1, 100), counted(2, 150)}),
      gpu("0000:19:00.0", {{1, {unknown, 300, 1900, unknown, 60, sensors::throttle_power_cap}},
                           {2, {unknown, 310, 1800, 3201, 61, sensors::throttle_idle}}})};
  std::ostringstream out;
  write_trace(out, std::vector{record});
  const nlohmann::json document = nlohmann::json::parse(out.str());
  std::vector<std::string> found;
  for (const nlohmann::json& event : document.at("traceEvents")) {
    if (event.at("ph") != "C") continue;
    EXPECT_EQ(event.at("pid"), 0);
    found.push_back(event.at("name").get<std::string>() + " " + std::to_string(event.at("ts").get<int>()) + " " +
                    event.at("args").dump());
  }
  EXPECT_THAT(
      found,
      ElementsAre(R"(package-0 W 0 {"W":50.0})", R"(package-0 W 1000000 {"W":50.0})",
                  R"(GPU 0000:19:00.0 W 1000000 {"W":300.0})", R"(GPU 0000:19:00.0 MHz 1000000 {"core":1900.0})",
                  R"(GPU 0000:19:00.0 C 1000000 {"C":60.0})", R"(GPU 0000:19:00.0 power cap 1000000 {"throttled":1.0})",
                  R"(GPU 0000:19:00.0 W 2000000 {"W":310.0})",
                  R"(GPU 0000:19:00.0 MHz 2000000 {"core":1800.0,"memory":3201.0})",
                  R"(GPU 0000:19:00.0 C 2000000 {"C":61.0})",
                  R"(GPU 0000:19:00.0 power cap 2000000 {"throttled":0.0})"));
}

TEST(Energy, the_json_has_every_sensor) {
  const nlohmann::json json = energy_json(measured_run());
  EXPECT_EQ(json.at("joules"), 3200);
  EXPECT_EQ(json.at("gflops_per_watt"), 2);
  EXPECT_EQ(json.at("nodes"), nlohmann::json({{"there", 2}, {"read", 2}}));
  EXPECT_EQ(json.at("nodes_with_memory"), nlohmann::json({{"there", 2}, {"read", 0}}));
  EXPECT_EQ(json.at("gpus"), nlohmann::json({{"there", 2}, {"read", 2}}));
  ASSERT_EQ(json.at("sensors").size(), 4U);
  const nlohmann::json& first = json.at("sensors").at(0);
  EXPECT_EQ(first.at("kind"), "package");
  EXPECT_TRUE(first.at("celsius").is_null());
  const nlohmann::json& second = json.at("sensors").at(1);
  EXPECT_EQ(second.at("power_limit_watts"), 700);
  EXPECT_EQ(second.at("samples"), 3);
  EXPECT_EQ(second.at("celsius").at("min"), 60);
}

}  // namespace
}  // namespace glinpack::app
