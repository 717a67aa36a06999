#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "app/report/report_command.hpp"
#include "tests/app/report_records.hpp"

namespace glinpack::app {
namespace {

using nlohmann::json;

// tests/system/report_page.py tests what the scripts of the page make of the data.
class ReportPage : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    if (page_template.empty()) GTEST_SKIP() << "built without the report page";
  }

  std::string page(const std::vector<json>& documents, const std::string& title = "") {
    std::vector<std::string> paths;
    for (const json& document : documents) {
      paths.push_back(write("file" + std::to_string(paths.size()) + ".json", document.dump()));
    }
    return report_page(paths, title);
  }
};

/// The text of the element with the ID.
std::string script_text(const std::string& html, const std::string& id) {
  const std::string start = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t begin = html.find(start);
  if (begin == std::string::npos) return "";
  const std::size_t first = begin + start.size();
  return html.substr(first, html.find("</script>", first) - first);
}

json data_of(const std::string& html) { return json::parse(script_text(html, "data")); }

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Two ranks with roles and a breakdown, as in the output of plu.
json run_with_times() { return results_json(example::context(), std::vector{example::passed_run()}); }

TEST_F(ReportPage, has_the_documents_as_they_are_except_the_phases_of_single_ranks) {
  json document = run_with_times();
  const json files = data_of(page({document, mode_document({{64, 1, 1, 1, 1}})}))["files"];
  ASSERT_TRUE(document["runs"][0]["ranks"][0].contains("phases"));
  for (json& rank : document["runs"][0]["ranks"]) rank.erase("phases");
  EXPECT_EQ(files[0]["document"], document);
  EXPECT_EQ(files[0]["kind"], "plu");
  EXPECT_EQ(files[0]["name"], "file0");
  EXPECT_EQ(files[1]["document"], mode_document({{64, 1, 1, 1, 1}}));
}

TEST_F(ReportPage, has_the_efficiency_by_a_wall_meter_read_during_the_run) {
  const json document = results_json(example::context(), std::vector{example::passed_run(), example::passed_run()});
  ReportOptions options;
  options.files = {write("a.json", document.dump())};
  options.output = path("a.html");
  options.watts = 500;
  std::ostringstream out;
  run_report_command(options, out);
  EXPECT_EQ(out.str(), options.output + "\n1.521e-08 GFLOPS/W at 500 W, best of 2 runs\n");
  std::ifstream page(options.output);
  const std::string html(std::istreambuf_iterator<char>(page), {});
  const json energy = data_of(html)["files"][0]["document"]["runs"][1]["energy"];
  EXPECT_EQ(energy["wall_watts"], 500);
  EXPECT_EQ(energy["gflops_per_watt"].get<double>(), document["runs"][1]["gflops"].get<double>() / 500);

  options.files.push_back(write("b.json", document.dump()));
  options.output = path("b.html");
  expect_input_error([&] { run_report_command(options, out); }, {"--watts", "one file"});
}

TEST_F(ReportPage, runs_no_script_but_its_own_and_loads_nothing) {
  const std::string html = page({run_with_times()});
  EXPECT_THAT(html, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(html, Not(HasSubstr("unsafe-inline")));
  for (const char* outside : {" src=", "@import", "javascript:", "href=\"http"})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST_F(ReportPage, text_of_a_file_cannot_end_its_element) {
  const std::string hostile = "</script><script>alert(1)</script><!--<script>&lt;'\"";
  json document = run_with_times();
  document["context"]["hosts"] = {hostile};
  document["runs"][0]["ranks"][0]["device"] = hostile;
  document["runs"][0][hostile] = hostile;
  const std::string html = page({document}, hostile), plain = page({run_with_times()});
  for (const char* tag : {"<script", "</script", "<!--"}) EXPECT_EQ(count(html, tag), count(plain, tag)) << tag;
  EXPECT_EQ(data_of(html)["title"], hostile);
  EXPECT_EQ(data_of(html)["files"][0]["document"]["context"]["hosts"][0], hostile);
}

TEST_F(ReportPage, a_title_that_is_not_utf8_is_shown_with_replacements) {
  EXPECT_EQ(data_of(page({plu_document({})}, "a\xff"))["title"], "a\uFFFD");
}

TEST_F(ReportPage, the_same_files_give_the_same_page) { EXPECT_EQ(page({run_with_times()}), page({run_with_times()})); }

TEST_F(ReportPage, compares_files_that_share_runs) {
  const json data = data_of(
      page({plu_document({{1000, 10}, {1000, 11}, {1000, 12}}), plu_document({{1000, 20}, {1000, 22}, {1000, 24}})}));
  ASSERT_EQ(data["comparisons"].size(), 1u);
  const json& comparison = data["comparisons"][0];
  EXPECT_EQ(comparison["a"], "file0");
  EXPECT_EQ(comparison["b"], "file1");
  EXPECT_EQ(comparison["result"]["pairs"][0]["finding"], "faster");
  EXPECT_TRUE(data_of(page({plu_document({{1000, 10}}), plu_document({{2000, 20}})}))["comparisons"].empty());
}

TEST_F(ReportPage, has_the_digits_of_hpls_broadcasts) {
  const json digits = data_of(page({plu_document({})}))["broadcast_digits"];
  EXPECT_EQ(digits["ring"], 0);
  EXPECT_EQ(digits["long-modified"], 5);
}

TEST_F(ReportPage, a_document_that_lacks_what_the_page_shows_is_rejected_by_place) {
  json document = plu_document({{1000, 10}, {2000, 20}});
  document["runs"][1]["n"] = "many";
  expect_input_error([&] { page({document}); }, {"file0.json", "/runs/1/n", "a whole number"});
}

TEST_F(ReportPage, an_invalid_path_is_rejected_by_name) {
  std::filesystem::create_symlink("b.json", path("a.json"));
  std::filesystem::create_symlink("a.json", path("b.json"));
  expect_input_error([&] { report_page({path("a.json")}, ""); }, {path("a.json")});
  const std::string longest = path(std::string(5000, 'x'));
  expect_input_error([&] { report_page({longest}, ""); }, {longest});
}

TEST_F(ReportPage, a_file_given_twice_is_rejected) {
  const std::string path = write("a.json", plu_document({{1000, 10}}).dump());
  expect_input_error([&] { report_page({path, path}, ""); }, {path, "given twice"});
}

}  // namespace
}  // namespace glinpack::app
