#include "solvers/tridiagonal/tridiagonal_variants.hpp"

#include <algorithm>
#include <limits>

namespace glinpack::solvers {
namespace {

constexpr Index most_work_groups = 65535;  // of a dispatch in each direction: what GL 4.5 guarantees

}  // namespace

template <class Real>
EquationArrays<Real>::EquationArrays(Device& device, const BatchLayout& layout)
    : device_(&device),
      layout_(layout),
      lower_(device, layout.elements()),
      diagonal_(device, layout.elements()),
      upper_(device, layout.elements()),
      right_(device, layout.elements()),
      solution_(device, layout.elements()),
      status_(device, layout.count) {}

template <class Real>
void EquationArrays<Real>::load(const TridiagonalSystems<Real>& systems, Index first) {
  load(lower_, systems.lower, first, Real{0});
  load(diagonal_, systems.diagonal, first, Real{1});
  load(upper_, systems.upper, first, Real{0});
  load(right_, systems.right, first, Real{0});
}

template <class Real>
void EquationArrays<Real>::load(DeviceArray<Real>& array, const std::vector<Real>& elements, Index first,
                                Real padding) {
  const BatchLayout& to = layout_;
  array.upload(to.elements(), [&](Real* mapped) {
    for_system_blocks(to.count, to.padded, [&](Index s, Index begin, Index end) {
      const Real* const from = elements.data() + (first + s) * to.n;
      Real* const target = mapped + s * to.system_stride();
      for (Index i = begin; i < end; ++i) target[i * to.equation_stride()] = i < to.n ? from[i] : padding;
    });
  });
}

template <class Real>
void EquationArrays<Real>::begin() {
  status_.clear();
  lower_.bind(0);
  diagonal_.bind(1);
  upper_.bind(2);
  right_.bind(3);
  solution_.bind(4);
  status_.bind(6);
}

template <class Real>
std::optional<ZeroPivot> EquationArrays<Real>::store(std::span<Real> solution) {
  const BatchLayout& from = layout_;
  solution_.download(from.elements(), [&](const Real* mapped) {
    for_system_blocks(from.count, from.n, [&](Index s, Index begin, Index end) {
      Real* const to = solution.data() + s * from.n;
      const Real* const source = mapped + s * from.system_stride();
      for (Index i = begin; i < end; ++i) to[i] = source[i * from.equation_stride()];
    });
  });
  std::vector<std::int32_t> status(static_cast<std::size_t>(from.count));
  status_.download(status);
  const auto zero = std::find_if(status.begin(), status.end(), [](std::int32_t value) { return value != 0; });
  if (zero == status.end()) return std::nullopt;
  return ZeroPivot{zero - status.begin(), Index{std::numeric_limits<std::int32_t>::max()} - *zero};
}

Index systems_of_a_batch(const DeviceDescription& device, const TridiagonalSettings& settings, Precision precision,
                         Index elements_of_a_system) {
  constexpr Index largest_index = std::numeric_limits<std::int32_t>::max();  // shaders count in 32 bits
  const auto bytes = static_cast<Index>(factor_bytes(precision));
  const Index most = std::min({device.storage_block / bytes, largest_index, settings.elements.value_or(largest_index)});
  return std::min(most_work_groups, most / elements_of_a_system);
}

template <class Real>
void BatchedTridiagonal<Real>::load(const TridiagonalSystems<Real>& systems) {
  Index first = 0;
  for (const auto& batch : batches_) {
    batch->arrays.load(systems, first);
    first += batch->arrays.layout().count;
  }
}

template <class Real>
void BatchedTridiagonal<Real>::compute() {
  device_.measure(Stage::compute, [&] {
    for (const auto& batch : batches_) {
      batch->arrays.begin();
      batch->compute();
    }
  });
}

template <class Real>
std::optional<ZeroPivot> BatchedTridiagonal<Real>::store(std::span<Real> solution) {
  std::optional<ZeroPivot> first_zero;
  Index first = 0;
  for (const auto& batch : batches_) {
    const BatchLayout& layout = batch->arrays.layout();
    const auto part =
        solution.subspan(static_cast<std::size_t>(first * layout.n), static_cast<std::size_t>(layout.count * layout.n));
    const std::optional<ZeroPivot> zero = batch->arrays.store(part);
    if (zero && !first_zero) first_zero = ZeroPivot{first + zero->system, zero->equation};
    first += layout.count;
  }
  return first_zero;
}

Index groups_for(Index invocations, Index group) {
  return std::min(most_work_groups, (invocations + group - 1) / group);
}

template class EquationArrays<float>;
template class EquationArrays<double>;
template class BatchedTridiagonal<float>;
template class BatchedTridiagonal<double>;

namespace {

constexpr Index whole_group = 64;  // tridiagonal_whole.comp's

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
  device.dispatch(program_, groups_for(layout.count * parts, whole_group));
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
