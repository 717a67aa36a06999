#include "compute/partial_panel.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/user_cache.hpp"
#include "device/mapped_buffer.hpp"

namespace glinpack::compute {
namespace {

// Must equal the shader's constants.
constexpr Index block = 32;
constexpr Index barriers_of_block = 2;

constexpr const char* shader = "compute/panel_partial.comp";

// Every group reads the candidates of all: on an H200, a column takes 64 groups twice as long as 32
// (results/h200/logs.md experiments, concurrent_dispatch). Streamed rows take longer still.
constexpr Index preferred_groups = 32;
constexpr Index max_panel_groups = 64;
constexpr Index max_slabs = 32;           // bits of the shader's mask
constexpr Index default_polls = 1 << 20;  // about a second on a GPU; waits of a few polls are usual
constexpr std::int32_t pending = -2;      // an outcome that has not arrived
constexpr std::int64_t arrival_bytes = 16;
constexpr Index first_interchange = 2;  // in the outcome, behind zero_column and gave_up

// Ascending. A row of a block takes 32 registers of an invocation in single precision, 64 in double: the registers of
// an NVIDIA multiprocessor hold the rows of the largest group. Smaller groups spread few rows over more
// multiprocessors.
std::vector<Index> group_sizes(const DeviceDescription& device, Precision precision, Index forced) {
  if (forced > 0) return {forced};
  std::vector<Index> sizes{256};
  if (device.software) return sizes;
  for (const Index size : {Index{512}, Index{1024}}) {
    const Index max = precision == Precision::double_ ? 512 : 1024;
    if (size <= std::min<Index>(max, device.invocations)) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

PartialPanelPrograms::PartialPanelPrograms(const ShaderSource& sources, Precision precision, Kernels& kernels,
                                           const PartialPanelLimits& limits)
    : sources_(sources),
      kernels_(kernels),
      limits_(limits),
      element_bytes_(precision == Precision::double_ ? 8 : 4),
      // software drivers may run one group after the other
      slots_of_column_((kernels.device().description().software ? 1 : max_panel_groups) + limits.absent_groups),
      groups_(kernels.device().description().software ? 1
              : limits.groups > 0                     ? std::min(max_panel_groups, limits.groups)
                                                      : max_panel_groups) {
  for (const Index size : group_sizes(kernels.device().description(), precision, limits.rows_per_group)) {
    variants_.push_back({size, build(size, false)});
  }
  if (groups_ > 1) groups_ = counted_groups();
}

std::string PartialPanelPrograms::preamble(Index rows_per_group, bool streamed) const {
  return kernels_.types() + define("ROWS_PER_GROUP", rows_per_group) + define("MAX_GROUPS", slots_of_column_) +
         define("STREAMED", streamed) +
         define("SUBGROUPS", kernels_.device().description().subgroup_size >= min_subgroup) +
         define("SOFTWARE", kernels_.device().description().software) + define("DELAYS", limits_.delays);
}

std::unique_ptr<DeviceProgram> PartialPanelPrograms::build(Index rows_per_group, bool streamed) const {
  return kernels_.device().make_program(sources_, shader, preamble(rows_per_group, streamed));
}

// A program that needs more registers may change the count: it belongs to the text of the largest one.
Index PartialPanelPrograms::counted_groups() {
  const DeviceDescription& device = kernels_.device().description();
  const std::string key =
      device.driver_key() + "\n" + sources_.expand(shader, preamble(variants_.back().rows_per_group, false));
  const NumberCache cache("groups");
  const bool is_cached = limits_ == PartialPanelLimits{};  // a test's limits are not the device's
  const auto cached = is_cached ? cache.load(key, 1, static_cast<double>(groups_)) : std::nullopt;
  Index count = cached ? static_cast<Index>(*cached) : groups_;
  if (!cached) {
    PartialPanel panel(*this, 1);
    for (const Variant& variant : variants_) {
      while (count > 1 && !panel.run_at_the_same_time(*variant.in_registers, count)) count /= 2;
    }
    if (is_cached) cache.store(key, static_cast<double>(count));
  }
  spdlog::debug("{} work groups of a panel with partial pivoting run at the same time", count);
  return count;
}

PartialPanelShape PartialPanelPrograms::shape_of(Index rows) const {
  const Index preferred = std::min(groups_, preferred_groups);
  const auto fits = [&](const Variant& variant) { return rows <= preferred * variant.rows_per_group; };
  const auto found = std::find_if(variants_.begin(), variants_.end(), fits);
  const Index size = found == variants_.end() ? variants_.back().rows_per_group : found->rows_per_group;
  const Index slabs = groups(rows, groups_ * size);
  return {size, groups(rows, slabs * size), slabs};
}

DeviceProgram& PartialPanelPrograms::program_of(const PartialPanelShape& shape) {
  if (shape.slabs > 1) {  // of the largest size
    if (!streamed_) streamed_ = build(shape.rows_per_group, true);
    return *streamed_;
  }
  return *std::find_if(variants_.begin(), variants_.end(), [&](const Variant& variant) {
            return variant.rows_per_group == shape.rows_per_group;
          })->in_registers;
}

std::unique_ptr<PartialPanel> PartialPanel::make(PartialPanelPrograms& programs, Index rows, Index columns) {
  const PartialPanelShape shape = programs.shape_of(rows);
  if (shape.slabs > max_slabs) return nullptr;
  programs.program_of(shape);  // compiled before a factorisation is timed
  return std::unique_ptr<PartialPanel>(new PartialPanel(programs, columns));
}

PartialPanel::PartialPanel(PartialPanelPrograms& programs, Index columns)
    : programs_(programs), polls_(programs.limits().polls > 0 ? programs.limits().polls : default_polls) {
  const Index element_bytes = programs.element_bytes();
  const Index row_vectors = block * element_bytes / 16;
  slots_of_panel_ = columns * programs.slots_of_column() * row_vectors;
  ComputeDevice& device = programs.kernels().device();
  const std::int64_t slot_bytes = 2 * slots_of_panel_ * 16;
  slots_ = make_buffer(device, slot_bytes);
  fill(*slots_, slot_bytes, ~std::uint32_t{0});
  arrivals_ = make_buffer(device, arrival_bytes);
  fill(*arrivals_, arrival_bytes, 0);
  constexpr auto number_bytes = static_cast<Index>(sizeof(std::int32_t));
  chosen_ = make_buffer(device, block * block * element_bytes + block * number_bytes);
  outcome_ = make_buffer(device, (first_interchange + columns) * number_bytes, Memory::host);
  mapped_outcome_ = static_cast<std::int32_t*>(outcome_->data());
}

void PartialPanel::fill(const DeviceBuffer& buffer, std::int64_t bytes, std::uint32_t word) {
  if (programs_.kernels().device().fill(buffer.id(), bytes, word)) return;
  throw std::runtime_error("the device has no memory for a panel: use --panel host");
}

bool PartialPanel::run_at_the_same_time(DeviceProgram& program, Index groups) {
  expect_outcome(0);
  ComputeDevice& device = programs_.kernels().device();
  device.barrier(Readers::shaders | Readers::copies | Readers::host);
  programs_.kernels().bind(device, program, 0, 0, Region{slots_->id(), slots_of_panel_, 0, 0, 1, 1, 1, 0, 0});
  dispatch(device, program, {0, groups, 1}, 0, 0);
  device.finish();
  arrived_ += static_cast<std::uint32_t>(groups);
  if (mapped_outcome_[1] == 0) return true;
  arrived_ = 0;
  fill(*arrivals_, arrival_bytes, 0);
  return false;
}

void PartialPanel::expect_outcome(Index columns) {
  columns_ = columns;
  mapped_outcome_[0] = pending;
  mapped_outcome_[1] = 0;
  for (Index j = 0; j < columns; ++j) mapped_outcome_[first_interchange + j] = pending;
}

void PartialPanel::dispatch(ComputeDevice& queue, DeviceProgram& program, const PartialPanelShape& shape, Index rows,
                            Index columns) {
  const Index groups = shape.groups + programs_.limits().absent_groups;
  program.set(1, rows, columns, groups, shape.slabs);
  program.set(2, arrived_, polls_, slots_of_panel_, parity_);
  queue.bind(1, slots_->id());
  queue.bind(2, arrivals_->id());
  queue.bind(3, chosen_->id());
  queue.bind(4, outcome_->id());
  queue.dispatch(program, shape.groups);
}

void PartialPanel::factorize(ComputeDevice& queue, const Region& a_transposed) {
  const Index columns = a_transposed.rows, rows = a_transposed.columns;
  const PartialPanelShape shape = programs_.shape_of(rows);
  DeviceProgram& program = programs_.program_of(shape);
  expect_outcome(columns);
  programs_.kernels().bind(queue, program, 0, 0, a_transposed);
  dispatch(queue, program, shape, rows, columns);
  arrived_ += static_cast<std::uint32_t>(groups(columns, block) * barriers_of_block * shape.groups);
  parity_ = 1 - parity_;
}

bool PartialPanel::has_outcome() const {
  if (mapped_outcome_[1] != 0) return true;
  for (Index j = 0; j < columns_; ++j) {
    if (mapped_outcome_[first_interchange + j] == pending) return false;
  }
  return mapped_outcome_[0] != pending;
}

std::optional<Index> PartialPanel::outcome(std::span<Index> pivots) const {
  if (mapped_outcome_[1] != 0 || mapped_outcome_[0] == pending) {
    throw std::runtime_error("a work group of a panel gave up after " + std::to_string(polls_) +
                             " polls for another group: run no other program on the device, or use --panel host");
  }
  for (std::size_t j = 0; j < pivots.size(); ++j) {
    pivots[j] = mapped_outcome_[first_interchange + static_cast<Index>(j)];
  }
  const std::int32_t zero = mapped_outcome_[0];
  return zero < 0 ? std::nullopt : std::optional<Index>(zero);
}

}  // namespace glinpack::compute
