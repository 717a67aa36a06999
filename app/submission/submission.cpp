#include "app/submission/submission.hpp"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/input/hpl_dat.hpp"
#include "app/input/input_error.hpp"
#include "app/plu/plan.hpp"
#include "app/program/outputs.hpp"
#include "app/record/hpl_report.hpp"
#include "app/record/run_record.hpp"
#include "app/record/text.hpp"
#include "app/submission/rules.hpp"

namespace glinpack::app {
namespace {

namespace fs = std::filesystem;

struct ChosenRun {
  RunRecord run;
  std::size_t index = 0;  // in the file
  std::size_t count = 0;
};

ChosenRun choose_run(const ResultFile& file) {
  std::vector<RunRecord> runs = read_runs(file.root());
  if (runs.empty()) throw InputError(file.path + ": has no run; give the JSON of a run that ended");
  const auto rank_of = [](const RunRecord& run) {
    return std::pair(verdict_of(run.result) == Verdict::passed, run.result.gflops);
  };
  const auto best = std::ranges::max_element(runs, {}, rank_of);
  if (!(best->result.gflops > 0) || !(best->result.seconds > 0)) {
    throw InputError(file.path + ": no run has a rate; give the JSON of a run that ended");
  }
  const auto index = static_cast<std::size_t>(best - runs.begin());
  return {std::move(*best), index, runs.size()};
}

std::string hpl_out(const RunRecord& run, const ResultFile& file) {
  ReportContext context;
  context.command_line = file.context.command_line;
  context.version = file.context.version;
  context.git_commit = file.context.git_commit;
  context.notes = file.context.notes;
  context.notes.push_back("this report was written from " + file.path + " by glinpack report --submission");
  std::ostringstream out;
  HplReport report(out);
  report.head(context, std::span(&run, 1));
  report.run(run);
  out << rate_text(run) << (run.energy ? energy_text(*run.energy) : "");
  report.tail();
  return out.str();
}

/// The options that repeat the run with its HPL.dat.
std::string options_beside_hpl_dat(const RunRecord& run) {
  const RunParameters& parameters = run.parameters;
  std::string options = "--backend " + run.backend;
  const auto add = [&](bool differs, std::string_view option, std::string_view value) {
    if (differs) options += fmt::format(" --{} {}", option, value);
  };
  add(run.precision != Precision::double_, "precision", name_of(run.precision));
  add(run.matrix != MatrixKind::hpl, "matrix", name_of(run.matrix));
  add(parameters.pivoting != Pivoting::partial, "pivoting", name_of(parameters.pivoting));
  add(hpl_digit(parameters.broadcast) > 5, "broadcast", name_of(parameters.broadcast));
  add(parameters.row_swap.kind == RowSwapKind::direct, "row-swap", name_of(parameters.row_swap.kind));
  return options;
}

std::string hpl_dat_of(const RunRecord& run) {
  const RunParameters& parameters = run.parameters;
  HplDat dat;
  dat.output_file = "HPL.out";
  dat.n = {parameters.n};
  dat.nb = {parameters.nb};
  dat.order = run.order;
  dat.grids = {run.grid};
  dat.threshold = parameters.threshold;
  dat.pfact = {run.variant.pfact};
  dat.nbmin = {run.variant.nbmin};
  dat.ndiv = {run.variant.ndiv};
  dat.rfact = {run.variant.rfact};
  dat.broadcast = {hpl_digit(parameters.broadcast) > 5 ? BroadcastKind::ring : parameters.broadcast};
  dat.depth = {parameters.lookahead};
  dat.row_swap = parameters.row_swap;
  return text_of(dat, "HPLinpack benchmark input file",
                 "glinpack plu --hpl-dat HPL.dat " + options_beside_hpl_dat(run));
}

/// A value of the JSON on one line.
std::string text_of_value(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_array()) {
    std::string text;
    for (const nlohmann::json& each : value) text += (text.empty() ? "" : ", ") + text_of_value(each);
    return text;
  }
  return free_text(value.is_string() ? value.get<std::string>()
                                     : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string machine_text(const RunRecord& run, const ResultFile& file) {
  std::string text =
      "What the lists ask for. Complete the lines without a value; check the others, which are of the run.\n\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    text += value.empty() ? fmt::format("{}:\n", name) : fmt::format("{}: {}\n", name, value);
  };
  for (const char* name :
       {"Site", "City and country", "System name", "Manufacturer", "Model", "Year of installation",
        "Segment and application area", "Interconnect", "Nodes of the whole system", "Theoretical peak (Rpeak), GFLOPS",
        "Power meter, its accuracy and where it measures", "How clocks of meter and nodes are synchronised"}) {
    line(name, "");
  }
  text += '\n';
  line("Rmax, GFLOPS", fmt::format("{:.6g}", run.result.gflops));
  line("Nmax", std::to_string(run.parameters.n));
  if (run.energy && sensors::known(run.energy->wall_watts)) {
    line("Power, W", fmt::format("{:.6g}", run.energy->wall_watts));
  }
  const nlohmann::json& context = file.document["context"];
  const nlohmann::json unknown;
  const auto of_context = [&](const nlohmann::json& object, const char* key) -> const nlohmann::json& {
    return object.is_object() && object.contains(key) ? object[key] : unknown;
  };
  line("Hosts of the run", text_of_value(of_context(context, "hosts")));
  std::map<std::string, int> kinds;
  for (const nlohmann::json& node : of_context(context, "nodes")) {
    std::string kind;
    for (const char* key :
         {"processor", "sockets", "cores", "memory_bytes", "gpus", "gpu_driver", "system", "kernel"}) {
      const std::string value = text_of_value(of_context(node, key));
      if (!value.empty()) kind += fmt::format("  {}: {}\n", key, value);
    }
    ++kinds[kind];
  }
  for (const auto& [kind, count] : kinds) text += fmt::format("Nodes like this: {}\n{}", count, kind);
  std::map<std::string, int> devices;
  for (const RankRecord& rank : run.result.ranks) ++devices[rank.backend.device + ", " + rank.backend.driver];
  for (const auto& [device, count] : devices) line("Device", fmt::format("{} of {}", count, free_text(device)));
  line("MPI", text_of_value(of_context(context, "mpi_library")));
  line("BLAS", text_of_value(of_context(context, "blas_library")));
  line("Build", text_of_value(of_context(context, "build")));
  line("Program", "glinpack " + free_text(file.context.version) + " " + free_text(file.context.git_commit));
  return text;
}

/// The readings on the run's clock.
std::string power_csv(const PowerLog& log, double shift) {
  std::string text;
  for (const std::string& remark : log.remarks) text += free_text(remark) + '\n';
  if (shift != 0) text += fmt::format("# times of the log less {:.3f} s\n", shift);
  text += "time,watts,scope\n";
  for (const PowerScope& scope : log.scopes) {
    for (const PowerReading& reading : scope.readings) {
      text +=
          csv_line({fmt::format("{:.3f}", reading.seconds - shift), fmt::format("{:.6g}", reading.watts), scope.name});
    }
  }
  return text;
}

std::string intervals_csv(const MeasuredPower& power, double start, double seconds) {
  std::string text = "interval,begin,end,watts,joules\n";
  const double length = seconds / static_cast<double>(power.tenths.size());
  for (std::size_t i = 0; i < power.tenths.size(); ++i) {
    const double begin = start + static_cast<double>(i) * length;
    text += fmt::format("{},{:.3f},{:.3f},{:.6g},{:.6g}\n", i + 1, begin, begin + length, power.tenths[i],
                        power.tenths[i] * length);
  }
  return text;
}

/// Writes the files to a temporary folder and renames it: no reader sees a part of them.
void write_folder(const fs::path& folder, const std::map<std::string, std::string>& files) {
  const fs::path temporary = folder.string() + ".part" + std::to_string(getpid());
  try {
    if (!fs::create_directory(temporary)) throw std::runtime_error(temporary.string() + " exists");
    for (const auto& [name, text] : files) {
      write_file((temporary / name).string(), false, [&content = text](std::ostream& out) { out << content; });
    }
    fs::rename(temporary, folder);  // replaces an empty folder, and no other
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw std::runtime_error("--submission: " + folder.string() + " cannot be written: " + error.what());
  }
}

fs::path without_final_slash(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

void check_submission_folder(const std::string& folder) {
  const fs::path path = without_final_slash(folder);
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (fs::is_directory(status)) {
    if (!fs::is_empty(path, error) || error) {
      throw InputError("--submission: " + folder + " is not empty; choose a new folder");
    }
  } else if (fs::exists(status)) {
    throw InputError("--submission: " + folder + " is not a folder; choose a new one");
  }
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(parent, error)) {
    throw InputError("--submission: folder " + parent.string() + " does not exist; make it, or choose another one");
  }
  if (access(parent.c_str(), W_OK) != 0) {
    throw InputError("--submission: folder " + parent.string() + " is not writable; choose another one");
  }
}

std::string write_submission(const std::string& folder, const ResultFile& file, const std::optional<PowerLog>& log,
                             std::optional<double> watts) {
  ChosenRun chosen = choose_run(file);
  RunRecord& run = chosen.run;
  run.variant.given = true;  // HPL.dat has it
  std::optional<PowerEvidence> evidence;
  if (log) evidence = power_evidence(run, *log);
  if (evidence) watts = evidence->extrapolated_watts;
  if (watts) {
    Energy energy = run.energy.value_or(Energy{});
    set_wall_watts(energy, *watts, run.result.gflops);
    run.energy = energy;
  }
  const std::vector<Rule> rules = submission_rules(run, evidence);
  const std::string head =
      fmt::format("{}, {}: {:.4g} GFLOPS in {:.2f} s, run {} of {} of {}\n", label_of(run), name_of(run.precision),
                  run.result.gflops, run.result.seconds, chosen.index + 1, chosen.count, file.path);
  std::map<std::string, std::string> files{{"hpl.out", hpl_out(run, file)},
                                           {"HPL.dat", hpl_dat_of(run)},
                                           {"machine.txt", machine_text(run, file)},
                                           {"checklist.txt", head + '\n' + checklist_text(rules)}};
  if (log) {
    files["power.csv"] = power_csv(*log, evidence->power.shift);
    files["intervals.csv"] = intervals_csv(evidence->power, run.result.start_time, run.result.seconds);
  }
  write_folder(without_final_slash(folder), files);

  std::vector<std::string> names;
  for (const auto& [name, text] : files) names.push_back(name);
  std::string text = fmt::format("{}: {}\n{}", folder, fmt::join(names, ", "), head);
  if (run.energy && sensors::known(run.energy->gflops_per_watt)) {
    text += fmt::format("{:.4g} GFLOPS/W\n", run.energy->gflops_per_watt);
  }
  return text + fmt::format("TOP500: {}\nGreen500: {}\n", verdict_on(rules, false), verdict_on(rules, true));
}

}  // namespace glinpack::app
