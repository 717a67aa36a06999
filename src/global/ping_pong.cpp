#include "global/ping_pong.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "global/communication.hpp"
#include "global/tags.hpp"

namespace glinpack {

namespace {

constexpr char last_trip = 1;

void send(MPI_Comm communicator, int to, std::vector<char>& message) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Isend(message.data(), message_count(static_cast<Index>(message.size())), MPI_BYTE, to,
                         tags::ping_pong, communicator, &request));
  wait(request, Pending::to(communicator, to));
}

void receive(MPI_Comm communicator, int from, std::vector<char>& message) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Irecv(message.data(), message_count(static_cast<Index>(message.size())), MPI_BYTE, from,
                         tags::ping_pong, communicator, &request));
  wait(request, Pending::from(communicator, from));
}

// Goes on until the message says that it is the last one.
void answer(MPI_Comm communicator, int peer, std::vector<char>& message) {
  do {
    receive(communicator, peer, message);
    send(communicator, peer, message);
  } while (message.front() != last_trip);
}

}  // namespace

PingPongTime ping_pong(MPI_Comm communicator, int first, int second, Index bytes, const PingPongLimits& limits) {
  const int rank = rank_in(communicator);
  PingPongTime time;
  if (rank != first && rank != second) return time;
  std::vector<char> message(static_cast<std::size_t>(bytes));
  if (rank == second) {
    answer(communicator, first, message);
    return time;
  }
  time.bytes = bytes;
  const double begin = MPI_Wtime();
  double sum = 0;
  for (int trip = 0; message.front() != last_trip; ++trip) {
    const bool enough = trip >= limits.round_trips || MPI_Wtime() - begin > limits.seconds;
    message.front() = trip > 0 && enough ? last_trip : 0;
    const double start = MPI_Wtime();
    send(communicator, second, message);
    receive(communicator, second, message);
    const double one_way = (MPI_Wtime() - start) / 2;
    if (trip == 0) continue;  // connections are made, buffers touched
    time.least = trip == 1 ? one_way : std::min(time.least, one_way);
    sum += one_way;
    time.round_trips = trip;
  }
  time.mean = sum / time.round_trips;
  return time;
}

}  // namespace glinpack
