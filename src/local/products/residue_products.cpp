// Double-precision updates by products of bytes: Ozaki's scheme II (Ozaki, Uchino, Imamura, arXiv 2504.08009).
//
// Rows of L and columns of U are scaled by powers of two and rounded to whole numbers. Their product is computed modulo
// each of some coprime numbers, by matrices of bytes or by integers, and is put together by the Chinese remainder
// theorem. The shaders' heads say how (shaders/compute/residues.glsl, residue_*.comp, shaders/matrix).
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <span>

#include "device/mapped_buffer.hpp"
#include "products/packed_products.hpp"

namespace glinpack::compute {
namespace {

// The largest pairwise coprime numbers whose residues fit a byte.
constexpr std::array<std::uint32_t, max_moduli> all_moduli{256, 255, 253, 251, 247, 241, 239, 233, 229,
                                                           227, 223, 217, 211, 199, 197, 193, 191, 181};

// The shaders have the same numbers.
constexpr Index tile_rows = 128, tile_columns = 256, tile_bytes = tile_rows * tile_columns;
constexpr Index depth_unit = 128;
static_assert(max_residue_depth * 128 * 128 <= 1 << 24, "the table's positive multiples");
constexpr Index rest_groups = 512;

// Columns of a packed part, and a tile of C that is computed at a time: larger ones take more memory and are no faster.
constexpr Index packed_rows = 65536, packed_columns = 16384;
constexpr int whole_numbers = 1 << 19;  // products of 160 of them are exact
constexpr Index piece_rows = 16384, piece_columns = 2048;

constexpr int max_scaled_bits = 61;  // the shaders' integers have 64

Index depth_in_fragments(Index depth) { return round_up(depth, depth_unit) / 32; }

Index exponent_bytes(Index padded_columns) { return 4 * (padded_columns + 1); }
Index packed_bytes(Index padded_columns, Index depth, int moduli) {
  return padded_columns * depth_in_fragments(depth) * 32 * moduli;
}
Index remainder_bytes(Index rows, Index columns, int moduli) {
  return groups(rows, tile_rows) * groups(columns, tile_columns) * tile_bytes * moduli;
}

std::uint32_t product_modulo(std::span<const std::uint32_t> factors, std::size_t without, std::uint32_t p) {
  std::uint32_t product = 1;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i != without) product = product * (factors[i] % p) % p;
  }
  return product;
}

std::uint32_t inverse_modulo(std::uint32_t x, std::uint32_t p) {
  std::uint32_t inverse = 1;
  while (x * inverse % p != 1) ++inverse;
  return inverse;
}

std::string bits_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return std::to_string(bits & 0xffffffffU) + "u, " + std::to_string(bits >> 32) + "u";
}

/// The constants of the shaders (residue_combine.comp).
std::string preamble_of(std::span<const std::uint32_t> moduli, int scale_bits, double bound_bits) {
  const std::size_t triples = (moduli.size() + 2) / 3;
  constexpr double unit = 1.0 / (std::uint64_t{1} << 48);
  std::string list, upper, lower;
  long double product = std::ldexp(1.0L, -2 * scale_bits);
  for (std::size_t i = 0; i < triples; ++i) {
    std::uint64_t three = 1;
    for (std::size_t l = 3 * i; l < 3 * i + 3; ++l) {
      const std::uint32_t p = l < moduli.size() ? moduli[l] : 1;
      list += (l == 0 ? "" : ", ") + std::to_string(p) + "u";
      three *= p;
      product *= p;
    }
    const std::uint64_t quotient = (std::uint64_t{1} << 48) / three, rest = (std::uint64_t{1} << 48) % three;
    const std::string comma = i == 0 ? "uvec2(" : ", uvec2(";
    upper += comma + bits_of(static_cast<double>(quotient) * unit) + ")";
    lower += comma + bits_of(static_cast<double>(rest) / static_cast<double>(three) * unit) + ")";
  }
  return define("MODULI", static_cast<Index>(moduli.size())) + define("TRIPLES", static_cast<Index>(triples)) +
         define("SCALE_BITS", scale_bits) + "#define BOUND_BITS " + std::to_string(bound_bits) + "\n" +
         "#define MODULUS_LIST " + list + "\n#define UPPER_LIST " + upper + "\n#define LOWER_LIST " + lower +
         "\n#define PRODUCT_OF_MODULI " + bits_of(static_cast<double>(product)) + "\n";
}

class ResidueProducts final : public PackedProducts<double> {
 public:
  ResidueProducts(const ShaderSource& sources, Kernels& kernels, int moduli)
      : PackedProducts(kernels, {max_residue_depth, packed_rows, moduli}),
        moduli_(all_moduli.begin(), all_moduli.begin() + moduli) {
    const double bound_bits = accuracy_of(moduli).scaled_bits;
    const std::string preamble = kernels.types() + define("UNROLLED", device_.description().int8_matrices.exists()) +
                                 preamble_of(moduli_, static_cast<int>(bound_bits), bound_bits);
    const auto build = [&](const char* name, const std::string& variant = "") {
      return device_.make_program(sources, name, preamble + variant);
    };
    scales_ = build("compute/residue_scales.comp");
    integers_ = build("compute/residue_products.comp");
    combine_ = build("compute/residue_combine.comp");
    rest_ = build("compute/residue_rest.comp");
    left_.block = tile_rows;
    left_.pack = build("compute/residues.comp", define("RIGHT", 0) + define("BLOCK", tile_rows / 16));
    right_.block = tile_columns;
    right_.pack = build("compute/residues.comp", define("RIGHT", 1) + define("BLOCK", tile_columns / 16));
    make_table();
    choose_program(sources, device_.description().int8_matrices,
                   {{16, 16, 32}, "matrix/residue_products.spv", "matrix/residue_any_shape.spv"}, whole_numbers);
  }

  void reserve(Index depth, Index rows, Index columns) override {
    reserve(left_, std::min(depth, max_residue_depth), std::min(rows, packed_rows));
    reserve(right_, std::min(depth, max_residue_depth), std::min(columns, packed_columns));
    grow(remainders_, remainder_bytes(std::min(rows, piece_rows), std::min(columns, piece_columns), moduli()));
  }
  void describe(BackendInfo& info) const override {
    info.products = "int8";
    info.moduli = moduli();
    info.product_error = accuracy_of(moduli()).bound(max_residue_depth);
  }

 private:
  struct Operand {
    ProgramPointer pack;
    Index block = 0;  // columns that are padded together
    Buffer exponents, packed;
    Index padded(Index columns) const { return round_up(columns, block); }
  };

  int moduli() const { return static_cast<int>(moduli_.size()); }
  // Two elements of a modulus p: p, floor(2^32 / p), a multiple of p that makes sums positive; factors of the low and
  // the high words of L's and U's numbers.
  void make_table() {
    table_ = make_buffer(device_, static_cast<Index>(moduli_.size()) * 32, Memory::list);
    auto* words = static_cast<std::uint32_t*>(table_->data());
    for (std::size_t i = 0; i < moduli_.size(); ++i) {
      const std::uint32_t p = moduli_[i], inverse = inverse_modulo(product_modulo(moduli_, i, p), p);
      const auto high = static_cast<std::uint32_t>((std::uint64_t{1} << 32) % p);
      const std::uint32_t positive = ((1U << 24) + p - 1) / p * p;
      for (const std::uint32_t word : {p, static_cast<std::uint32_t>((std::uint64_t{1} << 32) / p), positive, 0U, 1U,
                                       high, inverse, inverse * high % p}) {
        *words++ = word;
      }
    }
  }

  void reserve(Operand& operand, Index depth, Index columns) {
    if (grow(operand.exponents, exponent_bytes(operand.padded(columns)))) {
      device_.fill(operand.exponents.id(), operand.exponents.bytes, 0);
    }
    grow(operand.packed, packed_bytes(operand.padded(columns), depth, moduli()));
  }
  void pack(Operand& operand, const Region& region) {
    reserve(operand, region.rows, region.columns);
    const Index columns = operand.padded(region.columns), along = depth_in_fragments(region.rows);
    scales_->set(0, region.rows, region.columns);
    kernels_.bind(*scales_, 0, 1, region);
    device_.bind(1, operand.exponents.id());
    kernels_.dispatch(*scales_, groups(region.columns, 16), 1);
    operand.pack->set(0, region.rows, region.columns, columns / 16, along);
    kernels_.bind(*operand.pack, 0, 1, region);
    device_.bind(1, operand.exponents.id());
    device_.bind(2, operand.packed.id());
    device_.bind(3, table_->id());
    kernels_.dispatch_independent(*operand.pack, columns / 128, groups(along, 1));
  }

  void pack_left(const Region& l_transposed) override { pack(left_, l_transposed); }
  // remainders_ <- products of packed rows and columns from the first ones on.
  void multiply(Index first_row, Index first_column, const Region& c, Index depth) {
    const Index rows = groups(c.rows, tile_rows), columns = groups(c.columns, tile_columns);
    grow(remainders_, remainder_bytes(c.rows, c.columns, moduli()));
    DeviceProgram& program = matrices_ ? *matrices_ : *integers_;
    program.set(1, rows, columns, first_row / tile_rows, first_column / tile_columns);
    program.set(2, c.rows, c.columns, depth_in_fragments(depth), moduli());
    device_.bind(2, remainders_.id());
    device_.bind(3, table_->id());
    if (is_tuned_) {
      const auto [left_low, left_high] = words_of(device_.address_of(left_.packed.id()));
      const auto [right_low, right_high] = words_of(device_.address_of(right_.packed.id()));
      program.set(0, left_low, left_high, right_low, right_high);
      kernels_.dispatch(program, rows * columns, moduli());
    } else {
      device_.bind(0, left_.packed.id());
      device_.bind(1, right_.packed.id());
      kernels_.dispatch(program, tile_bytes / 16 / 256, rows * columns * moduli());
    }
  }

  void combine(const Region& l_transposed, const Region& u, Index first_row, Index first_column, const Region& c) {
    const Index across = groups(c.columns, tile_columns);
    for_window_parts(c, kernels_.window_elements(), tile_rows, [&](Index i, Index j, Index rows, Index columns) {
      const Region part = c.block(i, j, rows, columns);
      const bool vectors = window_of(part).first % 2 == 0 && part.leading_dimension % 2 == 0 &&
                           part.stripe_stride % 2 == 0 && (part.column - j) % 4 == 0;
      combine_->set(0, i, j, i + rows, j + columns);
      combine_->set(1, first_row, first_column, across, vectors);
      device_.bind(0, remainders_.id());
      device_.bind(1, left_.exponents.id());
      device_.bind(2, right_.exponents.id());
      kernels_.bind(*combine_, 3, 2, part);
      const Index tiles =
          (groups(i + rows, tile_rows) - i / tile_rows) * (groups(j + columns, tile_columns) - j / tile_columns);
      kernels_.dispatch(*combine_, tile_bytes / 16 / 256, tiles);
      rest_->set(0, first_row + i, first_column + j, rows, columns);
      rest_->set(1, u.rows);
      kernels_.bind(*rest_, 3, 2, part);
      kernels_.bind(*rest_, 4, 3, l_transposed);
      kernels_.bind(*rest_, 5, 4, u);
      kernels_.dispatch(*rest_, rest_groups, 1);
    });
  }

  void subtract(const Region& l_transposed, const Region& u, const Region& c) override {
    for_chunks(u, packed_columns, [&](Index first, Index columns) {
      const Region some_u = u.column_range(first, columns);
      pack(right_, some_u);
      kernels_.finish_dispatches();
      for (Index column = 0; column < columns; column += piece_columns) {
        for (Index row = 0; row < c.rows; row += piece_rows) {
          const Region piece = c.block(row, first + column, std::min(piece_rows, c.rows - row),
                                       std::min(piece_columns, columns - column));
          multiply(row, column, piece, u.rows);
          combine(l_transposed, some_u, row, column, piece);
        }
      }
    });
  }

  std::vector<std::uint32_t> moduli_;
  ProgramPointer scales_, integers_, combine_, rest_;
  Operand left_, right_;
  std::unique_ptr<DeviceBuffer> table_;
  Buffer remainders_;
};

}  // namespace

int moduli_of(std::string_view products) {
  constexpr std::string_view name = "int8", separated = "int8:";
  if (products == name) return default_moduli;
  if (!products.starts_with(separated)) return 0;
  const std::string_view count = products.substr(separated.size());
  int moduli = 0;
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), moduli);
  return error == std::errc() && end == count.data() + count.size() ? moduli : -1;
}

// Cauchy and Schwarz: elements of the product are below half the product of the moduli. A little is left for what the
// norms neglect.
ResidueAccuracy accuracy_of(int moduli) {
  double bits = -1;
  for (int i = 0; i < moduli; ++i) bits += std::log2(static_cast<double>(all_moduli[static_cast<std::size_t>(i)]));
  return {std::min<double>(bits / 2 - 0.02, max_scaled_bits)};
}

// Norms are at least 2^(scaled_bits - 1). Each of `depth` elements is rounded by at most 1/2, in both operands.
double ResidueAccuracy::bound(Index depth) const {
  return std::sqrt(static_cast<double>(depth)) * std::exp2(1 - scaled_bits) + std::exp2(-52);
}

std::int64_t residue_bytes(int moduli, Index depth, Index rows, Index columns) {
  depth = std::min(depth, max_residue_depth);
  const Index left = round_up(std::min(rows, packed_rows), tile_rows),
              right = round_up(std::min(columns, packed_columns), tile_columns);
  return exponent_bytes(left) + exponent_bytes(right) + packed_bytes(left + right, depth, moduli) +
         remainder_bytes(std::min(rows, piece_rows), std::min(columns, piece_columns), moduli);
}

std::unique_ptr<PackedProducts<double>> make_residue_products(const ShaderSource& sources, Kernels& kernels,
                                                              int moduli) {
  return std::make_unique<ResidueProducts>(sources, kernels, moduli);
}

}  // namespace glinpack::compute
