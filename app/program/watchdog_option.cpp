#include "app/program/watchdog_option.hpp"

#include <nlohmann/json.hpp>

#include "app/input/values.hpp"
#include "mpi/communication.hpp"

namespace glinpack::app {

namespace {

std::optional<double> parse_limit(const std::string& text) {
  if (text == "off") return std::nullopt;
  constexpr double most = 1e6;
  double seconds = 0;
  try {
    seconds = parse_real(text);
  } catch (const InputError&) {
    throw InputError(in_quotes(text) + " is neither off nor a number of seconds; one such as 600 is expected");
  }
  if (seconds >= Watchdog::least_limit && seconds <= most) return seconds;
  throw InputError(in_quotes(text) +
                   " is out of range; off, or seconds from 1 to 1000000 are expected: several times the longest pass");
}

}  // namespace

Field watchdog_field(std::optional<double>& seconds) {
  return {"watchdog",
          {.type = "SECONDS|off",
           .read = [&seconds](const Texts& texts) { seconds = parse_limit(texts.front()); },
           .json = [&seconds] { return seconds ? nlohmann::json(*seconds) : nlohmann::json(); }},
          "If a process makes no progress for this long, say what each process was doing and end the job. At least 1; "
          "use several times the longest pass (docs/diagnosing.md)",
          "off"};
}

std::unique_ptr<Watchdog> start_watchdog(const std::optional<double>& seconds) {
  try {
    return Watchdog::start(seconds.value_or(0));
  } catch (const AgreedError& error) {
    throw InputError(std::string("--watchdog: ") + error.what());
  }
}

}  // namespace glinpack::app
