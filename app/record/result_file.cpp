#include "app/record/result_file.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/input/input_error.hpp"
#include "app/input/text_file.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

using nlohmann::json;

namespace {

constexpr std::int64_t largest_file = std::int64_t{1} << 30;
constexpr std::int64_t format_read = 1;
constexpr int deepest_value = 100;  // bounds the recursion of code that writes the document

// Extracts the location from JSON's message: "[json.exception.parse_error.101] parse error at line 2, column 3: ..."
std::string cause_of(const json::exception& error) {
  const std::string text = error.what();
  const std::size_t end_of_name = text.find("] ");
  const std::string cause = without_controls(end_of_name == std::string::npos ? text : text.substr(end_of_name + 2));
  constexpr std::size_t longest = 200;
  return cause.size() > longest ? cause.substr(0, longest) + "..." : cause;
}

json parse(const std::string& path, const std::string& text, const std::string& wanted) {
  const auto check_depth = [&](int depth, json::parse_event_t, const json&) {
    if (depth > deepest_value) throw InputError(path + ": has values more than 100 levels deep; " + wanted);
    return true;
  };
  try {
    return json::parse(text, check_depth);
  } catch (const json::exception& error) {
    throw InputError(path + ": is not JSON: " + cause_of(error) + "; " + wanted);
  }
}

ResultKind kind_of(const JsonNode& root, const std::string& wanted) {
  if (!root.is_object()) root.refuse("is not a result of glinpack's: " + wanted);
  const auto has = [&](const char* key) { return root.value().contains(key); };
  if (has("traceEvents")) root.refuse("is a trace; open it in ui.perfetto.dev");
  if (has("context") && has("format")) {
    if (has("mode") && has("results")) return ResultKind::mode;
    if (has("waits_nap")) return ResultKind::network;
    if (has("runs")) return ResultKind::plu;
    if (has("tunings")) return ResultKind::tune;
    if (has("host") && has("device")) return ResultKind::peaks;
  }
  root.refuse("is not a result of glinpack's: " + wanted);
}

/// Throws InputError if what the page shows of the context is not text.
void check_context(const JsonNode& root) {
  const JsonNode context = root.at("context");
  context.text_or("mpi_library", "");
  for (const char* key : {"hosts", "blas_library", "blas_kernels", "command_line", "notes"}) context.texts_or_none(key);
  root.texts_or_none("notes");
  if (const std::optional<JsonNode> host = root.find("host")) {
    host->text("name");
    for (const char* key : {"blas", "kernels"}) host->text_or(key, "");
  }
}

FileContext context_of(const JsonNode& root) {
  check_context(root);
  const JsonNode node = root.at("context");
  FileContext context{.version = node.text("version"), .git_commit = node.text_or("git_commit", ""), .incomplete = {}};
  if (const std::optional<JsonNode> incomplete = root.find("incomplete")) {
    context.incomplete = "INCOMPLETE: " + std::to_string(incomplete->whole("runs_finished")) + " of " +
                         std::to_string(incomplete->whole("runs_planned")) + " runs";
    if (const std::optional<JsonNode> links = incomplete->find("links_left"); links && links->boolean()) {
      context.incomplete += ", links left";
    }
  }
  return context;
}

/// The parts of a path, without ".json".
std::vector<std::filesystem::path> parts_of(const std::string& path) {
  std::filesystem::path whole = std::filesystem::path(path).lexically_normal();
  if (whole.extension() == ".json") whole.replace_extension();
  return std::vector<std::filesystem::path>(whole.begin(), whole.end());
}

std::string last_parts(const std::string& path, std::size_t count) {
  const std::vector<std::filesystem::path> parts = parts_of(path);
  std::filesystem::path name;
  for (std::size_t i = parts.size() - std::min(count, parts.size()); i < parts.size(); ++i) name /= parts[i];
  return name;
}

}  // namespace

ResultFile read_result_file(const std::string& path, std::optional<ResultKind> expected) {
  ResultFile file;
  file.path = file.name = path;
  const std::string wanted =
      expected ? "what `glinpack " + name_of(*expected) + " --json` writes is expected"
               : "what glinpack writes with --json (plu, network, the standalone modes, peaks, tune) is expected";
  file.document = parse(path, read_file(path, largest_file), wanted);
  const JsonNode root = file.root();
  file.kind = kind_of(root, wanted);
  if (expected && file.kind != *expected) {
    root.refuse("is a result of " + name_of(file.kind) + "; " + wanted);
  }
  const std::int64_t format = root.whole("format");
  if (format != format_read) {
    root.refuse("is of format " + std::to_string(format) + "; this glinpack reads format " +
                std::to_string(format_read) + ": use the one that wrote it, or a later one");
  }
  file.context = context_of(root);
  return file;
}

void set_unique_names(std::vector<ResultFile>& files) {
  std::size_t longest = 0;
  for (const ResultFile& file : files) longest = std::max(longest, parts_of(file.path).size());
  for (std::size_t count = 1; count <= longest; ++count) {
    std::set<std::string> names;
    for (ResultFile& file : files) names.insert(file.name = last_parts(file.path, count));
    if (names.size() == files.size()) return;
  }
}

std::string peak_name(const std::string& key) {
  static const std::map<std::string, std::string> names{
      {"copy", "copy, read + written"}, {"fma_single", "fma, single"},   {"fma_double", "fma, double"},
      {"read_back", "read-back"},       {"gemm_single", "gemm, single"}, {"gemm_double", "gemm, double"}};
  const auto name = names.find(key);
  return name == names.end() ? key : name->second;
}

}  // namespace glinpack::app
