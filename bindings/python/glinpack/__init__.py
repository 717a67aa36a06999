"""Dense linear algebra in the background, on a GPU through OpenGL or on the processor through OpenBLAS.

An operation returns a Matrix at once; a context's thread computes it. Reading values waits for them. docs/python.md
"""
import asyncio
import atexit
import json
import numbers
import os
import threading
import weakref

import numpy

from . import _core

__version__ = _core.version
__all__ = ["Context", "Matrix", "banded_product", "banded_solve", "det", "dot", "eye", "from_dlpack", "full", "inv",
           "linalg", "lu", "matmul", "norm", "poisson", "rcond", "results", "rref", "solve", "tridiagonal", "use",
           "zeros"]

_NORMS = {None: 3, "fro": 3, 1: 1, numpy.inf: 2}
_contexts = weakref.WeakSet()
_default = None
_lock = threading.Lock()


class Context:
    """A device and its thread: "auto", "openblas", "software" or an OpenGL device's number. Closed by `with` or
    close(): operations that have not started are cancelled. With packing "2x2" matrices are textures, in float32
    (docs/papers/coprocessor.md)."""

    def __init__(self, device="auto", threads=0, packing=None):
        if packing not in (None, "2x2"):
            raise ValueError(f"the packing is {packing!r}: None or '2x2' is expected")
        self._core = _core.Context(str(device), threads, packing is not None)
        self.device = self._core.device
        self.packing = packing
        _contexts.add(self)

    @property
    def pending(self):
        """The number of operations that are not done."""
        return self._core.pending

    def wait(self):
        """Waits until all operations are done, whether they succeed or not."""
        _core.constant(self._core, True, 1, 1, 0.0).wait(-1.0)  # after all others

    def close(self):
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<glinpack.Context on {self.device}>"


def use(context):
    """Makes a Context, or a new one of the device of that name, the default of this process, and returns it."""
    global _default
    chosen = context if isinstance(context, Context) else Context(context)
    with _lock:
        _default = chosen
    return chosen


def _default_context():
    global _default
    with _lock:
        if _default is None:
            _default = Context(os.environ.get("GLINPACK_DEVICE", "auto"))
        return _default


def _close_all():
    for context in list(_contexts):
        context.close()


def _after_fork():
    global _default, _lock
    _default, _lock = None, threading.Lock()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)


def _operators(operation):
    """An operator of elements, and the one for a matrix on its right."""
    return lambda a, b: _elementwise(operation, a, b), lambda b, a: _elementwise(operation, a, b)


class Matrix:
    """A matrix, a vector or a number on a device, computed or not. It never changes."""

    __array_priority__ = 1000  # numpy's operators leave the operation to this class

    def __init__(self, data, dtype=None, context=None):
        if isinstance(data, Matrix) and (context is None or context is data.context):
            wanted = data.dtype if dtype is None else _precision(dtype)
            self._set(_converted(data, wanted)._handle, data.ndim, data.context)
            return
        array = numpy.asarray(data.toarray() if hasattr(data, "toarray") else data)  # of scipy.sparse
        if array.dtype not in (numpy.float32, numpy.float64):
            if array.dtype.kind not in "biuf":
                raise TypeError(f"glinpack has no matrices of {array.dtype}: real numbers are expected")
            array = array.astype(numpy.float32 if array.dtype == numpy.float16 or
                                 array.dtype.newbyteorder("=") == numpy.float32 else numpy.float64)
        if array.ndim > 2:
            raise ValueError(f"a matrix has at most two dimensions, not {array.ndim}")
        if not _is_readable(array):
            array = numpy.array(array, order="C")
        context = context or _default_context()
        wanted = _precision(array.dtype if dtype is None and not context.packing else dtype, context)
        columns = array if array.ndim == 2 else array.reshape(-1, 1) if array.ndim == 0 else array[:, None]
        self._set(_core.from_array(context._core, columns, wanted == numpy.float32), array.ndim, context)

    def _set(self, handle, ndim, context):
        self._handle = handle
        self.ndim = ndim
        self.context = context

    @property
    def shape(self):
        return (self._handle.rows, self._handle.columns)[:self.ndim]

    @property
    def size(self):
        return self._handle.rows * self._handle.columns

    @property
    def dtype(self):
        return numpy.dtype(numpy.float32 if self._handle.is_single else numpy.float64)

    # ---- in the background

    @property
    def ready(self):
        """Whether wait() would not wait."""
        return self._handle.ready

    def wait(self, timeout=None):
        """Waits until the matrix is computed and returns it. Raises why it was not computed, or TimeoutError after
        `timeout` seconds."""
        if timeout is not None and not timeout >= 0:
            raise ValueError("the timeout is negative or not a number")
        if not self._handle.wait(-1.0 if timeout is None else float(timeout)):
            raise TimeoutError(f"the matrix is not computed after {timeout} seconds")
        return self

    def cancel(self):
        """Cancels the operation, and all that depend on it, if it has not started. Returns whether it was so."""
        return self._handle.cancel()

    def __await__(self):
        pause = 0
        while not self.ready:
            yield from asyncio.sleep(pause).__await__()
            pause = min(pause + 0.0005, 0.01)
        return self.wait()

    # ---- values

    def numpy(self, out=None, order="C"):
        """Waits and copies the elements to a new array, or to `out` of any strides."""
        if out is None:
            array = numpy.empty(self.shape, self.dtype, order)
        else:
            array = out
            if array.shape != self.shape:
                raise ValueError(f"out has the shape {array.shape}, the matrix {self.shape}")
            if not _is_readable(array):
                numpy.copyto(array, self.numpy())
                return array
        view = array if self.ndim == 2 else array[:, None] if self.ndim == 1 else array[None, None]
        self._handle.read(view)
        return array

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("the elements are on the device: an array is a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, stream=None, **others):
        if stream is not None:
            raise BufferError("DLPack of the processor's memory has no stream")
        return self.numpy().__dlpack__(**others)

    def __dlpack_device__(self):
        return (1, 0)  # kDLCPU

    def __float__(self):
        if self.size != 1:
            raise TypeError(f"a matrix of the shape {self.shape} is not one number")
        return float(self.numpy().reshape(()))

    def __int__(self):
        return int(float(self))

    def __round__(self, ndigits=None):
        return round(float(self), ndigits)

    def __format__(self, text):
        return format(float(self), text) if text and self.size == 1 else object.__format__(self, text)

    def __getitem__(self, key):
        return self.numpy()[key]

    def __iter__(self):
        return iter(self.numpy())

    def __eq__(self, other):
        return self.numpy() == numpy.asarray(other)

    def __ne__(self, other):
        return self.numpy() != numpy.asarray(other)

    __hash__ = object.__hash__

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("a number has no length")
        return self.shape[0]

    def __bool__(self):
        return bool(self.numpy())

    def __reduce__(self):
        return Matrix, (self.numpy(),)

    def __repr__(self):
        state = f"\n{self.numpy()}" if self.ready and not self._handle.error and self.size <= 100 else \
            f" {self._handle.error or ('computed' if self.ready else 'not computed yet')}"
        return f"<glinpack.Matrix {self.shape} {self.dtype} on {self.context.device}:{state}>"

    # ---- elements

    def __abs__(self):
        return self._computed(numpy.abs)

    def max(self, axis=None):
        return self._computed(numpy.max, axis)

    def min(self, axis=None):
        return self._computed(numpy.min, axis)

    def isnan(self):
        """A numpy array of booleans."""
        return numpy.isnan(self.numpy())

    def reshape(self, *shape):
        return self._computed(numpy.reshape, shape[0] if len(shape) == 1 else shape)

    def sum(self, axis=None):
        """In the background, as products with ones."""
        if axis not in (None, 0, 1, -1, -2) or (axis is not None and not -self.ndim <= axis < self.ndim):
            raise ValueError(f"axis {axis} is out of bounds for a matrix of {self.ndim} dimensions")
        result = self
        if self.ndim and (axis is None or axis % self.ndim == self.ndim - 1):
            result = result @ full(self.shape[-1], 1, self.dtype, self.context)
            return result.sum() if axis is None else result
        return result if not self.ndim else full(self.shape[0], 1, self.dtype, self.context) @ result

    def dot(self, other):
        """numpy.dot()"""
        other = _as_matrix(other, self.context)
        return self * other if self.ndim == 0 or other.ndim == 0 else self @ other

    def _computed(self, function, *arguments):
        """numpy's function of the elements, which waits."""
        return Matrix(function(self.numpy(), *arguments), self.dtype, self.context)

    def __neg__(self):
        return _new(_core.scale(-1.0, self._handle, 0.0), self.ndim, self.context)

    def __pos__(self):
        return self

    __add__, __radd__ = _operators(_core.add)
    __sub__, __rsub__ = _operators(_core.subtract)
    __mul__, __rmul__ = _operators(_core.multiply)
    __truediv__, __rtruediv__ = _operators(_core.divide)

    def astype(self, dtype):
        """The elements in another precision."""
        return _converted(self, _precision(dtype))

    @property
    def T(self):
        return self if self.ndim < 2 else _new(_core.transpose(self._handle), 2, self.context)

    # ---- linear algebra

    def __matmul__(self, other):
        return matmul(self, other)

    def __rmatmul__(self, other):
        return matmul(other, self)

    @property
    def I(self):
        return self.inv()

    def inv(self):
        """The inverse."""
        return _new(_core.inverse(_square(self)._handle), 2, self.context)

    def solve(self, b):
        """x of self @ x = b, for a vector or a matrix b."""
        a, b = _operands(self, b)
        if b.ndim == 0:
            raise ValueError("the right-hand side is a number")
        return _new(_core.solve(_square(a)._handle, b._handle), b.ndim, a.context)

    def lu(self):
        """P, L, U with self = P @ L @ U, as scipy.linalg.lu()."""
        p, l, u = _core.lu(_square(self)._handle)
        return tuple(_new(factor, 2, self.context) for factor in (_core.transpose(p), l, u))

    def rref(self):
        """The reduced row echelon form, by Gauss-Jordan elimination."""
        return _new(_core.rref(self._handle), self.ndim, self.context)

    def det(self):
        return _new(_core.determinant(_square(self)._handle), 0, self.context)

    def rcond(self):
        """An estimate of 1 / cond(self, 1)."""
        return _new(_core.rcond(_square(self)._handle), 0, self.context)

    def norm(self, ord=None):
        """The norm None or "fro" (the 2-norm of a vector), 1, or inf; 2 of a vector, too."""
        kind = 3 if self.ndim < 2 and ord == 2 else _NORMS.get(ord)
        if kind is None or (self.ndim < 2 and ord == "fro"):
            raise ValueError(f"glinpack has no norm {ord!r} of {'a matrix' if self.ndim == 2 else 'a vector'}")
        return _new(_core.norm(self._handle, kind), 0, self.context)


def _new(handle, ndim, context):
    matrix = Matrix.__new__(Matrix)
    matrix._set(handle, ndim, context)
    return matrix


def _is_readable(array):
    """By the library, which takes any strides."""
    return array.dtype in (numpy.float32, numpy.float64) and array.flags.aligned and \
        not any(stride % array.itemsize for stride in array.strides)


def _precision(dtype, context=None):
    """Without dtype that of the context: float32 with packing, else float64."""
    wanted = numpy.dtype(numpy.float32 if dtype is None and context and context.packing else dtype)
    if wanted not in (numpy.float32, numpy.float64):
        raise TypeError(f"glinpack computes in float32 and float64, not in {wanted}")
    return wanted


def _converted(matrix, dtype):
    if matrix.dtype == dtype:
        return matrix
    return _new(_core.convert(matrix._handle, dtype == numpy.float32), matrix.ndim, matrix.context)


def _as_matrix(value, context=None):
    return value if isinstance(value, Matrix) else Matrix(value, context=context)


def _operands(*values):
    """Matrices of one context, in the precision of the widest."""
    context = next((value.context for value in values if isinstance(value, Matrix)), None)
    matrices = [_as_matrix(value, context) for value in values]
    wanted = numpy.result_type(*(matrix.dtype for matrix in matrices))
    return [_converted(matrix, wanted) for matrix in matrices]


def _square(matrix):
    if matrix.ndim != 2:
        raise ValueError(f"a square matrix is expected, not the shape {matrix.shape}")
    return matrix


def _is_number(value):
    return isinstance(value, (numbers.Real, numpy.bool_)) or (isinstance(value, numpy.ndarray) and value.ndim == 0)


def _elementwise(operation, a, b):
    try:
        if _is_number(b):
            return _with_number(operation, a, float(b), False)
        if _is_number(a):
            return _with_number(operation, b, float(a), True)
        a, b = _operands(a, b)
    except TypeError:
        return NotImplemented
    if a.ndim and b.ndim and a.ndim != b.ndim:
        raise ValueError(f"the shapes {a.shape} and {b.shape} differ: glinpack does not broadcast")
    a, b = _repeated(a, b), _repeated(b, a)
    return _new(operation(a._handle, b._handle), a.ndim, a.context)


def _repeated(number, matrix):
    """A number that may not be computed yet, in the shape of the matrix: a product with ones."""
    if number.ndim or not matrix.ndim:
        return number
    rows, columns = (_core.constant(number.context._core, number._handle.is_single, *shape, 1.0)
                     for shape in ((matrix._handle.rows, 1), (1, matrix._handle.columns)))
    product = _core.gemm(False, False, _core.gemm(False, False, rows, number._handle), columns)
    return _new(product, matrix.ndim, number.context)


def _with_number(operation, matrix, number, number_first):
    if operation is _core.add:
        handle = _core.scale(1.0, matrix._handle, number)
    elif operation is _core.subtract:
        handle = _core.scale(-1.0 if number_first else 1.0, matrix._handle, number if number_first else -number)
    elif operation is _core.multiply:
        handle = _core.scale(number, matrix._handle, 0.0)
    else:  # not by a reciprocal, which is rounded
        handle = _core.constant(matrix.context._core, matrix._handle.is_single, matrix._handle.rows,
                                matrix._handle.columns, number)
        handle = operation(handle, matrix._handle) if number_first else operation(matrix._handle, handle)
    return _new(handle, matrix.ndim, matrix.context)


def matmul(a, b):
    """a @ b of matrices and vectors."""
    a, b = _operands(a, b)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("@ is not defined for a number: use *")
    if a.ndim == 1 and b.ndim == 2:  # a^T b as b^T a
        return _new(_core.gemm(True, False, b._handle, a._handle), 1, a.context)
    return _new(_core.gemm(a.ndim == 1, False, a._handle, b._handle), a.ndim + b.ndim - 2, a.context)


def solve(A, b):
    """x of A @ x = b, in the background. A scipy.sparse matrix A is solved by tridiagonal() if it is tridiagonal and
    diagonally dominant, else by banded_solve() if its diagonals span less than a quarter of its order."""
    band = _band(A)
    if band is None:
        A, b = _operands(A, b)
        return A.solve(b)
    diagonals, offsets = band
    b = _as_matrix(b)
    if len(offsets) == 3 and (abs(diagonals[:, 1]) >= abs(diagonals[:, 0]) + abs(diagonals[:, 2])).all():
        columns = (diagonal[:, None].repeat(b._handle.columns, 1) for diagonal in diagonals.T)
        return tridiagonal(*(column if b.ndim == 2 else column[:, 0] for column in columns), b)
    return banded_solve(diagonals, offsets, b)


def _band(A):
    """The diagonals and offsets, -1 to 1 at least, of a scipy.sparse matrix, as banded_product() takes them. None: to
    be solved as a full matrix."""
    if not hasattr(A, "toarray") or A.shape[0] != A.shape[1] or A.shape[0] < 2:
        return None
    n = A.shape[0]
    rows, columns = A.nonzero()
    below, above = (int(distance.max(initial=1)) for distance in (rows - columns, columns - rows))
    if below + above >= max(n / 4, 3):
        return None
    offsets = range(-below, above + 1)
    diagonals = numpy.zeros((n, len(offsets)), A.dtype if A.dtype.kind in "fc" else float)
    for k, offset in enumerate(offsets):
        diagonals[max(0, -offset):n - max(0, offset), k] = A.diagonal(offset)
    return diagonals, offsets


def inv(A):
    return _as_matrix(A).inv()


def lu(A):
    """P, L, U with A = P @ L @ U."""
    return _as_matrix(A).lu()


def det(A):
    return _as_matrix(A).det()


def rref(A):
    """The reduced row echelon form."""
    return _as_matrix(A).rref()


def dot(a, b):
    return _as_matrix(a, getattr(b, "context", None)).dot(b)


def rcond(A):
    return _as_matrix(A).rcond()


def norm(A, ord=None):
    return _as_matrix(A).norm(ord)


def full(shape, value, dtype=None, context=None):
    """A matrix or vector of equal elements."""
    shape = (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)
    if not 1 <= len(shape) <= 2:
        raise ValueError(f"a matrix has one or two dimensions, not {len(shape)}")
    context = context or _default_context()
    rows, columns = (*shape, 1)[:2]
    handle = _core.constant(context._core, _precision(dtype, context) == numpy.float32, rows, columns, value)
    return _new(handle, len(shape), context)


def zeros(shape, dtype=None, context=None):
    return full(shape, 0.0, dtype, context)


def eye(rows, columns=None, dtype=None, context=None):
    context = context or _default_context()
    columns = rows if columns is None else columns
    return _new(_core.identity(context._core, _precision(dtype, context) == numpy.float32, rows, columns), 2, context)


def banded_product(diagonals, offsets, x):
    """A @ x of a banded matrix: diagonals[i, k] is A[i, i + offsets[k]]."""
    return _banded(_core.banded_product, diagonals, offsets, x)


def _banded(operation, diagonals, offsets, x):
    diagonals, x = _operands(diagonals, x)
    offsets = [int(offset) for offset in offsets]
    if diagonals.shape[1:] != (len(offsets),):
        raise ValueError(f"{len(offsets)} offsets do not fit diagonals of the shape {diagonals.shape}")
    return _new(operation(diagonals._handle, offsets, x._handle), x.ndim, x.context)


def banded_solve(diagonals, offsets, b):
    """x of A @ x = b of a banded matrix, with partial pivoting, on the processor (LAPACK gbtrf). diagonals[i, k] is
    A[i, i + offsets[k]]."""
    return _banded(_core.banded_solve, diagonals, offsets, b)


def tridiagonal(lower, diagonal, upper, right):
    """x of tridiagonal systems, one for each column."""
    operands = _operands(lower, diagonal, upper, right)
    return _new(_core.tridiagonal(*(matrix._handle for matrix in operands)), operands[-1].ndim, operands[-1].context)


def poisson(b, tolerance=1e-8, max_iterations=0):
    """u of the five-point Laplacian on n x n points by conjugate gradients."""
    b = _as_matrix(b)
    return _new(_core.poisson(b._handle, tolerance, max_iterations), b.ndim, b.context)


def from_dlpack(array, context=None):
    """A matrix of an array of any library that exports DLPack from the processor's memory."""
    return Matrix(numpy.from_dlpack(array), context=context)


def results(path):
    """The records of a file that --json wrote, as a list of dicts: runs, results, tunings or pairs; else the whole
    document as one record."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if not isinstance(document, dict) or "format" not in document:
        raise ValueError(f"{path} is no result of glinpack")
    if document["format"] != 1:
        raise ValueError(f"{path} has the format {document['format']!r}, glinpack {__version__} reads format 1")
    for key in ("runs", "results", "tunings", "pairs"):
        if key in document:
            return document[key]
    return [document]


from . import linalg  # noqa: E402  it uses the functions above
