#include "products/packed_products.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "base/memory_count.hpp"
#include "device/command_stream.hpp"
#include "device/mapped_buffer.hpp"
#include "kernels/compute_memory.hpp"

namespace glinpack::compute {

void check_products(const std::string& value, Precision precision) {
  if (value == "plain" || value == "auto") return;
  if (const int moduli = moduli_of(value); moduli != 0) {
    if (moduli < min_moduli || moduli > max_moduli) {
      throw std::runtime_error("'" + value + "': int8 takes 14 to 18 moduli");
    }
    if (precision == Precision::double_) return;
    throw std::runtime_error("int8 products are for double precision: use --precision double");
  }
  if (value != "half" && value != "split") {
    throw std::runtime_error("'" + value + "' is not plain, half, split, int8, int8:14 to int8:18 or auto");
  }
  if (precision != Precision::mixed) {
    throw std::runtime_error(value + " products need a refinement: use --precision mixed");
  }
}

std::int64_t update_bytes(const BackendValues& values, Index depth, Index rows, Index columns) {
  std::string products = option_value(values, "products");
  if (products.starts_with(auto_products)) products = products.substr(auto_products.size());
  if (products.empty() || products == "plain") return 0;
  if (products == "half") return half_bytes(rounded_terms, depth, rows, columns);
  if (products == "split") return half_bytes(split_terms, depth, rows, columns);
  return residue_bytes(moduli_of(products), depth, rows, columns);
}

template <class Real>
bool PackedProducts<Real>::holds(const Region& operand) const {
  return std::min(operand.rows, limits_.depth) * operand.leading_dimension + window_rounding <=
         kernels_.window_elements();
}

template <class Real>
bool PackedProducts<Real>::grow(Buffer& buffer, Index needed) {
  if (needed <= buffer.bytes) return false;
  buffer.memory.reset();
  MemoryCount::add_device(needed - buffer.bytes);
  buffer.memory = make_buffer(device_, needed);
  buffer.bytes = needed;
  return true;
}

template <class Real>
bool PackedProducts<Real>::update(const Region& l_transposed, const Region& u, const Region& c, bool l_is_kept) {
  if (!holds(l_transposed) || !holds(u)) return false;
  for (Index k = 0; k < u.rows; k += limits_.depth) {
    const Index depth = std::min(limits_.depth, u.rows - k);
    const Region all_l = l_transposed.row_range(k, depth), all_u = u.row_range(k, depth);
    for_chunks(all_l, limits_.left_columns, [&](Index i, Index rows) {
      const Region l = all_l.column_range(i, rows);
      if (!l_is_kept || depth < u.rows || rows < c.rows) pack_left(l);
      subtract(l, all_u, c.row_range(i, rows));
    });
  }
  return true;
}

template <class Real>
void PackedProducts<Real>::choose_program(const ShaderSource& sources, const CooperativeMatrixShape& shape,
                                          const MatrixPrograms& programs, int bound) {
  const DeviceDescription& device = device_.description();
  const auto is_exact = [&](const char* program, const std::string& constants) {
    try {
      matrices_ = device_.make_program(sources, program, constants);
      if (largest_error_of_test(bound) == 0) {
        failure_.clear();
        spdlog::debug("products by matrices of {} x {} x {}, {}", shape.rows, shape.columns, shape.depth, program);
        return true;
      }
      failure_ = device.renderer + " multiplies matrices wrongly by " + program + ": it is not used";
    } catch (const std::runtime_error& error) {
      failure_ = std::string(program) + " is not used: " + error.what();
    }
    return false;
  };
  is_tuned_ = shape == programs.tuned_shape && device.subgroup_size == 32;
  if (is_tuned_ && is_exact(programs.tuned, "")) return;
  if (is_tuned_) spdlog::warn("{}", failure_);
  is_tuned_ = false;
  if (shape.exists() && is_exact(programs.any_shape, fmt::format("{} {} {} {}", 4 * device.subgroup_size, shape.rows,
                                                                 shape.columns, shape.depth))) {
    return;
  }
  matrices_.reset();
  if (largest_error_of_test(bound) != 0) {
    throw std::runtime_error(device_.description().renderer +
                             " computes these products wrongly: use --products plain, or another driver");
  }
}

// Products of these whole numbers are exact in the precision, too; extents are ragged.
template <class Real>
double PackedProducts<Real>::largest_error_of_test(int bound) {
  constexpr Index rows = 200, columns = 300, depth = 160;
  std::mt19937 generator(1);
  const auto numbers = [&](Index count) {
    std::vector<Real> values(static_cast<std::size_t>(count));
    for (Real& value : values) {
      value = static_cast<Real>(static_cast<int>(generator() % static_cast<unsigned>(2 * bound - 1)) - (bound - 1));
    }
    return values;
  };
  const std::vector<Real> l = numbers(depth * rows), u = numbers(depth * columns), c = numbers(rows * columns);
  const std::shared_ptr<ComputeDevice> device(std::shared_ptr<void>(), &device_);
  const auto host = MappedBuffer<Real>::create(device, (rows + depth) * std::max(rows, columns));
  Fences fences(device);
  const auto on_host = [&](Index some_rows, Index some_columns) {
    return region_of(HostBlock<Real>{host.get(), 0, some_rows, some_columns, some_columns});
  };
  const auto on_device = [&](Index some_rows, const std::vector<Real>& values) {
    const Index some_columns = static_cast<Index>(values.size()) / some_rows;
    auto matrix = std::make_unique<ComputeMatrix<Real>>(device_, some_rows, some_columns, kernels_.stripe_width());
    std::copy(values.begin(), values.end(), host->data());
    kernels_.copy(on_host(some_rows, some_columns), matrix->region());
    fences.finish();
    return matrix;
  };
  const auto on_device_l = on_device(depth, l), on_device_u = on_device(depth, u), on_device_c = on_device(rows, c);
  if (!update(on_device_l->region(), on_device_u->region(), on_device_c->region(), false)) return 0;
  kernels_.copy(on_device_c->region(), on_host(rows, columns));
  fences.finish();
  double largest = 0;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      double exact = static_cast<double>(c[static_cast<std::size_t>(i * columns + j)]);
      for (Index k = 0; k < depth; ++k) {
        exact -= static_cast<double>(l[static_cast<std::size_t>(k * rows + i)]) *
                 static_cast<double>(u[static_cast<std::size_t>(k * columns + j)]);
      }
      const double error = std::abs(static_cast<double>(host->data()[i * columns + j]) - exact);
      // the product of the moduli is rounded, and so are the last three operations
      constexpr double rounding = std::numeric_limits<Real>::epsilon() / 2;
      if (!(error <= 4 * std::abs(exact) * rounding + 0x1p-8))
        largest = std::max(largest, std::isnan(error) ? 1 : error);
    }
  }
  return largest;
}

template class PackedProducts<float>;
template class PackedProducts<double>;

}  // namespace glinpack::compute
