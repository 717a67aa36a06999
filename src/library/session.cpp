#include "library/session.hpp"

#include <pthread.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <limits>

#include "base/scope_exit.hpp"
#include "openblas/blas_library.hpp"

namespace glinpack::library {
namespace {

// Without a destructor: handlers of exit() may call the library.
constexpr std::size_t longest_text = 1024;
thread_local std::array<char, longest_text> last_error{};

struct OpenSessions {
  std::mutex mutex;
  std::vector<std::weak_ptr<Session>> sessions;
  pid_t process = getpid();
};

OpenSessions& open_sessions() {
  static auto* const sessions = new OpenSessions;  // outlives static objects
  return *sessions;
}

void close_sessions() {
  if (getpid() != open_sessions().process) return;  // only its parent has contexts
  std::vector<std::weak_ptr<Session>> sessions;
  {
    const std::lock_guard lock(open_sessions().mutex);
    sessions.swap(open_sessions().sessions);
  }
  for (const std::weak_ptr<Session>& open : sessions) {
    guarded([&] {
      if (const std::shared_ptr<Session> session = open.lock()) session->close();
      return GLINPACK_OK;
    });
  }
}

}  // namespace

Matrix::~Matrix() {
  if (id.number == 0) return;
  guarded([&] {
    session->queue.release(id);
    if (prefetched) session->queue.release(*prefetched);
    return GLINPACK_OK;
  });
}

std::mutex& handles_mutex() {
  static auto* const mutex = [] {  // outlives static objects
    pthread_atfork([] { handles_mutex().lock(); }, [] { handles_mutex().unlock(); }, [] { handles_mutex().unlock(); });
    return new std::mutex;
  }();
  return *mutex;
}

Handles<glinpack_context, Session>& contexts() {
  static auto* const handles = new Handles<glinpack_context, Session>;
  return *handles;
}

Handles<glinpack_matrix, Matrix>& matrices() {
  static auto* const handles = new Handles<glinpack_matrix, Matrix>;
  return *handles;
}

std::shared_ptr<Session> session_of(const glinpack_context* context) {
  need(context != nullptr, GLINPACK_INVALID_ARGUMENT, "the context is a null pointer");
  auto session = contexts().find(context);
  need(session != nullptr, GLINPACK_INVALID_ARGUMENT, "the context was freed");
  return session;
}

std::shared_ptr<Matrix> matrix_of(const glinpack_matrix* matrix) {
  auto found = matrices().find(matrix);
  need(found || !matrix, GLINPACK_INVALID_ARGUMENT, "the matrix was freed");
  return found;
}

Failure too_little_memory(Index rows, Index columns, std::size_t bytes_of_element) {
  const double bytes = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(bytes_of_element);
  return {GLINPACK_OUT_OF_MEMORY, fmt::format("there is too little memory for a matrix of {} x {}, {:.2f} GiB", rows,
                                              columns, bytes / (1 << 30))};
}

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Failure& failure) {
    return failure;
  } catch (const OperationNotDone& cancelled) {
    return {GLINPACK_CANCELLED, cancelled.what()};
  } catch (const BlasMemoryError& missing) {
    return {GLINPACK_OUT_OF_MEMORY, missing.what()};
  } catch (const std::bad_alloc&) {
    return {GLINPACK_OUT_OF_MEMORY, "the host has too little memory"};
  } catch (const std::exception& other) {
    return {GLINPACK_FAILED, other.what()};
  } catch (...) {
    return {GLINPACK_FAILED, "unknown error"};
  }
}

// exit() destroys the objects of the thread that calls it first. Later ones may be in use by an operation: objects of
// this library and of drivers that were made after the first context.
void enter_thread() noexcept {
  thread_local const ScopeExit at_end([] {
    if (gettid() == getpid()) close_sessions();
  });
}

void close_at_exit(const std::shared_ptr<Session>& session) {
  static std::once_flag for_any, for_gl;
  std::call_once(session->on_gl ? for_gl : for_any, [] { std::atexit(close_sessions); });
  const std::lock_guard lock(open_sessions().mutex);
  if (open_sessions().process != getpid()) {  // a forked process has no threads of its parent
    open_sessions().sessions.clear();
    open_sessions().process = getpid();
  }
  std::erase_if(open_sessions().sessions, [](const std::weak_ptr<Session>& open) { return open.expired(); });
  open_sessions().sessions.push_back(session);
}

void note_error(const std::string& text) noexcept { last_error[text.copy(last_error.data(), longest_text - 1)] = '\0'; }

std::string text_of(const Shape& shape) { return std::to_string(shape.rows) + " x " + std::to_string(shape.columns); }

void check_shape(const Session& session, const Shape& shape) {
  need(shape.rows >= 0 && shape.columns >= 0, GLINPACK_INVALID_ARGUMENT,
       "a matrix cannot be " + text_of(shape) + ": an extent is negative");
  constexpr Index max_elements = std::numeric_limits<Index>::max() / 1024;  // padding to 64 columns of 8 bytes
  need(shape.columns == 0 || shape.rows <= max_elements / shape.columns, GLINPACK_OUT_OF_MEMORY,
       "a matrix of " + text_of(shape) + " exceeds the address space");
  need(shape.precision == GLINPACK_SINGLE || shape.precision == GLINPACK_DOUBLE, GLINPACK_INVALID_ARGUMENT,
       "the precision is neither GLINPACK_SINGLE nor GLINPACK_DOUBLE");
  need(!session.packed || shape.precision == GLINPACK_SINGLE, GLINPACK_WRONG_PRECISION,
       "a context of packing 2x2 computes in single precision");
}

}  // namespace glinpack::library

using namespace glinpack::library;

extern "C" {

const char* glinpack_last_error() { return last_error.data(); }

}  // extern "C"
