// Machine-readable output: JSON and its schema, CSV, trace.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "app/program/log.hpp"
#include "app/record/timeline.hpp"
#include "tests/app/report_records.hpp"
#include "tests/captured_log.hpp"

namespace glinpack::app::example {
namespace {

using nlohmann::json;

const std::filesystem::path repository = std::filesystem::path(GLINPACK_TEST_DATA).parent_path().parent_path();

/// Exit status of the schema's check: 0 valid, 1 not.
int validate(const json& document) {
  const auto file = std::filesystem::temp_directory_path() / ("glinpack_report_" + std::to_string(getpid()) + ".json");
  std::ofstream(file) << document.dump(2);
  const std::string command = "/usr/bin/python3 '" + (repository / "tests/system/validate_json.py").string() + "' '" +
                              file.string() + "' '" + (repository / "docs/result.schema.json").string() + "'";
  const int status = std::system(command.c_str());
  std::filesystem::remove(file);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

RunRecord singular_run() {
  RunRecord record = passed_run();
  record.precision = Precision::single;
  record.result.passed = false;
  record.result.singular_column = 3;
  record.result.failure = "singular: zero pivot in global column 3";
  record.result.growth = std::numeric_limits<double>::quiet_NaN();
  return record;
}

TEST(ResultsJson, agrees_with_its_schema) {
  RunRecord unchecked = passed_run();
  unchecked.parameters.threshold = -1;
  unchecked.result.checked = unchecked.result.passed = false;
  unchecked.result.ranks.clear();
  unchecked = summarised(unchecked);
  EXPECT_EQ(validate(results_json(
                context(), std::vector{passed_run(), singular_run(), unchecked, refined_run(), unrefined_run()})),
            0);
  ReportContext min;
  min.version = "0.1.0";
  EXPECT_EQ(validate(results_json(min, {})), 0);
}

TEST(ResultsJson, what_is_read_is_written_alike) {
  RunRecord measured = refined_run();
  measured.result.ranks[0].power.machine = "boot";
  measured.result.ranks[0].power.read = {
      {{.kind = sensors::Kind::gpu, .id = "0000:19:00.0", .name = "H200", .source = "NVML"},
       {{-1, {.watts = 300, .celsius = 60, .throttle = sensors::throttle_power_cap}}, {5, {.watts = 300}}}}};
  measured.result.ranks[1].power.unread.push_back({sensors::Kind::package, "RAPL package-0: Permission denied"});
  measured = summarised(measured);
  measured.matrix = MatrixKind::file;
  measured.peak = Peak{.gflops = 2e-5, .stated = true};
  measured.order = RankOrder::column_major;
  measured.parameters.row_swap = {RowSwapKind::mix, 32, 2};
  RunRecord compute = passed_run();
  compute.parameters.parts = RunParts::compute;
  compute.result.checked = compute.result.passed = false;
  compute.result.gflops = timed_flops(compute.parameters, compute.result) / compute.result.seconds * 1e-9;
  RunRecord kahan = passed_run();
  kahan.matrix = MatrixKind::kahan;
  const json document = results_json(context(), std::vector{measured, compute, singular_run(), unrefined_run(), kahan});
  EXPECT_EQ(validate(document), 0);
  EXPECT_EQ(document["runs"][4]["matrix"], "kahan");
  EXPECT_DOUBLE_EQ(document["runs"][0]["of_peak"].get<double>(), 7.6053e-06 / 2e-5);
  EXPECT_DOUBLE_EQ(document["runs"][0]["gflops_per_unit"].get<double>(), 7.6053e-06 / 2);
  EXPECT_EQ(document["runs"][0]["energy"]["sensors"][0]["throttled"][0]["reason"], "power cap");
  const std::string name = "x.json";
  EXPECT_EQ(results_json(context(), read_runs({name, document}))["runs"], document["runs"]);
}

TEST(OptionalPart, that_fails_gives_only_a_warning) {
  const CapturedLog log;
  EXPECT_TRUE(make_or_warn("the energy of N 10", [] {}));
  EXPECT_EQ(log.lines(), "");
  EXPECT_FALSE(make_or_warn("the energy of N 10", [] { throw std::runtime_error("why"); }));
  EXPECT_EQ(log.lines(), "warning: the energy of N 10 is left out: why\n");
}

TEST(ResultsJson, marks_incomplete_results_and_the_interrupted_run) {
  const std::vector records{passed_run()};
  const json going_on = results_json(context(), records, Incomplete{.signal = "", .planned = 3, .finished = 1});
  EXPECT_EQ(validate(going_on), 0);
  EXPECT_EQ(going_on["incomplete"]["signal"], nullptr);
  RunRecord ended = passed_run();  // N = 35, NB 4
  ended.result.passes_done = 5;
  const json document =
      results_json(context(), records, Incomplete{.signal = "SIGTERM", .planned = 3, .finished = 1, .ended = &ended});
  EXPECT_EQ(validate(document), 0);
  EXPECT_EQ(document["runs"].size(), 1U);
  EXPECT_EQ(document["incomplete"]["runs_planned"], 3);
  const json run = document["incomplete"]["ended_run"];
  EXPECT_EQ(run["passes"], 9);
  EXPECT_EQ(run["passes_done"], 5);
  EXPECT_NEAR(run["operations_share"].get<double>(), 1 - std::pow(15.0 / 35, 3), 1e-12);
  EXPECT_FALSE(results_json(context(), records).contains("incomplete"));
}

TEST(IncompleteText, names_the_signal_and_the_run_and_does_not_look_like_a_result) {
  RunRecord ended = passed_run();
  ended.result.passes_done = 5;
  const std::string text = incomplete_text({.signal = "SIGTERM", .planned = 12, .finished = 3, .ended = &ended});
  EXPECT_THAT(text, HasSubstr("INCOMPLETE: SIGTERM ended the program after 3 of 12 runs."));
  EXPECT_THAT(text, HasSubstr("N 35, NB 4, grid 1x2"));
  EXPECT_THAT(text, HasSubstr("5 of 9 passes"));
  EXPECT_TRUE(lines_that_look_like_results(text).empty());
}

TEST(ResultsJson, schema_rejects_missing_and_unknown_keys) {
  const json good = results_json(context(), std::vector{passed_run()});
  ::testing::internal::CaptureStderr();
  json missing = good;
  missing["runs"][0].erase("gflops");
  EXPECT_EQ(validate(missing), 1);
  json unknown = good;
  unknown["runs"][0]["ranks"][0]["colour"] = "green";
  EXPECT_EQ(validate(unknown), 1);
  json wrong = good;
  wrong["runs"][0]["n"] = "35";
  EXPECT_EQ(validate(wrong), 1);
  ::testing::internal::GetCapturedStderr();
}

TEST(ResultsJson, run_has_the_agreed_keys_and_values) {
  const json run = results_json(context(), std::vector{passed_run()})["runs"][0];
  expect_members(run, R"({"n": 35, "nb": 4, "p": 1, "q": 2, "time": 4.0, "gflops": 7.6053e-06, "passed": true,
      "residual": 0.0312500123, "epsilon": 1.1102230246251565e-16})");
  EXPECT_EQ(run["norms"]["a_one"], 10.25);
  EXPECT_EQ(run["breakdown"]["network"]["exposed"]["mean"], 0.75);
  EXPECT_EQ(run["breakdown"]["waiting"]["max"], 1.0);
  EXPECT_EQ(run["breakdown"]["roles"][1]["role"], "normalize");
  EXPECT_EQ(run["breakdown"]["roles"][1]["ranks"], 1);
  EXPECT_EQ(run["breakdown"]["roles"][1]["idle"], json({{"min", 2.0}, {"mean", 2.0}, {"max", 2.0}}));
  EXPECT_EQ(run["breakdown"]["hpl_phases"][1], json({{"phase", "bcast"},
                                                     {"seconds", {{"min", 0.5}, {"mean", 0.75}, {"max", 1.0}}},
                                                     {"hidden", {{"min", 0.0}, {"mean", 0.25}, {"max", 0.5}}},
                                                     {"gflops", 0.0},
                                                     {"gigabytes_per_second", 0.5}}));
  EXPECT_EQ(run["ranks"][1]["waiting_seconds"], 1.0);
  EXPECT_EQ(run["ranks"][1]["roles"], json::array({{{"role", "normalize"},
                                                    {"seconds", 4.0},
                                                    {"computing", 0.5},
                                                    {"transfer", 0.5},
                                                    {"network", 1.0},
                                                    {"idle", 2.0},
                                                    {"waiting", 1.0}}}));
  EXPECT_EQ(run["ranks"][1]["host"], "node01");
  EXPECT_EQ(run["ranks"][0]["network_hidden_seconds"], 0.5);
  EXPECT_EQ(run["ranks"][1]["phases"][1], json({{"role", "normalize"},
                                                {"phase", "normalize"},
                                                {"lane", "gpu"},
                                                {"seconds", 0.5},
                                                {"flops", 1e9},
                                                {"bytes", 0.0}}));
}

TEST(ResultsJson, a_refined_run_has_its_history) {
  const json runs = results_json(context(), std::vector{refined_run(), unrefined_run(), passed_run()})["runs"];
  EXPECT_EQ(runs[0]["precision"], "mixed");
  EXPECT_EQ(runs[0]["epsilon"], 0x1p-53);
  EXPECT_EQ(runs[0]["refinement"], json::parse(R"({"converged": true, "iterations": 3, "gmres_iterations": 1,
      "seconds": 0.125, "stopped": null, "history": [
        {"method": "factors", "residual": 1234567.5}, {"method": "classical", "residual": 2048.0},
        {"method": "classical", "residual": 2000.0}, {"method": "GMRES", "residual": 0.25}]})"));
  EXPECT_EQ(runs[1]["refinement"]["converged"], false);
  EXPECT_EQ(runs[1]["refinement"]["stopped"], "GMRES stagnates, too");
  EXPECT_TRUE(runs[1]["refinement"]["history"][0]["residual"].is_null());
  EXPECT_TRUE(runs[2]["refinement"].is_null());
}

TEST(ResultsJson, nan_and_infinity_become_null) {
  RunRecord record = passed_run();
  record.result.residual.scaled = std::numeric_limits<double>::quiet_NaN();
  record.result.residual.norm_x_inf = std::numeric_limits<double>::infinity();
  record.result.passed = false;
  record.result.failure = "the solution holds NaN";
  const json document = results_json(context(), std::vector{record});
  EXPECT_TRUE(document["runs"][0]["residual"].is_null());
  EXPECT_TRUE(document["runs"][0]["norms"]["x_inf"].is_null());
  EXPECT_EQ(validate(document), 0);
}

TEST(ResultsJson, bytes_that_are_not_utf8_are_accepted) {
  ReportContext shared = context();
  shared.command_line.push_back("--json=\xff\xfe.json");
  EXPECT_NO_THROW({ EXPECT_FALSE(results_json(shared, {}).dump().empty()); });
}

TEST(ResultsCsv, has_a_head_line_and_as_many_fields_in_every_line) {
  RunRecord failed = singular_run();
  failed.result.failure = "said \"no\", twice";
  RunRecord passed = passed_run();
  passed.node_grid = GridShape{1, 2};
  passed.result.resumed = Resumed{.passes = 7, .seconds = 1};
  ReportContext options = context();
  options.configuration["abft-every"] = {7, 8};
  options.configuration["row-swap"] = "mix";
  failed.parameters.row_swap = {RowSwapKind::mix, 32, 2};
  failed.parameters.lookahead = 1;
  const std::vector<std::string> lines = lines_of(results_csv(options, std::vector{passed, failed}));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(
      lines[0],
      "n,nb,p,q,time,gflops,residual,passed,matrix,precision,backend,pivoting,broadcast,order,repeat,factor_seconds,"
      "solve_seconds,computing_seconds,transfer_seconds,network_seconds,network_exposed_seconds,idle_seconds,"
      "epsilon,threshold,growth,singular_column,start_time,device,failure,compute_only,waiting_seconds,"
      "iterations,gmres_iterations,refinement_seconds,residual_history,"
      "pivot_seconds,pivot_computing_seconds,pivot_transfer_seconds,pivot_network_seconds,pivot_idle_seconds,"
      "pivot_waiting_seconds,normalize_seconds,normalize_computing_seconds,normalize_transfer_seconds,"
      "normalize_network_seconds,normalize_idle_seconds,normalize_waiting_seconds,eliminate_seconds,"
      "eliminate_computing_seconds,eliminate_transfer_seconds,eliminate_network_seconds,eliminate_idle_seconds,"
      "eliminate_waiting_seconds,reduce_seconds,reduce_computing_seconds,reduce_transfer_seconds,"
      "reduce_network_seconds,reduce_idle_seconds,reduce_waiting_seconds,"
      "energy_joules,average_watts,peak_watts,gflops_per_watt,"
      "pfact_seconds,bcast_seconds,laswp_seconds,trsm_seconds,update_seconds,ptrsv_seconds,refine_seconds,"
      "copies_seconds,unit,units,gflops_per_unit,peak_gflops,of_peak,node_grid,ckpt_seconds,check_seconds,"
      "resumed_passes,version,git_commit,hosts,panel,row_swap_kind,row_swap_pieces,row_swap_threshold,variant_depth,"
      "variant_nbmin,variant_ndiv,variant_pfact,variant_rfact,abft_every");
  // no rank eliminates or reduces, nothing is refined, and there are no sensors
  const std::string roles =
      "false,0.5,,,,,3.5,3,0,0.5,0,0,4,0.5,0.5,1,2,1,,,,,,,,,,,,,,,,,0.5,0.75,0,0.25,1,0.25,,0.25,process,2,"
      "3.80265e-06,,";
  EXPECT_EQ(
      lines[1],
      "35,4,1,2,4,7.6053e-06,0.0312500123,true,hpl,double,gl-compute,partial,ring,row-major,0,3.5,0.5,2,0.25,1,0.75,"
      "1,1.1102230246251565e-16,16,1.75,,1700000000,\"llvmpipe (LLVM 15.0.6, 256 bits)\",," +
          roles + ",1x2,,,7,0.1.0,0123abc,node01,auto,direct,1,64,0,2,2,L,C,7 8");
  EXPECT_EQ(lines[2],
            "35,4,1,2,4,7.6053e-06,,false,hpl,single,gl-compute,partial,ring,row-major,0,3.5,0.5,2,0.25,1,0.75,1,"
            "5.960464477539063e-08,16,,3,1700000000,\"llvmpipe (LLVM 15.0.6, 256 bits)\",\"said \"\"no\"\", twice\"," +
                roles + ",,,,,0.1.0,0123abc,node01,auto,mix,2,32,1,2,2,L,C,7 8");
}

TEST(ResultsCsv, a_refined_run_has_its_history_in_one_field) {
  const std::vector<std::string> lines = lines_of(results_csv(context(), std::vector{refined_run()}));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[1], HasSubstr(",false,0.5,3,1,0.125,1234567.5 2048 2000 0.25,3.5,3,"));
  EXPECT_THAT(lines[1], HasSubstr(",mixed,"));
}

std::vector<json> events(const json& trace, const std::string& type) {
  std::vector<json> found;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == type) found.push_back(event);
  }
  return found;
}

TEST(Trace, names_ranks_and_lanes_once) {
  std::ostringstream out;
  write_trace(out, std::vector{passed_run(), passed_run()});
  const json trace = json::parse(out.str());
  std::map<std::string, int> names;
  for (const json& event : events(trace, "M")) {
    if (event["name"] == "process_name") ++names[event["args"]["name"]];
    if (event["name"] == "thread_name" && event["pid"] == 0) ++names[event["args"]["name"]];
  }
  EXPECT_EQ(
      names,
      (std::map<std::string, int>{
          {"rank 0 (0,0) node01", 1}, {"rank 1 (0,1) node01", 1}, {"cpu", 1}, {"gpu", 1}, {"net", 1}, {"copy", 1}}));
}

TEST(Trace, every_interval_is_a_complete_event_in_microseconds_with_its_waiting) {
  std::ostringstream out;
  write_trace(out, std::vector{passed_run()});
  const std::vector<json> complete = events(json::parse(out.str()), "X");
  ASSERT_EQ(complete.size(), 8u);
  EXPECT_EQ(complete[2], json::parse(R"({"ph":"X","pid":0,"tid":1,"ts":1500000.0,"dur":2000000.0,"name":"reduce",
      "cat":"gpu","args":{"pass":0,"role":"pivot","bytes":0,"flops":8000000000,"waiting":0}})"));
  EXPECT_EQ(complete[5]["name"], "broadcast L");
  EXPECT_EQ(complete[5]["dur"], 2e6);
  EXPECT_EQ(complete[5]["args"]["waiting"], 1e6) << "the root begins a second later";
}

TEST(Trace, runs_follow_one_another_in_time) {
  RunRecord late = passed_run();
  late.result.ranks[0].intervals.back().end = 5.0;  // beyond the timed section
  std::ostringstream out;
  write_trace(out, std::vector{late, passed_run()});
  const json trace = json::parse(out.str());
  const std::vector<json> complete = events(trace, "X");
  ASSERT_EQ(complete.size(), 16u);
  EXPECT_GT(complete[8]["ts"].get<double>(), 5e6);
  const std::vector<json> starts = events(trace, "i");
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_THAT(starts[1]["name"].get<std::string>(), HasSubstr("run 1: N 35, NB 4, 1 x 2"));
}

TEST(Trace, without_runs_it_is_valid_json) {
  std::ostringstream out;
  write_trace(out, {});
  EXPECT_TRUE(json::parse(out.str())["traceEvents"].empty());
}

}  // namespace
}  // namespace glinpack::app::example
