#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/Public/resource_limits_c.h>
#include <spdlog/fmt/fmt.h>

#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/measuring.hpp"
#include "device/program_cache.hpp"
#include "device/shader_source.hpp"
#include "vulkan/device.hpp"

namespace glinpack::vulkan {
namespace {

std::vector<std::uint32_t> words_of(std::string_view bytes) {
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint32_t));
  return words;
}

std::vector<std::uint32_t> numbers_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::uint32_t>(stream), {}};
}

std::string spirv_key(std::string_view text) {
  const glslang::Version version = glslang::GetVersion();
  return fmt::format("SPIR-V by glslang {}.{}.{}\n{}", version.major, version.minor, version.patch, text);
}

/// With the data of an earlier VkPipelineCache, which it replaces by newer data.
VkPipeline make_pipeline(const LogicalDevice& device, std::span<const std::uint32_t> spirv,
                         std::span<const std::uint32_t> constants, std::vector<char>& data) {
  const Functions& vk = device.vk;
  const VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0,
                                             spirv.size_bytes(), spirv.data()};
  VkShaderModule module = VK_NULL_HANDLE;
  require(vk.CreateShaderModule(device.handle, &module_info, nullptr, &module), "vkCreateShaderModule");
  const VkPipelineCacheCreateInfo cache_info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, nullptr, 0, data.size(),
                                             data.data()};
  VkPipelineCache cache = VK_NULL_HANDLE;
  const VkResult cached = vk.CreatePipelineCache(device.handle, &cache_info, nullptr, &cache);
  std::vector<VkSpecializationMapEntry> entries;
  for (std::uint32_t i = 0; i < constants.size(); ++i) entries.push_back({i, i * 4, 4});
  const VkSpecializationInfo values{static_cast<std::uint32_t>(entries.size()), entries.data(), constants.size_bytes(),
                                    constants.data()};
  const VkComputePipelineCreateInfo info{.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                         .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                   .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                   .module = module,
                                                   .pName = "main",
                                                   .pSpecializationInfo = &values},
                                         .layout = device.pipeline_layout};
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result =
      cached == VK_SUCCESS ? vk.CreateComputePipelines(device.handle, cache, 1, &info, nullptr, &pipeline) : cached;
  std::size_t bytes = 0;
  vk.GetPipelineCacheData(device.handle, cache, &bytes, nullptr);
  data.resize(bytes);
  vk.GetPipelineCacheData(device.handle, cache, &bytes, data.data());
  vk.DestroyPipelineCache(device.handle, cache, nullptr);
  vk.DestroyShaderModule(device.handle, module, nullptr);
  require(result, "vkCreateComputePipelines");
  return pipeline;
}

/// SPIR-V of a complete GLSL compute shader. Throws std::runtime_error with glslang's log.
std::vector<std::uint32_t> compile_to_spirv(const std::string& text) {
  static std::mutex mutex;  // glslang's initialisation is one of the process
  const std::lock_guard lock(mutex);
  static const int initialised = glslang_initialize_process();
  if (initialised == 0) throw std::runtime_error("glslang does not start");
  const glslang_input_t input{
      .language = GLSLANG_SOURCE_GLSL,
      .stage = GLSLANG_STAGE_COMPUTE,
      .client = GLSLANG_CLIENT_VULKAN,
      .client_version = GLSLANG_TARGET_VULKAN_1_2,
      .target_language = GLSLANG_TARGET_SPV,
      .target_language_version = GLSLANG_TARGET_SPV_1_5,
      .code = text.c_str(),
      .default_version = 450,
      .default_profile = GLSLANG_CORE_PROFILE,
      .messages = static_cast<glslang_messages_t>(GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT),
      .resource = glslang_default_resource()};
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

/// Bits of the bindings that a module declares.
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

}  // namespace

Program::Program(std::shared_ptr<LogicalDevice> device, const ShaderSource& sources, const std::string& name,
                 const std::string& preamble)
    : device_(std::move(device)) {
  const double start = steady_seconds();
  const bool is_spirv = name.ends_with(".spv");
  const std::string text = is_spirv ? std::string(ShaderSource::embedded(name)) : sources.expand(name, preamble);
  const std::string pipeline_key =
      fmt::format("vulkan\n{}\n{}{}", device_->description.driver_key(), text, is_spirv ? preamble : "");
  const std::vector<std::uint32_t> constants = is_spirv ? numbers_of(preamble) : std::vector<std::uint32_t>{};
  const ProgramCache cache;
  const std::optional<ProgramBinary> module = cache.load(spirv_key(text)), pipeline = cache.load(pipeline_key);
  std::vector<char> data = pipeline ? pipeline->bytes : std::vector<char>{};
  std::vector<std::uint32_t> spirv;
  try {
    spirv = is_spirv ? words_of(text)
            : module ? words_of({module->bytes.data(), module->bytes.size()})
                     : compile_to_spirv(text);
    pipeline_ = make_pipeline(*device_, spirv, constants, data);
  } catch (const std::runtime_error& error) {
    if (is_spirv) throw std::runtime_error("shader '" + name + "' " + error.what());
    throw_shader_error("shader '" + name + "' " + error.what() + "\n" + with_line_numbers(text),
                       sources.overrides(name));
  }
  bindings_ = bindings_of(spirv);
  if (!is_spirv && !module) {
    const auto* const bytes = reinterpret_cast<const char*>(spirv.data());
    cache.store(spirv_key(text), {0, {bytes, bytes + sizeof(std::uint32_t) * spirv.size()}});
  }
  if (!pipeline) cache.store(pipeline_key, {0, data});
  log_program(name, pipeline && (is_spirv || module), start);
}

Program::~Program() {
  device_->retire(
      [&device = *device_, pipeline = pipeline_] { device.vk.DestroyPipeline(device.handle, pipeline, nullptr); });
}

void Program::set_words(int location, std::span<const std::int32_t> words) {
  std::memcpy(constants_.data() + 4 * location, words.data(), words.size_bytes());
}

}  // namespace glinpack::vulkan
