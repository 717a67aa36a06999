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

std::string limit_lines(const DeviceDescription& device) {
  return line("storage block", fmt::format("{} at most", amount(device.storage_block))) +
         (device.texture_side > 0 ? line("texture side", fmt::format("{} texels at most", device.texture_side)) : "") +
         line("shared memory", fmt::format("{} a work group", amount(device.shared_memory))) +
         line("invocations", fmt::format("{} a work group", device.invocations));
}

std::string device_block(const DeviceDescription& device, bool taken) {
  std::string text =
      fmt::format("device {}: {}{}\n", device.index, device.renderer.empty() ? "(no renderer)" : device.renderer,
                  taken ? "  <- --backend auto takes it" : "");
  if (!device.usable) text += line("usable", "no: " + device.why_unusable);
  if (!device.vendor.empty()) text += line("vendor", device.vendor);
  if (!device.version.empty()) text += line("driver", device.version);
  if (device.usable) {
    text +=
        line("kind", device.software ? fmt::format("software {}: computed by the processor", device.api) : "hardware");
    text += line("memory", memory_of(device)) + limit_lines(device);
  }
  if (device.cuda_ordinal >= 0) text += line("CUDA ordinal", fmt::format("{}", device.cuda_ordinal));
  if (!device.uuid.empty()) text += line("UUID", device.uuid);
  if (!device.drm_file.empty()) text += line("DRM file", device.drm_file);
  return text + '\n';
}

bool any_usable(std::span<const DeviceDescription> devices) {
  return std::any_of(devices.begin(), devices.end(), [](const DeviceDescription& device) { return device.usable; });
}

}  // namespace

std::string devices_text(std::span<const DeviceDescription> devices, int automatic, std::string_view backend) {
  std::string text;
  for (const DeviceDescription& device : devices) text += device_block(device, device.index == automatic);
  if (!any_usable(devices)) {
    const DeviceCatalog& catalog = device_catalog(backend);
    const std::string variables = catalog.driver_variables_text();
    return text + variables + (variables.empty() ? "" : "\n") +
           fmt::format("No usable {0} device. {1}Without {0}, --backend {2} computes on the processor.\n", catalog.api,
                       catalog.remedy, automatic_backend(MemorySpace::host).name);
  }
  if (automatic < 0 && backend == automatic_backend(MemorySpace::device).name) {
    text +=
        fmt::format("--backend auto takes OpenBLAS: no usable device is hardware. --backend {} takes software {}.\n",
                    backend, device_catalog().api);
  }
  return text;
}

json devices_json(std::span<const DeviceDescription> devices, int automatic) {
  const auto known = [](std::int64_t value) { return value > 0 ? json(value) : json(); };
  json list = json::array();
  for (const DeviceDescription& device : devices) {
    json entry = device_json(device);
    entry.update({{"usable", device.usable},
                  {"why_unusable", device.usable ? json() : json(device.why_unusable)},
                  {"vendor", device.vendor},
                  {"drm_file", device.drm_file.empty() ? json() : json(device.drm_file)},
                  {"cuda_ordinal", device.cuda_ordinal < 0 ? json() : json(device.cuda_ordinal)},
                  {"total_memory", known(device.total_memory)},
                  {"free_memory", known(device.free_memory)},
                  {"storage_block", known(device.storage_block)},
                  {"texture_side", known(device.texture_side)},
                  {"shared_memory", known(device.shared_memory)},
                  {"invocations", known(device.invocations)}});
    list.push_back(std::move(entry));
  }
  return {{"devices", list}, {"automatic", automatic < 0 ? json() : json(automatic)}};
}

OptionTable devices_table(DevicesOptions& o) {
  return {.command = "devices",
          .description =
              "Lists the devices of this machine: index (for --device), vendor, renderer, driver, limits, memory, CUDA "
              "ordinal, whether it is software, and why it is unusable.",
          .footer = devices_footer,
          .groups = {{"",
                      {{"backend", name_value(o.backend, tuned_backend_choices()),
                        "gl-compute: EGL devices, of gl-raster, too; vk-compute: Vulkan devices"},
                       {"json", flag(o.json), "Print as JSON; sizes in bytes"}}}}};
}

int run_devices_command(const DevicesOptions& options, std::ostream& out) {
  const std::vector<DeviceDescription> devices = device_catalog(options.backend).list();
  const bool may_be_automatic = options.backend == automatic_backend(MemorySpace::device).name;
  const int automatic = may_be_automatic ? device_for_local_rank(devices, 0, false) : -1;
  print(out, options.json ? dumped(devices_json(devices, automatic), 2) + '\n'
                          : devices_text(devices, automatic, options.backend));
  return any_usable(devices) ? 0 : 1;
}

}  // namespace glinpack::app
