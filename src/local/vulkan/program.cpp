#include "vulkan/program.hpp"

#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "device/program_cache.hpp"
#include "device/shader_source.hpp"

namespace glinpack::vulkan {
namespace {

using Clock = std::chrono::steady_clock;

/// What the cache keeps of a program.
struct Compiled {
  std::vector<std::uint32_t> spirv;
  std::vector<char> pipeline;  // VkPipelineCache's data
};

constexpr std::uint32_t cache_format = 1;  // number of SPIR-V's words, SPIR-V, pipeline

Compiled unpacked(const ProgramBinary& binary) {
  std::uint32_t words = 0;
  Compiled compiled;
  if (binary.format != cache_format || binary.bytes.size() < sizeof words) return compiled;
  std::memcpy(&words, binary.bytes.data(), sizeof words);
  const std::size_t bytes = std::size_t{words} * sizeof words;
  if (binary.bytes.size() - sizeof words < bytes) return compiled;
  compiled.spirv.resize(words);
  std::memcpy(compiled.spirv.data(), binary.bytes.data() + sizeof words, bytes);
  compiled.pipeline.assign(binary.bytes.begin() + static_cast<std::ptrdiff_t>(sizeof words + bytes),
                           binary.bytes.end());
  return compiled;
}

ProgramBinary packed(const Compiled& compiled) {
  const auto words = static_cast<std::uint32_t>(compiled.spirv.size());
  ProgramBinary binary{cache_format, std::vector<char>((compiled.spirv.size() + 1) * sizeof words)};
  std::memcpy(binary.bytes.data(), &words, sizeof words);
  std::memcpy(binary.bytes.data() + sizeof words, compiled.spirv.data(), compiled.spirv.size() * sizeof words);
  binary.bytes.insert(binary.bytes.end(), compiled.pipeline.begin(), compiled.pipeline.end());
  return binary;
}

/// Makes the pipeline, with the data of a cache, which it replaces by newer data.
VkPipeline make_pipeline(const LogicalDevice& device, Compiled& compiled) {
  const Functions& vk = device.vk;
  VkShaderModuleCreateInfo module_info{};
  module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  module_info.codeSize = compiled.spirv.size() * sizeof(std::uint32_t);
  module_info.pCode = compiled.spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  require(vk.CreateShaderModule(device.handle, &module_info, nullptr, &module), "vkCreateShaderModule");
  VkPipelineCacheCreateInfo cache_info{};
  cache_info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  cache_info.initialDataSize = compiled.pipeline.size();
  cache_info.pInitialData = compiled.pipeline.data();
  VkPipelineCache cache = VK_NULL_HANDLE;
  const VkResult cached = vk.CreatePipelineCache(device.handle, &cache_info, nullptr, &cache);
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.layout = device.pipeline_layout;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result =
      cached == VK_SUCCESS ? vk.CreateComputePipelines(device.handle, cache, 1, &info, nullptr, &pipeline) : cached;
  std::size_t bytes = 0;
  vk.GetPipelineCacheData(device.handle, cache, &bytes, nullptr);
  compiled.pipeline.resize(bytes);
  vk.GetPipelineCacheData(device.handle, cache, &bytes, compiled.pipeline.data());
  vk.DestroyPipelineCache(device.handle, cache, nullptr);
  vk.DestroyShaderModule(device.handle, module, nullptr);
  require(result, "vkCreateComputePipelines");
  return pipeline;
}

}  // namespace

std::vector<std::uint32_t> compile_to_spirv(const std::string& text) {
  static std::mutex mutex;  // glslang's initialisation is one of the process
  const std::lock_guard lock(mutex);
  static const int initialised = glslang_initialize_process();
  if (initialised == 0) throw std::runtime_error("glslang does not start");
  glslang_input_t input{};
  input.language = GLSLANG_SOURCE_GLSL;
  input.stage = GLSLANG_STAGE_COMPUTE;
  input.client = GLSLANG_CLIENT_VULKAN;
  input.client_version = GLSLANG_TARGET_VULKAN_1_2;
  input.target_language = GLSLANG_TARGET_SPV;
  input.target_language_version = GLSLANG_TARGET_SPV_1_5;
  input.code = text.c_str();
  input.default_version = 450;
  input.default_profile = GLSLANG_CORE_PROFILE;
  input.messages = static_cast<glslang_messages_t>(GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT);
  input.resource = glslang_default_resource();
  const auto shader = std::unique_ptr<glslang_shader_t, decltype(&glslang_shader_delete)>(glslang_shader_create(&input),
                                                                                          glslang_shader_delete);
  if (glslang_shader_preprocess(shader.get(), &input) == 0 || glslang_shader_parse(shader.get(), &input) == 0) {
    throw std::runtime_error(std::string("does not compile:\n") + glslang_shader_get_info_log(shader.get()));
  }
  const auto program = std::unique_ptr<glslang_program_t, decltype(&glslang_program_delete)>(glslang_program_create(),
                                                                                             glslang_program_delete);
  glslang_program_add_shader(program.get(), shader.get());
  if (glslang_program_link(program.get(), input.messages) == 0) {
    throw std::runtime_error(std::string("does not link:\n") + glslang_program_get_info_log(program.get()));
  }
  glslang_program_SPIRV_generate(program.get(), GLSLANG_STAGE_COMPUTE);
  std::vector<std::uint32_t> spirv(glslang_program_SPIRV_get_size(program.get()));
  glslang_program_SPIRV_get(program.get(), spirv.data());
  return spirv;
}

std::uint32_t bindings_of(std::span<const std::uint32_t> spirv) {
  constexpr std::size_t head = 5;
  constexpr std::uint32_t decorate = 71, binding = 33;
  std::uint32_t bits = 0;
  for (std::size_t at = head; at < spirv.size();) {
    const std::uint32_t operation = spirv[at] & 0xffffU, words = spirv[at] >> 16;
    if (words == 0 || at + words > spirv.size()) break;
    if (operation == decorate && words == 4 && spirv[at + 2] == binding) bits |= 1U << spirv[at + 3];
    at += words;
  }
  return bits;
}

Program::Program(std::shared_ptr<LogicalDevice> device, const ShaderSource& sources, const std::string& name,
                 const std::string& preamble)
    : device_(std::move(device)) {
  const auto start = Clock::now();
  const bool is_spirv = name.ends_with(".spv");
  const std::string text = is_spirv ? std::string(ShaderSource::embedded(name)) : sources.expand(name, preamble);
  const DeviceDescription& description = device_->description;
  const std::string key =
      "vulkan\n" + description.vendor + "\n" + description.renderer + "\n" + description.version + "\n" + text;
  const ProgramCache cache;
  const std::optional<ProgramBinary> stored = cache.load(key);
  Compiled compiled = stored ? unpacked(*stored) : Compiled{};
  const bool from_cache = !compiled.spirv.empty();
  try {
    if (!from_cache && is_spirv) {
      compiled.spirv.resize(text.size() / sizeof(std::uint32_t));
      std::memcpy(compiled.spirv.data(), text.data(), text.size());
    } else if (!from_cache) {
      compiled.spirv = compile_to_spirv(text);
    }
    pipeline_ = make_pipeline(*device_, compiled);
  } catch (const std::runtime_error& error) {
    if (is_spirv) throw std::runtime_error("shader '" + name + "' " + error.what());
    throw_shader_error("shader '" + name + "' " + error.what() + "\n" + with_line_numbers(text),
                       sources.overrides(name));
  }
  bindings_ = bindings_of(compiled.spirv);
  if (!from_cache) cache.store(key, packed(compiled));
  const std::chrono::duration<double, std::milli> time = Clock::now() - start;
  spdlog::debug("program {}: {} in {:.1f} ms", name, from_cache ? "from the cache" : "compiled", time.count());
}

Program::~Program() { device_->retire({VK_NULL_HANDLE, VK_NULL_HANDLE, pipeline_}); }

void Program::set_words(int location, std::span<const std::int32_t> words) {
  std::memcpy(constants_.data() + 4 * location, words.data(), words.size_bytes());
}

}  // namespace glinpack::vulkan
