// Agreement of ranks on success or failure: the root decides for all, or all ranks report their errors.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "app/input/text_file.hpp"

namespace glinpack::app {

/// Collective over MPI_COMM_WORLD. The untemplated part of run_on_root_and_broadcast().
nlohmann::json decide_on_root(const std::function<nlohmann::json()>& decide);
/// Collective over MPI_COMM_WORLD. Rank 0 calls `decide`. Every rank returns its result, which JSON can have, or throws
/// its exception: InputError, or std::runtime_error for any other exception.
template <class Decide>
auto run_on_root_and_broadcast(const Decide& decide) {
  using Result = decltype(decide());
  if constexpr (std::is_void_v<Result>) {
    decide_on_root([&] { return decide(), nlohmann::json(); });
  } else {
    return decide_on_root([&] { return nlohmann::json(decide()); }).template get<Result>();
  }
}

/// Collective over MPI_COMM_WORLD. The untemplated part of parse_alike(): rank 0 calls `parse_on_root`, and every rank
/// gets rank 0's arguments and the files that rank 0 read.
std::vector<std::string> share_arguments(const std::vector<std::string>& arguments, TextFiles& files,
                                         const std::function<void()>& parse_on_root);
/// Collective over MPI_COMM_WORLD. Returns the same parse(arguments, files) on every rank. Rank 0 parses first and
/// reads files from disk; the others parse rank 0's arguments and files. If it throws on rank 0, every rank throws the
/// same.
template <class Parse>
auto parse_alike(const std::vector<std::string>& arguments, Parse parse) {
  TextFiles files;
  std::optional<decltype(parse(arguments, files))> parsed;
  const auto of_root = share_arguments(arguments, files, [&] { parsed = parse(arguments, files); });
  if (!parsed) parsed = parse(of_root, files);
  return *std::move(parsed);
}

/// Collective over MPI_COMM_WORLD. Every rank calls `work`. If it throws on some rank, every rank throws
/// std::runtime_error with the message, host and rank of the first such rank.
void run_on_all_ranks(const std::function<void()>& work);

/// Like run_on_all_ranks(), but every rank throws InputError if one rank threw one. The message of a run with one rank
/// does not name the rank.
void prepare_on_all_ranks(const std::function<void()>& work);

/// Collective over MPI_COMM_WORLD. `error` is empty or an error that the user can correct. Every rank throws the first
/// error as InputError, with the host and rank that reported it, unless there is one rank.
void agree_on_input(const std::string& error);

/// Collective over MPI_COMM_WORLD. Gathers the documents of all ranks on rank 0, in rank order; empty on other ranks.
std::vector<nlohmann::json> gathered_on_first_rank(const nlohmann::json& mine);

/// Serialises the document; replaces bytes that are not UTF-8, as file names may hold.
std::string dumped(const nlohmann::json& document, int indent = -1);

}  // namespace glinpack::app
