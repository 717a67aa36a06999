// Files that glinpack's --json and --trace wrote, read back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/results/json_node.hpp"
#include "app/results/trace.hpp"

namespace glinpack::app {

/// Which command wrote it.
enum class ResultKind { plu, network, mode, ceilings, tune, trace };
/// "plu", "network", "standalone mode", ...
std::string name_of(ResultKind kind);

/// What documents say of their making.
struct FileContext {
  std::string version;
  std::string git_commit;
  std::string mpi_library;  // empty: the command knows no MPI
  std::vector<std::string> hosts;
  std::vector<std::string> blas;  // libraries and kernels
  std::vector<std::string> command_line;
  std::vector<std::string> notes;
  std::string incomplete;  // what is missing of a sweep that was ended before its time; empty: nothing
};

struct ResultFile {
  std::string path;
  std::string name;  // short, and no other file's: see name_apart()
  ResultKind kind = ResultKind::plu;
  nlohmann::json document;  // of a trace: without its events
  FileContext context;      // empty of a trace
  Trace trace;              // of a trace alone

  JsonNode root() const { return {path, document}; }
};

/// Reads and looks what it is. Throws InputError naming the file, and the place in it: not there, not JSON, not
/// glinpack's, of a later format.
ResultFile read_result_file(const std::string& path);

/// Gives each file the shortest end of its path that tells it from the others, without ".json".
void name_apart(std::vector<ResultFile>& files);

}  // namespace glinpack::app
