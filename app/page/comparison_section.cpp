#include <spdlog/fmt/fmt.h>

#include "app/compare/comparison.hpp"
#include "app/page/numbers.hpp"
#include "app/page/sections.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_comparisons = 20;
constexpr std::size_t most_pairs = 200;

Html finding_html(Finding finding) {
  const char* kind = finding == Finding::faster   ? "verdict passed"
                     : finding == Finding::slower ? "verdict failed"
                                                  : "verdict";
  return element("span", {{"class", kind}}, escaped(text_of(finding)));
}

Html comparison_html(const PageData& data, const FilesCompared& files) {
  const Comparison& comparison = files.comparison;
  std::vector<Parameters> all;
  for (const ComparedPair& pair : comparison.pairs) all.push_back(pair.a.parameters);
  const std::set<std::string> names = differing(all);
  Table table({{"run"},
               {"a", Align::right},
               {"b", Align::right},
               {"in"},
               {"speed b / a", Align::right},
               {"interval", Align::right},
               {"finding"}});
  for (const ComparedPair& pair : comparison.pairs) {
    const auto& speed = pair.speed;
    const bool spread_known = speed && speed->confidence > 0;
    const std::string interval = spread_known ? fmt::format("{:.3f} to {:.3f}", speed->least, speed->most) : "-";
    table.row({escaped(listed(pair.a.parameters, names, !names.empty())), escaped(measured_text(pair.a, "-")),
               escaped(measured_text(pair.b, "-")), escaped(pair.a.quantity),
               escaped(speed ? fmt::format("{:.3f}", speed->ratio) : "-"), escaped(interval),
               finding_html(pair.finding)});
    if (&pair - comparison.pairs.data() + 1 == static_cast<std::ptrdiff_t>(most_pairs)) break;
  }
  std::string rest;
  if (comparison.pairs.size() > most_pairs)
    rest += fmt::format("The first {} of {} runs. ", most_pairs, comparison.pairs.size());
  if (!comparison.only_a.empty()) rest += fmt::format("Of a alone: {} runs. ", comparison.only_a.size());
  if (!comparison.only_b.empty()) rest += fmt::format("Of b alone: {} runs.", comparison.only_b.size());
  return text_element("h3", "a: " + data.files[files.a].name + ", b: " + data.files[files.b].name) + table.html() +
         (rest.empty() ? Html() : text_element("p", rest));
}

}  // namespace

Html comparison_section(const PageData& data) {
  if (data.comparisons.empty()) return {};
  Html html = element("h2", {{"id", "comparison"}}, escaped("Files compared"));
  html +=
      R"(<p class="faint">Runs with the same parameters. Speed b / a is more than 1 where b is faster, of
 times, too: the median over all pairs of repetitions. The interval holds the true ratio with a confidence of 90 % at least, by the order of these pairs
 (Hodges and Lehmann); with fewer than three repetitions on each side nothing can be said. In brackets: repetitions.</p>
)"_html;
  const std::size_t shown = std::min(data.comparisons.size(), most_comparisons);
  for (std::size_t i = 0; i < shown; ++i) html += comparison_html(data, data.comparisons[i]);
  if (shown < data.comparisons.size()) {
    html += text_element("p", fmt::format("The first {} of {} comparisons.", shown, data.comparisons.size()));
  }
  return html;
}

}  // namespace glinpack::app
