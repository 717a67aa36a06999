// The sections of a page. Each is empty where there is nothing to show.
#pragma once

#include <span>
#include <string>

#include "app/page/html.hpp"
#include "app/page/page_data.hpp"

namespace glinpack::app {

/// PASSED, FAILED, not checked: told apart by word, colour and weight.
Html verdict_html(Verdict verdict);

/// How many runs, passed and failed, the best of them; then every run that failed, and why.
Html summary_section(const PageData& data, std::span<const RunGroup> groups);
/// Every run in a table.
Html runs_section(const PageData& data);
/// GFLOPS against N; a bar for each run where there is one N.
Html speed_section(std::span<const RunGroup> groups);
/// Where the time of runs went.
Html times_section(std::span<const RunGroup> groups);
/// Joules, watts and GFLOPS/W of runs that have them.
Html energy_section(std::span<const RunGroup> groups);
/// What the model expected beside what was measured.
Html forecast_section(std::span<const RunGroup> groups);
/// Of each run: roles, ranks, phases.
Html roles_section(std::span<const RunGroup> groups);
/// What ranks did when: of traces.
Html timeline_section(const PageData& data);
/// Files beside each other.
Html comparison_section(const PageData& data);
/// Standalone modes.
Html modes_section(const PageData& data);
Html network_section(const PageData& data);
/// ceilings and tune.
Html measured_section(const PageData& data);
/// Hosts, devices, versions, command lines.
Html machines_section(const PageData& data);

}  // namespace glinpack::app
