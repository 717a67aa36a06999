#include "transport/candidate_reduction.hpp"

#include <cmath>
#include <cstring>

#include "mpi/communication.hpp"

namespace glinpack {

namespace {

// Larger magnitude first, then the upper row, as in a sequential search; a NaN wins, so that it is not hidden.
bool better(const CandidateHeader& a, const CandidateHeader& b) {
  if (a.row < 0 || b.row < 0) return b.row < 0;
  const bool a_nan = std::isnan(a.magnitude);
  const bool b_nan = std::isnan(b.magnitude);
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && a.magnitude != b.magnitude) return a.magnitude > b.magnitude;
  return a.row < b.row;
}

// MPI_User_function: the better candidate, and the current row from the rank that has it.
void combine_candidates(void* in, void* in_out, int* count, MPI_Datatype* type) {
  int size = 0;
  MPI_Type_size(*type, &size);
  const std::size_t row_bytes = (static_cast<std::size_t>(size) - sizeof(CandidateHeader)) / 2;
  for (int i = 0; i < *count; ++i) {
    char* from = static_cast<char*>(in) + static_cast<std::ptrdiff_t>(i) * size;
    char* to = static_cast<char*>(in_out) + static_cast<std::ptrdiff_t>(i) * size;
    CandidateHeader theirs;
    CandidateHeader ours;
    std::memcpy(&theirs, from, sizeof theirs);
    std::memcpy(&ours, to, sizeof ours);
    char* const current_row = to + sizeof ours + row_bytes;
    if (theirs.has_current_row != 0) std::memcpy(current_row, from + sizeof theirs + row_bytes, row_bytes);
    if (better(theirs, ours)) std::memcpy(to + sizeof ours, from + sizeof theirs, row_bytes);
    CandidateHeader result = better(theirs, ours) ? theirs : ours;
    result.has_current_row = theirs.has_current_row | ours.has_current_row;
    std::memcpy(to, &result, sizeof result);
  }
}

}  // namespace

template <class Real>
CandidateReduction<Real>::CandidateReduction(Index width)
    : width_(static_cast<std::size_t>(width)), bytes_(sizeof(CandidateHeader) + 2 * width_ * sizeof(Real)) {
  set_header({});
}

template <class Real>
CandidateReduction<Real>::~CandidateReduction() {
  if (operation_ != MPI_OP_NULL) MPI_Op_free(&operation_);
  if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

template <class Real>
void CandidateReduction<Real>::run(MPI_Comm column) {
  if (type_ == MPI_DATATYPE_NULL) {
    GLINPACK_MPI(MPI_Type_contiguous(static_cast<int>(bytes_.size()), MPI_BYTE, &type_));
    GLINPACK_MPI(MPI_Type_commit(&type_));
    GLINPACK_MPI(MPI_Op_create(combine_candidates, 1, &operation_));
  }
  all_reduce(column, bytes_.data(), 1, type_, operation_);
}

template class CandidateReduction<float>;
template class CandidateReduction<double>;

}  // namespace glinpack
