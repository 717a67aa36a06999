#include "none/none_backend.hpp"

#include <cstdlib>
#include <new>
#include <numeric>

namespace glinpack {
namespace {

// The first rows are always the pivots.
template <class Real>
class NonePanelArithmetic final : public PanelArithmetic<Real> {
 public:
  std::optional<Index> factorize_partial(ColumnMajorView<Real>, std::span<Index> pivots) override {
    std::iota(pivots.begin(), pivots.end(), Index{0});
    return std::nullopt;
  }
  std::optional<Index> factorize_tournament(ColumnMajorView<Real> a, std::span<Index> pivots) override {
    return factorize_partial(a, pivots);
  }
  std::optional<Index> choose_rows(ColumnMajorView<const Real>, std::span<Index> rows, ColumnMajorView<Real>) override {
    std::iota(rows.begin(), rows.end(), Index{0});
    return std::nullopt;
  }
  void solve_l21(ColumnMajorView<const Real>, ColumnMajorView<Real>) override {}
  void solve_unit_lower(ColumnMajorView<const Real>, ColumnMajorView<Real>) override {}
  void update(ColumnMajorView<const Real>, ColumnMajorView<const Real>, ColumnMajorView<Real>) override {}
  PivotCandidate find_pivot(std::span<const Real> column) override { return {column.empty() ? -1 : 0, 1}; }
  void eliminate_column(Real, std::span<Real>, const Real*, Index, ColumnMajorView<Real>) override {}
  void back_substitute(ColumnMajorView<const Real>, std::span<Real>) override {}
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

template <class Real>
class NoneHostBuffer final : public HostBuffer<Real> {
 public:
  explicit NoneHostBuffer(Memory memory, Index elements)
      : HostBuffer<Real>(static_cast<Real*>(memory.get()), elements), memory_(std::move(memory)) {}

 private:
  Memory memory_;
};

template <class Real>
class NoneBackend final : public Backend<Real> {
 public:
  NoneBackend(Timeline& timeline, HostPages pages) : Backend<Real>(timeline), pages_(pages) {}

  BackendInfo info() const override { return {}; }
  bool computes_beside_host() const override { return false; }
  PanelArithmetic<Real>& panel() override { return panel_; }

  std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) override {
    return std::make_unique<DeviceMatrix<Real>>(rows, columns);
  }
  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) override {
    const std::size_t bytes = (static_cast<std::size_t>(elements) + 1) * sizeof(Real);
    Memory memory(std::calloc(bytes, 1));
    if (!memory) throw std::bad_alloc();
    if (pages_ == HostPages::touched) {
      for (std::size_t i = 0; i < bytes; i += 4096) static_cast<volatile char*>(memory.get())[i] = 0;
    }
    return std::make_unique<NoneHostBuffer<Real>>(std::move(memory), elements);
  }

  Fence upload(HostBlock<Real>, DeviceBlock<Real>) override { return {}; }
  Fence download(DeviceBlock<Real>, HostBlock<Real>) override { return {}; }
  Fence download_transposed(DeviceBlock<Real>, HostBlock<Real>) override { return {}; }
  void copy_transposed(DeviceBlock<Real>, DeviceBlock<Real>) override {}
  void copy(DeviceBlock<Real>, DeviceBlock<Real>) override {}
  Fence gather_rows(DeviceBlock<Real>, std::span<const Index>, HostBlock<Real>) override { return {}; }
  Fence scatter_rows(HostBlock<Real>, std::span<const Index>, DeviceBlock<Real>) override { return {}; }
  void move_rows(DeviceBlock<Real>, std::span<const RowMove>) override {}
  void reserve_moves(Index, Index) override {}
  void solve_unit_lower(DeviceBlock<Real>, DeviceBlock<Real>) override {}
  void update(DeviceBlock<Real>, DeviceBlock<Real>, DeviceBlock<Real>) override {}
  void subtract_product(DeviceBlock<Real>, DeviceBlock<Real>, DeviceBlock<Real>) override {}
  Fence fence() override { return {}; }
  bool has_passed(Fence) override { return true; }
  void wait(Fence) override {}

 private:
  NonePanelArithmetic<Real> panel_;
  HostPages pages_;
};

}  // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_none_backend(Timeline& timeline, HostPages pages) {
  return std::make_unique<NoneBackend<Real>>(timeline, pages);
}

template std::unique_ptr<Backend<float>> make_none_backend(Timeline&, HostPages);
template std::unique_ptr<Backend<double>> make_none_backend(Timeline&, HostPages);

}  // namespace glinpack
