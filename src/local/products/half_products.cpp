// Single-precision updates by products of halves with sums in single precision, for factors that are refined (HPL-MxP;
// Haidar, Tomov, Dongarra, Higham, Harnessing GPU tensor cores ..., SC18). L and U are scaled by powers of two and
// rounded (shaders/compute/halves.glsl); C stays in single precision. Or each number is split into two halves, and
// three products are nearly as exact as single precision (Markidis, Der Chien, Laure, Peng, Vetter, NVIDIA tensor core
// programmability, performance and precision, IPDPSW 2018).
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "products/packed_products.hpp"

namespace glinpack::compute {
namespace {

// The shaders have the same numbers.
constexpr Index half_block = 64, half_fragment = 16, half_tile_rows = 128, half_tile_columns = 256;
constexpr Index half_scale_columns = 256, half_scale_depth = 64;
constexpr Index half_fragment_bytes = 512;

constexpr Index max_half_depth = 2048, max_half_columns = 262144;
constexpr int whole_halves = 64;  // products of 160 of them are exact

// Fragments, an even number.
Index depth_in_halves(int terms, Index depth) { return terms * round_up(depth, 2 * half_fragment) / half_fragment; }

Index half_fragments(Index columns) { return round_up(columns, half_block) / half_fragment; }
Index half_element_bytes(int terms, Index depth, Index columns) {
  return half_fragments(columns) * depth_in_halves(terms, depth) * half_fragment_bytes;
}

// Parts of an operand that are packed together. Each has scale and padding.
constexpr Index max_half_parts = 64, half_scale_bytes = 4 * max_half_parts;
Index half_operand_bytes(int terms, Index depth, Index columns) {
  return half_element_bytes(terms, std::min(depth, max_half_depth), columns + max_half_parts * half_block);
}

// Elements of U12 from which a product with the whole inverse takes less time than the solve: the product saves time in
// proportion to them and to k, and the inverse costs time in proportion to k (docs/performance.md). Split numbers have
// three products, which save none.
constexpr Index default_inverse_elements = Index{1} << 24;
constexpr bool has_inverse(int terms, Index k, Index columns, Index min_elements) {
  return terms == rounded_terms && k <= max_half_depth && k * columns >= min_elements;
}
// The leading dimension of an inverse of k rows.
Index inverse_stride(Index k) { return round_up(k, half_block); }
Index inverse_bytes(Index k) { return 4 * inverse_stride(k) * inverse_stride(k); }

/// The first number of the unit that holds i, and how many units reach the end.
constexpr Index half_units(Index i, Index end, Index unit, Index start_unit) {
  return groups(end - i / start_unit * start_unit, unit);
}

class HalfProducts final : public PackedProducts<float> {
 public:
  HalfProducts(const ShaderSource& sources, Kernels& kernels, int terms, Index inverse_elements)
      : PackedProducts(kernels, {max_half_depth, max_half_columns, 2 * terms}),
        terms_(terms),
        inverse_elements_(inverse_elements > 0 ? inverse_elements : default_inverse_elements) {
    const auto build = [&](const char* name, const std::string& variant = "") {
      return device_.make_program(sources, name, kernels.types() + variant);
    };
    scale_ = build("compute/half_scale.comp");
    plain_ = build("compute/half_products.comp");
    const auto packing = [&](bool is_right, bool is_transposed) {
      return build("compute/halves.comp",
                   define("RIGHT", is_right) + define("TRANSPOSED", is_transposed) + define("TERMS", terms));
    };
    left_.pack = packing(false, false);
    right_.pack = packing(true, false);
    if (terms == rounded_terms) inverse_.pack = packing(false, true);
    choose_program(sources, device_.description().half_matrices,
                   {{16, 16, 16}, "matrix/half_products.spv", "matrix/half_any_shape.spv"}, whole_halves);
  }

  void reserve(Index depth, Index rows, Index columns) override {
    reserve(left_, depth, rows);
    reserve(right_, depth, columns);
    if (has_inverse(terms_, depth, columns, inverse_elements_)) reserve_inverse(depth);
  }
  bool solve_unit_lower(const Region& l_transposed, const Region& a) override {
    const Index k = a.rows, stride = inverse_stride(k);
    Region inverse{{}, stride * stride, 0, 0, k, k, stride, 0, 0};
    if (!has_inverse(terms_, k, a.columns, inverse_elements_) || !holds(a) || !holds(inverse)) return false;
    reserve_inverse(k);
    inverse.buffer = whole_inverse_.id();
    kernels_.invert_unit_lower(l_transposed, inverse);
    pack(inverse_, std::array{Part{inverse, 0, 0}});
    subtract_product(inverse_, a, a);
    return true;
  }
  void describe(BackendInfo& info) const override { info.products = terms_ == rounded_terms ? "half" : "split"; }

 private:
  struct Operand {
    ProgramPointer pack;
    Buffer scales, elements;
  };
  /// A part of an operand with a scale of its own.
  struct Part {
    Region region;
    Index first_column, first_element;
  };
  void reserve(Operand& operand, Index depth, Index columns) {
    grow(operand.scales, half_scale_bytes);
    grow(operand.elements, half_operand_bytes(terms_, depth, columns));
  }

  void reserve_inverse(Index k) {
    grow(whole_inverse_, inverse_bytes(k));
    reserve(inverse_, k, k);
  }

  void pack(Operand& operand, std::span<const Part> parts) {
    const Index depth = depth_in_halves(terms_, parts.front().region.rows);
    device_.barrier(Readers::copies);
    device_.fill(operand.scales.id(), half_scale_bytes, 0);
    Index number = 0;
    for (const Part& part : parts) {
      scale_->set(0, part.region.rows, part.region.columns);
      scale_->set(2, number++);
      kernels_.bind(*scale_, 0, 1, part.region);
      device_.bind(1, operand.scales.id());
      kernels_.dispatch_independent(*scale_, groups(part.region.columns, half_scale_columns),
                                    groups(part.region.rows, half_scale_depth));
    }
    kernels_.finish_dispatches();
    number = 0;
    for (const Part& part : parts) {
      const Index across = half_fragments(part.region.columns);
      operand.pack->set(0, part.region.rows, part.region.columns, across, depth);
      operand.pack->set(2, number++, part.first_element);
      kernels_.bind(*operand.pack, 0, 1, part.region);
      device_.bind(1, operand.scales.id());
      device_.bind(2, operand.elements.id());
      kernels_.dispatch_independent(*operand.pack, groups(across, 8), depth);
    }
  }

  void pack_left(const Region& l_transposed) override {
    reserve(left_, l_transposed.rows, l_transposed.columns);
    pack(left_, std::array{Part{l_transposed, 0, 0}});
  }
  void subtract(const Region&, const Region& u, const Region& c) override { subtract_product(left_, u, c); }

  // All parts of U are packed before the first product, so that few barriers leave the device without work. C may be U.
  void subtract_product(const Operand& left, const Region& u, const Region& c) {
    reserve(right_, u.rows, u.columns);
    std::vector<Part> parts;
    Index element = 0;
    const auto subtract_parts = [&] {
      if (parts.empty()) return;
      pack(right_, parts);
      kernels_.finish_dispatches();
      Index number = 0;
      for (const Part& part : parts) {
        subtract_part(matrices_ ? *matrices_ : *plain_, left, part, number++,
                      c.column_range(part.first_column, part.region.columns));
      }
      kernels_.finish_dispatches();
      parts.clear();
      element = 0;
    };
    for_chunks(u, max_half_columns, [&](Index j, Index columns) {
      parts.push_back({u.column_range(j, columns), j, element});
      element += half_element_bytes(terms_, u.rows, columns) / 16;
      if (std::ssize(parts) == max_half_parts) subtract_parts();
    });
    subtract_parts();
  }

  void subtract_part(DeviceProgram& program, const Operand& left, const Part& u, Index number, const Region& c) {
    for_window_parts(c, kernels_.window_elements(), half_tile_rows, [&](Index i, Index j, Index rows, Index columns) {
      subtract_window(program, left, u, number, c.block(i, j, rows, columns), i, j);
    });
  }
  // Row i of L and column j of the part of U are the first of c.
  void subtract_window(DeviceProgram& program, const Operand& left, const Part& u, Index number, const Region& c,
                       Index i, Index j) {
    const Index end_row = i + c.rows, end_column = j + c.columns, depth = depth_in_halves(terms_, u.region.rows);
    program.set(0, i, j, end_row, end_column);
    kernels_.bind(program, 2, 2, c);
    device_.bind(3, left.scales.id());
    device_.bind(4, right_.scales.id());
    const int stripe_shift = std::countr_zero(static_cast<std::uint64_t>(kernels_.stripe_width()));
    if (!is_tuned_) {
      program.set(3, depth, u.first_element, number, stripe_shift);
      device_.bind(0, left.elements.id());
      device_.bind(1, right_.elements.id());
      const Index rows = matrices_ ? half_block : half_fragment, columns = matrices_ ? half_block : 8 * half_fragment;
      const Index unit = std::min(rows, columns);
      kernels_.dispatch_independent(program, half_units(j, end_column, columns, unit),
                                    half_units(i, end_row, rows, unit));
      return;
    }
    const Window window = window_of(c);
    const bool vectors =
        window.first % 4 == 0 && c.leading_dimension % 4 == 0 && c.stripe_stride % 4 == 0 && (c.column - j) % 4 == 0;
    const auto bytes = [](Index elements, Index each) { return static_cast<std::uint64_t>(elements * each); };
    const auto [left_low, left_high] = words_of(device_.address_of(left.elements.id()));
    const auto [right_low, right_high] =
        words_of(device_.address_of(right_.elements.id()) + bytes(u.first_element, 16));
    const auto [c_low, c_high] = words_of(device_.address_of(c.buffer) + bytes(window.begin, 4));
    program.set(1, left_low, left_high, right_low, right_high);
    program.set(3, depth, vectors, stripe_shift, number);
    program.set(4, c_low, c_high);
    kernels_.dispatch_independent(
        program,
        half_units(i, end_row, half_tile_rows, half_block) * half_units(j, end_column, half_tile_columns, half_block),
        1);
  }

  int terms_;
  Index inverse_elements_;
  ProgramPointer scale_, plain_;
  Operand left_, right_, inverse_;
  Buffer whole_inverse_;  // I - L^-1
};

}  // namespace

std::int64_t half_bytes(int terms, Index depth, Index rows, Index columns) {
  const auto operand = [&](Index extent) { return half_scale_bytes + half_operand_bytes(terms, depth, extent); };
  return operand(rows) + operand(columns) +
         (has_inverse(terms, depth, columns, default_inverse_elements) ? operand(depth) + inverse_bytes(depth) : 0);
}

std::unique_ptr<PackedProducts<float>> make_half_products(const ShaderSource& sources, Kernels& kernels, int terms,
                                                          Index inverse_elements) {
  return std::make_unique<HalfProducts>(sources, kernels, terms, inverse_elements);
}

}  // namespace glinpack::compute
