#include "app/ceilings_options.hpp"

#include "app/input/values.hpp"
#include "app/option_text.hpp"
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

OptionTable ceilings_table(CeilingsOptions& o) {
  constexpr int largest = 4096, largest_repeat = 1000;
  const std::vector<Field> machine{
      {"backend", name_value(o.backend, measured_backend_choices()),
       "openblas: the host alone; gl-compute: an OpenGL device, too; auto: the device where it is hardware or named"},
      {"device", whole(o.device, 0, largest, "INDEX"), "EGL device, as `glinpack devices` counts",
       "the first that is hardware"},
      {"threads", whole(o.threads, 1, largest), "Threads of the host", "cores"},
      {"shader-dir", text(o.shader_dir, "DIR"), "GLSL files here override the built-in ones"},
  };
  const std::vector<Field> measuring{
      {"repeat", whole(o.measuring.repeat, 1, largest_repeat), "Repetitions of every measurement"},
      {"seconds", real(o.measuring.seconds, "SECONDS", parse_seconds),
       "Time for all repetitions of a measurement together; at least one copy or product is made in each"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "All of it as JSON (docs/ceilings.schema.json)"},
      {"force", flag(o.force), "Overwrite a file that exists"},
      log_level_field(),
  };
  return {.command = "ceilings",
          .description =
              "Measures what a device and the host can do at most: the device's memory, its multiply-adds, the way to "
              "it and\nback; the host's gemm and memory.",
          .footer = ceilings_examples,
          .groups = {{"Machine", machine},
                     {"Measuring", measuring},
                     {"Output", output},
                     {"Configuration", {config_field(o.config)}}}};
}

CeilingsOptions parse_ceilings_options(const Texts& arguments) {
  const CeilingsOptions options = parse(arguments, ceilings_table).options;
  const BackendRecord* backend = find_backend(options.backend);
  if (backend != nullptr && backend->memory == MemorySpace::host && options.device) {
    throw InputError("--device " + std::to_string(*options.device) + ": --backend " + options.backend +
                     " measures the host alone; leave one of the two out");
  }
  return options;
}

}  // namespace glinpack::app
