// Algorithm-based fault tolerance: which rank has computed, stored or received a wrong number (Huang and Abraham,
// Algorithm-based fault tolerance for matrix operations, IEEE Trans. Comput. C-33, 1984; Davies, Karlsson, Liu, Ding
// and Chen, High Performance Linpack benchmark: a fault tolerant implementation without checkpointing, ICS 2011).
//
// Every rank carries eight more columns at the end of its matrix, as b is carried in the last one:
//
//   sum     A e, of the rank's own columns, b included. Rows are exchanged, solved and updated in it as in the others.
//           Therefore, after every pass, a trailing row's sum is its checksum, and at the end a row of U has its sum: a
//           panel needs no step of its own, because L^-1 eliminates its columns from the sum as well.
//   probe   A z + s with random signs z, and s the norms of some rows, chosen at random: A z stays as large as the rows
//           of the trailing matrix, and s grows by L^-1 as errors do, whether they have one sign or random ones. Its
//           largest magnitude is the scale of rounding_bound().
//   copies  the two multiplied by 3, 5 and 7. Divided again, they differ from them by samples of the errors of rounding
//           in a column, with all that elimination has made of them: by far more than by the growth of the matrix if
//           pivots are poor. A fault in other columns does not change them.
//
// A wrong L is as wrong in the sum as in the other columns. Every rank sums the rows of every L that it uses, plainly
// and with random signs. They are compared with the sums on the rank that sent it, and at the end with L as stored.
//
// The solution of U x = y is compared with y, row by row, by a product in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "abft/mismatch.hpp"
#include "backend/backend.hpp"
#include "base/memory_count.hpp"
#include "base/threads.hpp"
#include "matrix/matrix_source.hpp"
#include "matrix/pass.hpp"
#include "transport/transport.hpp"

namespace glinpack {

inline double random_sign(std::uint64_t seed, Index number) {
  return (splitmix64(seed, static_cast<std::uint64_t>(number)) >> 63) != 0 ? 1 : -1;
}

inline constexpr double checksum_factors[] = {1, 3, 5, 7};  // of sum and probe
static_assert(2 * std::size(checksum_factors) == checksum_columns);
inline constexpr std::uint64_t seed_of_columns = 1, seed_of_rows = 2;

// `element`: a function of row and column.
template <class Real, class Element>
std::unique_ptr<DeviceMatrix<Real>> uploaded(DeviceMemory<Real>& memory, Index rows, Index columns, Element element) {
  auto matrix = memory.allocate(rows, columns);
  const auto buffer = memory.allocate_host(rows * columns);
  if (MemoryCount::only_counts()) return matrix;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) buffer->data()[i * columns + j] = static_cast<Real>(element(i, j));
  }
  memory.wait(memory.upload({buffer.get(), 0, rows, columns, columns}, whole(*matrix)));
  return matrix;
}

/// The checksums of rows of a rank.
template <class Real>
class RowChecksums {
 public:
  explicit RowChecksums(Index columns) : signs_(static_cast<std::size_t>(columns)) {
    for (Index j = 0; j < columns; ++j) signs_[static_cast<std::size_t>(j)] = random_sign(seed_of_columns, j);
  }
  /// Appends the sums of local row `row` behind its elements: elements[columns] and the next ones.
  void append(Index row, Real* elements) const {
    constexpr std::size_t part = 32;  // more equal elements, one after the other, lose bits in a double
    long double sum = 0;
    double probe = 0, squares = 0;
    for (std::size_t begin = 0; begin < signs_.size(); begin += part) {
      double sum_of_part = 0;
      for (std::size_t j = begin; j < std::min(begin + part, signs_.size()); ++j) {
        const auto value = static_cast<double>(elements[j]);
        sum_of_part += value;
        probe += signs_[j] * value;
        squares += value * value;
      }
      sum += sum_of_part;
    }
    if (random_sign(seed_of_rows, row) > 0) probe += std::sqrt(squares);
    Real* next = elements + signs_.size();
    for (const double factor : checksum_factors) {
      *next++ = static_cast<Real>(factor * sum);
      *next++ = static_cast<Real>(factor * probe);
    }
  }

 private:
  std::vector<double> signs_;
};

/// Passes between two checks if none are given. A check reads every element of the trailing matrix once, as long as
/// about 100 operations of the update, which does 2 nb with it: 60 on two Xeon cores, 72 (double) and 96 (single) on an
/// H200. A quarter of a percent of the update's time.
inline Index passes_between_checks(Index nb) {
  constexpr Index operations = 100, share = 400;
  return std::max<Index>(1, operations * share / (2 * nb));
}

struct ChecksumStatistics {
  Index checks = 0;
  double seconds = 0;        // of the checks, waiting for the device included
  double largest_share = 0;  // of its bound that a difference had, in checks that passed
};

/// The checks of a factorisation.
template <class Real>
class Checksums {
 public:
  /// `a`: this rank's part of the matrix, with checksums. `every`: passes between two checks. Allocates. All must
  /// outlive it. Not collective.
  Checksums(const RankContext<Real>& context, DeviceMatrix<Real>& a, Index every)
      : distribution_(context.distribution),
        grid_(context.grid),
        position_(context.position()),
        backend_(context.backend),
        timeline_(context.timeline()),
        a_(a),
        every_(every),
        rows_(a.rows()),
        columns_(context.distribution.local_columns(position_)) {
    Backend<Real>& backend = context.backend;
    const Distribution& distribution = context.distribution;
    const Index nb = distribution.nb;
    const Index longest = std::max({columns_, nb, Index{1}});
    minus_ones_ = uploaded(backend, longest, 1, [](Index, Index) { return -1; });
    weights_ = uploaded(backend, nb, 2, [](Index k, Index j) { return j == 0 ? -1 : random_sign(seed_of_columns, k); });
    zeros_ = backend.allocate(rows_, 1);
    sums_ = backend.allocate(rows_, 1);
    sums_of_u_ = backend.allocate(rows_, 1);
    sums_of_l_ = backend.allocate(2 * distribution.shape.columns, nb + rows_);
    staging_ = backend.allocate_host(staged_elements(distribution, rows_));
    if (distribution.shape.columns > 1) sent_sums_of_l_ = counted_vector<Real>(elements_of_sums(distribution, rows_));
  }
  Checksums(const Checksums&) = delete;
  Checksums& operator=(const Checksums&) = delete;

  /// Before the first pass. Collective over process columns.
  void start() {
    const auto scope = timeline_.in_phase(Phase::checksum);
    carried_sums(0, rows_);
  }
  /// Whether trailing rows are checked after a pass.
  bool is_due(const PassPlan& pass) const {
    return (pass.pass + 1) % every_ == 0 && pass.pass + 1 < distribution_.passes();
  }
  /// With look-ahead, in a pass that is_due(): before the next panel, which pass has updated, is factorised.
  void sum_next_panel(const PassPlan& pass, const PassPlan& next) {
    if (!next.in_pivot_column) return;
    const auto scope = timeline_.in_phase(Phase::checksum);
    clear(*sums_);
    sum_rows(pass.trailing_row.value, pass.trailing_rows, next.panel_column.value, next.width, *sums_);
    panel_is_summed_ = true;
  }
  /// Adds the sums of a pass's L. `factors`: [L11 \ U11; L21] transposed, with `above` rows of other ranks first. Where
  /// L is stored after the update, call it before: an L that changes in between differs from its sums. Elsewhere call
  /// it after the update, which has used the same L then. Not collective.
  void sum_l(const PassPlan& pass, DeviceBlock<Real> factors, Index above) {
    const auto scope = timeline_.in_phase(Phase::checksum);
    const Index row = 2 * pass.pivot.column;
    const DeviceBlock<Real> weights = whole(*weights_).block(0, 0, pass.width, 2);
    const DeviceBlock<Real> sums = whole(*sums_of_l_).block(row, 0, 2, sums_of_l_->columns());
    if (above > 0) backend_.update(weights, factors.block(0, 0, pass.width, above), sums.block(0, 0, 2, above));
    if (pass.panel_rows > 0) {
      backend_.update(weights, factors.block(0, above, pass.width, pass.panel_rows),
                      sums.block(0, distribution_.nb + pass.panel_row.value, 2, pass.panel_rows));
    }
  }
  /// After a pass: checks the trailing rows if is_due(). `next`: the pass whose panel is summed, or null. Collective
  /// over the grid.
  void finish_pass(const PassPlan& pass, const PassPlan* next) {
    if (!is_due(pass)) return;
    const auto scope = timeline_.in_phase(Phase::checksum);
    const double begun = timeline_.now();
    check_trailing_matrix(pass, next);
    check_received_l(pass.pass, (pass.pass + 1) * distribution_.nb);
    ++statistics_.checks;
    statistics_.seconds += timeline_.now() - begun;
  }
  /// After a pass whose next panel is not factorised yet: all of the matrix, before it is saved. Does not change the
  /// bounds of other checks. Collective over the grid.
  void check_state(const PassPlan& pass) {
    const auto scope = timeline_.in_phase(Phase::checksum);
    const double begun = timeline_.now();
    const Largest before = largest_;
    if (!is_due(pass)) {  // else they have just been checked
      check_trailing_matrix(pass, nullptr);
      check_received_l(pass.pass, (pass.pass + 1) * distribution_.nb);
    }
    check_stored_factors(pass.pass + 1);
    largest_ = before;
    ++statistics_.checks;
    statistics_.seconds += timeline_.now() - begun;
  }
  /// After the last pass: L and U. Collective over the grid.
  void check_factors() {
    const auto scope = timeline_.in_phase(Phase::checksum);
    const double begun = timeline_.now();
    check_received_l(distribution_.passes() - 1, distribution_.n);
    check_stored_factors(distribution_.passes());
    ++statistics_.checks;
    statistics_.seconds += timeline_.now() - begun;
  }
  /// x: the solution of U x = y, one element per local column of A. Checks it on the rank of each diagonal block. Skips
  /// rows whose sums are not finite. Collective over the grid.
  // |y - U x| <= gamma_N |U| |x| in every row, in whatever order it is computed (Higham, theorem 8.5).
  void check_solution(std::span<const double> x) {
    const auto scope = timeline_.in_phase(Phase::checksum);
    const BlockCyclic &rows = distribution_.rows, &columns = distribution_.columns;
    const auto of_a = static_cast<Index>(x.size());
    std::vector<double> residual(static_cast<std::size_t>(rows_)), magnitudes(residual.size());
    if (columns_ > of_a) {
      const std::vector<Real> y = downloaded({&a_, 0, of_a, rows_, 1});
      std::copy(y.begin(), y.end(), residual.begin());
    }
    const Index at_once = staging_->size() / std::max<Index>(1, rows_);
    for (Index first = 0; first < of_a; first += at_once) {
      const Index width = std::min(at_once, of_a - first);
      const GlobalIndex last = columns.global(LocalIndex(first + width - 1), position_.column);
      const Index above = rows.lower_bound(last + 1, position_.row).value;
      if (above == 0) continue;
      const HostBlock<Real> part{staging_.get(), 0, above, width, width};
      backend_.wait(backend_.download({&a_, 0, first, above, width}, part));
      constexpr Index rows_per_thread = 64;
      parallel_for(backend_.info().threads, above, rows_per_thread, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          const GlobalIndex row = rows.global(LocalIndex(i), position_.row);
          const Real* const u = part.view().row(i);
          double product = 0, magnitude = 0;
          for (Index j = std::max(first, columns.lower_bound(row, position_.column).value); j < first + width; ++j) {
            const double term = static_cast<double>(u[j - first]) * x[static_cast<std::size_t>(j)];
            product += term;
            magnitude += std::fabs(term);
          }
          residual[static_cast<std::size_t>(i)] -= product;
          magnitudes[static_cast<std::size_t>(i)] += magnitude;
        }
      });
      timeline_.step();
    }
    grid_.row().all_reduce(residual, Reduction::sum);
    grid_.row().all_reduce(magnitudes, Reduction::sum);
    const double underflow = static_cast<double>(distribution_.n) * std::numeric_limits<Real>::min();
    Worst worst;
    for (std::size_t i = 0; i < residual.size(); ++i) {
      const BlockIndex block = rows.block(rows.global(LocalIndex(static_cast<Index>(i)), position_.row));
      if (columns.owner(block) != position_.column || !std::isfinite(magnitudes[i])) continue;
      worst.add(residual[i],
                rounding_bound(epsilon_of(precision_of<Real>), distribution_.n, 0, magnitudes[i], underflow), block);
    }
    report(distribution_.passes() - 1, CheckedPart::solution, worst);
  }
  /// What restore() needs to go on from the matrix of this moment, with the same checks; state_bytes() of them.
  std::vector<std::byte> state() {
    const std::vector<Real> sums = downloaded(whole(*sums_of_l_));
    std::vector<std::byte> state(sizeof largest_ + sums.size() * sizeof(Real));
    std::memcpy(state.data(), &largest_, sizeof largest_);
    std::memcpy(state.data() + sizeof largest_, sums.data(), sums.size() * sizeof(Real));
    return state;
  }
  static Index state_bytes(const Distribution& distribution, GridPosition at) {
    const Index sums = elements_of_sums(distribution, distribution.local_rows(at));
    return static_cast<Index>(sizeof(Largest)) + sums * static_cast<Index>(sizeof(Real));
  }
  /// In place of start().
  void restore(std::span<const std::byte> state) {
    std::memcpy(&largest_, state.data(), sizeof largest_);
    std::memcpy(staging_->data(), state.data() + sizeof largest_, state.size() - sizeof largest_);
    const Index rows = sums_of_l_->rows(), columns = sums_of_l_->columns();
    backend_.wait(backend_.upload({staging_.get(), 0, rows, columns, columns}, whole(*sums_of_l_)));
    panel_is_summed_ = false;
  }
  void forget_mismatches() { mismatches_.clear(); }

  Index every() const { return every_; }
  const std::vector<Mismatch>& mismatches() const { return mismatches_; }
  const ChecksumStatistics& statistics() const { return statistics_; }

 private:
  // The row whose difference exceeds its bound most.
  class Worst {
   public:
    void add(double difference, double bound, BlockIndex block_row) {
      const double share = difference == 0 ? 0 : std::fabs(difference) / bound;
      if (share <= share_) return;  // a NaN is worse
      share_ = std::isnan(share) ? INFINITY : share;
      mismatch_ = {.block_row = block_row.value, .difference = difference, .bound = bound};
    }
    bool is_mismatch() const { return share_ > 1; }
    double share() const { return share_; }
    const Mismatch& mismatch() const { return mismatch_; }

   private:
    double share_ = 0;
    Mismatch mismatch_;
  };

  // Sums U's rows in diagonal blocks on the host. The staging buffer has two halves: while the device does other work
  // and copies blocks to one half, the host sums those in the other half.
  class DiagonalBlocks {
   public:
    DiagonalBlocks(DeviceMemory<Real>& memory, HostBuffer<Real>& staging, Index nb, Index rows)
        : memory_(memory),
          staging_(staging),
          nb_(nb),
          at_once_(std::max<Index>(1, staging.size() / (2 * nb * nb))),
          sums_(static_cast<std::size_t>(rows)) {}

    void add(DeviceBlock<Real> block) {
      next_.push_back(block);
      if (static_cast<Index>(next_.size()) == at_once_) start_next();
    }
    const std::vector<double>& sums() {
      start_next();
      start_next();
      return sums_;
    }

   private:
    void start_next() {
      for (Index b = 0; b < static_cast<Index>(next_.size()); ++b) {
        const DeviceBlock<Real>& block = next_[static_cast<std::size_t>(b)];
        const HostBlock<Real> to{&staging_, (half_ * at_once_ + b) * nb_ * nb_, block.rows, block.columns, nb_};
        copied_.push_back({block.row, to, memory_.download(block, to)});
      }
      const auto earlier = static_cast<std::ptrdiff_t>(copied_.size() - next_.size());
      for (const Copied& block : std::span(copied_).first(static_cast<std::size_t>(earlier))) add_sums(block);
      copied_.erase(copied_.begin(), copied_.begin() + earlier);
      next_.clear();
      half_ = 1 - half_;
    }
    struct Copied {
      Index row;
      HostBlock<Real> block;
      Fence fence;
    };
    void add_sums(const Copied& copied) {
      memory_.wait(copied.fence);
      const RowMajorView<Real> view = copied.block.view();
      for (Index i = 0; i < view.rows; ++i) {
        sums_[static_cast<std::size_t>(copied.row + i)] +=
            std::transform_reduce(view.row(i) + i, view.row(i) + view.columns, 0.0, std::plus{},
                                  [](Real value) { return static_cast<double>(value); });
      }
    }

    DeviceMemory<Real>& memory_;
    HostBuffer<Real>& staging_;
    Index nb_, at_once_, half_ = 0;
    std::vector<DeviceBlock<Real>> next_;
    std::vector<Copied> copied_;
    std::vector<double> sums_;
  };

  struct CarriedSums {
    std::vector<double> sums;
    std::vector<double> noise;  // of each row: the largest difference of its copies
  };

  static Index elements_of_sums(const Distribution& distribution, Index rows) {
    return 2 * distribution.shape.columns * (distribution.nb + rows);
  }
  static Index staged_elements(const Distribution& distribution, Index rows) {
    const Index nb = distribution.nb;
    // a buffer for many diagonal blocks: waiting for all takes as long as for one
    return std::max({elements_of_sums(distribution, rows), 64 * rows, 2 * nb * nb});
  }
  void clear(DeviceMatrix<Real>& sums) {
    if (rows_ > 0) backend_.copy(whole(*zeros_), whole(sums));
  }
  // sums <- sums + A e of some rows and columns.
  void sum_rows(Index row, Index rows, Index column, Index columns, DeviceMatrix<Real>& sums) {
    if (rows == 0 || columns == 0) return;
    backend_.subtract_product({&a_, row, column, rows, columns}, whole(*minus_ones_).block(0, 0, columns, 1),
                              whole(sums).block(row, 0, rows, 1));
  }
  std::vector<Real> downloaded(DeviceBlock<Real> block) {
    if (block.empty()) return {};
    backend_.wait(backend_.download(block, {staging_.get(), 0, block.rows, block.columns, block.columns}));
    return {staging_->data(), staging_->data() + block.rows * block.columns};
  }
  // Also updates scale and noise. Rows of all process rows meet in the process column's updates.
  CarriedSums carried_sums(Index first_row, Index rows) {
    const std::vector<Real> values = downloaded({&a_, first_row, columns_, rows, checksum_columns});
    CarriedSums carried;
    carried.sums.reserve(static_cast<std::size_t>(rows));
    carried.noise.reserve(static_cast<std::size_t>(rows));
    double largest[2] = {largest_.scale, largest_.noise};
    for (std::size_t i = 0; i < values.size(); i += checksum_columns) {
      double noise = 0;
      for (std::size_t original = i; original < i + 2; ++original) {
        const auto value = static_cast<double>(values[original]);
        // what overflows is not explained by rounding
        if (std::isfinite(value)) largest[0] = std::max(largest[0], std::fabs(value));
        for (std::size_t f = 1; f < std::size(checksum_factors); ++f) {
          const double difference = static_cast<double>(values[original + 2 * f]) / checksum_factors[f] - value;
          if (std::isfinite(difference)) noise = std::max(noise, std::fabs(difference));
        }
      }
      largest[1] = std::max(largest[1], noise);
      carried.sums.push_back(static_cast<double>(values[i]));
      carried.noise.push_back(noise);
    }
    grid_.column().all_reduce(largest, Reduction::max);
    largest_ = {largest[0], largest[1]};
    return carried;
  }
  void check_trailing_matrix(const PassPlan& pass, const PassPlan* next) {
    Index column = pass.trailing_column.value;
    if (std::exchange(panel_is_summed_, false)) {
      column += next->width;
    } else {
      clear(*sums_);
    }
    const Index row = pass.trailing_row.value, rows = pass.trailing_rows;
    sum_rows(row, rows, column, columns_ - column, *sums_);
    const std::vector<Real> sums = downloaded(whole(*sums_).block(row, 0, rows, 1));
    const CarriedSums expected = carried_sums(row, rows);
    const double bound = rounding_bound(epsilon_of(precision_of<Real>), columns_ - pass.trailing_column.value,
                                        static_cast<double>(pass.pass + 1), largest_.scale, largest_.noise);
    Worst worst;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const GlobalIndex global = distribution_.rows.global(pass.trailing_row + static_cast<Index>(i), position_.row);
      worst.add(static_cast<double>(sums[i]) - expected.sums[i], bound, distribution_.rows.block(global));
    }
    report(pass.pass, CheckedPart::trailing_matrix, worst);
  }
  // Compares the sums of other process columns' L with theirs.
  void check_received_l(Index pass, Index eliminated) {
    const auto ranks = static_cast<Index>(distribution_.shape.columns);
    if (ranks == 1) return;
    const Index length = sums_of_l_->columns(), two_rows = 2 * length;
    backend_.wait(backend_.download(whole(*sums_of_l_), {staging_.get(), 0, 2 * ranks, length, length}));
    const Real* const mine = staging_->data();
    grid_.row().all_gather(
        std::as_bytes(std::span(mine + position_.column * two_rows, static_cast<std::size_t>(two_rows))),
        std::as_writable_bytes(std::span(sent_sums_of_l_)).data());
    Worst worst;
    for (Index q = 0; q < ranks; ++q) {
      const Real* const expected = sent_sums_of_l_.data() + q * two_rows;
      const Real* const received = mine + q * two_rows;
      double scale = 0;
      for (Index i = 0; i < two_rows; ++i) scale = std::max(scale, std::fabs(static_cast<double>(expected[i])));
      const double bound = rounding_bound(epsilon_of(precision_of<Real>), eliminated, 0, scale, 0);
      for (Index i = 0; i < two_rows; ++i) {
        const Index row = i % length - distribution_.nb;  // before the first: L11 of another process row
        const GlobalIndex global = distribution_.rows.global(LocalIndex(std::max<Index>(0, row)), position_.row);
        worst.add(static_cast<double>(received[i]) - static_cast<double>(expected[i]), bound,
                  row < 0 ? BlockIndex(pass) : distribution_.rows.block(global));
      }
    }
    report(pass, CheckedPart::received_l, worst);
  }
  // After some passes. L below the diagonal blocks and the blocks themselves: the sums of the panels. U: the carried
  // sums. Block columns, not block rows, which have too few rows for the work groups of a device.
  void check_stored_factors(Index passes) {
    clear(*sums_);
    clear(*sums_of_u_);
    const BlockCyclic& blocks = distribution_.rows;
    DiagonalBlocks diagonal_blocks(backend_, *staging_, distribution_.nb, rows_);
    const Index rows_of_u = passes < distribution_.passes()
                                ? blocks.lower_bound(blocks.first(BlockIndex(passes)), position_.row).value
                                : rows_;
    const Index of_a = distribution_.columns.lower_bound(GlobalIndex(distribution_.n), position_.column).value;
    for (Index column = 0; column < of_a; column += distribution_.nb) {
      const BlockIndex block = blocks.block(distribution_.columns.global(LocalIndex(column), position_.column));
      const Index width = blocks.width(block);
      const bool has_l = block.value < passes;
      const Index row = has_l ? blocks.lower_bound(blocks.first(block), position_.row).value : rows_of_u;
      sum_rows(0, row, column, width, *sums_of_u_);
      if (!has_l) continue;
      sum_rows(row, rows_ - row, column, width, *sums_);
      if (blocks.owner(block) == position_.row) diagonal_blocks.add({&a_, row, column, width, width});
    }
    sum_rows(0, rows_of_u, of_a, columns_ - of_a, *sums_of_u_);
    const std::vector<double>& in_diagonal_blocks = diagonal_blocks.sums();
    const std::vector<Real> of_l = downloaded(whole(*sums_)), of_u = downloaded(whole(*sums_of_u_));
    const std::vector<Real> panels =
        downloaded(whole(*sums_of_l_).block(2 * position_.column, distribution_.nb, 2, rows_));
    const CarriedSums expected = carried_sums(0, rows_);
    // A row of U has errors of the passes up to its own block, rows above it of some of them: the largest noise of all
    // these rows bounds it. The scale stays that of all rows: if nb = 1, a block has only six samples of its own.
    std::vector<double> noise(static_cast<std::size_t>(distribution_.passes()));
    for (std::size_t i = 0; i < of_u.size(); ++i) {
      const GlobalIndex row = blocks.global(LocalIndex(static_cast<Index>(i)), position_.row);
      double& of_block = noise[static_cast<std::size_t>(blocks.block(row).value)];
      of_block = std::max(of_block, expected.noise[i]);
    }
    grid_.column().all_reduce(noise, Reduction::max);
    std::partial_sum(noise.begin(), noise.end(), noise.begin(), [](double a, double b) { return std::max(a, b); });
    double scale_of_l = 0;
    for (const Real sum : panels) scale_of_l = std::max(scale_of_l, std::fabs(static_cast<double>(sum)));
    // A row of U has the columns from its own block on. A panel rounds its elements up to nb times, and the sums
    // of block columns, added one after the other, are half of their sum on average.
    const auto bound_of_u = [&](BlockIndex block) {
      const Index terms = columns_ - distribution_.columns.lower_bound(blocks.first(block), position_.column).value;
      const auto nb = static_cast<double>(distribution_.nb), count = static_cast<double>(terms);
      const double roundings =
          static_cast<double>(block.value + 1) + nb * std::min(nb, count) / (count + 1) + count / (2 * nb);
      return rounding_bound(epsilon_of(precision_of<Real>), terms, roundings, largest_.scale,
                            noise[static_cast<std::size_t>(block.value)]);
    };
    const double bound_of_l = rounding_bound(epsilon_of(precision_of<Real>), columns_, 0, scale_of_l, 0);
    Worst l, u;
    for (std::size_t i = 0; i < of_l.size(); ++i) {
      const BlockIndex block = blocks.block(blocks.global(LocalIndex(static_cast<Index>(i)), position_.row));
      l.add(static_cast<double>(of_l[i]) - static_cast<double>(panels[i]), bound_of_l, block);
      if (block.value >= passes) continue;
      u.add(static_cast<double>(of_u[i]) + in_diagonal_blocks[i] - expected.sums[i], bound_of_u(block), block);
    }
    report(passes - 1, CheckedPart::l, l);
    report(passes - 1, CheckedPart::u, u);
  }
  void report(Index pass, CheckedPart part, const Worst& worst) {
    if (!worst.is_mismatch()) {
      statistics_.largest_share = std::max(statistics_.largest_share, worst.share());
      return;
    }
    constexpr double largest_copied =
        std::numeric_limits<Real>::max() / checksum_factors[std::size(checksum_factors) - 1];
    Mismatch mismatch = worst.mismatch();
    mismatch.overflow = !std::isfinite(mismatch.difference) || largest_.scale > largest_copied;
    mismatch.pass = pass;
    mismatch.part = part;
    if (mismatches_.empty()) log_failed_check(mismatch, backend_.info().device);
    mismatches_.push_back(mismatch);
  }

  const Distribution& distribution_;
  const Grid& grid_;
  GridPosition position_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  DeviceMatrix<Real>& a_;
  Index every_;
  Index rows_, columns_;  // of this rank, without the checksums
  struct Largest {        // of the process column so far
    double scale = 0;     // magnitude of a checksum
    double noise = 0;     // difference of a copy
  };
  Largest largest_;
  bool panel_is_summed_ = false;
  std::unique_ptr<DeviceMatrix<Real>> minus_ones_;                // a column
  std::unique_ptr<DeviceMatrix<Real>> weights_;                   // nb x 2: minus ones, and signs
  std::unique_ptr<DeviceMatrix<Real>> zeros_, sums_, sums_of_u_;  // columns
  // rows 2q and 2q + 1: of every L of process column q, L11 of other process rows in the first nb columns
  std::unique_ptr<DeviceMatrix<Real>> sums_of_l_;
  std::unique_ptr<HostBuffer<Real>> staging_;
  std::vector<Real> sent_sums_of_l_;  // of every process column; empty with one
  std::vector<Mismatch> mismatches_;
  ChecksumStatistics statistics_;
};

extern template class Checksums<float>;
extern template class Checksums<double>;

}  // namespace glinpack
