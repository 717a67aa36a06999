// Programs of Vulkan: SPIR-V by glslang, and its pipeline.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/non_copyable.hpp"
#include "device/compute_device.hpp"
#include "vulkan/logical_device.hpp"

namespace glinpack::vulkan {

class Program final : public DeviceProgram, NonCopyable {
 public:
  /// From the program cache if it holds it. Throws as ComputeDevice::make_program() does.
  Program(std::shared_ptr<LogicalDevice> device, const ShaderSource& sources, const std::string& name,
          const std::string& preamble);
  ~Program() override;

  VkPipeline pipeline() const { return pipeline_; }
  std::uint32_t bindings() const { return bindings_; }
  const void* constants() const { return constants_.data(); }

 protected:
  void set_words(int location, std::span<const std::int32_t> words) override;

 private:
  std::shared_ptr<LogicalDevice> device_;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  std::uint32_t bindings_ = 0;
  std::array<std::int32_t, LogicalDevice::constant_bytes / 4> constants_{};
};

}  // namespace glinpack::vulkan
