#include "app/results/labels.hpp"

#include <map>

namespace glinpack::app {

namespace {

/// True if the value is clear without the parameter's name.
bool is_clear_without_name(const std::string& name) {
  static const std::set<std::string> names{"backend", "precision", "variant", "settings", "mode", "of", "what", "file"};
  return names.contains(name);
}

}  // namespace

std::set<std::string> differing(const std::vector<Parameters>& all) {
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, std::size_t> counts;
  for (const Parameters& parameters : all) {
    for (const auto& [name, value] : parameters) {
      values[name].insert(value);
      ++counts[name];
    }
  }
  std::set<std::string> names;
  for (const auto& [name, seen] : values) {
    if (seen.size() > 1 || counts[name] < all.size()) names.insert(name);
  }
  return names;
}

std::string listed(const Parameters& parameters, const std::set<std::string>& names, bool wanted) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (names.contains(name) != wanted) continue;
    text += (text.empty() ? "" : ", ") + (is_clear_without_name(name) ? value : name + " " + value);
  }
  return text;
}

}  // namespace glinpack::app
