#include "mpi/broadcast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace glinpack {
namespace {

constexpr BroadcastKind forwarding[] = {BroadcastKind::ring, BroadcastKind::ring_modified, BroadcastKind::two_rings,
                                        BroadcastKind::two_rings_modified};

TEST(Broadcast, ReachesEveryRankOnceFromItsParent) {
  for (const BroadcastKind kind : forwarding) {
    for (int size = 1; size <= 17; ++size) {
      std::vector<int> received(static_cast<std::size_t>(size), 0);
      for (int place = 0; place < size; ++place) {
        for (const int child : forwarding_place(kind, size, place).children) {
          ASSERT_LT(child, size);
          EXPECT_GT(child, place);  // no cycles
          EXPECT_EQ(forwarding_place(kind, size, child).parent, place) << name_of(kind) << ", size " << size;
          ++received[static_cast<std::size_t>(child)];
        }
      }
      EXPECT_EQ(forwarding_place(kind, size, 0).parent, -1);
      for (int place = 1; place < size; ++place) EXPECT_EQ(received[static_cast<std::size_t>(place)], 1);
    }
  }
}

TEST(Broadcast, ModifiedFormsSendToTheNextPivotColumnFirstAndItDoesNotForward) {
  for (const BroadcastKind kind : {BroadcastKind::ring_modified, BroadcastKind::two_rings_modified}) {
    for (int size = 2; size <= 9; ++size) {
      EXPECT_EQ(forwarding_place(kind, size, 0).children.front(), 1);
      EXPECT_TRUE(forwarding_place(kind, size, 1).children.empty());
    }
  }
}

TEST(Broadcast, IsFoundByNameHplNameAndHplDigit) {
  EXPECT_EQ(broadcast_from_name("ring"), BroadcastKind::ring);
  EXPECT_EQ(broadcast_from_name("1rM"), BroadcastKind::ring_modified);
  EXPECT_EQ(broadcast_from_name("5"), BroadcastKind::long_modified);
  EXPECT_EQ(broadcast_from_name("ibcast"), BroadcastKind::ibcast);
  EXPECT_EQ(broadcast_from_name("ring-pipelined"), BroadcastKind::ring_pipelined);
  EXPECT_EQ(broadcast_from_name("6"), std::nullopt);
  EXPECT_EQ(broadcast_from_name("7"), std::nullopt);
  EXPECT_EQ(broadcast_from_name(""), std::nullopt);
  for (int digit = 0; digit <= 5; ++digit) EXPECT_EQ(hpl_digit(*broadcast_from_name(std::to_string(digit))), digit);
}

// The steps of all places, run as Broadcast runs them: each place starts steps in order, and a message arrives once
// both of its ends have started. Returns the elements that each place has.
std::vector<std::vector<bool>> run_steps(BroadcastKind kind, int size, Index count, Index pieces) {
  struct Place {
    std::vector<BroadcastStep> steps;
    std::size_t started = 0;
    std::vector<bool> ended;

    // Receives that have ended before the first one that has not.
    Index received() const {
      Index count = 0;
      for (std::size_t i = 0; i < steps.size() && (!steps[i].receive || ended[i]); ++i)
        count += steps[i].receive ? 1 : 0;
      return count;
    }
  };
  std::vector<Place> places(static_cast<std::size_t>(size));
  std::vector<std::vector<bool>> has(static_cast<std::size_t>(size),
                                     std::vector<bool>(static_cast<std::size_t>(count), false));
  has[0].assign(static_cast<std::size_t>(count), true);
  for (int place = 0; place < size; ++place) {
    Place& at = places[static_cast<std::size_t>(place)];
    at.steps = broadcast_steps(kind, size, place, count, pieces);
    at.ended.resize(at.steps.size());
  }
  // the first step to a peer in one direction that has started and not ended
  const auto open = [](const Place& at, int peer, bool receive) {
    std::size_t i = 0;
    while (i < at.started && (at.ended[i] || at.steps[i].peer != peer || at.steps[i].receive != receive)) ++i;
    return i;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (Place& at : places) {
      while (at.started < at.steps.size() && at.steps[at.started].after_receives <= at.received()) ++at.started;
    }
    for (int from = 0; from < size; ++from) {
      for (int to = 0; to < size; ++to) {
        Place &sender = places[static_cast<std::size_t>(from)], &receiver = places[static_cast<std::size_t>(to)];
        const std::size_t sent = open(sender, to, false), received = open(receiver, from, true);
        if (sent == sender.started || received == receiver.started) continue;
        const BroadcastStep& step = sender.steps[sent];
        EXPECT_EQ(step.first, receiver.steps[received].first);
        EXPECT_EQ(step.count, receiver.steps[received].count);
        for (Index i = step.first; i < step.first + step.count; ++i) {
          const auto element = static_cast<std::size_t>(i);
          EXPECT_TRUE(has[static_cast<std::size_t>(from)][element]) << "place " << from << " sends what it lacks";
          has[static_cast<std::size_t>(to)][element] = true;
        }
        sender.ended[sent] = receiver.ended[received] = true;
        progress = true;
      }
    }
  }
  for (const Place& at : places) EXPECT_EQ(std::count(at.ended.begin(), at.ended.end(), false), 0) << "deadlock";
  return has;
}

TEST(Broadcast, StepsOfEveryKindBringAllElementsToEveryPlaceAndEnd) {
  for (const BroadcastKind kind : all_broadcasts) {
    if (is_mpi_collective(kind)) continue;
    for (int size = 2; size <= 11; ++size) {
      for (const Index count : {1, 2, 5, 37}) {
        for (const Index pieces : {1, 2, 3, 16}) {
          SCOPED_TRACE(testing::Message() << name_of(kind) << ", " << size << " places, " << count << " elements, "
                                          << pieces << " pieces");
          for (const std::vector<bool>& elements : run_steps(kind, size, count, pieces)) {
            EXPECT_EQ(std::count(elements.begin(), elements.end(), false), 0);
          }
        }
      }
    }
  }
}

TEST(PipelinedRing, SplitsLargeMessagesIntoAFewLargePieces) {
  EXPECT_EQ(pieces_of_message(0), 1);
  EXPECT_EQ(pieces_of_message(500'000), 1);
  EXPECT_EQ(pieces_of_message(1 << 20), 4);
  EXPECT_EQ(pieces_of_message(Index{1} << 33), 16);
}

}  // namespace
}  // namespace glinpack
