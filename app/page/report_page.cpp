#include "app/page/report_page.hpp"

#include <array>

#include "app/page/sections.hpp"
#include "app/page/style.hpp"
#include "app/page/svg.hpp"
#include "version.hpp"

namespace glinpack::app {

namespace {

struct Section {
  const char* anchor;
  const char* name;
  Html html;
};

Html navigation(const std::vector<Section>& sections) {
  Html links;
  for (const Section& section : sections) {
    if (!section.html.empty())
      links += element("a", {{"href", std::string("#") + section.anchor}}, escaped(section.name)) + "\n"_html;
  }
  return element("nav", {{"aria-label", "Sections"}}, "\n"_html + links) + "\n"_html;
}

// The content security policy allows no script and no external resource, in case text escapes the escaping.
Html head(const std::string& title) {
  return R"(<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="glinpack">
<link rel="icon" href="data:,">
)"_html + text_element("title", title) +
         "\n"_html + style();
}

}  // namespace

std::string report_page(const PageData& data) {
  const std::vector<RunGroup> groups = groups_of(data);
  const std::vector<Section> sections{{"runs", "Runs", runs_section(data)},
                                      {"speed", "GFLOPS", speed_section(groups)},
                                      {"times", "Time", times_section(groups)},
                                      {"energy", "Energy", energy_section(groups)},
                                      {"forecast", "Expected and measured", forecast_section(groups)},
                                      {"comparison", "Files compared", comparison_section(data)},
                                      {"roles", "Roles", roles_section(groups)},
                                      {"timeline", "Timeline", timeline_section(data)},
                                      {"modes", "Modes", modes_section(data)},
                                      {"network", "Network", network_section(data)},
                                      {"ceilings", "Ceilings", measured_section(data)},
                                      {"machines", "Hosts and versions", machines_section(data)}};
  Html body = definitions() + text_element("h1", data.title) + "\n"_html + navigation(sections);
  if (const std::string common = common_to(groups); !common.empty()) {
    body += element("p", {{"class", "faint"}}, escaped("All runs: " + common)) + "\n"_html;
  }
  body += summary_section(data, groups);
  for (const Section& section : sections) {
    if (!section.html.empty()) body += element("section", section.html) + "\n"_html;
  }
  body += element("footer", {{"class", "faint"}},
                  escaped(std::string("Made by glinpack ") + version + " (" + git_commit + ")"));
  return ("<!DOCTYPE html>\n"_html +
          element("html", {{"lang", "en"}},
                  element("head", head(data.title)) + "\n"_html + element("body", "\n"_html + body + "\n"_html)))
             .str() +
         "\n";
}

}  // namespace glinpack::app
