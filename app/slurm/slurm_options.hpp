// Everything that `glinpack slurm` can be told, by its command line or by a TOML file with the same names as keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/option_set.hpp"

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
  std::vector<std::string> plu_arguments;  // what follows --

  int ranks() const { return nodes * ranks_per_node.value_or(gpus_per_node > 0 ? gpus_per_node : 1); }
};

/// Adds the options to an empty `app`. `options` must outlive it.
void define_slurm_options(CLI::App& app, SlurmOptions& options);

/// Command line over file over default. `arguments`: what follows `glinpack slurm`. What follows -- is checked as
/// `glinpack plu` does with so many ranks, its input files included. Throws InputError.
SlurmOptions parse_slurm_options(const std::vector<std::string>& arguments);

/// What `glinpack slurm --help` prints.
std::string slurm_help();

/// Seconds of a time in one of Slurm's forms: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
/// days-hours:minutes, days-hours:minutes:seconds. Throws InputError for others, and for none at all.
long seconds_of_slurm_time(const std::string& text);

}  // namespace glinpack::app
