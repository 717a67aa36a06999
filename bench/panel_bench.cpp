// The factorisation of a tall panel on the host, with the threads and at the shapes of a factorisation:
//   panel_bench --threads 16 --rows 4096,32768 --columns 256 [--benchmark_...]
// FLOPS by the host's clock.
#include "bench_support.hpp"
#include "local/openblas/openblas_backend.hpp"

namespace {

using namespace glinpack;
using namespace glinpack::bench;

struct Settings {
  int threads = 1;
  std::vector<Index> rows{2048, 8192};
  std::vector<Index> columns{128};
  std::vector<std::string> precisions{"single", "double"};
};

template <class Real>
void pivot(benchmark::State& state, int threads, Index rows, Index columns) {
  const auto arithmetic = make_openblas_panel_arithmetic<Real>(threads);
  const Index leading_dimension = rows + 16;  // as Panel has it
  std::vector<Real> original(static_cast<std::size_t>(leading_dimension * columns));
  fill_uniform(original.data(), leading_dimension * columns);
  std::vector<Real> panel;
  std::vector<Index> pivots(static_cast<std::size_t>(columns));
  const auto m = static_cast<double>(rows);
  const auto n = static_cast<double>(columns);
  measure(
      state, {"FLOPS", n * n * (m - n / 3)}, [&] { panel = original; },
      [&] {
        arithmetic->pivot({panel.data(), rows, columns, leading_dimension}, pivots);
      });
}

template <class Real>
void register_all(const Settings& settings, const std::string& precision) {
  if (std::find(settings.precisions.begin(), settings.precisions.end(), precision) == settings.precisions.end()) return;
  for (const Index rows : settings.rows) {
    for (const Index columns : settings.columns) {
      const std::string name = "panel/" + precision + "/" + std::to_string(rows) + "/" + std::to_string(columns);
      add_benchmark(name, [threads = settings.threads, rows, columns](benchmark::State& state) {
        pivot<Real>(state, threads, rows, columns);
      });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Factorises tall panels on the host.");
  app.add_option("--threads", settings.threads, "Threads")->capture_default_str()->check(CLI::Range(1, 4096));
  add_size_list(app, "--rows", settings.rows, "Rows of a panel");
  add_size_list(app, "--columns", settings.columns, "Its columns: block sizes");
  add_precisions(app, settings.precisions);
  return run_program(app, argc, argv, [&] {
    register_all<float>(settings, "single");
    register_all<double>(settings, "double");
  });
}
