#include "app/ceilings_options.hpp"

#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"
#include "app/options.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

namespace {

constexpr const char* ceilings_examples =
    "Examples:\n"
    "  glinpack ceilings\n"
    "  glinpack ceilings --device 1 --json ceilings.json\n"
    "  glinpack ceilings --backend openblas --threads 8 --repeat 9 --seconds 1\n"
    "  LP_NUM_THREADS=2 glinpack ceilings --backend gl-compute\n"
    "\n"
    "Rates are in GB/s (10^9 bytes a second) and GFLOPS (10^9 operations a second, a multiply-add being two), times in "
    "us\n"
    "(10^-6 s); of the repetitions median, least and most. Copies within a memory count bytes read and bytes written.\n"
    "What is copied and computed is checked. The default takes a few seconds.\n"
    "Exit code: 0 measured, 2 unusable input, 3 an error while measuring.";

}  // namespace

void define_ceilings_options(CLI::App& app, CeilingsOptions& o) {
  constexpr int largest = 4096, largest_repeat = 1000;
  describe(
      app, "glinpack ceilings",
      "Measures what a device and the host can do at most: the device's memory, its multiply-adds, the way to it and\n"
      "back; the host's gemm and memory.",
      ceilings_examples);
  begin_group(app, "Machine");
  add(app, "--backend", one_of(measured_backend_choices()), "auto",
      "openblas: the host alone; gl-compute: an OpenGL device, too; auto: the device where it is hardware or named",
      [&o](const std::string& t) { o.backend = parse_measured_backend(t); });
  add(app, "--device", "INDEX", "the first that is hardware", "EGL device, as `glinpack devices` counts",
      [&o](const std::string& t) { o.device = static_cast<int>(parse_whole(t, 0, largest)); });
  add(app, "--threads", "COUNT", "cores", "Threads of the host",
      [&o](const std::string& t) { o.threads = static_cast<int>(parse_whole(t, 1, largest)); });
  add_text(app, "--shader-dir", "DIR", "GLSL files here override the built-in ones", o.shader_dir);
  begin_group(app, "Measuring");
  add(app, "--repeat", "COUNT", text_of(double(o.measuring.repeat)), "Repetitions of every measurement",
      [&o](const std::string& t) { o.measuring.repeat = static_cast<int>(parse_whole(t, 1, largest_repeat)); });
  add(app, "--seconds", "SECONDS", text_of(o.measuring.seconds),
      "Time for all repetitions of a measurement together; at least one copy or product is made in each",
      [&o](const std::string& t) { o.measuring.seconds = parse_seconds(t); });
  begin_group(app, "Output");
  add_text(app, "--json", "FILE", "All of it as JSON (docs/ceilings.schema.json)", o.json);
  add_flag(app, "--force", "Overwrite a file that exists", [&o] { o.force = true; });
  begin_group(app, "Configuration");
  define_config_option(app, o.config);
}

CeilingsOptions parse_ceilings_options(const std::vector<std::string>& arguments) {
  Parsed<CeilingsOptions> parsed;
  parse_into(parsed, arguments, define_ceilings_options);
  const BackendRecord* backend = find_backend(parsed.options.backend);
  if (backend != nullptr && backend->memory == MemorySpace::host && parsed.options.device) {
    throw InputError("--device " + std::to_string(*parsed.options.device) + ": --backend " + parsed.options.backend +
                     " measures the host alone; leave one of the two out");
  }
  return parsed.options;
}

std::string ceilings_help() {
  CeilingsOptions options;
  return help_of([&](CLI::App& app) { define_ceilings_options(app, options); });
}

nlohmann::json to_json(const CeilingsOptions& o) {
  const auto number = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  const auto text = [](const std::string& value) { return value.empty() ? nlohmann::json() : nlohmann::json(value); };
  return {{"backend", o.backend},         {"device", number(o.device)},
          {"threads", number(o.threads)}, {"shader-dir", text(o.shader_dir)},
          {"repeat", o.measuring.repeat}, {"seconds", o.measuring.seconds},
          {"json", text(o.json)},         {"force", o.force}};
}

}  // namespace glinpack::app
