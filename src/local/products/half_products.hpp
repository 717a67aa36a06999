// Single-precision updates by products of halves with sums in single precision, for factors that are refined (HPL-MxP;
// Haidar, Tomov, Dongarra, Higham, Harnessing GPU tensor cores ..., SC18). L and U are scaled by powers of two and
// rounded (shaders/compute/halves.glsl); C stays in single precision. Or each number is split into two halves, and
// three products are nearly as exact as single precision (Markidis, Der Chien, Laure, Peng, Vetter, NVIDIA tensor core
// programmability, performance and precision, IPDPSW 2018).
#pragma once

#include "products/packed_products.hpp"

namespace glinpack::compute {

/// Products of halves for one of numbers, which are rounded or split.
inline constexpr int rounded_terms = 1, split_terms = 3;

/// Bytes of their PackedProducts::reserve().
std::int64_t half_bytes(int terms, Index depth, Index rows, Index columns);

/// With matrices of halves if the device has them and they pass a test against exact results. Throws
/// std::runtime_error.
std::unique_ptr<PackedProducts<float>> make_half_products(const ShaderSource& sources, Kernels& kernels, int terms);

}  // namespace glinpack::compute
