// Partial pivoting's message: the all-reduce over a process column that finds the pivot of a column and exchanges its
// row with the current one (HPL_pdmxswp.c).
#pragma once

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

/// The operation of the reduction, on messages of `bytes` bytes: the better candidate, and the current row from the
/// message that has it.
void combine_candidates(const char* message, char* into, std::size_t bytes);

}  // namespace glinpack
