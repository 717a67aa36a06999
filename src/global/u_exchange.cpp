// Row exchanges that bring U to all ranks of a process column: binary exchange, and spread-roll.
//
// A place is a rank's distance from the pivot's process row, which is place 0, downwards and round. Every rank's buffer
// is laid out alike, but that the displaced rows of other ranks may be missing from it:
//
//   displaced rows, rank by rank | rows of U, rank by rank: those that it holds to begin with
//
// in orders of the ranks such that what travels together lies together.
#include <algorithm>
#include <bit>
#include <map>

#include "global/row_moves.hpp"

namespace glinpack {

namespace {

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
    const int most = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks_)));
    const auto slot = [most](int place) { return place % most; };
    // ranks that know the same rows after so many steps are those whose slots begin, or end, with the same bits
    const auto reversed = [most, slot](int place) {
      int bits = 0;
      for (int mask = 1; mask < most; mask *= 2) bits = 2 * bits + ((slot(place) & mask) != 0 ? 1 : 0);
      return bits;
    };
    lay_out([&](int place) { return std::pair(reversed(place), place); },
            [&](int place) { return std::pair(slot(place), place); });

    const int too_many = here_ + most;  // whose rows this rank takes along, if there is one
    if (here_ >= most) {
      send(slot(here_), {at(here_).u_range});
    } else if (too_many < ranks_) {
      receive(too_many, {at(too_many).u_range});
    }
    end_round();
    for (int mask = 1; mask < most && here_ < most; mask *= 2) {
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
    if (here_ >= most) {
      receive(slot(here_), outcome_for(here_));
    } else if (too_many < ranks_) {
      send(too_many, outcome_for(too_many));
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

  /// The buffer, with places in the order of these keys; what this rank gathers into it and scatters from it.
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
    // rows of U that the pivot's process row holds come first, and right behind what it sends
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

  // One range, since these places lie together.
  template <class Wanted>
  RowRange together(RowRange Rows::*range, Wanted wanted) {
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
    return together(&Rows::displaced_range, wanted);
  }
  template <class Wanted>
  RowRange u_of_places(Wanted wanted) {
    return together(&Rows::u_range, wanted);
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

RowExchangePlan plan_u_exchange(RowSwapKind kind, const BlockCyclic& rows, int process, GlobalIndex first, Index width,
                                std::span<const GlobalRowMove> moves) {
  UExchange exchange(rows, process, first, width, moves);
  return kind == RowSwapKind::binary_exchange ? exchange.by_binary_exchange() : exchange.by_spread_roll();
}

}  // namespace glinpack
