#include "app/submission/submission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "app/input/hpl_dat.hpp"
#include "app/submission/rules.hpp"
#include "tests/app/expect.hpp"
#include "tests/app/report_records.hpp"

namespace glinpack::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

/// 1.5 PFLOPS for an hour on one node.
RunRecord large_run() {
  RunRecord run = example::passed_run();
  run.parameters.n = 2'000'000;
  run.result.seconds = 3600;
  run.result.gflops = hpl_flops(run.parameters.n) / run.result.seconds * 1e-9;
  run.energy.reset();
  return run;
}

/// A reading a second, an idle minute on both sides.
PowerLog log_during(const RunRecord& run, const std::string& facts, const std::string& scope = "node01") {
  std::string text = facts + "time,watts,scope\n";
  for (double t = -70; t <= run.result.seconds + 70; ++t) {
    const bool busy = t >= 0 && t <= run.result.seconds;
    text += fmt::format("{},{},{}\n", run.result.start_time + t, busy ? 50'000 : 9'000, scope);
  }
  return parse_power_log("pdu.csv", text);
}

constexpr const char* all_facts =
    "# accuracy_percent = 0.5\n# integrated = yes\n# upstream = yes\n# subsystems = all-measured\n# full_run = yes\n"
    "# idle_watts = 9000\n";

std::vector<Rule> rules_with(const RunRecord& run, const PowerLog& log) {
  return submission_rules(run, power_evidence(run, log));
}

RuleStatus status_of(const std::vector<Rule>& rules, const std::string& name, int level) {
  for (const Rule& rule : rules) {
    if (rule.name == name && rule.level == level) return rule.status;
  }
  ADD_FAILURE() << "no rule " << name;
  return RuleStatus::unknown;
}

TEST(SubmissionRules, DoNotBelieveARateThatTheTimeDoesNotHave) {
  RunRecord run = large_run();
  EXPECT_EQ(status_of(submission_rules(run, {}), "rate", 0), RuleStatus::unknown);
  run.result.gflops *= 10;
  EXPECT_EQ(status_of(submission_rules(run, {}), "rate", 0), RuleStatus::failed);
}

TEST(SubmissionRules, ReachLevel3WhereTheLogStatesAllThatNoReadingShows) {
  const RunRecord run = large_run();
  const std::vector<Rule> rules = rules_with(run, log_during(run, all_facts));
  EXPECT_EQ(level_reached(rules), 3);
  EXPECT_EQ(verdict_on(rules, false), "cannot be submitted before these are known: rate, machine");
  EXPECT_EQ(verdict_on(rules, true), "cannot be submitted before these are known: rate, machine");
}

TEST(SubmissionRules, WithoutFactsAreUnknownAndTheChecklistSaysWhatLevel1Lacks) {
  const RunRecord run = large_run();
  const std::vector<Rule> rules = rules_with(run, log_during(run, ""));
  EXPECT_EQ(level_reached(rules), 0);
  const std::string text = checklist_text(rules);
  EXPECT_THAT(text, HasSubstr("Level reached: none. Level 1 lacks: subsystems, location, meter accuracy (unknown).\n"));
  EXPECT_THAT(text, HasSubstr("github.com/EEHPCWG/PowerMeasurementMethodology"));
}

TEST(SubmissionRules, OfALevelAskForAccuracyAndFraction) {
  RunRecord run = large_run();
  std::string facts = all_facts;
  facts.replace(facts.find("0.5"), 3, "1.5");
  EXPECT_EQ(level_reached(rules_with(run, log_during(run, facts))), 2);
  // 20 nodes, of which the log has one: 50 kW are enough for level 1 only
  for (int i = 1; i < 20; ++i) run.result.ranks.push_back(example::rank_record(i, 0, i));
  for (std::size_t i = 2; i < run.result.ranks.size(); ++i) run.result.ranks[i].host = fmt::format("node{:02}.site", i);
  const PowerEvidence evidence = power_evidence(run, log_during(run, all_facts));
  EXPECT_EQ(evidence.nodes, 20u);
  EXPECT_EQ(evidence.measured_nodes, 1);
  EXPECT_NEAR(evidence.extrapolated_watts, 20 * 50'000, 1e-3);
  EXPECT_EQ(level_reached(submission_rules(run, evidence)), 1);
  // a PDU's name says nothing of nodes
  EXPECT_EQ(status_of(rules_with(run, log_during(run, all_facts, "pdu-3")), "machine fraction", 2),
            RuleStatus::unknown);
  const PowerEvidence stated = power_evidence(run, log_during(run, "# nodes = 15\n", "pdu-3"));
  EXPECT_NEAR(stated.extrapolated_watts, 20.0 / 15 * 50'000, 1e-3);
  EXPECT_EQ(status_of(submission_rules(run, stated), "machine fraction", 2), RuleStatus::ok);
  EXPECT_EQ(status_of(submission_rules(run, stated), "machine fraction", 3), RuleStatus::failed);
}

TEST(SubmissionRules, FailForAClockThatIsAhead) {
  RunRecord run = large_run();
  const PowerLog log = log_during(run, all_facts);
  run.result.start_time -= 10;
  const std::vector<Rule> rules = rules_with(run, log);
  EXPECT_EQ(status_of(rules, "clock offset", 1), RuleStatus::failed);
  EXPECT_EQ(level_reached(rules), 0);
}

TEST(SubmissionRules, BelieveInClocksThatAreSynchronisedUnlessThePowerShowsAnOffset) {
  RunRecord run = large_run();
  const auto status = [&](const std::string& facts, double idle) {
    std::string text = facts + "time,watts\n";
    for (double t = -70; t <= 3670; ++t) {
      text += fmt::format("{},{}\n", 1'700'000'000 + t, t >= 0 && t <= 3600 ? 50'000 : idle);
    }
    return status_of(rules_with(run, parse_power_log("pdu.csv", text)), "clock offset", 1);
  };
  run.result.start_time = 1'700'000'000;
  EXPECT_EQ(status("", 49'000), RuleStatus::unknown);
  EXPECT_EQ(status("# synchronised = yes\n", 49'000), RuleStatus::ok);
  EXPECT_EQ(status("# synchronised = no\n", 49'000), RuleStatus::failed);
  run.result.start_time -= 10;
  EXPECT_EQ(status("# synchronised = yes\n", 9'000), RuleStatus::failed);
}

TEST(SubmissionRules, OfTheTop500FailForRunsThatAreNotHpls) {
  const auto status = [](RunRecord run, const char* name) { return status_of(submission_rules(run, {}), name, 0); };
  const RunRecord good = large_run();
  for (const char* name : {"matrix", "precision", "pivoting", "whole run", "residual"}) {
    EXPECT_EQ(status(good, name), RuleStatus::ok) << name;
  }
  RunRecord run = good;
  run.precision = Precision::mixed;
  EXPECT_EQ(status(run, "precision"), RuleStatus::failed);
  run.parameters.pivoting = Pivoting::tournament;
  EXPECT_EQ(status(run, "pivoting"), RuleStatus::failed);
  run.result.resumed = Resumed{};
  EXPECT_EQ(status(run, "whole run"), RuleStatus::failed);
  run = good;
  run.result.checksums.emplace().went_back.emplace_back();
  EXPECT_EQ(status(run, "whole run"), RuleStatus::failed);
  run.matrix = MatrixKind::file;
  EXPECT_EQ(status(run, "matrix"), RuleStatus::failed);
  run.result.residual.scaled = 17;  // passed with --threshold 100
  EXPECT_EQ(status(run, "residual"), RuleStatus::failed);
  run.result.gflops = 1000;
  EXPECT_EQ(status(run, "rate"), RuleStatus::failed);
}

class SubmissionFolder : public FolderTest {
 protected:
  ResultFile file_of(const std::vector<RunRecord>& runs) {
    return read_result_file(write("r.json", results_json(example::context(), runs).dump()), ResultKind::plu);
  }
  std::set<std::string> names_in(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path(folder))) names.insert(entry.path().filename());
    return names;
  }
  std::string text_of_file(const std::string& name) {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(SubmissionFolder, OfAShortRunSaysThatItCannotBeSubmitted) {
  const auto run_of = [](double seconds) {
    RunRecord run = example::passed_run();
    run.result.seconds = run.result.factor_seconds = seconds;
    run.result.solve_seconds = 0;
    run.result.gflops = hpl_flops(run.parameters.n) / seconds * 1e-9;
    return run;
  };
  const RunRecord run = run_of(0.7), slower = run_of(1.4);
  const std::string said = write_submission(path("lists"), file_of({slower, run}), {}, {});
  EXPECT_THAT(said, HasSubstr(" in 0.70 s, run 2 of 2"));
  EXPECT_THAT(said, HasSubstr("TOP500: cannot be submitted: rate\n"));
  EXPECT_THAT(said, HasSubstr("Green500: cannot be submitted: rate, core phase, power log\n"));
  EXPECT_THAT(names_in("lists"), UnorderedElementsAre("hpl.out", "HPL.dat", "machine.txt", "checklist.txt"));
  EXPECT_THAT(text_of_file("lists/checklist.txt"),
              HasSubstr("failed   core phase         0.70 s; at least 60 s are needed [4]\n"));
}

TEST_F(SubmissionFolder, HasAReportThatParsersReadAndAnHplDatThatRepeatsTheRun) {
  write_submission(path("lists"), file_of({example::passed_run()}), {}, {});
  EXPECT_EQ(example::lines_that_look_like_results(text_of_file("lists/hpl.out")).size(), 1u);
  TextFiles files;
  const HplDat dat = read_hpl_dat(path("lists/HPL.dat"), files);
  EXPECT_EQ(dat.n, std::vector<Index>{35});
  EXPECT_EQ(dat.nb, std::vector<Index>{4});
  EXPECT_EQ(dat.grids.size(), 1u);
  EXPECT_EQ(dat.grids[0].columns, 2);
  EXPECT_EQ(dat.pfact, std::vector<char>{'L'});
  EXPECT_EQ(dat.rfact, std::vector<char>{'C'});
  EXPECT_EQ(dat.nbmin, std::vector<int>{2});
  EXPECT_EQ(dat.threshold, 16.0);
  EXPECT_TRUE(dat.to_stdout());
  EXPECT_EQ(run_count(dat), 1);
}

TEST_F(SubmissionFolder, WithALogHasThePowerTenIntervalsAndGflopsPerWatt) {
  const RunRecord run = example::passed_run();
  const std::string said = write_submission(path("lists"), file_of({run}), log_during(run, all_facts, "node01"), {});
  EXPECT_THAT(said, HasSubstr("1.521e-10 GFLOPS/W\n"));
  EXPECT_THAT(text_of_file("lists/hpl.out"), HasSubstr("Power: 50000 W by a wall meter"));
  const std::vector<std::string> intervals = example::lines_of(text_of_file("lists/intervals.csv"));
  ASSERT_EQ(intervals.size(), 11u);
  EXPECT_EQ(intervals[10], "10,1700000003.600,1700000004.000,50000,20000");
  const PowerLog copy = read_power_log(path("lists/power.csv"));
  EXPECT_EQ(copy.scopes[0].name, "node01");
  EXPECT_EQ(copy.scopes[0].readings.size(), 145u);
  EXPECT_EQ(copy.facts.accuracy_percent, 0.5);
}

TEST_F(SubmissionFolder, ReplacesNothingAndLeavesNothingHalfWritten) {
  const ResultFile file = file_of({example::passed_run()});
  check_submission_folder(path("new"));
  std::filesystem::create_directory(path("empty"));
  check_submission_folder(path("empty/"));
  write_submission(path("empty/"), file, {}, {});
  EXPECT_EQ(names_in("empty").size(), 4u);
  expect_input_error([&] { check_submission_folder(path("empty")); }, {"--submission", "is not empty", "new folder"});
  expect_input_error([&] { check_submission_folder(path("r.json")); }, {"is not a folder"});
  expect_input_error([&] { check_submission_folder(path("missing/lists")); }, {"does not exist"});
  // made by another process since the check
  EXPECT_THROW(write_submission(path("empty"), file, {}, {}), std::runtime_error);
  EXPECT_EQ(names_in("empty").size(), 4u);
  EXPECT_THAT(names_in(""), UnorderedElementsAre("empty", "r.json"));
  RunRecord unfinished = example::passed_run();
  unfinished.result.gflops = 0;
  expect_input_error([&] { write_submission(path("new"), file_of({unfinished}), {}, {}); }, {"no run has a rate"});
}

}  // namespace
}  // namespace glinpack::app
