#include <sstream>

#include "app/report/compare_command.hpp"
#include "app/report/comparison.hpp"
#include "tests/app/report_records.hpp"

namespace glinpack::app {
namespace {

using nlohmann::json;
using ::testing::Pair;

TEST(RankTest, equals_the_table_of_the_textbook) {
  // Hollander and Wolfe, table A.6; 3 and 3: of 20 orders, 1 has no beaten pair, 2 have one at most
  EXPECT_DOUBLE_EQ(chance_of(0, 3, 3), 2 * 1.0 / 20);
  EXPECT_DOUBLE_EQ(chance_of(1, 3, 3), 2 * 2.0 / 20);
  EXPECT_DOUBLE_EQ(chance_of(1.5, 3, 3), 2 * 4.0 / 20);  // with an equal pair
  EXPECT_DOUBLE_EQ(chance_of(9, 3, 3), chance_of(0, 3, 3));
  EXPECT_NEAR(chance_of(2, 5, 5), 2 * 4.0 / 252, 1e-14);
  EXPECT_DOUBLE_EQ(chance_of(0, 1, 1), 1);
}

TEST(RankTest, is_correct_for_unequal_numbers) {
  // counts every order of 2 and 4 values: choose the positions of the two
  std::vector<int> counts(9, 0);
  for (int first = 0; first < 6; ++first) {
    for (int second = first + 1; second < 6; ++second) ++counts[static_cast<std::size_t>(first + second - 1)];
  }
  int below = 0;
  for (int beaten = 0; beaten < 4; ++beaten) {
    below += counts[static_cast<std::size_t>(beaten)];
    EXPECT_NEAR(chance_of(beaten, 2, 4), 2 * below / 15.0, 1e-14) << beaten;
  }
}

TEST(RankTest, the_normal_distribution_continues_the_exact_one) {
  const double exact = chance_of(1000, 50, 50), normal = chance_of(1020, 50, 51);
  EXPECT_NEAR(exact, normal, 0.01);
  EXPECT_GT(exact, 0.04);
}

Measurement rates(std::vector<double> values) { return {.quantity = "GFLOPS", .values = std::move(values)}; }

TEST(Speed, is_the_ratio_of_the_medians_with_the_range_of_all_pairs) {
  const Speed speed = speed_of(rates({1, 2, 4}), rates({2, 4, 8}));
  EXPECT_DOUBLE_EQ(speed.ratio, 2);
  EXPECT_DOUBLE_EQ(speed.min, 0.5);
  EXPECT_DOUBLE_EQ(speed.max, 8);
  EXPECT_TRUE(speed.is_faster);
  EXPECT_DOUBLE_EQ(speed_of(rates({1, 2, 3}), rates({4, 5, 6})).confidence, 0.9);
  EXPECT_EQ(speed_of(rates({2}), rates({3})).confidence, 0);
}

TEST(Speed, exchanging_a_and_b_gives_the_reciprocal) {
  const Measurement a = rates({1.0, 1.5, 1.2, 1.7, 1.1}), b = rates({2.0, 2.1, 1.9, 2.5, 1.3});
  const Speed there = speed_of(a, b), back = speed_of(b, a);
  EXPECT_NEAR(there.ratio * back.ratio, 1, 1e-15 * 8);
  EXPECT_NEAR(there.min * back.max, 1, 1e-15 * 8);
  EXPECT_NEAR(there.confidence, back.confidence, 1e-14);
  EXPECT_NE(there.is_faster, back.is_faster);
}

TEST(Speed, a_difference_that_is_chance_reaches_a_confidence_in_one_of_ten_comparisons_at_most) {
  // In 2000 trials of 4 against 5 values of one distribution, 90 % must be reached in fewer than one of ten. The
  // values are uniform; a linear congruential generator makes every run the same.
  std::uint64_t state = 1;
  const auto uniform = [&state] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return 1 + static_cast<double>(state >> 11) / 9007199254740992.0;
  };
  int reached = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    Measurement a = rates(std::vector<double>(4)), b = rates(std::vector<double>(5));
    for (double& value : a.values) value = uniform();
    for (double& value : b.values) value = uniform();
    if (speed_of(a, b).confidence >= 0.9) ++reached;
  }
  EXPECT_LT(reached, trials / 10);
  EXPECT_GT(reached, trials / 50);  // the test is not much too strict
}

class Compare : public FolderTest {
 protected:
  ResultFile file(const std::string& name, const json& document) {
    return read_result_file(write(name, document.dump()));
  }
};

TEST(MeasuredText, has_four_significant_digits) {
  const auto text = [](double value) {
    Measurement measurement;
    measurement.values = {value};
    return measured_text(measurement, "none");
  };
  EXPECT_EQ(text(53738.2), "53738");
  EXPECT_EQ(text(12.3456), "12.35");
  EXPECT_EQ(text(0.00123456), "0.001235");
  EXPECT_EQ(text(1.23456e9), "1.235e+09");
  EXPECT_EQ(measured_text({}, "none"), "none");
}

TEST_F(Compare, runs_are_matched_by_parameters_and_repetitions_are_pooled) {
  const ResultFile a = file("a.json", plu_document({{1000, 10}, {1000, 11}, {1000, 12}, {2000, 20}}));
  const ResultFile b = file("b.json", plu_document({{3000, 9}, {1000, 24}, {1000, 20}, {1000, 22}}));
  const Comparison comparison = compare(a, b, {}, 0.9);
  ASSERT_EQ(comparison.pairs.size(), 1u);
  EXPECT_THAT(comparison.pairs[0].a.values, ElementsAre(10, 11, 12));
  EXPECT_THAT(comparison.pairs[0].b.values, ElementsAre(24, 20, 22));
  EXPECT_DOUBLE_EQ(comparison.pairs[0].speed->ratio, 2);
  EXPECT_EQ(comparison.pairs[0].finding, "faster");
  ASSERT_EQ(comparison.only_a.size(), 1u);
  EXPECT_EQ(comparison.only_a[0].parameters[0].second, "2000");
  ASSERT_EQ(comparison.only_b.size(), 1u);
  EXPECT_EQ(comparison.only_b[0].parameters[0].second, "3000");
}

TEST_F(Compare, a_difference_within_the_spread_is_not_reported) {
  const ResultFile a = file("a.json", plu_document({{1000, 10}, {1000, 11}, {1000, 12}}));
  const ResultFile b = file("b.json", plu_document({{1000, 10.5}, {1000, 11.5}, {1000, 12.5}}));
  EXPECT_EQ(compare(a, b, {}, 0.9).pairs[0].finding, "no difference");
  EXPECT_EQ(compare(a, b, {}, 0.95).pairs[0].finding, "too few repetitions");
}

TEST_F(Compare, failed_runs_have_no_speed) {
  json failed = plu_document({{1000, 50}, {1000, 60}});
  failed["runs"][0]["passed"] = false;
  failed["runs"][1]["passed"] = false;
  const ResultFile a = file("a.json", plu_document({{1000, 10}})), b = file("b.json", failed);
  const Comparison comparison = compare(a, b, {}, 0.9);
  EXPECT_EQ(comparison.pairs[0].finding, "no result");
  EXPECT_EQ(comparison.pairs[0].b.failed, 2);
  EXPECT_FALSE(comparison.pairs[0].speed);
  EXPECT_THAT(shortfalls_of(comparison, 0.5), ElementsAre(HasSubstr("2 of b FAILED")));
  EXPECT_THAT(comparison_text(a, b, comparison), HasSubstr("FAILED: 0 of a, 2 of b"));
}

TEST_F(Compare, parameters_can_be_omitted) {
  json other = plu_document({{1000, 20}});
  other["runs"][0]["backend"] = "gl-compute";
  const ResultFile a = file("a.json", plu_document({{1000, 10}})), b = file("b.json", other);
  EXPECT_TRUE(compare(a, b, {}, 0.9).pairs.empty());
  EXPECT_EQ(compare(a, b, {"backend"}, 0.9).pairs.size(), 1u);
}

TEST_F(Compare, a_node_grid_is_a_parameter) {
  json other = plu_document({{1000, 20}});
  other["runs"][0]["node_grid"] = {{"p", 2}, {"q", 1}};
  const ResultFile a = file("a.json", plu_document({{1000, 10}})), b = file("b.json", other);
  const Comparison comparison = compare(a, b, {}, 0.9);
  EXPECT_TRUE(comparison.pairs.empty());
  ASSERT_EQ(comparison.only_b.size(), 1u);
  EXPECT_THAT(comparison.only_b[0].parameters, Contains(Pair("node grid", "2x1")));
  EXPECT_EQ(compare(a, b, {"node grid"}, 0.9).pairs.size(), 1u);
}

TEST_F(Compare, omitted_parameters_must_not_merge_runs) {
  json two = plu_document({{1000, 20}, {1000, 30}});
  two["runs"][0]["backend"] = "gl-compute";
  const ResultFile a = file("a.json", two);
  expect_input_error([&] { compare(a, a, {"backend"}, 0.9); }, {a.path, "differ in backend", "--ignore"});
}

TEST_F(Compare, less_time_is_faster) {
  const json before = mode_document({{64, 0.2, 0.19, 0.21, 4}}), after = mode_document({{64, 0.1, 0.09, 0.11, 4}});
  const ResultFile a = file("a.json", before), b = file("b.json", after);
  const Comparison comparison = compare(a, b, {}, 0.9);
  ASSERT_EQ(comparison.pairs.size(), 1u);
  EXPECT_DOUBLE_EQ(comparison.pairs[0].speed->ratio, 2);
  EXPECT_DOUBLE_EQ(comparison.pairs[0].speed->min, 0.19 / 0.11);
  EXPECT_DOUBLE_EQ(comparison.pairs[0].speed->max, 0.21 / 0.09);
  EXPECT_DOUBLE_EQ(comparison.pairs[0].speed->confidence, 1 - 2.0 / 70);
  EXPECT_EQ(comparison.pairs[0].finding, "faster");
  EXPECT_EQ(compare(b, a, {}, 0.9).pairs[0].finding, "slower");
}

TEST_F(Compare, files_of_different_kinds_are_rejected) {
  const ResultFile a = file("a.json", plu_document({{1000, 10}})),
                   b = file("b.json", mode_document({{64, 1, 1, 1, 1}}));
  expect_input_error([&] { compare(a, b, {}, 0.9); }, {b.path, "standalone mode", a.path, "plu"});
}

TEST_F(Compare, the_gate_is_the_ratio_and_every_run_of_a) {
  const std::string a = write("a.json", plu_document({{1000, 10}, {2000, 10}, {3000, 10}}).dump());
  const std::string b = write("b.json", plu_document({{1000, 9.4}, {2000, 9.6}}).dump());
  std::ostringstream out;
  CompareOptions options{.files = {a, b}, .fail_below = 0.95, .json = path("c.json")};
  EXPECT_EQ(run_compare_command(options, {"glinpack"}, out), 1);
  EXPECT_THAT(out.str(), HasSubstr("n 1000: the ratio 0.940 is below 0.95"));
  EXPECT_THAT(out.str(), HasSubstr("n 3000: b has no such run"));
  EXPECT_THAT(out.str(), Not(HasSubstr("n 2000: ")));
  std::ifstream written(options.json);
  EXPECT_EQ(json::parse(written)["shortfalls"].size(), 2u);
  options.json.clear();
  options.fail_below = 0.9;
  EXPECT_EQ(run_compare_command(options, {"glinpack"}, out), 1);  // N = 3000 is missing in b
  options.fail_below.reset();
  EXPECT_EQ(run_compare_command(options, {"glinpack"}, out), 0);
}

TEST_F(Compare, an_incomplete_file_is_reported) {
  json document = plu_document({{1000, 10}});
  const std::string a = write("a.json", document.dump());
  document["incomplete"] = {{"signal", "SIGTERM"}, {"runs_planned", 3}, {"runs_finished", 1}, {"ended_run", nullptr}};
  const std::string b = write("b.json", document.dump());
  std::ostringstream out;
  const CompareOptions options{.files = {a, b}, .json = path("c.json")};
  EXPECT_EQ(run_compare_command(options, {"glinpack"}, out), 0);
  EXPECT_THAT(out.str(), HasSubstr("b: " + b + " (glinpack 0.1.0 abc)\n   INCOMPLETE: 1 of 3 runs\n"));
  EXPECT_THAT(out.str(), HasSubstr("a: " + a + " (glinpack 0.1.0 abc)\nb: "));
  std::ifstream written(options.json);
  const json comparison = json::parse(written);
  EXPECT_EQ(comparison["a"]["incomplete"], nullptr);
  EXPECT_EQ(comparison["b"]["incomplete"], "INCOMPLETE: 1 of 3 runs");
}

TEST_F(Compare, files_without_common_runs_are_rejected) {
  const CompareOptions options{.files = {write("a.json", plu_document({{1000, 10}}).dump()),
                                         write("b.json", plu_document({{2000, 10}}).dump())}};
  std::ostringstream out;
  expect_input_error([&] { run_compare_command(options, {}, out); }, {options.files[1], options.files[0], "--ignore"});
  EXPECT_EQ(out.str(), "");
}

TEST_F(Compare, unknown_names_are_rejected) {
  const std::string a = write("a.json", plu_document({{1000, 10}}).dump());
  const CompareOptions options{.files = {a, a}, .ignored = {"backnd"}};
  std::ostringstream out;
  expect_input_error([&] { run_compare_command(options, {}, out); }, {"--ignore", "'backnd'", "did you mean backend?"});
}

TEST(CompareOptions, two_files_and_valid_numbers_are_required) {
  EXPECT_EQ(parse_compare_options({"a.json", "--fail-below", "0.95", "b.json"}).fail_below, 0.95);
  EXPECT_THAT(parse_compare_options({"a.json", "b.json"}).files, ElementsAre("a.json", "b.json"));
  EXPECT_THAT(parse_compare_options({"a", "b", "--ignore", "backend,nb"}).ignored, ElementsAre("backend", "nb"));
  expect_input_error([] { parse_compare_options({"a.json"}); }, {"two files", "not 1"});
  expect_input_error([] { parse_compare_options({"a", "b", "c"}); }, {"two files", "not 3"});
  expect_input_error([] { parse_compare_options({"a", "b", "--confidence", "100"}); }, {"--confidence", "'100'"});
  expect_input_error([] { parse_compare_options({"a", "b", "--fail-below", "-1"}); }, {"--fail-below", "'-1'"});
  expect_input_error([] { parse_compare_options({"a", "b", "--fail-belw", "1"}); }, {"did you mean --fail-below?"});
}

}  // namespace
}  // namespace glinpack::app
