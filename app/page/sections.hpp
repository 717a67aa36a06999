// The sections of a page. A section is empty if there is nothing to show.
#pragma once

#include <span>
#include <string>

#include "app/page/html.hpp"
#include "app/page/page_data.hpp"

namespace glinpack::app {

/// PASSED, FAILED, not checked, distinguished by word, colour and weight.
Html verdict_html(Verdict verdict);

/// The number of runs, passed and failed, and the best; then every failed run with its reason.
Html summary_section(const PageData& data, std::span<const RunGroup> groups);
/// A table of all runs.
Html runs_section(const PageData& data);
/// GFLOPS over N; a bar per run if there is only one N.
Html speed_section(std::span<const RunGroup> groups);
/// The distribution of the runs' time.
Html times_section(std::span<const RunGroup> groups);
/// Joules, watts and GFLOPS/W of runs that have them.
Html energy_section(std::span<const RunGroup> groups);
/// The model's predictions compared with the measurements.
Html forecast_section(std::span<const RunGroup> groups);
/// Roles, ranks and phases of each run.
Html roles_section(std::span<const RunGroup> groups);
/// The timelines of traces.
Html timeline_section(const PageData& data);
/// Comparisons of files.
Html comparison_section(const PageData& data);
/// The results of standalone modes.
Html modes_section(const PageData& data);
Html network_section(const PageData& data);
/// The results of ceilings and tune.
Html measured_section(const PageData& data);
/// Hosts, devices, versions, command lines.
Html machines_section(const PageData& data);

}  // namespace glinpack::app
