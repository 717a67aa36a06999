// The operations of glinpack.h: checks what the arguments show, and enqueues the rest.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "library/operations.hpp"
#include "library/session.hpp"

namespace glinpack::library {
namespace {

void check_same_shape(const Matrix& a, const Matrix& b) {
  need(a.rows == b.rows && a.columns == b.columns, GLINPACK_WRONG_SIZE,
       "the matrices have different extents: " + text_of(shape_of(a)) + " and " + text_of(shape_of(b)));
}

void check_square(const Matrix& a) {
  need(a.rows == a.columns, GLINPACK_WRONG_SIZE, "the matrix is not square but " + text_of(shape_of(a)));
}

/// The sum of two extents. Matrices without elements may have any extent.
Index sum_of(Index a, Index b) {
  need(a <= std::numeric_limits<Index>::max() - b, GLINPACK_OUT_OF_MEMORY,
       "the extents " + std::to_string(a) + " and " + std::to_string(b) + " exceed 64 bits together");
  return a + b;
}

glinpack_status combined(const Combination& how, const glinpack_matrix* a, const glinpack_matrix* b,
                         glinpack_matrix** result) {
  return make_result(result, handles(a, b), [&](const Matrix* a, const Matrix* b) {
    check_alike(a, b);
    check_same_shape(*a, *b);
    return compute(std::tie(*a, *b), shape_of(*a), [=](Engine& engine, const Value& left, const Value& right) {
      return combine(engine, how, left, right);
    });
  });
}

/// 1 x 1: function(a) of a square matrix, or `of_empty` if it has no elements.
glinpack_status number_of(const glinpack_matrix* a, double of_empty, Value (*function)(Engine&, const Value&),
                          glinpack_matrix** result) {
  return make_result(result, handles(a), [&](const Matrix* a) {
    check_operands(a);
    check_square(*a);
    return compute(std::tie(*a), {1, 1, a->precision},
                   [=, precision = a->precision](Engine& engine, const Value& matrix) {
                     return matrix.empty() ? scalar(engine, precision, of_empty) : function(engine, matrix);
                   });
  });
}

/// rows x columns elements: a at the top left, b at `place`.
std::shared_ptr<Matrix> overlaid(const Matrix& a, const Matrix& b, const Shape& shape, const Place& place) {
  return compute(std::tie(a, b), shape, [=](Engine& engine, const Value& first, const Value& second) {
    return overlay(engine, {shape.rows, shape.columns}, first, second, place);
  });
}

bool holds(const Matrix& a, const Place& place) {
  const auto within = [](Index first, Index count, Index extent) {
    return first >= 0 && count >= 0 && first <= extent && count <= extent - first;
  };
  return within(place.row, place.rows, a.rows) && within(place.column, place.columns, a.columns);
}

std::string text_of(const Place& place) {
  return text_of(Shape{place.rows, place.columns}) + " elements from (" + std::to_string(place.row) + ", " +
         std::to_string(place.column) + ") on";
}

std::shared_ptr<Matrix> factor(const Matrix& a, ResultId<OnDevice<FactorsOfMatrix>> factors, Factor which) {
  return enqueue(
      a.session, shape_of(a),
      [which](Engine& engine, const FactorsOfMatrix& of_a) { return factor_of(engine, of_a, which); }, factors);
}

ResultId<OnDevice<FactorsOfMatrix>> enqueue_factors(const Matrix& a) {
  return a.session->queue.enqueue(
      [](Engine& engine, const Value& value) {
        return engine.run(
            [&] { return OnDevice<FactorsOfMatrix>{value.empty() ? FactorsOfMatrix() : factorize(engine, value)}; });
      },
      a.id);
}

/// Releases the factors when their uses are enqueued.
template <class Factors>
struct FactorsId {
  Session& session;
  ResultId<Factors> id;
  FactorsId(Session& in_session, ResultId<Factors> of) : session(in_session), id(of) {}
  ~FactorsId() {
    guarded([&] {
      session.queue.release(id);
      return GLINPACK_OK;
    });
  }
};

/// The offsets, within the matrix. Throws Failure if they, the diagonals and x do not fit.
std::vector<Index> offsets_for(const Matrix& diagonals, const int64_t* offsets, int64_t count, const Matrix& x,
                               bool is_vector) {
  need(count >= 0 && (offsets || count == 0), GLINPACK_INVALID_ARGUMENT, "the offsets are missing");
  need(diagonals.columns == count && diagonals.rows == x.rows && (!is_vector || x.columns == 1), GLINPACK_WRONG_SIZE,
       std::to_string(count) + " diagonals of " + text_of(shape_of(diagonals)) + " do not fit " +
           (is_vector ? "a vector of " : "right-hand sides of ") + text_of(shape_of(x)));
  std::vector<Index> kept(offsets, offsets + count), sorted = kept;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw Failure(GLINPACK_INVALID_ARGUMENT, "a diagonal's offset occurs twice: " + std::to_string(*twice));
  }
  for (Index& offset : kept) offset = std::clamp(offset, -x.rows, x.rows);  // beyond it there is nothing
  return kept;
}

}  // namespace
}  // namespace glinpack::library

using namespace glinpack::library;
using glinpack::Index;

extern "C" {

glinpack_status glinpack_add(const glinpack_matrix* a, const glinpack_matrix* b, glinpack_matrix** result) {
  return combined({.beta = 1}, a, b, result);
}

glinpack_status glinpack_subtract(const glinpack_matrix* a, const glinpack_matrix* b, glinpack_matrix** result) {
  return combined({.beta = -1}, a, b, result);
}

glinpack_status glinpack_multiply_elements(const glinpack_matrix* a, const glinpack_matrix* b,
                                           glinpack_matrix** result) {
  return combined({Elementwise::multiply}, a, b, result);
}

glinpack_status glinpack_divide_elements(const glinpack_matrix* a, const glinpack_matrix* b, glinpack_matrix** result) {
  return combined({Elementwise::divide}, a, b, result);
}

glinpack_status glinpack_scale(double factor, const glinpack_matrix* a, double summand, glinpack_matrix** result) {
  return make_result(result, handles(a), [&](const Matrix* a) {
    check_operands(a);
    return compute(std::tie(*a), shape_of(*a), [=](Engine& engine, const Value& value) {
      return combine(engine, {.alpha = factor, .beta = summand}, value, Value());
    });
  });
}

glinpack_status glinpack_transpose(const glinpack_matrix* a, glinpack_matrix** result) {
  return make_result(result, handles(a), [&](const Matrix* a) {
    check_operands(a);
    return compute(std::tie(*a), {a->columns, a->rows, a->precision}, transpose);
  });
}

glinpack_status glinpack_convert(const glinpack_matrix* a, glinpack_precision precision, glinpack_matrix** result) {
  return make_result(result, handles(a), [&](const Matrix* a) {
    check_operands(a);
    const Shape shape{a->rows, a->columns, precision};
    check_shape(*a->session, shape);
    return compute(std::tie(*a), shape,
                   [precision](Engine& engine, const Value& value) { return convert(engine, value, precision); });
  });
}

glinpack_status glinpack_submatrix(const glinpack_matrix* a, int64_t row, int64_t column, int64_t rows, int64_t columns,
                                   glinpack_matrix** result) {
  return make_result(result, handles(a), [&](const Matrix* a) {
    check_operands(a);
    const Place place{row, column, rows, columns};
    need(holds(*a, place), GLINPACK_WRONG_SIZE,
         "a matrix of " + text_of(shape_of(*a)) + " has not all of " + text_of(place));
    return compute(std::tie(*a), {rows, columns, a->precision},
                   [place](Engine& engine, const Value& value) { return submatrix(engine, value, place); });
  });
}

glinpack_status glinpack_replace(const glinpack_matrix* a, int64_t row, int64_t column, const glinpack_matrix* block,
                                 glinpack_matrix** result) {
  return make_result(result, handles(a, block), [&](const Matrix* a, const Matrix* block) {
    check_alike(a, block);
    const Place place{row, column, block->rows, block->columns};
    need(holds(*a, place), GLINPACK_WRONG_SIZE,
         "a matrix of " + text_of(shape_of(*a)) + " has not all of " + text_of(place));
    return overlaid(*a, *block, shape_of(*a), place);
  });
}

glinpack_status glinpack_horzcat(const glinpack_matrix* a, const glinpack_matrix* b, glinpack_matrix** result) {
  return make_result(result, handles(a, b), [&](const Matrix* a, const Matrix* b) {
    check_alike(a, b);
    need(a->rows == b->rows, GLINPACK_WRONG_SIZE,
         "the matrices side by side have different rows: " + text_of(shape_of(*a)) + " and " + text_of(shape_of(*b)));
    const Shape shape{a->rows, sum_of(a->columns, b->columns), a->precision};
    check_shape(*a->session, shape);
    return overlaid(*a, *b, shape, {0, a->columns, b->rows, b->columns});
  });
}

glinpack_status glinpack_vertcat(const glinpack_matrix* a, const glinpack_matrix* b, glinpack_matrix** result) {
  return make_result(result, handles(a, b), [&](const Matrix* a, const Matrix* b) {
    check_alike(a, b);
    need(a->columns == b->columns, GLINPACK_WRONG_SIZE,
         "the matrices on top of each other have different columns: " + text_of(shape_of(*a)) + " and " +
             text_of(shape_of(*b)));
    const Shape shape{sum_of(a->rows, b->rows), a->columns, a->precision};
    check_shape(*a->session, shape);
    return overlaid(*a, *b, shape, {a->rows, 0, b->rows, b->columns});
  });
}

glinpack_status glinpack_gemm(int transpose_a, int transpose_b, double alpha, const glinpack_matrix* a,
                              const glinpack_matrix* b, double beta, const glinpack_matrix* c,
                              glinpack_matrix** result) {
  return make_result(result, handles(a, b, c), [&](const Matrix* a, const Matrix* b, const Matrix* c) {
    check_alike(a, b);
    const Index rows = transpose_a ? a->columns : a->rows, depth_a = transpose_a ? a->rows : a->columns;
    const Index columns = transpose_b ? b->rows : b->columns, depth_b = transpose_b ? b->columns : b->rows;
    need(depth_a == depth_b, GLINPACK_WRONG_SIZE,
         "the operands of a product do not fit: " + text_of(Shape{rows, depth_a}) + " and " +
             text_of(Shape{depth_b, columns}) + (transpose_a || transpose_b ? " as transposed" : ""));
    const Shape shape{rows, columns, a->precision};
    check_shape(*a->session, shape);
    const Product product{rows, columns, transpose_a != 0, transpose_b != 0, alpha, beta, a->precision};
    if (!c) {
      return compute(std::tie(*a, *b), shape, [product](Engine& engine, const Value& left, const Value& right) {
        return multiply(engine, product, left, right, Value());
      });
    }
    check_alike(a, c);
    need(c->rows == rows && c->columns == columns, GLINPACK_WRONG_SIZE,
         "the product is " + text_of(shape) + " but the matrix to add " + text_of(shape_of(*c)));
    return compute(std::tie(*a, *b, *c), shape,
                   [product](Engine& engine, const Value& left, const Value& right, const Value& summand) {
                     return multiply(engine, product, left, right, summand);
                   });
  });
}

glinpack_status glinpack_lu(const glinpack_matrix* a, glinpack_matrix** p, glinpack_matrix** l, glinpack_matrix** u) {
  const std::array results{std::pair(p, Factor::permutation), std::pair(l, Factor::lower), std::pair(u, Factor::upper)};
  for (const auto& [result, which] : results) {
    if (result) *result = nullptr;
  }
  const glinpack_status status = guarded(handles(a), [&](const Matrix* matrix) {
    check_operands(matrix);
    check_square(*matrix);
    const FactorsId factors{*matrix->session, enqueue_factors(*matrix)};
    for (const auto& [result, which] : results) {
      if (result) *result = matrices().add(factor(*matrix, factors.id, which));
    }
    return GLINPACK_OK;
  });
  for (const auto& [result, which] : results) {
    if (status == GLINPACK_OK || !result) continue;
    glinpack_matrix_free(*result);
    *result = nullptr;
  }
  return status;
}

glinpack_status glinpack_solve(const glinpack_matrix* a, const glinpack_matrix* b, glinpack_matrix** result) {
  return make_result(result, handles(a, b), [&](const Matrix* a, const Matrix* b) {
    check_alike(a, b);
    check_square(*a);
    need(a->rows == b->rows, GLINPACK_WRONG_SIZE,
         "the matrix is " + text_of(shape_of(*a)) + " but the right-hand side " + text_of(shape_of(*b)));
    return compute(std::tie(*a, *b), shape_of(*b), solve);
  });
}

glinpack_status glinpack_inverse(const glinpack_matrix* a, glinpack_matrix** result) {
  return make_result(result, handles(a), [&](const Matrix* a) {
    check_operands(a);
    check_square(*a);
    return compute(std::tie(*a), shape_of(*a), invert);
  });
}

glinpack_status glinpack_rref(const glinpack_matrix* a, glinpack_matrix** result) {
  return make_result(result, handles(a), [&](const Matrix* a) {
    check_operands(a);
    need(!a->session->packed || a->rows <= a->columns, GLINPACK_WRONG_SIZE,
         "with packing 2x2 a matrix of more rows than columns is not reduced: " + text_of(shape_of(*a)));
    return compute(std::tie(*a), shape_of(*a), reduce);
  });
}

glinpack_status glinpack_determinant(const glinpack_matrix* a, glinpack_matrix** result) {
  return number_of(a, 1, determinant, result);
}

glinpack_status glinpack_rcond(const glinpack_matrix* a, glinpack_matrix** result) {
  return number_of(a, std::numeric_limits<double>::infinity(), reciprocal_condition, result);
}

glinpack_status glinpack_norm(const glinpack_matrix* a, glinpack_norm_kind kind, glinpack_matrix** result) {
  return make_result(result, handles(a), [&](const Matrix* a) {
    check_operands(a);
    need(kind >= GLINPACK_NORM_ONE && kind <= GLINPACK_NORM_MAXIMUM, GLINPACK_INVALID_ARGUMENT,
         "unknown kind of norm: " + std::to_string(static_cast<int>(kind)));
    return compute(std::tie(*a), {1, 1, a->precision},
                   [kind, precision = a->precision](Engine& engine, const Value& matrix) {
                     return norm(engine, matrix, kind, precision);
                   });
  });
}

glinpack_status glinpack_banded_product(const glinpack_matrix* diagonals, const int64_t* offsets, int64_t count,
                                        const glinpack_matrix* x, glinpack_matrix** result) {
  return make_result(result, handles(diagonals, x), [&](const Matrix* diagonals, const Matrix* x) {
    check_alike(diagonals, x);
    std::vector<Index> kept = offsets_for(*diagonals, offsets, count, *x, true);
    return compute(std::tie(*diagonals, *x), shape_of(*x),
                   [kept = std::move(kept)](Engine& engine, const Value& elements, const Value& vector) {
                     return banded_product(engine, elements, kept, vector);
                   });
  });
}

glinpack_status glinpack_banded_solve(const glinpack_matrix* diagonals, const int64_t* offsets, int64_t count,
                                      const glinpack_matrix* b, glinpack_matrix** rcond, glinpack_matrix** result) {
  if (rcond) *rcond = nullptr;
  const glinpack_status status =
      make_result(result, handles(diagonals, b), [&](const Matrix* diagonals, const Matrix* b) {
        check_alike(diagonals, b);
        std::vector<Index> kept = offsets_for(*diagonals, offsets, count, *b, false);
        const std::shared_ptr<Session>& session = b->session;
        const auto factorize = [kept = std::move(kept)](Engine& engine, const Value& elements) {
          return engine.run([&] { return factorize_banded(engine, elements, kept); });
        };
        const FactorsId factors{*session, session->queue.enqueue(factorize, diagonals->id)};
        if (rcond) {
          const auto condition = [n = b->rows, precision = b->precision](Engine& engine,
                                                                         const BandedFactorsOfMatrix& of_a) {
            const auto reciprocal = [](const auto& matrix) { return matrix.reciprocal_condition(); };
            return scalar(engine, precision,
                          n > 0 ? std::visit(reciprocal, of_a) : std::numeric_limits<double>::infinity());
          };
          *rcond = matrices().add(enqueue(session, {1, 1, b->precision}, condition, factors.id));
        }
        return enqueue(session, shape_of(*b), solve_banded, factors.id, b->id);
      });
  if (status == GLINPACK_OK || !rcond) return status;
  glinpack_matrix_free(*rcond);
  *rcond = nullptr;
  return status;
}

glinpack_status glinpack_tridiagonal(const glinpack_matrix* lower, const glinpack_matrix* diagonal,
                                     const glinpack_matrix* upper, const glinpack_matrix* right,
                                     glinpack_matrix** result) {
  return make_result(result, handles(lower, diagonal, upper, right),
                     [&](const Matrix* lower, const Matrix* diagonal, const Matrix* upper, const Matrix* right) {
                       check_alike(lower, diagonal, upper, right);
                       check_same_shape(*lower, *right);
                       check_same_shape(*diagonal, *right);
                       check_same_shape(*upper, *right);
                       return compute(std::tie(*lower, *diagonal, *upper, *right), shape_of(*right), solve_tridiagonal);
                     });
}

glinpack_status glinpack_poisson(const glinpack_matrix* b, double tolerance, int64_t max_iterations,
                                 glinpack_matrix** result) {
  return make_result(result, handles(b), [&](const Matrix* b) {
    check_operands(b);
    check_square(*b);
    need(tolerance > 0 && max_iterations >= 0, GLINPACK_INVALID_ARGUMENT,
         "the tolerance is not positive, or the iteration limit is negative");
    constexpr Index max = 10'000'000;  // devices keep a number per iteration
    const Index limit = max_iterations > 0 ? std::min(max_iterations, max) : 10 * b->rows + 100;
    return compute(std::tie(*b), shape_of(*b),
                   [=](Engine& engine, const Value& right) { return solve_poisson(engine, right, tolerance, limit); });
  });
}

}  // extern "C"
