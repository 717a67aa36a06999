// Enumerations whose values count from 0.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace glinpack {

/// The values from the first one to `last`, in order.
template <auto last>
inline constexpr auto values_up_to = [] {
  std::array<decltype(last), static_cast<std::size_t>(last) + 1> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<decltype(last)>(i);
  return values;
}();

/// The text of a value; `texts` has those of all values, in order.
template <class Kind, class... Text>
constexpr std::string_view text_by_value(Kind kind, Text... texts) {
  return std::array<std::string_view, sizeof...(texts)>{texts...}[static_cast<std::size_t>(kind)];
}

}  // namespace glinpack
