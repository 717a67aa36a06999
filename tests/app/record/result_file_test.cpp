#include "app/record/result_file.hpp"

#include "app/record/run_record.hpp"
#include "tests/app/report_records.hpp"

namespace glinpack::app {
namespace {

using nlohmann::json;

class ResultFiles : public FolderTest {
 protected:
  void refused(const std::string& content, const std::vector<std::string>& parts) {
    const std::string name = write("x.json", content);
    SCOPED_TRACE(content);
    std::vector<std::string> all = parts;
    all.push_back(name);
    expect_input_error([&] { read_result_file(name); }, all);
  }
  /// A document that is modified at `place`.
  void refused_run(const std::string& place, const json& value, const std::vector<std::string>& parts) {
    json document = plu_document({{1000, 10}});
    document[json::json_pointer(place)] = value;
    const ResultFile file = read_result_file(write("x.json", document.dump()));
    SCOPED_TRACE(place);
    expect_input_error([&] { read_runs(file.root()); }, parts);
  }
};

TEST_F(ResultFiles, the_kind_is_determined_by_the_contents) {
  EXPECT_EQ(read_result_file(write("a.json", plu_document({{1000, 10}}).dump())).kind, ResultKind::plu);
  EXPECT_EQ(read_result_file(write("b.json", mode_document({{64, 1, 1, 1, 1}}).dump())).kind, ResultKind::mode);
  refused(R"({"traceEvents":[]})", {"is a trace", "ui.perfetto.dev"});
}

TEST_F(ResultFiles, other_documents_are_rejected_with_the_location) {
  expect_input_error([] { read_result_file("no/such.json"); }, {"no/such.json", "no such file"});
  refused("", {"is not JSON", "line 1"});
  refused("{\"format\": 1,\n  \"context\": {]}", {"is not JSON", "line 2"});
  refused("[1, 2]", {"is not a result of glinpack's", "--json"});
  refused("3", {"is not a result of glinpack's"});
  refused("{\"runs\": []}", {"is not a result of glinpack's"});
  refused("{\"x\": \"\xff\"}", {"is not JSON"});
  refused("{\"x\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}", {"100 levels deep"});
  json later = plu_document({{1000, 10}});
  later["format"] = 2;
  refused(later.dump(), {"format 2", "reads format 1"});
  later["format"] = "one";
  refused(later.dump(), {"'/format'", "a whole number"});
  later["format"] = 1;
  later["context"]["version"] = 1;
  refused(later.dump(), {"'/context/version'", "a text is expected, not '1'"});
  for (const char* place : {"/context/mpi_library", "/host/blas", "/host/kernels"}) {
    json document = plu_document({{1000, 10}});
    document["host"] = {{"name", "a processor"}};
    document[json::json_pointer(place)] = 1;
    refused(document.dump(), {place, "a text is expected, not '1'"});
  }
}

TEST_F(ResultFiles, control_characters_do_not_reach_a_terminal) {
  json document = plu_document({{1000, 10}});
  document["runs"][0]["backend"] = "open\x1b[31mblas\x7f\u009b1m \u00e9\n";
  const ResultFile file = read_result_file(write("x.json", document.dump()));
  EXPECT_EQ(read_runs(file.root()).at(0).backend, "open [31mblas  1m \u00e9 ");
  document["context"]["version"] = json::array({"\x1b[31m"});
  for (const std::string& text : {document.dump(), std::string("{\"\x1b[31m"), std::string("{\"\x9b")}) {
    EXPECT_THAT([&] { read_result_file(write("y.json", text)); },
                ::testing::ThrowsMessage<InputError>(AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x9b")))));
  }
}

TEST_F(ResultFiles, broken_runs_are_rejected_with_their_location) {
  refused_run("/runs", "none", {"'/runs'", "a list is expected"});
  refused_run("/runs/0", 7, {"'/runs/0'"});
  refused_run("/runs/0/n", 0, {"'/runs/0/n'", "a whole number from 1 is expected, not '0'"});
  refused_run("/runs/0/n", 1.5, {"'/runs/0/n'"});
  refused_run("/runs/0/n", 18446744073709551615u, {"'/runs/0/n'"});
  refused_run("/runs/0/pivoting", "none", {"'/runs/0/pivoting'", "one of local, partial", "none"});
  refused_run("/runs/0/time", "fast", {"'/runs/0/time'", "a number is expected"});
  refused_run("/runs/0/passed", "yes", {"'/runs/0/passed'", "true or false"});
  refused_run("/runs/0/backend", json::object(), {"'/runs/0/backend'", "an object"});
  refused_run("/runs/0/ranks", json::array({json::object({{"rank", 0}})}), {"'/runs/0/ranks/0'", "has no 'row'"});
  json document = plu_document({{1000, 10}});
  document["runs"][0].erase("n");
  const ResultFile file = read_result_file(write("x.json", document.dump()));
  expect_input_error([&] { read_runs(file.root()); }, {file.path, "'/runs/0'", "has no 'n'"});
}

TEST_F(ResultFiles, values_that_no_run_has_are_rejected) {
  refused_run("/runs/0/time", -1, {"'/runs/0/time'", "is below 0"});
  refused_run("/runs/0/residual", -1, {"'/runs/0/residual'", "is below 0"});
  refused_run("/runs/0/residual", 16, {"'/runs/0/passed'", "contradicts"});
  refused_run("/runs/0/failure", "slow", {"'/runs/0/passed'", "contradicts"});
  refused_run("/runs/0/checked", false, {"'/runs/0/passed'", "contradicts"});
  json document = results_json(example::context(), std::vector{example::passed_run()});
  document["runs"][0]["q"] = 3;
  const ResultFile file = read_result_file(write("x.json", document.dump()));
  expect_input_error([&] { read_runs(file.root()); }, {"'/runs/0/ranks'", "2 ranks are not those of the grid 1x3"});
}

TEST_F(ResultFiles, runs_are_read_with_their_variant_and_verdict) {
  json document = plu_document({{1000, 10}, {2000, 20}, {3000, 30}});
  document["runs"][1]["passed"] = false;
  document["runs"][1]["residual"] = nullptr;
  document["runs"][1]["singular_column"] = 17;
  document["runs"][2]["passed"] = document["runs"][2]["checked"] = false;
  document["runs"][2]["broadcast"] = "long-modified";
  document["runs"][2]["order"] = "column-major";
  const ResultFile file = read_result_file(write("x.json", document.dump()));
  const std::vector<RunRecord> runs = read_runs(file.root());
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].parameters.lookahead, 1);
  EXPECT_EQ(runs[0].variant.nbmin, 16);
  EXPECT_EQ(runs[0].variant.pfact, 'R');
  EXPECT_EQ(verdict_of(runs[0].result), Verdict::passed);
  EXPECT_EQ(verdict_of(runs[1].result), Verdict::failed);
  EXPECT_EQ(failure_of(runs[1].result), "singular: zero pivot in global column 17");
  EXPECT_EQ(verdict_of(runs[2].result), Verdict::unchecked);
  EXPECT_EQ(runs[2].parameters.broadcast, BroadcastKind::long_modified);
  EXPECT_EQ(runs[2].order, RankOrder::column_major);
}

TEST_F(ResultFiles, names_are_the_shortest_unique_ones) {
  std::vector<ResultFile> files(3);
  files[0].path = "a/before/results.json";
  files[1].path = "b/before/results.json";
  files[2].path = "./c.json";
  set_unique_names(files);
  EXPECT_EQ(files[0].name, "a/before/results");
  EXPECT_EQ(files[1].name, "b/before/results");
  EXPECT_EQ(files[2].name, "c");
}

TEST_F(ResultFiles, of_another_command_are_rejected_if_one_is_expected) {
  const std::string name = write("m.json", mode_document({{64, 0.2, 0.1, 0.3, 5}}).dump());
  expect_input_error([&] { read_result_file(name, ResultKind::plu); },
                     {name, "standalone mode", "glinpack plu --json"});
}

}  // namespace
}  // namespace glinpack::app
