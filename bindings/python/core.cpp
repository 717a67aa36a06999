// glinpack._core: the C API's contexts and matrices as Python objects. Shapes of vectors and numbers, operators and
// conversions are in Python: glinpack/__init__.py.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "glinpack.h"

namespace py = pybind11;

namespace {

[[noreturn]] void raise(glinpack_status status, const std::string& text) {
  py::object type;
  switch (status) {
    case GLINPACK_SINGULAR:
    case GLINPACK_NOT_CONVERGED:
      type = py::module_::import("numpy.linalg").attr("LinAlgError");
      break;
    case GLINPACK_CANCELLED:
      type = py::module_::import("concurrent.futures").attr("CancelledError");
      break;
    case GLINPACK_INVALID_ARGUMENT:
    case GLINPACK_WRONG_SIZE:
    case GLINPACK_WRONG_PRECISION:
    case GLINPACK_WRONG_CONTEXT:
      type = py::reinterpret_borrow<py::object>(PyExc_ValueError);
      break;
    case GLINPACK_OUT_OF_MEMORY:
      type = py::reinterpret_borrow<py::object>(PyExc_MemoryError);
      break;
    default:
      type = py::reinterpret_borrow<py::object>(PyExc_RuntimeError);
  }
  PyErr_SetString(type.ptr(), text.empty() ? glinpack_status_text(status) : text.c_str());
  throw py::error_already_set();
}

void check(glinpack_status status) {
  if (status != GLINPACK_OK) raise(status, glinpack_last_error());
}

/// Calls function() without Python's lock and throws what its status says.
template <class Function>
void check_unlocked(Function function) {
  glinpack_status status = GLINPACK_OK;
  std::string text;
  {
    const py::gil_scoped_release unlocked;
    status = function();
    if (status != GLINPACK_OK) text = glinpack_last_error();
  }
  if (status != GLINPACK_OK) raise(status, text);
}

class Context {
 public:
  Context(const std::string& device, int threads, bool packed) {
    glinpack_context* made = nullptr;
    check_unlocked([&] {
      return packed ? glinpack_context_create_packed(device.c_str(), &made)
                    : glinpack_context_create(device.c_str(), threads, &made);
    });
    context_.reset(made, glinpack_context_free);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { close(); }

  /// A process made by fork() has no threads of its parent: it leaves the parent's contexts as they are.
  bool of_this_process() const { return process_ == getpid(); }
  void check_process() const {
    if (!of_this_process())
      raise(GLINPACK_FAILED, "the context belongs to the process before fork(): make another one");
  }

  /// Remains valid if another thread calls close().
  std::shared_ptr<glinpack_context> get() const {
    check_process();
    if (!context_) raise(GLINPACK_CANCELLED, "the context is closed");
    return context_;
  }

  void close() {
    if (!context_) return;
    if (!of_this_process()) {
      new std::shared_ptr(std::move(context_));  // never freed: its thread is the parent's
      return;
    }
    std::shared_ptr<glinpack_context> closing = std::move(context_);
    const py::gil_scoped_release unlocked;
    closing.reset();  // freed here, or by the thread that uses it
  }

  /// Bounds the memory of operations that are not executed yet: their number, and elements copied from Python. Whether
  /// the caller has to wait for the newest.
  bool enqueued(std::size_t bytes) {
    constexpr std::size_t max_bytes = std::size_t{256} << 20U;
    constexpr std::int64_t max_operations = 1024;
    const std::int64_t pending = glinpack_context_pending(context_.get());
    bytes_ = pending <= 1 ? bytes : bytes_ + bytes;
    if (bytes_ <= max_bytes && pending <= max_operations) return false;
    bytes_ = 0;
    return true;
  }

 private:
  std::shared_ptr<glinpack_context> context_;
  std::atomic<std::size_t> bytes_ = 0;
  pid_t process_ = getpid();
};

class Handle {
 public:
  using ContextPointer = std::shared_ptr<Context>;

  Handle(ContextPointer context, glinpack_matrix* matrix) : context_(std::move(context)), matrix_(matrix) {}
  /// Of an operation. Ctrl-C ends its wait if much is pending.
  Handle(ContextPointer context, glinpack_matrix* matrix, std::size_t bytes) : Handle(std::move(context), matrix) {
    if (context_->enqueued(bytes)) status_within(-1);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&& other) noexcept : context_(std::move(other.context_)), matrix_(other.matrix_) {
    other.matrix_ = nullptr;
  }
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (matrix_ && context_->of_this_process()) glinpack_matrix_free(matrix_);
  }

  const ContextPointer& context() const { return context_; }
  glinpack_matrix* get() const {
    context_->check_process();
    return matrix_;
  }

  /// Whether the matrix is computed within `seconds`. Signals such as Ctrl-C end the wait by Python's exception.
  bool wait(double seconds) const {
    const auto [status, text] = status_within(seconds);
    if (status != GLINPACK_OK && status != GLINPACK_NOT_READY) raise(status, text);
    return status == GLINPACK_OK;
  }

  /// Writes the elements to a 2-D array of any strides.
  template <class Real>
  void read(py::array_t<Real>& to) const {
    if (to.ndim() != 2 || to.shape(0) != glinpack_matrix_rows(get()) || to.shape(1) != glinpack_matrix_columns(get())) {
      raise(GLINPACK_WRONG_SIZE, "the array has another shape than the matrix");
    }
    wait(-1);
    constexpr auto size = static_cast<py::ssize_t>(sizeof(Real));
    Real* const data = to.mutable_data();
    const std::int64_t row_stride = to.strides(0) / size, column_stride = to.strides(1) / size;
    check_unlocked([&] {
      if constexpr (std::is_same_v<Real, float>) {
        return glinpack_matrix_read_float(matrix_, data, row_stride, column_stride);
      } else {
        return glinpack_matrix_read_double(matrix_, data, row_stride, column_stride);
      }
    });
  }

 private:
  std::pair<glinpack_status, std::string> status_within(double seconds) const {
    constexpr double slice = 0.05;
    const bool limited = seconds >= 0;
    while (true) {
      const double now = limited && seconds < slice ? seconds : slice;
      std::pair<glinpack_status, std::string> ended;
      glinpack_matrix* const matrix = get();
      {
        const py::gil_scoped_release unlocked;
        ended.first = glinpack_wait(matrix, now);
        if (ended.first != GLINPACK_OK) ended.second = glinpack_last_error();
      }
      if (ended.first != GLINPACK_NOT_READY) return ended;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (limited && (seconds -= now) <= 0) return ended;
    }
  }

  ContextPointer context_;
  glinpack_matrix* matrix_ = nullptr;
};

using ContextPointer = Handle::ContextPointer;

glinpack_precision precision_of(bool is_single) { return is_single ? GLINPACK_SINGLE : GLINPACK_DOUBLE; }

/// A copy of a 2-D array of any strides that are multiples of the element.
template <class Real>
Handle from_array(const ContextPointer& context, const py::array_t<Real>& from, bool is_single) {
  if (from.ndim() != 2) raise(GLINPACK_WRONG_SIZE, "a matrix has two dimensions");
  constexpr auto size = static_cast<py::ssize_t>(sizeof(Real));
  const Real* const data = from.data();
  const std::int64_t rows = from.shape(0), columns = from.shape(1);
  const std::int64_t row_stride = from.strides(0) / size, column_stride = from.strides(1) / size;
  const glinpack_precision precision = precision_of(is_single);
  const std::shared_ptr<glinpack_context> used = context->get();
  glinpack_context* const c = used.get();
  glinpack_matrix* result = nullptr;
  check_unlocked([&] {
    if constexpr (std::is_same_v<Real, float>) {
      return glinpack_matrix_from_float(c, precision, rows, columns, data, row_stride, column_stride, &result);
    } else {
      return glinpack_matrix_from_double(c, precision, rows, columns, data, row_stride, column_stride, &result);
    }
  });
  return {context, result, static_cast<std::size_t>(rows * columns) * (is_single ? 4U : 8U)};
}

template <class Make>
Handle made(const ContextPointer& context, Make make) {
  glinpack_matrix* result = nullptr;
  check(make(&result));
  return {context, result, 0};
}

const glinpack_matrix* argument(const Handle& a) { return a.get(); }
template <class Number>
Number argument(Number number) {
  return number;
}

/// A C function of a matrix, and of others or numbers.
template <auto function, class... Others>
Handle operation(const Handle& a, const Others&... others) {
  return made(a.context(), [&](glinpack_matrix** result) { return function(a.get(), argument(others)..., result); });
}

std::tuple<Handle, Handle, Handle> lu(const Handle& a) {
  glinpack_matrix *p = nullptr, *l = nullptr, *u = nullptr;
  check(glinpack_lu(a.get(), &p, &l, &u));
  return {Handle(a.context(), p), Handle(a.context(), l), Handle(a.context(), u, 0)};
}

}  // namespace

PYBIND11_MODULE(_core, m) {
  m.attr("version") = glinpack_version();

  py::class_<Context, ContextPointer>(m, "Context")
      .def(py::init<const std::string&, int, bool>())
      .def_property_readonly("device",
                             [](const Context& c) { return std::string(glinpack_context_device(c.get().get())); })
      .def_property_readonly("pending", [](const Context& c) { return glinpack_context_pending(c.get().get()); })
      .def("close", &Context::close);

  py::class_<Handle>(m, "Handle")
      .def_property_readonly("rows", [](const Handle& a) { return glinpack_matrix_rows(a.get()); })
      .def_property_readonly("columns", [](const Handle& a) { return glinpack_matrix_columns(a.get()); })
      .def_property_readonly("is_single",
                             [](const Handle& a) { return glinpack_matrix_precision(a.get()) == GLINPACK_SINGLE; })
      .def_property_readonly("ready", [](const Handle& a) { return glinpack_ready(a.get()) != 0; })
      .def_property_readonly("error", [](const Handle& a) { return std::string(glinpack_error_text(a.get())); })
      .def_property_readonly("context", &Handle::context)
      .def("wait", &Handle::wait)
      .def("cancel",
           [](const Handle& a) {
             const bool done = glinpack_ready(a.get()) != 0;
             return glinpack_cancel(a.get()) == GLINPACK_OK && !done;
           })
      .def("read", &Handle::read<float>, py::arg("to").noconvert())
      .def("read", &Handle::read<double>, py::arg("to").noconvert());

  m.def("from_array", &from_array<float>, py::arg("context"), py::arg("array").noconvert(), py::arg("is_single"));
  m.def("from_array", &from_array<double>, py::arg("context"), py::arg("array").noconvert(), py::arg("is_single"));
  m.def("identity", [](const ContextPointer& context, bool is_single, std::int64_t rows, std::int64_t columns) {
    return made(context, [&](glinpack_matrix** result) {
      return glinpack_matrix_identity(context->get().get(), precision_of(is_single), rows, columns, result);
    });
  });
  m.def("constant", [](const ContextPointer& context, bool is_single, std::int64_t rows, std::int64_t columns,
                       double value) {
    return made(context, [&](glinpack_matrix** result) {
      return glinpack_matrix_constant(context->get().get(), precision_of(is_single), rows, columns, value, result);
    });
  });
  m.def("add", &operation<glinpack_add, Handle>);
  m.def("subtract", &operation<glinpack_subtract, Handle>);
  m.def("multiply", &operation<glinpack_multiply_elements, Handle>);
  m.def("divide", &operation<glinpack_divide_elements, Handle>);
  m.def("scale", [](double factor, const Handle& a, double summand) {
    return made(a.context(),
                [&](glinpack_matrix** result) { return glinpack_scale(factor, a.get(), summand, result); });
  });
  m.def("transpose", &operation<glinpack_transpose>);
  m.def("convert", [](const Handle& a, bool is_single) {
    return made(a.context(),
                [&](glinpack_matrix** result) { return glinpack_convert(a.get(), precision_of(is_single), result); });
  });
  m.def("gemm", [](bool transpose_a, bool transpose_b, const Handle& a, const Handle& b) {
    return made(a.context(), [&](glinpack_matrix** result) {
      return glinpack_gemm(transpose_a, transpose_b, 1, a.get(), b.get(), 0, nullptr, result);
    });
  });
  m.def("lu", &lu);
  m.def("solve", &operation<glinpack_solve, Handle>);
  m.def("inverse", &operation<glinpack_inverse>);
  m.def("rref", &operation<glinpack_rref>);
  m.def("determinant", &operation<glinpack_determinant>);
  m.def("rcond", &operation<glinpack_rcond>);
  m.def("norm", [](const Handle& a, int kind) {
    return made(a.context(), [&](glinpack_matrix** result) {
      return glinpack_norm(a.get(), static_cast<glinpack_norm_kind>(kind), result);
    });
  });
  m.def("banded_product", [](const Handle& diagonals, const std::vector<std::int64_t>& offsets, const Handle& x) {
    return made(x.context(), [&](glinpack_matrix** result) {
      return glinpack_banded_product(diagonals.get(), offsets.data(), static_cast<std::int64_t>(offsets.size()),
                                     x.get(), result);
    });
  });
  m.def("banded_solve", [](const Handle& diagonals, const std::vector<std::int64_t>& offsets, const Handle& b) {
    return made(b.context(), [&](glinpack_matrix** result) {
      return glinpack_banded_solve(diagonals.get(), offsets.data(), static_cast<std::int64_t>(offsets.size()), b.get(),
                                   nullptr, result);
    });
  });
  m.def("tridiagonal", &operation<glinpack_tridiagonal, Handle, Handle, Handle>);
  m.def("poisson", &operation<glinpack_poisson, double, std::int64_t>);
}
