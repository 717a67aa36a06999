#include "global/device_panel_rows.hpp"

#include <algorithm>
#include <utility>

#include "local/row_interchanges.hpp"

namespace glinpack {

namespace {

Index block_of(Index columns) { return std::min(columns, tournament_columns); }

// Between rows as they travel to and from devices, and columns as host panels have them: the same extents.
template <class From, class To>
void copy_elements(const From& from, const To& to) {
  for (Index j = 0; j < from.columns; ++j) {
    for (Index i = 0; i < from.rows; ++i) to(i, j) = from(i, j);
  }
}

}  // namespace

Index device_panel_elements(Index rows, Index columns) {
  return block_of(columns) * (block_of(columns) + rows) + block_of(columns) * columns;
}

template <class Real>
std::unique_ptr<DevicePanelRows<Real>> DevicePanelRows<Real>::make(Backend<Real>& backend, Timeline& timeline,
                                                                   Index rows, Index columns) {
  auto device = backend.make_device_panel(block_of(columns) + rows, block_of(columns));
  if (!device) return nullptr;
  return std::unique_ptr<DevicePanelRows>(new DevicePanelRows(backend, timeline, std::move(device), rows, columns));
}

template <class Real>
DevicePanelRows<Real>::DevicePanelRows(Backend<Real>& backend, Timeline& timeline,
                                       std::unique_ptr<DevicePanel<Real>> device, Index rows, Index columns)
    : backend_(backend),
      timeline_(timeline),
      device_(std::move(device)),
      strip_(backend.allocate(block_of(columns), block_of(columns) + rows)),
      u12_(backend.allocate(block_of(columns), columns)),
      read_(backend.allocate_host(2 * block_of(columns) * columns)),
      written_(backend.allocate_host(2 * block_of(columns) * columns)),
      l11_u11_(backend.allocate_host(block_of(columns) * block_of(columns))),
      u12_on_host_(backend.allocate_host(block_of(columns) * columns)) {}

template <class Real>
auto DevicePanelRows<Real>::choose(const TournamentBlock& block, Index first, Index count,
                                   ColumnMajorView<Real> factors) -> Choice {
  const DeviceBlock<Real> columns = panel_.block(first, block.first, count, block.width);
  if (count < block.width) return choose_on_host(columns, first, factors);
  const DeviceBlock<Real> strip = whole(*strip_).block(0, 0, block.width, count);
  backend_.copy_transposed(columns, strip);
  device_->factorize(strip);
  backend_.wait(factors_given_);
  const HostBlock<Real> top{l11_u11_.get(), 0, block.width, block.width, block.width};
  backend_.wait(backend_.download(strip.block(0, 0, block.width, block.width), top));
  std::vector<Index> pivots(static_cast<std::size_t>(block.width));
  // with a column that has no pivot here the device ends, but there are other ranks
  if (device_->outcome(pivots)) return choose_on_host(columns, first, factors);
  for (Index j = 0; j < block.width; ++j) std::copy_n(top.view().row(j), block.width, factors.column(j));
  Choice choice{row_order_of(pivots), {}};
  for (Index& row : choice.rows) row += first;
  return choice;
}

// Few rows, or such that are seldom.
template <class Real>
auto DevicePanelRows<Real>::choose_on_host(const DeviceBlock<Real>& columns, Index first, ColumnMajorView<Real> factors)
    -> Choice {
  Choice choice{std::vector<Index>(static_cast<std::size_t>(std::min(columns.rows, columns.columns))), {}};
  if (choice.rows.empty()) return choice;
  const auto buffer = backend_.allocate_host(columns.rows * columns.columns);
  const HostBlock<Real> on_host{buffer.get(), 0, columns.columns, columns.rows, columns.rows};
  backend_.wait(backend_.download_transposed(columns, on_host));
  const auto scope = timeline_.scope(Lane::cpu, Phase::panel);
  choice.zero = backend_.panel().choose_rows(on_host.view().transposed(), choice.rows, factors);
  for (Index& row : choice.rows) row += first;
  return choice;
}

template <class Real>
void DevicePanelRows<Real>::read(std::span<const Index> rows, ColumnMajorView<Real> to) {
  if (rows.empty()) return;
  const HostBlock<Real> found{read_.get(), 0, to.rows, to.columns, to.columns};
  backend_.wait(backend_.gather_rows(panel_, rows, found));
  copy_elements(found.view(), to);
}

template <class Real>
void DevicePanelRows<Real>::write(ColumnMajorView<const Real> from, std::span<const Index> rows) {
  if (rows.empty()) return;
  backend_.wait(rows_given_);
  const HostBlock<Real> given{written_.get(), 0, from.rows, from.columns, from.columns};
  copy_elements(from, given.view());
  rows_given_ = backend_.scatter_rows(given, rows, panel_);
}

template <class Real>
void DevicePanelRows<Real>::eliminate(const TournamentBlock& block, Index first, Index count, const Winners& winners) {
  if (count == 0) return;
  const Index width = block.width, right = winners.u12.columns;
  const DeviceBlock<Real> strip = whole(*strip_).block(0, 0, width, width + count);
  const DeviceBlock<Real> below = strip.block(0, width, width, count);
  const DeviceBlock<Real> l21 = panel_.block(first, block.first, count, width);
  const DeviceBlock<Real> u12 = whole(*u12_).block(0, 0, width, right);
  backend_.wait(factors_given_);
  const HostBlock<Real> top{l11_u11_.get(), 0, width, width, width};
  for (Index j = 0; j < width; ++j) std::copy_n(winners.l11_u11.column(j), width, top.view().row(j));
  factors_given_ = backend_.upload(top, strip.block(0, 0, width, width));
  if (right > 0) {
    const HostBlock<Real> u12_on_host{u12_on_host_.get(), 0, width, right, right};
    copy_elements(winners.u12, u12_on_host.view());
    factors_given_ = backend_.upload(u12_on_host, u12);
  }
  backend_.copy_transposed(l21, below);
  device_->eliminate(strip, u12, panel_.block(first, block.first + width, count, right));
  backend_.copy_transposed(below, l21);
}

template class DevicePanelRows<float>;
template class DevicePanelRows<double>;

}  // namespace glinpack
