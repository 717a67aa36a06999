#include "lu/panel/panel.hpp"

#include <cstring>

namespace glinpack {

namespace {

constexpr Index cache_line = 64;  // bytes

}  // namespace

template <class Real>
Index panel_header_elements(Index width) {
  return round_up((width + 1) * static_cast<Index>(sizeof(std::int64_t)), cache_line) /
         static_cast<Index>(sizeof(Real));
}

// Pads tall panels. Columns at a multiple of a large power of two would share cache sets.
Index padded_panel_rows(Index rows) { return rows < 512 ? rows : round_up(rows, 16) + 16; }

template <class Real>
Index panel_message_elements(Index rows, Index width) {
  return panel_header_elements<Real>(width) + padded_panel_rows(rows) * width;
}

template <class Real>
void Panel<Real>::resize(Index rows, Index width, Index above) {
  l11_rows_ = above;
  rows_ = rows;
  width_ = width;
  header_ = panel_header_elements<Real>(width);
  leading_dimension_ = padded_panel_rows(above + rows);
  pivots.assign(static_cast<std::size_t>(width), GlobalIndex{});
  zero_pivot.reset();
  factors = {};
}

template <class Real>
void write_panel_header(Real* message, std::optional<GlobalIndex> zero_pivot, std::span<const GlobalIndex> pivots) {
  std::vector<std::int64_t> header{zero_pivot ? zero_pivot->value : -1};
  for (const GlobalIndex pivot : pivots) header.push_back(pivot.value);
  std::memcpy(message, header.data(), header.size() * sizeof header[0]);
}

template <class Real>
void Panel<Real>::pack() {
  write_panel_header(buffer_->data(), zero_pivot, pivots);
}

template <class Real>
void Panel<Real>::unpack(const Real* message) {
  std::vector<std::int64_t> header(pivots.size() + 1);
  std::memcpy(header.data(), message, header.size() * sizeof header[0]);
  zero_pivot.reset();
  if (header[0] >= 0) zero_pivot = GlobalIndex(header[0]);
  for (std::size_t j = 0; j < pivots.size(); ++j) pivots[j] = GlobalIndex(header[j + 1]);
}

template void write_panel_header(float*, std::optional<GlobalIndex>, std::span<const GlobalIndex>);
template void write_panel_header(double*, std::optional<GlobalIndex>, std::span<const GlobalIndex>);
template Index panel_header_elements<float>(Index);
template Index panel_header_elements<double>(Index);
template Index panel_message_elements<float>(Index, Index);
template Index panel_message_elements<double>(Index, Index);
template class Panel<float>;
template class Panel<double>;

}  // namespace glinpack
