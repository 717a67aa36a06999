// Products with HPL's random matrix in double precision, its elements made by a compute shader for each of them.
#pragma once

#include <functional>
#include <memory>

#include "local/gl/mapped_buffer.hpp"
#include "local/gl/program.hpp"
#include "local/hpl_product.hpp"
#include "local/precision.hpp"

namespace glinpack::gl {

class HplSums final : public HplProduct {
 public:
  /// Gives the device the commands, so many operations, and returns when they are done.
  using Operation = std::function<void(double flops, const std::function<void()>& commands)>;

  /// Compiles the shaders, and allocates. `elements` are rounded to single precision where `precision` is. Throws
  /// std::runtime_error.
  HplSums(const std::shared_ptr<Context>& context, const ShaderSource& sources, const HplElements& elements,
          Precision precision, Operation operation);

  void multiply(std::span<const double> x, std::span<double> y) override;
  double sum_rows(std::span<double> sums) override;
  double sum_columns(std::span<double> sums) override;

 private:
  void run(const Program& program, Index lines, Index elements_of_each, std::span<double> sums);
  /// Of the lines that a run() found the largest magnitudes of.
  double largest(Index lines) const;

  Index rows_;
  Index columns_;
  Operation operation_;
  Program product_, row_magnitudes_, column_magnitudes_;
  BufferHandle row_jumps_;
  BufferHandle column_states_;
  BufferHandle x_;
  std::unique_ptr<MappedBuffer<double>> x_host_;
  std::unique_ptr<MappedBuffer<double>> result_;  // sums; behind them the largest magnitudes
};

}  // namespace glinpack::gl
