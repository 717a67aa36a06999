// Reads files that glinpack's --json wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/record/json.hpp"

namespace glinpack::app {

/// The command that wrote a file.
enum class ResultKind { plu, network, mode, peaks, tune };
inline std::string name_of(ResultKind kind) {
  return std::string(text_by_value(kind, "plu", "network", "standalone mode", "peaks", "tune"));
}

/// Context information in a document.
struct FileContext {
  std::string version;
  std::string git_commit;
  std::string incomplete;  // what is missing in an interrupted sweep; empty: nothing
};

struct ResultFile {
  std::string path;
  std::string name;  // short and unique: see set_unique_names()
  ResultKind kind = ResultKind::plu;
  nlohmann::json document;
  FileContext context;

  JsonNode root() const { return {path, document}; }
};

/// Reads a file and detects its kind. Throws InputError with the file and the location: no such file, not JSON, not
/// from glinpack, a later format, or not of the `expected` command.
ResultFile read_result_file(const std::string& path, std::optional<ResultKind> expected = {});

/// Names each file by the shortest end of its path that is unique, without ".json".
void set_unique_names(std::vector<ResultFile>& files);

/// The name of a peak in tables; `key`: its name in JSON.
std::string peak_name(const std::string& key);

}  // namespace glinpack::app
