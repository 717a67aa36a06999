// How ranks go on together: one decides for all, or all say whether they can.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace glinpack::app {

/// Collective over MPI_COMM_WORLD. Rank 0 calls `decide`; every rank returns what it returned, or throws what it threw:
/// InputError, or std::runtime_error for anything else.
nlohmann::json decided_by_first_rank(const std::function<nlohmann::json()>& decide);

/// Collective over MPI_COMM_WORLD. Every rank calls `work`; if it throws on any, the first such rank's message with its
/// host and rank is thrown on every rank as std::runtime_error.
void together(const std::function<void()>& work);

/// As together(), but where a rank threw InputError, so does every rank. A message of a single rank does not name it.
void prepare_together(const std::function<void()>& work);

/// Collective over MPI_COMM_WORLD. `error` is empty, or says what the user can mend: the first such rank's, with its
/// host and rank, is thrown on every rank as InputError.
void agree_on_input(const std::string& error);

/// Collective over MPI_COMM_WORLD: what every rank hands in, in the order of ranks, on rank 0; empty elsewhere.
std::vector<nlohmann::json> gathered_on_first_rank(const nlohmann::json& mine);

/// As text; bytes that are not UTF-8 (in file names) are replaced.
std::string dumped(const nlohmann::json& document, int indent = -1);

}  // namespace glinpack::app
