#include "transport/row_exchange_plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace glinpack {

namespace {

// Row exchanges that send U to all ranks of a process column: binary exchange, and spread-roll.
//
// A place is a rank's distance, downwards and cyclic, from the pivot's process row, which is place 0. All ranks have
// the same buffer layout, but need not hold the displaced rows of other ranks:
//
//   displaced rows, rank by rank | rows of U, rank by rank: those that it owns initially
//
// The order of ranks keeps the rows of one message adjacent.
class UExchange {
 public:
  UExchange(const BlockCyclic& rows, int process, GlobalIndex first, Index width, std::span<const GlobalRowMove> moves)
      : rows_(rows),
        ranks_(rows.processes()),
        root_(rows.owner(first)),
        here_(place_of(process)),
        width_(width),
        of_place_(static_cast<std::size_t>(ranks_)) {
    std::vector<GlobalIndex> origins;  // of U's rows
    for (Index i = 0; i < width; ++i) origins.push_back(first + i);
    for (const GlobalRowMove& move : moves) {
      if (move.to - first < width) {
        origins[static_cast<std::size_t>(move.to - first)] = move.from;
      } else {
        at(place_of(rows.owner(move.to))).displaced.push_back(move);
      }
    }
    for (Index i = 0; i < width; ++i) {
      const GlobalIndex origin = origins[static_cast<std::size_t>(i)];
      at(place_of(rows.owner(origin))).u.push_back({origin, i});
    }
  }

  RowExchangePlan by_binary_exchange() {
    const int max = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks_)));
    const auto slot = [max](int place) { return place % max; };
    // ranks with the same rows after a number of steps have slots with the same leading or trailing bits
    const auto reversed = [max, slot](int place) {
      int bits = 0;
      for (int mask = 1; mask < max; mask *= 2) bits = 2 * bits + ((slot(place) & mask) != 0 ? 1 : 0);
      return bits;
    };
    lay_out([&](int place) { return std::pair(reversed(place), place); },
            [&](int place) { return std::pair(slot(place), place); });

    const int surplus = here_ + max;  // the surplus rank whose rows this rank also sends, if any
    if (here_ >= max) {
      send(slot(here_), {at(here_).u_range});
    } else if (surplus < ranks_) {
      receive(surplus, {at(surplus).u_range});
    }
    end_round();
    for (int mask = 1; mask < max && here_ < max; mask *= 2) {
      const int partner = here_ ^ mask;
      const auto u_known_to = [&](int rank) {
        return u_of_places([&](int place) { return slot(place) / mask == rank / mask; });
      };
      const auto displaced_for = [&](int rank) {
        return displaced_of_places([&](int place) { return slot(place) % (2 * mask) == rank; });
      };
      const RowRange to_partner = here_ < mask ? displaced_for(partner) : RowRange{};
      const RowRange from_partner = partner < mask ? displaced_for(here_) : RowRange{};
      send(partner, {to_partner, u_known_to(here_)});
      receive(partner, {from_partner, u_known_to(partner)});
      end_round();
    }
    const auto outcome_for = [&](int rank) {
      const RowRange own = at(rank).u_range;
      const Index behind = own.first + own.count;
      return std::vector<RowRange>{at(rank).displaced_range,
                                   {plan_.u_first, own.first - plan_.u_first},
                                   {behind, plan_.u_first + width_ - behind}};
    };
    if (here_ >= max) {
      receive(slot(here_), outcome_for(here_));
    } else if (surplus < ranks_) {
      send(surplus, outcome_for(surplus));
    }
    end_round();
    return std::move(plan_);
  }

  RowExchangePlan by_spread_roll() {
    const auto in_order = [](int place) { return std::pair(place, place); };
    lay_out(in_order, in_order);
    make_pieces_equal();
    spread();
    roll();
    return std::move(plan_);
  }

 private:
  struct URow {
    GlobalIndex origin;
    Index row = 0;  // of U
  };
  struct Rows {
    std::vector<GlobalRowMove> displaced;  // rows that go there
    std::vector<URow> u;                   // rows of U that are there to begin with
    RowRange displaced_range;              // in the buffer
    RowRange u_range;
  };

  int place_of(int process) const { return (process - root_ + ranks_) % ranks_; }
  int process_of(int place) const { return (place + root_) % ranks_; }
  Rows& at(int place) { return of_place_[static_cast<std::size_t>(place)]; }
  Index local(GlobalIndex row) const { return rows_.local(row).value; }

  /// The buffer, with places in the order of these keys, and the rows that this rank gathers into it and scatters from
  /// it.
  template <class DisplacedKey, class UKey>
  void lay_out(DisplacedKey displaced_key, UKey u_key) {
    std::map<decltype(displaced_key(0)), int> by_displaced;
    std::map<decltype(u_key(0)), int> by_u;
    for (int place = 0; place < ranks_; ++place) {
      by_displaced[displaced_key(place)] = place;
      by_u[u_key(place)] = place;
    }
    Index next = 0;
    std::vector<Index> leaving;
    for (const auto& [key, place] : by_displaced) {
      if (place == 0) continue;  // displaced rows that stay
      at(place).displaced_range = {next, static_cast<Index>(at(place).displaced.size())};
      next += at(place).displaced_range.count;
      for (const GlobalRowMove& move : at(place).displaced) leaving.push_back(local(move.from));
    }
    plan_.u_first = next;
    for (const auto& [key, place] : by_u) {
      at(place).u_range = {next, static_cast<Index>(at(place).u.size())};
      next += at(place).u_range.count;
      for (const URow& row : at(place).u) plan_.u_rows.push_back(row.row);
    }
    // rows of U on the pivot's process row come first, directly after the rows that it sends
    plan_.gather_first = here_ == 0 ? 0 : at(here_).u_range.first;
    if (here_ == 0) {
      plan_.rows_to_gather = leaving;
      for (const GlobalRowMove& move : at(0).displaced) {
        plan_.local_moves.push_back({local(move.from), local(move.to)});
      }
    }
    for (const URow& row : at(here_).u) plan_.rows_to_gather.push_back(local(row.origin));
    plan_.scatter_first = at(here_).displaced_range.first;
    for (const GlobalRowMove& move : at(here_).displaced) {
      if (here_ != 0) plan_.rows_to_scatter.push_back(local(move.to));
    }
  }

  // Joins the ranges of the wanted places, which are adjacent.
  template <class Wanted>
  RowRange join(RowRange Rows::*range, Wanted wanted) {
    RowRange all;
    for (int place = 0; place < ranks_; ++place) {
      const RowRange& one = at(place).*range;
      if (!wanted(place) || one.count == 0) continue;
      all.first = all.count == 0 ? one.first : std::min(all.first, one.first);
      all.count += one.count;
    }
    return all;
  }
  template <class Wanted>
  RowRange displaced_of_places(Wanted wanted) {
    return join(&Rows::displaced_range, wanted);
  }
  template <class Wanted>
  RowRange u_of_places(Wanted wanted) {
    return join(&Rows::u_range, wanted);
  }

  void send(int place, std::vector<RowRange> ranges) { add(place, false, std::move(ranges)); }
  void receive(int place, std::vector<RowRange> ranges) { add(place, true, std::move(ranges)); }
  void add(int place, bool receives, std::vector<RowRange> ranges) {
    std::erase_if(ranges, [](const RowRange& range) { return range.count == 0; });
    if (!ranges.empty()) round_.push_back({process_of(place), receives, std::move(ranges)});
  }
  void end_round() {
    if (!round_.empty()) plan_.rounds.push_back(std::move(round_));
    round_.clear();
  }

  /// A rank's part of U when all parts are equal.
  RowRange piece(int place) const {
    const Index begin = width_ * place / ranks_;
    return {plan_.u_first + begin, width_ * (place + 1) / ranks_ - begin};
  }

  void make_pieces_equal() {
    const auto common = [](const RowRange& a, const RowRange& b) {
      const Index begin = std::max(a.first, b.first);
      return RowRange{begin, std::max<Index>(0, std::min(a.first + a.count, b.first + b.count) - begin)};
    };
    for (int place = 0; place < ranks_; ++place) {
      if (place == here_) continue;
      send(place, {common(at(here_).u_range, piece(place))});
      receive(place, {common(at(place).u_range, piece(here_))});
    }
    end_round();
  }

  void spread() {
    for (int mask = static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks_))) / 2; mask > 0; mask /= 2) {
      const int holder = here_ / (2 * mask) * (2 * mask);
      const int other = holder + mask;
      const RowRange rows = displaced_of_places([&](int place) { return place >= other && place < other + mask; });
      if (here_ == holder) send(other, {rows});
      if (here_ == other) receive(holder, {rows});
      end_round();
    }
  }

  void roll() {
    const int left = (here_ + ranks_ - 1) % ranks_;
    const int right = (here_ + 1) % ranks_;
    for (int turn = 0; turn + 1 < ranks_; ++turn) {
      send(right, {piece((here_ - turn + ranks_) % ranks_)});
      receive(left, {piece((left - turn + ranks_) % ranks_)});
      end_round();
    }
  }

  const BlockCyclic& rows_;
  int ranks_;
  int root_;
  int here_;
  Index width_;
  std::vector<Rows> of_place_;
  TransferRound round_;
  RowExchangePlan plan_;
};

}  // namespace

std::optional<RowSwapKind> row_swap_from_name(std::string_view name) {
  for (const RowSwapKind kind : all_row_swaps) {
    const bool is_digit = kind != RowSwapKind::direct && name == std::to_string(static_cast<int>(kind) - 1);
    if (name == name_of(kind) || name == text_by_value(kind, "direct", "bin-exch", "long", "mix") || is_digit)
      return kind;
  }
  return std::nullopt;
}

RowSwapKind kind_for(const RowSwap& swap, Index columns) {
  if (swap.kind != RowSwapKind::mix) return swap.kind;
  return columns <= swap.threshold ? RowSwapKind::binary_exchange : RowSwapKind::spread_roll;
}

std::vector<GlobalRowMove> net_row_moves(GlobalIndex first, std::span<const GlobalIndex> pivots) {
  // the rows that may move, ascending: those that pivots are exchanged with, then the pivots below them
  const auto count = static_cast<Index>(pivots.size());
  std::vector<Index> rows(pivots.size());
  std::iota(rows.begin(), rows.end(), first.value);
  for (const GlobalIndex pivot : pivots) {
    if (pivot.value >= first.value + count) rows.push_back(pivot.value);
  }
  const auto below = rows.begin() + count;
  std::sort(below, rows.end());
  rows.erase(std::unique(below, rows.end()), rows.end());
  const auto place_of = [&](Index row) {
    if (row < first.value + count) return static_cast<std::size_t>(row - first.value);
    return static_cast<std::size_t>(std::lower_bound(rows.begin() + count, rows.end(), row) - rows.begin());
  };
  std::vector<Index> content = rows;
  for (std::size_t k = 0; k < pivots.size(); ++k) std::swap(content[k], content[place_of(pivots[k].value)]);
  std::vector<GlobalRowMove> moves;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (content[k] != rows[k]) moves.push_back({GlobalIndex(content[k]), GlobalIndex(rows[k])});
  }
  return moves;
}

Index RowTransfer::rows() const {
  Index count = 0;
  for (const RowRange& range : ranges) count += range.count;
  return count;
}

Index RowExchangePlan::rows_received() const {
  Index count = 0;
  for (const TransferRound& round : rounds) {
    for (const RowTransfer& transfer : round) count += transfer.receives ? transfer.rows() : 0;
  }
  return count;
}

Index RowExchangePlan::messages_received() const {
  Index count = 0;
  for (const TransferRound& round : rounds) {
    for (const RowTransfer& transfer : round) count += transfer.receives ? 1 : 0;
  }
  return count;
}

RowExchangePlan plan_row_exchange(const BlockCyclic& rows, int process, std::span<const GlobalRowMove> moves) {
  RowExchangePlan plan;
  std::map<int, std::vector<Index>> outgoing;  // local rows, by the other rank
  std::map<int, std::vector<Index>> incoming;
  for (const GlobalRowMove& move : moves) {
    const int from = rows.owner(move.from);
    const int to = rows.owner(move.to);
    if (from == process && to == process) {
      plan.local_moves.push_back({rows.local(move.from).value, rows.local(move.to).value});
    } else if (from == process) {
      outgoing[to].push_back(rows.local(move.from).value);
    } else if (to == process) {
      incoming[from].push_back(rows.local(move.to).value);
    }
  }
  TransferRound round;
  const auto pack = [&round](const std::map<int, std::vector<Index>>& by_process, std::vector<Index>& packed,
                             Index first, bool receives) {
    for (const auto& [peer, positions] : by_process) {
      const auto before = static_cast<Index>(packed.size());
      round.push_back({peer, receives, {{first + before, static_cast<Index>(positions.size())}}});
      packed.insert(packed.end(), positions.begin(), positions.end());
    }
  };
  pack(outgoing, plan.rows_to_gather, 0, false);
  plan.scatter_first = static_cast<Index>(plan.rows_to_gather.size());
  pack(incoming, plan.rows_to_scatter, plan.scatter_first, true);
  if (!round.empty()) plan.rounds.push_back(std::move(round));
  return plan;
}

RowExchangePlan plan_u_exchange(RowSwapKind kind, const BlockCyclic& rows, int process, GlobalIndex first, Index width,
                                std::span<const GlobalRowMove> moves) {
  UExchange exchange(rows, process, first, width, moves);
  return kind == RowSwapKind::binary_exchange ? exchange.by_binary_exchange() : exchange.by_spread_roll();
}

RowExchangePlan plan_row_swap(const RankSwaps& rank, const PassPlan& pass, std::span<const GlobalIndex> pivots,
                              ColumnRange columns) {
  const GlobalIndex first = rank.rows.first(BlockIndex(pass.pass));
  const auto moves = net_row_moves(first, pivots);
  if (!rank.u_to_all_rows) return plan_row_exchange(rank.rows, rank.process, moves);
  return plan_u_exchange(kind_for(rank.swap, columns.count), rank.rows, rank.process, first, pass.width, moves);
}

RowExchangePlan RowPlanCache::plan(const RankSwaps& rank, const PassPlan& pass, std::span<const GlobalIndex> pivots,
                                   ColumnRange columns) {
  if (rank.process != row_) plans_.clear();
  row_ = rank.process;
  const auto [place, is_new] = plans_.try_emplace({pass.pass, kind_for(rank.swap, columns.count)});
  if (is_new) place->second = plan_row_swap(rank, pass, pivots, columns);
  return place->second;
}

}  // namespace glinpack
