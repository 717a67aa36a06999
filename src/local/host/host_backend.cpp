#include "local/host/host_backend.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "local/parallel_for.hpp"

namespace glinpack {

namespace {

constexpr std::size_t alignment = 64;  // bytes: a cache line, and a vector register of AVX-512

// Rows a large power of two apart would share cache sets.
template <class Real>
Index padded_leading_dimension(Index columns) {
  constexpr Index line = static_cast<Index>(alignment / sizeof(Real));
  if (columns <= line) return std::max<Index>(1, columns);
  const Index padded = (columns + line - 1) / line * line;
  return padded % (16 * line) == 0 ? padded + line : padded;
}

template <class Real>
void copy_elements(RowMajorView<const Real> from, RowMajorView<Real> to) {
  for (Index i = 0; i < to.rows; ++i) std::copy_n(from.row(i), to.columns, to.row(i));
}

// to(j, i) <- from(i, j), in squares that fit the first-level cache, so that both sides use whole cache lines.
template <class Real>
void transpose(RowMajorView<const Real> from, RowMajorView<Real> to, int threads) {
  constexpr Index side = 32;
  parallel_for(from.rows * from.columns < Index{1} << 18 ? 1 : threads, from.rows, side, [&](Index begin, Index end) {
    for (Index i0 = begin; i0 < end; i0 += side) {
      const Index i1 = std::min(i0 + side, end);
      for (Index j0 = 0; j0 < from.columns; j0 += side) {
        const Index j1 = std::min(j0 + side, from.columns);
        for (Index j = j0; j < j1; ++j) {
          for (Index i = i0; i < i1; ++i) to(j, i) = from(i, j);
        }
      }
    }
  });
}

template <class Real>
class PlainHostBuffer final : public HostBuffer<Real> {
 public:
  explicit PlainHostBuffer(Index elements) : PlainHostBuffer(HostMemory<Real>(elements, 1), elements) {}

 private:
  PlainHostBuffer(HostMemory<Real> memory, Index elements)
      : HostBuffer<Real>(memory.data(), elements), memory_(std::move(memory)) {}
  HostMemory<Real> memory_;
};

}  // namespace

template <class Real>
HostMemory<Real>::HostMemory(Index elements, int threads) {
  constexpr Index most = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(Real)) - 64;
  const Index wanted = std::clamp<Index>(elements, 1, most);
  const std::size_t bytes = (static_cast<std::size_t>(wanted) * sizeof(Real) + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<Real*>(std::aligned_alloc(alignment, bytes)));
  if (!data_) {
    throw std::runtime_error("cannot allocate " + std::to_string(bytes) +
                             " bytes of host memory; a smaller N or more processes are needed");
  }
  constexpr Index page = Index{1} << 20;
  parallel_for(threads, wanted, page, [this](Index begin, Index end) { std::fill(&data_[begin], &data_[0] + end, Real{0}); });
}

template <class Real>
HostMatrix<Real>::HostMatrix(Index rows, Index columns, int threads)
    : DeviceMatrix<Real>(rows, columns),
      leading_dimension_(padded_leading_dimension<Real>(columns)),
      memory_(rows * leading_dimension_, threads) {}

template <class Real>
RowMajorView<Real> elements_of(const DeviceBlock<Real>& block) {
  const auto& matrix = static_cast<const HostMatrix<Real>&>(*block.matrix);
  return {matrix.data() + block.row * matrix.leading_dimension() + block.column, block.rows, block.columns,
          matrix.leading_dimension()};
}

template <class Real>
std::unique_ptr<DeviceMatrix<Real>> HostBackend<Real>::allocate(Index rows, Index columns) {
  return std::make_unique<HostMatrix<Real>>(rows, columns, threads_);
}

template <class Real>
std::unique_ptr<HostBuffer<Real>> HostBackend<Real>::allocate_host(Index elements) {
  return std::make_unique<PlainHostBuffer<Real>>(elements);
}

template <class Real>
Fence HostBackend<Real>::upload(HostBlock<Real> from, DeviceBlock<Real> to) {
  if (to.empty()) return {};
  const auto scope = moving(Phase::transfer, to.rows, to.columns);
  copy_elements<Real>(from.view(), elements_of(to));
  return {};
}

template <class Real>
Fence HostBackend<Real>::download(DeviceBlock<Real> from, HostBlock<Real> to) {
  if (from.empty()) return {};
  const auto scope = moving(Phase::transfer, from.rows, from.columns);
  copy_elements<Real>(elements_of(from), to.view());
  return {};
}

template <class Real>
Fence HostBackend<Real>::download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) {
  if (from.empty()) return {};
  const auto scope = moving(Phase::transfer, from.rows, from.columns);
  transpose<Real>(elements_of(from), to.view(), threads_);
  return {};
}

template <class Real>
void HostBackend<Real>::copy_transposed(DeviceBlock<Real> from, DeviceBlock<Real> to) {
  if (from.empty()) return;
  const auto scope = moving(Phase::transfer, from.rows, from.columns);
  transpose<Real>(elements_of(from), elements_of(to), threads_);
}

template <class Real>
void HostBackend<Real>::copy(DeviceBlock<Real> from, DeviceBlock<Real> to) {
  if (from.empty()) return;
  const auto scope = moving(Phase::transfer, from.rows, from.columns);
  copy_elements<Real>(elements_of(from), elements_of(to));
}

template <class Real>
Fence HostBackend<Real>::gather_rows(DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) {
  if (rows.empty() || from.columns <= 0) return {};
  const auto scope = moving(Phase::swap, to.rows, from.columns);
  const RowMajorView<Real> elements = elements_of(from);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(elements.row(rows[i]), from.columns, to.view().row(static_cast<Index>(i)));
  }
  return {};
}

template <class Real>
Fence HostBackend<Real>::scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) {
  if (rows.empty() || to.columns <= 0) return {};
  const auto scope = moving(Phase::swap, from.rows, to.columns);
  const RowMajorView<Real> elements = elements_of(to);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(from.view().row(static_cast<Index>(i)), to.columns, elements.row(rows[i]));
  }
  return {};
}

template <class Real>
void HostBackend<Real>::move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) {
  if (moves.empty() || block.columns <= 0) return;
  const auto count = static_cast<Index>(moves.size());
  const auto scope = moving(Phase::swap, count, block.columns);
  moved_rows_.resize(static_cast<std::size_t>(count * block.columns));
  const RowMajorView<Real> elements = elements_of(block);
  const RowMajorView<Real> moved{moved_rows_.data(), count, block.columns, block.columns};
  for (Index i = 0; i < count; ++i) std::copy_n(elements.row(moves[static_cast<std::size_t>(i)].from), block.columns, moved.row(i));
  for (Index i = 0; i < count; ++i) std::copy_n(moved.row(i), block.columns, elements.row(moves[static_cast<std::size_t>(i)].to));
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

template class HostMemory<float>;
template class HostMemory<double>;
template class HostMatrix<float>;
template class HostMatrix<double>;
template RowMajorView<float> elements_of(const DeviceBlock<float>&);
template RowMajorView<double> elements_of(const DeviceBlock<double>&);
template class HostBackend<float>;
template class HostBackend<double>;

}  // namespace glinpack
