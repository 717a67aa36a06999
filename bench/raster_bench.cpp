// The white paper's four operations (gl-raster, row_by_row.hpp) on matrices of n x n with panels k wide, texture
// coordinates from the vertices (streamed) and by the fragments (computed):
//   raster_bench --device 0 --n 1024,2048 --k 64 [--benchmark_...]
// FLOPS by the host's clock around an operation and the wait for it. The matrices change from iteration to iteration;
// what is in them does not matter to the time as long as it stays finite, so that they are uploaded anew before each.
#include <utility>

#include "base/row_by_row.hpp"
#include "bench_support.hpp"
#include "gl/raster/raster_backend.hpp"

namespace {

using namespace glinpack;
using namespace glinpack::bench;

enum class Operation { pivot, normalize, eliminate, reduce };

struct Machine {
  explicit Machine(const BackendOptions& options) : backend(make_raster_backend(options, timeline)) {}
  Timeline timeline;
  std::unique_ptr<Backend<float>> backend;
};

/// What an operation works on: an n x n matrix, and a panel of k columns with its pivots as the pivot operation leaves
/// them.
class Problem {
 public:
  Problem(Backend<float>& backend, Index n, Index k)
      : backend_(backend),
        n_(n),
        k_(k),
        random_(backend.allocate_host(n * n)),
        a_(backend.allocate(n, n)),
        panel_(backend.allocate_host(n * k)),
        u_(backend.allocate_host(n * k)),
        pivots_(static_cast<std::size_t>(k)) {
    fill_uniform(random_->data(), n * n);
    renew();
    run(Operation::pivot);
    for (Index j = 0; j < k; ++j) u11_.insert(u11_.end(), panel_->data() + j * n, panel_->data() + j * n + k);
  }

  void renew() { backend_.wait(backend_.upload({random_.get(), 0, n_, n_, n_}, whole(*a_))); }

  void run(Operation operation) {
    RowByRowAlgorithm<float>& algorithm = *backend_.row_by_row();
    const HostBlock<float> panel{panel_.get(), 0, k_, n_, n_};
    switch (operation) {
      case Operation::pivot:
        algorithm.pivot_rows(whole(*a_), panel, {u_.get(), 0, k_, n_ - k_, n_ - k_}, pivots_);
        break;
      case Operation::normalize:
        algorithm.normalize_rows(panel, pivots_, whole(*a_), {u_.get(), 0, k_, n_, n_});
        break;
      case Operation::eliminate:
        algorithm.eliminate_rows({u11_.data(), k_, k_, k_}, whole(*a_).block(0, 0, n_, k_), panel);
        break;
      case Operation::reduce:
        backend_.wait(algorithm.reduce_rows(panel, {u_.get(), 0, k_, n_, n_}, whole(*a_)));
        break;
    }
    backend_.wait_all();
  }

  double flops(Operation operation) const {
    const auto n = static_cast<double>(n_), k = static_cast<double>(k_);
    switch (operation) {
      case Operation::pivot:
        return 2.0 * k * (n - k / 2) * (n - k / 2);
      case Operation::normalize:
        return 2.0 * k * n * (n - k / 2);
      case Operation::eliminate:
        return n * k * k;
      case Operation::reduce:
        return 2.0 * n * n * k;
    }
    return 0;
  }

 private:
  Backend<float>& backend_;
  Index n_;
  Index k_;
  std::unique_ptr<HostBuffer<float>> random_;
  std::unique_ptr<DeviceMatrix<float>> a_;
  std::unique_ptr<HostBuffer<float>> panel_;
  std::unique_ptr<HostBuffer<float>> u_;
  std::vector<Index> pivots_;
  std::vector<float> u11_;  // k x k, column-major
};

void add(const std::string& name, Operation operation, Backend<float>& backend, Index n, Index k) {
  add_benchmark(
      name + "/" + std::to_string(n) + "/" + std::to_string(k), [operation, &backend, n, k](benchmark::State& state) {
        Problem problem(backend, n, k);
        measure(
            state, {"FLOPS", problem.flops(operation)}, [&] { problem.renew(); }, [&] { problem.run(operation); });
      });
}

}  // namespace

int main(int argc, char** argv) {
  BackendOptions options;
  std::vector<Index> sizes{512};
  std::vector<Index> widths{64};
  CLI::App app("Measures gl-raster's operations");
  app.add_option("--device", options.device, "EGL device, as `glinpack devices` counts");
  add_size_list(app, "--n", sizes, "rows and columns");
  add_size_list(app, "--k", widths, "panel widths");
  std::unique_ptr<Machine> machine;
  return run_program(app, argc, argv, [&] {
    machine = std::make_unique<Machine>(options);
    for (const auto& [name, operation] : {std::pair{"pivot", Operation::pivot},
                                          {"normalize", Operation::normalize},
                                          {"eliminate", Operation::eliminate},
                                          {"reduce", Operation::reduce}}) {
      for (const Index n : sizes) {
        for (const Index k : widths) {
          add(name, operation, *machine->backend, n, k);
        }
      }
    }
    const BackendInfo info = machine->backend->info();
    benchmark::AddCustomContext("device", info.device + ", " + info.driver);
  });
}
