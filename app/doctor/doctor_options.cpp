#include "app/doctor/doctor_options.hpp"

#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"
#include "app/options.hpp"

namespace glinpack::app::doctor {

namespace {

constexpr const char* doctor_examples =
    "Examples:\n"
    "  glinpack doctor\n"
    "  mpirun -np 4 glinpack doctor --json doctor.json\n"
    "  srun --nodes 4 --ntasks-per-node 4 --gpus-per-task 1 glinpack doctor --network-seconds 60\n"
    "  glinpack doctor --quick\n"
    "\n"
    "Started as a run of glinpack plu would be, it looks at every rank and node, and prints a line for each check: "
    "ok,\n"
    "warn (slower, or less, than the machine could), fail (does not run, or not as asked for) or n/a (nothing to "
    "judge),\n"
    "the evidence, and below it the remedy as a command. Times are in us (10^-6 s), rates in GB/s (10^9 bytes a "
    "second)\n"
    "and GFLOPS (10^9 operations a second), memory in MiB (2^20 bytes) and GiB (2^30).\n"
    "Exit code: 0 nothing failed, 1 a check failed, 2 unusable input, 3 an error while looking.";

}  // namespace

void define_doctor_options(CLI::App& app, DoctorOptions& o) {
  constexpr int largest = 4096;
  describe(
      app, "glinpack doctor",
      "Looks for what keeps glinpack from running, or from running well: launcher, cores, devices, drivers, memory,\n"
      "network, slow nodes.",
      doctor_examples);
  begin_group(app, "Checks");
  add_flag(app, "--quick", "Only what takes milliseconds: no network, no gemm, no clocks; plu does as much by itself",
           [&o] { o.quick = true; });
  add(app, "--network-seconds", "SECONDS", text_of(o.network_seconds),
      "Trying the links between all pairs of ranks ends then, even if pairs are left",
      [&o](const std::string& t) { o.network_seconds = parse_seconds(t); });
  add(app, "--gemm-seconds", "SECONDS", text_of(o.gemm_seconds),
      "For the repetitions of a matrix product, on the host and on each rank's device",
      [&o](const std::string& t) { o.gemm_seconds = parse_seconds(t); });
  begin_group(app, "Machine, as plu would be told");
  add(app, "--backend", "NAME", "auto",
      enumerate(backend_choices()) + ": the processor's are not asked for devices; gl-... take software OpenGL, too",
      [&o](const std::string& t) { o.backend = parse_backend(t); });
  add(app, "--device", "INDEX", "by local rank", "EGL device for every process, as `glinpack devices` counts",
      [&o](const std::string& t) { o.device = static_cast<int>(parse_whole(t, 0, largest)); });
  add(app, "--threads", "COUNT", "cores / ranks of the node", "Threads of every process for arithmetic on the host",
      [&o](const std::string& t) { o.threads = static_cast<int>(parse_whole(t, 1, largest)); });
  begin_group(app, "Output");
  add_text(app, "--json", "FILE", "Findings and facts of all ranks as JSON (docs/doctor.schema.json)", o.json);
  add_flag(app, "--force", "Overwrite a file that exists", [&o] { o.force = true; });
  begin_group(app, "Configuration");
  define_config_option(app, o.config);
}

DoctorOptions parse_doctor_options(const std::vector<std::string>& arguments) {
  Parsed<DoctorOptions> parsed;
  parse_into(parsed, arguments, define_doctor_options);
  return parsed.options;
}

std::string doctor_help() {
  DoctorOptions options;
  return help_of([&](CLI::App& app) { define_doctor_options(app, options); });
}

nlohmann::json to_json(const DoctorOptions& o) {
  const auto number = [](const std::optional<int>& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  return {{"quick", o.quick},
          {"network-seconds", o.network_seconds},
          {"gemm-seconds", o.gemm_seconds},
          {"backend", o.backend},
          {"device", number(o.device)},
          {"threads", number(o.threads)},
          {"json", o.json.empty() ? nlohmann::json() : nlohmann::json(o.json)},
          {"force", o.force}};
}

DoctorOptions doctor_options_from_json(const nlohmann::json& configuration) {
  DoctorOptions options;
  apply_configuration(configuration, [&](CLI::App& app) { define_doctor_options(app, options); });
  return options;
}

}  // namespace glinpack::app::doctor
