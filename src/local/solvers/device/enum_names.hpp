// The values of an enumeration that counts from 0, and their names.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace glinpack {

template <class Kind, std::size_t count>
constexpr std::array<Kind, count> first_kinds() {
  std::array<Kind, count> kinds{};
  for (std::size_t k = 0; k < count; ++k) kinds[k] = static_cast<Kind>(k);
  return kinds;
}

/// `names` in the order of the values.
template <class Kind>
constexpr std::string_view name_among(Kind kind, std::initializer_list<std::string_view> names) {
  return names.begin()[static_cast<std::size_t>(kind)];
}

}  // namespace glinpack
