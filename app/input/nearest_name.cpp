#include "app/input/nearest_name.hpp"

#include <algorithm>
#include <cctype>

namespace glinpack::app {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // three rows of the distance table: for the prefixes of a that are two, one and no characters shorter
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

std::optional<std::string> nearest_name(std::string_view given, std::span<const std::string> names) {
  const auto lower = [](std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
  };
  const std::string wanted = lower(given);
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(wanted, lower(name));
    if (!best || distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  // a name that differs in more than a third of its letters is not a misspelling
  if (best && best_distance > std::max<std::size_t>(1, std::max(best->size(), given.size()) / 3)) return std::nullopt;
  return best;
}

std::string did_you_mean(std::string_view given, std::span<const std::string> names) {
  const std::optional<std::string> nearest = nearest_name(given, names);
  return nearest ? " (did you mean " + *nearest + "?)" : "";
}

std::string enumerate(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::string one_of(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "|") + name;
  return text;
}

std::string some_of(std::span<const std::string> names, const std::vector<std::string>& others) {
  return one_of(names) + "|" + one_of(others) + ",...";
}

}  // namespace glinpack::app
