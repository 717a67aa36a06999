"""glinpack.Matrix and glinpack.linalg against numpy and scipy, on OpenBLAS and on the software renderer."""
import asyncio
import concurrent.futures
import json
import os
import pathlib
import pickle
import random
import resource
import subprocess
import sys
import threading
import time

import numpy
import pytest
import scipy.linalg
import scipy.sparse

import glinpack
from glinpack import linalg

SIZES = (1, 2, 3, 5, 37, 64, 257)
PRECISIONS = (numpy.float32, numpy.float64)


@pytest.fixture(scope="module", params=["openblas", "software"])
def context(request):
    with glinpack.Context(request.param, 1) as made:
        yield made


@pytest.fixture(scope="module")
def openblas():
    with glinpack.Context("openblas", 1) as made:
        glinpack.use(made)
        yield made


def rng():
    return numpy.random.default_rng(7)


def well_conditioned(n, dtype):
    return (rng().random((n, n)) + n * numpy.eye(n)).astype(dtype)


def close(actual, expected, n=1):
    """Within c n epsilon of the expected size."""
    actual, expected = numpy.asarray(actual), numpy.asarray(expected)
    assert actual.shape == expected.shape
    epsilon = max(numpy.finfo(actual.dtype).eps, numpy.finfo(expected.dtype).eps)
    scale = max(1.0, numpy.abs(expected).max(initial=0))
    assert numpy.abs(actual - expected).max(initial=0) <= 16 * max(n, 1) * epsilon * scale


def test_functions_of_elements_agree_with_numpy(context):
    a = numpy.array([[1.0, -5, 3], [numpy.nan, 2, -4]])
    A = glinpack.Matrix(a, context=context)
    for axis in (None, 0, 1, -1):
        B = glinpack.Matrix(a[:, 1:], context=context)
        close(B.sum(axis), a[:, 1:].sum(axis), 3)
        close(B.max(axis), a[:, 1:].max(axis))
        close(B.min(axis), a[:, 1:].min(axis))
    close(abs(B), abs(a[:, 1:]))
    assert (A.isnan() == numpy.isnan(a)).all()
    close(B.reshape(4), a[:, 1:].reshape(4))
    close(B.reshape(1, -1), a[:, 1:].reshape(1, -1))
    close(glinpack.dot(B, [1.0, 2]), a[:, 1:] @ [1.0, 2], 2)
    close(B[0] @ B[0], 34.0)
    with pytest.raises(ValueError):
        B.sum(2)


def test_echelon_forms_and_tridiagonal_systems(context):
    a, b = well_conditioned(7, float), rng().standard_normal((7, 2))
    close(glinpack.Matrix(numpy.hstack([a, b]), context=context).rref(),
          numpy.hstack([numpy.eye(7), numpy.linalg.solve(a, b)]), 7)
    close(glinpack.rref(glinpack.Matrix([[1.0, 2, 1], [2, 4, 0]], context=context)), [[1.0, 2, 0], [0, 0, 1]])
    three = scipy.sparse.diags([numpy.ones(6), numpy.full(7, 3.0), numpy.ones(6)], [-1, 0, 1])
    for right in (b, b[:, 0]):
        close(glinpack.solve(three, glinpack.Matrix(right, context=context)),
              numpy.linalg.solve(three.toarray(), right), 7)
    exchange = scipy.sparse.csr_matrix([[0.0, 1], [1, 0]])  # tridiagonal, but only with pivoting
    close(glinpack.solve(exchange, glinpack.Matrix([1.0, 2], context=context)), [2.0, 1])
    for offsets in ((-1, 1), (-5, -1, 0, 2)):  # banded, also only with pivoting
        band = scipy.sparse.diags([rng().standard_normal(40 - abs(k)) for k in offsets], offsets)
        for right in (rng().standard_normal((40, 3)), rng().standard_normal(40)):
            solution = glinpack.solve(band, glinpack.Matrix(right, context=context)).numpy()
            scale = abs(band.toarray()).sum(1).max() * abs(solution).max() + abs(right).max()
            assert abs(band @ solution - right).max() <= 4 * 40 * numpy.finfo(float).eps * scale
    band.data[:, 7] = 0  # a column of zeros
    with pytest.raises(numpy.linalg.LinAlgError, match="a pivot is exactly 0"):
        glinpack.solve(band, glinpack.Matrix(right, context=context)).wait()
    full = scipy.sparse.csr_matrix(a)
    close(glinpack.solve(full, glinpack.Matrix(b, context=context)), numpy.linalg.solve(a, b), 7)


def test_packing_2x2_computes_in_float32():
    with glinpack.Context("software", packing="2x2") as packed:
        a, b = well_conditioned(9, numpy.float32), rng().standard_normal((9, 2)).astype(numpy.float32)
        A, B = glinpack.Matrix(a.astype(float), context=packed), glinpack.Matrix(b, context=packed)
        assert A.dtype == numpy.float32 and glinpack.zeros(3, context=packed).dtype == numpy.float32
        P, L, U = A.lu()
        close(P @ L @ U, a, 9)
        close(A.inv() @ (A @ B), b, 9)
        close(A.solve(B), numpy.linalg.solve(a, b), 9)
        with pytest.raises(ValueError):
            A.astype(float)
    with pytest.raises(ValueError):
        glinpack.Context("software", packing="4x1")


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("n", SIZES)
def test_operations_agree_with_numpy(context, n, dtype):
    a, b = well_conditioned(n, dtype), rng().standard_normal((n, 3)).astype(dtype)
    A, B = glinpack.Matrix(a, context=context), glinpack.Matrix(b, context=context)
    assert A.dtype == dtype and A.shape == (n, n)
    close(A @ B, a @ b, n)
    close(A.T @ B, a.T @ b, n)
    close(A @ b[:, 0], a @ b[:, 0], n)
    close(b[:, 0] @ A, b[:, 0] @ a, n)
    close(B[:, 0] @ b[:, 0], b[:, 0] @ b[:, 0], n)
    close(A + a.T, a + a.T)
    close(a.T - A, a.T - a)
    close(2 * A * A - 1, 2 * a * a - 1)
    close((1 / B) / 3, (1 / b) / 3, 4)
    close(-A, -a)
    close(3 - A, 3 - a)
    close(A.solve(B), numpy.linalg.solve(a, b), n)
    close(A.solve(b[:, 0]), numpy.linalg.solve(a, b[:, 0]), n)
    close(A.I, numpy.linalg.inv(a), n)
    assert float((A / n).det()) == pytest.approx(numpy.linalg.det(a / n), rel=100 * n * numpy.finfo(dtype).eps)
    for kind in (None, "fro", 1, numpy.inf):
        assert float(A.norm(kind)) == pytest.approx(numpy.linalg.norm(a, kind), rel=16 * n * numpy.finfo(dtype).eps)
    for kind in (None, 1, 2, numpy.inf):
        vector = glinpack.Matrix(b[:, 0], context=context)
        assert float(vector.norm(kind)) == pytest.approx(numpy.linalg.norm(b[:, 0], kind), rel=1e-4)
    p, l, u = A.lu()
    close(p @ l @ u, a, n)
    assert numpy.array_equal(numpy.tril(l), l) and numpy.array_equal(numpy.triu(u), u)


@pytest.mark.parametrize("n", (*SIZES, 1000))
def test_linalg_is_shaped_like_numpys_and_scipys(openblas, n):
    a, b = well_conditioned(n, float), rng().random((n, 2))
    for actual, expected in ((linalg.solve(a, b), numpy.linalg.solve(a, b)), (linalg.inv(a), numpy.linalg.inv(a)),
                             (linalg.norm(a), numpy.linalg.norm(a)), (linalg.norm(a, 1), numpy.linalg.norm(a, 1)),
                             (linalg.det(a / n), numpy.linalg.det(a / n))):
        assert type(actual) is type(expected)
        close(actual, expected, n)
    for actual, expected in zip(linalg.lu(a), scipy.linalg.lu(a)):
        close(actual, expected, n)


def test_ill_conditioned_systems_have_small_residuals(context):
    for n in (5, 9):
        a = scipy.linalg.hilbert(n)
        x = glinpack.Matrix(a, context=context).solve(a.sum(1)).numpy()
        assert numpy.abs(a @ x - a.sum(1)).max() <= 100 * n * numpy.finfo(float).eps * numpy.abs(x).max()
        rcond = float(glinpack.Matrix(a, context=context).rcond())
        assert rcond == pytest.approx(1 / numpy.linalg.cond(a, 1), rel=0.9)


def test_identities_on_random_shapes(openblas):
    shapes = random.Random(3)
    for _ in range(25):
        n, m, k = (shapes.randint(0, 40) for _ in range(3))
        dtype = shapes.choice(PRECISIONS)
        order = shapes.choice("CF")
        a = numpy.asarray(well_conditioned(n, dtype), order=order)
        x = numpy.asarray(rng().standard_normal((n, m)), dtype, order=order)
        y = rng().standard_normal((m, k)).astype(dtype)
        A, X = glinpack.Matrix(a), glinpack.Matrix(x)
        close(A.solve(A @ X), x, n)
        close(A.inv() @ A, numpy.eye(n), n)
        p, l, u = A.lu()
        close(p.T @ A, (l @ u).numpy(), n)
        close((X @ y).T, (y.T @ X.T).numpy(), m)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_strides_and_orders_are_taken_as_they_are(context, dtype):
    base = rng().random((12, 14)).astype(dtype)
    for view in (base, numpy.asfortranarray(base), base.T, base[::2, ::3], base[::-1, ::-2], base[3:4], base[:, 5],
                 base[::-1, 0], numpy.broadcast_to(base[0], (3, 14)), base.astype(base.dtype.newbyteorder())):
        matrix = glinpack.Matrix(view, context=context)
        assert numpy.array_equal(matrix, view)
        out = numpy.full(tuple(2 * extent for extent in view.shape), numpy.nan, dtype)[tuple([slice(None, None, -2)] * view.ndim)]
        assert matrix.numpy(out) is out
        assert numpy.array_equal(out, view)
        swapped = out.astype(out.dtype.newbyteorder())
        swapped.fill(numpy.nan)
        assert matrix.numpy(swapped) is swapped and not swapped.dtype.isnative
        assert numpy.array_equal(swapped, view)
        assert matrix.numpy(order="F").flags.f_contiguous
    packed = numpy.zeros(4, numpy.dtype([("byte", "u1"), ("value", dtype)]))
    packed["value"] = range(4)
    assert numpy.array_equal(glinpack.Matrix(packed["value"], context=context), range(4))
    fours = glinpack.full(4, 4.0, context=context)
    assert numpy.array_equal(fours.numpy(packed["value"]), [4] * 4) and not packed["byte"].any()
    assert numpy.array_equal(fours.numpy(numpy.empty(4, numpy.longdouble)), [4] * 4)
    with pytest.raises(TypeError, match="same_kind"):
        fours.numpy(numpy.empty(4, int))


def test_arrays_in_and_out(openblas):
    assert glinpack.Matrix([[1, 2], [3, 4]]).dtype == numpy.float64
    assert glinpack.Matrix(numpy.float16([1])).dtype == numpy.float32
    assert glinpack.Matrix(numpy.eye(2), numpy.float32).dtype == numpy.float32
    assert (glinpack.Matrix(numpy.eye(2, dtype="f4")) @ numpy.eye(2)).dtype == numpy.float64
    assert glinpack.Matrix(numpy.eye(2)).astype("f4").dtype == numpy.float32
    assert numpy.asarray(glinpack.eye(2, 3), "f4").dtype == numpy.float32
    assert numpy.array_equal(glinpack.zeros((2, 3)), numpy.zeros((2, 3)))
    assert numpy.array_equal(glinpack.full(4, 2.5), numpy.full(4, 2.5))
    matrix = glinpack.Matrix([[1.0, 2.0]])
    assert numpy.array_equal(pickle.loads(pickle.dumps(matrix)), matrix)
    assert matrix[0, 1] == 2 and len(matrix) == 1 and "1 2" in repr(matrix).replace(". ", " ").replace("[1.", "[1")
    assert (matrix / 0)[0, 0] == numpy.inf
    with pytest.raises(TypeError, match="complex"):
        glinpack.Matrix([1j])
    with pytest.raises(TypeError):
        matrix + "text"
    with pytest.raises(ValueError, match="dimensions"):
        glinpack.Matrix(numpy.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="shape"):
        matrix.numpy(numpy.zeros(2))


def test_one_element_is_a_number_of_python(openblas):
    for number in (glinpack.det([[2.0, 0.5], [1.0, 1.5]]), glinpack.full(1, 2.5), glinpack.full((1, 1), 2.5)):
        assert f"{number:.3f} {number:g}" == "2.500 2.5"
        assert (round(number), round(number, 1), int(number)) == (2, 2.5, 2)
    assert f"{number}" == repr(number)
    for convert in (int, round, lambda matrix: f"{matrix:.3f}"):
        with pytest.raises(TypeError):
            convert(glinpack.eye(2))


def test_sparse_and_integer_operands_become_full_and_double(openblas, tmp_path):
    full = numpy.array([[2, 0, 1], [0, 3, 0], [1, 0, 4]])
    b = numpy.arange(3)
    as_double = full.astype(float)
    A = glinpack.Matrix(as_double)
    numpy.save(tmp_path / "whole.npy", full)
    for operand in (scipy.sparse.csr_matrix(full), scipy.sparse.coo_matrix(full), scipy.sparse.csc_array(full),
                    numpy.load(tmp_path / "whole.npy"), numpy.load(tmp_path / "whole.npy", mmap_mode="r")):
        assert glinpack.Matrix(operand).dtype == numpy.float64
        close(glinpack.solve(operand, b), numpy.linalg.solve(full, b), 3)
        close(linalg.inv(operand), numpy.linalg.inv(full), 3)
        for result in (A @ operand, operand @ A):
            close(result, as_double @ as_double)
        for result in (A + operand, operand + A):
            close(result, 2 * as_double)


def test_comparisons_and_iteration_give_what_numpy_gives(openblas):
    a = rng().random((3, 4))
    A = glinpack.Matrix(a)
    for compared in (A == A, A == a, a == A, A == glinpack.Matrix(a)):
        assert type(compared) is numpy.ndarray and compared.shape == a.shape and compared.all()
    assert numpy.array_equal(A != a[0], a != a[0])
    assert {A: 1}[A] == 1
    assert numpy.array_equal(list(A), list(a))
    with pytest.raises(TypeError, match="0-d"):
        list(A.norm())


def test_numbers_that_are_not_computed_yet_are_operands(openblas):
    b = rng().random((2, 3)) + 1
    late = slow(openblas)
    s, B = glinpack.Matrix(b).norm(1), glinpack.Matrix(b)
    n = numpy.linalg.norm(b, 1)
    results = [(B / s, b / n), (s - B, n - b), (s + glinpack.Matrix(b[0]), n + b[0]), (2 * s, 2 * n), (1 / s, 1 / n), (s / s, 1.0),
               (numpy.float64(3) - s, 3 - n), (s * B.astype("f4"), n * b.astype("f4")), (B * numpy.True_, b)]
    assert not late.ready and not results[0][0].ready
    for actual, expected in results:
        close(actual, expected)
    assert (glinpack.full((0, 3), 1) * s).shape == (0, 3)


def test_dlpack_on_the_processor(openblas):
    a = rng().random((3, 4))
    matrix = glinpack.from_dlpack(a[:, ::2])
    assert matrix.__dlpack_device__() == (1, 0)
    assert numpy.array_equal(numpy.from_dlpack(matrix), a[:, ::2])


def test_empty_matrices(context):
    for shape in ((0, 0), (0, 3), (3, 0), (0,)):
        matrix = glinpack.Matrix(numpy.zeros(shape), context=context)
        assert matrix.shape == shape and matrix.numpy().shape == shape
        assert float(matrix.norm()) == 0
    empty = glinpack.Matrix(numpy.zeros((0, 0)), context=context)
    assert float(empty.det()) == 1 and empty.I.shape == (0, 0)
    assert empty.solve(numpy.zeros((0, 2))).numpy().shape == (0, 2)
    assert numpy.array_equal(glinpack.Matrix(numpy.zeros((2, 0)), context=context) @ numpy.zeros((0, 3)), numpy.zeros((2, 3)))


def test_errors_are_exceptions_with_the_librarys_text(context):
    singular = glinpack.Matrix(numpy.ones((3, 3)), context=context)
    for operation in (lambda: singular.solve([1, 2, 3]).wait(), lambda: (singular.I + 1).numpy()):
        with pytest.raises(numpy.linalg.LinAlgError, match="singular|pivot"):
            operation()
    assert float(singular.det()) == 0
    other = glinpack.Matrix(numpy.ones((2, 3)), context=context)
    for operation, text in ((lambda: singular @ other, "3 x 3"), (lambda: singular + other, "2 x 3"),
                            (lambda: other.I, "not square but 2 x 3"), (lambda: singular + [1, 2, 3], "broadcast"),
                            (lambda: singular.solve([1, 2]), "2 x 1"), (lambda: singular.norm("nuc"), "nuc")):
        with pytest.raises(ValueError, match=text):
            operation()
    with glinpack.Context("openblas", 1) as another:
        with pytest.raises(ValueError, match="contexts"):
            glinpack.Matrix(numpy.eye(3), context=another) @ singular
    with pytest.raises(RuntimeError, match="no device 'none'"):
        glinpack.Context("none")
    assert numpy.array_equal(other, numpy.ones((2, 3)))


def test_special_systems(openblas):
    n = 20
    diagonals, x = rng().random((n, 3)), rng().random(n)
    dense = sum(numpy.diag(diagonals[max(0, -k):n - max(0, k), i], k) for i, k in enumerate((-1, 0, 2)))
    close(glinpack.banded_product(diagonals, [-1, 0, 2], x), dense @ x, n)
    lower, diagonal, upper = rng().random(n), rng().random(n) + 4, rng().random(n)
    dense = numpy.diag(diagonal) + numpy.diag(lower[1:], -1) + numpy.diag(upper[:-1], 1)
    close(glinpack.tridiagonal(lower, diagonal, upper, x), numpy.linalg.solve(dense, x), n)
    b = rng().random((6, 6))
    second = 2 * numpy.eye(6) - numpy.eye(6, k=1) - numpy.eye(6, k=-1)
    laplacian = numpy.kron(second, numpy.eye(6)) + numpy.kron(numpy.eye(6), second)
    close(glinpack.poisson(b, 1e-14), numpy.linalg.solve(laplacian, b.ravel()).reshape(6, 6), 100)
    with pytest.raises(numpy.linalg.LinAlgError):
        glinpack.poisson(b, 1e-14, 1).wait()


def slow(context, n=600, operations=12):
    a = glinpack.Matrix(numpy.full((n, n), 1e-3), context=context)
    for _ in range(operations):
        a = a @ a
    return a


def test_results_are_computed_in_the_background(openblas):
    product = slow(openblas)
    assert not product.ready and openblas.pending > 0 and "not computed yet" in repr(product)
    with pytest.raises(TimeoutError):
        product.wait(1e-4)
    assert product.cancel()
    with pytest.raises(concurrent.futures.CancelledError):
        (product + 1).wait()
    done = slow(openblas, 50).wait()
    assert done.ready and not done.cancel()


def test_other_threads_run_while_one_waits(openblas):
    counted = []
    product = slow(openblas)
    waiting = threading.Thread(target=product.wait)
    waiting.start()
    while waiting.is_alive():
        counted.append(time.sleep(1e-3))
    assert len(counted) > 3


def test_a_context_can_be_closed_while_another_thread_uses_it():
    ended = []
    context = glinpack.Context("openblas", 1)

    def use():
        with pytest.raises(concurrent.futures.CancelledError):
            while True:
                glinpack.Matrix(numpy.ones((300, 300)), context=context).T.wait()
        ended.append(True)
    users = [threading.Thread(target=use) for _ in range(3)]
    for user in users:
        user.start()
    time.sleep(0.05)
    context.close()
    for user in users:
        user.join(30)
    assert len(ended) == 3


def test_a_matrix_is_awaitable(openblas):
    async def compute():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(1e-3)
        ticking = asyncio.ensure_future(tick())
        product, inverse = await asyncio.gather(awaited(slow(openblas)), awaited(glinpack.Matrix(numpy.eye(3)).I))
        assert product.ready and numpy.array_equal(inverse, numpy.eye(3))
        ticking.cancel()
        assert ticks > 3
        with pytest.raises(numpy.linalg.LinAlgError):
            await glinpack.zeros((3, 3)).I

    async def awaited(matrix):
        return await matrix

    asyncio.run(compute())


@pytest.mark.parametrize("wait", [False, True])
def test_temporaries_do_not_grow_memory(openblas, wait):
    a = numpy.full((64, 64), 1e-2)
    A = glinpack.Matrix(a)

    def loop(count):
        for _ in range(count):
            temporary = (A + a) @ a
            if wait:
                temporary.wait()
        openblas.wait()
    loop(1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loop(5000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20000  # KiB; 10,000 temporaries of 32 KiB are 320,000


def python(code, **environment):
    paths = str(pathlib.Path(glinpack.__file__).parent.parent)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "PYTHONPATH": paths, "GLINPACK_DEVICE": "openblas", **environment})


def test_a_closed_context_and_its_matrices_can_be_printed():
    with glinpack.Context("openblas", 1) as context:
        matrix = glinpack.Matrix([1.0], context=context)
    assert "OpenBLAS" in repr(context) and "freed" in repr(matrix)


@pytest.mark.parametrize("device", ["openblas", "software"])
@pytest.mark.parametrize("end", ["", "; raise SystemExit(0)", "; del a", "; context.close()"])
def test_python_exits_cleanly_with_pending_work(device, end):
    ended = python(f"import numpy, glinpack; context = glinpack.use({device!r}); "
                   f"a = glinpack.Matrix(numpy.full((200, 200), 1e-3)); b = [a @ a for _ in range(200)]{end}")
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("waits", ["a.wait()", "a.numpy()", "context.wait()", "for _ in range(3000): a + a"])
def test_control_c_ends_a_wait(waits):
    ended = python("import numpy, glinpack, os, signal, threading, time\n"
                   "context = glinpack.use('openblas')\n"
                   "a = glinpack.Matrix(numpy.full((500, 500), 1e-3))\n"
                   "for _ in range(1000): a = a @ a\n"
                   "threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                   "start = time.monotonic()\n"
                   f"try: exec({waits!r})\n"
                   "except KeyboardInterrupt: print('interrupted', time.monotonic() - start < 1)")
    assert (ended.stdout, ended.stderr) == ("interrupted True\n", "")


def test_a_process_forks_while_threads_of_openblas_compute():
    ended = python("import numpy, glinpack, os\n"
                   "context = glinpack.use(glinpack.Context('openblas', 2))\n"
                   "ones = a = glinpack.Matrix(numpy.full((700, 700), 1 / 700))\n"
                   "for _ in range(50): a = a @ ones\n"
                   "child = os.fork()\n"
                   "if child == 0: os._exit(0)\n"
                   "os.waitpid(child, 0)\n"
                   "print(context.pending > 2, numpy.allclose(a, 1 / 700))")
    assert (ended.stdout, ended.stderr) == ("True True\n", "")


def test_a_forked_process_has_a_context_of_its_own():
    ended = python("import numpy, glinpack, os\n"
                   "a = glinpack.Matrix(numpy.eye(100)) @ numpy.eye(100)\n"
                   "child = os.fork()\n"
                   "if child == 0:\n"
                   "    try: a.numpy()\n"
                   "    except RuntimeError as error: assert 'fork' in str(error)\n"
                   "    else: os._exit(3)\n"
                   "    del a\n"
                   "    assert glinpack.det(numpy.eye(3)).numpy() == 1\n"
                   "    raise SystemExit(0)\n"
                   "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
                   "assert a.numpy().sum() == 100")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_after_fork_opengl_is_refused_and_not_replaced_by_openblas_in_silence():
    ended = python("import glinpack, os\n"
                   "glinpack.Context('software', 1).close()\n"
                   "child = os.fork()\n"
                   "if child: raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
                   "for device in ('software', '0', 'auto'):\n"
                   "    try: glinpack.Context(device)\n"
                   "    except RuntimeError as error: assert 'before fork()' in str(error) and 'spawn' in str(error)\n"
                   "    else: raise SystemExit(3)\n"
                   "glinpack.Context('openblas').close()")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_without_a_gpu_auto_is_openblas_after_fork_too():
    ended = python("import glinpack, os\n"
                   "before = glinpack.Context('auto').device\n"
                   "child = os.fork()\n"
                   "if child: raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
                   "try: assert glinpack.Context('auto').device == before and 'OpenBLAS' in before\n"
                   "except RuntimeError: assert 'OpenBLAS' not in before")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_line_of_a_new_user():
    ended = python("import numpy as np, glinpack as g; A = np.random.rand(500,500); "
                   "print(np.abs(g.solve(A, A.sum(1)) - 1).max())")
    assert ended.stderr == "" and float(ended.stdout) < 1e-7


def test_results_are_records(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"format": 1, "context": {}, "runs": [{"n": 3, "gflops": None}]}))
    assert glinpack.results(path) == [{"n": 3, "gflops": None}]
    path.write_text(json.dumps({"format": 2, "runs": []}))
    with pytest.raises(ValueError, match="format 2"):
        glinpack.results(path)
    path.write_text("[]")
    with pytest.raises(ValueError, match="no result"):
        glinpack.results(str(path))


def test_the_stubs_name_what_there_is():
    folder = pathlib.Path(glinpack.__file__).parent
    stubs = (folder / "__init__.pyi").read_text()
    assert (folder / "py.typed").exists()
    compile(stubs, "stubs", "exec")
    for name in glinpack.__all__:
        assert f"def {name}(" in stubs or f"class {name}" in stubs or f"import {name} as" in stubs, name
    for name in (name for name in vars(glinpack.Matrix) if not name.startswith("_")):
        assert f"def {name}(" in stubs or f"    {name}:" in stubs, name
