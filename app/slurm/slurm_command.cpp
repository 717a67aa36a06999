#include "app/slurm/slurm_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "app/input/hpl_dat.hpp"
#include "app/input/matrix_file.hpp"
#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/options/plu_options.hpp"
#include "app/program/outputs.hpp"
#include "app/program/planned_runs.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

namespace {

constexpr int largest_nodes = 100'000;
constexpr int max_per_node = 4096;
constexpr int largest_signal_lead = 65535;  // Slurm's limit
constexpr const char* end_of_options = "--";

const Footer slurm_footer{
    .examples =
        "glinpack slurm --nodes 4 --gpus-per-node 4 --time 1:00:00 -o run.sbatch -- --n 65536 --nb 512\n"
        "sbatch run.sbatch\n"
        "glinpack slurm --nodes 2 --ranks-per-node 8 --launcher hydra -- --hpl-dat HPL.dat | sbatch\n"
        "glinpack slurm --nodes 4 --gpus-per-node a100:4 --partition gpu -- --config run.toml",
    .notes =
        {"The options of `glinpack plu` are checked here, with the files that they name and the number of ranks that "
         "the grids need. Options on the command line of sbatch override those in the script."},
    .exit_codes = {{0, "written"}, {2, "unusable input"}, {3, "an error while writing"}}};

// Parses a name for an #SBATCH line, in which blanks separate words. `more`: characters that are allowed, too.
std::string parse_slurm_name(const std::string& text, const std::string& more = "") {
  const std::string usual = "_.,:@%+=/-";
  const bool is_name = std::ranges::all_of(text, [&](unsigned char c) {
    return (c < 0x80 && std::isalnum(c)) || (usual + more).find(static_cast<char>(c)) != std::string::npos;
  });
  if (is_name && !text.empty()) return text;
  std::string allowed;
  for (const char c : usual + more) allowed += std::string(" ") + c;
  throw InputError(in_quotes(text) + " is not a name for Slurm; letters, digits and" + allowed + " are allowed");
}

FieldValue slurm_name(std::string& option, const char* type = "NAME", const std::string& more = "") {
  return word(
      type, [&option, more](const std::string& t) { option = parse_slurm_name(t, more); },
      [&option] { return option; });
}

void set_gpus(SlurmOptions& o, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  o.gpu_type = colon == std::string::npos ? "" : parse_slurm_name(text.substr(0, colon));
  o.gpus_per_node =
      static_cast<int>(parse_whole(colon == std::string::npos ? text : text.substr(colon + 1), 0, max_per_node));
}

std::vector<Field> job_fields(SlurmOptions& o) {
  const auto gpus = word(
      "[TYPE:]COUNT", [&o](const std::string& t) { set_gpus(o, t); }, [&o] { return o.gpus(); });
  return {
      {"nodes", whole(o.nodes, 1, largest_nodes), "Number of nodes"},
      {"gpus-per-node", gpus, "GPUs of every node; TYPE is a GPU type of Slurm"},
      {"ranks-per-node", whole(o.ranks_per_node, 1, max_per_node), "Ranks on every node", "one per GPU, or 1"},
      {"cores-per-rank", whole(o.cores_per_rank, 1, max_per_node), "Cores of every rank, as Slurm counts them",
       "the node's divided by its ranks"},
      {"time", slurm_name(o.time, "TIME"),
       "Time limit in a format of Slurm: minutes, hours:minutes:seconds, days-hours, ...", "the partition's"},
      {"partition", slurm_name(o.partition), "Partition, or several with commas", "the cluster's"},
      {"account", slurm_name(o.account), "Account that the job is charged to", "yours"},
      {"qos", slurm_name(o.qos), "Quality of service", "yours"},
      {"constraint", slurm_name(o.constraint, "FEATURES", "&|!*()[]"), "Features that the nodes must have: `h100&ib`",
       "none"},
      {"reservation", slurm_name(o.reservation), "Reservation to run in", "none"},
      {"nodelist", slurm_name(o.nodelist, "HOSTS", "[]"), "Hosts that the job must have: `node[01-04]`", "any"},
      {"job-name", slurm_name(o.job_name), "Name of the job"},
  };
}

// Runs plu's checks that do not depend on the machine.
void check_plu_arguments(const SlurmOptions& o, TextFiles& files) {
  const ParsedOptions parsed = parse_plu_options(o.plu_arguments, files);
  if (parsed.on_command_line.contains("output-dir")) {
    throw InputError("--output-dir " + parsed.options.output_dir +
                     ": the script gives every job its own folder, glinpack-JOB; leave the option out");
  }
  const std::optional<HplDat> hpl_dat = hpl_dat_of(parsed, files);
  std::optional<Index> file_order;
  if (!parsed.options.input.empty()) file_order = read_matrix_order(parsed.options.input);
  Texts inputs{parsed.options.input};
  for (const auto& [path, contents] : files.contents()) inputs.push_back(path);
  check_not_input("--output", o.output, inputs);
  for (const RunRecord& run : plan_runs(parsed, hpl_dat, file_order, o.ranks())) {
    if (run.grid.size() <= o.ranks()) continue;
    throw InputError("the grid " + text_of(run.grid) + " needs " + std::to_string(run.grid.size()) +
                     " ranks, and there are " + std::to_string(o.ranks()) + ", " + std::to_string(o.ranks() / o.nodes) +
                     " on each of --nodes " + std::to_string(o.nodes) +
                     "; ask for more nodes or --ranks-per-node, or use a smaller grid");
  }
}

// the first line of the template after its head
constexpr std::string_view body_mark = "\nset -euo pipefail\n";
constexpr std::string_view place_mark = "\n# Modules and exports";

// Names and values; a directive may have no value.
using Directives = std::vector<std::pair<std::string, std::string>>;

Directives directives_of(std::string_view head) {
  static const std::regex form("#SBATCH --([^=]+)=?(.*)");
  Directives directives;
  std::istringstream lines{std::string(head)};
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (std::regex_match(line, parts, form)) directives.emplace_back(parts[1], parts[2]);
  }
  return directives;
}

// Replaces and appends directives. The options that have no value leave them as they are; without a signal, its
// directive is removed.
Directives with_options(const SlurmOptions& o, Directives directives) {
  Directives of_options{{"job-name", o.job_name},
                        {"nodes", std::to_string(o.nodes)},
                        {"ntasks-per-node", std::to_string(o.ranks() / o.nodes)},
                        {"gpus-per-node", o.gpus_per_node > 0 ? o.gpus() : ""},
                        {"cpus-per-task", o.cores_per_rank ? std::to_string(*o.cores_per_rank) : ""},
                        {"time", o.time},
                        {"partition", o.partition},
                        {"account", o.account},
                        {"qos", o.qos},
                        {"constraint", o.constraint},
                        {"reservation", o.reservation},
                        {"nodelist", o.nodelist}};
  if (o.signal_lead > 0) {
    of_options.emplace_back("signal", "B:USR1@" + std::to_string(o.signal_lead));
  } else {
    std::erase_if(directives, [](const auto& directive) { return directive.first == "signal"; });
  }
  for (const auto& [name, value] : of_options) {
    if (value.empty()) continue;
    const auto found = std::ranges::find(directives, name, &Directives::value_type::first);
    if (found != directives.end()) {
      found->second = value;
    } else {
      directives.emplace_back(name, value);
    }
  }
  return directives;
}

std::string shell_words(const std::vector<std::string>& texts) {
  std::string words;
  for (const std::string& text : texts) words += (words.empty() ? "" : " ") + shell_word(text);
  return words;
}

}  // namespace

OptionTable slurm_table(SlurmOptions& o) {
  const auto launcher = word(
      "srun|hydra",
      [&o](const std::string& t) {
        o.uses_hydra = choose(t, Texts{"srun", "hydra"}) == 1;
      },
      [&o] { return std::string(o.uses_hydra ? "hydra" : "srun"); });
  const std::vector<Field> running{
      {"launcher", launcher, "Launcher of the ranks. srun: Slurm's, by the PMI of this build's MPI; hydra: MPICH's"},
      {"signal-lead", whole(o.signal_lead, 0, largest_signal_lead, "SECONDS"),
       "Time before the limit at which a signal ends glinpack with a report of the finished runs; 0: no signal"},
      {"program", text(o.program, "PATH"), "The glinpack that the job runs", "this one"},
  };
  const std::vector<Field> output{
      {"output,-o", text(o.output, "FILE"), "Write the script to this file", "standard output"},
      {"force", flag(o.force), "Overwrite an existing file"},
  };
  return {
      .command = "slurm",
      .description =
          "Writes a Slurm batch script that runs `glinpack plu` with one rank per GPU. Every job has its own folder of "
          "results, reports the finished runs at the time limit, and overwrites nothing if Slurm restarts it. Options "
          "after -- are those of `glinpack plu`.",
      .footer = slurm_footer,
      .groups = {{"Job", job_fields(o)},
                 {"Running", running},
                 {"Output", output},
                 {"Configuration", {config_field(o.config)}}}};
}

SlurmOptions parse_slurm_options(const Texts& arguments) {
  const auto end = std::ranges::find(arguments, end_of_options);
  TextFiles files;
  SlurmOptions o = parse({arguments.begin(), end}, slurm_table, files).options;
  if (end != arguments.end()) o.plu_arguments.assign(end + 1, arguments.end());
  if (o.nodes > largest_processes / (o.ranks() / o.nodes)) {
    throw InputError("--nodes " + std::to_string(o.nodes) + ": more than " + std::to_string(largest_processes) +
                     " ranks; ask for fewer nodes or --ranks-per-node");
  }
  check_plu_arguments(o, files);
  return o;
}

std::string shell_word(const std::string& text) {
  const auto is_harmless = [](unsigned char c) {
    return (c < 0x80 && std::isalnum(c)) ||
           std::string_view("_./:,=@%+-").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_harmless)) return text;
  const bool is_printable = std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  std::string word = is_printable ? "'" : "$'";
  for (const char c : text) {
    if (is_printable) {
      word += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
    } else if (c == '\'' || c == '\\') {
      word += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      word += fmt::format("\\x{:02x}", c);
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string slurm_script(const SlurmOptions& o, const std::vector<std::string>& command_line,
                         const std::string& program) {
  const std::string_view whole = slurm_template();
  const std::size_t end_of_head = whole.find(body_mark);
  if (end_of_head == std::string_view::npos) throw std::logic_error("glinpack.sbatch has no head");

  const std::string mpi = MpiSession::headers_version().starts_with("Open MPI") ? "pmix" : "pmi2";
  const std::size_t start_of_place = whole.find(place_mark);
  if (start_of_place > end_of_head) throw std::logic_error("glinpack.sbatch has no place for modules");
  std::string script = "#!/usr/bin/env bash\n# Written by: " + shell_words(command_line) +
                       "\n# Submit it with sbatch; arguments behind its name go to `glinpack plu`, too.\n";
  for (const auto& [name, value] : with_options(o, directives_of(whole.substr(0, end_of_head)))) {
    script += "#SBATCH --" + name + (value.empty() ? "" : "=" + value) + "\n";
  }
  script += "GLINPACK=${GLINPACK:-" + shell_word(program) + "}\n";
  script += std::string("GLINPACK_LAUNCHER=${GLINPACK_LAUNCHER:-") + (o.uses_hydra ? "hydra" : "srun") + "}\n";
  script += "GLINPACK_MPI=${GLINPACK_MPI:-" + mpi + "}\n";
  if (!o.plu_arguments.empty()) script += "set -- " + shell_words(o.plu_arguments) + " \"$@\"\n";
  return script += whole.substr(start_of_place);
}

void run_slurm_command(const SlurmOptions& options, const std::vector<std::string>& command_line, std::ostream& out) {
  const std::string program =
      options.program.empty() ? std::filesystem::read_symlink("/proc/self/exe").string() : options.program;
  const std::string script = slurm_script(options, command_line, program);
  if (options.output.empty()) {
    print(out, script);
    return;
  }
  check_output("--output", options.output, options.force);
  write_file(options.output, options.force, [&](std::ostream& file) { file << script; });
}

}  // namespace glinpack::app
