#include <algorithm>
#include <array>

#include "solvers/tridiagonal/tridiagonal_variants.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index reduction_group = 128;  // cyclic_reduction.comp's
constexpr Index enough_parts = 16384;   // systems, one per invocation, that occupy a large GPU

template <class Real>
struct ReductionPrograms {
  ReductionPrograms(const Device& device, bool reduces) : whole(device, reduces) {
    for (const bool first : {false, true}) {
      reduce[first] = device.compute_program(
          "solvers/cyclic_reduction.comp",
          definition("DOUBLE", precision_of<Real> == Precision::double_) + definition("FIRST", first));
    }
  }
  std::array<gl::Program, 2> reduce;  // later steps, the first step
  WholeSystems<Real> whole;
};

template <class Real>
struct ReducedSystems {
  ReducedSystems(Device& device, Index elements)
      : lower(device, elements), upper(device, elements), right(device, elements) {}
  DeviceArray<Real> lower, upper, right;
};

template <class Real>
class ReductionBatch final : public TridiagonalBatch<Real> {
 public:
  ReductionBatch(Device& device, const BatchLayout& layout, Index steps,
                 std::shared_ptr<const ReductionPrograms<Real>> programs)
      : TridiagonalBatch<Real>(device, layout),
        steps_(steps),
        programs_(std::move(programs)),
        reduced_{ReducedSystems<Real>(device, layout.elements()), ReducedSystems<Real>(device, layout.elements())} {}

  void compute() override {
    const BatchLayout& layout = this->arrays.layout();
    Index distance = 1;
    for (Index step = 0; step < steps_; ++step, distance *= 2) reduce(step, distance);
    // one of the two alternating sets of arrays is free
    const ReducedSystems<Real>& unused = reduced_[static_cast<std::size_t>(steps_ % 2)];
    this->arrays.solution().bind(4);
    programs_->whole.solve(this->arrays.device(), layout, std::min(distance, layout.n), unused.lower);
  }

 private:
  void reduce(Index step, Index distance) {
    const ReducedSystems<Real>& to = reduced_[static_cast<std::size_t>(step % 2)];
    to.lower.bind(4);
    to.upper.bind(5);
    to.right.bind(7);
    const BatchLayout& layout = this->arrays.layout();
    const gl::Program& program = programs_->reduce[step == 0];
    program.set(0, static_cast<GLint>(layout.count), static_cast<GLint>(layout.n));
    program.set(1, static_cast<GLint>(distance));
    this->arrays.device().dispatch(program, groups_for(layout.n, reduction_group), layout.count);
    to.lower.bind(0);
    to.upper.bind(2);
    to.right.bind(3);
  }

  Index steps_;
  std::shared_ptr<const ReductionPrograms<Real>> programs_;
  std::array<ReducedSystems<Real>, 2> reduced_;
};

}  // namespace

Index reduction_steps(const TridiagonalSettings& settings, Index count, Index n) {
  Index steps = 0;
  for (Index parts = 1; parts < n; parts *= 2, ++steps) {
    if (settings.steps ? steps >= *settings.steps : count * parts >= enough_parts) break;
  }
  return steps;
}

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_cyclic_reduction(Device& device, Index count, Index n, Index steps,
                                                               const TridiagonalSettings& settings) {
  const auto programs = std::make_shared<const ReductionPrograms<Real>>(device, steps > 0);
  const BatchLayout all{.count = count, .n = n, .padded = n, .interleaved = false};
  return make_batches<Real>(device, settings, all, [&](const BatchLayout& layout) {
    return std::make_unique<ReductionBatch<Real>>(device, layout, steps, programs);
  });
}

template std::unique_ptr<TridiagonalSolver<float>> make_cyclic_reduction(Device&, Index, Index, Index,
                                                                         const TridiagonalSettings&);
template std::unique_ptr<TridiagonalSolver<double>> make_cyclic_reduction(Device&, Index, Index, Index,
                                                                          const TridiagonalSettings&);

}  // namespace glinpack::solvers
