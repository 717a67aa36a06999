#include "app/doctor/doctor_options.hpp"

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"

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

OptionTable doctor_table(DoctorOptions& o) {
  constexpr int largest = 4096;
  const std::vector<Field> checks{
      {"quick", flag(o.quick),
       "Only what takes milliseconds: no network, no gemm, no clocks; plu does as much by itself"},
      {"network-seconds", real(o.network_seconds, "SECONDS", parse_seconds),
       "Trying the links between all pairs of ranks ends then, even if pairs are left", "10"},
      {"gemm-seconds", real(o.gemm_seconds, "SECONDS", parse_seconds),
       "For the repetitions of a matrix product, on the host and on each rank's device"},
  };
  FieldValue backend = name_value(o.backend, backend_choices());
  backend.type = "NAME";
  const std::vector<Field> machine{
      {"backend", backend,
       enumerate(backend_choices()) + ": the processor's are not asked for devices; gl-... take software OpenGL, too"},
      {"device", whole(o.device, 0, largest, "INDEX"), "EGL device for every process, as `glinpack devices` counts",
       "by local rank"},
      {"threads", whole(o.threads, 1, largest), "Threads of every process for arithmetic on the host",
       "cores / ranks of the node"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "Findings and facts of all ranks as JSON (docs/doctor.schema.json)"},
      {"force", flag(o.force), "Overwrite a file that exists"},
      log_level_field(),
  };
  return {.command = "doctor",
          .description =
              "Looks for what keeps glinpack from running, or from running well: launcher, cores, devices, drivers, "
              "memory,\nnetwork, slow nodes.",
          .footer = doctor_examples,
          .groups = {{"Checks", checks},
                     {"Machine, as plu would be told", machine},
                     {"Output", output},
                     {"Configuration", {config_field(o.config)}}}};
}

}  // namespace glinpack::app::doctor
