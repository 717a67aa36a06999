#include "kernels/compute_memory.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/precision.hpp"
#include "host/host_memory.hpp"

namespace glinpack::compute {
namespace {

// Host memory to keep free if the driver displaces buffers: otherwise the system might kill the process.
constexpr std::int64_t left_to_host = std::int64_t{4} << 30;

}  // namespace

template <class Real>
ComputeMatrix<Real>::ComputeMatrix(ComputeDevice& device, Index rows, Index columns, Index stripe_width,
                                   std::int64_t buffer_bytes)
    : DeviceMatrix<Real>(rows, columns),
      stripe_width_(stripe_width),
      leading_dimension_(padded_columns(columns, stripe_width)) {
  constexpr auto element_bytes = static_cast<std::int64_t>(sizeof(Real));
  const Index stripes = stripes_of(columns, stripe_width);
  const Index stripe_elements = elements_of_stripe(rows, columns, stripe_width);
  stripes_each_ = std::clamp<Index>(buffer_bytes / (stripe_elements * element_bytes), 1, stripes);
  for (Index first = 0; first < stripes; first += stripes_each_) {
    const Index elements = std::min(stripes_each_, stripes - first) * stripe_elements;
    buffers_.push_back({0, round_up(elements, window_alignment)});
  }
  const std::int64_t bytes = stripes * stripe_elements * element_bytes;
  const std::int64_t free_bytes = device.free_memory();
  const bool too_large = free_bytes > 0 && bytes > free_bytes;
  if (!too_large && allocate(device, free_bytes)) return;
  std::string room = free_bytes > 0 ? fmt::format("{:.1f} GiB free", gibibytes(free_bytes)) : "too little room";
  if (displaced_bytes_ > 0) {
    room += fmt::format(", less for its driver: {:.1f} GiB are in host memory already, of which {:.1f} GiB are left",
                        gibibytes(displaced_bytes_), gibibytes(available_memory()));
  }
  throw std::runtime_error(fmt::format(
      "a local matrix of {} x {} ({} precision) takes {:.1f} GiB, but {} cannot hold it ({}): use a smaller N, more "
      "ranks or single precision{}",
      rows, columns, name_of(precision_of<Real>), gibibytes(bytes), device.description().renderer, room,
      device.description().software
          ? "; software " + device.description().api + " holds at most 2 GiB in a matrix, --backend openblas more"
          : ""));
}

// Returns false if neither the device nor the host has enough memory.
template <class Real>
bool ComputeMatrix<Real>::allocate(ComputeDevice& device, std::int64_t free_bytes) {
  std::int64_t made = 0;
  for (auto buffer = buffers_.rbegin(); buffer != buffers_.rend(); ++buffer) {
    const std::int64_t bytes = buffer->elements * static_cast<std::int64_t>(sizeof(Real));
    auto storage = device.allocate(bytes, Memory::matrix);
    if (!storage) return false;
    buffer->id = storage_.emplace_back(std::move(storage))->id();
    if (!device.fill(buffer->id, bytes, 0)) return false;
    if (device.description().software || buffers_.size() == 1) continue;  // a small buffer comes from the driver's pool
    device.finish();
    made += bytes;
    displaced_bytes_ = compute::displaced_bytes(made, free_bytes, device.free_memory());
    if (displaced_bytes_ == 0 || std::next(buffer) == buffers_.rend()) continue;
    const std::int64_t available = available_memory();
    if (available > 0 && available < bytes + left_to_host) return false;
  }
  return true;
}

std::int64_t displaced_bytes(std::int64_t bytes, std::int64_t free_before, std::int64_t free_after) {
  if (free_before <= 0) return 0;
  const std::int64_t displaced = bytes - (free_before - free_after);
  constexpr std::int64_t drivers_own = std::int64_t{512} << 20;
  return displaced < std::min(bytes / 16, drivers_own) ? 0 : std::min(displaced, bytes);
}

template <class Real>
Region region_of(const DeviceBlock<Real>& block) {
  const auto* matrix = dynamic_cast<const ComputeMatrix<Real>*>(block.matrix);
  if (!matrix) throw std::invalid_argument("the block is not of a matrix of a compute device");
  if (block.row < 0 || block.column < 0 || block.row + block.rows > matrix->rows() ||
      block.column + block.columns > matrix->columns()) {
    throw std::invalid_argument(fmt::format("block of {} x {} at ({}, {}) is beyond a matrix of {} x {}", block.rows,
                                            block.columns, block.row, block.column, matrix->rows(), matrix->columns()));
  }
  return matrix->region().block(block.row, block.column, block.rows, block.columns);
}

template <class Real>
Region region_of(const HostBlock<Real>& block) {
  const MappedBuffer<Real>& buffer = mapped_buffer_of(block);
  return {buffer.id(), buffer.elements(), block.offset, 0, block.rows, block.columns, block.leading_dimension, 0, 0};
}

template <class Real>
Region twin_region_of(const HostBlock<Real>& block) {
  Region region = region_of(block);
  region.buffer = mapped_buffer_of(block).twin();
  return region;
}

template class ComputeMatrix<float>;
template class ComputeMatrix<double>;
template Region region_of(const DeviceBlock<float>&);
template Region region_of(const DeviceBlock<double>&);
template Region region_of(const HostBlock<float>&);
template Region region_of(const HostBlock<double>&);
template Region twin_region_of(const HostBlock<float>&);
template Region twin_region_of(const HostBlock<double>&);

}  // namespace glinpack::compute
