#include "local/solvers/sparse_matrix.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace glinpack::solvers {
namespace {

// Of the joined diagonal that an element lies on.
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
  constexpr Index grain = 1 << 15;  // elements that are worth a thread
  const auto elements = static_cast<Index>(a.values.size());
  const Index members = std::clamp<Index>(elements / grain, 1, team.members());
  const auto multiply_share = [&](Index member) {
    // the rows that begin within the member's share of the elements
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

}  // namespace glinpack::solvers
