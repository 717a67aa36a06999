// The operations of gl-compute that a factorisation spends its time in, at LU's shapes:
//   reduce_bench --device 0 --n 16384 --k 256,512 [--benchmark_...]
// FLOPS and bytes/s are by the host's clock around an operation and the wait for it; device_FLOPS and device_bytes/s by
// the backend's own timings, as a run reports them.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include "local/gl/compute/compute_backend.hpp"

namespace {

using namespace glinpack;

struct Settings {
  BackendOptions backend;
  std::vector<Index> n{512};
  std::vector<Index> k{64};
  std::vector<std::string> precisions{"single", "double"};
};

Settings settings;

template <class Real>
struct Machine {
  Timeline timeline;
  std::unique_ptr<Backend<Real>> backend = make_compute_backend<Real>(settings.backend, timeline);
};

/// One for all benchmarks of a precision: shaders compile once.
template <class Real>
Machine<Real>& machine() {
  static Machine<Real> instance;
  return instance;
}

template <class Real>
std::unique_ptr<DeviceMatrix<Real>> random_matrix(Backend<Real>& backend, Index rows, Index columns) {
  auto matrix = backend.allocate(rows, columns);
  // a slab of rows again and again: generating every element of a large matrix would take longer than measuring
  const Index slab = std::min<Index>(rows, 64);
  auto buffer = backend.allocate_host(slab * columns);
  std::mt19937 random(1);
  std::uniform_real_distribution<Real> uniform(Real(-0.5), Real(0.5));
  for (Index e = 0; e < buffer->size(); ++e) buffer->data()[e] = uniform(random);
  for (Index row = 0; row < rows; row += slab) {
    const Index count = std::min(slab, rows - row);
    backend.upload({buffer.get(), 0, count, columns, columns}, {matrix.get(), row, 0, count, columns});
  }
  backend.wait_all();
  return matrix;
}

/// Runs `operation` and the wait for it as one iteration; `work` (flops or bytes) per iteration.
template <class Real, class Operation>
void measure(benchmark::State& state, const char* unit, double work, Operation operation) {
  Machine<Real>& m = machine<Real>();
  operation();
  m.backend->wait_all();
  m.backend->collect_timings();
  m.timeline.restart();
  for (auto iteration : state) {
    benchmark::DoNotOptimize(iteration);
    operation();
    m.backend->wait_all();
  }
  m.backend->collect_timings();
  double seconds = 0;
  for (const Interval& interval : m.timeline.intervals()) {
    if (interval.lane == Lane::gpu) seconds += interval.seconds();
  }
  const double total = work * static_cast<double>(state.iterations());
  state.counters[unit] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters[std::string("device_") + unit] = seconds > 0 ? total / seconds : 0;
}

template <class Real>
void reduce(benchmark::State& state, Index n, Index k) {
  Backend<Real>& backend = *machine<Real>().backend;
  const auto l = random_matrix(backend, k, n), u = random_matrix(backend, k, n), a = random_matrix(backend, n, n);
  measure<Real>(state, "FLOPS", 2.0 * static_cast<double>(n * n * k),
                [&] { backend.reduce(whole(*l), whole(*u), whole(*a)); });
}

template <class Real>
void normalize(benchmark::State& state, Index n, Index k) {
  Backend<Real>& backend = *machine<Real>().backend;
  const auto l = random_matrix(backend, k, k), a = backend.allocate(k, n);
  measure<Real>(state, "FLOPS", static_cast<double>(n * k * k), [&] { backend.normalize(whole(*l), whole(*a)); });
}

enum class Direction { up, down, down_transposed, swap };

/// A panel of n x k between host and device.
template <class Real>
void transfer(benchmark::State& state, Index n, Index k, Direction direction) {
  Backend<Real>& backend = *machine<Real>().backend;
  const auto panel = backend.allocate(k, n), matrix = backend.allocate(n, k);
  const auto host = backend.allocate_host(n * k);
  const HostBlock<Real> rows{host.get(), 0, k, n, n};
  std::vector<Index> list(static_cast<std::size_t>(k));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<Index>(list.size() - 1 - i);
  measure<Real>(state, "bytes/s", static_cast<double>(n * k) * sizeof(Real), [&] {
    switch (direction) {
      case Direction::up:
        backend.upload(rows, whole(*panel));
        break;
      case Direction::down:
        backend.download(whole(*panel), rows);
        break;
      case Direction::down_transposed:
        backend.download_transposed(whole(*matrix), rows);
        break;
      case Direction::swap:
        backend.gather_rows(whole(*panel), list, rows);
        break;
    }
  });
}

template <class Real>
void register_all(const std::string& precision) {
  for (const Index n : settings.n) {
    for (const Index k : settings.k) {
      const std::string shape = precision + "/" + std::to_string(n) + "/" + std::to_string(k);
      const auto add = [&](const std::string& name, auto function, auto... arguments) {
        benchmark::RegisterBenchmark((name + "/" + shape).c_str(), function, n, k, arguments...)
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      };
      add("reduce", reduce<Real>);
      add("normalize", normalize<Real>);
      add("upload", transfer<Real>, Direction::up);
      add("download", transfer<Real>, Direction::down);
      add("download_transposed", transfer<Real>, Direction::down_transposed);
      add("gather_rows", transfer<Real>, Direction::swap);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures gl-compute's operations");
  app.allow_extras();
  app.add_option("--device", settings.backend.device, "EGL device, as `glinpack devices` counts");
  app.add_option("--n", settings.n, "trailing rows and columns")->delimiter(',');
  app.add_option("--k", settings.k, "block sizes")->delimiter(',');
  app.add_option("--precision", settings.precisions, "single, double")->delimiter(',');
  app.add_option("--shader-directory", settings.backend.shader_directory, "GLSL files to use in place of the built-in");
  CLI11_PARSE(app, argc, argv);
  try {
    for (const std::string& precision : settings.precisions) {
      if (precision == "single") register_all<float>(precision);
      if (precision == "double") register_all<double>(precision);
    }
    std::vector<std::string> rest = app.remaining();
    std::vector<char*> arguments{argv[0]};
    for (std::string& argument : rest) arguments.push_back(argument.data());
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    const BackendInfo info =
        settings.precisions.front() == "double" ? machine<double>().backend->info() : machine<float>().backend->info();
    std::cout << info.device << ", " << info.driver << std::endl;
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
