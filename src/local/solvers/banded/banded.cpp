#include "solvers/banded/banded.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

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

constexpr Index row_group = 128;      // shaders/solvers/banded.comp's
constexpr Index most_groups = 32768;  // in a direction
constexpr Index float_bytes = static_cast<Index>(sizeof(float));

// Vectors are in nearly square textures: element k is texel (k % width, k / width) (Fatahalian, Sugerman and
// Hanrahan: twice as fast as one-dimensional textures, and far longer).
Index width_for(Index n) { return static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(n)))); }
Index height_for(Index n) { return (n + width_for(n) - 1) / width_for(n); }

void check_diagonals(const JoinedDiagonals& a, Index n, Index diagonals) {
  if (a.n == n && static_cast<Index>(a.diagonals.size()) == diagonals) return;
  throw std::invalid_argument(
      fmt::format("a matrix of order {} with {} joined diagonals is not what was allocated: {}, {}", a.n,
                  a.diagonals.size(), n, diagonals));
}

void check_length(std::size_t length, Index n) {
  if (static_cast<Index>(length) == n) return;
  throw std::invalid_argument(fmt::format("a vector of {} elements is not one of {}", length, n));
}

class VectorTexture : public TextureMatrix {
 public:
  VectorTexture(Device& device, Index n) : TextureMatrix(device, height_for(n), width_for(n), Packing::p1x1) {}

  void upload_vector(std::span<const float> values) {
    upload_texels([&](float* texels) {
      std::copy(values.begin(), values.end(), texels);
      std::fill(texels + values.size(), texels + width() * height(), 0.0F);
    });
  }
  void download_vector(std::span<float> values) const {
    download_texels([&](const float* texels) { std::copy_n(texels, values.size(), values.begin()); });
  }
};

class DrawnDiagonals final : public BandedProduct {
 public:
  DrawnDiagonals(Device& device, Index n, Index diagonals)
      : device_(device),
        n_(n),
        shifts_(static_cast<std::size_t>(diagonals)),
        x_(device, n),
        y_(device, n),
        program_(device.fragment_program("solvers/banded.frag", {})) {
    for (Index d = 0; d < diagonals; ++d) diagonals_.emplace_back(device, n);
  }

  void load(const JoinedDiagonals& a) override {
    check_diagonals(a, n_, static_cast<Index>(diagonals_.size()));
    for (std::size_t d = 0; d < diagonals_.size(); ++d) {
      shifts_[d] = a.diagonals[d].shift;
      diagonals_[d].upload_vector(a.diagonals[d].elements);
    }
  }
  void load(std::span<const float> x) override {
    check_length(x.size(), n_);
    x_.upload_vector(x);
  }
  void compute() override {
    device_.measure(Stage::compute, [&] {
      y_.clear();
      const gl::Quad all = y_.quad();
      for (std::size_t d = 0; d < diagonals_.size(); ++d) {
        program_.set(1, static_cast<GLint>(n_), static_cast<GLint>(x_.width()), static_cast<GLint>(shifts_[d]), 0);
        device_.draw_added(program_, y_.target(), {diagonals_[d].texture(), x_.texture()}, {&all, 1});
      }
    });
  }
  void store(std::span<float> y) override {
    check_length(y.size(), n_);
    y_.download_vector(y);
  }

 private:
  Device& device_;
  Index n_;
  std::vector<Index> shifts_;
  std::vector<VectorTexture> diagonals_;
  VectorTexture x_;
  VectorTexture y_;
  gl::Program program_;
};

class ComputedDiagonals final : public BandedProduct {
 public:
  ComputedDiagonals(Device& device, Index n, Index diagonals)
      : device_(device),
        n_(n),
        diagonals_(device, n * diagonals),
        shifts_(device, diagonals),
        x_(device, n),
        y_(device, n),
        program_(device.compute_program("solvers/banded.comp", {})) {}

  void load(const JoinedDiagonals& a) override {
    check_diagonals(a, n_, shifts_.size());
    std::vector<float> elements;
    std::vector<std::int32_t> shifts;
    device_.clock().measure(Stage::pack, [&] {
      for (const JoinedDiagonals::Diagonal& diagonal : a.diagonals) {
        elements.insert(elements.end(), diagonal.elements.begin(), diagonal.elements.end());
        shifts.push_back(static_cast<std::int32_t>(diagonal.shift));
      }
    });
    diagonals_.upload(elements);
    shifts_.upload(shifts);
  }
  void load(std::span<const float> x) override {
    check_length(x.size(), n_);
    x_.upload(x);
  }
  void compute() override {
    device_.measure(Stage::compute, [&] {
      diagonals_.bind(0);
      shifts_.bind(1);
      x_.bind(2);
      y_.bind(3);
      program_.set(0, static_cast<GLint>(n_), static_cast<GLint>(shifts_.size()));
      const Index groups = (n_ + row_group - 1) / row_group;
      device_.dispatch(program_, std::min(groups, most_groups), (groups + most_groups - 1) / most_groups);
    });
  }
  void store(std::span<float> y) override {
    check_length(y.size(), n_);
    y_.download(y);
  }

 private:
  Device& device_;
  Index n_;
  DeviceArray<float> diagonals_;
  DeviceArray<std::int32_t> shifts_;
  DeviceArray<float> x_;
  DeviceArray<float> y_;
  gl::Program program_;
};

}  // namespace

std::string_view name_of(BandedVariant variant) {
  constexpr std::array<std::string_view, all_banded_variants.size()> names{"diagonals", "compute"};
  return names[static_cast<std::size_t>(variant)];
}

std::string banded_obstacle(const DeviceDescription& device, Index n, Index diagonals, BandedVariant variant) {
  constexpr Index largest = (Index{1} << 31) - 1;  // shaders count elements with 31 bits
  if (n * diagonals > largest) {
    return fmt::format(
        "{} joined diagonals of {} elements are more than the {} that shaders can count: use a smaller N", diagonals, n,
        largest);
  }
  if (variant == BandedVariant::diagonals) {
    const std::string obstacle = texture_obstacle(device, height_for(n), width_for(n), Packing::p1x1);
    if (!obstacle.empty()) return obstacle;
  } else if (n * diagonals * float_bytes > device.storage_block) {
    return fmt::format(
        "{} joined diagonals of {} elements take {:.2f} GiB, but a storage block of {} has at most {:.2f} "
        "GiB: use a smaller N, or --variant diagonals",
        diagonals, n, gibibytes(n * diagonals * float_bytes), device.renderer, gibibytes(device.storage_block));
  }
  const Index bytes = n * (diagonals + 2) * float_bytes;
  if (device.free_memory <= 0 || bytes <= device.free_memory) return {};
  return fmt::format("matrix and vectors take {:.2f} GiB on the device, but {} has {:.2f} GiB free: use a smaller N",
                     gibibytes(bytes), device.renderer, gibibytes(device.free_memory));
}

std::unique_ptr<BandedProduct> make_banded_product(Device& device, Index n, Index diagonals, BandedVariant variant) {
  const std::string obstacle = banded_obstacle(device.description(), n, diagonals, variant);
  if (!obstacle.empty()) throw std::runtime_error(obstacle);
  if (variant == BandedVariant::compute) return std::make_unique<ComputedDiagonals>(device, n, diagonals);
  return std::make_unique<DrawnDiagonals>(device, n, diagonals);
}

}  // namespace glinpack::solvers
