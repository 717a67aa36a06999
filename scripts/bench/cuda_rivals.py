#!/usr/bin/env python3
"""cuSOLVER's LU, cuBLAS's matrix product and conjugate gradients through PyTorch, as glinpack is measured at.

usage: scripts/bench/cuda_rivals.py [--lu N,...] [--gemm N,...] [--inner K,...] [--poisson N,...]
                                    [--precision single|double] [--repeat COUNT]

  --lu N,...      orders of matrices to factorise (torch.linalg.lu_factor_ex: cuSOLVER's getrf); none [16384,32768]
  --gemm N,...    C <- C - A B with C N x N and the inner extent K (torch.addmm: cuBLAS); none [16384]
  --inner K,...   [256,512]
  --poisson N,... iterations of conjugate gradients for the Poisson equation on N x N points, in whole-array
                  operations, and the copy of such a vector; none [none]
  --repeat COUNT  of each, after one that is not counted; least and median seconds are printed [5]

Needs an NVIDIA GPU and a python3 that has PyTorch. TFLOPS are of the least time: 2/3 N^3 for LU, 2 N^2 K for the
product, 15 N^2 for an iteration.
Exit status: 0 all was measured, 2 something is missing or an argument unusable.

example: scripts/bench/cuda_rivals.py --lu 32768 --precision double
"""
import argparse
import statistics
import sys
import time


def orders(text):
    if text == "none":
        return []
    numbers = [int(part) for part in text.split(",")]
    if min(numbers) < 1:
        raise ValueError(text)
    return numbers


def parsed():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
        sys.exit(0)
    parser = argparse.ArgumentParser(add_help=False, usage="scripts/bench/cuda_rivals.py --help tells")
    parser.add_argument("--lu", type=orders, default=[16384, 32768])
    parser.add_argument("--gemm", type=orders, default=[16384])
    parser.add_argument("--inner", type=orders, default=[256, 512])
    parser.add_argument("--poisson", type=orders, default=[])
    parser.add_argument("--precision", choices=["single", "double"], default="single")
    parser.add_argument("--repeat", type=int, choices=range(1, 101), default=5, metavar="COUNT")
    return parser.parse_args()


def unusable(what):
    print(f"cuda_rivals.py: {what}", file=sys.stderr)
    sys.exit(2)


def measure(torch, name, counted, repeat, prepare, work, unit="TFLOPS"):
    seconds = []
    for _ in range(repeat + 1):
        operands = prepare()
        torch.cuda.synchronize()
        start = time.perf_counter()
        work(operands)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    seconds = seconds[1:]
    print(f"{name}: {min(seconds):.5f} s least, {statistics.median(seconds):.5f} s median, "
          f"{counted / min(seconds) * 1e-12:.2f} {unit}", flush=True)


POISSON_ITERATIONS = 50  # timed together


def conjugate_gradients(torch, n, real):
    """A function that does POISSON_ITERATIONS for -u_xx - u_yy = f, zero at the border, f random."""
    def vectors():
        r = torch.rand(n, n, device="cuda", dtype=real)
        padded = torch.zeros(n + 2, n + 2, device="cuda", dtype=real)  # p within the border's zeros
        padded[1:-1, 1:-1] = r
        return torch.zeros_like(r), r, padded, torch.empty_like(r), torch.sum(r * r)

    def iterate(state):
        u, r, padded, q, rho = state
        p = padded[1:-1, 1:-1]
        for _ in range(POISSON_ITERATIONS):
            torch.mul(p, 4, out=q)
            for neighbours in (padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]):
                q.sub_(neighbours)
            alpha = rho / torch.sum(p * q)
            u.addcmul_(p, alpha)
            r.addcmul_(q, -alpha)
            before, rho = rho, torch.dot(r.view(-1), r.view(-1))
            p.mul_(rho / before).add_(r)
    return vectors, iterate


def main():
    options = parsed()
    try:
        import torch
    except ImportError:
        unusable("this python3 has no PyTorch: pip install torch")
    if not torch.cuda.is_available():
        unusable("PyTorch finds no NVIDIA GPU")
    torch.backends.cuda.matmul.allow_tf32 = False  # single precision, as glinpack's
    torch.backends.cuda.preferred_linalg_library("cusolver")
    real = torch.float32 if options.precision == "single" else torch.float64
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}, {options.precision}")

    def uniform(rows, columns):
        return torch.rand(rows, columns, device="cuda", dtype=real) - 0.5

    for n in options.lu:
        a = uniform(n, n)
        measure(torch, f"cuSOLVER getrf, N {n}", 2 / 3 * n**3, options.repeat, a.clone, torch.linalg.lu_factor_ex)
        del a
        torch.cuda.empty_cache()
    for n in options.gemm:
        for k in options.inner:
            a, b, c = uniform(n, k), uniform(k, n), uniform(n, n)
            measure(torch, f"cuBLAS gemm, {n} x {n} x {k}", 2 * n * n * k, options.repeat, lambda: None,
                    lambda _, a=a, b=b, c=c: c.addmm_(a, b, alpha=-1))
    for n in options.poisson:
        a, b = uniform(n, n), uniform(n, n)
        measure(torch, f"copy of a vector, {n} x {n}, read + written", 2 * n * n * a.element_size(), options.repeat,
                lambda: None, lambda _, a=a, b=b: b.copy_(a), "TB/s")
        del a, b
        # products and sums of an iteration: 5 for A p, 2 each for two dot products and three updates
        measure(torch, f"{POISSON_ITERATIONS} iterations of conjugate gradients, {n} x {n}",
                POISSON_ITERATIONS * 15 * n * n, options.repeat, *conjugate_gradients(torch, n, real))


if __name__ == "__main__":
    main()
