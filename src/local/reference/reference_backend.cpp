#include "reference/reference_backend.hpp"

#include <algorithm>
#include <vector>

#include "host/host_backend.hpp"

namespace glinpack {
namespace {

template <class Real>
void solve_unit_lower(RowMajorView<const Real> lt, RowMajorView<Real> a) {
  for (Index i = 0; i < a.rows; ++i) {
    for (Index k = 0; k < i; ++k) {
      for (Index j = 0; j < a.columns; ++j) a(i, j) -= lt(k, i) * a(k, j);
    }
  }
}

template <class Real>
void update(RowMajorView<const Real> lt, RowMajorView<const Real> u, RowMajorView<Real> a) {
  std::vector<Real> products(static_cast<std::size_t>(a.columns));  // of a row, rounded into it once
  for (Index i = 0; i < a.rows; ++i) {
    std::ranges::fill(products, Real(0));
    for (Index k = 0; k < u.rows; ++k) {
      for (Index j = 0; j < a.columns; ++j) products[static_cast<std::size_t>(j)] += lt(k, i) * u(k, j);
    }
    for (Index j = 0; j < a.columns; ++j) a(i, j) -= products[static_cast<std::size_t>(j)];
  }
}

template <class Real>
void subtract_product(RowMajorView<const Real> a, RowMajorView<const Real> x, RowMajorView<Real> y) {
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.columns; ++j) y(i, 0) -= a(i, j) * x(j, 0);
  }
}

}  // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_reference_backend(const BackendOptions& options, Timeline& timeline) {
  BackendInfo info;
  info.backend = reference_record.name;
  info.device = processor_name();
  info.driver = "naive loops";
  info.free_bytes = available_memory();
  return std::make_unique<HostBackend<Real>>(
      timeline, info, make_reference_panel_arithmetic<Real>(),
      HostKernels<Real>{solve_unit_lower<Real>, update<Real>, subtract_product<Real>}, options.threads);
}

template std::unique_ptr<Backend<float>> make_reference_backend(const BackendOptions&, Timeline&);
template std::unique_ptr<Backend<double>> make_reference_backend(const BackendOptions&, Timeline&);

}  // namespace glinpack
