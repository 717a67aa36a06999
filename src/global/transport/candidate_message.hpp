// Partial pivoting's message: the all-reduce over a process column that finds the pivot of a column and exchanges its
// row with the current one (HPL_pdmxswp.c).
#pragma once

#include <cmath>
#include <cstddef>
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

/// The message of candidates with rows of `width` elements. Reduced over a process column, it has the best one and the
/// current row on every rank.
template <class Real>
class CandidateMessage {
 public:
  explicit CandidateMessage(Index width)
      : width_(static_cast<std::size_t>(width)), bytes_(sizeof(CandidateHeader) + 2 * width_ * sizeof(Real)) {
    set_header({});
  }

  void set_header(const CandidateHeader& header) { std::memcpy(bytes_.data(), &header, sizeof header); }
  CandidateHeader header() const {
    CandidateHeader header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    return header;
  }
  Real* candidate_row() { return reinterpret_cast<Real*>(bytes_.data() + sizeof(CandidateHeader)); }
  Real* current_row() { return candidate_row() + width_; }
  std::vector<char>& bytes() { return bytes_; }

 private:
  std::size_t width_;
  std::vector<char> bytes_;
};

/// Larger magnitude first, then the upper row, as in a sequential search; a NaN wins, so that it is not hidden.
inline bool is_better(const CandidateHeader& a, const CandidateHeader& b) {
  if (a.row < 0 || b.row < 0) return b.row < 0;
  const bool a_nan = std::isnan(a.magnitude);
  const bool b_nan = std::isnan(b.magnitude);
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && a.magnitude != b.magnitude) return a.magnitude > b.magnitude;
  return a.row < b.row;
}

/// The operation of the reduction, on messages of `bytes` bytes: the better candidate, and the current row from the
/// message that has it.
inline void combine_candidates(const char* message, char* into, std::size_t bytes) {
  const std::size_t row_bytes = (bytes - sizeof(CandidateHeader)) / 2;
  CandidateHeader theirs;
  CandidateHeader ours;
  std::memcpy(&theirs, message, sizeof theirs);
  std::memcpy(&ours, into, sizeof ours);
  char* const current_row = into + sizeof ours + row_bytes;
  if (theirs.has_current_row != 0) std::memcpy(current_row, message + sizeof theirs + row_bytes, row_bytes);
  if (is_better(theirs, ours)) std::memcpy(into + sizeof ours, message + sizeof theirs, row_bytes);
  CandidateHeader result = is_better(theirs, ours) ? theirs : ours;
  result.has_current_row = theirs.has_current_row | ours.has_current_row;
  std::memcpy(into, &result, sizeof result);
}

}  // namespace glinpack
