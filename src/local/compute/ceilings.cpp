#include "compute/ceilings.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/precision.hpp"
#include "device/command_stream.hpp"
#include "device/mapped_buffer.hpp"

namespace glinpack::compute {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t min_copy = mebibyte;
constexpr std::int64_t group_copy = 32768;  // bytes that a work group of vector_copy.comp copies
constexpr std::int64_t read_back_bytes = 4096;

// as in fma_rate.comp
constexpr int fma_turns = 64;
constexpr double steps_a_turn = 8;
constexpr double vectors = 8;
constexpr double invocations = 256;

/// Varies, so that no driver can compress it; never 0, and computable for every word.
std::uint32_t pattern(std::int64_t word) { return static_cast<std::uint32_t>(word % (mebibyte / 4)) * 2654435761U + 1; }

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

class Probe {
 public:
  Probe(std::shared_ptr<ComputeDevice> device, const ShaderSource& sources, const MeasuringOptions& options)
      : device_(std::move(device)),
        fences_(device_),
        sources_(sources),
        options_(options),
        copy_program_(device_->make_program(sources_, "compute/vector_copy.comp", "")) {}

  DeviceCeilings measure() {
    DeviceCeilings ceilings;
    ceilings.device = device_->description();
    ceilings.read_back_bytes = read_back_bytes;
    const std::int64_t bytes = copy_bytes(ceilings.device);
    {
      const auto from = patterned_buffer(bytes), to = device_buffer(bytes);
      ceilings.copy = copying(from->id(), to->id(), bytes, 2.0 * static_cast<double>(bytes));
      ceilings.dispatch = dispatches(from->id(), to->id());
      ceilings.read_back = reading_back(from->id());
      const std::int64_t crossing = std::min(bytes, 64 * mebibyte);
      const auto host = MappedBuffer<float>::create(device_, crossing / 4);
      ceilings.download = copying(from->id(), host->id(), crossing, static_cast<double>(crossing));
      ceilings.upload = copying(host->id(), to->id(), crossing, static_cast<double>(crossing));
    }
    ceilings.fma_single = fma_rate<float>();
    if (ceilings.device.doubles) ceilings.fma_double = fma_rate<double>();
    return ceilings;
  }

  CopyCeiling measure_copy() {
    const std::int64_t bytes = copy_bytes(device_->description());
    const auto from = patterned_buffer(bytes), to = device_buffer(bytes);
    return copying(from->id(), to->id(), bytes, 2.0 * static_cast<double>(bytes));
  }
  template <class Real>
  Measured fma_rate() {
    constexpr Index max_groups = 32768;
    constexpr double elements = sizeof(Real) == 4 ? 4 : 2;
    constexpr double group_flops = 2 * fma_turns * steps_a_turn * vectors * elements * invocations;
    const auto program = device_->make_program(sources_, "compute/fma_rate.comp",
                                               sizeof(Real) == 8 ? "#define DOUBLE 1\n" : "#define DOUBLE 0\n");
    program->set(0, fma_turns);
    const auto factors = MappedBuffer<Real>::create(device_, 2);
    factors->data()[0] = factors->data()[1] = Real{1};
    const auto sums = MappedBuffer<float>::create(device_, max_groups);
    const auto run = [&](Index groups, std::int64_t rounds) {
      device_->bind(0, factors->id());
      device_->bind(1, sums->id());
      for (std::int64_t round = 0; round < rounds; ++round) {
        device_->dispatch(*program, groups);
        barrier();
      }
      fences_.finish();
    };
    // enough work groups for the cost of starting them, and of the last ones, to be negligible
    constexpr double long_enough = 5e-3;
    Index groups = 16;
    const MeasuringOptions once{.repeat = 1, .seconds = 0};
    while (groups < max_groups) {
      if (seconds_of_rounds(once, [&](std::int64_t rounds) { run(groups, rounds); }).front() > long_enough) break;
      groups *= 2;
    }
    std::fill_n(sums->data(), max_groups, 0.0F);
    const Measured rate = measured_rate(options_, group_flops * static_cast<double>(groups),
                                        [&](std::int64_t rounds) { run(groups, rounds); });
    for (Index group = 0; group < groups; ++group) {
      std::uint32_t sum = 0;
      std::memcpy(&sum, sums->data() + group, sizeof sum);
      if (sum != right_sum<Real>()) {
        throw std::runtime_error(fmt::format("{} computed wrongly: fused multiply-adds in {} precision do not add up",
                                             device_->description().renderer, name_of(precision_of<Real>)));
      }
    }
    return rate;
  }

 private:
  std::unique_ptr<DeviceBuffer> device_buffer(std::int64_t bytes) {
    auto buffer = device_->allocate(bytes, Memory::device);
    if (!buffer) {
      throw std::runtime_error(fmt::format("{} gives no buffer of {} MiB to measure with: is something else using it?",
                                           device_->description().renderer, bytes / mebibyte));
    }
    return buffer;
  }
  std::unique_ptr<DeviceBuffer> patterned_buffer(std::int64_t bytes) {
    auto buffer = device_buffer(bytes);
    std::int64_t filled = std::min(bytes, mebibyte);
    const auto words = MappedBuffer<float>::create(device_, filled / 4);
    for (std::int64_t word = 0; word < filled / 4; ++word) {
      const std::uint32_t value = pattern(word);
      std::memcpy(words->data() + word, &value, sizeof value);
    }
    device_->copy(words->id(), 0, buffer->id(), 0, filled);
    while (filled < bytes) {
      const std::int64_t more = std::min(filled, bytes - filled);
      device_->copy(buffer->id(), 0, buffer->id(), filled, more);
      filled += more;
    }
    return buffer;
  }

  void copy_once(CopyWay way, BufferId from, BufferId to, std::int64_t bytes) {
    if (way == CopyWay::driver) {
      device_->copy(from, 0, to, 0, bytes);
    } else {
      device_->bind(0, from, 0, bytes);
      device_->bind(1, to, 0, bytes);
      device_->dispatch(*copy_program_, bytes / group_copy);
    }
    barrier();
  }

  void check_copy(BufferId to, std::int64_t bytes) {
    const auto small = MappedBuffer<float>::create(device_, 1);
    for (const std::int64_t at : {std::int64_t{0}, bytes / 2, bytes - 4}) {
      device_->copy(to, at, small->id(), 0, 4);
      barrier();
      fences_.finish();
      std::uint32_t word = 0;
      std::memcpy(&word, small->data(), sizeof word);
      if (word != pattern(at / 4)) {
        throw std::runtime_error(fmt::format("{} copied wrongly: byte {} of {} is not what it was",
                                             device_->description().renderer, at, bytes));
      }
    }
  }

  CopyCeiling copying(BufferId from, BufferId to, std::int64_t bytes, double counted) {
    CopyCeiling best;
    for (const CopyWay way : {CopyWay::driver, CopyWay::shader}) {
      device_->fill(to, bytes, 0);
      barrier();
      const Measured rate = measured_rate(options_, counted, [&](std::int64_t rounds) {
        for (std::int64_t round = 0; round < rounds; ++round) copy_once(way, from, to, bytes);
        fences_.finish();
      });
      check_copy(to, bytes);
      if (rate.median > best.rate.median) best = {rate, way, bytes};
    }
    return best;
  }

  Measured dispatches(BufferId from, BufferId to) {
    return measured_seconds(options_, [&](std::int64_t rounds) {
      for (std::int64_t round = 0; round < rounds; ++round) copy_once(CopyWay::shader, from, to, group_copy);
      fences_.finish();
    });
  }
  Measured reading_back(BufferId from) {
    const auto target = MappedBuffer<float>::create(device_, read_back_bytes / 4);
    return measured_seconds(options_, [&](std::int64_t rounds) {
      for (std::int64_t round = 0; round < rounds; ++round) {
        copy_once(CopyWay::driver, from, target->id(), read_back_bytes);
        fences_.finish();
      }
    });
  }

  void barrier() { device_->barrier(Readers::shaders | Readers::copies | Readers::host); }

  std::shared_ptr<ComputeDevice> device_;
  Fences fences_;
  const ShaderSource& sources_;
  MeasuringOptions options_;
  std::unique_ptr<DeviceProgram> copy_program_;
};

}  // namespace

DeviceCeilings measure_device_ceilings(const std::shared_ptr<ComputeDevice>& device, const ShaderSource& sources,
                                       const MeasuringOptions& options) {
  return Probe(device, sources, options).measure();
}

CopyCeiling measure_device_copy(const std::shared_ptr<ComputeDevice>& device, const ShaderSource& sources,
                                const MeasuringOptions& options) {
  return Probe(device, sources, options).measure_copy();
}

Measured measure_device_fma(const std::shared_ptr<ComputeDevice>& device, const ShaderSource& sources,
                            Precision precision, const MeasuringOptions& options) {
  Probe probe(device, sources, options);
  return precision == Precision::double_ ? probe.fma_rate<double>() : probe.fma_rate<float>();
}

std::int64_t copy_bytes(const DeviceDescription& device) {
  std::int64_t bytes = device.software ? 32 * mebibyte : 1024 * mebibyte;
  if (device.storage_block > 0) bytes = std::min(bytes, device.storage_block);
  if (device.free_memory > 0) bytes = std::min(bytes, device.free_memory / 8);
  bytes = bytes / mebibyte * mebibyte;
  if (bytes < min_copy) {
    throw std::runtime_error(fmt::format(
        "{} has too little memory left to measure with: {} MiB; end what else is using it, or measure another device",
        device.renderer, device.free_memory / mebibyte));
  }
  return bytes;
}

}  // namespace glinpack::compute
