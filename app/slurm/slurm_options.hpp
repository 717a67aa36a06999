// The options of `glinpack slurm`.
#pragma once

#include <optional>
#include <string>

#include "app/options/fields.hpp"

namespace glinpack::app {

struct SlurmOptions {
  int nodes = 1;
  int gpus_per_node = 0;                // 0: none are asked for
  std::string gpu_type;                 // Slurm's name for them; empty: any
  std::optional<int> ranks_per_node;    // without: one per GPU, or one
  std::optional<int> cores_per_rank;    // without: the node's divided by its ranks
  std::string time;                     // in a form of Slurm's; empty: the partition's limit
  std::string partition, account, qos;  // empty: the cluster's defaults
  std::string job_name = "glinpack";
  bool uses_hydra = false;  // else srun
  int signal_lead = 120;    // seconds before the time limit; 0: no signal
  std::string program;      // empty: this one
  std::string output;       // empty: stdout
  bool force = false;
  std::string config;
  Texts plu_arguments;  // those after --

  /// As Slurm has it: "4", "a100:4".
  std::string gpus() const { return (gpu_type.empty() ? "" : gpu_type + ":") + std::to_string(gpus_per_node); }
  int ranks() const { return nodes * ranks_per_node.value_or(gpus_per_node > 0 ? gpus_per_node : 1); }
};

OptionTable slurm_table(SlurmOptions& options);

/// Command line over file over default. `arguments`: those after `glinpack slurm`. Those after -- are checked as
/// `glinpack plu` does with so many ranks, with its input files. Throws InputError.
SlurmOptions parse_slurm_options(const Texts& arguments);

/// Seconds of a time in one of Slurm's forms: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
/// days-hours:minutes, days-hours:minutes:seconds. Throws InputError for others, and for none at all.
long seconds_of_slurm_time(const std::string& text);

}  // namespace glinpack::app
