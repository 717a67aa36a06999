#include "app/record/json.hpp"

#include <algorithm>

#include "app/input/input_error.hpp"

namespace glinpack::app {

using nlohmann::json;

namespace {

// The value for a message: short and on one line.
std::string excerpt(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return in_quotes(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

}  // namespace

void JsonNode::refuse(const std::string& reason) const {
  const std::string where = place_.empty() ? "" : "at " + in_quotes(place_) + ": ";
  throw InputError(*file_ + ": " + where + reason);
}

void JsonNode::expect(const std::string& what) const { refuse(what + " is expected, not " + excerpt(*value_)); }

JsonNode JsonNode::at(std::string_view key) const {
  if (!value_->is_object()) expect("an object");
  const auto member = value_->find(key);
  if (member == value_->end()) refuse("has no " + in_quotes(key));
  return {*this, *member, std::string(key)};
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  if (!value_->is_object()) expect("an object");
  const auto member = value_->find(key);
  if (member == value_->end() || member->is_null()) return std::nullopt;
  return JsonNode(*this, *member, std::string(key));
}

std::vector<JsonNode> JsonNode::items() const {
  if (!value_->is_array()) expect("a list");
  std::vector<JsonNode> nodes;
  nodes.reserve(value_->size());
  for (const json& item : *value_) nodes.push_back(JsonNode(*this, item, std::to_string(nodes.size())));
  return nodes;
}

std::vector<std::string> JsonNode::keys() const {
  if (!value_->is_object()) expect("an object");
  std::vector<std::string> keys;
  for (const auto& [key, value] : value_->items()) keys.push_back(key);
  return keys;
}

double JsonNode::number() const {
  if (!value_->is_number()) expect("a number");
  return value_->get<double>();
}

std::int64_t JsonNode::whole(std::int64_t min, std::int64_t max) const {
  const bool fits = value_->is_number_integer() &&
                    !(value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX) &&
                    value_->get<std::int64_t>() >= min && value_->get<std::int64_t>() <= max;
  if (!fits) {
    expect("a whole number from " + std::to_string(min) + (max < INT64_MAX ? " to " + std::to_string(max) : ""));
  }
  return value_->get<std::int64_t>();
}

bool JsonNode::boolean() const {
  if (!value_->is_boolean()) expect("true or false");
  return value_->get<bool>();
}

std::string JsonNode::text() const {
  if (!value_->is_string()) expect("a text");
  return without_controls(value_->get<std::string>());
}

std::size_t JsonNode::one_of(const std::vector<std::string_view>& names) const {
  const auto found = value_->is_string() ? std::ranges::find(names, text()) : names.end();
  if (found == names.end()) expect("one of " + enumerate(std::vector<std::string>(names.begin(), names.end())));
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<std::string> JsonNode::texts() const {
  std::vector<std::string> all;
  for (const JsonNode& item : items()) all.push_back(item.text());
  return all;
}

std::optional<double> JsonNode::optional_number(std::string_view key) const {
  const std::optional<JsonNode> member = find(key);
  return member ? std::optional(member->number()) : std::nullopt;
}

std::string JsonNode::text_or(std::string_view key, std::string_view otherwise) const {
  const std::optional<JsonNode> member = find(key);
  return member ? member->text() : std::string(otherwise);
}

std::vector<std::string> JsonNode::texts_or_none(std::string_view key) const {
  const std::optional<JsonNode> member = find(key);
  return member ? member->texts() : std::vector<std::string>{};
}

}  // namespace glinpack::app
