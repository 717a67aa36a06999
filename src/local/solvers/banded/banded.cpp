#include "solvers/banded/banded.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "solvers/device/blas1.hpp"
#include "solvers/device/device_array.hpp"
#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {
namespace {

// The shift of the joined diagonal that has the element.
Index shift_of(Index n, const SparseEntry& entry) { return (entry.column - entry.row + n) % n; }

}  // namespace

RowCompressedMatrix compress_rows(Index rows, std::span<const SparseEntry> entries) {
  RowCompressedMatrix matrix;
  matrix.rows = rows;
  matrix.first.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const SparseEntry& entry : entries) {
    ++matrix.first[static_cast<std::size_t>(entry.row) + 1];
    matrix.columns.push_back(static_cast<std::int32_t>(entry.column));
    matrix.values.push_back(entry.value);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) matrix.first[i + 1] += matrix.first[i];
  return matrix;
}

void multiply(const RowCompressedMatrix& a, std::span<const float> x, std::span<float> y, ThreadTeam& team) {
  constexpr Index grain = 1 << 15;  // least elements per thread
  const auto elements = static_cast<Index>(a.values.size());
  const Index members = std::clamp<Index>(elements / grain, 1, team.members());
  const auto multiply_share = [&](Index member) {
    // the rows that begin in the member's share of the elements
    const auto row_at = [&](Index share) {
      if (share == members) return a.rows;
      return static_cast<Index>(std::lower_bound(a.first.begin(), a.first.end() - 1, elements * share / members) -
                                a.first.begin());
    };
    const Index begin = member == 0 ? 0 : row_at(member);
    for (Index i = begin, end = row_at(member + 1); i < end; ++i) {
      const auto row = static_cast<std::size_t>(i);
      float sum = 0;
      for (Index k = a.first[row]; k < a.first[row + 1]; ++k) {
        const auto element = static_cast<std::size_t>(k);
        sum += a.values[element] * x[static_cast<std::size_t>(a.columns[element])];
      }
      y[row] = sum;
    }
  };
  if (members == 1) return multiply_share(0);
  team.run([&](int member) {
    if (member < members) multiply_share(member);
  });
}

JoinedDiagonals join_diagonals(Index n, std::span<const SparseEntry> entries) {
  std::map<Index, std::vector<float>> by_shift;
  for (const SparseEntry& entry : entries) {
    if (entry.value == 0) continue;
    std::vector<float>& elements = by_shift[shift_of(n, entry)];
    elements.resize(static_cast<std::size_t>(n));
    elements[static_cast<std::size_t>(entry.row)] += entry.value;
  }
  JoinedDiagonals joined{.n = n, .diagonals = {}};
  for (auto& [shift, elements] : by_shift) joined.diagonals.push_back({shift, std::move(elements)});
  return joined;
}

Index count_joined_diagonals(Index n, std::span<const SparseEntry> entries) {
  std::set<Index> shifts;
  for (const SparseEntry& entry : entries) {
    if (entry.value != 0) shifts.insert(shift_of(n, entry));
  }
  return static_cast<Index>(shifts.size());
}

namespace {

constexpr Index row_group = 128;     // shaders/solvers/banded.comp's
constexpr Index max_groups = 32768;  // in a direction
constexpr Index float_bytes = static_cast<Index>(sizeof(float));

// Vectors are in nearly square textures: element k is texel (k % width, k / width) (Fatahalian, Sugerman and
// Hanrahan: twice as fast as one-dimensional textures, and far longer).
Index width_for(Index n, BandedVariant variant) {
  if (variant == BandedVariant::diagonals_1d) return n;
  return static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(n))));
}
Index height_for(Index n, BandedVariant variant) { return divide_up(n, width_for(n, variant)); }

/// The joined diagonals, measured as packing; as many as there were before.
JoinedDiagonals joined_again(Device& device, const BandedProduct& product, std::size_t diagonals) {
  JoinedDiagonals joined =
      device.clock().measure(Stage::pack, [&] { return join_diagonals(product.n, product.entries); });
  if (joined.diagonals.size() == diagonals) return joined;
  throw std::invalid_argument(fmt::format("a matrix with {} joined diagonals is not what was allocated: {}",
                                          joined.diagonals.size(), diagonals));
}

std::string operation_preamble(BandedOperation operation) { return define("OPERATION", static_cast<Index>(operation)); }

struct VectorTexture : TextureMatrix {
  VectorTexture(Device& device, Index n, BandedVariant variant)
      : TextureMatrix(device, height_for(n, variant), width_for(n, variant), Packing::p1x1) {}

  void upload_vector(std::span<const float> values) {
    upload_texels([&](float* texels) {
      std::copy(values.begin(), values.end(), texels);
      std::fill(texels + values.size(), texels + width() * height(), 0.0F);
    });
  }
};

struct DrawnDiagonals {
  DrawnDiagonals(Device& on, const BandedProduct& of, Index count, BandedVariant variant)
      : device(on),
        product(of),
        shifts(static_cast<std::size_t>(count)),
        x(on, of.n, variant),
        y(on, of.n, variant),
        z(on, of.n, variant),
        result(on, of.n, variant),
        program(on.fragment_program("solvers/banded.frag", operation_preamble(BandedOperation::none))),
        last(on.fragment_program("solvers/banded.frag", operation_preamble(of.operation))) {
    for (Index d = 0; d < count; ++d) diagonals.emplace_back(on, of.n, variant);
  }

  void load() {
    const JoinedDiagonals joined = joined_again(device, product, diagonals.size());
    for (std::size_t d = 0; d < diagonals.size(); ++d) {
      shifts[d] = joined.diagonals[d].shift;
      diagonals[d].upload_vector(joined.diagonals[d].elements);
    }
    x.upload_vector(product.x);
    if (has_operation()) z.upload_vector(product.z);
  }
  void compute() {
    device.measure(Stage::compute, [&] {
      y.clear();
      const gl::Quad all = y.quad();
      for (std::size_t d = 0; d < diagonals.size(); ++d) {
        program.set(1, to_int(product.n), to_int(x.width()), to_int(shifts[d]), 0);
        device.draw_added(program, y.target(), {diagonals[d].texture(), x.texture()}, {&all, 1});
      }
      if (has_operation()) device.draw(last, result.target(), {y.texture(), z.texture()}, {&all, 1});
    });
  }
  bool has_operation() const { return product.operation != BandedOperation::none; }
  void store() {
    (has_operation() ? result : y).download_texels([&](const float* texels) {
      std::copy_n(texels, product.y.size(), product.y.begin());
    });
  }

  Device& device;
  const BandedProduct& product;
  std::vector<Index> shifts;
  std::vector<VectorTexture> diagonals;
  VectorTexture x, y, z, result;
  gl::Program program, last;
};

struct ComputedDiagonals {
  ComputedDiagonals(Device& on, const BandedProduct& of, Index count)
      : device(on),
        product(of),
        diagonals(on, of.n * count),
        shifts(on, count),
        x(on, of.n),
        y(on, of.n),
        z(on, of.n),
        program(on.compute_program("solvers/banded.comp", operation_preamble(of.operation))) {}

  void load() {
    const JoinedDiagonals joined = joined_again(device, product, static_cast<std::size_t>(shifts.size()));
    std::vector<float> elements;
    std::vector<std::int32_t> of_elements;
    device.clock().measure(Stage::pack, [&] {
      for (const JoinedDiagonals::Diagonal& diagonal : joined.diagonals) {
        elements.insert(elements.end(), diagonal.elements.begin(), diagonal.elements.end());
        of_elements.push_back(to_int(diagonal.shift));
      }
    });
    diagonals.upload(elements);
    shifts.upload(of_elements);
    x.upload(product.x);
    if (product.operation != BandedOperation::none) z.upload(product.z);
  }
  void compute() {
    device.measure(Stage::compute, [&] { multiply(x, y); });
  }
  void multiply(const DeviceArray<float>& from, const DeviceArray<float>& to) {
    diagonals.bind(0);
    shifts.bind(1);
    from.bind(2);
    to.bind(3);
    z.bind(4);
    program.set(0, to_int(product.n), to_int(shifts.size()));
    const Index groups = divide_up(product.n, row_group);
    device.dispatch(program, std::min(groups, max_groups), divide_up(groups, max_groups));
  }
  void store() { y.download(product.y); }

  Device& device;
  const BandedProduct& product;
  DeviceArray<float> diagonals;
  DeviceArray<std::int32_t> shifts;
  DeviceArray<float> x, y, z;
  gl::Program program;
};

/// Conjugate gradients (Hestenes and Stiefel) from x = 0, r = b on entry. Returns the iterations.
template <class Blas, class Vector, class Multiply>
Index iterate(Blas& blas, Vector& x, Vector& r, Vector& p, Vector& q, Multiply multiply, const BandedSystem& system) {
  double square = blas.dot(r, r);
  const double limit = system.tolerance * system.tolerance * square;
  blas.copy(r, p);
  Index iterations = 0;
  for (; square > limit && iterations < 10 * system.n + 100; ++iterations) {
    multiply(p, q);
    const double alpha = square / blas.dot(p, q);
    blas.add(alpha, p, x);
    blas.add(-alpha, q, r);
    const double next = blas.dot(r, r);
    blas.scale(next / square, p);
    blas.add(1, r, p);
    square = next;
  }
  if (!(square <= limit)) {
    throw NoResult(
        fmt::format("conjugate gradients do not converge in {} iterations: A is not positive definite, or "
                    "its condition is too large",
                    iterations));
  }
  return iterations;
}

struct HostBlas {
  using Vector = std::vector<float>;
  static void copy(const Vector& x, Vector& y) { y = x; }
  static void scale(double factor, Vector& y) {
    for (float& element : y) element *= static_cast<float>(factor);
  }
  static void add(double factor, const Vector& x, Vector& y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += static_cast<float>(factor) * x[i];
  }
  static double dot(const Vector& x, const Vector& y) {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += double{x[i]} * double{y[i]};
    return sum;
  }
};

struct DeviceConjugateGradients {
  DeviceConjugateGradients(Device& on, BandedSystem& of)
      : system(of),
        product{of.n, of.entries, of.b, of.x},
        matrix(on, product, count_joined_diagonals(of.n, of.entries)),
        x(on, of.n),
        r(on, of.n),
        p(on, of.n),
        blas(on, of.n) {}

  void load() { matrix.load(); }
  void compute() {
    matrix.device.measure(Stage::compute, [&] {
      x.clear();
      blas.copy(matrix.x, r);
      system.iterations = iterate(
          blas, x, r, p, matrix.y,
          [&](const DeviceArray<float>& from, const DeviceArray<float>& to) { matrix.multiply(from, to); }, system);
    });
  }
  void store() { x.download(system.x); }

  BandedSystem& system;
  BandedProduct product;
  ComputedDiagonals matrix;  // its x is b, its y is A p
  DeviceArray<float> x, r, p;
  Blas1<float> blas;
};

}  // namespace

Steps make_banded_solver(Device& device, BandedSystem& system) {
  if (static_cast<Index>(system.b.size()) != system.n || static_cast<Index>(system.x.size()) != system.n) {
    throw std::invalid_argument("the vectors of a system have not its order");
  }
  const Index diagonals = count_joined_diagonals(system.n, system.entries);
  const std::string obstacle = banded_obstacle(device.description(), system.n, diagonals, BandedVariant::compute);
  if (!obstacle.empty()) throw std::runtime_error(obstacle);
  return steps_of(device.clock(), std::make_shared<DeviceConjugateGradients>(device, system));
}

void solve_by_rows(const RowCompressedMatrix& a, BandedSystem& system, ThreadTeam& team) {
  std::vector<float> x(system.b.size()), r(system.b.begin(), system.b.end()), p(x), q(x);
  HostBlas blas;
  system.iterations = iterate(
      blas, x, r, p, q, [&](const std::vector<float>& from, std::vector<float>& to) { multiply(a, from, to, team); },
      system);
  std::copy(x.begin(), x.end(), system.x.begin());
}

std::string banded_obstacle(const DeviceDescription& device, Index n, Index diagonals, BandedVariant variant) {
  constexpr Index largest = (Index{1} << 31) - 1;  // shaders count elements with 31 bits
  if (n * diagonals > largest) {
    return fmt::format(
        "{} joined diagonals of {} elements are more than the {} that shaders can count: use a smaller N", diagonals, n,
        largest);
  }
  if (variant != BandedVariant::compute) {
    const std::string obstacle = texture_obstacle(device, height_for(n, variant), width_for(n, variant), Packing::p1x1);
    if (!obstacle.empty()) return obstacle;
  } else if (n * diagonals * float_bytes > device.storage_block) {
    return fmt::format(
        "{} joined diagonals of {} elements take {:.2f} GiB, but a storage block of {} has at most {:.2f} "
        "GiB: use a smaller N, or --variant diagonals",
        diagonals, n, gibibytes(n * diagonals * float_bytes), device.renderer, gibibytes(device.storage_block));
  }
  return memory_obstacle(device, "matrix and vectors take", static_cast<double>(n * (diagonals + 4) * float_bytes));
}

Steps make_banded_product(Device& device, const BandedProduct& product, BandedVariant variant) {
  const auto& [n, entries, x, y, operation, z] = product;
  const bool fits = operation == BandedOperation::none || static_cast<Index>(z.size()) == n;
  if (static_cast<Index>(x.size()) != n || static_cast<Index>(y.size()) != n || !fits) {
    throw std::invalid_argument(fmt::format("vectors of {} and {} elements are not of {}", x.size(), y.size(), n));
  }
  const Index diagonals = count_joined_diagonals(n, entries);
  const std::string obstacle = banded_obstacle(device.description(), n, diagonals, variant);
  if (!obstacle.empty()) throw std::runtime_error(obstacle);
  if (variant == BandedVariant::compute) {
    return steps_of(device.clock(), std::make_shared<ComputedDiagonals>(device, product, diagonals));
  }
  return steps_of(device.clock(), std::make_shared<DrawnDiagonals>(device, product, diagonals, variant));
}

}  // namespace glinpack::solvers
