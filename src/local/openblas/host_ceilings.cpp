#include "openblas/host_ceilings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "base/threads.hpp"
#include "base/timeline.hpp"
#include "host/host_memory.hpp"
#include "openblas/blas.hpp"
#include "openblas/blas_library.hpp"

namespace glinpack {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// Free memory and address space, or `wanted` if neither is known.
std::int64_t free_memory(std::int64_t wanted) {
  const std::int64_t available = available_memory(), address_space = address_space_left();
  if (available > 0 && available < 64 * mebibyte) {
    throw std::runtime_error("the host has " + std::to_string(available / mebibyte) +
                             " MiB of memory left, too little to measure with: end other programs");
  }
  if (address_space > 0 && address_space < 64 * mebibyte) {
    throw std::runtime_error("the address space has " + std::to_string(address_space / mebibyte) +
                             " MiB left, too little to measure with: raise the limit (ulimit -v)");
  }
  std::int64_t min = available > 0 ? available : wanted;
  if (address_space > 0) min = std::min(min, address_space);
  return min;
}

/// C <- C - A B of square matrices; A and B have whole numbers of few digits.
template <class Real>
class Product {
 public:
  Product(Index n, int threads) : n_(n), a_(allocate(threads)), b_(allocate(threads)), c_(allocate(threads)) {
    for (Index e = 0; e < n * n; ++e) {
      a_[static_cast<std::size_t>(e)] = static_cast<Real>(e % 7 - 3);
      b_[static_cast<std::size_t>(e)] = static_cast<Real>(e % 5 - 2);
    }
  }

  void subtract(std::int64_t times) {
    for (std::int64_t time = 0; time < times; ++time, ++done_) {
      blas::gemm(CblasRowMajor, CblasNoTrans, n_, n_, n_, Real{-1}, a_.get(), n_, b_.get(), n_, Real{1}, c_.get(), n_);
    }
  }

  double flops() const { return product_flops(n_, n_, n_); }

  /// Throws std::runtime_error unless the last element is the expected sum of products.
  void check() const {
    double product = 0, magnitude = 0;
    for (Index k = 0; k < n_; ++k) {
      const double term = double{a_[at(n_ - 1, k)]} * double{b_[at(k, n_ - 1)]};
      product += term;
      magnitude += std::abs(term);
    }
    const auto times = static_cast<double>(done_);
    const double error = std::abs(double{c_[at(n_ - 1, n_ - 1)]} + times * product);
    if (!(error <= tolerance<Real>(n_ + done_) * (times * magnitude + 1))) {
      throw std::runtime_error("gemm of " + blas_version() + " in " + std::string(name_of(precision_of<Real>)) +
                               " precision is wrong with the kernels " + blas_kernels() +
                               ": choose others, for OpenBLAS by OPENBLAS_CORETYPE");
    }
  }

 private:
  AlignedArray<Real> allocate(int threads) const { return allocate_zeroed<Real>(n_ * n_, threads); }
  std::size_t at(Index i, Index j) const { return static_cast<std::size_t>(i * n_ + j); }

  Index n_;
  AlignedArray<Real> a_, b_, c_;
  std::int64_t done_ = 0;
};

/// The order at which a product takes a repetition's time, as far as that is reasonable and memory allows.
template <class Real>
Index gemm_order(int threads, const MeasuringOptions& options) {
  constexpr Index min = 256, max = 4096, step = 128;
  Product<Real> small(min, threads);
  const MeasuringOptions briefly{.repeat = 3, .seconds = 0.01};
  const double rate = measured_rate(briefly, small.flops(), [&](std::int64_t rounds) { small.subtract(rounds); }).max;
  const double by_time = std::cbrt(rate * options.seconds / options.repeat / 2);
  const std::int64_t free_bytes = free_memory(3 * max * max * static_cast<std::int64_t>(sizeof(Real)));
  const double by_memory = std::sqrt(static_cast<double>(free_bytes) / 2 / 3 / sizeof(Real));
  return std::clamp(static_cast<Index>(std::min(by_time, by_memory)) / step * step, min, max);
}

template <class Real>
Measured gemm_rate(int threads, const MeasuringOptions& options, Index& order) {
  order = gemm_order<Real>(threads, options);
  Product<Real> product(order, threads);
  const Measured rate = measured_rate(options, product.flops(), [&](std::int64_t rounds) { product.subtract(rounds); });
  product.check();
  return rate;
}

std::int64_t bytes_to_copy() {
  const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const std::int64_t wanted = std::clamp(2 * cache, 64 * mebibyte, 512 * mebibyte);
  return std::min(wanted, free_memory(wanted * 4) / 4) / mebibyte * mebibyte;
}

Measured copy_rate(int threads, const MeasuringOptions& options, std::int64_t bytes) {
  const auto from = allocate_zeroed<double>(bytes / 8, threads), to = allocate_zeroed<double>(bytes / 8, threads);
  ThreadTeam team(threads);
  const std::int64_t members = team.members();
  team.run([&](int member) {
    for (std::int64_t e = bytes / 8 * member / members; e < bytes / 8 * (member + 1) / members; ++e) {
      from[static_cast<std::size_t>(e)] = static_cast<double>(e);
    }
  });
  const Measured rate = measured_rate(options, 2.0 * static_cast<double>(bytes), [&](std::int64_t rounds) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      team.run([&](int member) {
        const std::int64_t begin = bytes / 8 * member / members, end = bytes / 8 * (member + 1) / members;
        std::memcpy(to.get() + begin, from.get() + begin, static_cast<std::size_t>(end - begin) * 8);
      });
    }
  });
  if (std::memcmp(from.get(), to.get(), static_cast<std::size_t>(bytes)) != 0) {
    throw std::runtime_error("copying within the host's memory gave other bytes: test its memory");
  }
  return rate;
}

}  // namespace

HostCeilings measure_host_ceilings(int threads, const MeasuringOptions& options) {
  HostCeilings ceilings;
  ceilings.processor = processor_name();
  ceilings.blas = blas_version();
  ceilings.kernels = blas_kernels();
  ceilings.threads = threads;
  reserve_blas_buffers(threads, 1);
  set_blas_threads(threads);
  ceilings.gemm_single = gemm_rate<float>(threads, options, ceilings.gemm_single_n);
  ceilings.gemm_double = gemm_rate<double>(threads, options, ceilings.gemm_double_n);
  ceilings.copy_bytes = bytes_to_copy();
  ceilings.copy = copy_rate(threads, options, ceilings.copy_bytes);
  return ceilings;
}

Measured measure_host_gemm(Precision precision, int threads, const MeasuringOptions& options) {
  reserve_blas_buffers(threads, 1);
  set_blas_threads(threads);
  Index order = 0;
  return precision == Precision::double_ ? gemm_rate<double>(threads, options, order)
                                         : gemm_rate<float>(threads, options, order);
}

Measured measure_host_copy(int threads, const MeasuringOptions& options) {
  return copy_rate(threads, options, bytes_to_copy());
}

}  // namespace glinpack
