// A value of a JSON file with its location, for error messages.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace glinpack::app {

/// A view: the document and the file name must outlive it. Throws InputError if a requested value is missing or has
/// another type: "FILE: at /runs/0/n: a whole number is expected, not "x"".
class JsonNode {
 public:
  JsonNode(const std::string& file, const nlohmann::json& document) : file_(&file), value_(&document) {}

  /// A required member.
  JsonNode at(std::string_view key) const;
  /// A member; empty if it is missing or null.
  std::optional<JsonNode> find(std::string_view key) const;
  /// The elements of an array.
  std::vector<JsonNode> items() const;
  /// The keys of an object.
  std::vector<std::string> keys() const;

  double number() const;
  std::int64_t whole(std::int64_t least = 0) const;
  bool boolean() const;
  std::string text() const;
  /// An array of strings.
  std::vector<std::string> texts() const;
  /// A string as it is; other values as JSON.
  std::string shown() const;

  /// Members by key, as above; optional ones are empty if missing or null.
  double number(std::string_view key) const { return at(key).number(); }
  std::int64_t whole(std::string_view key, std::int64_t least = 0) const { return at(key).whole(least); }
  bool boolean(std::string_view key) const { return at(key).boolean(); }
  std::string text(std::string_view key) const { return at(key).text(); }
  std::optional<double> optional_number(std::string_view key) const;
  std::string text_or(std::string_view key, std::string_view otherwise) const;
  std::vector<std::string> texts_or_none(std::string_view key) const;

  bool is_object() const { return value_->is_object(); }
  const nlohmann::json& value() const { return *value_; }
  const std::string& file() const { return *file_; }

  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  JsonNode(const JsonNode& parent, const nlohmann::json& value, const std::string& step)
      : file_(parent.file_), value_(&value), place_(parent.place_ + "/" + step) {}
  [[noreturn]] void expect(const char* what) const;

  const std::string* file_;
  const nlohmann::json* value_;
  std::string place_;  // JSON pointer (RFC 6901)
};

}  // namespace glinpack::app
