// The answers of the C API, against loops in double precision.
#include <array>

#include "library/operations.hpp"
#include "tests/library/library_matrices.hpp"

namespace glinpack::test {
namespace {

class LibraryArithmetic : public OnPlace {
 protected:
  /// HPL's || A X - B || / (eps (|| A || || X || + || B ||) n).
  double scaled_residual(const Elements& a, const Elements& x, const Elements& b) const {
    const double scale = row_sum_norm(a) * largest(x) + largest(b);
    return difference(product(a, x), b) / (epsilon() * scale * static_cast<double>(a.rows));
  }
};

constexpr double largest_residual = 16;  // HPL's

TEST_P(LibraryArithmetic, ReadsWhatWasWrittenInBothOrdersWithAnyStrides) {
  for (const Index n : {1, 3, 37}) {
    const Elements a = random_elements(n, n + 2, 1);
    EXPECT_EQ(difference(download(up(a)), a), 0);
    const Elements by_columns = transposed(a);
    const Handle second =
        call(glinpack_matrix_from_double, context().get(), precision(), n, n + 2, by_columns.data.data(), Index{1}, n);
    EXPECT_EQ(difference(download(second), a), 0);
    // every second element of every third row, from the last backwards
    const Index gap = 2 * (n + 2);
    std::vector<float> spread(static_cast<std::size_t>(3 * gap * n), -9);
    float* last = spread.data() + spread.size() - 1;
    ASSERT_EQ(glinpack_matrix_read_float(second.get(), last, -3 * gap, -2), GLINPACK_OK);
    EXPECT_EQ(std::count(spread.begin(), spread.end(), -9.0F), static_cast<Index>(spread.size()) - n * (n + 2));
    const Handle third = call(glinpack_matrix_from_float, context().get(), precision(), n, n + 2,
                              static_cast<const float*>(last), -3 * gap, Index{-2});
    EXPECT_EQ(difference(download(third), a), 0);
  }
}

TEST_P(LibraryArithmetic, DoubleIsRealDoubleAndSingleIsRounded) {
  const double third = 1.0 / 3;
  const Elements read =
      download(call(glinpack_matrix_constant, context().get(), precision(), Index{2}, Index{3}, third));
  EXPECT_EQ(read(1, 2), precision() == GLINPACK_SINGLE ? static_cast<double>(static_cast<float>(third)) : third);
  const Handle converted = call(glinpack_convert, up(random_elements(3, 2, 1)).get(), GLINPACK_SINGLE);
  EXPECT_EQ(glinpack_matrix_precision(converted.get()), GLINPACK_SINGLE);
  EXPECT_EQ(difference(download(converted), random_elements(3, 2, 1)), 0);
}

TEST_P(LibraryArithmetic, ProductsWithTransposesAndFactors) {
  for (const Index n : sizes()) {
    const Index depth = n + 3, columns = n + 1;
    const Elements a = random_elements(n, depth, 1), b = random_elements(depth, columns, 2);
    const Elements c = random_elements(n, columns, 3), ab = product(a, b);
    const Elements expected = generate(n, columns, [&](Index i, Index j) { return -2 * ab(i, j) + 0.5 * c(i, j); });
    const Handle of_c = up(c);
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        const Handle left = up(transpose_a ? transposed(a) : a), right = up(transpose_b ? transposed(b) : b);
        const Handle plain = call(glinpack_gemm, transpose_a, transpose_b, 1.0, left.get(), right.get(), 0.0, nullptr);
        EXPECT_LE(difference(download(plain), ab), tolerance(depth)) << n << transpose_a << transpose_b;
        const Handle all =
            call(glinpack_gemm, transpose_a, transpose_b, -2.0, left.get(), right.get(), 0.5, of_c.get());
        EXPECT_LE(difference(download(all), expected), 2 * tolerance(depth)) << n << transpose_a << transpose_b;
      }
    }
  }
}

TEST_P(LibraryArithmetic, AFactorOfZeroMakesItsTermZero) {
  const Elements b = random_elements(3, 3, 1);
  const double nan = std::nan("");
  const Handle nans = call(glinpack_matrix_constant, context().get(), precision(), Index{3}, Index{3}, nan);
  const Handle of_b = up(b), of_identity = up(identity(3));
  const auto product = [&](double alpha, const Handle& a, double beta, const Handle& c) {
    return download(call(glinpack_gemm, 0, 0, alpha, a.get(), of_b.get(), beta, c.get()));
  };
  EXPECT_EQ(difference(product(1, of_identity, 0, nans), b), 0);
  EXPECT_EQ(difference(product(0, nans, 1, of_b), b), 0);
  EXPECT_EQ(largest(product(0, nans, 0, nans)), 0);
  EXPECT_TRUE(std::isnan(largest(product(1, nans, 0, of_b))));
}

TEST_P(LibraryArithmetic, ASquareOfAMatrixReadsItTwice) {
  const Elements a = random_elements(37, 37, 1);
  const Handle of_a = up(a);
  const Handle gram = call(glinpack_gemm, 1, 0, 1.0, of_a.get(), of_a.get(), 0.0, nullptr);
  EXPECT_LE(difference(download(gram), product(transposed(a), a)), tolerance(37));
}

TEST_P(LibraryArithmetic, ElementByElement) {
  // 1100 columns are two stripes on a device
  for (const auto& extents : {std::pair<Index, Index>{1, 1}, {5, 3}, {37, 64}, {3, 1100}}) {
    const Index rows = extents.first, columns = extents.second;
    const Elements a = random_elements(rows, columns, 1);
    const Elements b = generate(rows, columns, [&](Index i, Index j) { return 1.5 + a(rows - 1 - i, j); });
    const Handle of_a = up(a), of_b = up(b);
    const auto expect = [&](const Handle& result, auto element) {
      EXPECT_LE(difference(download(result), generate(rows, columns, element)), 2 * tolerance(1)) << rows;
    };
    expect(call(glinpack_add, of_a.get(), of_b.get()), [&](Index i, Index j) { return a(i, j) + b(i, j); });
    expect(call(glinpack_subtract, of_a.get(), of_b.get()), [&](Index i, Index j) { return a(i, j) - b(i, j); });
    expect(call(glinpack_multiply_elements, of_a.get(), of_b.get()),
           [&](Index i, Index j) { return a(i, j) * b(i, j); });
    expect(call(glinpack_divide_elements, of_a.get(), of_b.get()), [&](Index i, Index j) { return a(i, j) / b(i, j); });
    expect(call(glinpack_scale, -3.0, of_a.get(), 0.25), [&](Index i, Index j) { return -3 * a(i, j) + 0.25; });
    expect(call(glinpack_add, of_a.get(), of_a.get()), [&](Index i, Index j) { return 2 * a(i, j); });
  }
}

TEST_P(LibraryArithmetic, TransposesPartsAndConcatenationsAreExact) {
  for (const Index n : sizes()) {
    const Elements a = random_elements(n, n + 2, 1), b = random_elements(n, 3, 2);
    const Handle of_a = up(a), of_b = up(b);
    EXPECT_EQ(difference(download(call(glinpack_transpose, of_a.get())), transposed(a)), 0);
    const Handle beside = call(glinpack_horzcat, of_a.get(), of_b.get());
    const Elements expected =
        generate(n, n + 5, [&](Index i, Index j) { return j < n + 2 ? a(i, j) : b(i, j - n - 2); });
    EXPECT_EQ(difference(download(beside), expected), 0);
    const Handle below = call(glinpack_vertcat, of_a.get(), of_a.get());
    EXPECT_EQ(difference(download(below), generate(2 * n, n + 2, [&](Index i, Index j) { return a(i % n, j); })), 0);
    const Index row = n / 2, column = n / 3, rows = n - row, columns = 2;
    const Elements part = generate(rows, columns, [&](Index i, Index j) { return a(row + i, column + j); });
    const Handle of_part = call(glinpack_submatrix, of_a.get(), row, column, rows, columns);
    EXPECT_EQ(difference(download(of_part), part), 0);
    const Handle replaced = call(glinpack_replace, of_a.get(), Index{0}, Index{1}, of_part.get());
    EXPECT_EQ(difference(download(replaced), generate(n, n + 2,
                                                      [&](Index i, Index j) {
                                                        const bool inside = i < rows && j >= 1 && j < 1 + columns;
                                                        return inside ? part(i, j - 1) : a(i, j);
                                                      })),
              0);
    EXPECT_EQ(difference(download(of_a), a), 0) << "operands do not change";
  }
}

TEST_P(LibraryArithmetic, LuFactorsMultiplyToTheMatrix) {
  for (const Index n : sizes()) {
    const Elements a = random_elements(n, n, 1);
    glinpack_matrix *p = nullptr, *l = nullptr, *u = nullptr;
    ASSERT_EQ(glinpack_lu(up(a).get(), &p, &l, &u), GLINPACK_OK);
    const Handle of_p(p), of_l(l), of_u(u);
    const Elements permutation = download(of_p), lower = download(of_l), upper = download(of_u);
    EXPECT_EQ(difference(product(permutation, transposed(permutation)), identity(n)), 0);
    for (Index i = 0; i < n; ++i) {
      EXPECT_EQ(lower(i, i), 1);
      for (Index j = i + 1; j < n; ++j) EXPECT_EQ(lower(i, j), 0);
      for (Index j = 0; j < i; ++j) EXPECT_EQ(upper(i, j), 0);
    }
    const double scale = epsilon() * row_sum_norm(a) * static_cast<double>(n);
    EXPECT_LE(difference(product(permutation, a), product(lower, upper)), largest_residual * scale) << n;
  }
}

TEST_P(LibraryArithmetic, LuOfASingularMatrixHasAZeroInU) {
  SKIP_PACKED();
  for (const Index n : {5, 257}) {
    const Elements a = generate(n, n, [](Index i, Index j) { return static_cast<double>(j == 2 ? 0 : 1 + i * j % 3); });
    glinpack_matrix *p = nullptr, *l = nullptr, *u = nullptr;
    ASSERT_EQ(glinpack_lu(up(a).get(), &p, &l, &u), GLINPACK_OK);
    const Handle of_p(p), of_l(l), of_u(u);
    EXPECT_LE(difference(product(download(of_p), a), product(download(of_l), download(of_u))), tolerance(10 * n)) << n;
  }
}

TEST_P(LibraryArithmetic, SolvesForManyRightHandSides) {
  for (const Index n : sizes()) {
    const Elements a = random_elements(n, n, 4);
    for (const Index columns : {Index{1}, Index{2}, n + 3}) {
      const Elements b = random_elements(n, columns, 5);
      const Elements x = download(call(glinpack_solve, up(a).get(), up(b).get()));
      EXPECT_LE(scaled_residual(a, x, b), largest_residual) << n << " " << columns;
    }
  }
}

TEST_P(LibraryArithmetic, SolvesWhatNeedsPivots) {
  SKIP_PACKED();
  const Elements a =
      generate(64, 64, [](Index i, Index j) { return i == 63 - j ? 1.0 + static_cast<double>(i) : 0.0; });
  const Elements b = random_elements(64, 2, 1);
  EXPECT_LE(scaled_residual(a, download(call(glinpack_solve, up(a).get(), up(b).get())), b), largest_residual);
  EXPECT_LE(difference(product(a, download(call(glinpack_inverse, up(a).get()))), identity(64)), tolerance(64));
}

TEST_P(LibraryArithmetic, SolvesAnIllConditionedMatrixWithASmallResidual) {
  SKIP_PACKED();
  const Elements hilbert = generate(12, 12, [](Index i, Index j) { return 1.0 / static_cast<double>(i + j + 1); });
  const Elements b = random_elements(12, 1, 1);
  EXPECT_LE(scaled_residual(download(up(hilbert)), download(call(glinpack_solve, up(hilbert).get(), up(b).get())), b),
            largest_residual);
}

TEST_P(LibraryArithmetic, InversesMultiplyToTheIdentity) {
  for (const Index n : sizes()) {
    const Elements a = well_conditioned(n, 6);
    const Elements inverse = download(call(glinpack_inverse, up(a).get()));
    EXPECT_LE(scaled_residual(a, inverse, identity(n)), largest_residual) << n;
  }
}

TEST_P(LibraryArithmetic, EchelonFormsOfRegularMatricesBesideOthers) {
  for (const Index n : sizes()) {
    for (const Index columns : {Index{0}, Index{1}, Index{4}}) {
      const Elements a = well_conditioned(n, 6), b = random_elements(n, columns, 7);
      const Elements reduced = download(call(glinpack_rref, call(glinpack_horzcat, up(a).get(), up(b).get()).get()));
      const auto part = [&](Index first, Index count) {
        return generate(n, count, [&](Index i, Index j) { return reduced(i, first + j); });
      };
      EXPECT_EQ(difference(part(0, n), identity(n)), 0) << n;
      if (columns > 0) {
        EXPECT_LE(scaled_residual(a, part(n, columns), b), largest_residual) << n;
      }
    }
  }
}

TEST_P(LibraryArithmetic, EchelonFormsOfAnyRank) {
  SKIP_PACKED();
  const Elements deficient = generate(3, 4, [](Index i, Index j) {
    return std::array{1, 2, 1, 3, 2, 4, 0, 4, 3, 6, 1, 7}[static_cast<std::size_t>(4 * i + j)];
  });
  const Elements expected = generate(3, 4, [](Index i, Index j) {
    return std::array{1, 2, 0, 2, 0, 0, 1, 1, 0, 0, 0, 0}[static_cast<std::size_t>(4 * i + j)];
  });
  EXPECT_LE(difference(download(call(glinpack_rref, up(deficient).get())), expected), tolerance(8));
  const Elements tall = random_elements(9, 4, 1);
  EXPECT_LE(difference(download(call(glinpack_rref, up(tall).get())),
                       generate(9, 4, [](Index i, Index j) { return i == j ? 1.0 : 0.0; })),
            0);
  EXPECT_EQ(largest(download(call(glinpack_rref, up(Elements(3, 2)).get()))), 0);
}

TEST_P(LibraryArithmetic, DeterminantsHaveTheSignOfThePermutation) {
  SKIP_PACKED();
  EXPECT_EQ(download(call(glinpack_determinant, up(Elements(0, 0)).get()))(0, 0), 1);
  EXPECT_EQ(download(call(glinpack_determinant, up(Elements(3, 3)).get()))(0, 0), 0);
  const Elements cycle = generate(3, 3, [](Index i, Index j) { return j == (i + 1) % 3 ? 2.0 : 0.0; });
  EXPECT_NEAR(download(call(glinpack_determinant, up(cycle).get()))(0, 0), 8, 8 * tolerance(3));
  const Elements exchange = generate(2, 2, [](Index i, Index j) { return i == j ? 0.0 : 3.0; });
  EXPECT_NEAR(download(call(glinpack_determinant, up(exchange).get()))(0, 0), -9, 9 * tolerance(2));
}

TEST_P(LibraryArithmetic, ReciprocalConditions) {
  SKIP_PACKED();
  const auto rcond = [&](const Elements& a) { return download(call(glinpack_rcond, up(a).get()))(0, 0); };
  EXPECT_EQ(rcond(Elements(0, 0)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(rcond(Elements(3, 3)), 0);
  EXPECT_NEAR(rcond(identity(7)), 1, tolerance(7));
  const Elements scaled = generate(5, 5, [](Index i, Index j) { return i == 4 - j ? (i == 2 ? 0.001 : 2.0) : 0.0; });
  EXPECT_NEAR(rcond(scaled), 0.0005, tolerance(5));
  Elements with_nan = identity(3);
  with_nan(1, 2) = std::nan("");
  EXPECT_TRUE(std::isnan(rcond(with_nan)));
}

TEST_P(LibraryArithmetic, FactorsOfAMatrixAreOfThatMatrix) {
  const Elements a = well_conditioned(37, 1), c = well_conditioned(37, 2), b = random_elements(37, 1, 3);
  const Handle of_a = up(a), of_c = up(c), of_b = up(b);
  for (int round = 0; round < 2; ++round) {
    for (const auto& [matrix, elements] : {std::pair(&of_a, &a), {&of_a, &a}, {&of_c, &c}}) {
      const Elements x = download(call(glinpack_solve, matrix->get(), of_b.get()));
      EXPECT_LE(scaled_residual(*elements, x, b), largest_residual);
    }
    // memory of a freed matrix may be used again
    for (unsigned seed = 4; seed < 8; ++seed) {
      const Elements d = well_conditioned(37, seed);
      EXPECT_LE(scaled_residual(d, download(call(glinpack_solve, up(d).get(), of_b.get())), b), largest_residual);
    }
  }
}

TEST_P(LibraryArithmetic, Norms) {
  const Elements a = generate(2, 3, [](Index i, Index j) { return static_cast<double>((i - 1) * 4 + j); });
  const Handle of_a = up(a);  // -4 -3 -2; 0 1 2
  const auto norm = [&](const Handle& matrix, glinpack_norm_kind kind) {
    return download(call(glinpack_norm, matrix.get(), kind))(0, 0);
  };
  EXPECT_EQ(norm(of_a, GLINPACK_NORM_ONE), 4);
  EXPECT_EQ(norm(of_a, GLINPACK_NORM_INFINITY), 9);
  EXPECT_EQ(norm(of_a, GLINPACK_NORM_MAXIMUM), 4);
  EXPECT_NEAR(norm(of_a, GLINPACK_NORM_FROBENIUS), std::sqrt(34), 34 * tolerance(1));
  const Handle empty = up(Elements(0, 4));
  for (const auto kind : {GLINPACK_NORM_ONE, GLINPACK_NORM_INFINITY, GLINPACK_NORM_FROBENIUS, GLINPACK_NORM_MAXIMUM}) {
    EXPECT_EQ(norm(empty, kind), 0);
  }
  const double largest_number = precision() == GLINPACK_SINGLE ? 3e38 : 1e308;
  const Handle large = call(glinpack_matrix_constant, context().get(), precision(), Index{1}, Index{1}, largest_number);
  EXPECT_NEAR(norm(large, GLINPACK_NORM_FROBENIUS) / largest_number, 1, tolerance(4)) << "no overflow";
  Elements with_nan = a;
  with_nan(0, 1) = std::nan("");
  EXPECT_TRUE(std::isnan(norm(up(with_nan), GLINPACK_NORM_FROBENIUS)));
  EXPECT_TRUE(std::isnan(norm(up(with_nan), GLINPACK_NORM_ONE)));
}

/// The matrix of these diagonals.
Elements banded(const Elements& diagonals, const std::vector<Index>& offsets) {
  return generate(diagonals.rows, diagonals.rows, [&](Index i, Index j) {
    const auto k = std::find(offsets.begin(), offsets.end(), j - i) - offsets.begin();
    return k < std::ssize(offsets) ? diagonals(i, k) : 0.0;
  });
}

TEST_P(LibraryArithmetic, BandedProducts) {
  for (const Index n : {1, 5, 37}) {
    const std::vector<Index> offsets{0, -1, 2, n};
    const auto count = static_cast<Index>(offsets.size());
    const Elements diagonals = random_elements(n, count, 1), x = random_elements(n, 1, 2);
    const Elements dense = banded(diagonals, offsets);
    const Elements y = download(call(glinpack_banded_product, up(diagonals).get(), offsets.data(), count, up(x).get()));
    EXPECT_LE(difference(y, product(dense, x)), tolerance(count)) << n;
  }
  const Elements none =
      download(call(glinpack_banded_product, up(Elements(4, 0)).get(), nullptr, Index{0}, up(Elements(4, 1)).get()));
  EXPECT_EQ(largest(none), 0);
}

TEST_P(LibraryArithmetic, BandedSystemsAreSolvedWithPivoting) {
  for (const Index n : sizes()) {
    for (const std::vector<Index>& offsets : {std::vector<Index>{0}, {1, 0, -1}, {0, -1, 4, n}, {-5, -2, 0, 1}}) {
      const auto count = static_cast<Index>(offsets.size());
      Elements diagonals = random_elements(n, count, 1);
      if (offsets.back() == -1) {  // without exchanges the first pivot is 0
        for (Index i = 0; i + 1 < n; i += 2) diagonals(i, 1) = 0;
      }
      const Elements dense = banded(diagonals, offsets), b = random_elements(n, n > 1 ? 3 : 1, 2);
      glinpack_matrix* rcond = nullptr;
      const Elements x =
          download(call(glinpack_banded_solve, up(diagonals).get(), offsets.data(), count, up(b).get(), &rcond));
      EXPECT_LE(scaled_residual(dense, x, b), largest_residual) << n;
      const double computed = download(Handle(rcond))(0, 0);
      if (is_packed()) continue;  // full matrices need other pivots
      EXPECT_NEAR(computed, download(call(glinpack_rcond, up(dense).get()))(0, 0), tolerance(n)) << n;
    }
  }
}

TEST_P(LibraryArithmetic, TridiagonalSystemsInColumns) {
  for (const Index n : sizes()) {
    const Index systems = 7;
    const Elements lower = random_elements(n, systems, 1), upper = random_elements(n, systems, 2);
    const Elements diagonal = generate(
        n, systems, [](Index i, Index s) { return (s % 2 == 0 ? 2.0 : -2.0) + 0.01 * static_cast<double>(i % 9); });
    const Elements right = random_elements(n, systems, 3);
    const Elements x =
        download(call(glinpack_tridiagonal, up(lower).get(), up(diagonal).get(), up(upper).get(), up(right).get()));
    const auto at = [&](Index i, Index s) { return i < 0 || i >= n ? 0.0 : x(i, s); };
    const Elements computed = generate(n, systems, [&](Index i, Index s) {
      return lower(i, s) * at(i - 1, s) + diagonal(i, s) * at(i, s) + upper(i, s) * at(i + 1, s);
    });
    EXPECT_LE(difference(computed, right), 8 * tolerance(3)) << n;
  }
}

TEST_P(LibraryArithmetic, PoissonWithAnyRightHandSide) {
  for (const Index n : {1, 5, 37}) {
    const Elements b = random_elements(n, n, 1);
    const Elements u = download(call(glinpack_poisson, up(b).get(), 1e-5, Index{0}));
    const auto at = [&](Index i, Index j) { return std::min(i, j) < 0 || std::max(i, j) >= n ? 0.0 : u(i, j); };
    double residual = 0, right = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        const double r = 4 * u(i, j) - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1) - b(i, j);
        residual += r * r;
        right += b(i, j) * b(i, j);
      }
    }
    EXPECT_LE(std::sqrt(residual / right), 2e-5) << n;
  }
  EXPECT_EQ(largest(download(call(glinpack_poisson, up(Elements(5, 5)).get(), 1e-5, Index{0}))), 0);
}

TEST_P(LibraryArithmetic, MatricesWithoutElements) {
  const Handle none = up(Elements(0, 3)), tall = up(Elements(3, 0)), square = up(Elements(0, 0));
  const Elements inner = download(call(glinpack_gemm, 0, 0, 1.0, tall.get(), none.get(), 0.0, nullptr));
  EXPECT_EQ(difference(inner, Elements(3, 3)), 0) << "sums without terms";
  const Handle c = up(random_elements(3, 3, 1));
  const Handle kept = call(glinpack_gemm, 0, 0, 1.0, tall.get(), none.get(), 2.0, c.get());
  EXPECT_EQ(
      difference(download(kept), generate(3, 3, [](Index i, Index j) { return 2 * random_elements(3, 3, 1)(i, j); })),
      0);
  EXPECT_EQ(download(call(glinpack_gemm, 1, 0, 1.0, tall.get(), tall.get(), 0.0, nullptr)).rows, 0);
  EXPECT_EQ(download(call(glinpack_transpose, none.get())).rows, 3);
  EXPECT_EQ(download(call(glinpack_solve, square.get(), none.get())).columns, 3);
  glinpack_matrix* rcond = nullptr;
  EXPECT_EQ(download(call(glinpack_banded_solve, square.get(), nullptr, Index{0}, none.get(), &rcond)).columns, 3);
  EXPECT_EQ(download(Handle(rcond))(0, 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(download(call(glinpack_inverse, square.get())).rows, 0);
  EXPECT_EQ(download(call(glinpack_add, none.get(), none.get())).columns, 3);
  EXPECT_EQ(download(call(glinpack_poisson, square.get(), 1e-3, Index{0})).rows, 0);
  EXPECT_EQ(difference(download(call(glinpack_vertcat, none.get(), c.get())), random_elements(3, 3, 1)), 0);
  EXPECT_EQ(difference(download(call(glinpack_horzcat, c.get(), tall.get())), random_elements(3, 3, 1)), 0);
  EXPECT_EQ(download(call(glinpack_submatrix, c.get(), Index{3}, Index{0}, Index{0}, Index{3})).rows, 0);
  glinpack_matrix* u = nullptr;
  ASSERT_EQ(glinpack_lu(square.get(), nullptr, nullptr, &u), GLINPACK_OK);
  EXPECT_EQ(download(Handle(u)).rows, 0);
}

INSTANTIATE_TEST_SUITE_P(Places, LibraryArithmetic, all_places(), name_of);
INSTANTIATE_TEST_SUITE_P(Packed, LibraryArithmetic, testing::Values(Place{packed_device, GLINPACK_SINGLE}), name_of);

TEST(LibraryPacked, ResultsEnterOtherOperationsWithoutTransfers) {
  using namespace library;
  constexpr Index n = 37, systems = 5;
  Engine engine(choose_packed_engine(gl_device()));
  const auto transfers = [&] {
    const solvers::StageTimes& times = engine.device().clock().times();
    return times.of(solvers::Stage::upload) + times.of(solvers::Stage::download);
  };
  const auto value = [&](const Elements& a) {
    return from_elements(engine, a.rows, a.columns, std::vector<float>(a.data.begin(), a.data.end()));
  };
  const auto elements = [&](const Value& a, Index columns) {
    Elements to(n, columns);
    read(engine, a, Strided<double>{to.data.data(), columns, 1});
    return to;
  };
  const Value a = value(well_conditioned(n, 1)), b = value(random_elements(n, systems, 2)),
              ones = value(generate(n, systems, [](Index, Index) { return 1.0; }));
  EXPECT_GT(transfers(), 0);
  engine.device().clock().clear();
  const auto times = [&](const Value& left, const Value& right, Index columns) {
    return multiply(engine, {.rows = n, .columns = columns, .precision = GLINPACK_SINGLE}, left, right, Value());
  };
  const FactorsOfMatrix factors = factorize(engine, a);
  const auto factor = [&](Factor which) { return factor_of(engine, factors, which); };
  const Value pa = times(factor(Factor::permutation), a, n),
              lu = times(factor(Factor::lower), factor(Factor::upper), n);
  const Value wide = overlay(engine, {n, n + systems}, a, times(a, b, systems), {0, n, n, systems});
  const Value reduced = submatrix(engine, reduce(engine, wide), {0, n, n, systems});
  const Value inverse = times(invert(engine, a), times(a, b, systems), systems);
  const Value tridiagonal = solve_tridiagonal(engine, ones, combine(engine, {.alpha = 3}, ones, Value()), ones, b);
  const Value solved = solve(engine, transpose(engine, transpose(engine, a)), times(a, b, systems));
  engine.device().finish();
  EXPECT_EQ(transfers(), 0);
  const Elements expected = random_elements(n, systems, 2);
  constexpr double bound = 1e-4;  // n epsilon times a condition of less than 10
  EXPECT_LE(difference(elements(pa, n), elements(lu, n)), bound);
  for (const Value& x : {reduced, inverse, solved}) EXPECT_LE(difference(elements(x, systems), expected), bound);
  const Elements x = elements(tridiagonal, systems);
  for (Index i = 1; i + 1 < n; ++i) EXPECT_NEAR(x(i - 1, 0) + 3 * x(i, 0) + x(i + 1, 0), expected(i, 0), bound);
  EXPECT_GT(transfers(), 0);
}

TEST(LibraryPacked, OnlyBlocksArePivotsAndOnlySinglePrecisionIsComputed) {
  const Context packed = make_context(packed_device);
  const Handle exchange =
      upload(packed, GLINPACK_SINGLE, generate(2, 2, [](Index i, Index j) { return i == j ? 0.0 : 3.0; }));
  EXPECT_EQ(glinpack_wait(call(glinpack_inverse, exchange.get()).get(), -1), GLINPACK_SINGULAR);
  EXPECT_EQ(glinpack_wait(call(glinpack_rref, exchange.get()).get(), -1), GLINPACK_SINGULAR);
  glinpack_matrix* l = nullptr;
  ASSERT_EQ(glinpack_lu(exchange.get(), nullptr, &l, nullptr), GLINPACK_OK);
  EXPECT_EQ(glinpack_wait(Handle(l).get(), -1), GLINPACK_SINGULAR);
  const Handle zeros = upload(packed, GLINPACK_SINGLE, Elements(3, 3));
  EXPECT_EQ(download(call(glinpack_determinant, zeros.get()))(0, 0), 0);
  EXPECT_EQ(download(call(glinpack_rcond, zeros.get()))(0, 0), 0);
  glinpack_matrix* made = nullptr;
  EXPECT_EQ(glinpack_convert(zeros.get(), GLINPACK_DOUBLE, &made), GLINPACK_WRONG_PRECISION);
  EXPECT_EQ(glinpack_rref(upload(packed, GLINPACK_SINGLE, Elements(3, 2)).get(), &made), GLINPACK_WRONG_SIZE);
  glinpack_context* none = nullptr;
  EXPECT_EQ(glinpack_context_create_packed("openblas", &none), GLINPACK_NO_DEVICE);
}

}  // namespace
}  // namespace glinpack::test
