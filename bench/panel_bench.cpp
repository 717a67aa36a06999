// The factorisation of a tall panel on the host, with the threads and at the shapes of a factorisation:
//   panel_bench --threads 16 --rows 4096,32768 --columns 256 --pivoting partial,tournament [--benchmark_...]
// With tournament pivoting the names end with the shape (TournamentShape): columns per block, threads per tree node,
// and least rows per thread. FLOPS by the host's clock.
#include <optional>

#include "bench_support.hpp"
#include "openblas/openblas_backend.hpp"

namespace {

using namespace glinpack;
using namespace glinpack::bench;

struct Settings {
  int threads = 1;
  std::vector<Index> rows{2048, 8192};
  std::vector<Index> columns{128};
  std::vector<std::string> precisions{"single", "double"};
  std::vector<std::string> pivotings{"partial"};
  std::vector<Index> blocks{TournamentShape{}.block};
  std::vector<int> arities{TournamentShape{}.arity};
  std::vector<Index> slab_rows{TournamentShape{}.min_slab_rows};
};

template <class Real>
void pivot(benchmark::State& state, int threads, Index rows, Index columns,
           const std::optional<TournamentShape>& tournament) {
  const auto arithmetic = make_openblas_panel_arithmetic<Real>(threads, tournament.value_or(TournamentShape{}));
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
        const ColumnMajorView<Real> a{panel.data(), rows, columns, leading_dimension};
        tournament ? arithmetic->factorize_tournament(a, pivots) : arithmetic->factorize_partial(a, pivots);
      });
}

template <class Real>
void register_one(const Settings& settings, const std::string& name, Index rows, Index columns,
                  const std::optional<TournamentShape>& tournament) {
  add_benchmark(name, [threads = settings.threads, rows, columns, tournament](benchmark::State& state) {
    pivot<Real>(state, threads, rows, columns, tournament);
  });
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <class Real>
void register_all(const Settings& settings, const std::string& precision) {
  if (!contains(settings.precisions, precision)) return;
  for (const Index rows : settings.rows) {
    for (const Index columns : settings.columns) {
      const std::string name = "panel/" + precision + "/" + std::to_string(rows) + "/" + std::to_string(columns);
      if (contains(settings.pivotings, "partial")) {
        register_one<Real>(settings, name + "/partial", rows, columns, std::nullopt);
      }
      if (!contains(settings.pivotings, "tournament")) continue;
      for (const Index block : settings.blocks) {
        for (const int arity : settings.arities) {
          for (const Index slab_rows : settings.slab_rows) {
            register_one<Real>(settings,
                               name + "/tournament/" + std::to_string(block) + "/" + std::to_string(arity) + "/" +
                                   std::to_string(slab_rows),
                               rows, columns, TournamentShape{block, arity, slab_rows});
          }
        }
      }
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
  app.add_option("--pivoting", settings.pivotings, "partial,tournament")
      ->delimiter(',')
      ->check(CLI::IsMember({"partial", "tournament"}));
  add_size_list(app, "--block", settings.blocks, "Columns whose pivots one reduction chooses");
  app.add_option("--arity", settings.arities, "Threads whose candidate rows a node of the reduction tree reduces")
      ->delimiter(',')
      ->check(CLI::Range(2, 4096));
  add_size_list(app, "--slab-rows", settings.slab_rows, "Least rows of a thread that takes part in the reduction");
  return run_program(app, argc, argv, [&] {
    register_all<float>(settings, "single");
    register_all<double>(settings, "double");
  });
}
