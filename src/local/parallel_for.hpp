// A loop over a range in equal slices, one thread each: for work on host memory that is not BLAS.
#pragma once

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack {

/// Calls body(begin, end) for `threads` adjoining slices of [0, count), at most one per `grain` items, and waits for
/// all. An exception of a slice is rethrown here.
template <class Body>
void parallel_for(int threads, Index count, Index grain, Body body) {
  const Index slices = std::clamp<Index>(count / std::max<Index>(1, grain), 1, std::max(1, threads));
  if (slices == 1) {
    body(Index{0}, count);
    return;
  }
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(slices));
  std::vector<std::thread> workers;
  const auto run_slice = [&](Index slice) {
    try {
      body(count * slice / slices, count * (slice + 1) / slices);
    } catch (...) {
      errors[static_cast<std::size_t>(slice)] = std::current_exception();
    }
  };
  for (Index slice = 0; slice < slices; ++slice) {
    try {
      workers.emplace_back(run_slice, slice);
    } catch (const std::system_error&) {
      run_slice(slice);  // no more threads are to be had here: slower, but right
    }
  }
  for (std::thread& worker : workers) worker.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace glinpack
