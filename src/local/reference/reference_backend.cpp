#include "reference/reference_backend.hpp"

#include "base/timeline.hpp"
#include "host/host_backend.hpp"

namespace glinpack {
namespace {

template <class Real>
class ReferenceBackend final : public HostBackend<Real> {
 public:
  using HostBackend<Real>::HostBackend;

  void solve_unit_lower(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) override {
    if (a12.empty()) return;
    const auto scope =
        this->timeline().scope(Lane::cpu, Phase::normalize, 0, solve_unit_lower_flops(a12.rows, a12.columns));
    const RowMajorView<const Real> lt = view_of(l11_transposed);
    const RowMajorView<Real> a = view_of(a12);
    for (Index i = 0; i < a.rows; ++i) {
      for (Index k = 0; k < i; ++k) {
        for (Index j = 0; j < a.columns; ++j) a(i, j) -= lt(k, i) * a(k, j);
      }
    }
  }

  void update(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) override {
    if (a22.empty() || u12.empty()) return;
    const auto scope =
        this->timeline().scope(Lane::cpu, Phase::reduce, 0, product_flops(a22.rows, a22.columns, u12.rows));
    const RowMajorView<const Real> lt = view_of(l21_transposed);
    const RowMajorView<const Real> u = view_of(u12);
    const RowMajorView<Real> a = view_of(a22);
    std::vector<Real> products(static_cast<std::size_t>(a.columns));  // of a row, rounded into it once
    for (Index i = 0; i < a.rows; ++i) {
      std::ranges::fill(products, Real(0));
      for (Index k = 0; k < u.rows; ++k) {
        for (Index j = 0; j < a.columns; ++j) products[static_cast<std::size_t>(j)] += lt(k, i) * u(k, j);
      }
      for (Index j = 0; j < a.columns; ++j) a(i, j) -= products[static_cast<std::size_t>(j)];
    }
  }

  void subtract_product(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) override {
    if (a.empty()) return;
    const auto scope = this->timeline().scope(Lane::cpu, Phase::substitution, 0, substitute_flops(a.rows, a.columns));
    const RowMajorView<const Real> matrix = view_of(a);
    const RowMajorView<const Real> x_view = view_of(x);
    const RowMajorView<Real> y_view = view_of(y);
    for (Index i = 0; i < matrix.rows; ++i) {
      for (Index j = 0; j < matrix.columns; ++j) y_view(i, 0) -= matrix(i, j) * x_view(j, 0);
    }
  }
};

}  // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_reference_backend(const BackendOptions& options, Timeline& timeline) {
  BackendInfo info;
  info.backend = reference_record.name;
  info.device = processor_name();
  info.driver = "naive loops";
  info.free_bytes = available_memory();
  return std::make_unique<ReferenceBackend<Real>>(timeline, std::move(info), make_reference_panel_arithmetic<Real>(),
                                                  options.threads);
}

template std::unique_ptr<Backend<float>> make_reference_backend(const BackendOptions&, Timeline&);
template std::unique_ptr<Backend<double>> make_reference_backend(const BackendOptions&, Timeline&);

}  // namespace glinpack
