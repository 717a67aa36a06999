// The ranks that compute together: their collective operations, and their grid. src/global/mpi/ implements them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "matrix/grid.hpp"

namespace glinpack {

enum class Reduction : std::uint8_t { sum, max, min };

/// Calls are collective over the ranks, except those of the first group.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Host and number of this rank, for errors: "node1, rank 3".
  virtual std::string name_of_rank() const = 0;

  virtual void barrier() const = 0;
  /// Replaces the values by their sums, maxima or minima over the ranks. Sums have the same bits on every rank, but not
  /// in every run.
  virtual void all_reduce(std::span<double> values, Reduction reduction) const = 0;
  virtual void all_reduce(std::span<std::int64_t> values, Reduction reduction) const = 0;
  /// The same on the root alone.
  virtual void sum_at(int root, std::span<float> values) const = 0;
  virtual void sum_at(int root, std::span<double> values) const = 0;
  /// The root's values on every rank.
  virtual void broadcast(int root, std::span<float> values) const = 0;
  virtual void broadcast(int root, std::span<double> values) const = 0;
  virtual void broadcast(int root, std::string& bytes) const = 0;
  /// The bytes of all ranks, in order, on the root; empty elsewhere.
  virtual std::vector<std::string> gather(int root, const std::string& bytes) const = 0;
  /// The bytes of all ranks, as many of each, in order, on every rank.
  virtual void all_gather(std::span<const std::byte> mine, std::byte* all) const = 0;
};

/// One value over the ranks.
template <class Number>
Number all_reduced(const Communicator& communicator, Number value, Reduction reduction) {
  communicator.all_reduce(std::span(&value, 1), reduction);
  return value;
}

/// The values of all ranks, in order, on every rank.
template <class Value>
std::vector<Value> all_gathered(const Communicator& communicator, const Value& mine) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<Value> all(static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)).data());
  return all;
}

/// Logical AND over the ranks.
inline bool all_agree(const Communicator& communicator, bool fine) {
  return all_reduced<std::int64_t>(communicator, fine ? 1 : 0, Reduction::min) == 1;
}

/// An error that every rank of a communicator throws, so that all may return. After the first collective call, any
/// other error is local to one rank and ends the job.
class AgreedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collective. Every rank passes its error, empty for none. Every rank throws AgreedError with the message of the first
/// failing rank. The message gets that rank's host and number unless it `names_its_rank` already.
inline void agree_or_throw(const Communicator& communicator, const std::string& error, bool names_its_rank = false) {
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  const std::int64_t mine = error.empty() ? none : communicator.rank();
  const std::int64_t first_failed = all_reduced(communicator, mine, Reduction::min);
  if (first_failed == none) return;
  std::string message = names_its_rank ? error : communicator.name_of_rank() + ": " + error;
  communicator.broadcast(static_cast<int>(first_failed), message);
  throw AgreedError(message);
}

/// The error that work() throws; empty: none.
template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
    return "";
  } catch (const std::exception& failure) {
    const std::string error = failure.what();
    return error.empty() ? "unknown error" : error;
  }
}

/// Collective. Returns the result of make(). If it threw on any rank, every rank throws as agree_or_throw does.
template <class Make>
auto make_collectively(const Communicator& communicator, Make make) {
  decltype(make()) made{};
  agree_or_throw(communicator, error_of([&] { made = make(); }));
  return made;
}

/// The P x Q process grid, as one of its ranks sees it.
class Grid {
 public:
  virtual ~Grid() = default;

  GridShape shape() const { return shape_; }
  GridPosition position() const { return position_; }
  bool is_root() const { return position_ == GridPosition{0, 0}; }
  virtual const Communicator& all() const = 0;
  /// The ranks of this rank's process row, ranked by column; used for L.
  virtual const Communicator& row() const = 0;
  /// The ranks of this rank's process column, ranked by row; used for U and pivot candidates.
  virtual const Communicator& column() const = 0;

 protected:
  Grid(GridShape shape, GridPosition position) : shape_(shape), position_(position) {}

  GridShape shape_;
  GridPosition position_;
};

/// A rank without others.
class LoneRank final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string name_of_rank() const override { return "rank 0"; }
  void barrier() const override {}
  void all_reduce(std::span<double>, Reduction) const override {}
  void all_reduce(std::span<std::int64_t>, Reduction) const override {}
  void sum_at(int, std::span<float>) const override {}
  void sum_at(int, std::span<double>) const override {}
  void broadcast(int, std::span<float>) const override {}
  void broadcast(int, std::span<double>) const override {}
  void broadcast(int, std::string&) const override {}
  std::vector<std::string> gather(int, const std::string& bytes) const override { return {bytes}; }
  void all_gather(std::span<const std::byte> mine, std::byte* all) const override {
    std::copy(mine.begin(), mine.end(), all);
  }
};

/// A place in a grid of which this process is the only rank: of one rank, or of more whose messages are not sent.
class LoneGrid final : public Grid {
 public:
  explicit LoneGrid(GridShape shape = {}, GridPosition position = {}) : Grid(shape, position) {}
  const LoneRank& all() const override { return rank_; }
  const LoneRank& row() const override { return rank_; }
  const LoneRank& column() const override { return rank_; }

 private:
  LoneRank rank_;
};

}  // namespace glinpack
