#include "gl/ceilings.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/precision.hpp"
#include "gl/command_stream.hpp"
#include "gl/context.hpp"
#include "gl/program.hpp"
#include "gl/storage.hpp"

namespace glinpack::gl {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t least_copy = mebibyte;
constexpr std::int64_t group_copy = 32768;  // bytes that a work group of vector_copy.comp copies
constexpr std::int64_t read_back_bytes = 4096;

// as in fma_rate.comp
constexpr GLint fma_turns = 64;
constexpr double steps_a_turn = 8;
constexpr double vectors = 8;
constexpr double invocations = 256;

/// Varies, so that no driver can compress it; never 0, and computable for every word.
std::uint32_t pattern(std::int64_t word) { return static_cast<std::uint32_t>(word % (mebibyte / 4)) * 2654435761U + 1; }

class Probe {
 public:
  Probe(int device, const MeasuringOptions& options, const std::string& shader_directory)
      : context_(Context::create(device)),
        fences_(context_),
        sources_(shader_directory),
        options_(options),
        copy_program_(Program::compute(context_, sources_, cache_, "compute/vector_copy.comp", "")) {}

  DeviceCeilings measure();
  CopyCeiling measure_copy();
  template <class Real>
  Measured fma_rate();

 private:
  BufferHandle device_buffer(std::int64_t bytes, GLbitfield flags = 0);
  BufferHandle patterned_buffer(std::int64_t bytes);
  void copy_once(CopyWay way, GLuint from, GLuint to, std::int64_t bytes);
  void check_copy(GLuint to, std::int64_t bytes);
  CopyCeiling copying(GLuint from, GLuint to, std::int64_t bytes, double counted);
  Measured dispatches(GLuint from, GLuint to);
  Measured reading_back(GLuint from);

  void wait() {
    fences_.note_commands();
    fences_.wait_idle();
    context_->throw_gl_error("the device reports a failed operation");
  }
  static void barrier() {
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT | GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
  }

  std::shared_ptr<Context> context_;
  Fences fences_;
  ShaderSource sources_;
  ProgramCache cache_;
  MeasuringOptions options_;
  Program copy_program_;
};

BufferHandle Probe::device_buffer(std::int64_t bytes, GLbitfield flags) {
  BufferHandle buffer(context_);
  if (!allocate_storage(*context_, buffer.id(), bytes, flags)) {
    throw std::runtime_error(fmt::format("{} gives no buffer of {} MiB to measure with: is something else using it?",
                                         context_->device().renderer, bytes / mebibyte));
  }
  return buffer;
}

BufferHandle Probe::patterned_buffer(std::int64_t bytes) {
  BufferHandle buffer = device_buffer(bytes, GL_DYNAMIC_STORAGE_BIT);
  std::vector<std::uint32_t> words(static_cast<std::size_t>(std::min(bytes, mebibyte) / 4));
  for (std::size_t word = 0; word < words.size(); ++word) words[word] = pattern(static_cast<std::int64_t>(word));
  auto filled = static_cast<std::int64_t>(words.size() * 4);
  glNamedBufferSubData(buffer.id(), 0, filled, words.data());
  while (filled < bytes) {
    const std::int64_t more = std::min(filled, bytes - filled);
    glCopyNamedBufferSubData(buffer.id(), buffer.id(), 0, filled, more);
    filled += more;
  }
  return buffer;
}

void Probe::copy_once(CopyWay way, GLuint from, GLuint to, std::int64_t bytes) {
  if (way == CopyWay::driver) {
    glCopyNamedBufferSubData(from, to, 0, 0, bytes);
  } else {
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, from, 0, bytes);
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 1, to, 0, bytes);
    copy_program_.use();
    glDispatchCompute(static_cast<GLuint>(bytes / group_copy), 1, 1);
  }
  barrier();
}

void Probe::check_copy(GLuint to, std::int64_t bytes) {
  const auto small = MappedBuffer<float>::create(context_, 1);
  for (const std::int64_t at : {std::int64_t{0}, bytes / 2, bytes - 4}) {
    glCopyNamedBufferSubData(to, small->id(), at, 0, 4);
    barrier();
    wait();
    std::uint32_t word = 0;
    std::memcpy(&word, small->data(), sizeof word);
    if (word != pattern(at / 4)) {
      throw std::runtime_error(
          fmt::format("{} copied wrongly: byte {} of {} is not what it was", context_->device().renderer, at, bytes));
    }
  }
}

CopyCeiling Probe::copying(GLuint from, GLuint to, std::int64_t bytes, double counted) {
  CopyCeiling best;
  for (const CopyWay way : {CopyWay::driver, CopyWay::shader}) {
    fill_with_zeros(context_, to, bytes);
    barrier();
    const Measured rate = measured_rate(options_, counted, [&](std::int64_t rounds) {
      for (std::int64_t round = 0; round < rounds; ++round) copy_once(way, from, to, bytes);
      wait();
    });
    check_copy(to, bytes);
    if (rate.median > best.rate.median) best = {rate, way, bytes};
  }
  return best;
}

/// The expected output of fma_rate.comp's work groups.
template <class Real>
std::uint32_t right_sum() {
  constexpr std::uint32_t elements = sizeof(Real) == 4 ? 32 : 16;
  constexpr auto steps = static_cast<std::uint32_t>(fma_turns * steps_a_turn);
  std::uint32_t sum = 0;
  for (std::uint32_t invocation = 0; invocation < invocations; ++invocation) {
    for (std::uint32_t start = 0; start < elements; ++start) sum += start + steps * (1 + invocation % 4);
  }
  return sum;
}

template <class Real>
Measured Probe::fma_rate() {
  constexpr GLuint most_groups = 32768;
  constexpr double elements = sizeof(Real) == 4 ? 4 : 2;
  constexpr double group_flops = 2 * fma_turns * steps_a_turn * vectors * elements * invocations;
  const Program program = Program::compute(context_, sources_, cache_, "compute/fma_rate.comp",
                                           sizeof(Real) == 8 ? "#define DOUBLE 1\n" : "#define DOUBLE 0\n");
  program.set(0, fma_turns);
  const auto factors = MappedBuffer<Real>::create(context_, 2);
  factors->data()[0] = factors->data()[1] = Real{1};
  const auto sums = MappedBuffer<float>::create(context_, most_groups);
  const auto run = [&](GLuint groups, std::int64_t rounds) {
    program.use();
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, factors->id());
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, sums->id());
    for (std::int64_t round = 0; round < rounds; ++round) {
      glDispatchCompute(groups, 1, 1);
      barrier();
    }
    wait();
  };
  // enough work groups for the cost of starting them, and of the last ones, to be negligible
  constexpr double long_enough = 5e-3;
  GLuint groups = 16;
  const MeasuringOptions once{.repeat = 1, .seconds = 0};
  while (groups < most_groups) {
    if (seconds_of_rounds(once, [&](std::int64_t rounds) { run(groups, rounds); }).front() > long_enough) break;
    groups *= 2;
  }
  std::fill_n(sums->data(), most_groups, 0.0F);
  const Measured rate =
      measured_rate(options_, group_flops * groups, [&](std::int64_t rounds) { run(groups, rounds); });
  for (GLuint group = 0; group < groups; ++group) {
    std::uint32_t sum = 0;
    std::memcpy(&sum, sums->data() + group, sizeof sum);
    if (sum != right_sum<Real>()) {
      throw std::runtime_error(fmt::format("{} computed wrongly: fused multiply-adds in {} precision do not add up",
                                           context_->device().renderer, name_of(precision_of<Real>)));
    }
  }
  return rate;
}

Measured Probe::dispatches(GLuint from, GLuint to) {
  return measured_seconds(options_, [&](std::int64_t rounds) {
    for (std::int64_t round = 0; round < rounds; ++round) copy_once(CopyWay::shader, from, to, group_copy);
    wait();
  });
}

Measured Probe::reading_back(GLuint from) {
  const auto target = MappedBuffer<float>::create(context_, read_back_bytes / 4);
  return measured_seconds(options_, [&](std::int64_t rounds) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      copy_once(CopyWay::driver, from, target->id(), read_back_bytes);
      wait();
    }
  });
}

CopyCeiling Probe::measure_copy() {
  const std::int64_t bytes = copy_bytes(context_->device());
  const BufferHandle from = patterned_buffer(bytes), to = device_buffer(bytes);
  return copying(from.id(), to.id(), bytes, 2.0 * static_cast<double>(bytes));
}

DeviceCeilings Probe::measure() {
  DeviceCeilings ceilings;
  ceilings.device = context_->device();
  ceilings.read_back_bytes = read_back_bytes;
  const std::int64_t bytes = copy_bytes(ceilings.device);
  {
    const BufferHandle from = patterned_buffer(bytes), to = device_buffer(bytes);
    ceilings.copy = copying(from.id(), to.id(), bytes, 2.0 * static_cast<double>(bytes));
    ceilings.dispatch = dispatches(from.id(), to.id());
    ceilings.read_back = reading_back(from.id());
    const std::int64_t crossing = std::min(bytes, 64 * mebibyte);
    const auto host = MappedBuffer<float>::create(context_, crossing / 4);
    ceilings.download = copying(from.id(), host->id(), crossing, static_cast<double>(crossing));
    ceilings.upload = copying(host->id(), to.id(), crossing, static_cast<double>(crossing));
  }
  ceilings.fma_single = fma_rate<float>();
  ceilings.fma_double = fma_rate<double>();
  return ceilings;
}

}  // namespace

DeviceCeilings measure_device_ceilings(int device, const MeasuringOptions& options,
                                       const std::string& shader_directory) {
  return Probe(device, options, shader_directory).measure();
}

CopyCeiling measure_device_copy(int device, const MeasuringOptions& options, const std::string& shader_directory) {
  return Probe(device, options, shader_directory).measure_copy();
}

Measured measure_device_fma(int device, Precision precision, const MeasuringOptions& options,
                            const std::string& shader_directory) {
  const CurrentContextGuard restore_current_context;  // of a backend
  Probe probe(device, options, shader_directory);
  return precision == Precision::double_ ? probe.fma_rate<double>() : probe.fma_rate<float>();
}

std::int64_t copy_bytes(const DeviceDescription& device) {
  std::int64_t bytes = device.software ? 32 * mebibyte : 1024 * mebibyte;
  if (device.storage_block > 0) bytes = std::min(bytes, device.storage_block);
  if (device.free_memory > 0) bytes = std::min(bytes, device.free_memory / 8);
  bytes = bytes / mebibyte * mebibyte;
  if (bytes < least_copy) {
    throw std::runtime_error(fmt::format(
        "{} has too little memory left to measure with: {} MiB; end what else is using it, or measure another device",
        device.renderer, device.free_memory / mebibyte));
  }
  return bytes;
}

}  // namespace glinpack::gl
