// What the measuring programs share: data, how an operation is timed, and the way from the command line to the table.
#pragma once

#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace glinpack::bench {

/// Uniform in [-1/2, 1/2), the same ones every time.
template <class Real>
void fill_uniform(Real* data, Index count) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<Real> uniform(Real(-0.5), Real(0.5));
  std::generate_n(data, count, [&] { return uniform(generator); });
}

template <class Real>
std::unique_ptr<DeviceMatrix<Real>> random_matrix(Backend<Real>& backend, Index rows, Index columns) {
  auto matrix = backend.allocate(rows, columns);
  // a slab of rows again and again: generating every element of a large matrix would take longer than measuring
  const Index slab = std::min<Index>(rows, 64);
  const auto buffer = backend.allocate_host(slab * columns);
  fill_uniform(buffer->data(), buffer->size());
  for (Index row = 0; row < rows; row += slab) {
    const Index count = std::min(slab, rows - row);
    backend.upload({buffer.get(), 0, count, columns, columns}, {matrix.get(), row, 0, count, columns});
  }
  backend.wait_all();
  return matrix;
}

/// What one iteration does, and the most of it that the machine does in a second.
struct Work {
  const char* unit;    // "FLOPS", "bytes/s": the counter's name
  double amount;       // flops, bytes
  double ceiling = 0;  // 0: not known, and no share is told
};

/// Times operation() by the host's clock, prepare() before each left out. Counters: the rate, and its share of the
/// ceiling.
template <class Prepare, class Operation>
void measure(benchmark::State& state, const Work& work, Prepare prepare, Operation operation) {
  using Clock = std::chrono::steady_clock;
  double seconds = 0;
  for (auto iteration : state) {
    benchmark::DoNotOptimize(iteration);
    prepare();
    const Clock::time_point start = Clock::now();
    operation();
    const double taken = std::chrono::duration<double>(Clock::now() - start).count();
    state.SetIterationTime(taken);
    seconds += taken;
  }
  const double rate = seconds > 0 ? work.amount * static_cast<double>(state.iterations()) / seconds : 0;
  state.counters[work.unit] = rate;
  if (work.ceiling > 0) state.counters["share"] = rate / work.ceiling;
}

inline constexpr auto nothing = [] {};

/// A benchmark that calls measure(), in milliseconds.
template <class Function>
void add_benchmark(const std::string& name, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), function)->UseManualTime()->Unit(benchmark::kMillisecond);
}

inline void add_size_list(CLI::App& app, const std::string& names, std::vector<Index>& list, const std::string& help) {
  app.add_option(names, list, help)->delimiter(',')->check(CLI::PositiveNumber)->capture_default_str();
}

inline void add_precisions(CLI::App& app, std::vector<std::string>& precisions) {
  app.add_option("--precision", precisions, "single, double")
      ->delimiter(',')
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
}

/// Parses the command line, of which --benchmark_... is Google Benchmark's, calls set_up(), which adds benchmarks, and
/// runs them. Returns the exit code.
template <class SetUp>
int run_program(CLI::App& app, int argc, char** argv, SetUp set_up) {
  app.allow_extras();
  app.footer("Options of Google Benchmark, such as --benchmark_filter=REGEX, are taken, too.");
  CLI11_PARSE(app, argc, argv);
  try {
    set_up();
    std::vector<std::string> rest = app.remaining();
    std::vector<char*> arguments{argv[0]};
    for (std::string& argument : rest) arguments.push_back(argument.data());
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace glinpack::bench
