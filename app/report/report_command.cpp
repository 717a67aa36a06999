#include "app/report/report_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <stdexcept>
#include <utility>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/program/outputs.hpp"
#include "app/record/network_record.hpp"
#include "app/record/power_log.hpp"
#include "app/record/result_file.hpp"
#include "app/record/run_record.hpp"
#include "app/report/compare_command.hpp"
#include "app/report/comparison.hpp"
#include "transport/node_route.hpp"
#include "version.hpp"

namespace glinpack::app {

namespace {

const Footer report_footer{
    .examples =
        "mpirun -np 4 glinpack plu --n 1000,2000,4000 --repeat 3 --json results.json\n"
        "glinpack report results.json -o report.html\n"
        "glinpack report before.json after.json -o report.html --title Switches --force\n"
        "glinpack report --watts 450 results.json -o report.html --force\n"
        "glinpack report --power-log pdu.csv results.json -o report.html --force",
    .notes =
        {"The page has the runs with PASSED and FAILED, the best and median of each configuration, GFLOPS against N "
         "and GPUs, times by phase, role and rank, comparisons of files, hosts and versions. Tables sort and filter. "
         "It is one file and needs no network. See docs/report-page.md."},
    .exit_codes = {
        {0, "written, whether runs PASSED or FAILED"}, {2, "unusable input"}, {3, "an error while writing"}}};

using nlohmann::json;

/// JSON as the content of a <script> element: no text of a file can end the element.
std::string script_of(const std::string& id, const std::string& text) {
  std::string script = "<script type=\"application/json\" id=\"" + id + "\">";
  for (const char c : text) {
    if (c == '<') {
      script += "\\u003c";  // JSON has '<' only in strings
    } else {
      script += c;
    }
  }
  return script + "</script>\n";
}

std::vector<ResultFile> read_files(const std::vector<std::string>& paths) {
  std::vector<ResultFile> files;
  std::set<std::filesystem::path> known;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
    if (!error && !known.insert(whole).second) {
      throw InputError(path + ": is given twice; leave one of the two out");
    }
    files.push_back(read_result_file(path));
  }
  set_unique_names(files);
  return files;
}

/// Throws InputError if the document lacks what the page shows.
void check_document(const ResultFile& file) {
  switch (file.kind) {
    case ResultKind::plu:
      read_runs(file.root());
      break;
    case ResultKind::network:
      read_network(file.root());
      break;
    case ResultKind::mode:
    case ResultKind::peaks:
    case ResultKind::tune:
      measurements_of(file, {});
      break;
  }
}

/// Removes the phases of single ranks: most of a document, and the page shows those of roles.
void shorten(json& document) {
  if (!document.contains("runs")) return;
  for (json& run : document["runs"]) {
    for (json& rank : run["ranks"]) rank.erase("phases");
  }
}

/// The first file of each kind with each other file of the kind, if they have runs in common.
json comparisons_of(const std::vector<ResultFile>& files) {
  constexpr double confidence = 0.9;
  json comparisons = json::array();
  std::map<ResultKind, const ResultFile*> firsts;
  for (const ResultFile& file : files) {
    const auto [first, is_new] = firsts.try_emplace(file.kind, &file);
    if (is_new) continue;
    const ResultFile& a = *first->second;
    const Comparison comparison = compare(a, file, {}, confidence);
    if (comparison.pairs.empty()) continue;
    comparisons.push_back({{"a", a.name}, {"b", file.name}, {"result", comparison_json(a, file, comparison)}});
  }
  return comparisons;
}

/// The one file of plu; `option` needs it.
ResultFile& plu_file(std::vector<ResultFile>& files, const char* option) {
  const auto is_plu = [](const ResultFile& file) { return file.kind == ResultKind::plu; };
  if (std::ranges::count_if(files, is_plu) != 1) {
    throw InputError(std::string(option) + ": belongs to the runs of one file; give one that plu --json wrote");
  }
  return *std::ranges::find_if(files, is_plu);
}

/// The mean power during a run; empty if the log does not cover it.
std::optional<double> watts_of(const RunRecord& run, std::optional<double> watts, const std::optional<PowerLog>& log) {
  if (!log || !covers(*log, run.result.start_time, run.result.seconds)) return watts;
  std::set<std::string> hosts;
  for (const RankRecord& rank : run.result.ranks) hosts.insert(rank.host);
  return watts_of_all_hosts(power_during(*log, run.result.start_time, run.result.seconds), hosts);
}

/// Sets the wall meter's mean power in the runs of the one file of plu. Returns a line with the best rate.
std::string add_wall_watts(std::vector<ResultFile>& files, std::optional<double> watts,
                           const std::optional<PowerLog>& log) {
  const char* option = log ? "--power-log" : "--watts";
  ResultFile& file = plu_file(files, option);
  std::vector<RunRecord> runs = read_runs(file.root());
  double best = 0, watts_of_best = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double gflops = runs[i].result.gflops;
    if (!(gflops > 0) || !(runs[i].result.seconds > 0)) continue;
    const std::optional<double> mean = watts_of(runs[i], watts, log);
    if (!mean) continue;
    Energy energy = runs[i].energy.value_or(Energy{});
    set_wall_watts(energy, *mean, gflops);
    file.document["runs"][i]["energy"] = energy_json(energy);
    if (energy.gflops_per_watt <= best) continue;
    best = energy.gflops_per_watt;
    watts_of_best = *mean;
  }
  if (best == 0) {
    // the log covers no run: the message says how far it is from the first
    if (log && !runs.empty()) power_during(*log, runs[0].result.start_time, std::max(runs[0].result.seconds, 1e-9));
    throw InputError(std::string(option) + ": no run of " + file.path + " has a rate");
  }
  return fmt::format("{:.4g} GFLOPS/W at {:.6g} W{}\n", best, watts_of_best,
                     runs.size() > 1 ? fmt::format(", best of {} runs", runs.size()) : "");
}

json broadcast_digits() {
  json digits = json::object();
  for (const BroadcastKind kind : all_broadcasts) digits[std::string(name_of(kind))] = hpl_digit(kind);
  return digits;
}

std::string page_of(std::vector<ResultFile> files, const std::string& title) {
  if (page_template.empty()) {
    throw std::runtime_error(
        "this glinpack was built without the report page, because Chart.js was missing: install Debian's "
        "libjs-chart.js, or name a chart.min.js by cmake -DGLINPACK_CHART_JS=FILE, and build again");
  }
  json data{{"title", title.empty() ? "glinpack results" : title},
            {"program", std::string("glinpack ") + version + " (" + git_commit + ")"},
            {"broadcast_digits", broadcast_digits()},
            {"files", json::array()}};
  for (ResultFile& file : files) {
    check_document(file);
    data["files"].push_back({{"name", file.name}, {"path", file.path}, {"kind", name_of(file.kind)}});
  }
  data["comparisons"] = comparisons_of(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    shorten(files[i].document);
    data["files"][i]["document"] = std::move(files[i].document);
  }
  const std::size_t place = page_template.find(page_data_mark);
  std::string page(page_template.substr(0, place));
  page += script_of("data", data.dump(-1, ' ', false, json::error_handler_t::replace));
  page += page_template.substr(place + page_data_mark.size());
  return page;
}

}  // namespace

OptionTable report_table(ReportOptions& o) {
  constexpr int max_files = 10'000;
  const std::vector<Field> files{
      {"FILE", positional(o.files, max_files), "Files that --json wrote: plu, network, the solvers, peaks, tune"},
  };
  const std::vector<Field> output{
      {"output,-o", text(o.output, "PAGE"), "The page to write"},
      {"title", text(o.title, "TEXT"), "Title of the page"},
      {"force", flag(o.force), "Overwrite an existing page"},
  };
  const std::vector<Field> energy{
      {"watts", real(o.watts, "W", parse_watts),
       "Mean power of all nodes in the timed section, read from a wall meter: GFLOPS/W is printed and in the page"},
      {"power-log", text(o.power_log, "CSV"),
       "The same from readings of PDUs, IPMI or Redfish with columns time, watts and, if there are several, scope", "",
       "watts"},
  };
  return {.command = "report",
          .description = "Writes an HTML page of results: tables, charts, comparisons.",
          .footer = report_footer,
          .groups = {{"", files}, {"Output", output}, {"Energy", energy}}};
}

ReportOptions parse_report_options(const Texts& arguments) {
  const ReportOptions options = parse(arguments, report_table).options;
  if (options.files.empty()) {
    throw InputError(
        "no file is given; name what --json wrote, for example: glinpack report results.json -o report.html");
  }
  return options;
}

std::string report_page(const std::vector<std::string>& paths, const std::string& title) {
  return page_of(read_files(paths), title);
}

void run_report_command(const ReportOptions& options, std::ostream& out) {
  Texts inputs = options.files;
  if (!options.power_log.empty()) inputs.push_back(options.power_log);
  check_output("--output", options.output, options.force, inputs);
  std::vector<ResultFile> files = read_files(options.files);
  std::optional<PowerLog> log;
  if (!options.power_log.empty()) log = read_power_log(options.power_log);
  const std::string efficiency = options.watts || log ? add_wall_watts(files, options.watts, log) : "";
  const std::string page = page_of(std::move(files), options.title);
  write_file(options.output, options.force, [&](std::ostream& file) { file << page; });
  print(out, options.output + '\n' + efficiency);
}

}  // namespace glinpack::app
