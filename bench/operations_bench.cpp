// Every local operation of a backend at LU's shapes, as a rate and as a share of what the machine can do at most:
//   operations_bench --backend gl-compute --device 0 --n 16384 --nb 256,512 [--benchmark_...]
// The trailing matrix is n x n, panels are n x nb. FLOPS and bytes/s are by the host's clock around an operation and
// the wait for it; device_FLOPS and device_bytes/s by the backend's own timings, as a run reports them. Copies on the
// device count bytes read and bytes written, transfers each byte once. The ceilings are measured first: multiply-adds
// of a GL device, OpenBLAS's gemm for what the host computes; copies, uploads and downloads for what moves.
#include <functional>
#include <numeric>

#include "backend/registry.hpp"
#include "base/timeline.hpp"
#include "bench_support.hpp"
#include "compute/ceilings.hpp"
#include "gl/gl_compute.hpp"
#include "openblas/host_ceilings.hpp"

namespace {

using namespace glinpack;
using namespace glinpack::bench;

struct Settings {
  std::string backend{automatic_backend(MemorySpace::device).name};
  BackendOptions options;
  std::vector<Index> n{512};
  std::vector<Index> nb{64};
  std::vector<std::string> precisions{"single", "double"};
  double ceiling_seconds = 0.25;

  bool on_device() const { return computes_on_device(backend); }
};

Settings settings;

/// Most a second; 0: not measured.
struct Limits {
  double flops_single = 0, flops_double = 0;  // of the backend
  double host_flops_single = 0, host_flops_double = 0;
  double copy = 0, upload = 0, download = 0;

  template <class Real>
  double flops() const {
    return sizeof(Real) == 4 ? flops_single : flops_double;
  }
  template <class Real>
  double host_flops() const {
    return sizeof(Real) == 4 ? host_flops_single : host_flops_double;
  }
};

Limits measured_limits() {
  Limits limits;
  if (settings.ceiling_seconds <= 0) return limits;
  const MeasuringOptions measuring{.seconds = settings.ceiling_seconds};
  const HostCeilings host = measure_host_ceilings(settings.options.threads, measuring);
  limits.host_flops_single = limits.flops_single = host.gemm_single.median;
  limits.host_flops_double = limits.flops_double = host.gemm_double.median;
  limits.copy = host.copy.median;
  limits.upload = limits.download = limits.copy / 2;  // a byte that is read and written crosses once
  if (settings.on_device()) {
    const DeviceCeilings device =
        compute::measure_device_ceilings(gl::open_device(settings.options), ShaderSource(), measuring);
    limits.flops_single = device.fma_single.median;
    limits.flops_double = device.fma_double.median;
    limits.copy = device.copy.rate.median;
    limits.upload = device.upload.rate.median;
    limits.download = device.download.rate.median;
  }
  benchmark::AddCustomContext("BLAS kernels", host.kernels);
  const auto tell = [](const char* name, double value) {
    benchmark::AddCustomContext(std::string("ceiling, ") + name, std::to_string(value * 1e-9));
  };
  tell("GFLOPS single", limits.flops_single);
  tell("GFLOPS double", limits.flops_double);
  tell("GFLOPS single, host", limits.host_flops_single);
  tell("GFLOPS double, host", limits.host_flops_double);
  tell("GB/s copied", limits.copy);
  tell("GB/s uploaded", limits.upload);
  tell("GB/s downloaded", limits.download);
  return limits;
}

/// What the operations of a size work on.
template <class Real>
struct Problem {
  Problem(Backend<Real>& backend, Index n, Index nb)
      : a(random_matrix(backend, n, n)),
        l(random_matrix(backend, nb, n)),
        u(random_matrix(backend, nb, n)),
        few_rows_of_l(random_matrix(backend, nb, 2)),
        zeros(backend.allocate(nb, n)),
        x(random_matrix(backend, nb, 1)),
        y(random_matrix(backend, n, 1)),
        buffer(backend.allocate_host(n * nb)),
        block{buffer.get(), 0, nb, n, n},
        rows(static_cast<std::size_t>(n)) {
    fill_uniform(buffer->data(), buffer->size());
    std::iota(rows.begin(), rows.end(), Index{0});
    std::shuffle(rows.begin(), rows.end(), std::mt19937(1));
    // as pivoting does: rows of the block with others, here in pairs from the two ends of the shuffled rows
    for (std::size_t j = 0; j < exchanges(n, nb); ++j) {
      moves.push_back({rows[j], rows[rows.size() - 1 - j]});
      moves.push_back({rows[rows.size() - 1 - j], rows[j]});
    }
    rows.resize(static_cast<std::size_t>(nb));
    backend.reserve_moves(static_cast<Index>(moves.size()), n);
  }

  static std::size_t exchanges(Index n, Index nb) { return static_cast<std::size_t>(std::min(nb, n / 2)); }

  std::unique_ptr<DeviceMatrix<Real>> a, l, u;  // n x n; nb x n, panels and block rows alike
  std::unique_ptr<DeviceMatrix<Real>> few_rows_of_l;
  std::unique_ptr<DeviceMatrix<Real>> zeros;  // nb x n, which normalizing leaves zeros: random ones would overflow
  std::unique_ptr<DeviceMatrix<Real>> x, y;
  std::unique_ptr<HostBuffer<Real>> buffer;
  HostBlock<Real> block;  // nb x n
  std::vector<Index> rows;
  std::vector<RowMove> moves;
};

/// One for all benchmarks of a precision: shaders compile once. Sizes follow each other, so that one problem is held.
template <class Real>
class Machine {
 public:
  static Machine& get() {
    static Machine instance;
    return instance;
  }

  Backend<Real>& backend() { return *backend_; }
  Problem<Real>& problem(Index n, Index nb) {
    if (!problem_ || n != n_ || nb != nb_) {
      problem_.reset();
      problem_ = std::make_unique<Problem<Real>>(*backend_, n, nb);
      n_ = n;
      nb_ = nb;
    }
    return *problem_;
  }

  /// measure() with the wait for the operation, and the rate by the backend's own timings.
  void measure_operation(benchmark::State& state, const Work& work, const std::function<void()>& operation) {
    operation();
    backend_->wait_all();
    backend_->collect_timings();
    timeline_.restart();
    measure(state, work, nothing, [&] {
      operation();
      backend_->wait_all();
    });
    backend_->collect_timings();
    double seconds = 0;
    for (const Interval& interval : timeline_.intervals()) {
      if (interval.lane == Lane::gpu) seconds += interval.seconds();
    }
    if (seconds > 0) {
      state.counters[std::string("device_") + work.unit] =
          work.amount * static_cast<double>(state.iterations()) / seconds;
    }
  }

 private:
  Timeline timeline_;
  std::unique_ptr<Backend<Real>> backend_ = make_backend<Real>(settings.backend, settings.options, timeline_);
  Index n_ = 0, nb_ = 0;
  std::unique_ptr<Problem<Real>> problem_;
};

template <class Real>
using Call = void (*)(Backend<Real>&, Problem<Real>&, Index nb);

/// The backend's operations of one size.
template <class Real>
void add_operations(const Limits& limits, const std::string& shape, Index n, Index nb) {
  const auto add = [&](const std::string& name, const Work& work, Call<Real> call) {
    add_benchmark(name + shape, [work, call, n, nb](benchmark::State& state) {
      Machine<Real>& machine = Machine<Real>::get();
      Problem<Real>& problem = machine.problem(n, nb);
      machine.measure_operation(state, work, [&] { call(machine.backend(), problem, nb); });
    });
  };
  const double flops = limits.flops<Real>(), bytes = static_cast<double>(n * nb) * sizeof(Real);
  const double moved =
      2.0 * static_cast<double>(Problem<Real>::exchanges(n, nb)) * static_cast<double>(n) * sizeof(Real);
  add("update", {"FLOPS", product_flops(n, n, nb), flops},
      [](Backend<Real>& b, Problem<Real>& p, Index) { b.update(whole(*p.l), whole(*p.u), whole(*p.a)); });
  add("update_few_rows", {"bytes/s", bytes, limits.copy}, [](Backend<Real>& b, Problem<Real>& p, Index) {
    b.update(whole(*p.few_rows_of_l), whole(*p.u), whole(*p.a).block(0, 0, 2, p.a->columns()));
  });
  add("solve_unit_lower", {"FLOPS", solve_unit_lower_flops(nb, n), flops},
      [](Backend<Real>& b, Problem<Real>& p, Index k) {
        b.solve_unit_lower(whole(*p.l).block(0, 0, k, k), whole(*p.zeros));
      });
  const double triangle = static_cast<double>(nb) * static_cast<double>(nb + 1) / 2 * sizeof(Real);
  add("solve_triangle", {"bytes/s", triangle, limits.copy}, [](Backend<Real>& b, Problem<Real>& p, Index k) {
    b.solve_triangle(Triangle::unit_lower, whole(*p.l).block(0, 0, k, k), whole(*p.zeros).block(0, 0, k, 1));
  });
  add("substitute", {"bytes/s", bytes, limits.copy}, [](Backend<Real>& b, Problem<Real>& p, Index k) {
    b.subtract_product(whole(*p.a).block(0, 0, p.a->rows(), k), whole(*p.x), whole(*p.y));
  });
  add("copy", {"bytes/s", 2 * bytes, limits.copy}, [](Backend<Real>& b, Problem<Real>& p, Index k) {
    b.copy(whole(*p.a).block(0, 0, k, p.a->columns()), whole(*p.u));
  });
  add("copy_transposed", {"bytes/s", 2 * bytes, limits.copy}, [](Backend<Real>& b, Problem<Real>& p, Index k) {
    b.copy_transposed(whole(*p.l), whole(*p.a).block(0, 0, p.a->rows(), k));
  });
  add("move_rows", {"bytes/s", 2 * moved, limits.copy},
      [](Backend<Real>& b, Problem<Real>& p, Index) { b.move_rows(whole(*p.a), p.moves); });
  add("upload", {"bytes/s", bytes, limits.upload},
      [](Backend<Real>& b, Problem<Real>& p, Index) { b.upload(p.block, whole(*p.u)); });
  add("download", {"bytes/s", bytes, limits.download},
      [](Backend<Real>& b, Problem<Real>& p, Index) { b.download(whole(*p.u), p.block); });
  add("download_transposed", {"bytes/s", bytes, limits.download}, [](Backend<Real>& b, Problem<Real>& p, Index k) {
    b.download_transposed(whole(*p.a).block(0, 0, p.a->rows(), k), p.block);
  });
  add("gather_rows", {"bytes/s", bytes, limits.download},
      [](Backend<Real>& b, Problem<Real>& p, Index) { b.gather_rows(whole(*p.a), p.rows, p.block); });
  add("scatter_rows", {"bytes/s", bytes, limits.upload},
      [](Backend<Real>& b, Problem<Real>& p, Index) { b.scatter_rows(p.block, p.rows, whole(*p.a)); });
}

/// The same of panels on the host: n x nb, the triangles nb x nb.
template <class Real>
void add_panel_operations(const Limits& limits, const std::string& shape, Index n, Index nb) {
  struct Panel {
    Panel(Index n, Index nb) : values(static_cast<std::size_t>(n * nb)), pivots(static_cast<std::size_t>(nb)) {
      fill_uniform(values.data(), n * nb);
      PanelArithmetic<Real>& arithmetic = Machine<Real>::get().backend().panel();
      factors = changed = values;
      arithmetic.factorize_partial({factors.data(), n, nb, n}, pivots);
    }
    std::vector<Real> values, factors, changed;  // column-major, n x nb
    std::vector<Index> pivots;
  };
  using PanelCall = void (*)(PanelArithmetic<Real>&, Panel&, Index n, Index nb);
  const auto add = [&](const std::string& name, double flops, PanelCall call) {
    const Work work{"FLOPS", flops, limits.host_flops<Real>()};
    add_benchmark("panel_" + name + shape, [work, call, n, nb](benchmark::State& state) {
      Panel panel(n, nb);
      PanelArithmetic<Real>& arithmetic = Machine<Real>::get().backend().panel();
      measure(
          state, work, [&] { panel.changed = panel.values; }, [&] { call(arithmetic, panel, n, nb); });
    });
  };
  const auto m = static_cast<double>(n), k = static_cast<double>(nb);
  add("pivot", k * k * (m - k / 3), [](PanelArithmetic<Real>& arithmetic, Panel& p, Index rows, Index columns) {
    arithmetic.factorize_partial({p.changed.data(), rows, columns, rows}, p.pivots);
  });
  add("eliminate", m * k * k, [](PanelArithmetic<Real>& arithmetic, Panel& p, Index rows, Index columns) {
    arithmetic.solve_l21({p.factors.data(), columns, columns, rows}, {p.changed.data(), rows, columns, rows});
  });
  add("solve_unit_lower", solve_unit_lower_flops(nb, nb),
      [](PanelArithmetic<Real>& arithmetic, Panel& p, Index rows, Index columns) {
        arithmetic.solve_unit_lower({p.factors.data(), columns, columns, rows},
                                    {p.changed.data(), columns, columns, rows});
      });
  add("update", product_flops(n, nb, nb), [](PanelArithmetic<Real>& arithmetic, Panel& p, Index rows, Index columns) {
    arithmetic.update({p.factors.data(), rows, columns, rows}, {p.values.data(), columns, columns, rows},
                      {p.changed.data(), rows, columns, rows});
  });
}

template <class Real>
void add_all(const Limits& limits, const std::string& precision) {
  for (const Index n : settings.n) {
    for (const Index nb : settings.nb) {
      if (nb > n) throw std::runtime_error("--nb " + std::to_string(nb) + " is more than --n " + std::to_string(n));
      const std::string shape = "/" + precision + "/" + std::to_string(n) + "/" + std::to_string(nb);
      add_operations<Real>(limits, shape, n, nb);
      add_panel_operations<Real>(limits, shape, n, nb);
    }
  }
  const BackendInfo info = Machine<Real>::get().backend().info();
  benchmark::AddCustomContext(precision, info.device + ", " + info.driver);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures the local operations of a backend, as shares of the machine's measured ceilings");
  app.add_option("--backend", settings.backend)->check(CLI::IsMember(backend_names()))->capture_default_str();
  app.add_option("--device", settings.options.device, "EGL device, as `glinpack devices` counts")
      ->capture_default_str();
  app.add_option("--threads", settings.options.threads, "of the host")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  add_size_list(app, "--n", settings.n, "rows and columns of the trailing matrix");
  add_size_list(app, "--nb", settings.nb, "block sizes");
  add_precisions(app, settings.precisions);
  app.add_option("--shader-directory", settings.options.values["shader-dir"],
                 "GLSL files to use in place of the built-in");
  app.add_option("--tile", settings.options.values["tile"],
                 "gl-compute: of reduce, as `glinpack tune` lists; of one --precision");
  app.add_option("--ceiling-seconds", settings.ceiling_seconds, "for each ceiling; 0: no shares")
      ->capture_default_str();
  return run_program(app, argc, argv, [] {
    const Limits limits = measured_limits();
    for (const std::string& precision : settings.precisions) {
      if (precision == "single") add_all<float>(limits, precision);
      if (precision == "double" && backend_record(settings.backend).make_double) add_all<double>(limits, precision);
    }
  });
}
