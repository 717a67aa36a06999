#include "app/page/svg.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>

namespace glinpack::app {

std::string percent(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return (text == "-0" ? "0" : text) + "%";
}

std::string class_of(Look look) {
  static const std::array<const char*, 11> names{"computing", "transfer",  "network", "waiting", "idle", "pivot",
                                                 "normalize", "eliminate", "reduce",  "outside", "plain"};
  return std::string("look-") + names[static_cast<std::size_t>(look)];
}

Look look_of_role(const std::string& role) {
  if (role == "pivot") return Look::pivot;
  if (role == "normalize") return Look::normalize;
  if (role == "eliminate") return Look::eliminate;
  if (role == "reduce") return Look::reduce;
  return Look::outside;
}

std::string shown_role(const std::string& role) { return role == "none" ? "outside the passes" : role; }

// Hatches distinguish looks in grey. Each series has a marker shape, as in scripts/plot: circle, square, diamond,
// triangles, plus, cross, star.
Html definitions() {
  return R"svg(<svg class="definitions" width="0" height="0" aria-hidden="true"><defs>
<pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="base" width="5" height="5"/><circle class="ink" cx="2.5" cy="2.5" r="0.9"/></pattern>
<pattern id="dots-reduce" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="base-reduce" width="5" height="5"/><circle class="ink" cx="2.5" cy="2.5" r="0.7"/></pattern>
<pattern id="slashes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="base-waiting" width="6" height="6"/><path class="stroke" d="M0,0V6"/></pattern>
<pattern id="slashes-normalize" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="base-normalize" width="6" height="6"/><path class="stroke" d="M0,0V6"/></pattern>
<pattern id="slashes-eliminate" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect class="base-eliminate" width="6" height="6"/><path class="stroke" d="M0,0V6"/></pattern>
<g id="marker-0"><circle r="4"/></g>
<g id="marker-1"><rect x="-3.7" y="-3.7" width="7.4" height="7.4"/></g>
<g id="marker-2"><path d="M0,-5L4.6,0L0,5L-4.6,0Z"/></g>
<g id="marker-3"><path d="M0,-5L4.6,3.6H-4.6Z"/></g>
<g id="marker-4"><path d="M0,5L4.6,-3.6H-4.6Z"/></g>
<g id="marker-5"><path d="M-1.6,-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z"/></g>
<g id="marker-6"><path d="M-4.6,-2.6L-2.6,-4.6L0,-2L2.6,-4.6L4.6,-2.6L2,0L4.6,2.6L2.6,4.6L0,2L-2.6,4.6L-4.6,2.6L-2,0Z"/></g>
<g id="marker-7"><path d="M0,-5.4L1.5,-1.8L5.2,-1.7L2.3,0.7L3.3,4.4L0,2.2L-3.3,4.4L-2.3,0.7L-5.2,-1.7L-1.5,-1.8Z"/></g>
</defs></svg>
)svg"_html;
}

}  // namespace glinpack::app
