#include "run/records.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "transport/wire.hpp"

namespace glinpack {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SensorShares, one_rank_per_machine_reads_the_packages_and_one_rank_reads_each_gpu) {
  const auto shares = sensor_shares({"a", "a", "b", "b"}, {{"package-0", "package-1", "0000:19:00.0"},
                                                           {"package-0", "package-1", "0000:3b:00.0"},
                                                           {"package-0", "0000:19:00.0"},
                                                           {"package-0", "0000:19:00.0"}});
  EXPECT_THAT(shares, ElementsAre(ElementsAre(0, 1, 2), ElementsAre(2), ElementsAre(0, 1), IsEmpty()));
}

TEST(SensorShares, a_sensor_that_the_first_rank_cannot_read_is_read_by_the_next) {
  EXPECT_THAT(sensor_shares({"a", "a"}, {{}, {"package-0"}}), ElementsAre(IsEmpty(), ElementsAre(0)));
  EXPECT_THAT(sensor_shares({}, {}), IsEmpty());
}

TEST(RankRecords, ArriveAsTheyWereSent) {
  RankRecord sent;
  sent.host = "node\xff";
  sent.backend.device_uuid = "GPU-1";
  sent.backend.device_index = -1;
  sent.mismatches = {{.pass = 4, .difference = std::numeric_limits<double>::infinity()}};
  sent.intervals = {{.start = 1, .end = 2, .pass = 5}, {.start = 2, .end = 3, .messages = 7}};
  sent.power.unread = {{sensors::Kind::gpu, "no driver"}};
  sent.power.read.resize(2);
  sent.power.read[0].info.id = "dram-0";
  sent.power.read[1].samples = {{.seconds = 0.5, .reading = {}}, {.seconds = 1.5, .reading = {}}};
  const std::string bytes = to_wire(sent);
  const auto received = from_wire<RankRecord>(bytes);
  EXPECT_EQ(to_wire(received), bytes);
  EXPECT_EQ(received.host, sent.host);
  EXPECT_EQ(received.backend.device_uuid, "GPU-1");
  EXPECT_EQ(received.backend.device_index, -1);
  EXPECT_EQ(received.mismatches.at(0).difference, sent.mismatches[0].difference);
  EXPECT_EQ(received.intervals.at(1).messages, 7);
  EXPECT_EQ(received.power.unread.at(0).why, "no driver");
  EXPECT_EQ(received.power.read.at(0).info.id, "dram-0");
  EXPECT_TRUE(std::isnan(received.power.read.at(0).info.power_limit_watts));
  EXPECT_EQ(received.power.read.at(1).samples.at(1).seconds, 1.5);
  EXPECT_THROW(from_wire<RankRecord>(bytes.substr(0, bytes.size() - 1)), std::logic_error);
}

}  // namespace
}  // namespace glinpack
