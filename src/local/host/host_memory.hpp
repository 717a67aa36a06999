// Memory and processors of the host: aligned arrays, free memory, and the limits of control groups (versions 1 and 2).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/matrix_view.hpp"

namespace glinpack {

struct FreeAligned {
  void operator()(void* memory) const;
};

/// Elements on a 64-byte boundary: a cache line, an AVX-512 register.
template <class Real>
using AlignedArray = std::unique_ptr<Real[], FreeAligned>;

/// Not set. Throws std::runtime_error with the size and the free memory if there is too little.
template <class Real>
AlignedArray<Real> allocate_unset(Index elements);

/// Zero-filled. `threads` threads first touch the pages, slice by slice, which spreads them over the NUMA nodes. Throws
/// as allocate_unset().
template <class Real>
AlignedArray<Real> allocate_zeroed(Index elements, int threads);

/// Bytes that can be allocated without swapping: MemAvailable, and at most what the control groups of this process
/// allow. 0 if unknown.
std::int64_t available_memory();

/// Bytes that this process may still map below its address space limit (`ulimit -v`); 0 without a limit.
std::int64_t address_space_left();

/// "Intel(R) Xeon(R) ..."; "unknown processor" if the system does not report it.
std::string processor_name();

/// The leading dimension of a matrix with `columns` columns. Every row starts on a cache line, and rows are not a
/// multiple of 4 KiB apart, which would map them to the same cache sets. Narrow matrices and vectors are not padded.
template <class Real>
Index padded_leading_dimension(Index columns);

/// The bytes of a matrix of these rows and columns in host memory, with its padding.
std::int64_t host_matrix_bytes(Index rows, Index columns, std::int64_t element_bytes);

/// The number after "name" or "name:" in a file of such lines, such as /proc/meminfo.
std::optional<std::int64_t> number_named(const std::string& path, const std::string& name);

/// A line of /proc/meminfo, such as "MemTotal", in bytes; 0 if it is missing.
std::int64_t bytes_of_host_memory(const std::string& name);

/// Bytes below the tightest memory limit; inactive file pages count as free. None without a limit.
std::optional<std::int64_t> memory_left_by_control_groups();

/// The tightest processor quota in processors, rounded up; 0 without a quota.
int processor_limit_of_control_groups();

struct ThreadLimit {
  std::string variable;  // "OMP_NUM_THREADS"
  int threads = 1;
};

/// The number of threads by OPENBLAS_NUM_THREADS, else OMP_NUM_THREADS, as OpenBLAS reads them. None if neither begins
/// with a number above 0.
std::optional<ThreadLimit> thread_limit_of_environment();

}  // namespace glinpack
