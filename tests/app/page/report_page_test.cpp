#include "app/page/report_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <regex>

#include "app/page/axis.hpp"
#include "app/page/chart.hpp"
#include "app/page/numbers.hpp"
#include "app/page/svg.hpp"
#include "tests/app/expect.hpp"
#include "tests/app/report_records.hpp"
#include "tests/app/result_documents.hpp"

namespace glinpack::app {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string escaped_text(std::string_view text) { return escaped(text).str(); }

TEST(Html, special_characters_are_escaped) {
  EXPECT_EQ(escaped_text("a < b && c > \"d\" 'e'"), "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;");
  EXPECT_EQ(escaped_text("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
  EXPECT_EQ(escaped_text(""), "");
}

TEST(Html, valid_utf8_is_kept_and_invalid_bytes_are_replaced) {
  EXPECT_EQ(escaped_text("\u00e4\u20ac\U0001F600"), "\u00e4\u20ac\U0001F600");
  EXPECT_EQ(escaped_text("a\xff"), "a\uFFFD");
  EXPECT_EQ(escaped_text("\xc3"), "\uFFFD");                                // truncated
  EXPECT_EQ(escaped_text("\xc0\xbc"), "\uFFFD\uFFFD");                      // '<', overlong encoding
  EXPECT_EQ(escaped_text("\xe0\x80\xbc"), "\uFFFD\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(escaped_text("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(escaped_text("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond U+10FFFF
  EXPECT_EQ(escaped_text(std::string_view("a\0b\x1b[0m\n\t\x7f", 10)), "a\uFFFDb\uFFFD[0m\n\t\uFFFD");
}

TEST(Html, attributes_are_escaped) {
  EXPECT_EQ(element("a", {{"href", "x\" onclick=\"y"}}, escaped("z")).str(),
            "<a href=\"x&quot; onclick=&quot;y\">z</a>");
}

void expect_even(const std::vector<double>& ticks) {
  for (std::size_t i = 2; i < ticks.size(); ++i) {
    EXPECT_NEAR(ticks[i] - ticks[i - 1], ticks[1] - ticks[0], 1e-9 * std::abs(ticks.back() - ticks.front()));
  }
}

TEST(Axis, ticks_are_round_numbers_around_the_values) {
  EXPECT_THAT(linear_axis(0, 100, 6).ticks, ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(linear_axis(3, 17, 5).ticks, ElementsAre(0, 5, 10, 15, 20));
  EXPECT_THAT(linear_axis(-1, 1, 5).ticks, ElementsAre(-1, -0.5, 0, 0.5, 1));
  EXPECT_THAT(linear_axis(980, 1020, 5).ticks, ElementsAre(980, 990, 1000, 1010, 1020));
}

TEST(Axis, covers_all_values) {
  for (const double least : {-1e9, -3.7, 0.0, 1e-12, 0.3, 7.0, 1e15}) {
    for (const double range : {0.0, 1e-9, 0.1, 1.0, 333.0, 1e12}) {
      for (const int count : {1, 2, 5, 10}) {
        const double most = least + range;
        const Axis axis = linear_axis(least, most, count);
        SCOPED_TRACE(::testing::Message() << least << " to " << most << ", " << count);
        EXPECT_GE(axis.place(least), -1e-9);
        EXPECT_LE(axis.place(most), 1 + 1e-9);
        EXPECT_GE(axis.ticks.size(), 2u);
        EXPECT_LE(axis.ticks.size(), static_cast<std::size_t>(count) + 3);
        expect_even(axis.ticks);
      }
    }
  }
}

TEST(Axis, equal_values_give_an_axis) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Axis& axis : {linear_axis(-infinity, infinity, 5), linear_axis(std::nan(""), 1, 5), linear_axis(5, 5, 5),
                           linear_axis(0, 0, 5), logarithmic_axis(7, 7, 5), logarithmic_axis(0, 10, 5),
                           binary_axis(8, 8, 5), axis_of({}, 5, 2)}) {
    EXPECT_LT(axis.least, axis.most);
    EXPECT_TRUE(std::isfinite(axis.place(axis.least)));
    EXPECT_FALSE(axis.ticks.empty());
  }
}

TEST(Axis, logarithmic_axes_have_powers_of_ten_or_fractions) {
  EXPECT_THAT(logarithmic_axis(1, 1000, 6).ticks, ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(logarithmic_axis(100, 1000, 6).ticks, ElementsAre(100, 200, 500, 1000));
  EXPECT_THAT(binary_axis(8, 1 << 20, 6).ticks, ElementsAre(8, 64, 512, 4096, 32768, 262144));
  EXPECT_DOUBLE_EQ(logarithmic_axis(1, 100, 6).place(10), 0.5);
  EXPECT_TRUE(axis_of({1, 1000}, 5, 1.5).logarithmic);
  EXPECT_FALSE(axis_of({100, 1000}, 5, 1.5).logarithmic);
  EXPECT_EQ(axis_of({300, 1000}, 5, 1.5).least, 0);
  EXPECT_EQ(axis_of({900, 1000}, 5, 1.5).least, 900);
}

TEST(Numbers, are_short_and_sufficiently_exact) {
  EXPECT_EQ(tick_text(0), "0");
  EXPECT_EQ(tick_text(1500), "1500");
  EXPECT_EQ(tick_text(20000), "20k");
  EXPECT_EQ(tick_text(1.5e6), "1.5M");
  EXPECT_EQ(binary_tick_text(4096), "4 Ki");
  EXPECT_EQ(figures(53738.2), "53738");
  EXPECT_EQ(figures(12.3456), "12.35");
  EXPECT_EQ(figures(0.00123456), "0.001235");
  EXPECT_EQ(figures(0), "0");
  EXPECT_EQ(figures(std::nullopt), "-");
  EXPECT_EQ(duration(0.00321), "3.210 ms");
  EXPECT_EQ(amount_of_bytes(1.5e9), "1.500 GB");
  EXPECT_EQ(date_text(1700000000), "2023-11-14 22:13 UTC");
  EXPECT_EQ(date_text(std::nan("")), "not known");
  EXPECT_EQ(percent(33.333333), "33.33%");
  EXPECT_EQ(percent(-0.0001), "0%");
}

TEST(BarChart, parts_are_adjacent_in_per_cent_of_the_width) {
  const std::vector<Bar> bars{{"run", {{Look::computing, 3, "computing"}, {Look::network, 1, "network"}}, "4 s"}};
  const std::string html = bar_chart(bars, 4, true).str();
  EXPECT_THAT(html, HasSubstr(R"(<rect class="look-computing" x="0%" width="75%")"));
  EXPECT_THAT(html, HasSubstr(R"(<rect class="look-network" x="75%" width="25%")"));
  EXPECT_THAT(html, HasSubstr(">75 %</text>"));
}

TEST(BarChart, never_leaves_its_frame) {
  const std::vector<Bar> bars{{"run", {{Look::computing, 9, "a"}, {Look::network, -1, "b"}, {Look::idle, 3, "c"}}, ""}};
  const std::string html = bar_chart(bars, 4, true).str();
  EXPECT_THAT(html, HasSubstr(R"(x="0%" width="100%")"));
  EXPECT_THAT(html, Not(HasSubstr("look-idle")));
  EXPECT_THAT(html, Not(HasSubstr("look-network")));
}

TEST(LineChart, points_are_at_the_positions_of_their_values) {
  const LineChart chart{.title = "t",
                        .x_name = "N",
                        .y_name = "GFLOPS",
                        .x = linear_axis(0, 100, 6),
                        .y = linear_axis(0, 10, 6),
                        .series = {{"s", {{25, 5, 4, 6, "note"}, {75, 10, 10, 10, "end"}}}}};
  const std::string html = line_chart(chart).str();
  EXPECT_THAT(html, HasSubstr(R"(<use href="#marker-0" x="25%" y="50%">)"));
  EXPECT_THAT(html, HasSubstr(R"(<use href="#marker-0" x="75%" y="0%">)"));
  EXPECT_THAT(html, HasSubstr(R"(<line class="line" x1="25%" y1="50%" x2="75%" y2="0%">)"));
  EXPECT_THAT(html, HasSubstr(R"(<line class="range" x1="25%" y1="60%" x2="25%" y2="40%">)"));
}

TEST(LaneChart, merges_intervals_that_are_too_close) {
  LaneShape shape{.look = Look::pivot, .thin = false, .spans = {}};
  for (int i = 0; i < 100000; ++i) shape.spans.push_back({i * 1e-5, i * 1e-5 + 5e-6});
  const std::vector<LaneGroup> groups{{"rank 0", {{"cpu", {shape}}}}};
  const std::string html = lane_chart(groups, 1, {{0, "0"}, {0.5, "1"}}).str();
  EXPECT_LT(html.size(), 3000u);
  EXPECT_THAT(html, HasSubstr("look-pivot"));
}

class ReportPage : public FolderTest {
 protected:
  std::string page(const std::vector<json>& documents, const std::string& title = "") {
    std::vector<std::string> paths;
    for (const json& document : documents) {
      paths.push_back(write("file" + std::to_string(paths.size()) + ".json", document.dump()));
    }
    return report_page(gather(paths, title));
  }
};

/// Two ranks with roles and a breakdown, as in the output of plu.
json run_with_times() {
  RunRecord record = example::passed_run();
  return results_json(example::context(), std::vector{record});
}

/// Tags are balanced; only the head has void elements.
void expect_balanced(const std::string& html) {
  static const std::regex tag("<(/?)([a-zA-Z0-9]+)[^<>]*>");
  std::vector<std::string> open;
  for (std::sregex_iterator it(html.begin(), html.end(), tag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    if (name == "meta" || name == "link") continue;
    if ((*it)[0].str().ends_with("/>")) continue;
    if ((*it)[1].length() == 0) {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty()) << name;
      ASSERT_EQ(open.back(), name);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST_F(ReportPage, shows_runs_and_whether_they_passed) {
  json document = plu_document({{1000, 10}, {2000, 20}});
  document["runs"][1]["passed"] = false;
  document["runs"][1]["failure"] = "the residual is NaN";
  const std::string html = page({document});
  expect_balanced(html);
  EXPECT_THAT(html, HasSubstr(R"(<span class="verdict passed">PASSED</span>)"));
  EXPECT_THAT(html, HasSubstr(R"(<span class="verdict failed">FAILED</span>)"));
  EXPECT_THAT(html, HasSubstr("file0: n 2000: the residual is NaN"));
  EXPECT_THAT(html, HasSubstr("<b>1</b><span>FAILED</span>"));
  EXPECT_THAT(html, HasSubstr("10.00 GFLOPS"));  // the best of those that passed
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST_F(ReportPage, shows_the_time_breakdown) {
  const std::string html = page({run_with_times()});
  expect_balanced(html);
  for (const char* part : {"Where the time went", "Roles, ranks and phases", "rank 0 (0, 0) on", "look-pivot"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
}

TEST_F(ReportPage, shows_energy_and_predictions_if_the_file_has_them) {
  json document = plu_document({{1000, 10}, {2000, 20}, {2000, 21}});
  document["runs"][1]["energy"] = energy_of_run();
  document["runs"][2]["prediction"] = prediction_of_run();
  const std::string html = page({document});
  expect_balanced(html);
  for (const char* part : {R"(<h2 id="energy">)", "1234", "123.4", "234.5", "0.1621", "2 packages; rough: a short run",
                           R"(<h2 id="forecast">)", "1.250", "1.500", "1.20", "2 earlier runs"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
  const std::regex of_rows("2 packages|2 earlier runs");
  const auto rows = std::distance(std::sregex_iterator(html.begin(), html.end(), of_rows), std::sregex_iterator());
  EXPECT_EQ(rows, 2);
}

TEST_F(ReportPage, omits_energy_that_is_unreadable_or_missing_in_older_files) {
  json document = plu_document({{1000, 10}, {2000, 20}});
  json& energy = document["runs"][0]["energy"] = energy_of_run();
  for (const auto& [key, value] : energy.items()) value = nullptr;
  energy["unread"] = {"node1: denied"};
  document["runs"][0]["prediction"] = nullptr;
  const std::string html = page({document});
  EXPECT_THAT(html, Not(HasSubstr("Energy")));
  EXPECT_THAT(html, Not(HasSubstr("Expected")));
}

TEST_F(ReportPage, is_self_contained) {
  const std::string html =
      page({run_with_times(), plu_document({{1000, 10}, {2000, 20}}), mode_document({{64, 1, 1, 1, 1}})});
  for (const char* outside : {"http:", "https:", "<script", "src=", "@import", "javascript:"}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
}

TEST_F(ReportPage, text_of_a_file_is_escaped) {
  const std::string hostile =
      "</td></title></style><script>alert(1)</script><img src=x onerror=alert(1)>\" onload=\"x' &#60;";
  json document = run_with_times();
  json& context = document["context"];
  for (const char* key : {"version", "git_commit", "mpi_library"}) context[key] = hostile;
  for (const char* key : {"hosts", "command_line", "notes", "blas_library", "blas_kernels"}) context[key] = {hostile};
  json& run = document["runs"][0];
  run["backend"] = run["failure"] = hostile;  // the comparison rejects unknown names of the other parameters
  run["passed"] = false;
  run["energy"] = energy_of_run();
  run["energy"]["scope"] = hostile;
  run["prediction"] = prediction_of_run();
  run["prediction"]["from"] = hostile;
  for (json& rank : run["ranks"]) {
    for (const char* key : {"host", "backend", "device", "driver", "blas", "kernels"}) rank[key] = hostile;
  }
  json mode = mode_document({{64, 1, 1, 1, 1}, {128, 1, 1, 1, 1}});
  mode["mode"] = mode["host"]["name"] = mode["host"]["processor"] = hostile;
  for (json& row : mode["results"]) {
    for (const char* key : {"variant", "settings", "size", "precision", "failure"}) row[key] = hostile;
    row["passed"] = false;
  }
  const json trace = json::parse(R"({"traceEvents":[
    {"ph":"M","pid":0,"name":"process_name","args":{"name":""}}, {"ph":"i","ts":0,"name":""},
    {"ph":"X","pid":0,"ts":0,"dur":1,"name":"a","cat":"cpu","args":{"pass":0,"role":"pivot"}}]})");
  json hostile_trace = trace;
  hostile_trace["traceEvents"][0]["args"]["name"] = hostile_trace["traceEvents"][1]["name"] = hostile;
  const std::string html = page({document, document, mode, hostile_trace}, hostile);
  expect_balanced(html);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("\" onload")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
  EXPECT_EQ(html.find("</style>"), html.rfind("</style>"));
}

TEST_F(ReportPage, the_same_files_give_the_same_page) { EXPECT_EQ(page({run_with_times()}), page({run_with_times()})); }

TEST_F(ReportPage, compares_files_that_share_runs) {
  const std::string html =
      page({plu_document({{1000, 10}, {1000, 11}, {1000, 12}}), plu_document({{1000, 20}, {1000, 22}, {1000, 24}})});
  expect_balanced(html);
  EXPECT_THAT(html, HasSubstr("a: file0, b: file1"));
  EXPECT_THAT(html, HasSubstr("b is faster"));
}

TEST_F(ReportPage, empty_and_huge_documents_give_pages) {
  expect_balanced(page({plu_document({})}));
  std::vector<std::pair<int, double>> many;
  for (int n = 1; n <= 3000; ++n) many.emplace_back(n, n);
  const std::string html = page({plu_document(many)});
  EXPECT_THAT(html, HasSubstr("The first 2000 of 3000 runs."));
}

TEST_F(ReportPage, extreme_numbers_give_pages) {
  json document = plu_document({{1000, 1e300}, {2000, 1e-300}, {2147483647, 5}});
  document["runs"][0]["time"] = 0;
  document["runs"][1]["time"] = 1e300;
  document["runs"][1]["start_time"] = -1e300;
  const std::string html = page({document});
  expect_balanced(html);
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("inf%")));
}

TEST_F(ReportPage, an_invalid_path_is_rejected_by_name) {
  std::filesystem::create_symlink("b.json", path("a.json"));
  std::filesystem::create_symlink("a.json", path("b.json"));
  expect_input_error([&] { gather({path("a.json")}, ""); }, {path("a.json")});
  const std::string longest = path(std::string(5000, 'x'));
  expect_input_error([&] { gather({longest}, ""); }, {longest});
}

TEST_F(ReportPage, a_file_given_twice_is_rejected) {
  const std::string path = write("a.json", plu_document({{1000, 10}}).dump());
  expect_input_error([&] { gather({path, path}, ""); }, {path, "given twice"});
}

}  // namespace
}  // namespace glinpack::app
