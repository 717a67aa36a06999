#include "network/links.hpp"

#include <gtest/gtest.h>

#include <set>

namespace glinpack {
namespace {

TEST(Tournament, EveryPairOccursOnceAndARoundHasEachRankOnce) {
  for (const int ranks : {0, 1, 2, 3, 4, 5, 8, 13, 64}) {
    std::set<std::pair<int, int>> measured;
    for (int round = 0; round < pairing_rounds(ranks); ++round) {
      std::set<int> busy;
      for (const auto& [first, second] : pairing_round(ranks, round)) {
        EXPECT_TRUE(0 <= first && first < second && second < ranks) << first << "-" << second;
        EXPECT_TRUE(busy.insert(first).second && busy.insert(second).second) << "rank twice in round " << round;
        EXPECT_TRUE(measured.emplace(first, second).second) << first << "-" << second << " measured twice";
      }
    }
    EXPECT_EQ(measured.size(), static_cast<std::size_t>(ranks * (ranks - 1) / 2)) << ranks << " ranks";
  }
}

// Four ranks on each of two hosts; links between hosts have a tenth of the bandwidth.
class Screened : public testing::Test {
 protected:
  Screened() {
    for (int first = 0; first < 8; ++first) {
      for (int second = first + 1; second < 8; ++second) {
        const bool within = first / 4 == second / 4;
        screening.links.push_back({first, second, within ? 1e-6 : 20e-6, within ? 10e9 : 1e9});
      }
    }
  }
  Link& link(int first, int second) {
    for (Link& candidate : screening.links) {
      if (candidate.first == first && candidate.second == second) return candidate;
    }
    throw std::logic_error("no such link");
  }
  void expect_slow(int first, int second) {
    judge_links(screening, hosts);
    ASSERT_EQ(screening.slow.size(), 1U);
    EXPECT_EQ(screening.slow[0].first, first);
    EXPECT_EQ(screening.slow[0].second, second);
  }

  std::vector<std::string> hosts{"a", "a", "a", "a", "b", "b", "b", "b"};
  Screening screening;
};

TEST_F(Screened, LinksAreComparedWithLinksOfTheSameKind) {
  judge_links(screening, hosts);
  EXPECT_TRUE(screening.slow.empty());
  EXPECT_EQ(screening.within_hosts.links, 12);
  EXPECT_EQ(screening.within_hosts.latency, 1e-6);
  EXPECT_EQ(screening.within_hosts.bandwidth, 10e9);
  EXPECT_EQ(screening.between_hosts.links, 16);
  EXPECT_EQ(screening.between_hosts.latency, 20e-6);
  EXPECT_EQ(screening.between_hosts.bandwidth, 1e9);
}

TEST_F(Screened, ALinkWithLessThanHalfTheMedianBandwidthIsSlow) {
  link(1, 6).bandwidth = 0.51e9;
  judge_links(screening, hosts);
  EXPECT_TRUE(screening.slow.empty());
  link(1, 6).bandwidth = 0.49e9;
  expect_slow(1, 6);
}

TEST_F(Screened, ALinkWithMoreThanTwiceTheMedianLatencyIsSlow) {
  link(4, 7).latency = 1.9e-6;
  judge_links(screening, hosts);
  EXPECT_TRUE(screening.slow.empty());
  link(4, 7).latency = 2.1e-6;
  expect_slow(4, 7);
}

TEST(Screening, ReportsNoSlowLinksWithoutMeasurements) {
  Screening screening;
  judge_links(screening, {});
  EXPECT_TRUE(screening.slow.empty());
  EXPECT_EQ(screening.within_hosts.links, 0);
}

}  // namespace
}  // namespace glinpack
