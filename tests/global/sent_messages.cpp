#include "tests/global/sent_messages.hpp"

#include "mpi/communication.hpp"

namespace {

struct Intercepted {
  MPI_Comm communicator;
  int peer;  // -1: collective
  int tag;   // -1: collective
  bool receives;
  glinpack::Index bytes;
};

bool intercepting = false;
std::vector<Intercepted> intercepted;

void intercept(MPI_Comm communicator, int peer, int tag, bool receives, int count, MPI_Datatype type) {
  if (!intercepting) return;
  int size = 0;
  PMPI_Type_size(type, &size);
  intercepted.push_back({communicator, peer, tag, receives, static_cast<glinpack::Index>(count) * size});
}

}  // namespace

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  intercept(communicator, to, tag, false, count, type);
  return PMPI_Isend(data, count, type, to, tag, communicator, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  intercept(communicator, from, tag, true, count, type);
  return PMPI_Irecv(data, count, type, from, tag, communicator, request);
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator,
                   MPI_Request* request) {
  intercept(communicator, -1, -1, true, count, type);
  return PMPI_Iallreduce(from, to, count, type, operation, communicator, request);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm communicator, MPI_Request* request) {
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  intercept(communicator, -1, -1, rank != root, count, type);
  return PMPI_Ibcast(data, count, type, root, communicator, request);
}

}  // extern "C"

namespace glinpack::test {

SentMessages::SentMessages() {
  intercepted.clear();
  intercepting = true;
}

SentMessages::~SentMessages() { intercepting = false; }

std::vector<WireMessage> SentMessages::on(MPI_Comm communicator, Line line, bool rows) const {
  std::vector<WireMessage> messages;
  for (const Intercepted& message : intercepted) {
    if (message.communicator != communicator || (message.tag == tags::row_exchange) != rows) continue;
    messages.push_back({line, message.peer, message.receives, message.bytes});
  }
  return messages;
}

}  // namespace glinpack::test
