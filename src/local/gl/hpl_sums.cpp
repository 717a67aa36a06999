#include "gl/gl_backend.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "gl/program.hpp"

namespace glinpack::gl {
namespace {

constexpr Index lines_per_group = 32;  // as in the shader
constexpr Index most_groups = 4096;    // of a dispatch: enough for any device; GL 4.5 guarantees 65535

/// Device storage that the host does not map. GL allows no storage of 0 bytes.
template <class Element>
BufferHandle device_table(const std::shared_ptr<Context>& context, const Element* elements, std::size_t count) {
  BufferHandle buffer(context);
  const auto bytes = static_cast<GLsizeiptr>(std::max<std::size_t>(1, count) * sizeof(Element));
  glNamedBufferStorage(buffer.id(), bytes, count > 0 ? elements : nullptr, 0);
  return buffer;
}

std::size_t size_of(Index extent) { return static_cast<std::size_t>(extent); }

class HplSums final : public HplProduct {
 public:
  HplSums(const std::shared_ptr<Context>& context, const ShaderSource& sources, const HplElements& elements,
          Precision precision, RunCommands run_commands);

  void multiply(std::span<const double> x, std::span<double> y) override;
  double sum_rows(std::span<double> sums) override;
  double sum_columns(std::span<double> sums) override;

 private:
  void run(const Program& program, Index lines, Index elements_of_each, std::span<double> sums);
  /// The largest magnitude of all lines, after a run() that computed those of each line.
  double largest(Index lines) const;

  Index rows_;
  Index columns_;
  RunCommands run_commands_;
  Program product_, row_magnitudes_, column_magnitudes_;
  BufferHandle row_jumps_;
  BufferHandle column_states_;
  BufferHandle x_;
  std::unique_ptr<MappedBuffer<double>> x_host_;
  std::unique_ptr<MappedBuffer<double>> result_;  // sums, followed by the largest magnitudes
};

// The device reads jumps and states in their host layout. 64 bits are a uvec2 of the shader, low half first: all
// processors with GPUs are little-endian.
HplSums::HplSums(const std::shared_ptr<Context>& context, const ShaderSource& sources, const HplElements& elements,
                 Precision precision, RunCommands run_commands)
    : rows_(static_cast<Index>(elements.rows.size())),
      columns_(static_cast<Index>(elements.columns.size())),
      run_commands_(std::move(run_commands)),
      row_jumps_(device_table(context, elements.rows.data(), elements.rows.size())),
      column_states_(device_table(context, elements.columns.data(), elements.columns.size())),
      x_(device_table<double>(context, nullptr, elements.columns.size())),
      x_host_(MappedBuffer<double>::create(context, columns_)),
      result_(MappedBuffer<double>::create(context, 2 * std::max(rows_, columns_))) {
  context->throw_gl_error("the device has no memory for what makes HPL's matrix");
  const ProgramCache cache;
  const auto build = [&](bool by_column, bool magnitudes) {
    return Program::compute(context, sources, cache, "compute/hpl_sums.comp",
                            fmt::format("#define BY_COLUMN {:d}\n#define MAGNITUDES {:d}\n#define ROUNDED {:d}\n",
                                        by_column, magnitudes, precision == Precision::single));
  };
  product_ = build(false, false);
  row_magnitudes_ = build(false, true);
  column_magnitudes_ = build(true, true);
}

void HplSums::multiply(std::span<const double> x, std::span<double> y) {
  if (x.size() != size_of(columns_)) throw std::invalid_argument("the vector does not fit HPL's matrix");
  std::copy(x.begin(), x.end(), x_host_->data());
  run(product_, rows_, columns_, y);
}

double HplSums::sum_rows(std::span<double> sums) {
  run(row_magnitudes_, rows_, columns_, sums);
  return largest(rows_);
}

double HplSums::sum_columns(std::span<double> sums) {
  run(column_magnitudes_, columns_, rows_, sums);
  return largest(columns_);
}

void HplSums::run(const Program& program, Index lines, Index elements_of_each, std::span<double> sums) {
  if (sums.size() != size_of(lines)) throw std::invalid_argument("the sums do not fit HPL's matrix");
  run_commands_(2.0 * static_cast<double>(lines) * static_cast<double>(elements_of_each), [&] {
    glCopyNamedBufferSubData(x_host_->id(), x_.id(), 0, 0, static_cast<GLsizeiptr>(size_of(columns_) * sizeof(double)));
    const GLuint buffers[] = {row_jumps_.id(), column_states_.id(), x_.id(), result_->id()};
    for (GLuint binding = 0; binding < std::size(buffers); ++binding) {
      glBindBufferBase(GL_SHADER_STORAGE_BUFFER, binding, buffers[binding]);
    }
    program.use();
    program.set(0, static_cast<GLint>(lines), static_cast<GLint>(elements_of_each));
    const Index groups = (lines + lines_per_group - 1) / lines_per_group;
    for (Index first = 0; first < groups; first += most_groups) {
      program.set(1, static_cast<GLint>(first * lines_per_group));
      glDispatchCompute(static_cast<GLuint>(std::min(most_groups, groups - first)), 1, 1);
    }
    glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
  });
  std::copy_n(result_->data(), sums.size(), sums.begin());
}

double HplSums::largest(Index lines) const {
  double result = 0;
  for (const double value : std::span(result_->data() + lines, size_of(lines))) result = std::max(result, value);
  return result;
}

}  // namespace

std::unique_ptr<HplProduct> make_hpl_sums(const std::shared_ptr<Context>& context, const ShaderSource& sources,
                                          const HplElements& elements, Precision precision, RunCommands run_commands) {
  return std::make_unique<HplSums>(context, sources, elements, precision, std::move(run_commands));
}

}  // namespace glinpack::gl
