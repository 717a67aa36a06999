#include "local/solvers/tridiagonal_compute.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index group = 64;  // tridiagonal_whole.comp's

template <class Real>
class WholeBatch final : public TridiagonalBatch<Real> {
 public:
  WholeBatch(Device& device, const BatchLayout& layout, std::shared_ptr<const WholeSystems<Real>> program)
      : TridiagonalBatch<Real>(device, layout), program_(std::move(program)), multipliers_(device, layout.elements()) {}

  void compute() override { program_->solve(this->arrays.device(), this->arrays.layout(), 1, multipliers_); }

 private:
  std::shared_ptr<const WholeSystems<Real>> program_;
  DeviceArray<Real> multipliers_;
};

}  // namespace

template <class Real>
WholeSystems<Real>::WholeSystems(const Device& device, bool normalized)
    : program_(device.compute_program(
          "solvers/tridiagonal_whole.comp",
          definition("DOUBLE", precision_of<Real> == Precision::double_) + definition("NORMALIZED", normalized))) {}

template <class Real>
void WholeSystems<Real>::solve(Device& device, const BatchLayout& layout, Index parts,
                               const DeviceArray<Real>& multipliers) const {
  multipliers.bind(5);
  program_.set(0, static_cast<GLint>(layout.count), static_cast<GLint>(layout.n));
  program_.set(1, static_cast<GLint>(layout.system_stride()), static_cast<GLint>(layout.equation_stride()));
  program_.set(2, static_cast<GLint>(parts));
  device.dispatch(program_, groups_for(layout.count * parts, group));
}

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_whole_systems(Device& device, Index count, Index n,
                                                            const TridiagonalSettings& settings) {
  const auto program = std::make_shared<const WholeSystems<Real>>(device, false);
  const BatchLayout all{.count = count, .n = n, .padded = n, .interleaved = true};
  return make_batches<Real>(device, settings, all, [&](const BatchLayout& layout) {
    return std::make_unique<WholeBatch<Real>>(device, layout, program);
  });
}

template class WholeSystems<float>;
template class WholeSystems<double>;
template std::unique_ptr<TridiagonalSolver<float>> make_whole_systems(Device&, Index, Index,
                                                                      const TridiagonalSettings&);
template std::unique_ptr<TridiagonalSolver<double>> make_whole_systems(Device&, Index, Index,
                                                                       const TridiagonalSettings&);

}  // namespace glinpack::solvers
