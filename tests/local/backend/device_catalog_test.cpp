#include "backend/device_catalog.hpp"

#include <gtest/gtest.h>

namespace glinpack {
namespace {

DeviceDescription device(int index, bool usable, bool software) {
  DeviceDescription description;
  description.index = index;
  description.usable = usable;
  description.software = software;
  return description;
}

TEST(DeviceForLocalRank, AssignsUsableHardwareRoundRobin) {
  const std::vector<DeviceDescription> devices{device(0, true, false), device(1, false, false), device(2, true, false),
                                               device(3, true, true)};
  EXPECT_EQ(device_for_local_rank(devices, 0, true), 0);
  EXPECT_EQ(device_for_local_rank(devices, 1, true), 2);
  EXPECT_EQ(device_for_local_rank(devices, 2, true), 0);
}

TEST(DeviceForLocalRank, UsesSoftwareOnlyIfAllowed) {
  const std::vector<DeviceDescription> devices{device(0, false, false), device(1, true, true)};
  EXPECT_EQ(device_for_local_rank(devices, 3, true), 1);
  EXPECT_EQ(device_for_local_rank(devices, 3, false), -1);
  EXPECT_EQ(device_for_local_rank({}, 0, true), -1);
}

}  // namespace
}  // namespace glinpack
