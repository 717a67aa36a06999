// Contexts, matrices and waiting: the functions of glinpack.h that do not compute.
#include <chrono>
#include <cmath>

#include "library/operations.hpp"
#include "library/session.hpp"
#include "version.hpp"

namespace glinpack::library {
namespace {

/// The elements in rows, rounded to the matrix's precision.
template <class Real, class Element>
std::vector<Real> gathered(const Shape& shape, const Strided<const Element>& from) {
  std::vector<Real> elements = host_elements<Real>(shape.rows * shape.columns);
  const RowMajorView<Real> to{elements.data(), shape.rows, shape.columns, shape.columns};
  for_each_element(shape.rows, shape.columns, [&](Index i, Index j) { to(i, j) = static_cast<Real>(from(i, j)); });
  return elements;
}

template <class Real, class Element>
std::shared_ptr<Matrix> upload(const std::shared_ptr<Session>& session, const Shape& shape,
                               const Strided<const Element>& from) {
  auto elements = with_memory_for(shape, [&] { return gathered<Real>(shape, from); });
  return enqueue(session, shape, [shape, elements = std::move(elements)](Engine& engine) {
    return from_elements(engine, shape.rows, shape.columns, std::span<const Real>(elements));
  });
}

template <class Choose>
glinpack_status create_context(glinpack_context** context, Choose choose) {
  return guarded([&] {
    need(context != nullptr, GLINPACK_INVALID_ARGUMENT, "the pointer to the context is null");
    *context = nullptr;
    const auto session = std::make_shared<Session>(choose());
    auto& queue = session->queue;
    session->device = *queue.take(queue.enqueue([](Engine& engine) { return engine.description(); }));
    close_at_exit(session);
    *context = contexts().add(session);
    return GLINPACK_OK;
  });
}

template <class Element>
glinpack_status create(glinpack_context* context, const Shape& shape, const Strided<const Element>& from,
                       glinpack_matrix** result) {
  return make_result(result, handles(), [&] {
    const std::shared_ptr<Session> session = session_of(context);
    check_shape(*session, shape);
    need(from.data || shape.rows == 0 || shape.columns == 0, GLINPACK_INVALID_ARGUMENT, "the data is a null pointer");
    return shape.precision == GLINPACK_SINGLE ? upload<float>(session, shape, from)
                                              : upload<double>(session, shape, from);
  });
}

/// Elements element(i, j), as created by the caller.
template <class Function>
glinpack_status generate(glinpack_context* context, const Shape& shape, Function element, glinpack_matrix** result) {
  return make_result(result, handles(), [&] {
    const std::shared_ptr<Session> session = session_of(context);
    check_shape(*session, shape);
    return enqueue(session, shape, [shape, element](Engine& engine) {
      const auto make = [&]<class Real>(Real) {
        std::vector<Real> elements = host_elements<Real>(shape.rows * shape.columns);
        for (std::size_t e = 0; e < elements.size(); ++e) {
          const auto position = static_cast<Index>(e);
          elements[e] = static_cast<Real>(element(position / shape.columns, position % shape.columns));
        }
        return from_elements(engine, shape.rows, shape.columns, std::span<const Real>(elements));
      };
      return shape.precision == GLINPACK_SINGLE ? make(float{}) : make(double{});
    });
  });
}

/// The copy that glinpack_prefetch() began, if any. The matrix has none then.
std::optional<ResultId<HostCopy>> take_prefetched(const Matrix& matrix) {
  const std::lock_guard lock(matrix.mutex);
  return std::exchange(matrix.prefetched, std::nullopt);
}

template <class Element>
void copy_elements(const Matrix& matrix, const HostCopy& copy, const Strided<Element>& to) {
  const auto from = [&]<class Real>(const std::vector<Real>& elements) {
    const RowMajorView<const Real> rows{elements.data(), matrix.rows, matrix.columns, matrix.columns};
    for_each_element(matrix.rows, matrix.columns,
                     [&](Index i, Index j) { to(i, j) = static_cast<Element>(rows(i, j)); });
  };
  std::visit(from, copy);
}

std::optional<Failure> failure_in(const Matrix& matrix) {
  Session& session = *matrix.session;
  try {
    if (!session.closed) session.queue.wait(matrix.id);
    // it may have been freed during the wait
    if (session.closed) return Failure(GLINPACK_CANCELLED, "the context of the matrix was freed");
    return std::nullopt;
  } catch (...) {
    return failure_of(std::current_exception());
  }
}

bool is_ready(const Matrix& matrix) { return matrix.session->closed || matrix.session->queue.ready(matrix.id); }

/// As glinpack_wait().
glinpack_status wait_for(const Matrix& matrix, double seconds) {
  constexpr double longest = 1e8;  // three years
  const bool limited = seconds >= 0 && seconds < longest;
  if (limited && !matrix.session->closed &&
      !matrix.session->queue.wait_for(matrix.id, std::chrono::duration<double>(seconds))) {
    throw Failure(GLINPACK_NOT_READY, glinpack_status_text(GLINPACK_NOT_READY));
  }
  if (const std::optional<Failure> failure = failure_in(matrix)) throw *failure;
  return GLINPACK_OK;
}

template <class Element>
glinpack_status read_matrix(const glinpack_matrix* handle, const Strided<Element>& to) {
  return guarded(handles(handle), [&](const Matrix* matrix) {
    check_operands(matrix);
    if (matrix->rows == 0 || matrix->columns == 0) return wait_for(*matrix, -1);
    need(to.data != nullptr, GLINPACK_INVALID_ARGUMENT, "the data is a null pointer");
    auto& queue = matrix->session->queue;
    if (const auto copy = take_prefetched(*matrix)) {
      copy_elements(*matrix, *queue.take(*copy), to);
      return GLINPACK_OK;
    }
    const auto id = queue.enqueue_early(
        [to](Engine& engine, const Value& value) {
          return engine.run([&] {
            read(engine, value, to);
            return true;
          });
        },
        matrix->id);
    queue.take(id);
    return GLINPACK_OK;
  });
}

}  // namespace
}  // namespace glinpack::library

using namespace glinpack::library;

extern "C" {

const char* glinpack_version() { return glinpack::version; }

const char* glinpack_status_text(glinpack_status status) {
  switch (status) {
    case GLINPACK_OK:
      return "no error";
    case GLINPACK_INVALID_ARGUMENT:
      return "invalid argument";
    case GLINPACK_WRONG_SIZE:
      return "the sizes of the matrices do not fit";
    case GLINPACK_WRONG_PRECISION:
      return "the matrices differ in precision";
    case GLINPACK_WRONG_CONTEXT:
      return "the matrices belong to different contexts";
    case GLINPACK_NO_DEVICE:
      return "the device does not exist or does not work";
    case GLINPACK_OUT_OF_MEMORY:
      return "out of memory";
    case GLINPACK_SINGULAR:
      return "a matrix is singular";
    case GLINPACK_NOT_CONVERGED:
      return "the iteration did not converge";
    case GLINPACK_CANCELLED:
      return "the operation was cancelled";
    case GLINPACK_NOT_READY:
      return "the matrix is not computed yet";
    case GLINPACK_FAILED:
      return "the operation failed";
  }
  return "unknown status";
}

glinpack_status glinpack_context_create(const char* device, int threads, glinpack_context** context) {
  return create_context(context, [&] { return choose_engine(device ? device : "auto", threads); });
}

glinpack_status glinpack_context_create_packed(const char* device, glinpack_context** context) {
  return create_context(context, [&] { return choose_packed_engine(device ? device : "auto"); });
}

void glinpack_context_free(glinpack_context* context) {
  guarded([&] {
    if (const std::shared_ptr<Session> session = contexts().take(context)) session->close();
    return GLINPACK_OK;
  });
}

const char* glinpack_context_device(const glinpack_context* context) {
  const std::shared_ptr<Session> session = contexts().find(context);
  return session ? session->device.c_str() : "";
}

int64_t glinpack_context_pending(const glinpack_context* context) {
  const std::shared_ptr<Session> session = contexts().find(context);
  return session ? static_cast<int64_t>(session->queue.pending()) : 0;
}

glinpack_status glinpack_context_wait(glinpack_context* context) {
  return guarded([&] {
    auto& queue = session_of(context)->queue;
    queue.take(queue.enqueue([](Engine&) { return true; }));
    return GLINPACK_OK;
  });
}

glinpack_status glinpack_matrix_from_double(glinpack_context* context, glinpack_precision precision, int64_t rows,
                                            int64_t columns, const double* data, int64_t row_stride,
                                            int64_t column_stride, glinpack_matrix** result) {
  return create<double>(context, {rows, columns, precision}, {data, row_stride, column_stride}, result);
}

glinpack_status glinpack_matrix_from_float(glinpack_context* context, glinpack_precision precision, int64_t rows,
                                           int64_t columns, const float* data, int64_t row_stride,
                                           int64_t column_stride, glinpack_matrix** result) {
  return create<float>(context, {rows, columns, precision}, {data, row_stride, column_stride}, result);
}

glinpack_status glinpack_matrix_constant(glinpack_context* context, glinpack_precision precision, int64_t rows,
                                         int64_t columns, double value, glinpack_matrix** result) {
  return generate(
      context, {rows, columns, precision}, [value](int64_t, int64_t) { return value; }, result);
}

glinpack_status glinpack_matrix_identity(glinpack_context* context, glinpack_precision precision, int64_t rows,
                                         int64_t columns, glinpack_matrix** result) {
  return generate(
      context, {rows, columns, precision}, [](int64_t i, int64_t j) { return i == j ? 1.0 : 0.0; }, result);
}

void glinpack_matrix_free(glinpack_matrix* matrix) { matrices().take(matrix); }

int64_t glinpack_matrix_rows(const glinpack_matrix* matrix) {
  const std::shared_ptr<Matrix> found = matrices().find(matrix);
  return found ? found->rows : 0;
}
int64_t glinpack_matrix_columns(const glinpack_matrix* matrix) {
  const std::shared_ptr<Matrix> found = matrices().find(matrix);
  return found ? found->columns : 0;
}
glinpack_precision glinpack_matrix_precision(const glinpack_matrix* matrix) {
  const std::shared_ptr<Matrix> found = matrices().find(matrix);
  return found ? found->precision : glinpack_precision{};
}

glinpack_status glinpack_matrix_read_double(const glinpack_matrix* matrix, double* data, int64_t row_stride,
                                            int64_t column_stride) {
  return read_matrix<double>(matrix, {data, row_stride, column_stride});
}

glinpack_status glinpack_matrix_read_float(const glinpack_matrix* matrix, float* data, int64_t row_stride,
                                           int64_t column_stride) {
  return read_matrix<float>(matrix, {data, row_stride, column_stride});
}

glinpack_status glinpack_prefetch(const glinpack_matrix* handle) {
  return guarded(handles(handle), [](const Matrix* matrix) {
    check_operands(matrix);
    if (matrix->rows == 0 || matrix->columns == 0) return GLINPACK_OK;
    const std::lock_guard lock(matrix->mutex);
    if (matrix->prefetched) return GLINPACK_OK;
    const Shape shape = shape_of(*matrix);
    matrix->prefetched = matrix->session->queue.enqueue_early(
        [shape](Engine& engine, const Value& value) {
          return engine.run([&] {
            const auto copied = [&]<class Real>(Real) -> HostCopy {
              std::vector<Real> elements(static_cast<std::size_t>(shape.rows * shape.columns));
              read(engine, value, Strided<Real>{elements.data(), shape.columns, 1});
              return elements;
            };
            return shape.precision == GLINPACK_SINGLE ? copied(float{}) : copied(double{});
          });
        },
        matrix->id);
    return GLINPACK_OK;
  });
}

glinpack_status glinpack_wait(const glinpack_matrix* handle, double seconds) {
  return guarded(handles(handle), [&](const Matrix* matrix) {
    check_operands(matrix);
    need(!std::isnan(seconds), GLINPACK_INVALID_ARGUMENT, "the timeout is not a number");
    return wait_for(*matrix, seconds);
  });
}

int glinpack_ready(const glinpack_matrix* handle) {
  const std::shared_ptr<Matrix> matrix = matrices().find(handle);
  return !matrix || is_ready(*matrix) ? 1 : 0;
}

glinpack_status glinpack_cancel(glinpack_matrix* handle) {
  return guarded(handles(handle), [](const Matrix* matrix) {
    check_operands(matrix);
    return matrix->session->queue.cancel(matrix->id) ? GLINPACK_OK : wait_for(*matrix, 0);
  });
}

const char* glinpack_error_text(const glinpack_matrix* handle) {
  const char* text = "";
  guarded(handles(handle), [&](const Matrix* matrix) {
    if (!matrix || !is_ready(*matrix)) return GLINPACK_OK;
    const std::lock_guard lock(matrix->mutex);
    if (!matrix->error) {
      const std::optional<Failure> failure = failure_in(*matrix);
      // the context may still be freed
      if (!failure) return GLINPACK_OK;
      matrix->error = failure->what();
    }
    text = matrix->error->c_str();
    return GLINPACK_OK;
  });
  return text;
}

}  // extern "C"
