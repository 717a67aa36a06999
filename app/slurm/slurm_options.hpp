// The options of `glinpack slurm`.
#pragma once

#include <optional>
#include <string>

#include "app/options/fields.hpp"

namespace glinpack::app {

struct SlurmOptions {
  int nodes = 1;
  int gpus_per_node = 0;                // 0: not requested
  std::string gpu_type;                 // Slurm's GPU type; empty: any
  std::optional<int> ranks_per_node;    // unset: one per GPU, or one
  std::optional<int> cores_per_rank;    // unset: the node's cores divided by its ranks
  std::string time;                     // in one of Slurm's forms; empty: the partition's limit
  std::string partition, account, qos;  // empty: the cluster's defaults
  std::string job_name = "glinpack";
  bool uses_hydra = false;  // else uses srun
  int signal_lead = 120;    // seconds before the time limit; 0: no signal
  std::string program;      // empty: this program
  std::string output;       // empty: stdout
  bool force = false;
  std::string config;
  Texts plu_arguments;  // those after --

  /// Slurm's form: "4", "a100:4".
  std::string gpus() const { return (gpu_type.empty() ? "" : gpu_type + ":") + std::to_string(gpus_per_node); }
  int ranks() const { return nodes * ranks_per_node.value_or(gpus_per_node > 0 ? gpus_per_node : 1); }
};

OptionTable slurm_table(SlurmOptions& options);

/// Precedence: command line, file, default. `arguments` follow `glinpack slurm`. The arguments after -- are checked
/// like those of `glinpack plu` with the same number of ranks, including its input files. Throws InputError.
SlurmOptions parse_slurm_options(const Texts& arguments);

/// Parses a time in one of Slurm's forms: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
/// days-hours:minutes, days-hours:minutes:seconds. Returns seconds. Throws InputError for other forms and for zero.
long seconds_of_slurm_time(const std::string& text);

}  // namespace glinpack::app
