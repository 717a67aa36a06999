#include "app/program/agreement.hpp"

#include "app/input/input_error.hpp"
#include "mpi/communication.hpp"

namespace glinpack::app {

nlohmann::json decide_on_root(const std::function<nlohmann::json()>& decide) {
  nlohmann::json outcome;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    try {
      outcome["decision"] = decide();
    } catch (const InputError& error) {
      outcome["input_error"] = error.what();
    } catch (const std::exception& error) {
      outcome["error"] = error.what();
    }
  }
  std::string bytes = dumped(outcome);
  world().broadcast(0, bytes);
  outcome = nlohmann::json::parse(bytes);
  if (outcome.contains("input_error")) throw InputError(outcome["input_error"].get<std::string>());
  if (outcome.contains("error")) throw AgreedError(outcome["error"].get<std::string>());
  return outcome["decision"];
}

std::vector<std::string> share_arguments(const std::vector<std::string>& arguments, TextFiles& files,
                                         const std::function<void()>& parse_on_root) {
  const nlohmann::json shared = decide_on_root([&] {
    parse_on_root();
    return nlohmann::json{{"arguments", arguments}, {"files", files.contents()}};
  });
  if (rank_in(MPI_COMM_WORLD) != 0) files = TextFiles(shared.at("files").get<std::map<std::string, std::string>>());
  return shared.at("arguments").get<std::vector<std::string>>();
}

void run_on_all_ranks(const std::function<void()>& work) {
  bool names_its_rank = false;
  const std::string error = error_of([&] {
    try {
      work();
    } catch (const AgreedError&) {
      names_its_rank = true;
      throw;
    }
  });
  agree_or_throw(world(), error, names_its_rank);
}

void prepare_on_all_ranks(const std::function<void()>& work) {
  std::string input_error;
  const std::string error = error_of([&] {
    try {
      work();
    } catch (const InputError& failure) {
      input_error = failure.what();
    }
  });
  agree_or_throw(world(), error, size_of(MPI_COMM_WORLD) == 1);
  agree_on_input(input_error);
}

void agree_on_input(const std::string& error) {
  try {
    agree_or_throw(world(), error, size_of(MPI_COMM_WORLD) == 1);
  } catch (const AgreedError& failure) {
    throw InputError(failure.what());
  }
}

std::vector<nlohmann::json> gathered_on_first_rank(const nlohmann::json& mine) {
  std::vector<nlohmann::json> all;
  for (const std::string& bytes : world().gather(0, dumped(mine))) {
    all.push_back(nlohmann::json::parse(bytes));
  }
  return all;
}

std::string dumped(const nlohmann::json& document, int indent) {
  return document.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace glinpack::app
