// The errors of the C API: statuses, texts, and results that are null.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "tests/library/library_matrices.hpp"

namespace glinpack::test {
namespace {

using testing::HasSubstr;
using testing::StrEq;

class LibraryErrors : public OnPlace {
 protected:
  /// The call fails at once: it makes no matrix.
  template <class... Parameters, class... Arguments>
  void expect_refused(glinpack_status status, const std::string& text, glinpack_status (*function)(Parameters...),
                      const Arguments&... arguments) {
    auto* result = reinterpret_cast<glinpack_matrix*>(this);
    EXPECT_EQ(function(arguments..., &result), status);
    EXPECT_EQ(result, nullptr);
    EXPECT_THAT(glinpack_last_error(), HasSubstr(text));
  }
  static void expect_failed(const Handle& matrix, glinpack_status status, const std::string& text) {
    EXPECT_EQ(glinpack_wait(matrix.get(), -1), status);
    EXPECT_THAT(glinpack_error_text(matrix.get()), HasSubstr(text));
    EXPECT_EQ(glinpack_ready(matrix.get()), 1);
    double unchanged = -7;
    EXPECT_EQ(glinpack_matrix_read_double(matrix.get(), &unchanged, 1, 1), status);
    EXPECT_EQ(unchanged, -7);
  }
};

TEST_P(LibraryErrors, SizesThatDoNotFitAreReportedAtOnce) {
  const Handle a = up(Elements(2, 3)), b = up(Elements(3, 3)), column = up(Elements(3, 1));
  const auto size = GLINPACK_WRONG_SIZE;
  expect_refused(size, "2 x 3 and 3 x 3", glinpack_add, a.get(), b.get());
  expect_refused(size, "2 x 3 and 3 x 3", glinpack_divide_elements, a.get(), b.get());
  expect_refused(size, "3 x 3 and 2 x 3", glinpack_gemm, 0, 0, 1.0, b.get(), a.get(), 0.0, nullptr);
  expect_refused(size, "3 x 2 and 3 x 3 as transposed", glinpack_gemm, 1, 0, 1.0, a.get(), b.get(), 0.0, nullptr);
  expect_refused(size, "the product is 2 x 3 but", glinpack_gemm, 0, 0, 1.0, a.get(), b.get(), 1.0, b.get());
  expect_refused(size, "not square but 2 x 3", glinpack_inverse, a.get());
  expect_refused(size, "not square but 2 x 3", glinpack_determinant, a.get());
  expect_refused(size, "not square", glinpack_poisson, a.get(), 1e-3, Index{0});
  expect_refused(size, "not square", glinpack_solve, a.get(), column.get());
  expect_refused(size, "the right-hand side 2 x 3", glinpack_solve, b.get(), a.get());
  expect_refused(size, "2 x 2 elements from (1, 0) on", glinpack_submatrix, a.get(), Index{1}, Index{0}, Index{2},
                 Index{2});
  expect_refused(size, "from (-1, 0) on", glinpack_submatrix, a.get(), Index{-1}, Index{0}, Index{1}, Index{1});
  expect_refused(size, "3 x 3 elements", glinpack_replace, a.get(), Index{0}, Index{0}, b.get());
  expect_refused(size, "different rows", glinpack_horzcat, a.get(), b.get());
  expect_refused(size, "different columns", glinpack_vertcat, b.get(), column.get());
  expect_refused(size, "different extents", glinpack_tridiagonal, a.get(), b.get(), b.get(), b.get());
  const Index offset = 0;
  expect_refused(size, "do not fit", glinpack_banded_product, b.get(), &offset, Index{1}, column.get());
  expect_refused(size, "do not fit right-hand sides of 2 x 3", glinpack_banded_solve, column.get(), &offset, Index{1},
                 a.get(), nullptr);
}

TEST_P(LibraryErrors, ArgumentsThatAreWrong) {
  const auto invalid = GLINPACK_INVALID_ARGUMENT;
  const Handle a = up(Elements(3, 3));
  expect_refused(invalid, "null", glinpack_add, a.get(), nullptr);
  expect_refused(invalid, "null", glinpack_transpose, nullptr);
  expect_refused(invalid, "kind of norm", glinpack_norm, a.get(), glinpack_norm_kind{});
  expect_refused(invalid, "precision", glinpack_convert, a.get(), glinpack_precision{});
  expect_refused(invalid, "tolerance", glinpack_poisson, a.get(), 0.0, Index{0});
  expect_refused(invalid, "-1 x 2", glinpack_matrix_constant, context().get(), precision(), Index{-1}, Index{2}, 0.0);
  expect_refused(invalid, "null", glinpack_matrix_from_double, context().get(), precision(), Index{1}, Index{1},
                 nullptr, Index{1}, Index{1});
  expect_refused(invalid, "context", glinpack_matrix_constant, nullptr, precision(), Index{1}, Index{2}, 0.0);
  const std::array<Index, 3> twice{1, 0, 1};
  const Handle x = up(Elements(3, 1));
  expect_refused(invalid, "twice: 1", glinpack_banded_product, a.get(), twice.data(), Index{3}, x.get());
  EXPECT_EQ(glinpack_add(a.get(), a.get(), nullptr), invalid);
  EXPECT_EQ(glinpack_matrix_read_double(a.get(), nullptr, 1, 1), invalid);
  EXPECT_EQ(glinpack_wait(nullptr, 0), invalid);
  EXPECT_EQ(glinpack_wait(a.get(), std::nan("")), invalid);
  for (const int threads : {-1, 4097, std::numeric_limits<int>::max()}) {
    glinpack_context* made = nullptr;
    EXPECT_EQ(glinpack_context_create("openblas", threads, &made), invalid);
    EXPECT_THAT(glinpack_last_error(), HasSubstr("not 0 to 4096"));
  }
  EXPECT_EQ(glinpack_matrix_rows(nullptr), 0);
  EXPECT_EQ(glinpack_ready(nullptr), 1);
  glinpack_matrix_free(nullptr);
  glinpack_context_free(nullptr);
}

TEST_P(LibraryErrors, PrecisionsAndContextsAreNotMixed) {
  const Handle a = up(Elements(2, 2));
  const auto other = precision() == GLINPACK_SINGLE ? GLINPACK_DOUBLE : GLINPACK_SINGLE;
  const Handle b = upload(context(), other, Elements(2, 2));
  expect_refused(GLINPACK_WRONG_PRECISION, "convert one", glinpack_add, a.get(), b.get());
  const Context elsewhere = make_context("openblas");
  const Handle c = upload(elsewhere, precision(), Elements(2, 2));
  expect_refused(GLINPACK_WRONG_CONTEXT, "different contexts", glinpack_solve, a.get(), c.get());
}

TEST_P(LibraryErrors, SingularMatricesHaveAStatusOfTheirOwn) {
  for (const Index n : {5, 257}) {
    const Elements singular = generate(n, n, [](Index i, Index) { return static_cast<double>(i); });
    const Handle a = up(singular), b = up(random_elements(n, 1, 1));
    const Handle x = call(glinpack_solve, a.get(), b.get());
    const Handle depending = call(glinpack_scale, 2.0, x.get(), 0.0);
    const Handle independent = call(glinpack_scale, 2.0, b.get(), 0.0);
    expect_failed(depending, GLINPACK_SINGULAR, "singular");
    expect_failed(x, GLINPACK_SINGULAR, "a pivot is exactly 0");
    expect_failed(call(glinpack_inverse, a.get()), GLINPACK_SINGULAR, "inverted");
    EXPECT_EQ(glinpack_wait(independent.get(), -1), GLINPACK_OK);
    EXPECT_THAT(glinpack_error_text(independent.get()), StrEq(""));
  }
  const Handle zeros = up(Elements(3, 2)), right = up(random_elements(3, 2, 1));
  expect_failed(call(glinpack_tridiagonal, zeros.get(), zeros.get(), zeros.get(), right.get()), GLINPACK_SINGULAR,
                "tridiagonal system 0");
  const std::array<Index, 2> above{2, 1};
  glinpack_matrix* rcond = nullptr;
  expect_failed(call(glinpack_banded_solve, up(random_elements(9, 2, 1)).get(), above.data(), Index{2},
                     up(random_elements(9, 1, 2)).get(), &rcond),
                GLINPACK_SINGULAR, "a pivot is exactly 0");
  EXPECT_EQ(download(Handle(rcond))(0, 0), 0);
}

TEST_P(LibraryErrors, SolveInverseDeterminantAndRcondAgreeWhichMatricesAreSingular) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> integers(-9, 9);
  int singular = 0;
  for (int matrix = 0; matrix < 50; ++matrix) {
    const Index n = 3 + matrix % 3;
    Elements elements = generate(n, n, [&](Index, Index) { return static_cast<double>(integers(random)); });
    for (Index j = 0; j < n; ++j) elements(n - 1, j) = 2 * elements(0, j) - elements(1, j);
    const Handle a = up(elements), b = up(random_elements(n, 1, 1));
    const bool zero = download(call(glinpack_determinant, a.get()))(0, 0) == 0;
    EXPECT_EQ(download(call(glinpack_rcond, a.get()))(0, 0) == 0, zero);
    const auto status = zero ? GLINPACK_SINGULAR : GLINPACK_OK;  // rounding hides some
    EXPECT_EQ(glinpack_wait(call(glinpack_solve, a.get(), b.get()).get(), -1), status);
    EXPECT_EQ(glinpack_wait(call(glinpack_inverse, a.get()).get(), -1), status);
    singular += zero ? 1 : 0;
  }
  EXPECT_GT(singular, 10);
  EXPECT_LT(singular, 50);
}

TEST_P(LibraryErrors, FreedHandlesAreErrorsWhateverWasMadeSince) {
  const Handle kept = up(identity(2));
  glinpack_matrix* freed = up(identity(2)).release();
  glinpack_matrix_free(freed);
  const Handle later = up(identity(2));
  glinpack_matrix_free(freed);
  const auto invalid = GLINPACK_INVALID_ARGUMENT;
  expect_refused(invalid, "the matrix was freed", glinpack_transpose, freed);
  expect_refused(invalid, "the matrix was freed", glinpack_solve, kept.get(), freed);
  double unchanged = -7;
  EXPECT_EQ(glinpack_matrix_read_double(freed, &unchanged, 1, 1), invalid);
  EXPECT_EQ(glinpack_wait(freed, -1), invalid);
  EXPECT_EQ(glinpack_cancel(freed), invalid);
  EXPECT_EQ(glinpack_prefetch(freed), invalid);
  EXPECT_EQ(glinpack_matrix_rows(freed), 0);
  EXPECT_EQ(glinpack_ready(freed), 1);
  EXPECT_STREQ(glinpack_error_text(freed), "");
  for (const Handle* valid : {&kept, &later}) EXPECT_EQ(difference(download(*valid), identity(2)), 0);

  glinpack_context* context = make_context("openblas").release();
  for (int time = 0; time < 2; ++time) glinpack_context_free(context);
  EXPECT_EQ(glinpack_context_wait(context), invalid);
  EXPECT_EQ(glinpack_context_pending(context), 0);
  EXPECT_STREQ(glinpack_context_device(context), "");
  expect_refused(invalid, "the context was freed", glinpack_matrix_identity, context, precision(), Index{2}, Index{2});
}

TEST_P(LibraryErrors, AMatrixWithANanIsNotSingular) {
  Elements elements = well_conditioned(5, 1);
  elements(1, 2) = std::nan("");
  const Handle a = up(elements), b = up(random_elements(5, 1, 1));
  EXPECT_TRUE(std::isnan(largest(download(call(glinpack_solve, a.get(), b.get())))));
  EXPECT_TRUE(std::isnan(largest(download(call(glinpack_inverse, a.get())))));
  EXPECT_TRUE(std::isnan(largest(download(call(glinpack_determinant, a.get())))));
}

TEST_P(LibraryErrors, ExtentsBeyond64Bits) {
  const Index max = std::numeric_limits<Index>::max();
  const auto make = [&](Index rows, Index columns) {
    return call(glinpack_matrix_constant, context().get(), precision(), rows, columns, 1.0);
  };
  const Handle wide = make(0, max), tall = make(max, 0), one = make(0, 1);
  expect_refused(GLINPACK_OUT_OF_MEMORY, "exceed 64 bits", glinpack_horzcat, wide.get(), one.get());
  expect_refused(GLINPACK_OUT_OF_MEMORY, "exceed 64 bits", glinpack_vertcat, tall.get(), tall.get());
  expect_refused(GLINPACK_OUT_OF_MEMORY, "address space", glinpack_gemm, 0, 0, 1.0, tall.get(), one.get(), 0.0,
                 nullptr);
  // with the padding of a device's rows, 2^64 bytes
  const Handle long_column = make(Index{1} << 55, 0);
  expect_refused(GLINPACK_OUT_OF_MEMORY, "address space", glinpack_gemm, 0, 0, 1.0, long_column.get(), one.get(), 0.0,
                 nullptr);
}

TEST_P(LibraryErrors, AnIterationLimitIsAStatus) {
  const Handle b = up(random_elements(20, 20, 1));
  const Handle unlimited = call(glinpack_poisson, b.get(), 1e-4, std::numeric_limits<Index>::max());
  EXPECT_EQ(glinpack_wait(unlimited.get(), -1), GLINPACK_OK) << glinpack_error_text(unlimited.get());
  expect_failed(call(glinpack_poisson, b.get(), 1e-5, Index{2}), GLINPACK_NOT_CONVERGED, "after 2 iterations");
}

TEST_P(LibraryErrors, TooLittleMemoryLeavesOtherMatricesValid) {
  const Elements a = random_elements(4, 1, 1);
  const Handle small = up(a);
  expect_refused(GLINPACK_OUT_OF_MEMORY, "address space", glinpack_matrix_constant, context().get(), precision(),
                 Index{1} << 32, Index{1} << 32, 0.0);
  // 16 TB and more
  const Index columns = 2'000'000;
  const Handle row = call(glinpack_matrix_constant, context().get(), precision(), Index{1}, columns, 1.0);
  const Handle large = call(glinpack_gemm, 1, 0, 1.0, row.get(), row.get(), 0.0, nullptr);
  expect_failed(large, GLINPACK_OUT_OF_MEMORY, "2000000 x 2000000");
  const Handle zeros = call(glinpack_matrix_constant, context().get(), precision(), columns, columns, 0.0);
  const Handle element = call(glinpack_submatrix, zeros.get(), Index{0}, Index{0}, Index{1}, Index{1});
  expect_failed(element, GLINPACK_OUT_OF_MEMORY, "a matrix of 2000000 x 2000000");
  EXPECT_EQ(difference(download(small), a), 0);
  EXPECT_EQ(difference(download(call(glinpack_scale, 1.0, small.get(), 0.0)), a), 0);
}

TEST_P(LibraryErrors, TheLastErrorIsTheThreadsOwn) {
  const Handle a = up(Elements(2, 3));
  expect_refused(GLINPACK_WRONG_SIZE, "not square", glinpack_inverse, a.get());
  std::string elsewhere = "unset";
  std::thread([&] { elsewhere = glinpack_last_error(); }).join();
  EXPECT_EQ(elsewhere, "");
  EXPECT_THAT(glinpack_last_error(), HasSubstr("not square"));
}

INSTANTIATE_TEST_SUITE_P(Places, LibraryErrors, all_places(), name_of);

TEST(LibraryDevices, ADeviceThatDoesNotExistIsAnError) {
  glinpack_context* context = reinterpret_cast<glinpack_context*>(&context);
  EXPECT_EQ(glinpack_context_create("99", 0, &context), GLINPACK_NO_DEVICE);
  EXPECT_EQ(context, nullptr);
  EXPECT_THAT(glinpack_last_error(), HasSubstr("no OpenGL device 99"));
  EXPECT_EQ(glinpack_context_create("gpu", 0, &context), GLINPACK_NO_DEVICE);
  EXPECT_THAT(glinpack_last_error(), HasSubstr("auto, openblas, software or a number"));
  EXPECT_EQ(glinpack_context_create("", 0, &context), GLINPACK_NO_DEVICE);
}

TEST(LibraryDevices, AContextNamesItsDevice) {
  EXPECT_THAT(glinpack_context_device(make_context("openblas").get()), HasSubstr("1 thread"));
  EXPECT_THAT(glinpack_context_device(make_context("software").get()), HasSubstr("llvmpipe"));
  EXPECT_NE(make_context(nullptr), nullptr);
}

TEST(LibraryDevices, EveryStatusHasAText) {
  for (int status = GLINPACK_OK; status <= GLINPACK_FAILED; ++status) {
    EXPECT_THAT(glinpack_status_text(static_cast<glinpack_status>(status)), testing::Not(StrEq("unknown status")));
  }
  EXPECT_THAT(glinpack_status_text(static_cast<glinpack_status>(15)), StrEq("unknown status"));
  EXPECT_THAT(glinpack_version(),
              HasSubstr(std::to_string(GLINPACK_VERSION_MAJOR) + "." + std::to_string(GLINPACK_VERSION_MINOR) + "." +
                        std::to_string(GLINPACK_VERSION_PATCH)));
}

}  // namespace
}  // namespace glinpack::test
