#include "transport/candidate_message.hpp"

#include <cmath>

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

}  // namespace

void combine_candidates(const char* message, char* into, std::size_t bytes) {
  const std::size_t row_bytes = (bytes - sizeof(CandidateHeader)) / 2;
  CandidateHeader theirs;
  CandidateHeader ours;
  std::memcpy(&theirs, message, sizeof theirs);
  std::memcpy(&ours, into, sizeof ours);
  char* const current_row = into + sizeof ours + row_bytes;
  if (theirs.has_current_row != 0) std::memcpy(current_row, message + sizeof theirs + row_bytes, row_bytes);
  if (better(theirs, ours)) std::memcpy(into + sizeof ours, message + sizeof theirs, row_bytes);
  CandidateHeader result = better(theirs, ours) ? theirs : ours;
  result.has_current_row = theirs.has_current_row | ours.has_current_row;
  std::memcpy(into, &result, sizeof result);
}

}  // namespace glinpack
