#include "global/pending.hpp"

#include <algorithm>
#include <numeric>

#include "global/communication.hpp"

namespace glinpack {

namespace {

struct Introduced {
  MPI_Comm communicator;
  Awaited what;
  std::vector<int> world_ranks;
};

// The communicators of the present grid.
std::vector<Introduced>& all_introduced() {
  static std::vector<Introduced> all;
  return all;
}

const Introduced* find(MPI_Comm communicator) {
  for (const Introduced& one : all_introduced()) {
    if (one.communicator == communicator) return &one;
  }
  return nullptr;
}

int world_rank(MPI_Comm communicator, int rank) {
  const Introduced* const introduced = find(communicator);
  return introduced == nullptr ? rank : introduced->world_ranks[static_cast<std::size_t>(rank)];
}

}  // namespace

Pending Pending::from(MPI_Comm communicator, int rank) { return {Awaited::from, world_rank(communicator, rank)}; }

Pending Pending::to(MPI_Comm communicator, int rank) { return {Awaited::to, world_rank(communicator, rank)}; }

Pending Pending::with_all_of(MPI_Comm communicator) {
  const Introduced* const introduced = find(communicator);
  return {introduced == nullptr ? Awaited::all : introduced->what, -1};
}

void introduce_communicator(MPI_Comm communicator, Awaited what) {
  const int size = size_of(communicator);
  MPI_Group here = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  GLINPACK_MPI(MPI_Comm_group(communicator, &here));
  GLINPACK_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  Introduced introduced{communicator, what, std::vector<int>(ranks.size())};
  GLINPACK_MPI(MPI_Group_translate_ranks(here, size, ranks.data(), world, introduced.world_ranks.data()));
  GLINPACK_MPI(MPI_Group_free(&here));
  GLINPACK_MPI(MPI_Group_free(&world));
  all_introduced().push_back(std::move(introduced));
}

void forget_communicator(MPI_Comm communicator) {
  std::erase_if(all_introduced(), [communicator](const Introduced& one) { return one.communicator == communicator; });
}

}  // namespace glinpack
