// A backend that computes nothing: for runs whose messages alone are measured (`glinpack network`), and to list
// operations with their amounts of work and count the memory of matrices (`glinpack plan`).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "backend/backend.hpp"
#include "backend/operations.hpp"

namespace glinpack {

/// Whether host buffers have memory from the start, as the timing of messages needs, or only once they are touched.
enum class HostPages { touched, lazy };

/// The machine whose operations the backend lists, and whose memory it counts.
struct ModelledDevice {
  bool has_memory = false;       // matrices are in its memory: panels and rows are copied to the host and back
  bool is_asynchronous = false;  // computes while the host does something else, and is fast at panels: a GPU
  bool has_panels = true;        // factorises panels, if it is asynchronous or asked to
  double panel_columns = 1;      // cost of a column of a panel that it factorises, in columns of a panel alone on it
  bool has_peers = false;        // copies messages to devices of its node: buffers in its memory
  bool row_by_row = false;       // has the white paper's algorithm, whose operations are not listed
  std::int64_t (*matrix_bytes)(Index rows, Index columns, std::int64_t element_bytes) = nullptr;  // BackendRecord's
  std::function<std::int64_t(Index depth, Index rows, Index columns)> update_bytes = nullptr;     // with option values
};

/// Every operation returns at once. Matrices have extents and no memory; host buffers have memory, filled with zeros.
/// Host buffers and the memory of `device` count (MemoryCount). `operations` becomes the list of its operations, with
/// amounts as BLAS and LAPACK count flops.
template <class Real>
std::unique_ptr<Backend<Real>> make_none_backend(Timeline& timeline, HostPages pages, const ModelledDevice& device = {},
                                                 OperationList* operations = nullptr);

}  // namespace glinpack
