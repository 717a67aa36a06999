#include "vulkan/functions.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string_view>

namespace glinpack::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

std::mutex message_mutex;
std::string first_message;

VkBool32 VKAPI_PTR keep_first_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                      const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  const std::lock_guard lock(message_mutex);
  if (first_message.empty()) first_message = data->pMessage;
  return VK_FALSE;
}

PFN_vkGetInstanceProcAddr loader() {
  // dlclose() would end threads of some drivers while they run: the library stays loaded
  static void* const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_NODELETE);
  if (!library) throw std::runtime_error("there is no libvulkan.so.1: install libvulkan1");
  const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (!get) throw std::runtime_error("libvulkan.so.1 has no vkGetInstanceProcAddr");
  return get;
}

template <class Function>
void load(Function& function, PFN_vkVoidFunction found, const char* name) {
  function = reinterpret_cast<Function>(found);
  if (!function) throw std::runtime_error(std::string("the Vulkan driver has no ") + name + ": install a newer one");
}

bool has_validation_layer(PFN_vkGetInstanceProcAddr get) {
  PFN_vkEnumerateInstanceLayerProperties enumerate = nullptr;
  load(enumerate, get(nullptr, "vkEnumerateInstanceLayerProperties"), "vkEnumerateInstanceLayerProperties");
  return std::ranges::any_of(listed<VkLayerProperties>(enumerate),
                             [](const auto& layer) { return std::string_view(layer.layerName) == validation_layer; });
}

Instance make_instance(bool debug) {
  const PFN_vkGetInstanceProcAddr get = loader();
  PFN_vkCreateInstance create = nullptr;
  load(create, get(nullptr, "vkCreateInstance"), "vkCreateInstance");
  const VkApplicationInfo application{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
  VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  const VkValidationFeatureEnableEXT synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  const VkValidationFeaturesEXT features{
      VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, nullptr, 1, &synchronization, 0, nullptr};
  constexpr VkDebugUtilsMessageSeverityFlagsEXT severities =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  VkDebugUtilsMessengerCreateInfoEXT messenger{.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
                                               .pNext = &features,
                                               .messageSeverity = severities,
                                               .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
                                               .pfnUserCallback = keep_first_message};
  const char* const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const bool validates = debug && has_validation_layer(get);
  if (validates) {
    info.pNext = &messenger;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &validation_layer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
  }
  Instance made;
  require(create(&info, nullptr, &made.handle), "vkCreateInstance");
#define GLINPACK_LOAD_FUNCTION(name) load(made.name, get(made.handle, "vk" #name), "vk" #name);
  GLINPACK_INSTANCE_FUNCTIONS(GLINPACK_LOAD_FUNCTION)
#undef GLINPACK_LOAD_FUNCTION
  made.cooperative_matrix_properties = reinterpret_cast<GetCooperativeMatrixProperties>(
      get(made.handle, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  if (validates) {
    PFN_vkCreateDebugUtilsMessengerEXT create_messenger = nullptr;
    load(create_messenger, get(made.handle, "vkCreateDebugUtilsMessengerEXT"), "vkCreateDebugUtilsMessengerEXT");
    messenger.pNext = nullptr;
    VkDebugUtilsMessengerEXT kept = VK_NULL_HANDLE;
    require(create_messenger(made.handle, &messenger, nullptr, &kept), "vkCreateDebugUtilsMessengerEXT");
  }
  return made;
}

}  // namespace

const Instance& instance_of_process(bool debug) {
  if (debug) {
    static Instance validating = make_instance(true);
    return validating;
  }
  static Instance plain = make_instance(false);
  return plain;
}

std::string take_validation_message() {
  const std::lock_guard lock(message_mutex);
  std::string message;
  message.swap(first_message);
  return message;
}

Functions functions_of(const Instance& instance, VkDevice device) {
  Functions functions;
#define GLINPACK_LOAD_FUNCTION(name) load(functions.name, instance.GetDeviceProcAddr(device, "vk" #name), "vk" #name);
  GLINPACK_DEVICE_FUNCTIONS(GLINPACK_LOAD_FUNCTION)
#undef GLINPACK_LOAD_FUNCTION
  functions.GetMemoryFdKHR =
      reinterpret_cast<PFN_vkGetMemoryFdKHR>(instance.GetDeviceProcAddr(device, "vkGetMemoryFdKHR"));
  return functions;
}

void require(VkResult result, const char* function) {
  if (result == VK_SUCCESS) return;
  if (result == VK_ERROR_DEVICE_LOST) {
    throw std::runtime_error("the device was lost: " + std::string(function) + " failed");
  }
  throw std::runtime_error(std::string(function) + " fails with VkResult " + std::to_string(result));
}

}  // namespace glinpack::vulkan
