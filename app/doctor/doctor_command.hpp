// `glinpack doctor`, and its quick checks before a run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/doctor/checks.hpp"
#include "app/doctor/facts.hpp"
#include "app/program/command.hpp"
#include "app/program/machine.hpp"

namespace glinpack::app::doctor {

struct DoctorOptions {
  bool quick = false;             // skips network, gemm and clocks
  double network_seconds = 10;    // time limit, after which the remaining pairs are skipped
  double gemm_seconds = 0.5;      // for all repetitions of a product
  std::optional<double> burn_in;  // minutes
  std::optional<double> watchdog;
  std::string backend = "auto";  // this and the next two: as in `glinpack plu`
  std::optional<int> device;
  std::optional<int> threads;
  std::string json;  // empty: not written
  bool force = false;
  std::string config;
};

OptionTable doctor_table(DoctorOptions& options);

/// Works under any MPI's launcher. Returns the exit code, the same on every rank.
int run_doctor_command(const Invocation& invocation);

/// Collective over MPI_COMM_WORLD; takes milliseconds. Returns one line per problem on rank 0; empty on other ranks.
std::vector<std::string> notes_before_run(const MpiSession& session, const PluOptions& options, const Machine& machine);

/// One line per check, followed by its remedies, and a count by verdict at the end.
std::string findings_text(std::span<const Finding> findings);

/// The JSON document without its context: docs/doctor.schema.json describes it.
nlohmann::json findings_json(std::span<const Finding> findings, const Facts& facts);

/// One line per problem, for the head of another report.
std::vector<std::string> findings_notes(std::span<const Finding> findings);

}  // namespace glinpack::app::doctor
