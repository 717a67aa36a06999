#include "app/devices/devices_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/options/option_text.hpp"
#include "app/program/agreement.hpp"
#include "app/program/memory.hpp"
#include "app/program/outputs.hpp"
#include "app/program/program_context.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {
namespace {

using nlohmann::json;

const Footer devices_footer{
    .examples = "glinpack devices\nEGL_VISIBLE_DEVICES=0 glinpack devices --json",
    .exit_codes = {
        {0, "a device is usable"}, {1, "no device is usable"}, {2, "unusable input"}, {3, "an error while printing"}}};

std::string amount(std::int64_t bytes) { return memory_text(static_cast<double>(bytes)); }

std::string memory_of(const DeviceDescription& device) {
  if (device.total_memory <= 0) return "not known";
  std::string text = amount(device.total_memory);
  if (device.free_memory > 0) text += fmt::format(", {} free", amount(device.free_memory));
  return text;
}

std::string line(std::string_view name, std::string_view value) { return fmt::format("  {:<16}{}\n", name, value); }

std::string device_block(const SeenDevice& apis, bool taken) {
  const DeviceDescription& device = best_of(apis);
  std::string text =
      fmt::format("device {}: {}{}\n", device.index, device.renderer.empty() ? "(no renderer)" : device.renderer,
                  taken ? "  <- --backend auto takes it" : "");
  if (!device.vendor.empty()) text += line("vendor", device.vendor);
  for (const DeviceDescription& one : apis) text += line(one.api, one.usable ? one.version : "no: " + one.why_unusable);
  if (device.usable) {
    text += line("kind", device.software ? "software: computed by the processor" : "hardware");
    text += line("memory", memory_of(device));
    text += line("storage block", fmt::format("{} at most", amount(device.storage_block)));
    if (device.texture_side > 0) text += line("texture side", fmt::format("{} texels at most", device.texture_side));
    text += line("shared memory", fmt::format("{} a work group", amount(device.shared_memory)));
    text += line("invocations", fmt::format("{} a work group", device.invocations));
    for (const DeviceDescription& one : apis) {
      if (one.usable && !one.doubles) text += line("precision", "single and mixed by " + one.api);
    }
  }
  if (device.cuda_ordinal >= 0) text += line("CUDA ordinal", fmt::format("{}", device.cuda_ordinal));
  if (!device.uuid.empty()) text += line("UUID", device.uuid);
  if (!device.drm_file.empty()) text += line("DRM file", device.drm_file);
  return text + '\n';
}

bool is_usable(const SeenDevice& apis) { return best_of(apis).usable; }

/// The API and its remedies, if no device is usable by it.
std::string absence(const DeviceCatalog& catalog, std::span<const SeenDevice> devices) {
  for (const SeenDevice& apis : devices) {
    for (const DeviceDescription& one : apis) {
      if (one.api == catalog.api && one.usable) return {};
    }
  }
  const std::string variables = catalog.driver_variables_text();
  return variables + (variables.empty() ? "" : "\n") +
         fmt::format("No usable {} device. {}", catalog.api, catalog.remedy);
}

/// The index of the device that `--backend auto` takes, -1 if none.
int automatic_device(std::span<const SeenDevice> devices) {
  std::vector<DeviceDescription> best;
  for (const SeenDevice& apis : devices) best.push_back(best_of(apis));
  return device_for_local_rank(best, 0, false);
}

}  // namespace

std::string devices_text(std::span<const SeenDevice> devices) {
  const int automatic = automatic_device(devices);
  std::string text;
  for (const SeenDevice& apis : devices) text += device_block(apis, apis.front().index == automatic);
  for (const BackendRecord* backend : automatic_backends(MemorySpace::device)) {
    text += absence(*backend->devices, devices);
  }
  const std::string_view host = automatic_backend(MemorySpace::host).name;
  if (std::ranges::none_of(devices, is_usable)) {
    text += fmt::format("Without a device, --backend {} computes on the processor.\n", host);
  } else if (automatic < 0) {
    text += fmt::format("--backend auto takes {}: no usable device is hardware.\n", host);
  }
  return text;
}

json devices_json(std::span<const SeenDevice> devices) {
  const auto known = [](std::int64_t value) { return value > 0 ? json(value) : json(); };
  json list = json::array();
  for (const SeenDevice& apis : devices) {
    const DeviceDescription& device = best_of(apis);
    json entry = device_json(device);
    entry.update({{"usable", device.usable},
                  {"why_unusable", device.usable ? json() : json(device.why_unusable)},
                  {"vendor", device.vendor},
                  {"drm_file", null_if_empty(device.drm_file)},
                  {"cuda_ordinal", device.cuda_ordinal < 0 ? json() : json(device.cuda_ordinal)},
                  {"total_memory", known(device.total_memory)},
                  {"free_memory", known(device.free_memory)},
                  {"storage_block", known(device.storage_block)},
                  {"texture_side", known(device.texture_side)},
                  {"shared_memory", known(device.shared_memory)},
                  {"invocations", known(device.invocations)}});
    for (const DeviceDescription& one : apis) {
      entry["apis"][one.api] = {{"usable", one.usable},
                                {"double_precision", one.usable ? json(one.doubles) : json()},
                                {"why_unusable", one.usable ? json() : json(one.why_unusable)},
                                {"version", one.version}};
    }
    list.push_back(std::move(entry));
  }
  const int automatic = automatic_device(devices);
  return {{"devices", list}, {"automatic", automatic < 0 ? json() : json(automatic)}};
}

OptionTable devices_table(DevicesOptions& o) {
  return {
      .command = "devices",
      .description =
          "Lists the devices of this machine, each once: index (for --device), vendor, renderer, GPU APIs and their "
          "drivers, limits, memory, CUDA ordinal, whether it is software, and why it is unusable.",
      .footer = devices_footer,
      .groups = {{"", {{"json", flag(o.json), "Print as JSON; sizes in bytes"}}}}};
}

int run_devices_command(const DevicesOptions& options, std::ostream& out) {
  const std::vector<SeenDevice> devices = list_all_devices();
  print(out, options.json ? dumped(devices_json(devices), 2) + '\n' : devices_text(devices));
  return std::ranges::any_of(devices, is_usable) ? 0 : 1;
}

}  // namespace glinpack::app
