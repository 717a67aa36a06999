#include "transport/communicator.hpp"

#include <limits>

namespace glinpack {

bool all_agree(const Communicator& communicator, bool fine) {
  return all_reduced<std::int64_t>(communicator, fine ? 1 : 0, Reduction::min) == 1;
}

void agree_or_throw(const Communicator& communicator, const std::string& error, bool names_its_rank) {
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  const std::int64_t mine = error.empty() ? none : communicator.rank();
  const std::int64_t first_failed = all_reduced(communicator, mine, Reduction::min);
  if (first_failed == none) return;
  std::string message = names_its_rank ? error : communicator.name_of_rank() + ": " + error;
  communicator.broadcast(static_cast<int>(first_failed), message);
  throw AgreedError(message);
}

}  // namespace glinpack
