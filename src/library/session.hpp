// Contexts and matrices behind glinpack.h's opaque types, and the border that no exception crosses.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/operation_queue.hpp"
#include "glinpack.h"
#include "library/engine.hpp"

namespace glinpack::library {

using ValueId = ResultId<OnDevice<Value>>;

/// Elements in rows, in one of the two precisions.
using HostCopy = std::variant<std::vector<float>, std::vector<double>>;

/// Shared by a context and its matrices: the queue ends with the context, the results with their handles.
struct Session {
  explicit Session(const EngineChoice& choice)
      : on_gl(choice.gl_device.has_value()),
        packed(choice.packed),
        queue([choice] { return std::make_shared<Engine>(choice); }) {}

  bool on_gl;
  bool packed;
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

/// What a glinpack_matrix stands for. A call that uses it keeps it while another thread frees the handle.
struct Matrix {
  std::shared_ptr<Session> session;
  ValueId id = {};
  Index rows = 0;
  Index columns = 0;
  glinpack_precision precision = GLINPACK_DOUBLE;
  mutable std::mutex mutex = {};  // of the members below
  mutable std::optional<std::string> error = {};
  mutable std::optional<ResultId<HostCopy>> prefetched = {};

  explicit Matrix(std::shared_ptr<Session> session_of) : session(std::move(session_of)) {}
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix();
};

/// Locked by fork(), so that no other thread holds it then.
std::mutex& handles_mutex();

/// Handles are numbers, each given once: one that was freed is not found, whatever was made since.
template <class Handle, class Object>
class Handles {
 public:
  Handle* add(std::shared_ptr<Object> object) {
    const std::lock_guard lock(handles_mutex());
    objects_.emplace(++last_, std::move(object));
    return reinterpret_cast<Handle*>(last_);
  }
  /// Null if there is none.
  std::shared_ptr<Object> find(const Handle* handle) const {
    const std::lock_guard lock(handles_mutex());
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }
  /// The same; the handle is not found any more.
  std::shared_ptr<Object> take(const Handle* handle) {
    const std::lock_guard lock(handles_mutex());
    const auto node = objects_.extract(reinterpret_cast<std::uintptr_t>(handle));
    return node ? node.mapped() : nullptr;
  }

 private:
  std::uintptr_t last_ = 0;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_;
};

Handles<glinpack_context, Session>& contexts();
Handles<glinpack_matrix, Matrix>& matrices();

/// Throw Failure if the handle was freed. The context must not be null; of a null matrix, null.
std::shared_ptr<Session> session_of(const glinpack_context* context);
std::shared_ptr<Matrix> matrix_of(const glinpack_matrix* matrix);

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

/// The operands of a C function.
template <class... Pointers>
std::array<const glinpack_matrix*, sizeof...(Pointers)> handles(const Pointers*... matrices) {
  return {matrices...};
}

/// body(const Matrix*...) of the operands.
template <std::size_t count, class Body>
auto with_matrices(const std::array<const glinpack_matrix*, count>& operands, Body body) {
  const auto found = [](const auto*... handle) {
    return std::array<std::shared_ptr<Matrix>, count>{matrix_of(handle)...};
  };
  const auto held = std::apply(found, operands);
  return std::apply([&](const auto&... matrix) { return body(static_cast<const Matrix*>(matrix.get())...); }, held);
}
template <std::size_t count, class Body>
glinpack_status guarded(const std::array<const glinpack_matrix*, count>& operands, Body body) noexcept {
  return guarded([&] { return with_matrices(operands, body); });
}

inline void need(bool condition, glinpack_status status, const std::string& text) {
  if (!condition) throw Failure(status, text);
}

struct Shape {
  Index rows = 0;
  Index columns = 0;
  glinpack_precision precision = GLINPACK_DOUBLE;
};
inline Shape shape_of(const Matrix& a) { return {a.rows, a.columns, a.precision}; }

/// "2 x 3"
std::string text_of(const Shape& shape);
/// Throws Failure for sizes and precisions that no matrix of the context has.
void check_shape(const Session& session, const Shape& shape);
/// Throws Failure if a pointer is null, or the matrices differ in context.
template <class... Matrices>
void check_operands(const Matrix* first, const Matrices*... others) {
  need(first && (others && ...), GLINPACK_INVALID_ARGUMENT, "a matrix is a null pointer");
  need(((others->session == first->session) && ...), GLINPACK_WRONG_CONTEXT,
       "the matrices belong to different contexts");
}
/// The same, and if they differ in precision.
template <class... Matrices>
void check_alike(const Matrix* first, const Matrices*... others) {
  check_operands(first, others...);
  need(((others->precision == first->precision) && ...), GLINPACK_WRONG_PRECISION,
       "the matrices differ in precision: convert one");
}

/// make(); a std::bad_alloc becomes a Failure that names the matrix.
template <class Make>
auto with_memory_for(const Shape& shape, Make make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    throw too_little_memory(shape.rows, shape.columns, shape.precision == GLINPACK_SINGLE ? 4 : 8);
  }
}

/// A new matrix of the session, computed by operation(Engine&, const operands&...), which is not called if the matrix
/// has no elements.
template <class Operation, class... Operands>
std::shared_ptr<Matrix> enqueue(const std::shared_ptr<Session>& session, const Shape& shape, Operation operation,
                                ResultId<Operands>... operands) {
  auto matrix = std::make_shared<Matrix>(session);
  matrix->rows = shape.rows;
  matrix->columns = shape.columns;
  matrix->precision = shape.precision;
  matrix->id = session->queue.enqueue(
      [operation = std::move(operation), shape](Engine& engine, const auto&... values) {
        return with_memory_for(shape, [&] {
          const bool empty = shape.rows == 0 || shape.columns == 0;
          return engine.run([&] { return OnDevice<Value>{empty ? Value() : operation(engine, values...)}; });
        });
      },
      operands...);
  return matrix;
}

/// The same, by operation(Engine&, const Value&...) of matrices of one session: std::tie(*a, *b).
template <class Matrices, class Operation>
std::shared_ptr<Matrix> compute(const Matrices& matrices, const Shape& shape, Operation operation) {
  const auto of = [&](const Matrix& first, const auto&... others) {
    return enqueue(first.session, shape, std::move(operation), first.id, others.id...);
  };
  return std::apply(of, matrices);
}

/// As a C function of these operands: *result is null unless make(const Matrix*...) returns a matrix.
template <std::size_t count, class Make>
glinpack_status make_result(glinpack_matrix** result, const std::array<const glinpack_matrix*, count>& operands,
                            Make make) noexcept {
  return guarded([&] {
    need(result != nullptr, GLINPACK_INVALID_ARGUMENT, "the pointer to the result is null");
    *result = nullptr;
    *result = matrices().add(with_matrices(operands, make));
    return GLINPACK_OK;
  });
}

}  // namespace glinpack::library
