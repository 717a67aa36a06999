#include "app/devices/peaks_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/program/machine.hpp"
#include "app/program/outputs.hpp"
#include "app/program/program_context.hpp"
#include "app/program/topology.hpp"
#include "app/record/result_file.hpp"
#include "app/record/text.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

namespace {

const Footer peaks_footer{
    .examples =
        "glinpack peaks\n"
        "glinpack peaks --device 1 --json peaks.json\n"
        "glinpack peaks --backend openblas --threads 8 --repeat 9 --seconds 1\n"
        "LP_NUM_THREADS=2 glinpack peaks --backend gl-compute",
    .notes =
        {"Rates are in GB/s (10^9 bytes a second), GFLOPS (10^9 operations a second, two for a multiply-add), G/s and "
         "M/s (10^9 and 10^6 a second), times in us (10^-6 s): median, minimum and maximum of the repetitions. Copies "
         "within a memory count bytes read and bytes written. Results of copies and products are checked. The defaults "
         "take a few seconds."},
    .exit_codes = {{0, "measured"}, {2, "unusable input"}, {3, "an error while measuring"}}};

using nlohmann::json;

constexpr double giga = 1e-9;  // bytes or operations a second -> GB/s or GFLOPS
constexpr double mega = 1e-6;
constexpr double micro = 1e6;  // seconds -> us

// One row of the table of measurements.
struct PeakRow {
  std::string key;  // of JSON
  Measured measured;
  double scale = giga;
  const char* unit = "GB/s";
  std::string how = {};  // the table's last column
  json more = json::object();
};

std::string_view name_of(CopyWay way) { return way == CopyWay::shader ? "shader" : "driver"; }

PeakRow copy_row(const char* key, const CopyCeiling& copy) {
  return {.key = key,
          .measured = copy.rate,
          .how = memory_text(static_cast<double>(copy.bytes)) +
                 (copy.way == CopyWay::shader ? " at a time, by a compute shader" : " at a time, by the driver"),
          .more = {{"bytes", copy.bytes}, {"way", name_of(copy.way)}}};
}

std::vector<PeakRow> rows_of(const DeviceCeilings& device) {
  const auto fma = [](const char* key, const Measured& rate) {
    return PeakRow{.key = key, .measured = rate, .unit = "GFLOPS"};
  };
  const auto time = [](const char* key, const Measured& seconds) {
    return PeakRow{.key = key, .measured = seconds, .scale = micro, .unit = "us"};
  };
  PeakRow read_back = time("read_back", device.read_back);
  read_back.how = memory_text(static_cast<double>(device.read_back_bytes)) + ", waited for";
  read_back.more = {{"bytes", device.read_back_bytes}};
  PeakRow fma_double = fma("fma_double", device.fma_double);
  if (!device.device.doubles) fma_double.how = "the device has no double precision";
  PeakRow dispatch = time("dispatch", device.dispatch);
  dispatch.how = "a small work group and a barrier, many in a row";
  std::vector<PeakRow> rows{copy_row("copy", device.copy),
                            fma("fma_single", device.fma_single),
                            fma_double,
                            copy_row("upload", device.upload),
                            copy_row("download", device.download),
                            dispatch,
                            read_back};
  if (device.fill.median == 0) return rows;
  rows.push_back({.key = "fetches", .measured = device.fetches, .how = "of fragments, from a texture in cache"});
  rows.push_back({.key = "fill", .measured = device.fill, .unit = "G/s", .how = "texels of 16 bytes"});
  rows.push_back({"vertices", device.vertices, mega, "M/s", "of rectangles of one texel"});
  return rows;
}

std::vector<PeakRow> rows_of(const HostCeilings& host) {
  const auto gemm = [](const char* key, const Measured& rate, Index n) {
    return PeakRow{.key = key,
                   .measured = rate,
                   .unit = "GFLOPS",
                   .how = fmt::format("matrices of {} x {}", n, n),
                   .more = {{"n", n}}};
  };
  return {gemm("gemm_single", host.gemm_single, host.gemm_single_n),
          gemm("gemm_double", host.gemm_double, host.gemm_double_n),
          PeakRow{.key = "copy",
                  .measured = host.copy,
                  .how = memory_text(static_cast<double>(host.copy_bytes)) + " at a time",
                  .more = {{"bytes", host.copy_bytes}}}};
}

std::string line_of(const PeakRow& row) {
  const Measured& m = row.measured;
  const std::string line =
      fmt::format("  {:<21}{:>9} {:<7}{:>9}{:>9}  {}", peak_name(row.key), figures(m.median * row.scale), row.unit,
                  figures(m.min * row.scale), figures(m.max * row.scale), row.how);
  return line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

std::string table_head() { return fmt::format("  {:<21}{:>9} {:<7}{:>9}{:>9}\n", "", "median", "", "min", "max"); }

json json_of(const PeakRow& row) {
  json object = json_of(in_unit(row.measured, row.unit, row.scale));
  object.update(row.more);
  return object;
}

std::optional<DeviceDescription> device_to_measure(const PeaksOptions& options, std::vector<std::string>& notes) {
  const BackendRecord* backend = find_backend(options.backend);
  if (backend != nullptr && backend->memory == MemorySpace::host) return std::nullopt;
  const DeviceCatalog& catalog = device_catalog(options.backend);
  const std::vector<DeviceDescription> devices = list_devices(options.backend);
  const bool software_allowed = backend != nullptr || options.device.has_value();
  if (!options.device && !software_allowed && device_for_local_rank(devices, 0, false) < 0) {
    notes.push_back(
        fmt::format("no hardware {0} device is usable: the host alone was measured; --backend {1} measures software "
                    "{0}, `glinpack devices` says what there is",
                    catalog.api, automatic_backend(MemorySpace::device).name));
    return std::nullopt;
  }
  return choose_device(options.device, catalog, devices, 0, software_allowed);
}

Peaks measure(const PeaksOptions& options, std::vector<std::string> notes) {
  Peaks peaks{.device = {}, .host = {}, .host_name = host_name(), .notes = std::move(notes)};
  if (const auto device = device_to_measure(options, peaks.notes)) {
    const BackendOptions backend{
        .device = device->index, .values = {{"shader-dir", options.shader_dir}}, .uuid = device->uuid};
    peaks.device = automatic_backend(device->api).devices->measure_ceilings(backend, options.measuring);
  }
  const std::vector<NodeView> views{view_node()};
  if (std::string note = threads_note(options.threads); !note.empty()) peaks.notes.push_back(std::move(note));
  peaks.host = measure_host_ceilings(options.threads.value_or(threads_for(views, 0)), options.measuring);
  return peaks;
}

}  // namespace

OptionTable peaks_table(PeaksOptions& o) {
  constexpr int largest_repeat = 1000;
  Texts backends = backend_choices(&BackendRecord::automatic);
  backends.push_back("auto");
  const std::vector<Field> machine{
      {"backend", name_value(o.backend, backends),
       "What to measure. openblas: the host; gl-compute, vk-compute: the host and a device; auto: the device if it is "
       "hardware or named by --device"},
      {"device", whole(o.device, 0, largest_device, "INDEX"), "Device, an index of `glinpack devices`",
       "the first hardware device"},
      {"threads", whole(o.threads, 1, largest_threads), "Host threads",
       "OPENBLAS_NUM_THREADS, else OMP_NUM_THREADS, else cores"},
      {"shader-dir", text(o.shader_dir, "DIR"), "Folder of GLSL files that override the built-in shaders"},
  };
  const std::vector<Field> measuring{
      {"repeat", whole(o.measuring.repeat, 1, largest_repeat), "Repetitions of every measurement"},
      {"seconds", real(o.measuring.seconds, "SECONDS", parse_seconds),
       "Time for all repetitions of a measurement; each makes at least one copy or product"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "Write the results as JSON (docs/peaks.schema.json)"},
      {"force", flag(o.force), "Overwrite an existing file"},
      log_level_field(),
  };
  return {
      .command = "peaks",
      .description =
          "Measures peak rates: the device's memory, multiply-adds, copies to and from it, and fragments; the host's "
          "GEMM and memory.",
      .footer = peaks_footer,
      .groups = {{"Machine", machine},
                 {"Measuring", measuring},
                 {"Output", output},
                 {"Configuration", {config_field(o.config)}}}};
}

PeaksOptions parse_peaks_options(const Texts& arguments) {
  const PeaksOptions options = parse(arguments, peaks_table).options;
  const BackendRecord* backend = find_backend(options.backend);
  if (backend != nullptr && backend->memory == MemorySpace::host && options.device) {
    throw InputError("--device " + std::to_string(*options.device) + ": --backend " + options.backend +
                     " measures the host alone; leave one of the two out");
  }
  return options;
}

std::string peaks_text(const Peaks& peaks) {
  std::string text;
  for (const std::string& note : peaks.notes) text += note + "\n\n";
  if (peaks.device) {
    const DeviceDescription& device = peaks.device->device;
    text += fmt::format("device {}: {}{}\n  driver {}\n", device.index, device.renderer,
                        device.software ? fmt::format(" (software {}: computed by the processor)", device.api) : "",
                        device.version);
    text += table_head();
    for (const PeakRow& row : rows_of(*peaks.device)) text += line_of(row);
    text += '\n';
  }
  const HostCeilings& host = peaks.host;
  text += fmt::format("host {}: {}\n  {}, kernels {}, {}\n", peaks.host_name, host.processor, host.blas, host.kernels,
                      counted(host.threads, "thread"));
  text += table_head();
  for (const PeakRow& row : rows_of(host)) text += line_of(row);
  return text;
}

json peaks_json(const Peaks& peaks) {
  json device;
  if (peaks.device) {
    device = device_json(peaks.device->device);
    for (const PeakRow& row : rows_of(*peaks.device)) device[row.key] = row.measured.median > 0 ? json_of(row) : json();
  }
  json host{{"name", peaks.host_name},
            {"processor", peaks.host.processor},
            {"blas", peaks.host.blas},
            {"kernels", peaks.host.kernels},
            {"threads", peaks.host.threads}};
  for (const PeakRow& row : rows_of(peaks.host)) host[row.key] = json_of(row);
  return {{"format", 1}, {"device", device}, {"host", host}, {"notes", peaks.notes}};
}

void run_peaks_command(const PeaksOptions& options, const std::vector<std::string>& command_line,
                       std::vector<std::string> notes, std::ostream& out) {
  check_output("--json", options.json, options.force, {options.config});
  const Peaks peaks = measure(options, std::move(notes));
  json document = peaks_json(peaks);
  document["context"] = program_context(command_line, to_json(options, peaks_table));
  write_findings(out, peaks_text(peaks), options.json, options.force, document);
}

}  // namespace glinpack::app
