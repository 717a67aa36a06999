#include "app/papers/mode.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <climits>
#include <ostream>

#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/program/agreement.hpp"
#include "app/program/machine.hpp"
#include "app/program/program_context.hpp"
#include "app/program/topology.hpp"
#include "gl/devices.hpp"
#include "host/host_memory.hpp"
#include "mpi/session.hpp"
#include "openblas/blas_library.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::app {

// ---- Options

namespace {

constexpr int largest_count = 1'000'000;

std::vector<Field> measuring_fields(ModeOptions& o) {
  return {
      {"repeat", whole(o.repeat, 1, largest_count), "Repetitions of each measurement"},
      {"warm-up", whole(o.warm_up, 0, largest_count), "Runs before the repetitions, not counted"},
      {"fit", flag(o.fit),
       "Fit a polynomial in N to the times by weighted least squares; compare its dominant coefficient with the "
       "processor's"},
  };
}

std::vector<Field> machine_fields(ModeOptions& o) {
  return {
      {"device", whole(o.device, 0, largest_device, "INDEX"), "EGL device, as `glinpack devices` counts",
       "the first that is hardware, else software"},
      {"threads", whole(o.threads, 1, largest_threads), "Threads of the host",
       "OPENBLAS_NUM_THREADS, else OMP_NUM_THREADS, else cores"},
      {"shader-dir", text(o.shader_dir, "DIR"), "GLSL files here override the built-in ones"},
  };
}

std::vector<Field> output_fields(ModeOptions& o) {
  return {
      {"output-dir", text(o.output_dir, "DIR"),
       "Folder for output files, created if missing. Default names: report.txt, results.json, results.csv"},
      {"json", text(o.json, "FILE"), "All results as JSON (docs/solver.schema.json)"},
      {"csv", text(o.csv, "FILE"), "One line per result"},
      {"force", flag(o.force), "Overwrite output files that exist"},
      log_level_field(),
  };
}

}  // namespace

Field size_field(ModeOptions& o) { return {"n", wholes(o.n, 1, largest_n, "N,..."), "Sizes N, in rows"}; }

Field seed_field(ModeOptions& o) { return {"seed", whole(o.seed, 0, LLONG_MAX, "SEED"), "Seed of the random numbers"}; }

Field precision_field(ModeOptions& o, const std::string& help) {
  return {"precision", single_or_double(o.precision), help};
}

void leave_out_drawing(ModeOptions& o, Texts& variants, std::size_t all, const Texts& doubles) {
  if (o.precision == Precision::single) return;
  const auto draws = [&](const std::string& name) { return std::ranges::count(doubles, name) == 0; };
  const auto first = std::ranges::find_if(variants, draws);
  if (first == variants.end()) return;
  if (variants.size() < all) {
    throw InputError(fmt::format(
        "--precision double: the variant {} draws into single-precision textures; use --variant {} or --precision "
        "single",
        *first, fmt::join(doubles, ",")));
  }
  o.notes.push_back(
      fmt::format("--variant all in double precision is {}: the others draw into single-precision textures",
                  fmt::join(doubles, ", ")));
  variants = doubles;
}

Field input_b_field(ModeOptions& o, const std::string& help, const std::string& default_text) {
  return {"input-b", text(o.input_b, "FILE"), help, default_text};
}

std::vector<Field> problem_fields(ModeOptions& o, const std::string& input_help, const std::string& output_help) {
  return {size_field(o),
          seed_field(o),
          {"input", text(o.input, "FILE"), input_help},
          {"output", text(o.output, "FILE"), output_help}};
}

Field variant_field(Texts& option, Texts variants, const std::string& host, const std::string& default_text) {
  variants.push_back(host);
  return {"variant", names_value(option, std::move(variants)), "Variants to measure; all: every variant", default_text};
}

OptionTable mode_table(ModeOptions& o, const std::string& mode, const std::string& description,
                       const std::string& examples, std::vector<FieldGroup> groups, bool with_times) {
  if (with_times) groups.push_back({"Measuring", measuring_fields(o)});
  groups.push_back({"Machine", machine_fields(o)});
  groups.push_back({"Output", output_fields(o)});
  groups.push_back({"Configuration", {config_field(o.config)}});
  return {.program = papers_name,
          .command = mode,
          .description = description,
          .footer = {.examples = examples,
                     .notes = {"Times are in seconds, rates in GFLOPS (10^9 operations a second): medians of the "
                               "repetitions unless said otherwise."},
                     .exit_codes = {{0, "all checks passed"},
                                    {1, "a check failed"},
                                    {2, "unusable input"},
                                    {3, "an error while running"}}},
          .groups = std::move(groups)};
}

Texts parse_names(const Texts& values, const Texts& names) {
  if (values == Texts{"all"}) return names;
  Texts chosen;
  for (const std::string& value : values) {
    if (value == "all") throw InputError("'all' stands in a list with other values; give it alone, or values alone");
    const std::string& name = names[choose(value, names, "all")];
    if (std::ranges::find(chosen, name) == chosen.end()) chosen.push_back(name);
  }
  return chosen;
}

FieldValue list_value(std::string type, std::function<void(const Texts&)> read, std::function<Texts()> print) {
  return {.form = FieldValue::Form::list,
          .type = std::move(type),
          .read = std::move(read),
          .json = [print = std::move(print)] { return nlohmann::json(print()); }};
}

FieldValue names_value(Texts& option, Texts names) {
  std::string type = some_of(names, {"all"});
  return list_value(
      std::move(type), [&option, names = std::move(names)](const Texts& t) { option = parse_names(t, names); },
      [&option] { return option; });
}

FieldValue or_auto(FieldValue value, std::function<void()> reset) {
  return {.type = value.type + "|auto",
          .read = [read = value.read,
                   reset = std::move(reset)](const Texts& texts) { texts.front() == "auto" ? reset() : read(texts); },
          .json =
              [json = value.json] {
                const nlohmann::json set = json();
                return set.is_null() ? nlohmann::json("auto") : set;
              }};
}

void refuse_both(const std::string& one, const std::string& other) {
  throw InputError(one + " and " + other + " are both given: leave one of them out");
}

// ---- Run

namespace {

int device_index(const ModeOptions& options, int local_rank, std::vector<std::string>& notes) {
  const std::vector<DeviceDescription> devices = gl::list_devices();
  if (!options.device && device_for_local_rank(devices, 0, true) < 0) {
    throw InputError(
        "no usable OpenGL device: `glinpack devices` says why; the mode's --help lists what the processor computes "
        "alone");
  }
  const int index = choose_device(options.device, device_catalog(), devices, local_rank, true).index;
  if (!options.device && device_for_local_rank(devices, 0, false) < 0) {
    notes.push_back("no hardware OpenGL device is usable: device " + std::to_string(index) +
                    ", software OpenGL, was taken; `glinpack devices` says what there is");
  }
  return index;
}

MeasuredStages spread_of_stages(const std::vector<solvers::StageTimes>& rounds) {
  const auto spread = [&](const auto& seconds) {
    std::vector<double> values;
    for (const solvers::StageTimes& times : rounds) values.push_back(seconds(times));
    return spread_of(std::move(values));
  };
  MeasuredStages measured;
  measured.compute = spread([](const solvers::StageTimes& times) { return times.compute(); });
  measured.with_transfer = spread([](const solvers::StageTimes& times) { return times.with_transfer(); });
  measured.with_all = spread([](const solvers::StageTimes& times) { return times.with_all(); });
  for (const solvers::Stage stage : solvers::all_stages) {
    measured.stages[static_cast<std::size_t>(stage)] =
        spread([stage](const solvers::StageTimes& times) { return times.of(stage); });
  }
  return measured;
}

}  // namespace

template <class Work>
auto ModeRun::on_root(const Work& work) const {
  return session_ ? run_on_root_and_broadcast(work) : work();
}

ModeRun::ModeRun(std::string mode, const ModeOptions& options, nlohmann::json configuration,
                 const Invocation& invocation, const MpiSession* session)
    : mode_(std::move(mode)),
      options_(options),
      configuration_(std::move(configuration)),
      command_line_(invocation.command_line()),
      session_(session),
      outputs_(output_paths(options)),
      progress_(progress_on_stderr(session == nullptr || session->rank() == 0)) {
  on_root([&] {
    check_matrix_name(options_.output);
    check_outputs(outputs_, options_.force);
  });
}

void ModeRun::on_all_ranks(const std::function<void()>& work) const { session_ ? prepare_on_all_ranks(work) : work(); }

void ModeRun::open_machine(bool needs_device, std::vector<std::string> notes) {
  machine_.threads = session_ ? take_threads(*session_, options_.threads)
                              : options_.threads.value_or(threads_for(std::vector<NodeView>{view_node()}, 0));
  on_all_ranks([&] {
    if (!needs_device) return;
    const int index = device_index(options_, session_ ? session_->local_rank() : 0, machine_.notes);
    try {
      machine_.device = std::make_unique<solvers::Device>(index, options_.shader_dir);
    } catch (const ShaderFolderError& error) {
      throw InputError("--shader-dir: " + std::string(error.what()));
    }
  });
  if (std::string note = threads_note(options_.threads); !note.empty()) notes.push_back(std::move(note));
  machine_.notes.insert(machine_.notes.end(), notes.begin(), notes.end());
  on_all_ranks([&] { reserve_blas_buffers(machine_.threads, 1); });
  set_blas_threads(machine_.threads);
  machine_.host_name = host_name();
  machine_.processor = processor_name();
  machine_.blas = blas_version();
  machine_.kernels = blas_kernels();
}

void ModeRun::begin(bool with_table_of_times) {
  on_root([&] {
    make_output_folder(outputs_);
    report_ = std::make_unique<ReportStream>(outputs_);
    report_->write(mode_head(mode_, machine_));
    for (const std::string& note : reexecution_notes()) report_->write(note + "\n");
    if (with_table_of_times) report_->write(mode_table_head());
  });
}

void ModeRun::print(const std::string& text) {
  on_root([&] { report_->write(text); });
}

MeasuredStages ModeRun::measure(solvers::StageClock& clock, const std::string& label, double flops,
                                const std::function<void()>& once) {
  const int rounds = options_.warm_up + options_.repeat;
  progress_.begin(mode_ + " " + label, flops * rounds);
  std::vector<solvers::StageTimes> times;
  double first = 0;
  for (int round = 0; round < rounds; ++round) {
    clock.clear();
    once();
    if (round == 0) first = clock.times().with_all();
    if (round >= options_.warm_up) times.push_back(clock.times());
    progress_.update(static_cast<double>(round + 1) / rounds);
  }
  progress_.end();
  MeasuredStages measured = spread_of_stages(times);
  measured.first = first;
  return measured;
}

void ModeRun::time(ModeRecord& record, solvers::StageClock& clock, const std::function<void()>& once) {
  try {
    record.times = measure(clock, record.label(), record.flops, once);
  } catch (const NoResult& error) {
    record.failure = error.what();
    progress_.end();
  }
}

void ModeRun::add(ModeRecord record) {
  on_root([&] {
    const auto rival = std::find_if(records_.rbegin(), records_.rend(), [&](const ModeRecord& other) {
      return other.is_rival && other.size == record.size && other.precision == record.precision;
    });
    if (!record.is_rival && record.failure.empty() && rival != records_.rend() && rival->failure.empty()) {
      const auto ratio = [](const Measured& theirs, const Measured& ours) -> std::optional<double> {
        if (theirs.median <= 0 || ours.median <= 0) return std::nullopt;
        return theirs.median / ours.median;
      };
      record.speedup = ratio(rival->times.compute, record.times.compute);
      record.speedup_with_all = ratio(rival->times.with_all, record.times.with_all);
    }
    report_->write(mode_line(record));
    records_.push_back(std::move(record));
  });
}

void ModeRun::write_files(const std::vector<SeriesFit>& fits, const std::optional<DenseMatrix>& result) {
  nlohmann::json document = mode_json(mode_, machine_, records_, fits);
  document["context"] = program_context(command_line_, configuration_);
  for (const std::string& note : reexecution_notes()) document["notes"].push_back(note);
  document.update(more_);
  FileWriter files(options_.force);
  if (result && !records_.empty() && records_.back().failure.empty()) {
    files.write(outputs_.result, [&](std::ostream& file) { write_matrix(file, options_.output, *result); });
  }
  files.write(outputs_.json, [&](std::ostream& file) { file << dumped(document, 2) << '\n'; });
  files.write(outputs_.csv, [&](std::ostream& file) { file << (csv_.empty() ? mode_csv(mode_, records_) : csv_); });
  files.finish(*report_);
}

bool ModeRun::finish(std::optional<int> fit_degree, const std::optional<DenseMatrix>& result) {
  return on_root([&] {
    std::vector<SeriesFit> fits;
    if (options_.fit && fit_degree) fits = fit_series(records_, *fit_degree);
    report_->write(fits_text(fits));
    write_files(fits, result);
    return std::ranges::all_of(records_, &ModeRecord::passed);
  });
}

}  // namespace glinpack::app
