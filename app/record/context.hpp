// The context of a JSON document: what a reader needs to repeat the run.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace glinpack::app {

struct ReportContext {
  std::vector<std::string> command_line;
  nlohmann::json configuration;    // every option with its value: command line, configuration file and defaults
  std::vector<std::string> notes;  // e.g. "OPENBLAS_CORETYPE=SkylakeX set: OpenBLAS had chosen Haswell"
  std::string git_commit;
  std::string version;
  std::string mpi_library;  // MPI_Get_library_version
  int world_size = 1;
  std::vector<std::string> launcher;               // its command line; empty: unknown, or none
  std::map<std::string, std::string> environment;  // variables that change what runs, and how fast
  std::vector<nlohmann::json> nodes;               // node_json() of each (app/program/program_context.hpp)

  /// Adds a note that is not empty.
  void add_note(std::string note) {
    if (!note.empty()) notes.push_back(std::move(note));
  }
};

/// "context" of a document without MPI: program, compiler, loaded libraries, command line, options, this process.
nlohmann::json program_json(const ReportContext& context);
/// The same with MPI library, number of ranks, hosts and notes.
nlohmann::json context_json(const ReportContext& context, const std::set<std::string>& hosts);

}  // namespace glinpack::app
