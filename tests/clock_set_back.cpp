// After MPI_Init the clock of the day runs backwards, as if it were set back all the time. MPI_Wtime may follow it. UCX
// calibrates itself by that clock before, and would not end.
#include <mpi.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<bool> is_set_back{false};

timespec time_of(clockid_t clock) {
  timespec now{};
  syscall(SYS_clock_gettime, clock, &now);
  return now;
}

// as far before `first` as the time is after it
timespec time_of_day() {
  const timespec now = time_of(CLOCK_REALTIME);
  if (!is_set_back) return now;
  static const timespec first = now;
  const long nanoseconds = 2 * first.tv_nsec - now.tv_nsec;
  const long carry = nanoseconds < 0 ? 1 : nanoseconds >= 1'000'000'000 ? -1 : 0;
  return {.tv_sec = 2 * first.tv_sec - now.tv_sec - carry, .tv_nsec = nanoseconds + carry * 1'000'000'000};
}

}  // namespace

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int status = PMPI_Init_thread(argc, argv, required, provided);
  is_set_back = true;
  return status;
}

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (clock == CLOCK_REALTIME) {
    *time = time_of_day();
    return 0;
  }
  return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
}

extern "C" int gettimeofday(timeval* time, void*) noexcept {
  const timespec now = time_of_day();
  *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

extern "C" double MPI_Wtime() {
  const timespec now = time_of_day();
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
