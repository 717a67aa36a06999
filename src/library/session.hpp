// Contexts and matrices behind glinpack.h's opaque types, and the border that no exception crosses.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "glinpack.h"
#include "library/engine.hpp"
#include "library/failure.hpp"
#include "solvers/queue/operation_queue.hpp"

namespace glinpack::library {

using ValueId = ResultId<OnDevice<Value>>;

/// Elements in rows, in one of the two precisions.
struct HostCopy {
  std::vector<float> single;
  std::vector<double> full;
};

/// Shared by a context and its matrices: the queue ends with the context, the results with their handles.
struct Session {
  explicit Session(const EngineChoice& choice)
      : on_gl(choice.gl_device.has_value()), queue([choice] { return std::make_shared<Engine>(choice); }) {}

  bool on_gl;
  OperationQueue<Engine> queue;
  std::string device;
  std::atomic<bool> closed = false;

  void close() {
    closed = true;
    queue.abandon();
  }
};

// The process may exit while contexts are open: they are closed before drivers and static objects end.

/// Closes open contexts if the thread is the process's first, when it ends.
void enter_thread() noexcept;
/// If another thread calls exit(). Call it after the device was made, since handlers are called in reverse order.
void close_at_exit(const std::shared_ptr<Session>& session);

}  // namespace glinpack::library

struct glinpack_context {
  std::shared_ptr<glinpack::library::Session> session;
};

struct glinpack_matrix {
  std::shared_ptr<glinpack::library::Session> session;
  glinpack::library::ValueId id;
  glinpack::Index rows = 0;
  glinpack::Index columns = 0;
  glinpack_precision precision = GLINPACK_DOUBLE;
  mutable std::mutex mutex = {};  // of the members below
  mutable std::optional<std::string> error = {};
  mutable std::optional<glinpack::ResultId<glinpack::library::HostCopy>> prefetched = {};
};

namespace glinpack::library {

/// What glinpack_last_error() returns, by thread.
void note_error(const std::string& text) noexcept;

/// Calls body(), which returns a status. An exception is noted, and its status returned.
template <class Body>
glinpack_status guarded(Body body) noexcept {
  enter_thread();
  try {
    return body();
  } catch (...) {
    try {
      const Failure failure = failure_of(std::current_exception());
      note_error(failure.what());
      return failure.status();
    } catch (...) {
      return GLINPACK_OUT_OF_MEMORY;
    }
  }
}

inline void need(bool condition, glinpack_status status, const std::string& text) {
  if (!condition) throw Failure(status, text);
}

struct Shape {
  Index rows = 0;
  Index columns = 0;
  glinpack_precision precision = GLINPACK_DOUBLE;
};
inline Shape shape_of(const glinpack_matrix& a) { return {a.rows, a.columns, a.precision}; }

/// "2 x 3"
std::string text_of(const Shape& shape);
/// Throws Failure for sizes and precisions that no matrix has.
void check_shape(const Shape& shape);
/// Throws Failure if a pointer is null, or the matrices differ in context.
template <class... Matrices>
void check_operands(const glinpack_matrix* first, const Matrices*... others) {
  need(first && (others && ...), GLINPACK_INVALID_ARGUMENT, "a matrix is a null pointer");
  need(((others->session == first->session) && ...), GLINPACK_WRONG_CONTEXT,
       "the matrices belong to different contexts");
}
/// The same, and if they differ in precision.
template <class... Matrices>
void check_alike(const glinpack_matrix* first, const Matrices*... others) {
  check_operands(first, others...);
  need(((others->precision == first->precision) && ...), GLINPACK_WRONG_PRECISION,
       "the matrices differ in precision: convert one");
}

/// A new matrix of the session, computed by operation(Engine&, const operands&...), which is not called if the matrix
/// has no elements.
template <class Operation, class... Operands>
std::unique_ptr<glinpack_matrix> enqueue(const std::shared_ptr<Session>& session, const Shape& shape,
                                         Operation operation, ResultId<Operands>... operands) {
  auto matrix = std::make_unique<glinpack_matrix>();
  matrix->session = session;
  matrix->rows = shape.rows;
  matrix->columns = shape.columns;
  matrix->precision = shape.precision;
  matrix->id = session->queue.enqueue(
      [operation = std::move(operation), empty = shape.rows == 0 || shape.columns == 0](Engine& engine,
                                                                                        const auto&... values) {
        return engine.run([&] { return OnDevice<Value>{empty ? Value() : operation(engine, values...)}; });
      },
      operands...);
  return matrix;
}

/// As a C function: *result is null unless make() returns a matrix.
template <class Make>
glinpack_status make_result(glinpack_matrix** result, Make make) noexcept {
  return guarded([&] {
    need(result != nullptr, GLINPACK_INVALID_ARGUMENT, "the pointer to the result is null");
    *result = nullptr;
    *result = make().release();
    return GLINPACK_OK;
  });
}

}  // namespace glinpack::library
