#include "app/tune/tune_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "app/options/option_text.hpp"
#include "app/program/machine.hpp"
#include "app/program/outputs.hpp"
#include "app/record/text.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

namespace {

using nlohmann::json;

constexpr double to_gigaflops = 1e-9;

const Footer tune_footer{
    .examples =
        "glinpack tune\n"
        "glinpack tune --device 1 --precision double --json tune.json",
    .notes =
        {"The choice is kept for the device, its driver and the precision. `glinpack plu` uses it unless --tile names "
         "another tile; without a choice, it uses the first of the table. Rates are in GFLOPS (10^9 operations a "
         "second)."},
    .exit_codes = {{0, "tuned"}, {2, "unusable input"}, {3, "an error while tuning"}}};

DeviceDescription device_to_tune(const TuneOptions& options) {
  const DeviceCatalog& catalog = device_catalog(options.backend);
  std::vector<DeviceDescription> devices = list_devices(options.backend);
  for (DeviceDescription& one : devices) {
    for (const Precision precision : options.precisions) one = for_precision(one, precision);
  }
  if (!options.device && device_for_local_rank(devices, 0, false) < 0) {
    throw InputError(
        fmt::format("no hardware {0} device is usable; name a device by --device INDEX, which may be software {0}; see "
                    "glinpack devices",
                    catalog.api));
  }
  return choose_device(options.device, catalog, devices, 0, options.device.has_value());
}

std::string text_of(const KeptTuning& kept) {
  const Tuning& tuning = kept.tuning;
  std::string text =
      fmt::format("{} precision, {} x {} x {}\n  {:<26}{:>9} {:<7}{:>9}{:>9}\n", name_of(tuning.precision),
                  tuning.order, tuning.order, tuning.depth, "tile", "median", "", "min", "max");
  const TileTrial& best = tuning.best();
  for (const TileTrial& trial : tuning.trials) {
    text += fmt::format("  {:<26}{:>9} {:<7}{:>9}{:>9}{}\n", trial.tile, figures(trial.rate.median * to_gigaflops),
                        "GFLOPS", figures(trial.rate.min * to_gigaflops), figures(trial.rate.max * to_gigaflops),
                        !trial.right              ? "  wrong results: not taken"
                        : trial.tile == best.tile ? "  <- taken"
                                                  : "");
  }
  return text + (kept.file.empty() ? "  not kept: the cache folder cannot be written; use plu's --tile\n"
                                   : "  kept in " + kept.file + "\n");
}

}  // namespace

OptionTable tune_table(TuneOptions& o) {
  const auto precision = word(
      one_of(all_names_of(all_precisions)) + "|both",
      [&o](const std::string& t) {
        o.precisions = {Precision::single, Precision::double_};
        if (t == "both") return;
        const Precision one = kind_named(t, all_precisions);
        o.precisions = {one == Precision::mixed ? Precision::single : one};  // mixed factorises in single
      },
      [&o] { return o.precisions.size() > 1 ? "both" : std::string(name_of(o.precisions.front())); });
  const auto has_tiles = [](const BackendRecord& backend) { return backend.tiles != nullptr; };
  const std::vector<Field> fields{
      {"backend", name_value(o.backend, backend_choices(has_tiles)), "The backend to tune"},
      {"device", whole(o.device, 0, largest_device, "INDEX"),
       "Device of the backend, an index of `glinpack devices`; may be software", "the first hardware device"},
      {"precision", precision, "Precision of the factors; mixed: single"},
      {"json", text(o.json, "FILE"), "Write the results as JSON (docs/tune.schema.json)"},
      {"force", flag(o.force), "Overwrite an existing file"},
      log_level_field(),
      config_field(o.config),
  };
  return {.command = "tune",
          .description = "Times the tiles of the trailing update on a device, and keeps the fastest for later runs.",
          .footer = tune_footer,
          .groups = {{"", fields}}};
}

void run_tune_command(const TuneOptions& options, const std::vector<std::string>& command_line, std::ostream& out) {
  check_output("--json", options.json, options.force, {options.config});
  const DeviceDescription device = device_to_tune(options);
  const TileCatalog& tiles = *backend_record(options.backend).tiles;
  std::vector<KeptTuning> tunings;
  for (const Precision precision : options.precisions) {
    const Tuning tuning =
        tiles.tune({.device = device.index, .uuid = device.uuid}, precision, {.repeat = 3, .seconds = 0.12});
    tunings.push_back({tuning, tiles.keep(tuning)});
  }
  json document = tuning_json(tunings);
  document["context"] = program_context(command_line, to_json(options, tune_table));
  write_findings(out, tuning_text(tunings), options.json, options.force, document);
}

std::string tuning_text(std::span<const KeptTuning> tunings) {
  const DeviceDescription& device = tunings.front().tuning.device;
  std::string text = fmt::format("device {}: {}\n  driver {}\n", device.index, device.renderer, device.version);
  for (const KeptTuning& kept : tunings) text += "\n" + text_of(kept);
  return text;
}

json tuning_json(std::span<const KeptTuning> tunings) {
  json all = json::array();
  for (const auto& [tuning, file] : tunings) {
    json trials = json::array();
    for (const TileTrial& trial : tuning.trials) {
      trials.push_back(json_of(in_unit(trial.rate, "GFLOPS", to_gigaflops)));
      trials.back()["tile"] = trial.tile;
      trials.back()["right"] = trial.right;
    }
    all.push_back({{"precision", name_of(tuning.precision)},
                   {"order", tuning.order},
                   {"depth", tuning.depth},
                   {"trials", trials},
                   {"taken", tuning.best().tile},
                   {"file", null_if_empty(file)}});
  }
  return {{"format", 1}, {"device", device_json(tunings.front().tuning.device)}, {"tunings", all}};
}

}  // namespace glinpack::app
