#include "app/doctor/doctor_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/doctor/subjects.hpp"
#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/program/agreement.hpp"
#include "app/program/mpi_command.hpp"
#include "app/program/outputs.hpp"
#include "app/program/peak.hpp"
#include "app/program/program_context.hpp"
#include "app/program/topology.hpp"
#include "app/record/network_record.hpp"
#include "backend/registry.hpp"
#include "watch/stop_request.hpp"

namespace glinpack::app::doctor {

namespace {

const Footer doctor_footer{
    .examples =
        "glinpack doctor\n"
        "mpirun -np 4 glinpack doctor --json doctor.json\n"
        "srun --nodes 4 --ntasks-per-node 4 --gpus-per-task 1 glinpack doctor --network-seconds 60\n"
        "glinpack doctor --quick\n"
        "srun --nodes 4 --ntasks-per-node 4 --gpus-per-task 1 glinpack doctor --quick --burn-in 60",
    .notes =
        {"Start it as a run of `glinpack plu`. It checks every rank and node and prints a line for each check: ok, "
         "warn (slower, or less, than the machine could), fail (does not run, or not as requested) or n/a (nothing "
         "to check), with the evidence, and below it the remedy as a command.",
         "Times are in us (10^-6 s), rates in GB/s (10^9 bytes a second) and GFLOPS (10^9 operations a second), "
         "memory in MiB (2^20 bytes) and GiB (2^30 bytes).",
         "--burn-in factorises a matrix on every rank's device at the same time, again and again, with checksums and "
         "HPL's residual check. N grows until a loop takes a twentieth of the time or fills 80 % of the free memory. "
         "It names a device that computes wrongly; one whose median GFLOPS is below 0.9 of the median of at least "
         "three "
         "devices of its kind; and one whose second half of at least six loops is below 0.9 of the first. The limit is "
         "0.5 for ranks that take turns on cores. SIGTERM ends it at the next pass, with a report of the loops done."},
    .exit_codes = {{0, "no check failed"},
                   {1, "a check failed"},
                   {2, "unusable input"},
                   {3, "an error while checking"},
                   {4, "a signal ended the burn-in, and no check failed"},
                   {5, "ended by --watchdog"}}};

using nlohmann::json;
using Devices = std::optional<std::vector<DeviceDescription>>;

// True if another MPI's launcher started the processes, so that each is a world of one rank. Only the first one prints.
// The others return 0, since Open MPI's launcher would otherwise end the first one.
bool is_world_of_one(const MpiSession& session) {
  return session.size() == 1 && launched_processes() > 1 && launcher_rank() > 0;
}

PluOptions options_of_run(const DoctorOptions& options) {
  PluOptions run;
  run.backend = options.backend;
  run.device = options.device;
  run.threads = options.threads;
  return run;
}

DoctorOptions parse_on_all_ranks(const std::vector<std::string>& arguments) {
  const DoctorOptions options = parse_alike(arguments, options_of<doctor_table>);
  run_on_root_and_broadcast([&] {
    if (options.backend != "auto") check_options_of_backend(options_of_run(options), options.backend);
    check_output("--json", options.json, options.force, {options.config});
  });
  return options;
}

void read_sensors(const DeviceDescription* device, json& mine) {
  read_clocks("", mine["processor"]);
  if (hardware_of(mine) == nullptr) return;
  json& facts = mine["device"];
  const std::string address =
      read_device_sensor(sensors::Places::from_environment(),
                         {.vendor = device->vendor, .uuid = device->uuid, .drm_file = device->drm_file}, facts);
  if (facts["pci"].is_null()) facts["pci"] = PciBus().device(address);
}

// Returns the screening on rank 0, if there are links.
std::optional<Screening> measure(const DoctorOptions& options, const Devices& devices, json& mine) {
  std::optional<Screening> screening;
  const NodeLoad load;
  if (mine["process"]["world_size"] > 1) {
    screening = screen_links(MPI_COMM_WORLD, {.seconds = options.network_seconds, .concurrent_pairs = false});
  }
  const DeviceDescription* device = nullptr;
  if (const json& facts = mine["device"]; !facts.is_null()) {
    device = &*std::ranges::find(*devices, facts["index"].get<int>(), &DeviceDescription::index);
  }
  const bool is_measured = device != nullptr && (!device->software || computes_on_device(options.backend));
  mine["gemm"] = measure_gemm(mine["processor"]["threads"], is_measured ? device : nullptr,
                              {.repeat = 5, .seconds = options.gemm_seconds});
  mine["processor"]["other_load"] = load.of_others();
  read_sensors(device, mine);  // right after the products, while the device is still warm
  return screening;
}

void report(const DoctorOptions& options, const std::vector<std::string>& command_line, const Facts& facts,
            const std::vector<Finding>& findings) {
  json document = findings_json(findings, facts);
  document["context"] = program_context(command_line, to_json(options, doctor_table));
  write_findings(std::cout, findings_text(findings) + burn_in_text(facts), options.json, options.force, document);
}

json measured_burn_in(const DoctorOptions& options, const MpiSession& session, const Devices& devices) {
  PluOptions machine = options_of_run(options);
  const auto has_no_doubles = [](const DeviceDescription& device) { return device.usable && !device.doubles; };
  const bool in_double = !devices || std::ranges::none_of(*devices, has_no_doubles);
  if (!all_agree(world(), in_double)) machine.precision = Precision::single;
  return measure_burn_in(session, machine, *options.burn_in);
}

int examine(const MpiSession& session, const std::vector<std::string>& arguments, const ReportContext& context) {
  constexpr int exit_failed = 1;
  if (is_world_of_one(session)) return 0;
  const DoctorOptions options = parse_on_all_ranks(arguments);
  const Target target{
      .backend = options.backend, .device = options.device, .threads = take_threads(session, options.threads)};
  Devices devices;
  const bool may_use_devices = options.backend == "auto" || computes_on_device(options.backend);
  if (may_use_devices) devices = list_devices(options.backend);
  if (options.device) prepare_on_all_ranks([&] { device_of_index(*devices, *options.device); });
  json mine = gather_quick_facts(session, target, devices);
  Facts facts{.ranks = {}, .quick = options.quick, .screening = {}};
  if (!options.quick) facts.screening = measure(options, devices, mine);
  if (options.burn_in) mine["burn_in"] = measured_burn_in(options, session, devices);
  facts.ranks = gathered_on_first_rank(mine);
  return run_on_root_and_broadcast([&] {
    const std::vector<Finding> findings = judge(facts);
    report(options, context.command_line, facts, findings);
    return worst_of(findings) == Verdict::fail ? exit_failed : stop_signal() != 0 ? exit_interrupted : 0;
  });
}

}  // namespace

OptionTable doctor_table(DoctorOptions& o) {
  const std::vector<Field> checks{
      {"quick", flag(o.quick),
       "Run only the checks that take milliseconds: no network, GEMM or clocks. plu runs these by itself"},
      {"network-seconds", real(o.network_seconds, "SECONDS", parse_seconds),
       "End the test of the links between all pairs of ranks after this time, even if pairs are left", "10"},
      {"gemm-seconds", real(o.gemm_seconds, "SECONDS", parse_seconds),
       "Time for the repetitions of a matrix product on the host and on the device of each rank"},
      {"burn-in", real(o.burn_in, "MINUTES", parse_minutes),
       "Factorise on every device for this time, fractions allowed, and name one that computes wrongly or slowly",
       "off"},
      watchdog_field(o.watchdog),
  };
  const std::vector<Field> machine{
      {"backend", name_value(o.backend, backend_choices()),
       "Check for this backend. openblas and reference need no device; the others accept a software device"},
      {"device", whole(o.device, 0, largest_device, "INDEX"), "Device of every process, an index of `glinpack devices`",
       "by local rank"},
      {"threads", whole(o.threads, 1, largest_threads), "Host threads of each process",
       "OPENBLAS_NUM_THREADS, else OMP_NUM_THREADS, else cores / ranks of the node"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "Write findings and facts of all ranks as JSON (docs/doctor.schema.json)"},
      {"force", flag(o.force), "Overwrite existing files"},
      log_level_field(),
  };
  return {.command = "doctor",
          .description =
              "Checks whether glinpack can run, and run well: launcher, cores, devices, drivers, memory, network, slow "
              "nodes.",
          .footer = doctor_footer,
          .groups = {{"Checks", checks},
                     {"Machine, as for plu", machine},
                     {"Output", output},
                     {"Configuration", {config_field(o.config)}}}};
}

int run_doctor_command(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  return run_under_mpi(invocation, watchdog_limit<doctor_table>, examine, ForeignLauncher::tolerated);
}

std::vector<std::string> notes_before_run(const MpiSession& session, const PluOptions& options,
                                          const Machine& machine) {
  // rank 0 gathers the facts of all ranks; this bounds its memory
  constexpr int max_ranks = 1024;
  if (session.size() > max_ranks) return {};
  // an error of the doctor must not end a run
  json mine;
  try {
    mine = gather_quick_facts(
        session, {.backend = options.backend, .device = options.device, .threads = machine.options.threads},
        machine.devices);
  } catch (const std::exception& error) {
    mine = error.what();
  }
  Facts facts{.ranks = gathered_on_first_rank(mine), .quick = true, .screening = {}};
  if (session.rank() != 0) return {};
  try {
    for (const json& rank : facts.ranks) {
      if (rank.is_string()) throw std::runtime_error(rank.get<std::string>());
    }
    std::vector<Finding> findings = judge(facts);
    // the user named the backend of a software device, so that a run reports it itself
    std::erase_if(findings, [&](const Finding& finding) {
      return finding.check == "renderer" && computes_on_device(options.backend);
    });
    return findings_notes(findings);
  } catch (const std::exception& error) {
    return {"doctor: no checks, because of an error: " + std::string(error.what())};
  }
}

std::string findings_text(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<6}{:<17}{}\n", name_of(finding.verdict), finding.check, finding.evidence);
    for (const std::string& remedy : finding.remedies) text += fmt::format("{:<23}-> {}\n", "", remedy);
  }
  const auto count = [&findings](Verdict verdict) { return std::ranges::count(findings, verdict, &Finding::verdict); };
  return text + fmt::format("\n{} ok, {} warn, {} fail, {} n/a\n", count(Verdict::ok), count(Verdict::warn),
                            count(Verdict::fail), count(Verdict::unknown));
}

json findings_json(std::span<const Finding> findings, const Facts& facts) {
  json checks = json::array(), screening;
  for (const Finding& finding : findings) {
    checks.push_back({{"check", finding.check},
                      {"verdict", name_of(finding.verdict)},
                      {"evidence", finding.evidence},
                      {"remedies", finding.remedies}});
  }
  if (facts.screening) {
    NetworkResults results;
    for (const json& rank : facts.ranks) results.hosts.push_back(rank.at("host"));
    screening = screening_json(*facts.screening, results);
  }
  return {{"format", 2},          {"verdict", name_of(worst_of(findings))},
          {"quick", facts.quick}, {"checks", checks},
          {"ranks", facts.ranks}, {"screening", screening}};
}

std::vector<std::string> findings_notes(std::span<const Finding> findings) {
  std::vector<std::string> notes;
  for (const Finding& finding : findings) {
    if (finding.verdict != Verdict::warn && finding.verdict != Verdict::fail) continue;
    std::string note = fmt::format("doctor, {}: {}", finding.check, finding.evidence);
    if (!finding.remedies.empty()) {
      const std::string& remedy = finding.remedies.front();
      note += "; try: " + remedy.substr(0, remedy.find("  # "));
    }
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace glinpack::app::doctor
