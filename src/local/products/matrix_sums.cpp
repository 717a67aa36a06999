#include "products/matrix_sums.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "device/mapped_buffer.hpp"

namespace glinpack::compute {
namespace {

constexpr Index lines_per_group = 32;          // as in the shader
constexpr Index max_dispatched_groups = 4096;  // of a dispatch: enough for any device; 65535 are guaranteed

template <class Element>
std::int64_t bytes_of(std::span<const Element> elements) {
  return static_cast<std::int64_t>(std::max(sizeof(Element), elements.size_bytes()));  // of no storage there is none
}

std::size_t size_of(Index extent) { return static_cast<std::size_t>(extent); }

class MatrixSums final : public MatrixProduct {
 public:
  // The device reads tables in their host layout. 64 bits are a uvec2 of the shader, low half first: all
  // processors with GPUs are little-endian.
  template <class Elements>
  MatrixSums(const std::shared_ptr<ComputeDevice>& device, const ShaderSource& sources, const Elements& elements,
             Precision precision, RunCommands run_commands)
      : rows_(static_cast<Index>(elements.rows.size())),
        columns_(static_cast<Index>(elements.columns.size())),
        run_commands_(std::move(run_commands)),
        device_(device),
        row_table_(device_table(std::span(elements.rows))),
        column_table_(device_table(std::span(elements.columns))),
        x_(make_buffer(*device, std::max<Index>(1, columns_) * static_cast<Index>(sizeof(double)))),
        x_host_(MappedBuffer<double>::create(device, columns_)),
        result_(MappedBuffer<double>::create(device, 2 * std::max(rows_, columns_))) {
    device->throw_error("the device has no memory for what makes the matrix");
    const auto build = [&](bool by_column, bool magnitudes) {
      return device->make_program(sources, "compute/matrix_sums.comp",
                                  define("MXP", std::is_same_v<Elements, MxpElements>) +
                                      define("BY_COLUMN", by_column) + define("MAGNITUDES", magnitudes) +
                                      define("ROUNDED", precision == Precision::single));
    };
    product_ = build(false, false);
    row_magnitudes_ = build(false, true);
    column_magnitudes_ = build(true, true);
    set_formula(elements);
  }

  void multiply(std::span<const double> x, std::span<double> y) override {
    if (x.size() != size_of(columns_)) throw std::invalid_argument("the vector does not fit the matrix");
    std::copy(x.begin(), x.end(), x_host_->data());
    run(*product_, rows_, columns_, y);
  }
  double sum_rows(std::span<double> sums) override {
    run(*row_magnitudes_, rows_, columns_, sums);
    return largest(rows_);
  }
  double sum_columns(std::span<double> sums) override {
    run(*column_magnitudes_, columns_, rows_, sums);
    return largest(columns_);
  }

 private:
  /// Device memory with these elements.
  template <class Element>
  std::unique_ptr<DeviceBuffer> device_table(std::span<const Element> elements) {
    const std::int64_t bytes = bytes_of(elements);
    const auto host = make_buffer(*device_, bytes, Memory::host);
    std::copy(elements.begin(), elements.end(), static_cast<Element*>(host->data()));
    auto table = make_buffer(*device_, bytes);
    device_->copy(host->id(), 0, table->id(), 0, bytes);
    return table;
  }
  void run(DeviceProgram& program, Index lines, Index elements_of_each, std::span<double> sums) {
    if (sums.size() != size_of(lines)) throw std::invalid_argument("the sums do not fit the matrix");
    run_commands_(2.0 * static_cast<double>(lines) * static_cast<double>(elements_of_each), [&] {
      device_->copy(x_host_->id(), 0, x_->id(), 0, columns_ * static_cast<Index>(sizeof(double)));
      std::uint32_t binding = 0;
      for (const BufferId buffer : {row_table_->id(), column_table_->id(), x_->id(), result_->id()}) {
        device_->bind(binding++, buffer);
      }
      program.set(0, lines, elements_of_each);
      const Index groups = divide_up(lines, lines_per_group);
      for (Index first = 0; first < groups; first += max_dispatched_groups) {
        program.set(1, first * lines_per_group);
        device_->dispatch(program, std::min(max_dispatched_groups, groups - first));
      }
      device_->barrier(Readers::host);
    });
    std::copy_n(result_->data(), sums.size(), sums.begin());
  }

  /// The largest magnitude of all lines, after a run() that computed those of each line.
  double largest(Index lines) const {
    double result = 0;
    for (const double value : std::span(result_->data() + lines, size_of(lines))) result = std::max(result, value);
    return result;
  }

  void set_formula(const HplElements&) {}
  void set_formula(const MxpElements& elements) {
    const MxpElement element(elements.n);
    for (DeviceProgram* program : {product_.get(), row_magnitudes_.get(), column_magnitudes_.get()}) {
      int location = 2;
      for (const double value : {element.alpha(), element.beta(), element.alpha() * element.beta()}) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        program->set(location++, static_cast<std::uint32_t>(bits), bits >> 32);
      }
    }
  }

  Index rows_;
  Index columns_;
  RunCommands run_commands_;
  std::shared_ptr<ComputeDevice> device_;
  std::unique_ptr<DeviceProgram> product_, row_magnitudes_, column_magnitudes_;
  std::unique_ptr<DeviceBuffer> row_table_, column_table_, x_;
  std::unique_ptr<MappedBuffer<double>> x_host_;
  std::unique_ptr<MappedBuffer<double>> result_;  // sums, followed by the largest magnitudes
};

}  // namespace

std::unique_ptr<MatrixProduct> make_matrix_sums(const std::shared_ptr<ComputeDevice>& device,
                                                const ShaderSource& sources, const MatrixElements& elements,
                                                Precision precision, RunCommands run_commands) {
  return std::visit(
      [&](const auto& those) -> std::unique_ptr<MatrixProduct> {
        return std::make_unique<MatrixSums>(device, sources, those, precision, std::move(run_commands));
      },
      elements);
}

}  // namespace glinpack::compute
