// The trailing update, and large U12, by products of lower precision, whose operands are packed for matrices of the
// device (VK_KHR_cooperative_matrix). Devices without them multiply the same packed numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backend/backend.hpp"
#include "backend/backend_record.hpp"
#include "base/non_copyable.hpp"
#include "device/compute_device.hpp"
#include "device/shader_source.hpp"
#include "kernels/kernels.hpp"
#include "kernels/region.hpp"

namespace glinpack::compute {

/// Before the name of products that are taken if they are faster than plain ones.
inline constexpr std::string_view auto_products = "auto:";

/// The check of --products (BackendOption::check).
void check_products(const std::string& value, Precision precision);

/// BackendRecord::update_bytes: of what PackedProducts::reserve() allocates; for auto those of its way.
std::int64_t update_bytes(const BackendValues& values, Index depth, Index rows, Index columns);

template <class Real>
class PackedProducts : NonCopyable {
 public:
  virtual ~PackedProducts() = default;

  /// C <- C - L U as Kernels::update. False, and nothing done, if a window does not hold a stripe of an operand.
  /// `l_is_kept`: L is that of the last call, which need not be packed again.
  bool update(const Region& l_transposed, const Region& u, const Region& c, bool l_is_kept);
  /// A <- L^-1 A as Kernels::solve_u12, by products with the whole inverse of L. False, and A is as it was, if the
  /// products are too inexact for it, if it saves no time, or if a window does not hold a stripe of A or the inverse.
  virtual bool solve_unit_lower(const Region& /*l_transposed*/, const Region& /*a*/) { return false; }
  /// Backend::reserve_update().
  virtual void reserve(Index depth, Index rows, Index columns) = 0;
  /// Sets what the report says of products.
  virtual void describe(BackendInfo& info) const = 0;
  /// Why it does not use the device's matrices; empty if it does, or if there are none.
  const std::string& failure() const { return failure_; }

 protected:
  using ProgramPointer = std::unique_ptr<DeviceProgram>;
  /// Device memory that grows.
  struct Buffer {
    std::unique_ptr<DeviceBuffer> memory;
    Index bytes = 0;
    BufferId id() const { return memory->id(); }
  };
  /// What is packed at a time: its depth, columns of L, and the bytes of a number.
  struct Limits {
    Index depth, left_columns, number_bytes;
  };

  PackedProducts(Kernels& kernels, const Limits& limits)
      : kernels_(kernels), device_(kernels.device()), limits_(limits) {}

  virtual void pack_left(const Region& l_transposed) = 0;
  /// C <- C - L U. L was packed; a barrier follows. Packs U. What follows sees C.
  virtual void subtract(const Region& l_transposed, const Region& u, const Region& c) = 0;

  /// Programs in SPIR-V: `tuned` for one shape and NVIDIA's registers, and for any shape.
  struct MatrixPrograms {
    CooperativeMatrixShape tuned_shape;
    const char* tuned;
    const char* any_shape;
  };
  /// matrices_ <- the first of both programs that the device has matrices for, if a product of whole numbers below
  /// `bound` is exact by it. If neither is, failure() gives the reason. Throws std::runtime_error if it is not exact
  /// without matrices either. For constructors of derived classes.
  void choose_program(const ShaderSource& sources, const CooperativeMatrixShape& shape, const MatrixPrograms& programs,
                      int bound);
  /// Calls body(j, columns) for parts of an operand, each in a window, of up to max_columns.
  template <class Body>
  void for_chunks(const Region& operand, Index max_columns, Body body) const {
    constexpr Index unit = 256;
    const Index bound = device_.description().storage_block / (operand.rows + unit) / limits_.number_bytes;
    max_columns = std::min(max_columns, std::max(bound / unit * unit, unit));
    for (Index j = 0; j < operand.columns;) {
      const Index columns = std::min(columns_per_window(operand, kernels_.window_elements(), j), max_columns);
      body(j, columns);
      j += columns;
    }
  }
  /// Makes a buffer of `needed` bytes unless it has them. Returns whether the buffer is another one.
  bool grow(Buffer& buffer, Index needed);
  /// Whether a window holds a stripe of the operand.
  bool holds(const Region& operand) const;
  /// The address, low and high word.
  static std::pair<Index, Index> words_of(std::uint64_t address) {
    return {static_cast<Index>(address & 0xffffffffU), static_cast<Index>(address >> 32)};
  }

  Kernels& kernels_;
  ComputeDevice& device_;
  ProgramPointer matrices_;  // null: none
  bool is_tuned_ = false;    // matrices_ is, and reaches memory by address

 private:
  double largest_error_of_test(int bound);

  Limits limits_;
  std::string failure_;
};

/// How many products of halves there are for a product of numbers that are rounded, or split into two halves.
inline constexpr int rounded_terms = 1, split_terms = 3;

/// In single precision by matrices of halves (half_products.cpp) if the device has them and they pass a test against
/// exact results. `inverse_elements`: as in ComputeLimits. Throws std::runtime_error.
std::unique_ptr<PackedProducts<float>> make_half_products(const ShaderSource& sources, Kernels& kernels, int terms,
                                                          Index inverse_elements);

inline constexpr Index max_residue_depth = 1024;  // of a product; deeper ones have parts
inline constexpr int min_moduli = 14, max_moduli = 18, default_moduli = 15;

/// The moduli of a value of --products: of "int8" or "int8:14"; 0 for other products, -1 if they are no number.
int moduli_of(std::string_view products);

/// What moduli keep.
struct ResidueAccuracy {
  double scaled_bits = 0;  // a scaled row or column has a 2-norm of at most 2^scaled_bits
  /// An element of L U, of rows and columns of `depth` elements, is wrong by at most this times both 2-norms.
  double bound(Index depth) const;
};
ResidueAccuracy accuracy_of(int moduli);

/// In double precision by matrices of bytes (residue_products.cpp) if the device has them and they pass a test against
/// exact results; otherwise by integers. Throws std::runtime_error when integers do not pass either.
std::unique_ptr<PackedProducts<double>> make_residue_products(const ShaderSource& sources, Kernels& kernels,
                                                              int moduli);

/// Bytes of their PackedProducts::reserve().
std::int64_t half_bytes(int terms, Index depth, Index rows, Index columns);
std::int64_t residue_bytes(int moduli, Index depth, Index rows, Index columns);

}  // namespace glinpack::compute
