#include "openblas/slab_panel.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include "openblas/panel_kernels.hpp"

namespace glinpack {

namespace {

constexpr Index narrow_width = 8;     // columns eliminated one by one
constexpr Index min_slab_rows = 256;  // below, threads wait for each other more than they work

}  // namespace

template <class Real>
class SlabPanel<Real>::Factorization {
 public:
  Factorization(ColumnMajorView<Real> a, std::span<Index> pivots, int threads)
      : slabs_(a, threads), a_(a), pivots_(pivots), posts_(static_cast<std::size_t>(2 * threads)) {}

  // Work of thread `thread`. All threads pass the same barriers.
  void run(int thread) {
    const Slab mine = slabs_.slab_of(thread);
    slabs_.factor(mine, narrow_width, [&](Index first, Index width) { return factor_narrow(mine, first, width); });
  }

  std::optional<Index> zero_column() const { return zero_column_; }

 private:
  // A thread's message about a column, which also serves as the column's barrier. Each thread waits for the posts of
  // all threads. The posts are written in parallel; at a barrier, threads would contend for its counter.
  struct alignas(64) Post {
    std::atomic<Index> posted{0};  // columns; the rest is valid for the last of them
    Real magnitude = -1;           // of its candidate; -1: none
    Index row = -1;
    alignas(64) std::array<Real, narrow_width> candidate_row{};
    alignas(64) std::array<Real, narrow_width> current_row{};  // filled in by the thread that has it
  };

  // Posts are double-buffered: a thread that is a column ahead must not overwrite a post that another thread reads. No
  // thread is two columns ahead, since it would need this thread's post of the column between.
  Post& post_of(Index column, int thread) {
    return posts_[static_cast<std::size_t>((column % 2) * slabs_.threads + thread)];
  }

  // False once a column has no pivot.
  bool factor_narrow(const Slab& mine, Index first, Index width) {
    for (Index j = first; j < first + width; ++j) {
      post_candidate(mine, j, first, width);
      const int winner = best_post(j);
      const Post& best = post_of(j, winner);
      if (best.magnitude == 0) {
        if (mine.thread == 0) zero_column_ = j;
        return false;
      }
      if (mine.thread == 0) pivots_[static_cast<std::size_t>(j)] = best.row;
      exchange_and_eliminate(mine, j, first, width, best);
    }
    // the other columns follow: a share each, rows of all slabs
    slabs_.barrier.arrive_and_wait();
    for (Index column = mine.thread; column < a_.columns; column += slabs_.threads) {
      if (first <= column && column < first + width) continue;
      for (Index j = first; j < first + width; ++j) {
        std::swap(a_(j, column), a_(pivots_[static_cast<std::size_t>(j)], column));
      }
    }
    slabs_.barrier.arrive_and_wait();
    return true;
  }

  void copy_row(Index row, Index first, Index width, std::array<Real, narrow_width>& to) const {
    for (Index k = 0; k < width; ++k) to[static_cast<std::size_t>(k)] = a_(row, first + k);
  }
  void set_row(Index row, Index first, Index width, const std::array<Real, narrow_width>& from) {
    for (Index k = 0; k < width; ++k) a_(row, first + k) = from[static_cast<std::size_t>(k)];
  }

  void post_candidate(const Slab& mine, Index j, Index first, Index width) {
    Post& post = post_of(j, mine.thread);
    post.magnitude = -1;
    const Index begin = mine.begin_from(j);
    if (begin < mine.end) {
      post.row = begin + index_of_largest_magnitude<Real>({&a_(begin, j), static_cast<std::size_t>(mine.end - begin)});
      post.magnitude = std::fabs(a_(post.row, j));
      copy_row(post.row, first, width, post.candidate_row);
    }
    if (mine.holds(j)) copy_row(j, first, width, post.current_row);
    post.posted.store(j + 1, std::memory_order_release);
  }

  // Waits for all posts. The largest; of equals the uppermost, as in a search by one thread; a NaN before all numbers.
  int best_post(Index j) {
    int best = 0;
    for (int thread = 0; thread < slabs_.threads; ++thread) {
      const Post& post = post_of(j, thread);
      spin_until([&] { return post.posted.load(std::memory_order_acquire) == j + 1; });
    }
    for (int thread = 1; thread < slabs_.threads; ++thread) {
      const Real ours = post_of(j, best).magnitude;
      const Real theirs = post_of(j, thread).magnitude;
      if (!std::isnan(ours) && (theirs > ours || std::isnan(theirs))) best = thread;
    }
    return best;
  }

  void exchange_and_eliminate(const Slab& mine, Index j, Index first, Index width, const Post& best) {
    const auto u = best.candidate_row;
    if (best.row != j) {
      const int owner = static_cast<int>(j / slabs_.slab_rows());
      if (mine.holds(best.row)) set_row(best.row, first, width, post_of(j, owner).current_row);
      if (mine.holds(j)) set_row(j, first, width, u);
    }
    const Index below = mine.begin_from(j + 1);
    const Index rows = mine.size_from(j + 1);
    const Index right = first + width - j - 1;
    if (rows == 0) return;
    const Real pivot = u[static_cast<std::size_t>(j - first)];
    // the last column of the block has nothing to its right
    Real* const next = right > 0 ? &a_(below, j + 1) : nullptr;
    eliminate_column<Real>(pivot, {&a_(below, j), static_cast<std::size_t>(rows)}, u.data() + (j - first) + 1, 1,
                           {next, rows, right, a_.leading_dimension});
  }

  SlabRecursion<Real> slabs_;
  ColumnMajorView<Real> a_;
  std::span<Index> pivots_;
  std::vector<Post> posts_;
  std::optional<Index> zero_column_;
};

template <class Real>
bool SlabPanel<Real>::pays(Index rows, Index columns) const {
  return team_.members() > 1 && rows > columns && columns > narrow_width && rows / team_.members() >= min_slab_rows &&
         rows / team_.members() >= columns / 2;
}

template <class Real>
std::optional<Index> SlabPanel<Real>::factorize(ColumnMajorView<Real> a, std::span<Index> pivots) {
  Factorization factorization(a, pivots, team_.members());
  team_.run([&](int thread) { factorization.run(thread); });
  return factorization.zero_column();
}

template class SlabPanel<float>;
template class SlabPanel<double>;

}  // namespace glinpack
