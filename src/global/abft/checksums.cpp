#include "abft/checksums.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/memory_count.hpp"
#include "base/threads.hpp"
#include "matrix/matrix_source.hpp"

namespace glinpack {

namespace {

double random_sign(std::uint64_t seed, Index number) {
  return (splitmix64(seed, static_cast<std::uint64_t>(number)) >> 63) != 0 ? 1 : -1;
}

constexpr double factors[] = {1, 3, 5, 7};  // of sum and probe
static_assert(2 * std::size(factors) == checksum_columns);
constexpr std::uint64_t seed_of_columns = 1, seed_of_rows = 2;

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

}  // namespace

std::string text_of(const Mismatch& mismatch) {
  if (mismatch.part == CheckedPart::solution) {
    return fmt::format("solution, block row {}: U x differs from y by {:.3g}, rounding explains {:.3g}",
                       mismatch.block_row, std::fabs(mismatch.difference), mismatch.bound);
  }
  return fmt::format(
      "{} after pass {}, block row {}: the sum of a row differs by {:.3g} from its checksum, rounding explains {:.3g}",
      name_of(mismatch.part), mismatch.pass, mismatch.block_row, std::fabs(mismatch.difference), mismatch.bound);
}

bool is_worse(const Mismatch& a, const Mismatch& b) {
  const auto share = [](const Mismatch& m) {
    const double value = std::fabs(m.difference) / m.bound;
    return std::isnan(value) ? INFINITY : value;
  };
  return std::pair(a.pass, -share(a)) < std::pair(b.pass, -share(b));
}

template <class Real>
RowChecksums<Real>::RowChecksums(Index columns) : signs_(static_cast<std::size_t>(columns)) {
  for (Index j = 0; j < columns; ++j) signs_[static_cast<std::size_t>(j)] = random_sign(seed_of_columns, j);
}

template <class Real>
void RowChecksums<Real>::append(Index row, Real* elements) const {
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
  for (const double factor : factors) {
    *next++ = static_cast<Real>(factor * sum);
    *next++ = static_cast<Real>(factor * probe);
  }
}

/// The row whose difference exceeds its bound most.
template <class Real>
class Checksums<Real>::Worst {
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

template <class Real>
Checksums<Real>::Checksums(const RankContext<Real>& context, DeviceMatrix<Real>& a, Index every)
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

template <class Real>
Index Checksums<Real>::elements_of_sums(const Distribution& distribution, Index rows) {
  return 2 * distribution.shape.columns * (distribution.nb + rows);
}

template <class Real>
Index Checksums<Real>::staged_elements(const Distribution& distribution, Index rows) {
  const Index nb = distribution.nb;
  // room for many diagonal blocks: to wait for them takes as long as for one
  return std::max({elements_of_sums(distribution, rows), 64 * rows, 2 * nb * nb});
}

template <class Real>
void Checksums<Real>::start() {
  const auto scope = timeline_.in_phase(Phase::checksum);
  carried_sums(0, rows_);
}

template <class Real>
bool Checksums<Real>::is_due(const PassPlan& pass) const {
  return (pass.pass + 1) % every_ == 0 && pass.pass + 1 < distribution_.passes();
}

template <class Real>
void Checksums<Real>::clear(DeviceMatrix<Real>& sums) {
  if (rows_ > 0) backend_.copy(whole(*zeros_), whole(sums));
}

// sums <- sums + A e of some rows and columns.
template <class Real>
void Checksums<Real>::sum_rows(Index row, Index rows, Index column, Index columns, DeviceMatrix<Real>& sums) {
  if (rows == 0 || columns == 0) return;
  backend_.subtract_product({&a_, row, column, rows, columns}, whole(*minus_ones_).block(0, 0, columns, 1),
                            whole(sums).block(row, 0, rows, 1));
}

template <class Real>
std::vector<Real> Checksums<Real>::downloaded(DeviceBlock<Real> block) {
  if (block.empty()) return {};
  backend_.wait(backend_.download(block, {staging_.get(), 0, block.rows, block.columns, block.columns}));
  return {staging_->data(), staging_->data() + block.rows * block.columns};
}

// Also updates scale and noise. Rows of all process rows meet in the process column's updates.
template <class Real>
auto Checksums<Real>::carried_sums(Index first_row, Index rows) -> CarriedSums {
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
      for (std::size_t f = 1; f < std::size(factors); ++f) {
        const double difference = static_cast<double>(values[original + 2 * f]) / factors[f] - value;
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

template <class Real>
void Checksums<Real>::sum_next_panel(const PassPlan& pass, const PassPlan& next) {
  if (!next.in_pivot_column) return;
  const auto scope = timeline_.in_phase(Phase::checksum);
  clear(*sums_);
  sum_rows(pass.trailing_row.value, pass.trailing_rows, next.panel_column.value, next.width, *sums_);
  panel_is_summed_ = true;
}

template <class Real>
void Checksums<Real>::sum_l(const PassPlan& pass, DeviceBlock<Real> factors, Index above) {
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

template <class Real>
void Checksums<Real>::finish_pass(const PassPlan& pass, const PassPlan* next) {
  if (!is_due(pass)) return;
  const auto scope = timeline_.in_phase(Phase::checksum);
  const double begun = timeline_.now();
  check_trailing_matrix(pass, next);
  check_received_l(pass.pass, (pass.pass + 1) * distribution_.nb);
  ++statistics_.checks;
  statistics_.seconds += timeline_.now() - begun;
}

template <class Real>
void Checksums<Real>::check_trailing_matrix(const PassPlan& pass, const PassPlan* next) {
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
template <class Real>
void Checksums<Real>::check_received_l(Index pass, Index eliminated) {
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

template <class Real>
void Checksums<Real>::check_state(const PassPlan& pass) {
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

// Sums U's rows in diagonal blocks on the host. The staging buffer has two halves: while the device does other work and
// copies blocks to one half, the host sums those in the other half.
template <class Real>
class Checksums<Real>::DiagonalBlocks {
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

template <class Real>
void Checksums<Real>::check_factors() {
  const auto scope = timeline_.in_phase(Phase::checksum);
  const double begun = timeline_.now();
  check_received_l(distribution_.passes() - 1, distribution_.n);
  check_stored_factors(distribution_.passes());
  ++statistics_.checks;
  statistics_.seconds += timeline_.now() - begun;
}

// |y - U x| <= gamma_N |U| |x| in every row, in whatever order it is computed (Higham, theorem 8.5).
template <class Real>
void Checksums<Real>::check_solution(std::span<const double> x) {
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
    worst.add(residual[i], rounding_bound(epsilon_of(precision_of<Real>), distribution_.n, 0, magnitudes[i], underflow),
              block);
  }
  report(distribution_.passes() - 1, CheckedPart::solution, worst);
}

template <class Real>
Index Checksums<Real>::state_bytes(const Distribution& distribution, GridPosition at) {
  const Index sums = elements_of_sums(distribution, distribution.local_rows(at));
  return static_cast<Index>(sizeof(Largest)) + sums * static_cast<Index>(sizeof(Real));
}

template <class Real>
std::vector<std::byte> Checksums<Real>::state() {
  const std::vector<Real> sums = downloaded(whole(*sums_of_l_));
  std::vector<std::byte> state(sizeof largest_ + sums.size() * sizeof(Real));
  std::memcpy(state.data(), &largest_, sizeof largest_);
  std::memcpy(state.data() + sizeof largest_, sums.data(), sums.size() * sizeof(Real));
  return state;
}

template <class Real>
void Checksums<Real>::restore(std::span<const std::byte> state) {
  std::memcpy(&largest_, state.data(), sizeof largest_);
  std::memcpy(staging_->data(), state.data() + sizeof largest_, state.size() - sizeof largest_);
  const Index rows = sums_of_l_->rows(), columns = sums_of_l_->columns();
  backend_.wait(backend_.upload({staging_.get(), 0, rows, columns, columns}, whole(*sums_of_l_)));
  panel_is_summed_ = false;
}

// After some passes. L below the diagonal blocks and the blocks themselves: the sums of the panels. U: the carried
// sums. Block columns, not block rows, which have too few rows for the work groups of a device.
template <class Real>
void Checksums<Real>::check_stored_factors(Index passes) {
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

template <class Real>
void Checksums<Real>::report(Index pass, CheckedPart part, const Worst& worst) {
  if (!worst.is_mismatch()) {
    statistics_.largest_share = std::max(statistics_.largest_share, worst.share());
    return;
  }
  constexpr double largest_copied = std::numeric_limits<Real>::max() / factors[std::size(factors) - 1];
  Mismatch mismatch = worst.mismatch();
  mismatch.overflow = !std::isfinite(mismatch.difference) || largest_.scale > largest_copied;
  mismatch.pass = pass;
  mismatch.part = part;
  if (mismatches_.empty()) {
    spdlog::error("checksums: {}; device {}", text_of(mismatch), backend_.info().device);
  }
  mismatches_.push_back(mismatch);
}

template class RowChecksums<float>;
template class RowChecksums<double>;
template class Checksums<float>;
template class Checksums<double>;

}  // namespace glinpack
