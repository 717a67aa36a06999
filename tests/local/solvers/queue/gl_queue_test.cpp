// A device in a background thread: only that thread calls GL, and it frees every GL object.

#include <future>

#include "base/operation_queue.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/gl_objects.hpp"

namespace glinpack::solvers {
namespace {

using Queue = OperationQueue<Device>;
using Numbers = std::vector<float>;

constexpr Index n = 20;

/// Solves the systems that `operands` refers to.
struct BoundSolver {
  BoundSolver(Device& device, const TridiagonalSystems<float>& systems, TridiagonalVariant variant)
      : solution(systems.right.size()),
        operands{&systems, solution},
        steps(make_tridiagonal(device, operands, {.variant = variant})) {}
  Numbers solution;
  TridiagonalOperands<float> operands;
  Steps steps;
};
using Solver = std::unique_ptr<BoundSolver>;

class GlQueue : public testing::Test {
 protected:
  ResultId<OnDevice<Solver>> make_solver(TridiagonalVariant variant) {
    return queue_.enqueue([this, variant](Device& device) {
      return OnDevice<Solver>{std::make_unique<BoundSolver>(device, systems_, variant)};
    });
  }
  ResultId<Numbers> solve(ResultId<OnDevice<Solver>> solver, const TridiagonalSystems<float>& systems) {
    return queue_.enqueue(
        [&systems](Device&, const Solver& used) {
          used->operands.systems = &systems;
          used->steps.run();
          return used->solution;
        },
        solver);
  }
  int objects() {
    return *queue_.take(queue_.enqueue([](Device& device) { return test::count_gl_objects(*device.context()); }));
  }

  TridiagonalSystems<float> systems_ = random_tridiagonal_systems<float>(3, n, 1);
  Queue queue_{[] {
    auto device = std::make_shared<Device>(test::any_gl_device(), "", true);
    device->staging(1 << 12);
    return device;
  }};
};

TEST_F(GlQueue, SolvesForManyThreadsWithASolverUnderConstruction) {
  const int before = objects();
  std::vector<std::future<double>> residuals;
  for (const TridiagonalVariant variant : all_tridiagonal_variants) {
    residuals.push_back(std::async(std::launch::async, [this, variant] {
      const auto solver = make_solver(variant);
      const auto solution = solve(solver, systems_);
      queue_.release(solver);
      return largest_tridiagonal_residual<float>(systems_, *queue_.take(solution));
    }));
  }
  for (auto& residual : residuals) EXPECT_LT(residual.get(), 16);
  EXPECT_EQ(objects(), before) << "GL objects of a released solver remain";
}

TEST_F(GlQueue, ErrorsAreThrownInTheWaitingThreadAndLeaveNoGlObjects) {
  const int before = objects();
  TridiagonalSystems<float> singular = systems_;
  singular.lower[5] = singular.diagonal[5] = 0;
  for (const TridiagonalVariant variant : all_tridiagonal_variants) {
    const auto solver = make_solver(variant);
    EXPECT_THROW(queue_.take(solve(solver, singular)), ZeroPivotError);
    EXPECT_LT(largest_tridiagonal_residual<float>(systems_, *queue_.take(solve(solver, systems_))), 16);
    queue_.release(solver);
  }
  const TridiagonalSystems<float> none(0, n);
  const auto not_made = queue_.enqueue([&none](Device& device) {
    return OnDevice<Solver>{std::make_unique<BoundSolver>(device, none, TridiagonalVariant::compute)};
  });
  EXPECT_THROW(queue_.take(solve(not_made, systems_)), std::invalid_argument);
  queue_.release(not_made);
  EXPECT_EQ(objects(), before);
}

TEST_F(GlQueue, UnreleasedSolversAreDestroyedBeforeTheDevice) {
  const auto solver = make_solver(TridiagonalVariant::raster);
  const auto solution = solve(solver, systems_);
  queue_.finish();
  EXPECT_LT(largest_tridiagonal_residual<float>(systems_, *queue_.take(solution)), 16);
  EXPECT_NO_THROW(queue_.wait(solver));
}

}  // namespace
}  // namespace glinpack::solvers
