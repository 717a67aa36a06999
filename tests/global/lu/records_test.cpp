#include "lu/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace glinpack
