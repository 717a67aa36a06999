#pragma once

#include <atomic>

namespace glinpack::test {

/// While it is true, Vulkan's queues and waits report that the device was lost.
inline std::atomic<bool> vulkan_device_is_lost = false;
/// While it is true, Vulkan's devices have no double precision.
inline std::atomic<bool> vulkan_has_no_doubles = false;

}  // namespace glinpack::test
