// A device in a background thread: only that thread calls GL, and it frees every GL object.
#include <gtest/gtest.h>

#include <future>

#include "solvers/elimination/gauss_jordan.hpp"
#include "solvers/elimination/plu_packed.hpp"
#include "solvers/queue/operation_queue.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/gl_objects.hpp"

namespace glinpack::solvers {
namespace {

using Queue = OperationQueue<Device>;
using Solver = std::unique_ptr<TridiagonalSolver<float>>;
using Numbers = std::vector<float>;

constexpr Index n = 20;

class GlQueue : public testing::Test {
 protected:
  ResultId<OnDevice<Solver>> make_solver(TridiagonalVariant variant) {
    return queue_.enqueue([variant](Device& device) {
      return OnDevice<Solver>{make_tridiagonal_solver<float>(device, 3, n, {.variant = variant})};
    });
  }
  ResultId<Numbers> solve(ResultId<OnDevice<Solver>> solver, const TridiagonalSystems<float>& systems) {
    return queue_.enqueue(
        [&systems](Device&, const Solver& used) {
          used->load(systems);
          used->compute();
          Numbers solution(systems.right.size());
          if (used->store(solution)) throw std::range_error("zero pivot");
          return solution;
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
    EXPECT_THROW(queue_.take(solve(solver, singular)), std::range_error);
    EXPECT_LT(largest_tridiagonal_residual<float>(systems_, *queue_.take(solve(solver, systems_))), 16);
    queue_.release(solver);
  }
  const auto too_large = queue_.enqueue([](Device& device) {
    constexpr Index huge = Index{1} << 24;
    return OnDevice<Solver>{make_tridiagonal_solver<float>(device, huge, huge, {})};
  });
  EXPECT_THROW(queue_.take(solve(too_large, systems_)), std::runtime_error);
  queue_.release(too_large);
  EXPECT_EQ(objects(), before);
}

template <class Eliminate>
void expect_singular(Queue& queue, Eliminate eliminate) {
  Numbers matrix(static_cast<std::size_t>(n * n));
  for (Index i = 0; i < n; ++i) matrix[static_cast<std::size_t>(i * n + i)] = i == 6 || i == 7 ? 0 : 1;
  const RowMajorView<const float> view{matrix.data(), n, n, n};
  const auto failed = queue.enqueue([&](Device& device) { return eliminate(device, view); });
  const auto depends = queue.enqueue([](Device&, int) { return 0; }, failed);
  try {
    queue.take(depends);
    FAIL() << "singular matrix not reported";
  } catch (const SingularMatrixError& error) {
    EXPECT_EQ(error.step(), 3);
  }
  queue.release(failed);
}

TEST_F(GlQueue, SingularMatricesAreThrownWithTheirStepAndLeaveNoGlObjects) {
  const int before = objects();
  for (const EliminationVariant variant : {EliminationVariant::double_rows, EliminationVariant::compute}) {
    expect_singular(queue_, [variant](Device& device, RowMajorView<const float> a) {
      PluPacked solver(device, n, 0, {.variant = variant});
      solver.load(a);
      solver.factorize();
      return 1;
    });
    expect_singular(queue_, [variant](Device& device, RowMajorView<const float> a) {
      GaussJordan solver(device, n, n, {.variant = variant});
      solver.load(a, a);
      solver.compute();
      return 1;
    });
  }
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
