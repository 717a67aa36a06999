// Memory and processor of the host: aligned arrays, how much is free, what it is called.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "local/matrix_view.hpp"

namespace glinpack {

struct FreeAligned {
  void operator()(void* memory) const;
};

/// Elements on a 64-byte boundary: a cache line, an AVX-512 register.
template <class Real>
using AlignedArray = std::unique_ptr<Real[], FreeAligned>;

/// Zero-filled. Pages are touched first by `threads` threads, slice by slice, so that they spread over the memory of
/// a machine with several sockets. Throws std::runtime_error with the size and what is free when there is too little.
template <class Real>
AlignedArray<Real> allocate_zeroed(Index elements, int threads);

/// Bytes that can be allocated without swapping: what the kernel calls available, and no more than the control groups
/// of this process leave. 0 where the system does not say.
std::int64_t available_memory();

/// Bytes that this process may still map under its limit of address space (`ulimit -v`); 0 where there is none.
std::int64_t address_space_left();

/// "Intel(R) Xeon(R) ..."; "unknown processor" where the system does not say.
std::string processor_name();

/// The leading dimension of a matrix with rows of so many elements: every row starts on a cache line, and rows are not
/// a multiple of 4 KiB apart, where they would contend for the same sets of the caches. Narrow matrices, vectors above
/// all, are left as they are.
template <class Real>
Index padded_leading_dimension(Index columns);

}  // namespace glinpack
