// JSON documents from types, and back. One function per type, describe(json, value), names its keys; JsonWriter and
// JsonReader call it. A reader's errors name the file and the location.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/input/values.hpp"
#include "lu/parameters.hpp"
#include "matrix/grid.hpp"
#include "matrix/matrix_formulas.hpp"
#include "sensors/sensor.hpp"
#include "solve/residual.hpp"

namespace glinpack::app {

inline nlohmann::json null_if_empty(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

/// A value of a JSON file with its location. A view: the document and the file name must outlive it. Throws InputError
/// if a requested value is missing or has another type: "FILE: at '/runs/0/n': a whole number is expected, not 'x'".
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
  std::int64_t whole(std::int64_t min = 0, std::int64_t max = INT64_MAX) const;
  bool boolean() const;
  std::string text() const;
  /// The index of the text in `names`.
  std::size_t one_of(const std::vector<std::string_view>& names) const;
  /// An array of strings.
  std::vector<std::string> texts() const;

  /// Members by key, as above; optional ones are empty if missing or null.
  double number(std::string_view key) const { return at(key).number(); }
  std::int64_t whole(std::string_view key, std::int64_t min = 0) const { return at(key).whole(min); }
  bool boolean(std::string_view key) const { return at(key).boolean(); }
  std::string text(std::string_view key) const { return at(key).text(); }
  std::optional<double> optional_number(std::string_view key) const;
  std::string text_or(std::string_view key, std::string_view otherwise) const;
  std::vector<std::string> texts_or_none(std::string_view key) const;

  bool is_object() const { return value_->is_object(); }
  bool is_null() const { return value_->is_null(); }
  const nlohmann::json& value() const { return *value_; }
  const std::string& file() const { return *file_; }

  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  JsonNode(const JsonNode& parent, const nlohmann::json& value, const std::string& step)
      : file_(parent.file_), value_(&value), place_(parent.place_ + "/" + step) {}
  [[noreturn]] void expect(const std::string& what) const;

  const std::string* file_;
  const nlohmann::json* value_;
  std::string place_;  // JSON pointer (RFC 6901)
};

constexpr std::string_view name_of(RankOrder order) { return text_by_value(order, "row-major", "column-major"); }

// The enumerators that JSON has by their name_of().
inline auto enumerators(MatrixKind) { return all_matrix_kinds; }
inline auto enumerators(Pivoting) { return all_pivotings; }
inline auto enumerators(PanelPlace) { return all_panel_places; }
inline auto enumerators(BroadcastKind) { return all_broadcasts; }
inline auto enumerators(RowSwapKind) { return all_row_swaps; }
inline auto enumerators(Precision) { return all_precisions; }
inline auto enumerators(Role) { return all_roles; }
inline auto enumerators(Phase) { return all_phases; }
inline auto enumerators(Lane) { return all_lanes; }
inline auto enumerators(CheckedPart) { return all_checked_parts; }
inline auto enumerators(RankOrder) { return values_up_to<RankOrder::column_major>; }
inline auto enumerators(sensors::Kind) { return values_up_to<sensors::Kind::gpu>; }
inline auto enumerators(sensors::ThrottleReason) { return sensors::reasons_in(~sensors::unknown_throttle); }
inline auto enumerators(Refinement::Method) { return values_up_to<Refinement::Method::gmres>; }

template <class Value>
nlohmann::json json_of(const Value& value);
template <class Value>
void read(const JsonNode& node, Value& value, std::int64_t min = 0);

/// The members of an object that is written. describe() must not modify the value unless Json::reads.
class JsonWriter {
 public:
  static constexpr bool reads = false;

  template <class Value>
  void operator()(const char* key, const Value& value, std::int64_t /*min*/ = 0) {
    object_[key] = json_of(value);
  }
  /// A key that files of earlier versions lack.
  template <class Value>
  void later(const char* key, const Value& value) {
    object_[key] = json_of(value);
  }
  /// Null unless `known`.
  template <class Value>
  void nullable(const char* key, bool known, const Value& value) {
    object_[key] = known ? json_of(value) : nlohmann::json();
  }
  /// Null: NaN or infinity.
  void number_or_null(const char* key, double value) { nullable(key, std::isfinite(value), value); }
  /// A value that other keys determine: it is not read.
  template <class Value>
  void derived(const char* key, const Value& value) {
    object_[key] = json_of(value);
  }
  /// One of two texts.
  void choice(const char* key, bool value, const char* if_true, const char* if_false) {
    object_[key] = value ? if_true : if_false;
  }
  template <class Describe>
  void object(const char* key, Describe describe_members) {
    JsonWriter member;
    describe_members(member);
    object_[key] = std::move(member.object_);
  }
  /// A list of objects, each of which is described by one element of both lists.
  template <class First, class Second>
  void zipped(const char* key, const std::vector<First>& first, const std::vector<Second>& second) {
    nlohmann::json list = nlohmann::json::array();
    for (std::size_t i = 0; i < first.size(); ++i) {
      JsonWriter item;
      describe(item, const_cast<First&>(first[i]), const_cast<Second&>(second.at(i)));
      list.push_back(std::move(item.object_));
    }
    object_[key] = std::move(list);
  }
  nlohmann::json take() { return std::move(object_); }

 private:
  nlohmann::json object_ = nlohmann::json::object();
};

/// The same keys, read. Missing and null members of later() and nullable() leave the value as it is.
class JsonReader {
 public:
  static constexpr bool reads = true;

  explicit JsonReader(JsonNode node) : node_(std::move(node)) {}

  template <class Value>
  void operator()(const char* key, Value& value, std::int64_t min = 0) const {
    read(node_.at(key), value, min);
  }
  template <class Value>
  void later(const char* key, Value& value) const {
    if (const std::optional<JsonNode> member = node_.find(key)) read(*member, value);
  }
  template <class Value>
  void nullable(const char* key, bool /*known*/, Value& value) const {
    later(key, value);
  }
  void number_or_null(const char* key, double& value) const {
    value = node_.optional_number(key).value_or(std::numeric_limits<double>::quiet_NaN());
  }
  template <class Value>
  void derived(const char* /*key*/, const Value& /*value*/) const {}
  void choice(const char* key, bool& value, const char* if_true, const char* if_false) const {
    value = node_.at(key).one_of({if_true, if_false}) == 0;
  }
  template <class Describe>
  void object(const char* key, Describe describe_members) const {
    JsonReader member(node_.at(key));
    describe_members(member);
  }
  template <class First, class Second>
  void zipped(const char* key, std::vector<First>& first, std::vector<Second>& second) const {
    for (const JsonNode& node : node_.at(key).items()) {
      JsonReader item(node);
      describe(item, first.emplace_back(), second.emplace_back());
    }
  }

 private:
  JsonNode node_;
};

namespace json_types {

template <class Value>
concept enumeration = requires(Value value) {
  enumerators(value);
};
template <class Value>
concept plain =
    std::is_arithmetic_v<Value> || std::convertible_to<Value, std::string_view> || std::same_as<Value, nlohmann::json>;
template <class Value>
concept optional = requires(Value value) {
  value.emplace(), value.reset();
};
template <class Value>
concept list = requires(Value value) {
  value.begin(), value.end();
};

}  // namespace json_types

template <class Value>
nlohmann::json json_of(const Value& value) {
  if constexpr (json_types::enumeration<Value>) {
    return name_of(value);
  } else if constexpr (json_types::plain<Value>) {
    return value;
  } else if constexpr (json_types::optional<Value>) {
    return value ? json_of(*value) : nlohmann::json();
  } else if constexpr (json_types::list<Value>) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& item : value) list.push_back(json_of(item));
    return list;
  } else {
    JsonWriter writer;
    describe(writer, const_cast<Value&>(value));
    return writer.take();
  }
}

/// Throws InputError. `min`: of whole numbers.
template <class Value>
void read(const JsonNode& node, Value& value, std::int64_t min) {
  if constexpr (std::same_as<Value, nlohmann::json>) {
    value = node.value();
  } else if constexpr (json_types::enumeration<Value>) {
    const auto all = enumerators(value);
    std::vector<std::string_view> names;
    for (const Value one : all) names.push_back(name_of(one));
    value = all[node.one_of(names)];
  } else if constexpr (std::same_as<Value, bool>) {
    value = node.boolean();
  } else if constexpr (std::integral<Value>) {
    constexpr Value max = std::numeric_limits<Value>::max();
    value = static_cast<Value>(
        node.whole(min, std::in_range<std::int64_t>(max) ? static_cast<std::int64_t>(max) : INT64_MAX));
  } else if constexpr (std::floating_point<Value>) {
    value = node.number();
  } else if constexpr (std::same_as<Value, std::string>) {
    value = node.text();
  } else if constexpr (json_types::optional<Value>) {
    value.reset();
    if (!node.is_null()) read(node, value.emplace(), min);
  } else if constexpr (json_types::list<Value>) {
    value.clear();
    for (const JsonNode& item : node.items()) read(item, value.emplace_back());
  } else {
    JsonReader reader(node);
    describe(reader, value);
  }
}

/// describe() of a type whose keys are the names of its members.
#define GLINPACK_DESCRIBE_MEMBER(member) json(#member, value.member);
#define GLINPACK_DESCRIBE(Type, ...)                                                 \
  template <class Json>                                                              \
  void describe(Json& json, Type& value) {                                           \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(GLINPACK_DESCRIBE_MEMBER, __VA_ARGS__)) \
  }

/// The value of a node.
template <class Value>
Value value_of(const JsonNode& node) {
  Value value;
  read(node, value);
  return value;
}

}  // namespace glinpack::app
