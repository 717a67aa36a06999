// A backend that computes nothing, for runs whose messages alone are measured (`glinpack network`).
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace glinpack {

/// Whether host buffers have memory from the start, as the timing of messages needs, or only once they are touched.
enum class HostPages { touched, lazy };

/// Every operation returns at once. Matrices have extents and no memory; host buffers have memory, filled with zeros.
template <class Real>
std::unique_ptr<Backend<Real>> make_none_backend(Timeline& timeline, HostPages pages);

}  // namespace glinpack
