// `glinpack ceilings`: what a device and the host can do at most.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/ceilings_options.hpp"
#include "gl/ceilings.hpp"
#include "openblas/host_ceilings.hpp"

namespace glinpack::app {

struct Ceilings {
  std::optional<gl::DeviceCeilings> device;  // none: the host alone
  HostCeilings host;
  std::string host_name;
  std::vector<std::string> notes;
};

/// Measures, prints a table and writes JSON where it is asked for. `command_line`: the program's. Throws InputError for
/// what the user can mend before anything is measured, std::runtime_error for the rest.
void run_ceilings_command(const CeilingsOptions& options, const std::vector<std::string>& command_line,
                          std::vector<std::string> notes, std::ostream& out);

/// The two views. The JSON one is without context: see docs/ceilings.schema.json.
std::string ceilings_text(const Ceilings& ceilings);
nlohmann::json ceilings_json(const Ceilings& ceilings);

}  // namespace glinpack::app
