// Sequences of plain values as bytes, and back: how they travel between ranks.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace glinpack {

template <class Element>
std::string as_bytes(const std::vector<Element>& elements) {
  static_assert(std::is_trivially_copyable_v<Element>);
  std::string bytes(elements.size() * sizeof(Element), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

template <class Element>
std::vector<Element> from_bytes(const std::string& bytes) {
  std::vector<Element> elements(bytes.size() / sizeof(Element));
  if (!bytes.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

}  // namespace glinpack
