#include <gtest/gtest.h>

#include "mpi/broadcast.hpp"
#include "mpi/process_grid.hpp"

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

TEST(PipelinedRing, SplitsLargeMessagesIntoAFewLargePieces) {
  EXPECT_EQ(pieces_of_message(0), 1);
  EXPECT_EQ(pieces_of_message(500'000), 1);
  EXPECT_EQ(pieces_of_message(1 << 20), 4);
  EXPECT_EQ(pieces_of_message(Index{1} << 33), 16);
}

TEST(ProcessGrid, DefaultIsTheSquarestWithNoMoreRowsThanColumns) {
  EXPECT_EQ(squarest_grid(1), (GridShape{1, 1}));
  EXPECT_EQ(squarest_grid(4), (GridShape{2, 2}));
  EXPECT_EQ(squarest_grid(6), (GridShape{2, 3}));
  EXPECT_EQ(squarest_grid(7), (GridShape{1, 7}));
  EXPECT_EQ(squarest_grid(36), (GridShape{6, 6}));
}

}  // namespace
}  // namespace glinpack
