#!/usr/bin/python3
"""The toolbox of Brodtkorb 2008: operators on textures of packing 2x2, each on results of others, and how far X is from
Y: || X - Y || / || Y ||, of row sums, in single precision.

example:
  PYTHONPATH=build/release/python examples/toolbox.py --device software --n 64
"""
import argparse

import numpy
import glinpack

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--device", default="auto", help="as glinpack.Context has it (default: auto)")
parser.add_argument("--n", type=int, default=256, help="order (default: 256)")
arguments = parser.parse_args()

with glinpack.Context(arguments.device, packing="2x2") as gpu:
    n = arguments.n
    a = (numpy.random.default_rng(1).random((n, n)) + n * numpy.eye(n)).astype(numpy.float32)
    three = 4 * numpy.eye(n) + numpy.eye(n, k=1) + numpy.eye(n, k=-1)
    A, B, T, one = (glinpack.Matrix(x, context=gpu) for x in (a, a[:, :3] / n, three, numpy.ones((n, 3))))
    P, L, U = A.lu()
    C = A @ B
    results = {"P L U, A": (P @ L @ U, A), "A^-1 (A B), B": (A.inv() @ C, B), "A \\ (A B), B": (A.solve(C), B),
               "rref(A), I": (A.rref(), glinpack.eye(n, context=gpu)),
               "T \\ (T B), B": (glinpack.tridiagonal(one, 4 * one, one, T @ B), B)}
    print(gpu.device)
    for name, (x, y) in results.items():
        print(f"{name:14} {float((x - y).norm(numpy.inf)) / float(y.norm(numpy.inf)):.1e}")
