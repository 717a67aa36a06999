// A Vulkan loader in place of the system's: on the rank LOST_DEVICE_RANK, the device is lost after LOST_DEVICE_AFTER
// submissions. If NO_DOUBLES is set, devices have no double precision.
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <vulkan/vulkan_core.h>

#include <cstdlib>
#include <string_view>

namespace {

PFN_vkGetDeviceProcAddr get_of_device = nullptr;
PFN_vkGetPhysicalDeviceFeatures2 get_features = nullptr;
PFN_vkQueueSubmit submit = nullptr;

int number_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? -1 : std::atoi(value);
}

VkResult VKAPI_PTR submit_or_lose(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
  static int left = number_of("LOST_DEVICE_AFTER");
  const int rank = number_of("LOST_DEVICE_RANK");
  const bool is_lost = rank >= 0 && rank == number_of("PMI_RANK") && --left < 0;  // of MPICH's launcher
  return is_lost ? VK_ERROR_DEVICE_LOST : submit(queue, count, infos, fence);
}

void VKAPI_PTR features_without_doubles(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2* features) {
  get_features(physical, features);
  if (std::getenv("NO_DOUBLES") != nullptr) features->features.shaderFloat64 = VK_FALSE;
}

PFN_vkVoidFunction VKAPI_PTR function_of_device(VkDevice device, const char* name) {
  const PFN_vkVoidFunction found = get_of_device(device, name);
  if (std::string_view(name) != "vkQueueSubmit") return found;
  submit = reinterpret_cast<PFN_vkQueueSubmit>(found);
  return reinterpret_cast<PFN_vkVoidFunction>(&submit_or_lose);
}

}  // namespace

extern "C" VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char* name) {
  static void* const loader = dlopen(GLINPACK_VULKAN_LOADER, RTLD_NOW | RTLD_NODELETE);
  if (loader == nullptr) return nullptr;
  const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(loader, "vkGetInstanceProcAddr"));
  const PFN_vkVoidFunction found = get(instance, name);
  if (std::string_view(name) == "vkGetPhysicalDeviceFeatures2") {
    get_features = reinterpret_cast<PFN_vkGetPhysicalDeviceFeatures2>(found);
    return reinterpret_cast<PFN_vkVoidFunction>(&features_without_doubles);
  }
  if (std::string_view(name) != "vkGetDeviceProcAddr") return found;
  get_of_device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(found);
  return reinterpret_cast<PFN_vkVoidFunction>(&function_of_device);
}
