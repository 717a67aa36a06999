#include "app/program/mpi_command.hpp"

#include <iostream>

#include "app/input/values.hpp"
#include "app/program/agreement.hpp"
#include "app/program/program_context.hpp"
#include "mpi/communication.hpp"
#include "watch/watchdog.hpp"

namespace glinpack::app {

namespace {

constexpr int exit_unusable_input = 2;
constexpr int exit_error = 3;

// Every rank has the same error; one rank prints it.
void print_error(const MpiSession& session, const std::exception& error) {
  if (session.rank() == 0) std::cerr << "glinpack: " << without_controls(error.what()) << std::endl;
}

// Collective. Null if the limit is empty.
std::unique_ptr<Watchdog> start_watchdog(const std::optional<double>& seconds) {
  try {
    return Watchdog::start(seconds.value_or(0));
  } catch (const AgreedError& error) {
    throw InputError(std::string("--watchdog: ") + error.what());
  }
}

}  // namespace

int run_under_mpi(Invocation invocation, std::optional<double> (*watchdog_limit)(const Texts&),
                  const MpiCommand& command, ForeignLauncher foreign) {
  ReportContext context = process_context(invocation.command_line());
  const std::optional<double> limit = watchdog_limit(invocation.arguments);
  MpiSession session(invocation.argc, invocation.argv, foreign);
  context.mpi_library = MpiSession::library_version();
  context.world_size = session.size();
  int exit_code = exit_error;
  try {
    const std::unique_ptr<Watchdog> watchdog = start_watchdog(limit);
    for (nlohmann::json& node : gathered_on_first_rank(session.local_rank() == 0 ? node_json() : nlohmann::json())) {
      if (!node.is_null()) context.nodes.push_back(std::move(node));
    }
    exit_code = command(session, invocation.arguments, std::move(context));
  } catch (const InputError& error) {
    print_error(session, error);
    exit_code = exit_unusable_input;
  } catch (const AgreedError& error) {
    print_error(session, error);
  } catch (const std::exception& error) {
    abort_job(error.what());
  }
  return session.finish(exit_code);
}

}  // namespace glinpack::app
