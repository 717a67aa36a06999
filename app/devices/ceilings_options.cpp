#include "app/devices/ceilings_options.hpp"

#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

namespace {

const Footer ceilings_footer{
    .examples =
        "glinpack ceilings\n"
        "glinpack ceilings --device 1 --json ceilings.json\n"
        "glinpack ceilings --backend openblas --threads 8 --repeat 9 --seconds 1\n"
        "LP_NUM_THREADS=2 glinpack ceilings --backend gl-compute",
    .notes =
        {"Rates are in GB/s (10^9 bytes a second) and GFLOPS (10^9 operations a second, two for a multiply-add), "
         "times in us (10^-6 s): median, minimum and maximum of the repetitions. Copies within a memory count bytes "
         "read and bytes written. Results of copies and products are checked. The defaults take a few seconds."},
    .exit_codes = {{0, "measured"}, {2, "unusable input"}, {3, "an error while measuring"}}};

}  // namespace

OptionTable ceilings_table(CeilingsOptions& o) {
  constexpr int largest = 4096, largest_repeat = 1000;
  const std::vector<Field> machine{
      {"backend", name_value(o.backend, measured_backend_choices()),
       "What to measure. openblas: the host; gl-compute: the host and an OpenGL device; auto: the device if it is "
       "hardware or named by --device"},
      {"device", whole(o.device, 0, largest, "INDEX"), "EGL device, an index of `glinpack devices`",
       "the first hardware device"},
      {"threads", whole(o.threads, 1, largest), "Host threads", "cores"},
      {"shader-dir", text(o.shader_dir, "DIR"), "Folder of GLSL files that override the built-in shaders"},
  };
  const std::vector<Field> measuring{
      {"repeat", whole(o.measuring.repeat, 1, largest_repeat), "Repetitions of every measurement"},
      {"seconds", real(o.measuring.seconds, "SECONDS", parse_seconds),
       "Time for all repetitions of a measurement; each makes at least one copy or product"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "Write the results as JSON (docs/ceilings.schema.json)"},
      {"force", flag(o.force), "Overwrite an existing file"},
      log_level_field(),
  };
  return {
      .command = "ceilings",
      .description =
          "Measures peak rates: the device's memory, its multiply-adds and copies to and from it; the host's GEMM and "
          "memory.",
      .footer = ceilings_footer,
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
