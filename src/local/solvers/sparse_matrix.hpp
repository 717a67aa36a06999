// Sparse matrices on the host: by rows, for the processor, and by joined diagonals, for textures.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "local/matrix_view.hpp"
#include "local/thread_team.hpp"

namespace glinpack::solvers {

/// An element that is not 0; positions count from 0.
struct SparseEntry {
  Index row = 0;
  Index column = 0;
  float value = 0;
};

/// Compressed sparse rows: those of row i are elements first[i] ... first[i + 1] - 1.
struct RowCompressedMatrix {
  Index rows = 0;
  std::vector<Index> first{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
};

/// `entries` in the order of their rows.
RowCompressedMatrix compress_rows(Index rows, std::span<const SparseEntry> entries);

/// y = A x, rows shared out among the team by their elements.
void multiply(const RowCompressedMatrix& a, std::span<const float> x, std::span<float> y, ThreadTeam& team);

/// A square matrix as Krueger and Westermann keep it (2003, as retold by Brodtkorb 2006, section 2.2): the i-th
/// diagonal above the main one, which has n - i elements, is joined with the (n - i)-th below, which has i, to one
/// vector of n:
///   element r is A(r, (r + i) mod n),       y(r) = sum over i of element r of diagonal i  x((r + i) mod n)
/// Joined diagonals that hold nothing but zeros are dropped.
struct JoinedDiagonals {
  struct Diagonal {
    Index shift = 0;  // i, 0 ... n - 1
    std::vector<float> elements;
  };
  Index n = 0;
  std::vector<Diagonal> diagonals;  // in the order of shifts
};

JoinedDiagonals join_diagonals(Index n, std::span<const SparseEntry> entries);

/// How many join_diagonals() would keep, without the memory for them.
Index count_joined_diagonals(Index n, std::span<const SparseEntry> entries);

}  // namespace glinpack::solvers
