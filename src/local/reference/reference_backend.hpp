// The local operations as naive loops: their definition, and the oracle of every other backend.
//
// Deterministic: the products of an element are subtracted in ascending k, as in unblocked elimination. With the same
// pivots, factors are the same, bit for bit, for every block size and every process grid.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/backend_record.hpp"
#include "host/host_memory.hpp"

namespace glinpack {

template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_reference_panel_arithmetic();

/// Arithmetic in one thread; options.threads threads move data. Uses no other option.
template <class Real>
std::unique_ptr<Backend<Real>> make_reference_backend(const BackendOptions& options, Timeline& timeline);

inline constexpr BackendRecord reference_record{
    .name = "reference",
    .make_single = make_reference_backend<float>,
    .make_double = make_reference_backend<double>,
    // slower with wider blocks (results/small-box/logs.md block-sizes)
    .block_size = [](Precision, Index, const BackendValues&) -> Index { return 32; },
    .matrix_bytes = host_matrix_bytes,
    .reproducible = true,
};

}  // namespace glinpack
