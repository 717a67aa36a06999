#include "app/options/option_text.hpp"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "app/input/values.hpp"
#include "backend/registry.hpp"
#include "watch/watchdog.hpp"

namespace glinpack::app {

namespace {

std::optional<double> parse_watchdog_limit(const std::string& text) {
  if (text == "off") return std::nullopt;
  constexpr double max = 1e6;
  const std::optional<double> seconds = real_of(text);
  if (!seconds)
    throw InputError(in_quotes(text) + " is neither off nor a number of seconds; one such as 600 is expected");
  if (*seconds >= Watchdog::min_limit && *seconds <= max) return seconds;
  throw InputError(in_quotes(text) +
                   " is out of range; off, or seconds from 1 to 1000000 are expected: several times the longest pass");
}

}  // namespace

Texts backend_choices() {
  Texts choices = backend_names();
  choices.push_back("auto");
  return choices;
}

Texts backend_choices(const std::function<bool(const BackendRecord&)>& claim) {
  Texts choices;
  for (const BackendRecord* record : registered_backends) {
    if (claim(*record)) choices.emplace_back(record->name);
  }
  return choices;
}

FieldValue name_value(std::string& option, Texts names) {
  std::string type = one_of(names);
  return word(
      std::move(type), [&option, names = std::move(names)](const std::string& t) { option = names[choose(t, names)]; },
      [&option] { return option; });
}

BroadcastKind parse_broadcast(const std::string& text) {
  if (const std::optional<BroadcastKind> kind = broadcast_from_name(text)) return *kind;
  return all_broadcasts[choose(text, names_of(all_broadcasts), "one of HPL's digits 0 ... 5")];
}

FieldValue broadcast_choice(BroadcastKind& option) {
  return word(
      one_of(names_of(all_broadcasts)), [&option](const std::string& t) { option = parse_broadcast(t); },
      [&option] { return std::string(name_of(option)); });
}

FieldValue row_swap_choice(RowSwapKind& option) {
  const auto parse = [](const std::string& t) {
    if (const std::optional<RowSwapKind> kind = row_swap_from_name(t)) return *kind;
    return all_row_swaps[choose(t, names_of(all_row_swaps), "one of HPL's digits 0 ... 2")];
  };
  return word(
      one_of(names_of(all_row_swaps)), [&option, parse](const std::string& t) { option = parse(t); },
      [&option] { return std::string(name_of(option)); });
}

FieldValue single_or_double(Precision& option, const std::string& why_not_mixed) {
  static constexpr std::array precisions{Precision::single, Precision::double_};
  return word(
      one_of(all_names_of(precisions)),
      [&option, why_not_mixed](const std::string& t) {
        if (t == "mixed" && !why_not_mixed.empty()) throw InputError(why_not_mixed);
        option = kind_named(t, precisions);
      },
      [&option] { return std::string(name_of(option)); });
}

Field watchdog_field(std::optional<double>& seconds) {
  return {"watchdog",
          {.type = "SECONDS|off",
           .read = [&seconds](const Texts& texts) { seconds = parse_watchdog_limit(texts.front()); },
           .json = [&seconds] { return seconds ? nlohmann::json(*seconds) : nlohmann::json(); }},
          "If a process makes no progress for this long, say what each process was doing and end the job. At least 1; "
          "use several times the longest pass (docs/diagnosing.md)",
          "off"};
}

std::string text_of(const GridShape& grid) { return std::to_string(grid.rows) + "x" + std::to_string(grid.columns); }

std::string text_of(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end);
}

}  // namespace glinpack::app
