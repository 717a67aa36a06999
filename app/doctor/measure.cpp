#include "app/doctor/measure.hpp"

#include <exception>

#include "backend/registry.hpp"
#include "backend/timeline.hpp"
#include "mpi/communication.hpp"

namespace glinpack::app::doctor {

namespace {

// Large enough for a processor of many cores and for a GPU; 46 MiB in all.
constexpr Index order = 2048;
constexpr Index depth = 256;

// Random numbers, not zeros: a GPU that multiplies zeros draws less power and clocks higher than in a run.
void fill(Backend<double>& backend, DeviceMatrix<double>& matrix) {
  const Index elements = matrix.rows() * matrix.columns();
  const auto buffer = backend.allocate_host(elements);
  for (Index e = 0; e < elements; ++e) buffer->data()[e] = static_cast<double>(e % 127 - 63) / 64;
  backend.wait(backend.upload({buffer.get(), 0, matrix.rows(), matrix.columns(), matrix.columns()}, whole(matrix)));
}

double reduce_rate(std::string_view name, const BackendOptions& backend_options, const MeasuringOptions& options) {
  Timeline timeline;
  const auto backend = make_backend<double>(name, backend_options, timeline);
  const auto l_transposed = backend->allocate(depth, order), u = backend->allocate(depth, order);
  const auto a = backend->allocate(order, order);
  fill(*backend, *l_transposed);
  fill(*backend, *u);
  fill(*backend, *a);
  return measured_rate(options, product_flops(order, order, depth),
                       [&](std::int64_t rounds) {
                         for (std::int64_t round = 0; round < rounds; ++round) {
                           backend->update(whole(*l_transposed), whole(*u), whole(*a));
                         }
                         backend->wait_all();
                       })
      .median;
}

}  // namespace

GemmFacts measure_gemm(int threads, int device, const MeasuringOptions& options) {
  BackendOptions backend_options;
  backend_options.threads = threads;
  GemmFacts facts;
  const auto measured = [&](MemorySpace memory) {
    const std::string_view backend = automatic_backend(memory).name;
    try {
      return reduce_rate(backend, backend_options, options);
    } catch (const std::exception& error) {
      facts.error = std::string(backend) + ": " + error.what();
      return 0.0;
    }
  };
  barrier(MPI_COMM_WORLD);
  facts.host = measured(MemorySpace::host);
  barrier(MPI_COMM_WORLD);
  if (device < 0) return facts;
  backend_options.device = device;
  facts.device = measured(MemorySpace::device);
  return facts;
}

}  // namespace glinpack::app::doctor
