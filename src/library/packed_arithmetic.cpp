// The toolbox of Brodtkorb 2008, section 4: all algorithms on textures of packing 2x2, so that results enter further
// operations without being repacked or transferred.
#include <algorithm>
#include <array>
#include <optional>

#include "base/row_interchanges.hpp"
#include "library/arithmetic.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/elimination/elimination.hpp"
#include "solvers/tridiagonal/tridiagonal_drawing.hpp"

namespace glinpack::library {
namespace {

using solvers::TextureMatrix;
using solvers::to_int;

constexpr Index block = 2;
constexpr solvers::Packing packing = solvers::Packing::p2x2;
constexpr solvers::EliminationSettings settings{};
constexpr GLint extents_location = 8, factors_location = 9, shift_location = 10, inside_location = 11;

/// OPERATION of shaders/solvers/packed.frag, from 1 on; at 0 with TERMS 1.
enum Operation : std::uint8_t {
  affine,
  linear,
  product,
  quotient,
  transposition,
  moved,
  ones,
  lower,
  upper,
  equations,
  packed,
  operations
};

/// In a texture; elements of the padding are 0, except in factors.
struct PackedMatrix final : DeviceMatrix<float> {
  PackedMatrix(solvers::Device& device, Index rows, Index columns)
      : DeviceMatrix<float>(rows, columns), texture(device, rows, columns, packing) {}
  TextureMatrix texture;
};

TextureMatrix& texture_of(DeviceMatrix<float>& a) { return static_cast<PackedMatrix&>(a).texture; }
Index side_of(Index n) { return divide_up(n, block); }

class PackedArithmetic final : public Arithmetic<float> {
 public:
  explicit PackedArithmetic(solvers::Device& device)
      : device_(device),
        jordan_(device, settings),
        plu_(device, settings),
        largest_(device, {.pivoting = solvers::EliminationPivoting::full, .measure = solvers::PivotMeasure::largest}),
        tridiagonal_(device),
        product_(device.fragment_program("solvers/matmul.frag",
                                         "#define PACKING 22\n#define PLANE 0\n"
                                         "#define ACCUMULATE 0\n#define BYTES 0\n")) {}

  RowMajorView<const float> read(Matrix& a) override {
    read_.resize(static_cast<std::size_t>(a.rows() * a.columns()));
    texture_of(a).download({read_.data(), a.rows(), a.columns(), a.columns()});
    return {read_.data(), a.rows(), a.columns(), a.columns()};
  }

  using Arithmetic<float>::copy;
  void copy(const DeviceBlock<float>& from, const DeviceBlock<float>& to) override {
    move(texture_of(*from.matrix), {from.row, from.column}, texture_of(*to.matrix), {to.row, to.column},
         {to.rows, to.columns});
  }

  MatrixPointer transpose(Matrix& a) override {
    return drawn(transposition, a.columns(), a.rows(), {texture_of(a).texture()});
  }

  MatrixPointer multiply(Matrix& a, bool transpose_a, Matrix& b, bool transpose_b) override {
    const MatrixPointer left = transpose_a ? transpose(a) : nullptr, right = transpose_b ? transpose(b) : nullptr;
    Matrix &l = left ? *left : a, &r = right ? *right : b;
    const MatrixPointer result = make(l.rows(), r.columns());
    product_.set(1, 0, to_int(side_of(l.columns())));
    draw(product_, texture_of(*result), {texture_of(l).texture(), texture_of(r).texture()});
    // an infinity makes the padding NaN
    const bool has_padding = result->rows() % block != 0 || result->columns() % block != 0;
    return has_padding ? combine({}, *result, nullptr) : result;
  }

  MatrixPointer combine(const Combination& how, Matrix& a, Matrix* b) override {
    const Operation operation = how.operation == Elementwise::multiply ? product
                                : how.operation == Elementwise::divide ? quotient
                                : b                                    ? linear
                                                                       : affine;
    program(operation).set(factors_location, static_cast<float>(how.alpha), static_cast<float>(how.beta));
    return drawn(operation, a.rows(), a.columns(), {texture_of(a).texture(), texture_of(b ? *b : a).texture()});
  }

  MatrixPointer factor(Matrix& in_rows, std::span<const Index> order, Factor which) override {
    const Index n = in_rows.rows();
    if (which != Factor::permutation) {
      return drawn(which == Factor::lower ? lower : upper, n, n, {texture_of(in_rows).texture()});
    }
    const MatrixPointer result = make(n, n);
    std::vector<gl::Quad> blocks;
    for (Index k = 0; k < side_of(n); ++k) {
      blocks.push_back({order[static_cast<std::size_t>(k * block)] / block, k, 1, 1, {}});
    }
    draw_ones(texture_of(*result), 0, n, blocks);
    return result;
  }

  /// By Gauss-Jordan elimination.
  MatrixPointer invert(const MatrixPointer& a) override {
    const Index n = a->rows(), side = side_of(n);
    solvers::PingPong system = padded(*a, n);
    std::vector<gl::Quad> blocks;
    for (Index k = 0; k < side; ++k) blocks.push_back({side + k, k, 1, 1, {}});
    draw_ones(system.front(), 0, n, blocks);
    eliminate(system, *a, side);
    const MatrixPointer result = make(n, n);
    move(system.front(), {0, side * block}, texture_of(*result), {0, 0}, {n, n});
    return result;
  }

  MatrixPointer reduced_row_echelon_form(Matrix& a, int /*threads*/) override {
    const Index rows = a.rows(), right = a.columns() - rows, side = side_of(rows);
    solvers::PingPong system = padded(a, right);
    move(texture_of(a), {0, rows}, system.front(), {0, side * block}, {rows, right});
    eliminate(system, a, side);
    const MatrixPointer result = make(rows, a.columns());
    std::vector<gl::Quad> blocks;
    for (Index k = 0; k < side; ++k) blocks.push_back({k, k, 1, 1, {}});
    draw_ones(texture_of(*result), 0, rows, blocks);
    move(system.front(), {0, side * block}, texture_of(*result), {0, rows}, {rows, right});
    return result;
  }

  MatrixPointer solve_tridiagonal(Matrix& below, Matrix& diagonal, Matrix& above, Matrix& right) {
    const Index n = right.rows(), systems = right.columns();
    solvers::TridiagonalTile tile(device_, systems, n);
    program(equations).set(extents_location, to_int(n), to_int(systems));
    draw(program(equations), tile.given,
         {texture_of(below).texture(), texture_of(diagonal).texture(), texture_of(above).texture(),
          texture_of(right).texture()});
    tridiagonal_.solve({&tile, 1});
    return drawn(packed, n, systems, {tile.solution.texture()});
  }

 protected:
  Factors factorize(Matrix& a) override {
    Factors factors{copy(a), {}};
    TextureMatrix& lu = texture_of(*factors.elements);
    complete(lu, a.rows());
    try {
      for (const Index pivot : plu_.factorize(lu, min_pivot(a))) {
        for (Index row = 0; row < block; ++row) factors.pivots.push_back(pivot * block + row);
      }
      factors.pivots.resize(static_cast<std::size_t>(a.rows()));
    } catch (const solvers::SingularMatrixError&) {
      return {.elements = nullptr, .pivots = {}, .singular = true};
    }
    return factors;
  }

  MatrixPointer solve_with(const Factors& factors, Matrix& b) override {
    const MatrixPointer x = make(b.rows(), b.columns());
    const std::vector<Index> rows = row_order_of(factors.pivots);
    std::vector<Index> order;
    for (Index k = 0; k < side_of(b.rows()); ++k) order.push_back(rows[static_cast<std::size_t>(k * block)] / block);
    plu_.solve(texture_of(*factors.elements), order, texture_of(b), texture_of(*x));
    return x;
  }
  MatrixPointer invert_with(const Factors& factors) override { return invert(factors.elements); }

  void wait() override { device_.finish(); }
  bool has_room(Index rows, Index columns) override {
    return !device_.description().software ||
           host_has(round_up(rows, block) * round_up(columns, block) * static_cast<std::int64_t>(sizeof(float)));
  }
  void write(Matrix& a, std::span<const float> row_major) override {
    texture_of(a).upload({row_major.data(), a.rows(), a.columns(), a.columns()});
  }
  MatrixPointer allocate(Index rows, Index columns) override {
    const std::string obstacle = solvers::texture_obstacle(device_.description(), rows, columns, packing);
    if (!obstacle.empty()) throw Failure(GLINPACK_OUT_OF_MEMORY, obstacle);
    return std::make_shared<PackedMatrix>(device_, rows, columns);
  }

 private:
  struct Element {
    Index row;
    Index column;
  };

  const gl::Program& program(Operation operation) {
    std::optional<gl::Program>& made = programs_[operation];
    if (!made) {
      made = device_.fragment_program("solvers/packed.frag", define("OPERATION", std::max<Index>(1, operation)) +
                                                                 define("TERMS", operation == affine ? 1 : 2));
    }
    return *made;
  }

  void draw(const gl::Program& program, const TextureMatrix& target, std::initializer_list<GLuint> textures) {
    const gl::Quad all = target.quad();
    device_.draw(program, target.target(), textures, {&all, 1});
  }

  MatrixPointer drawn(Operation operation, Index rows, Index columns, std::initializer_list<GLuint> textures) {
    const MatrixPointer result = make_unset(rows, columns);
    program(operation).set(extents_location, to_int(rows), to_int(columns));
    draw(program(operation), texture_of(*result), textures);
    return result;
  }

  /// Copies extents.row x extents.column elements.
  void move(const TextureMatrix& from, Element first, TextureMatrix& to, Element at, Element extents) {
    if (extents.row <= 0 || extents.column <= 0) return;
    const Element last{at.row + extents.row - 1, at.column + extents.column - 1};
    const Index x = at.column / block, y = at.row / block;
    const gl::Quad quad{x, y, last.column / block - x + 1, last.row / block - y + 1, {}};
    const gl::Program& moving = program(moved);
    moving.set(extents_location, to_int(to.rows()), to_int(to.columns()));
    moving.set(shift_location, to_int(first.row - at.row), to_int(first.column - at.column));
    moving.set(inside_location, to_int(at.column), to_int(at.row), to_int(last.column), to_int(last.row));
    device_.texture_barrier();
    device_.draw(moving, to.target(), {from.texture(), to.texture()}, {&quad, 1});
  }

  /// Adds ones to the diagonals of texels, in rows first ... end - 1.
  void draw_ones(const TextureMatrix& to, Index first, Index end, std::span<const gl::Quad> texels) {
    const gl::Program& drawing = program(ones);
    drawing.set(extents_location, to_int(to.rows()), to_int(to.columns()));
    drawing.set(inside_location, 0, to_int(first), 0, to_int(end - 1));
    device_.draw_added(drawing, to.target(), {}, texels);
  }

  /// For odd n, a last row whose diagonal element is 1: it is the pivot of the last step, and of no other.
  void complete(const TextureMatrix& a, Index n) {
    if (n % block == 0) return;
    const gl::Quad corner{n / block, n / block, 1, 1, {}};
    const gl::Program& drawing = program(ones);
    drawing.set(extents_location, to_int(n + 1), to_int(n + 1));
    drawing.set(inside_location, 0, to_int(n), 0, to_int(n));
    device_.draw_added(drawing, a.target(), {}, {&corner, 1});
  }

  /// [A | zeros] of the first columns of `a`, padded for elimination.
  solvers::PingPong padded(Matrix& a, Index right) {
    const Index n = a.rows(), rows = side_of(n) * block;
    solvers::PingPong system(device_, rows, rows + right, packing);
    move(texture_of(a), {0, 0}, system.front(), {0, 0}, {n, n});
    complete(system.front(), n);
    return system;
  }

  /// No pivot of less is taken: the matrix would be singular but for roundoff.
  double min_pivot(Matrix& a) {
    const Index side = side_of(a.rows());
    largest_.resize(side);
    return tolerance<float>(a.rows()) * largest_.find(texture_of(a), 0, -1).norm;
  }

  void eliminate(solvers::PingPong& system, Matrix& a, Index side) {
    try {
      jordan_.eliminate(system, side, min_pivot(a));
    } catch (const solvers::SingularMatrixError& error) {
      throw Failure(GLINPACK_SINGULAR, std::string("a matrix is ") + error.what());
    }
  }

  solvers::Device& device_;
  solvers::GaussJordan jordan_;
  solvers::PluPacked plu_;
  solvers::PivotSearch largest_;
  solvers::TridiagonalPasses tridiagonal_;
  gl::Program product_;
  std::array<std::optional<gl::Program>, operations> programs_;
  std::vector<float> read_;
};

}  // namespace

std::unique_ptr<Arithmetic<float>> make_packed_arithmetic(solvers::Device& device) {
  return std::make_unique<PackedArithmetic>(device);
}

std::shared_ptr<DeviceMatrix<float>> solve_packed_tridiagonal(Arithmetic<float>& packed, DeviceMatrix<float>& lower,
                                                              DeviceMatrix<float>& diagonal, DeviceMatrix<float>& upper,
                                                              DeviceMatrix<float>& right) {
  return dynamic_cast<PackedArithmetic&>(packed).solve_tridiagonal(lower, diagonal, upper, right);
}

}  // namespace glinpack::library
