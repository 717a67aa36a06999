"""numpy.linalg's functions, and lu() of scipy.linalg: arrays in, computed numpy arrays out."""
from numpy.linalg import LinAlgError

import glinpack

__all__ = ["LinAlgError", "det", "inv", "lu", "norm", "solve"]


def solve(a, b):
    """numpy.linalg.solve()"""
    return glinpack.solve(a, b).numpy()


def inv(a):
    """numpy.linalg.inv()"""
    return glinpack.inv(a).numpy()


def det(a):
    """numpy.linalg.det()"""
    return glinpack.det(a).numpy()[()]


def norm(x, ord=None):
    """numpy.linalg.norm() for ord None, "fro", 1 and inf; 2 of a vector"""
    return glinpack.norm(x, ord).numpy()[()]


def lu(a):
    """scipy.linalg.lu(): P, L, U with a = P @ L @ U"""
    return tuple(factor.numpy() for factor in glinpack.lu(a))
