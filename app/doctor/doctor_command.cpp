#include "app/doctor/doctor_command.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "app/agreement.hpp"
#include "app/doctor/checks.hpp"
#include "app/doctor/doctor_options.hpp"
#include "app/doctor/judgement.hpp"
#include "app/doctor/measure.hpp"
#include "app/doctor/report.hpp"
#include "app/machine.hpp"
#include "app/mpi_command.hpp"
#include "app/outputs.hpp"
#include "app/program_context.hpp"
#include "backend/registry.hpp"

namespace glinpack::app::doctor {

namespace {

// True if another MPI's launcher started the processes, so that each is a world of one rank. Only the first one prints.
// The others return 0, since Open MPI's launcher would otherwise end the first one.
bool is_world_of_one(const MpiSession& session) {
  return session.size() == 1 && launched_processes() > 1 && launcher_rank() > 0;
}

bool asks_for_devices(const std::string& backend) { return backend == "auto" || computes_on_device(backend); }

DoctorOptions agreed_options(const Texts& arguments) {
  const DoctorOptions options = parse_alike(arguments, options_of<doctor_table>);
  run_on_root_and_broadcast([&] {
    check_output("--json", options.json, options.force);
    return nlohmann::json();
  });
  return options;
}

Facts gathered(const RankFacts& mine) {
  Facts facts;
  for (const nlohmann::json& rank : gathered_on_first_rank(to_json(mine))) {
    facts.ranks.push_back(facts_from_json(rank));
  }
  return facts;
}

// Called right after the products, while the device is still warm.
void read_sensors(const std::optional<std::vector<gl::DeviceDescription>>& devices, RankFacts& mine) {
  mine.clocks = read_clocks("", mine.processor.processors);
  const DeviceFacts* chosen = hardware_of(mine);
  if (!devices || chosen == nullptr) return;
  const auto place = static_cast<std::size_t>(chosen->index);
  const gl::DeviceDescription& device = devices->at(place);
  read_device_sensor(sensors::Places::from_environment(),
                     {.vendor = device.vendor, .uuid = device.uuid, .drm_file = device.drm_file}, mine.clocks,
                     mine.graphics.devices.at(place));
}

void measure(const DoctorOptions& options, const std::optional<std::vector<gl::DeviceDescription>>& devices,
             RankFacts& mine, std::optional<Screening>& screening) {
  look_up_host(mine.host);
  if (mine.process.world_size > 1) {
    screening = screen_links(MPI_COMM_WORLD, {.seconds = options.network_seconds, .concurrent_pairs = false});
  }
  const DeviceFacts* device = device_of(mine);
  const bool measured = device != nullptr && (!device->software || computes_on_device(options.backend));
  mine.gemm = measure_gemm(mine.processor.threads, measured ? device->index : -1,
                           {.repeat = 5, .seconds = options.gemm_seconds});
  read_sensors(devices, mine);
}

void report(const DoctorOptions& options, const std::vector<std::string>& command_line, const Facts& facts,
            const std::vector<Finding>& findings) {
  if (!(std::cout << findings_text(findings) << std::flush)) {
    throw std::runtime_error("the findings cannot be written to standard output");
  }
  nlohmann::json document = findings_json(findings, facts);
  document["context"] = program_context(command_line, to_json(options, doctor_table));
  write_file(options.json, options.force, [&](std::ostream& file) { file << dumped(document, 2) << '\n'; });
}

int look(const MpiSession& session, const std::vector<std::string>& arguments, const ReportContext& context) {
  constexpr int exit_failed = 1;
  if (is_world_of_one(session)) return 0;
  const DoctorOptions options = agreed_options(arguments);
  const Target target{.backend = options.backend,
                      .device = options.device,
                      .threads = options.threads.value_or(threads_by_cores(session)),
                      .threads_asked = options.threads.has_value()};
  std::optional<std::vector<gl::DeviceDescription>> devices;
  if (asks_for_devices(options.backend)) devices = gl::list_devices();
  RankFacts mine = gather_quick_facts(session, target, devices);
  std::optional<Screening> screening;
  if (!options.quick) measure(options, devices, mine, screening);
  Facts facts = gathered(mine);
  facts.quick = options.quick;
  facts.screening = std::move(screening);
  return run_on_root_and_broadcast([&] {
    const std::vector<Finding> findings = judge(facts);
    report(options, context.command_line, facts, findings);
    return nlohmann::json(worst_of(findings) == Verdict::fail ? exit_failed : 0);
  });
}

std::vector<std::string> notes_on(Facts facts, const Target& target) {
  facts.quick = true;
  std::vector<Finding> findings = judge(facts);
  // the user named the software OpenGL backend, so that a run reports it itself
  std::erase_if(findings, [&](const Finding& finding) {
    return finding.check == "renderer" && computes_on_device(target.backend);
  });
  return findings_notes(findings);
}

}  // namespace

int run_doctor_command(int argc, char** argv) {
  return run_under_mpi(
      argc, argv,
      [](const MpiSession& session, const std::vector<std::string>& arguments, const ReportContext& context) {
        return look(session, arguments, context);
      },
      ForeignLauncher::tolerated);
}

std::vector<std::string> notes_before_run(const MpiSession& session, const Target& target,
                                          const std::optional<std::vector<gl::DeviceDescription>>& devices) {
  // rank 0 gathers the facts of all ranks; this bounds its memory
  constexpr int most_ranks = 1024;
  if (session.size() > most_ranks) return {};
  // an error of the doctor must not end a run
  RankFacts mine;
  std::string failure;
  try {
    mine = gather_quick_facts(session, target, devices);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  Facts facts;
  std::vector<std::string> notes;
  const auto take = [&](const nlohmann::json& told) {
    if (told.is_string()) {
      notes.push_back("doctor: it could not look: " + told.get<std::string>());
    } else {
      facts.ranks.push_back(facts_from_json(told));
    }
  };
  const std::vector<nlohmann::json> all =
      gathered_on_first_rank(failure.empty() ? to_json(mine) : nlohmann::json(failure));
  try {
    for (const nlohmann::json& told : all) take(told);
    if (session.rank() != 0 || !notes.empty()) return notes;
    return notes_on(std::move(facts), target);
  } catch (const std::exception& error) {
    return {"doctor: it could not judge: " + std::string(error.what())};
  }
}

}  // namespace glinpack::app::doctor
