#include "none/none_backend.hpp"

#include <sys/mman.h>

#include <new>
#include <numeric>
#include <utility>

#include "base/memory_count.hpp"
#include "base/row_by_row.hpp"

namespace glinpack {
namespace {

double as_double(Index value) { return static_cast<double>(value); }

// rows x columns elements, as bytes.
template <class Real>
double bytes_of(Index rows, Index columns) {
  return as_double(rows) * as_double(columns) * static_cast<double>(sizeof(Real));
}

// The first rows are always the pivots.
template <class Real>
class NonePanelArithmetic final : public PanelArithmetic<Real> {
 public:
  /// `operations`: may be null.
  explicit NonePanelArithmetic(OperationList* operations) : operations_(operations) {}

  std::optional<Index> factorize_partial(ColumnMajorView<Real> a, std::span<Index> pivots) override {
    record_panel(a.rows, a.columns);
    std::iota(pivots.begin(), pivots.end(), Index{0});
    return std::nullopt;
  }
  std::optional<Index> factorize_tournament(ColumnMajorView<Real> a, std::span<Index> pivots) override {
    return factorize_partial(a, pivots);
  }
  std::optional<Index> choose_rows(ColumnMajorView<const Real> a, std::span<Index> rows,
                                   ColumnMajorView<Real>) override {
    record_panel(a.rows, a.columns);
    std::iota(rows.begin(), rows.end(), Index{0});
    return std::nullopt;
  }
  void solve_l21(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21) override {
    record({as_double(a21.rows) * as_double(u11.columns) * as_double(u11.columns), 0, 0});
  }
  void solve_unit_lower(ColumnMajorView<const Real> l11, ColumnMajorView<Real> a12) override {
    record({as_double(l11.rows) * as_double(l11.rows) * as_double(a12.columns), 0, 0});
  }
  void update(ColumnMajorView<const Real> l21, ColumnMajorView<const Real>, ColumnMajorView<Real> a22) override {
    record({product_flops(a22.rows, a22.columns, l21.columns), 0, 0});
  }
  PivotCandidate find_pivot(std::span<const Real> column) override {
    const auto rows = static_cast<Index>(column.size());
    record({0, bytes_of<Real>(rows, 1), 1});
    return {rows == 0 ? -1 : 0, 1};
  }
  void eliminate_column(Real, std::span<Real> l, const Real*, Index, ColumnMajorView<Real> a) override {
    record({static_cast<double>(l.size()) * as_double(1 + 2 * a.columns), 0, 0});
  }
  void read_rows(ColumnMajorView<const Real>, std::span<const Index>, ColumnMajorView<Real>) override {}
  void write_rows(ColumnMajorView<const Real>, std::span<const Index>, ColumnMajorView<Real>) override {}
  void solve_triangle(Triangle, RowMajorView<const Real>, RowMajorView<Real>) override {}

 private:
  void record(const Amounts& amounts) const {
    if (operations_ != nullptr) operations_->compute(Work::panel_host, Queue::host, amounts);
  }
  void record_panel(Index rows, Index columns) const {
    record(
        {as_double(rows) * as_double(columns) * as_double(columns), bytes_of<Real>(rows, columns), as_double(columns)});
  }

  OperationList* operations_;
};

// Memory from the system, filled with zeros. A page takes memory once it is touched. A sanitizer's allocator would
// touch its own memory for all of it.
template <class Real>
std::shared_ptr<Real[]> map_memory(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<Real*>(memory), [bytes](void* mapped) { munmap(mapped, bytes); }};
}

template <class Real>
std::unique_ptr<HostBuffer<Real>> allocate_pages(Index elements, HostPages pages) {
  MemoryCount::add_host(elements * static_cast<Index>(sizeof(Real)));
  if (MemoryCount::only_counts()) return std::make_unique<HostBuffer<Real>>(nullptr, elements);
  const std::size_t bytes = (static_cast<std::size_t>(elements) + 1) * sizeof(Real);
  std::shared_ptr<Real[]> memory = map_memory<Real>(bytes);
  if (pages == HostPages::touched) {
    for (std::size_t i = 0; i < bytes; i += 4096) reinterpret_cast<volatile char*>(memory.get())[i] = 0;
  }
  return std::make_unique<HostBuffer<Real>>(std::move(memory), elements);
}

template <class Real>
class NoneRowByRow final : public RowByRowAlgorithm<Real> {
 public:
  std::optional<Index> pivot_rows(DeviceBlock<Real>, HostBlock<Real>, HostBlock<Real>,
                                  std::span<Index> pivots) override {
    std::iota(pivots.begin(), pivots.end(), Index{0});
    return std::nullopt;
  }
  void normalize_rows(HostBlock<Real>, std::span<const Index>, DeviceBlock<Real>, HostBlock<Real>) override {}
  void eliminate_rows(ColumnMajorView<const Real>, DeviceBlock<Real>, HostBlock<Real>) override {}
  Fence reduce_rows(HostBlock<Real>, HostBlock<Real>, DeviceBlock<Real>) override { return {}; }
};

template <class Real>
class CostDevicePanel final : public DeviceTournamentPanel<Real> {
 public:
  /// `columns`: ModelledDevice::panel_columns.
  CostDevicePanel(Backend<Real>& backend, OperationList& operations, Queue queue, double columns)
      : backend_(backend), operations_(operations), queue_(queue), columns_(columns) {}

  void factorize(DeviceBlock<Real> a_transposed) override {
    const Index width = a_transposed.rows, rows = a_transposed.columns;
    done_ = record({as_double(rows) * as_double(width) * as_double(width), bytes_of<Real>(rows, width),
                    columns_ * as_double(width)});
  }
  std::optional<Index> outcome(std::span<Index> pivots) override {
    backend_.wait(done_);
    std::iota(pivots.begin(), pivots.end(), Index{0});
    return std::nullopt;
  }
  void solve_l21_and_update(DeviceBlock<Real> a_transposed, DeviceBlock<Real>, DeviceBlock<Real> a22) override {
    const Index width = a_transposed.rows, rows = a_transposed.columns - width;
    record({as_double(rows) * as_double(width) * as_double(width + 2 * a22.columns), 0, 0});
  }

 private:
  Fence record(const Amounts& amounts) { return {operations_.compute(Work::panel_device, queue_, amounts) + 1}; }

  Backend<Real>& backend_;
  OperationList& operations_;
  Queue queue_;
  double columns_;
  Fence done_;
};

// A fence is the place of an operation in the list, counted from 1. Without a list, all fences have passed.
template <class Real>
class NoneBackend final : public Backend<Real> {
 public:
  /// `operations`: may be null.
  NoneBackend(Timeline& timeline, HostPages pages, const ModelledDevice& device, OperationList* operations)
      : Backend<Real>(timeline, {.asynchronous = device.is_asynchronous},
                      std::make_shared<NonePanelArithmetic<Real>>(operations)),
        pages_(pages),
        device_(device),
        operations_(operations) {}

  RowByRowAlgorithm<Real>* row_by_row() override { return device_.row_by_row ? &row_by_row_ : nullptr; }
  std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) override {
    if (device_.matrix_bytes != nullptr) MemoryCount::add_device(device_.matrix_bytes(rows, columns, sizeof(Real)));
    return std::make_unique<DeviceMatrix<Real>>(rows, columns);
  }
  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) override {
    return allocate_pages<Real>(elements, pages_);
  }
  std::unique_ptr<HostBuffer<Real>> allocate_message(Index elements) override {
    MemoryCount::add_device(elements * static_cast<std::int64_t>(sizeof(Real)));
    return allocate_host(elements);
  }
  std::unique_ptr<Operand<Real>> make_operand(Index rows, Index columns) override {
    if (device_.has_memory) return Backend<Real>::make_operand(rows, columns);
    return std::make_unique<OperandInPlace<Real>>(*this, rows, columns, [](const HostBlock<Real>& block) {
      return std::make_unique<DeviceMatrix<Real>>(block.rows, block.columns);
    });
  }
  void reserve_moves(Index moves, Index columns) override {
    if (device_.has_memory) moved_rows_ = allocate(moves, columns);
  }
  void reserve_update(Index depth, Index rows, Index columns) override {
    if (device_.update_bytes && rows > 0 && columns > 0)
      MemoryCount::add_device(device_.update_bytes(depth, rows, columns));
  }
  std::unique_ptr<DevicePanel<Real>> make_partial_panel(Index rows, Index columns, DeviceUse use) override {
    return make_panel(rows, columns, use);
  }
  std::unique_ptr<DeviceTournamentPanel<Real>> make_tournament_panel(Index rows, Index columns,
                                                                     DeviceUse use) override {
    return make_panel(rows, columns, use);
  }

  Fence upload(HostBlock<Real> from, DeviceBlock<Real>) override {
    return transfer(Queue::upload, from.rows, from.columns);
  }
  Fence download(DeviceBlock<Real> from, HostBlock<Real>) override {
    return transfer(Queue::download, from.rows, from.columns);
  }
  Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real>) override {
    return transfer(Queue::download, from.rows, from.columns);
  }
  Fence gather_rows(DeviceBlock<Real>, std::span<const Index> rows, HostBlock<Real> to) override {
    if (rows.empty()) return {};
    const Fence gathered = move(static_cast<Index>(rows.size()), to.columns);
    return device_.has_memory ? transfer(Queue::download, to.rows, to.columns) : gathered;
  }
  Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real>) override {
    if (rows.empty()) return {};
    const Fence uploaded = transfer(Queue::upload, from.rows, from.columns);
    const Fence scattered = move(static_cast<Index>(rows.size()), from.columns);
    return device_.has_memory ? uploaded : scattered;
  }
  void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) override {
    if (!moves.empty()) move(static_cast<Index>(moves.size()), block.columns);
  }
  void copy_transposed(DeviceBlock<Real>, DeviceBlock<Real>) override {}
  void copy(DeviceBlock<Real>, DeviceBlock<Real>) override {}
  void solve_triangle(Triangle, DeviceBlock<Real>, DeviceBlock<Real>) override {}
  void subtract_product(DeviceBlock<Real>, DeviceBlock<Real>, DeviceBlock<Real>) override {}
  void solve_unit_lower(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) override {
    if (a12.empty()) return;
    const double width = as_double(l11_transposed.rows);
    compute(Work::normalize, {width * width * as_double(a12.columns), 2 * bytes_of<Real>(a12.rows, a12.columns), 1});
  }
  void update(DeviceBlock<Real> l21_transposed, DeviceBlock<Real>, DeviceBlock<Real> a22) override {
    if (a22.empty()) return;
    compute(Work::reduce,
            {product_flops(a22.rows, a22.columns, l21_transposed.rows), 2 * bytes_of<Real>(a22.rows, a22.columns), 1});
  }
  Fence fence() override { return {operations_ == nullptr ? 0 : operations_->operations().size()}; }
  void wait(Fence fence) override {
    if (device_.is_asynchronous && fence.id > 0) operations_->wait_for_work(fence.id - 1);
  }

 private:
  // Without a device, and on a software device, the host computes.
  Queue queue_of_kernels() const { return device_.is_asynchronous ? Queue::device : Queue::host; }
  Fence record(Work work, Queue queue, const Amounts& amounts) {
    return {operations_ == nullptr ? 0 : operations_->compute(work, queue, amounts) + 1};
  }
  Fence compute(Work work, const Amounts& amounts) { return record(work, queue_of_kernels(), amounts); }
  std::unique_ptr<CostDevicePanel<Real>> make_panel(Index rows, Index columns, DeviceUse use) {
    const bool is_wanted = use == DeviceUse::always || device_.is_asynchronous;
    if (!device_.has_memory || !device_.has_panels || !is_wanted || rows < columns) return nullptr;
    return std::make_unique<CostDevicePanel<Real>>(*this, *operations_, queue_of_kernels(), device_.panel_columns);
  }
  Fence move(Index rows, Index columns) { return compute(Work::swap, {0, 2 * bytes_of<Real>(rows, columns), 1}); }
  Fence transfer(Queue queue, Index rows, Index columns) {
    if (!device_.has_memory || rows == 0 || columns == 0) return {};
    const Amounts amounts{0, bytes_of<Real>(rows, columns), 1};
    return record(Work::transfer, device_.is_asynchronous ? queue : Queue::host, amounts);
  }

  HostPages pages_;
  ModelledDevice device_;
  OperationList* operations_;
  NoneRowByRow<Real> row_by_row_;
  std::unique_ptr<DeviceMatrix<Real>> moved_rows_;
};

}  // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_none_backend(Timeline& timeline, HostPages pages, const ModelledDevice& device,
                                                 OperationList* operations) {
  return std::make_unique<NoneBackend<Real>>(timeline, pages, device, operations);
}

template std::unique_ptr<Backend<float>> make_none_backend(Timeline&, HostPages, const ModelledDevice&, OperationList*);
template std::unique_ptr<Backend<double>> make_none_backend(Timeline&, HostPages, const ModelledDevice&,
                                                            OperationList*);

}  // namespace glinpack
