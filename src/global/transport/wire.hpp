// Records between ranks: describe() names their members once, for messages as for files.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "transport/communicator.hpp"

namespace glinpack {

/// The sink (`reading` false) or source of describe() for a message. Ranks run the same program, so that the members
/// are bytes in the order of the calls, without keys.
template <bool reading>
class Wire {
 public:
  static constexpr bool reads = reading;

  Wire() = default;
  explicit Wire(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class Value>
  void operator()(const char* /*key*/, Value& value, std::int64_t /*min*/ = 0) {
    if constexpr (std::is_trivially_copyable_v<Value>) {
      copy(&value, sizeof value);
    } else if constexpr (requires { value.resize(0); }) {
      std::size_t size = value.size();
      copy(&size, sizeof size);
      if constexpr (reading) value.resize(size);
      using Element = typename Value::value_type;
      if constexpr (std::is_trivially_copyable_v<Element>) {
        copy(value.data(), size * sizeof(Element));
      } else {
        for (Element& element : value) (*this)("", element);
      }
    } else {
      describe(*this, value);
    }
  }
  template <class Value>
  void later(const char* key, Value& value) {
    (*this)(key, value);
  }
  template <class Value>
  void nullable(const char* key, bool /*known*/, Value& value) {
    (*this)(key, value);
  }
  void number_or_null(const char* key, double& value) { (*this)(key, value); }
  std::string take() { return std::move(bytes_); }

 private:
  void copy(void* value, std::size_t size) {
    if constexpr (reading) {
      if (size > bytes_.size() - place_) throw std::logic_error("a message between ranks is too short");
      if (size > 0) std::memcpy(value, bytes_.data() + place_, size);
      place_ += size;
    } else {
      bytes_.append(static_cast<const char*>(value), size);
    }
  }

  std::string bytes_;
  std::size_t place_ = 0;
};

template <class Value>
std::string to_wire(const Value& value) {
  Wire<false> wire;
  wire("", const_cast<Value&>(value));  // describe() modifies only what it reads
  return wire.take();
}
template <class Value>
Value from_wire(std::string bytes) {
  Value value{};
  Wire<true>(std::move(bytes))("", value);
  return value;
}

/// The values of all ranks, in order, on the root; empty elsewhere.
template <class Value>
std::vector<Value> gather_values(const Communicator& communicator, const Value& mine, int root) {
  std::vector<Value> all;
  for (std::string& bytes : communicator.gather(root, to_wire(mine))) {
    all.push_back(from_wire<Value>(std::move(bytes)));
  }
  return all;
}
/// The root's value.
template <class Value>
Value broadcast_value(const Communicator& communicator, const Value& of_root, int root) {
  std::string bytes = communicator.rank() == root ? to_wire(of_root) : std::string();
  communicator.broadcast(root, bytes);
  return from_wire<Value>(std::move(bytes));
}

}  // namespace glinpack
