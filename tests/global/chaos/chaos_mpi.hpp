// MPI that delays and reorders, and counts what is left over. Replaces the functions that src/global calls.
#pragma once

#include <cstdint>
#include <string>

namespace glinpack::test {

/// During its lifetime, MPI behaves on this rank as it may, but seldom does. Sends and receives start at a later call,
/// so that a buffer which changes too early spoils a message. Messages of different tags overtake each other.
/// Completions are told late, and by MPI_Testsome in any order and any number.
class Chaos {
 public:
  explicit Chaos(std::uint64_t seed);
  Chaos(const Chaos&) = delete;
  Chaos& operator=(const Chaos&) = delete;
  ~Chaos();
};

/// A line for each request that this rank has not completed, and each rank whose messages on a communicator were not
/// all received when it was freed; empty if there is none. Forgets them. MPI_Finalize prints what is left, and ends
/// the job with exit code 1.
std::string take_mpi_leaks();

}  // namespace glinpack::test
