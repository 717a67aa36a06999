// Agreement of ranks on success or failure: the root decides for all, or all ranks report their errors.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace glinpack::app {

/// Collective over MPI_COMM_WORLD. Rank 0 calls `decide`; every rank returns what it returned, or throws what it threw:
/// InputError, or std::runtime_error for anything else.
nlohmann::json run_on_root_and_broadcast(const std::function<nlohmann::json()>& decide);

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
