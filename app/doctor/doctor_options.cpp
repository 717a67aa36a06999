#include "app/doctor/doctor_options.hpp"

#include "app/input/values.hpp"
#include "app/options/option_text.hpp"

namespace glinpack::app::doctor {

namespace {

const Footer doctor_footer{
    .examples =
        "glinpack doctor\n"
        "mpirun -np 4 glinpack doctor --json doctor.json\n"
        "srun --nodes 4 --ntasks-per-node 4 --gpus-per-task 1 glinpack doctor --network-seconds 60\n"
        "glinpack doctor --quick",
    .notes =
        {"Start it as a run of `glinpack plu`. It checks every rank and node and prints a line for each check: ok, "
         "warn (slower, or less, than the machine could), fail (does not run, or not as requested) or n/a (nothing "
         "to check), with the evidence, and below it the remedy as a command.",
         "Times are in us (10^-6 s), rates in GB/s (10^9 bytes a second) and GFLOPS (10^9 operations a second), "
         "memory in MiB (2^20 bytes) and GiB (2^30 bytes)."},
    .exit_codes = {
        {0, "no check failed"}, {1, "a check failed"}, {2, "unusable input"}, {3, "an error while checking"}}};

}  // namespace

OptionTable doctor_table(DoctorOptions& o) {
  constexpr int largest = 4096;
  const std::vector<Field> checks{
      {"quick", flag(o.quick),
       "Run only the checks that take milliseconds: no network, GEMM or clocks. plu runs these by itself"},
      {"network-seconds", real(o.network_seconds, "SECONDS", parse_seconds),
       "End the test of the links between all pairs of ranks after this time, even if pairs are left", "10"},
      {"gemm-seconds", real(o.gemm_seconds, "SECONDS", parse_seconds),
       "Time for the repetitions of a matrix product on the host and on the device of each rank"},
  };
  const std::vector<Field> machine{
      {"backend", name_value(o.backend, backend_choices()),
       "Check for this backend. openblas and reference need no device; gl-compute and gl-raster accept software "
       "OpenGL"},
      {"device", whole(o.device, 0, largest, "INDEX"), "EGL device of every process, an index of `glinpack devices`",
       "by local rank"},
      {"threads", whole(o.threads, 1, largest), "Host threads of each process", "cores / ranks of the node"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "Write findings and facts of all ranks as JSON (docs/doctor.schema.json)"},
      {"force", flag(o.force), "Overwrite an existing file"},
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

}  // namespace glinpack::app::doctor
