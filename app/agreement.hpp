// Agreement of ranks on success or failure: the root decides for all, or all ranks report their errors.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/input/text_file.hpp"

namespace glinpack::app {

/// Collective over MPI_COMM_WORLD. Rank 0 calls `decide`; every rank returns what it returned, or throws what it threw:
/// InputError, or std::runtime_error for anything else.
nlohmann::json run_on_root_and_broadcast(const std::function<nlohmann::json()>& decide);

/// Collective over MPI_COMM_WORLD. The part of parse_alike() that does not depend on the result: rank 0 calls
/// `parse_on_root`; every rank gets rank 0's arguments, and the files that rank 0 has read.
std::vector<std::string> share_arguments(const std::vector<std::string>& arguments, TextFiles& files,
                                         const std::function<void()>& parse_on_root);
/// Collective over MPI_COMM_WORLD. Returns parse(arguments, files) on every rank, alike: rank 0 parses first, and reads
/// files from disk; the others parse rank 0's arguments and files. If it throws on rank 0, every rank throws the same.
template <class Parse>
auto parse_alike(const std::vector<std::string>& arguments, Parse parse) {
  TextFiles files;
  std::optional<decltype(parse(arguments, files))> parsed;
  const auto of_root = share_arguments(arguments, files, [&] { parsed = parse(arguments, files); });
  if (!parsed) parsed = parse(of_root, files);
  return *std::move(parsed);
}

/// Collective over MPI_COMM_WORLD. Every rank calls `work`; if it throws on any, the first such rank's message with its
/// host and rank is thrown on every rank as std::runtime_error.
void run_on_all_ranks(const std::function<void()>& work);

/// As run_on_all_ranks(), but every rank throws InputError if a rank threw one. The message of a run with one rank does
/// not name the rank.
void prepare_on_all_ranks(const std::function<void()>& work);

/// Collective over MPI_COMM_WORLD. `error`: empty, or an error that the user can correct. Every rank throws the first
/// such rank's error, with its host and rank, as InputError.
void agree_on_input(const std::string& error);

/// Collective over MPI_COMM_WORLD: the documents of all ranks, in the order of ranks, on rank 0; empty elsewhere.
std::vector<nlohmann::json> gathered_on_first_rank(const nlohmann::json& mine);

/// As text; bytes that are not UTF-8 (in file names) are replaced.
std::string dumped(const nlohmann::json& document, int indent = -1);

}  // namespace glinpack::app
