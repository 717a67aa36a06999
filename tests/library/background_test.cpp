// Results that are not computed yet, threads, cancelling, and what is left behind.
#include <unistd.h>

#include <fstream>
#include <future>
#include <thread>

#include "library/session.hpp"
#include "tests/library/library_matrices.hpp"

namespace glinpack::test {
namespace {

/// Blocks the context's thread until it is opened.
class Gate {
 public:
  explicit Gate(const Context& context) : queue_(library::session_of(context.get())->queue) {
    id_ = queue_.enqueue([opened = opened_.get_future().share(), begun = begun_](library::Engine&) {
      begun->set_value();
      opened.wait();
      return true;
    });
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    open();
    queue_.take(id_);
  }
  void wait_until_reached() { begun_->get_future().wait(); }
  void open() {
    if (!open_) opened_.set_value();
    open_ = true;
  }

 private:
  OperationQueue<library::Engine>& queue_;
  std::promise<void> opened_;
  std::shared_ptr<std::promise<void>> begun_ = std::make_shared<std::promise<void>>();
  ResultId<bool> id_;
  bool open_ = false;
};

class LibraryBackground : public OnPlace {};

TEST_P(LibraryBackground, ChainsAreBuiltBeforeTheirFirstMatrixIsComputed) {
  const Elements a = well_conditioned(37, 1), b = random_elements(37, 2, 2);
  Handle x;
  {
    Gate gate(context());
    const Handle of_a = up(a);
    x = up(b);
    for (int step = 0; step < 10; ++step) {
      // the operands are freed at once
      const Handle solved = call(glinpack_solve, of_a.get(), x.get());
      x = call(glinpack_gemm, 0, 0, 1.0, of_a.get(), solved.get(), 0.0, nullptr);
    }
    EXPECT_EQ(glinpack_ready(x.get()), 0);
    EXPECT_EQ(glinpack_wait(x.get(), 0.001), GLINPACK_NOT_READY);
    EXPECT_STREQ(glinpack_last_error(), glinpack_status_text(GLINPACK_NOT_READY));
    EXPECT_STREQ(glinpack_error_text(x.get()), "");
    EXPECT_EQ(glinpack_matrix_columns(x.get()), 2);
    EXPECT_GE(glinpack_context_pending(context().get()), 22);
  }
  EXPECT_EQ(glinpack_wait(x.get(), 1e300), GLINPACK_OK);
  EXPECT_LE(difference(download(x), b), 10 * tolerance(37) * largest(b));
  EXPECT_EQ(glinpack_context_wait(context().get()), GLINPACK_OK);
  EXPECT_EQ(glinpack_context_pending(context().get()), 0);
}

TEST_P(LibraryBackground, ReadingWaitsOnlyForWhatItReads) {
  Gate before(context());
  const Elements a = random_elements(5, 5, 1);
  const Handle of_a = up(a), doubled = call(glinpack_add, of_a.get(), of_a.get());
  Gate after(context());
  auto read = std::async(std::launch::async, [&] { return download(doubled); });
  while (glinpack_context_pending(context().get()) < 5) std::this_thread::yield();
  before.open();
  EXPECT_EQ(difference(read.get(), generate(5, 5, [&](Index i, Index j) { return 2 * a(i, j); })), 0);
}

TEST_P(LibraryBackground, PrefetchedElementsAreReadDuringALaterOperation) {
  const Elements a = random_elements(5, 3, 1);
  const Handle of_a = up(a), sum = call(glinpack_add, of_a.get(), of_a.get());
  const auto twice = generate(5, 3, [&](Index i, Index j) { return 2 * a(i, j); });
  EXPECT_EQ(glinpack_prefetch(sum.get()), GLINPACK_OK);
  EXPECT_EQ(glinpack_prefetch(sum.get()), GLINPACK_OK);
  {
    Gate later(context());
    later.wait_until_reached();
    EXPECT_EQ(difference(download(sum), twice), 0);
  }
  EXPECT_EQ(difference(download(sum), twice), 0) << "without a copy";
  EXPECT_EQ(glinpack_prefetch(sum.get()), GLINPACK_OK);  // freed unread
  EXPECT_EQ(glinpack_prefetch(up(Elements(0, 3)).get()), GLINPACK_OK);
  EXPECT_EQ(glinpack_prefetch(nullptr), GLINPACK_INVALID_ARGUMENT);
  const Handle inverse = call(glinpack_inverse, up(Elements(3, 3)).get());
  EXPECT_EQ(glinpack_prefetch(inverse.get()), GLINPACK_OK);
  Elements unread(3, 3);
  EXPECT_EQ(glinpack_matrix_read_double(inverse.get(), unread.data.data(), 3, 1), GLINPACK_SINGULAR);
}

TEST_P(LibraryBackground, CancelledOperationsAreNotExecuted) {
  Handle cancelled, depending, kept;
  {
    Gate gate(context());
    gate.wait_until_reached();
    const Handle a = up(random_elements(3, 3, 1));
    cancelled = call(glinpack_inverse, a.get());
    depending = call(glinpack_transpose, cancelled.get());
    kept = call(glinpack_transpose, a.get());
    EXPECT_EQ(glinpack_cancel(cancelled.get()), GLINPACK_OK);
    EXPECT_EQ(glinpack_ready(cancelled.get()), 1);
    EXPECT_EQ(glinpack_wait(cancelled.get(), -1), GLINPACK_CANCELLED) << "before the gate is open";
  }
  EXPECT_EQ(glinpack_wait(depending.get(), -1), GLINPACK_CANCELLED);
  EXPECT_STRNE(glinpack_error_text(depending.get()), "");
  EXPECT_EQ(glinpack_cancel(cancelled.get()), GLINPACK_CANCELLED) << "twice";
  EXPECT_EQ(glinpack_wait(kept.get(), -1), GLINPACK_OK);
  EXPECT_EQ(glinpack_cancel(kept.get()), GLINPACK_OK);
  EXPECT_EQ(download(kept).rows, 3) << "a matrix that is computed is not lost";
}

TEST_P(LibraryBackground, ManyThreadsShareAContext) {
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 8; ++thread) {
    threads.emplace_back([this, thread] {
      for (unsigned round = 0; round < 10; ++round) {
        const Elements a = well_conditioned(5, 100 * thread + round), b = random_elements(5, 2, thread);
        const Handle of_a = up(a), of_b = up(b);
        const Handle x = call(glinpack_solve, of_a.get(), of_b.get());
        const Handle c = call(glinpack_gemm, 0, 0, 1.0, of_a.get(), x.get(), 0.0, nullptr);
        EXPECT_LE(difference(download(c), b), tolerance(50));
        glinpack_matrix* refused = nullptr;
        EXPECT_EQ(glinpack_add(of_a.get(), of_b.get(), &refused), GLINPACK_WRONG_SIZE);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(LibraryBackground, AFreedContextCancelsItsMatrices) {
  Context own = make_context(GetParam().device);
  const Handle done = upload(own, precision(), random_elements(3, 3, 1));
  EXPECT_EQ(glinpack_wait(done.get(), -1), GLINPACK_OK);
  auto gate = std::make_unique<Gate>(own);
  gate->wait_until_reached();
  const Handle pending = call(glinpack_inverse, done.get());
  auto waiting = std::async(std::launch::async, [&] { return glinpack_wait(pending.get(), -1); });
  auto freeing = std::async(std::launch::async, [&] { own.reset(); });
  while (!library::matrix_of(pending.get())->session->closed) std::this_thread::yield();
  gate->open();
  freeing.wait();
  EXPECT_EQ(waiting.get(), GLINPACK_CANCELLED);
  for (const Handle* matrix : {&done, &pending}) {
    EXPECT_EQ(glinpack_ready(matrix->get()), 1);
    EXPECT_EQ(glinpack_wait(matrix->get(), 1), GLINPACK_CANCELLED);
    EXPECT_STRNE(glinpack_error_text(matrix->get()), "");
    double element = 0;
    EXPECT_EQ(glinpack_matrix_read_double(matrix->get(), &element, 1, 1), GLINPACK_CANCELLED);
    glinpack_matrix* result = nullptr;
    EXPECT_EQ(glinpack_transpose(matrix->get(), &result), GLINPACK_CANCELLED);
  }
}

// of the address sanitizer: GCC's name, and Clang's
#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_freed_memory = true;
#elif defined(__has_feature)
constexpr bool keeps_freed_memory = __has_feature(address_sanitizer);
#else
constexpr bool keeps_freed_memory = false;
#endif

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_P(LibraryBackground, AThousandTemporariesLeaveNothing) {
  const Handle a = up(random_elements(100, 100, 1));
  const auto make = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const Handle sum = call(glinpack_add, a.get(), a.get());
      // the queue must not become long
      if (i % 50 == 0) {
        EXPECT_EQ(glinpack_wait(sum.get(), -1), GLINPACK_OK);
      }
    }
    EXPECT_EQ(glinpack_context_wait(context().get()), GLINPACK_OK);
  };
  make(200);
  const int objects = gl_objects();
  const std::int64_t bytes = resident_bytes();
  make(1000);
  EXPECT_EQ(gl_objects(), objects);
  if (!keeps_freed_memory) {
    EXPECT_LT(resident_bytes() - bytes, 16 << 20);
  }
}

TEST_P(LibraryBackground, EveryOperationFreesItsGlObjects) {
  const auto all = [&] {
    const Elements elements = well_conditioned(5, 1);
    const Handle a = up(elements), b = up(random_elements(5, 5, 1)), x = up(random_elements(5, 1, 1));
    const Handle singular = up(Elements(5, 5));
    const Index offset = 0;
    std::vector<Handle> results;
    results.push_back(call(glinpack_add, a.get(), b.get()));
    results.push_back(call(glinpack_divide_elements, a.get(), b.get()));
    results.push_back(call(glinpack_gemm, 1, 1, 2.0, a.get(), b.get(), 3.0, a.get()));
    results.push_back(call(glinpack_solve, a.get(), b.get()));
    results.push_back(call(glinpack_solve, singular.get(), b.get()));
    results.push_back(call(glinpack_inverse, a.get()));
    results.push_back(call(glinpack_inverse, singular.get()));
    results.push_back(call(glinpack_determinant, singular.get()));
    results.push_back(call(glinpack_norm, a.get(), GLINPACK_NORM_ONE));
    results.push_back(call(glinpack_banded_product, x.get(), &offset, Index{1}, x.get()));
    results.push_back(call(glinpack_tridiagonal, b.get(), a.get(), b.get(), b.get()));
    results.push_back(call(glinpack_poisson, b.get(), 1e-4, Index{0}));
    results.push_back(call(glinpack_poisson, b.get(), 1e-4, Index{1}));
    results.push_back(call(glinpack_horzcat, a.get(), x.get()));
    glinpack_matrix *p = nullptr, *l = nullptr, *u = nullptr;
    EXPECT_EQ(glinpack_lu(a.get(), &p, &l, &u), GLINPACK_OK);
    for (glinpack_matrix* factor : {p, l, u}) results.emplace_back(factor);
    for (const Handle& result : results) glinpack_wait(result.get(), -1);
  };
  all();
  const int objects = gl_objects();
  all();
  EXPECT_EQ(gl_objects(), objects);
  EXPECT_EQ(glinpack_context_pending(context().get()), 0);
}

INSTANTIATE_TEST_SUITE_P(Places, LibraryBackground, all_places(), name_of);

}  // namespace
}  // namespace glinpack::test
