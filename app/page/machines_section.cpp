#include <spdlog/fmt/fmt.h>

#include <map>
#include <set>

#include "app/page/sections.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_hosts = 200;

Html fact(const std::string& name, const std::string& value) {
  if (value.empty()) return {};
  return text_element("dt", name) + text_element("dd", value) + "\n"_html;
}

/// The ranks of the file's runs with equal host, device and driver.
struct Place {
  std::string host, backend, device, driver;
  bool software = false;
  auto operator<=>(const Place&) const = default;
};

Html places_table(const PageData& data, std::size_t file) {
  std::map<Place, std::set<std::int64_t>> places;
  std::map<Place, std::int64_t> threads;
  for (const auto& [of_file, run] : data.runs) {
    if (of_file != file) continue;
    for (const RankShare& rank : run.ranks) {
      const Place place{rank.host, rank.backend, rank.device, rank.driver, rank.software_gl};
      places[place].insert(rank.rank);
      threads[place] = rank.threads;
    }
  }
  Table table(
      {{"host"}, {"ranks", Align::right}, {"threads a rank", Align::right}, {"backend"}, {"device"}, {"driver"}});
  std::size_t shown = 0;
  for (const auto& [place, ranks] : places) {
    if (shown++ == most_hosts) break;
    table.row({escaped(place.host), escaped(std::to_string(ranks.size())), escaped(std::to_string(threads[place])),
               escaped(place.backend), escaped(place.device + (place.software ? " (software OpenGL)" : "")),
               escaped(place.driver)});
  }
  if (table.empty()) return {};
  Html html = table.html();
  if (places.size() > most_hosts)
    html += text_element("p", fmt::format("The first {} of {} places.", most_hosts, places.size()));
  return html;
}

Html file_html(const PageData& data, std::size_t place, bool open) {
  const ResultFile& file = data.files[place];
  const FileContext& context = file.context;
  Html facts = fact("file", file.path) + fact("kind", name_of(file.kind));
  facts += fact("glinpack", context.version + (context.git_commit.empty() ? "" : " (" + context.git_commit + ")"));
  facts += fact("MPI", context.mpi_library) + fact("BLAS", fmt::format("{}", fmt::join(context.blas, "; ")));
  facts += fact("hosts", fmt::format("{}", fmt::join(context.hosts, ", "))) +
           fact("notes", fmt::format("{}", fmt::join(context.notes, "; ")));
  Html content = element("dl", {{"class", "facts"}}, "\n"_html + facts) + "\n"_html;
  if (!context.command_line.empty())
    content += text_element("pre", fmt::format("{}", fmt::join(context.command_line, " "))) + "\n"_html;
  content += places_table(data, place);
  Attributes attributes;
  if (open) attributes.emplace_back("open", "");
  return element("details", attributes, text_element("summary", file.name) + "\n"_html + content) + "\n"_html;
}

}  // namespace

Html machines_section(const PageData& data) {
  Html html = element("h2", {{"id", "machines"}}, escaped("Hosts and versions"));
  constexpr std::size_t opened = 3;
  for (std::size_t place = 0; place < data.files.size(); ++place) html += file_html(data, place, place < opened);
  return html;
}

}  // namespace glinpack::app
