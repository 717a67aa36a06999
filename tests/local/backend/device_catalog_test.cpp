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

DeviceDescription seen_by(const char* api, const char* uuid, bool usable = true) {
  DeviceDescription description = device(7, usable, false);
  description.api = api;
  description.uuid = uuid;
  return description;
}

TEST(SameDevices, HaveOneIndexInTheOrderOfTheFirstApi) {
  const auto devices = same_devices({{seen_by("OpenGL", "b"), seen_by("OpenGL", "a")},
                                     {seen_by("Vulkan", "a"), seen_by("Vulkan", "c"), seen_by("Vulkan", "b")}});
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].size(), 2u);
  EXPECT_EQ(devices[1].size(), 2u);
  ASSERT_EQ(devices[2].size(), 1u);
  EXPECT_EQ(devices[2].front().uuid, "c");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (const DeviceDescription& one : devices[i]) {
      EXPECT_EQ(one.index, static_cast<int>(i));
      EXPECT_EQ(one.uuid, devices[i].front().uuid);
    }
  }
}

TEST(SameDevices, AreThoseOfDifferentApisWithAKnownUuid) {
  EXPECT_EQ(same_devices({{seen_by("OpenGL", "")}, {seen_by("Vulkan", "")}}).size(), 2u);
  EXPECT_EQ(same_devices({{seen_by("OpenGL", "a"), seen_by("OpenGL", "a")},
                          {seen_by("Vulkan", "a"), seen_by("Vulkan", "a"), seen_by("Vulkan", "a")}})
                .size(),
            3u);
}

TEST(SameDevices, AreDescribedByTheFirstApiInWhichTheyAreUsable) {
  EXPECT_EQ(best_of({seen_by("OpenGL", "a"), seen_by("Vulkan", "a")}).api, "OpenGL");
  EXPECT_EQ(best_of({seen_by("OpenGL", "a", false), seen_by("Vulkan", "a")}).api, "Vulkan");
  EXPECT_EQ(best_of({seen_by("OpenGL", "a", false), seen_by("Vulkan", "a", false)}).api, "OpenGL");
}

}  // namespace
}  // namespace glinpack
