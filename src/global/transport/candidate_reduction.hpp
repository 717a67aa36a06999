// Partial pivoting's message: the all-reduce over a process column that finds the pivot of a column and exchanges its
// row with the current one (HPL_pdmxswp.c).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/matrix_view.hpp"

namespace glinpack {

/// Message of a pivot candidate: this header, the candidate's row, then the current row, filled in only by its owner.
struct CandidateHeader {
  double magnitude = -1;  // -1: no row here
  std::int64_t row = -1;  // global
  std::int64_t has_current_row = 0;
};

/// The all-reduce over candidates with rows of `width` elements: every rank ends with the best one and the current row.
/// Owns MPI's type and operation, from the first run() on.
template <class Real>
class CandidateReduction {
 public:
  explicit CandidateReduction(Index width);
  CandidateReduction(const CandidateReduction&) = delete;
  CandidateReduction& operator=(const CandidateReduction&) = delete;
  ~CandidateReduction();

  void set_header(const CandidateHeader& header) { std::memcpy(bytes_.data(), &header, sizeof header); }
  CandidateHeader header() const {
    CandidateHeader header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    return header;
  }
  Real* candidate_row() { return reinterpret_cast<Real*>(bytes_.data() + sizeof(CandidateHeader)); }
  Real* current_row() { return candidate_row() + width_; }
  std::int64_t message_bytes() const { return static_cast<std::int64_t>(bytes_.size()); }
  /// Collective over the process column.
  void run(MPI_Comm column);

 private:
  std::size_t width_;
  std::vector<char> bytes_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

}  // namespace glinpack
