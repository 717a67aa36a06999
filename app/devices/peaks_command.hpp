// `glinpack peaks`: measured peak rates of a device and the host.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/options/fields.hpp"
#include "backend/device_catalog.hpp"
#include "base/measuring.hpp"
#include "openblas/host_ceilings.hpp"

namespace glinpack::app {

struct PeaksOptions {
  std::string backend = "auto";
  std::optional<int> device;   // an index of `glinpack devices`; unset: the first hardware device
  std::optional<int> threads;  // unset: the cores that this process may use
  std::string shader_dir;
  MeasuringOptions measuring;
  std::string json;  // empty: not written
  bool force = false;
  std::string config;
};

OptionTable peaks_table(PeaksOptions& options);

PeaksOptions parse_peaks_options(const Texts& arguments);

struct Peaks {
  std::optional<DeviceCeilings> device;  // empty: only the host was measured
  HostCeilings host;
  std::string host_name;
  std::vector<std::string> notes;
};

void run_peaks_command(const PeaksOptions& options, const std::vector<std::string>& command_line,
                       std::vector<std::string> notes, std::ostream& out);

std::string peaks_text(const Peaks& peaks);
nlohmann::json peaks_json(const Peaks& peaks);

}  // namespace glinpack::app
