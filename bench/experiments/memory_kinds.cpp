// Copy rate of large buffers, and how much of them stays on the GPU, for memory from OpenGL, from Vulkan, and for
// resident buffers that a kernel reads through pointers (GL_NV_shader_buffer_load).
//
//   g++ -std=c++20 -O2 memory_kinds.cpp -o memory_kinds -lEGL -lGLEW -lOpenGL -ldl
//   for kind in gl vulkan vulkan-dedicated resident vulkan-resident; do ./memory_kinds DEVICE $kind GIBIBYTES; done
//
// One process per kind, so that each starts with an empty GPU. Rates count bytes read and bytes written.
//   "pair"    two buffers of 1 GiB: copied by kernels and by glCopyNamedBufferSubData
//   "single"  one allocation of the size: each half copied to the other in pieces of 1 GiB
//   "fill"    buffers of 2 GiB until GIBIBYTES or until the host loses 8 GiB; one line of memory figures every 16 GiB
//   "slow"    buffers of the fill whose copy runs below a quarter of the pair's rate: they are in host memory
#include <dlfcn.h>
#include <vulkan/vulkan_core.h>

#include <cstring>

#include "experiment.hpp"

namespace {

using namespace experiment;

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
constexpr int invocations = 256;

struct MemoryFigures {
  std::int64_t available = 0, evicted = 0, evictions = 0;      ///< of the GPU, by GL_NVX_gpu_memory_info
  std::int64_t anonymous = 0, shared = 0, host_available = 0;  ///< of the host
};

MemoryFigures memory_figures() {
  MemoryFigures figures;
  if (has_extension("GL_NVX_gpu_memory_info")) {
    figures.available = gl_integer(GL_GPU_MEMORY_INFO_CURRENT_AVAILABLE_VIDMEM_NVX) * 1024;
    figures.evicted = gl_integer(GL_GPU_MEMORY_INFO_EVICTED_MEMORY_NVX) * 1024;
    figures.evictions = gl_integer(GL_GPU_MEMORY_INFO_EVICTION_COUNT_NVX);
  }
  figures.anonymous = proc_bytes("/proc/self/status", "RssAnon");
  figures.shared = proc_bytes("/proc/self/status", "RssShmem") + proc_bytes("/proc/self/status", "RssFile");
  figures.host_available = proc_bytes("/proc/meminfo", "MemAvailable");
  return figures;
}

double in_gibibytes(std::int64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(gibibyte); }

void print_figures(const char* what, std::int64_t allocated, const MemoryFigures& now, const MemoryFigures& before) {
  std::printf(
      "%s: allocated %.1f GiB; GPU available %.2f GiB (%.2f taken), evicted %.2f GiB in %lld evictions; host: RssAnon "
      "+%.2f, RssFile and RssShmem +%.2f, MemAvailable -%.2f GiB\n",
      what, in_gibibytes(allocated), in_gibibytes(now.available), in_gibibytes(before.available - now.available),
      in_gibibytes(now.evicted - before.evicted), static_cast<long long>(now.evictions - before.evictions),
      in_gibibytes(now.anonymous - before.anonymous), in_gibibytes(now.shared - before.shared),
      in_gibibytes(before.host_available - now.host_available));
}

/// Vulkan device memory exported as file descriptors. Loaded at run time; no entry point is linked.
class VulkanMemory {
 public:
  /// Opens the Vulkan device that the OpenGL context runs on, else the first GPU.
  bool open() {
    void* library = dlopen("libvulkan.so.1", RTLD_NOW);
    if (!library) return report("no libvulkan.so.1");
    get_instance_function_ = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo instance_info{};
    instance_info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance_info.pApplicationInfo = &application;
    const auto create_instance = function<PFN_vkCreateInstance>("vkCreateInstance");
    if (!create_instance || create_instance(&instance_info, nullptr, &instance_) != VK_SUCCESS) {
      return report("vkCreateInstance failed");
    }
    std::uint32_t count = 0;
    const auto enumerate = function<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices");
    enumerate(instance_, &count, nullptr);
    std::vector<VkPhysicalDevice> devices(count);
    enumerate(instance_, &count, devices.data());
    if (devices.empty()) return report("no Vulkan device");
    physical_ = devices.front();
    std::array<GLubyte, GL_UUID_SIZE_EXT> wanted{};
    if (glGetUnsignedBytei_vEXT) glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, wanted.data());
    VkPhysicalDeviceMaintenance3Properties maintenance{};
    for (VkPhysicalDevice device : devices) {
      VkPhysicalDeviceIDProperties id{};
      id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
      maintenance = {};
      maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
      maintenance.pNext = &id;
      VkPhysicalDeviceProperties2 properties{};
      properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
      properties.pNext = &maintenance;
      function<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2")(device, &properties);
      std::printf("Vulkan device: %s, driver 0x%x, largest allocation %.2f GiB\n", properties.properties.deviceName,
                  properties.properties.driverVersion,
                  in_gibibytes(static_cast<std::int64_t>(maintenance.maxMemoryAllocationSize)));
      if (std::memcmp(id.deviceUUID, wanted.data(), wanted.size()) == 0) {
        physical_ = device;
        break;
      }
    }
    VkPhysicalDeviceMemoryProperties memory{};
    function<PFN_vkGetPhysicalDeviceMemoryProperties>("vkGetPhysicalDeviceMemoryProperties")(physical_, &memory);
    for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
      std::printf("Vulkan heap %u: %.2f GiB, flags %x\n", i,
                  in_gibibytes(static_cast<std::int64_t>(memory.memoryHeaps[i].size)), memory.memoryHeaps[i].flags);
    }
    memory_ = memory;
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    const std::array<const char*, 2> extensions{"VK_KHR_external_memory", "VK_KHR_external_memory_fd"};
    VkDeviceCreateInfo device_info{};
    device_info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    device_info.queueCreateInfoCount = 1;
    device_info.pQueueCreateInfos = &queue;
    device_info.enabledExtensionCount = extensions.size();
    device_info.ppEnabledExtensionNames = extensions.data();
    const VkResult result = function<PFN_vkCreateDevice>("vkCreateDevice")(physical_, &device_info, nullptr, &device_);
    if (result != VK_SUCCESS) return report("vkCreateDevice: " + std::to_string(result));
    return true;
  }

  /// An OpenGL buffer on new Vulkan device memory, 0 if Vulkan or OpenGL refuses.
  GLuint create_buffer(std::int64_t bytes, bool dedicated) {
    VkExternalMemoryBufferCreateInfo external{};
    external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
    external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkBufferCreateInfo buffer_info{};
    buffer_info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    buffer_info.pNext = &external;
    buffer_info.size = static_cast<VkDeviceSize>(bytes);
    buffer_info.usage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkResult result = function<PFN_vkCreateBuffer>("vkCreateBuffer")(device_, &buffer_info, nullptr, &buffer);
    if (result != VK_SUCCESS) return report("vkCreateBuffer: " + std::to_string(result));
    VkMemoryRequirements needs{};
    function<PFN_vkGetBufferMemoryRequirements>("vkGetBufferMemoryRequirements")(device_, buffer, &needs);
    VkMemoryDedicatedAllocateInfo dedicated_info{};
    dedicated_info.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
    dedicated_info.buffer = buffer;
    VkExportMemoryAllocateInfo export_info{};
    export_info.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
    export_info.pNext = dedicated ? &dedicated_info : nullptr;
    export_info.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkMemoryAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.pNext = &export_info;
    allocate.allocationSize = needs.size;
    for (std::uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
      if ((needs.memoryTypeBits >> i & 1) != 0 &&
          (memory_.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0) {
        allocate.memoryTypeIndex = i;
        break;
      }
    }
    VkDeviceMemory memory = VK_NULL_HANDLE;
    result = function<PFN_vkAllocateMemory>("vkAllocateMemory")(device_, &allocate, nullptr, &memory);
    if (result != VK_SUCCESS) {
      function<PFN_vkDestroyBuffer>("vkDestroyBuffer")(device_, buffer, nullptr);
      return report("vkAllocateMemory: " + std::to_string(result));
    }
    if (dedicated) function<PFN_vkBindBufferMemory>("vkBindBufferMemory")(device_, buffer, memory, 0);
    VkMemoryGetFdInfoKHR fd_info{};
    fd_info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
    fd_info.memory = memory;
    fd_info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    int fd = -1;
    result = function<PFN_vkGetMemoryFdKHR>("vkGetMemoryFdKHR")(device_, &fd_info, &fd);
    if (result != VK_SUCCESS) return report("vkGetMemoryFdKHR: " + std::to_string(result));
    GLuint object = 0, gl_buffer = 0;
    glCreateMemoryObjectsEXT(1, &object);
    if (dedicated) {
      const GLint yes = GL_TRUE;
      glMemoryObjectParameterivEXT(object, GL_DEDICATED_MEMORY_OBJECT_EXT, &yes);
    }
    glImportMemoryFdEXT(object, needs.size, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    glCreateBuffers(1, &gl_buffer);
    glNamedBufferStorageMemEXT(gl_buffer, bytes, object, 0);
    const GLenum error = glGetError();
    if (error != GL_NO_ERROR) {
      std::printf("import of Vulkan memory: OpenGL error 0x%x\n", error);
      return 0;
    }
    allocations_.push_back({gl_buffer, object, buffer, memory});
    return gl_buffer;
  }

  void destroy_buffer(GLuint gl_buffer) {
    for (const Allocation& allocation : allocations_) {
      if (allocation.gl_buffer != gl_buffer) continue;
      glDeleteMemoryObjectsEXT(1, &allocation.object);
      function<PFN_vkDestroyBuffer>("vkDestroyBuffer")(device_, allocation.buffer, nullptr);
      function<PFN_vkFreeMemory>("vkFreeMemory")(device_, allocation.memory, nullptr);
    }
    std::erase_if(allocations_, [&](const Allocation& allocation) { return allocation.gl_buffer == gl_buffer; });
  }

 private:
  struct Allocation {
    GLuint gl_buffer, object;
    VkBuffer buffer;
    VkDeviceMemory memory;
  };

  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(get_instance_function_(instance_, name));
  }

  static bool report(const std::string& message) {
    std::printf("Vulkan: %s\n", message.c_str());
    return false;
  }

  PFN_vkGetInstanceProcAddr get_instance_function_ = nullptr;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkPhysicalDeviceMemoryProperties memory_{};
  std::vector<Allocation> allocations_;
};

struct Buffer {
  GLuint name = 0;
  std::int64_t bytes = 0;
  GLuint64 address = 0;  ///< for kernels that use pointers, 0 for kernels that use bindings
};

/// Where buffers come from, and the kernels that copy and fill them.
class MemoryKind {
 public:
  explicit MemoryKind(const std::string& kind)
      : vulkan_(kind.rfind("vulkan", 0) == 0),
        dedicated_(kind == "vulkan-dedicated"),
        pointers_(kind.find("resident") != std::string::npos) {
    if (vulkan_ && (!has_extension("GL_EXT_memory_object_fd") || !vulkan_memory_.open())) fail("no Vulkan memory");
    if (pointers_ && !has_extension("GL_NV_shader_buffer_load")) fail("no GL_NV_shader_buffer_load");
    if (pointers_) {
      stores_by_pointer_ = true;
      const GLuint program = build_program(kernel(1, false), "copy kernel with stores by pointer");
      stores_by_pointer_ = program != 0;
      std::printf("stores by pointer: %s\n", stores_by_pointer_ ? "yes" : "no, by binding");
    }
    for (const int unrolled : {1, 4, 8, 16}) {
      const GLuint program = build_program(kernel(unrolled, false), "copy kernel");
      if (program) copies_.push_back({program, unrolled});
    }
    fill_ = {build_program(kernel(8, true), "fill kernel"), 8};
    if (copies_.empty() || fill_.program == 0) fail("the kernels do not build");
  }

  int copy_kernels() const { return static_cast<int>(copies_.size()); }
  int unrolled(int kernel) const { return copies_[static_cast<std::size_t>(kernel)].unrolled; }
  bool refuses_excess() const { return vulkan_; }

  Buffer create(std::int64_t bytes) {
    Buffer buffer{0, bytes, 0};
    if (vulkan_) {
      buffer.name = vulkan_memory_.create_buffer(bytes, dedicated_);
    } else {
      glCreateBuffers(1, &buffer.name);
      glNamedBufferStorage(buffer.name, bytes, nullptr, 0);
      if (const GLenum error = glGetError(); error != GL_NO_ERROR) {
        std::printf("glNamedBufferStorage: OpenGL error 0x%x\n", error);
        glDeleteBuffers(1, &buffer.name);
        buffer.name = 0;
      }
    }
    if (buffer.name && pointers_) {
      glMakeNamedBufferResidentNV(buffer.name, GL_READ_WRITE);
      glGetNamedBufferParameterui64vNV(buffer.name, GL_BUFFER_GPU_ADDRESS_NV, &buffer.address);
      if (const GLenum error = glGetError(); error != GL_NO_ERROR) {
        std::printf("glMakeNamedBufferResidentNV: OpenGL error 0x%x\n", error);
        buffer.name = 0;
      }
    }
    return buffer;
  }

  void destroy(Buffer& buffer) {
    const GLuint name = buffer.name;
    glDeleteBuffers(1, &buffer.name);
    glFinish();
    if (vulkan_) vulkan_memory_.destroy_buffer(name);
    buffer = {};
  }

  void copy(int kernel, const Buffer& from, std::int64_t from_offset, const Buffer& to, std::int64_t to_offset,
            std::int64_t bytes) const {
    launch(copies_[static_cast<std::size_t>(kernel)], &from, from_offset, to, to_offset, bytes);
  }

  void fill(const Buffer& to, std::int64_t offset, std::int64_t bytes) const {
    launch(fill_, nullptr, 0, to, offset, bytes);
  }

 private:
  struct Kernel {
    GLuint program = 0;
    int unrolled = 0;
  };

  /// All loads of an invocation come before its stores, so that they are in flight at once.
  std::string kernel(int unrolled, bool fills) const {
    std::string text = "#version 450\n";
    if (pointers_) {
      text +=
          "#extension GL_NV_gpu_shader5 : require\n#extension GL_NV_shader_buffer_load : require\n"
          "uniform uvec4* from;\n";
    } else {
      text += "layout(std430,binding=0) readonly restrict buffer From { uvec4 from[]; };\n";
    }
    text += stores_by_pointer_ ? "uniform uvec4* to;\n"
                               : "layout(std430,binding=1) writeonly restrict buffer To { uvec4 to[]; };\n";
    text +=
        "layout(location=8) uniform uint seed;\n"
        "uint noise(uint x) { x *= 747796405u; x = (x ^ (x >> 16)) * 2246822519u; x = (x ^ (x >> 13)) * 3266489917u; "
        "return x ^ (x >> 16); }\n";
    text += "layout(local_size_x=" + std::to_string(invocations) +
            ") in;\nvoid main(){ uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;\nuint i = "
            "group * " +
            std::to_string(invocations * unrolled) + "u + gl_LocalInvocationIndex;\n";
    for (int u = 0; u < unrolled; ++u) {
      const std::string index = "[int(i) + " + std::to_string(u * invocations) + "]";
      text += "uvec4 v" + std::to_string(u) + " = " + (fills ? noise(u) : "from" + index) + ";\n";
    }
    for (int u = 0; u < unrolled; ++u) {
      text += "to[int(i) + " + std::to_string(u * invocations) + "] = v" + std::to_string(u) + ";\n";
    }
    return text + "}\n";
  }

  /// Random words, which no memory compression makes smaller.
  static std::string noise(int u) {
    const std::string at = "(4u * (i + " + std::to_string(u * invocations) + "u) ^ seed";
    return "uvec4(noise" + at + "), noise" + at + " + 1u), noise" + at + " + 2u), noise" + at + " + 3u))";
  }

  void launch(const Kernel& kernel, const Buffer* from, std::int64_t from_offset, const Buffer& to,
              std::int64_t to_offset, std::int64_t bytes) const {
    glUseProgram(kernel.program);
    if (!from) {
      glUniform1ui(8, static_cast<GLuint>(to_offset / 4096 * 2654435761U));
    } else if (pointers_) {
      glUniformui64NV(glGetUniformLocation(kernel.program, "from"), from->address + static_cast<GLuint64>(from_offset));
    } else {
      glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, from->name, from_offset, bytes);
    }
    if (stores_by_pointer_) {
      glUniformui64NV(glGetUniformLocation(kernel.program, "to"), to.address + static_cast<GLuint64>(to_offset));
    } else {
      glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 1, to.name, to_offset, bytes);
    }
    const std::int64_t groups = bytes / (std::int64_t{16} * invocations * kernel.unrolled);
    const std::int64_t columns = std::min<std::int64_t>(groups, 32768);
    glDispatchCompute(static_cast<GLuint>(columns), static_cast<GLuint>(groups / columns), 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
  }

  bool vulkan_, dedicated_, pointers_, stores_by_pointer_ = false;
  VulkanMemory vulkan_memory_;
  std::vector<Kernel> copies_;
  Kernel fill_;
};

/// TB/s of copies, read and written bytes counted.
double terabytes_per_second(std::int64_t copied, double seconds) {
  return 2.0 * static_cast<double>(copied) / seconds * 1e-12;
}

struct BestCopy {
  int kernel = 0;
  double rate = 0;  ///< TB/s
};

/// Copies between two buffers with every kernel and with glCopyNamedBufferSubData. Returns the fastest kernel.
BestCopy measure_pair(MemoryKind& kind, std::int64_t bytes, int repeats) {
  Buffer from = kind.create(bytes), to = kind.create(bytes);
  if (!from.name || !to.name) fail("no memory for a pair of buffers");
  kind.fill(from, 0, bytes);
  kind.fill(to, 0, bytes);
  BestCopy best;
  for (int kernel = 0; kernel < kind.copy_kernels(); ++kernel) {
    raise_clocks();
    const double seconds = median_seconds(repeats, [&] { kind.copy(kernel, from, 0, to, 0, bytes); });
    const double burst = median_seconds(repeats / 2, [&] {
      for (int i = 0; i < 10; ++i) kind.copy(kernel, from, 0, to, 0, bytes);
    });
    const double rate = terabytes_per_second(bytes, seconds), burst_rate = terabytes_per_second(bytes * 10, burst);
    std::printf("pair of %.3f GiB, kernel with %2d vec4 an invocation: %.3f TB/s alone, %.3f TB/s in a row of ten\n",
                in_gibibytes(bytes), kind.unrolled(kernel), rate, burst_rate);
    if (burst_rate > best.rate) best = {kernel, burst_rate};
  }
  const double fill_seconds = median_seconds(repeats, [&] {
    for (int i = 0; i < 10; ++i) kind.fill(to, 0, bytes);
  });
  std::printf("pair of %.3f GiB, fill kernel: %.3f TB/s written\n", in_gibibytes(bytes),
              terabytes_per_second(bytes * 10, fill_seconds) / 2);
  for (std::int64_t part = bytes; part >= bytes / 256; part /= 16) {
    raise_clocks();
    const double seconds = median_seconds(repeats, [&] { glCopyNamedBufferSubData(from.name, to.name, 0, 0, part); });
    const double burst = median_seconds(repeats / 2, [&] {
      for (int i = 0; i < 10; ++i) glCopyNamedBufferSubData(from.name, to.name, 0, 0, part);
    });
    std::printf("pair, glCopyNamedBufferSubData of %.3f GiB: %.3f TB/s alone, %.3f TB/s in a row of ten, error 0x%x\n",
                in_gibibytes(part), terabytes_per_second(part, seconds), terabytes_per_second(part * 10, burst),
                glGetError());
  }
  // The copy of other content must arrive.
  kind.fill(from, 4096, bytes / 2);
  kind.copy(best.kernel, from, 0, to, 0, bytes);
  std::array<GLuint, 4> sent{}, received{};
  glGetNamedBufferSubData(from.name, bytes / 2, 16, sent.data());
  glGetNamedBufferSubData(to.name, bytes / 2, 16, received.data());
  std::printf("pair check: %s\n", sent == received && sent[0] != 0 ? "equal" : "NOT EQUAL");
  kind.destroy(from);
  kind.destroy(to);
  return best;
}

/// False if the next larger size must not be tried.
bool measure_single(MemoryKind& kind, std::int64_t bytes, std::int64_t window, const BestCopy& best) {
  const MemoryFigures before = memory_figures();
  Buffer buffer = kind.create(bytes);
  if (!buffer.name) {
    std::printf("single %.0f GiB: refused\n", in_gibibytes(bytes));
    return false;
  }
  const double fill_seconds = wall_seconds([&] {
    for (std::int64_t offset = 0; offset < bytes; offset += window) kind.fill(buffer, offset, window);
  });
  const MemoryFigures now = memory_figures();
  const std::int64_t lost = before.host_available - now.host_available;
  const std::int64_t half = bytes / 2;
  const auto copy_half = [&] {
    for (std::int64_t offset = 0; offset < half; offset += window) {
      kind.copy(best.kernel, buffer, offset, buffer, half + offset, window);
    }
  };
  raise_clocks();
  wall_seconds(copy_half);
  const double seconds = wall_seconds(copy_half);
  std::printf("single %.0f GiB: first touch %.3f s, copy of half %.3f TB/s, error 0x%x\n", in_gibibytes(bytes),
              fill_seconds, terabytes_per_second(half, seconds), glGetError());
  print_figures("single", bytes, now, before);
  if (lost > 8 * gibibyte) std::printf("single: the host lost more than 8 GiB\n");
  kind.destroy(buffer);
  return lost <= 8 * gibibyte;
}

void measure_fill(MemoryKind& kind, std::int64_t total, std::int64_t piece, const BestCopy& best) {
  const MemoryFigures before = memory_figures();
  std::vector<Buffer> buffers;
  std::int64_t allocated = 0;
  while (allocated + piece <= total) {
    Buffer buffer = kind.create(piece);
    if (!buffer.name) break;
    kind.fill(buffer, 0, piece / 2);
    kind.fill(buffer, piece / 2, piece / 2);
    glFinish();
    if (glGetError() == GL_OUT_OF_MEMORY) std::printf("fill: OpenGL out of memory\n");
    buffers.push_back(buffer);
    allocated += piece;
    const MemoryFigures now = memory_figures();
    if (allocated % (8 * piece) == 0 || allocated + piece > total) print_figures("fill", allocated, now, before);
    const std::int64_t grown = now.anonymous - before.anonymous + now.shared - before.shared;
    if (before.host_available - now.host_available > 8 * gibibyte || grown > 8 * gibibyte) {
      print_figures("fill stops, the host lost 8 GiB", allocated, now, before);
      break;
    }
  }
  if (buffers.empty()) return;
  print_figures("fill end", allocated, memory_figures(), before);
  const auto copy_all = [&] {
    for (const Buffer& buffer : buffers) kind.copy(best.kernel, buffer, 0, buffer, piece / 2, piece / 2);
  };
  const double clock = raise_clocks();
  wall_seconds(copy_all);
  const double all_seconds = wall_seconds(copy_all);
  std::printf("fill: copy within all of %.0f GiB at once %.3f TB/s (clock kernel %.1f TFLOPS)\n",
              in_gibibytes(allocated), terabytes_per_second(allocated / 2, all_seconds), clock);
  raise_clocks();
  int slow = 0;
  double slowest = 1e9, fastest = 0;
  std::string slow_places;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto copy_one = [&] { kind.copy(best.kernel, buffers[i], 0, buffers[i], piece / 2, piece / 2); };
    const double rate = terabytes_per_second(piece / 2, std::min(wall_seconds(copy_one), wall_seconds(copy_one)));
    slowest = std::min(slowest, rate);
    fastest = std::max(fastest, rate);
    if (rate < best.rate / 4) {
      ++slow;
      if (slow_places.size() < 100) slow_places += " " + std::to_string(i);
    }
  }
  std::printf(
      "slow: %d of %zu buffers of %.2f GiB are in host memory (buffers%s): %.1f GiB on the GPU; rates %.3f to %.3f "
      "TB/s\n",
      slow, buffers.size(), in_gibibytes(piece), slow ? slow_places.c_str() : " none",
      in_gibibytes(allocated - slow * piece), slowest, fastest);
  if (buffers.size() > 2) {
    // Buffer to buffer, each read once and written once, without the buffers in host memory.
    const double seconds = wall_seconds([&] {
      for (std::size_t i = 0; i + 1 < buffers.size() / 2; i += 2) {
        kind.copy(best.kernel, buffers[i], 0, buffers[i + 1], 0, piece / 2);
        kind.copy(best.kernel, buffers[i], piece / 2, buffers[i + 1], piece / 2, piece / 2);
      }
    });
    const std::int64_t copied = static_cast<std::int64_t>(buffers.size() / 2 / 2) * piece;
    std::printf("fill: copy between buffers of the first half %.3f TB/s\n", terabytes_per_second(copied, seconds));
  }
  for (Buffer& buffer : buffers) kind.destroy(buffer);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: memory_kinds DEVICE gl|vulkan|vulkan-dedicated|resident|vulkan-resident GIBIBYTES");
  open_context(std::atoi(argv[1]));
  std::printf("kind: %s\n", argv[2]);
  const bool software = is_software_renderer();
  MemoryKind kind(argv[2]);
  const std::int64_t scale = software ? 256 : 1;  // a software renderer is here to test the program
  const std::int64_t unit = gibibyte / scale;
  print_figures("start", 0, memory_figures(), memory_figures());
  const BestCopy best = measure_pair(kind, unit, software ? 2 : 9);
  const std::int64_t total = std::atoll(argv[3]) * unit;
  // Vulkan refuses what the GPU cannot hold. OpenGL would put a buffer of 128 GiB into host memory.
  for (const std::int64_t size : {8, 32, 64, 100, 128}) {
    if (size * unit > total || (size > 100 && !kind.refuses_excess())) break;
    if (!measure_single(kind, size * unit, unit, best)) break;
  }
  measure_fill(kind, total, 2 * unit, best);
  print_figures("end, all deleted", 0, memory_figures(), memory_figures());
  std::printf("done\n");
  return 0;
}
