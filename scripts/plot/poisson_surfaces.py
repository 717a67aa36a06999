#!/usr/bin/python3
"""Draws a solution of `glinpack-papers poisson` and its error as surfaces over the unit square, as Figures 8 and 9 do."""
import math

import plotting

EXAMPLES = """\
FILE is what `glinpack-papers poisson --output FILE` wrote: u_h, N x N, as .npy. At the left is u_h, at the right |u - u_h| with
the exact u(x) = sin^2(pi x_1) sin^2(pi x_2) (docs/papers/poisson.md); both with the zeros of the boundary around them.

examples:
  glinpack-papers poisson --n 64 --output u.npy
  scripts/plot/poisson_surfaces.py u.npy -o surfaces.png -o surfaces.svg
"""
MOST_LINES = 80  # of a surface, in either direction


def read_solution(path):
    try:
        import numpy
    except ImportError:
        raise plotting.Refusal("numpy is not installed: apt-get install python3-numpy") from None
    try:
        u = numpy.load(path, allow_pickle=False)
    except OSError as error:
        raise plotting.Refusal(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise plotting.Refusal(f"{path}: not a .npy file: {error}") from None
    if u.ndim != 2 or u.shape[0] != u.shape[1] or u.shape[0] == 0:
        raise plotting.Refusal(f"{path}: {' x '.join(map(str, u.shape))} elements, but a solution is N x N")
    return numpy, u


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, 1)
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    numpy, u = read_solution(arguments.files[0])
    n = u.shape[0]
    line = numpy.arange(n + 2) / (n + 1)
    square = numpy.sin(math.pi * line) ** 2
    square[[0, -1]] = 0
    solution = numpy.pad(u, 1)
    error = numpy.abs(numpy.outer(square, square) - solution)

    figure = plotting.pyplot.figure(figsize=(9, 4))
    figure.suptitle(arguments.title or f"-Laplace u = f on the unit square, N = {n}")
    x2, x1 = numpy.meshgrid(line, line)
    lines = min(n + 2, MOST_LINES)
    figure.subplots_adjust(wspace=0.25)
    for place, (values, title) in enumerate(((solution, "u_h"), (error, f"|u - u_h|, at most {error.max():.4e}"))):
        axes = figure.add_subplot(1, 2, place + 1, projection="3d")
        axes.plot_surface(x1, x2, values, rcount=lines, ccount=lines, cmap="viridis", linewidth=0.1, edgecolor="0.3")
        axes.set_title(title)
        axes.set_xlabel("x_1")
        axes.set_ylabel("x_2")
        axes.zaxis.set_major_formatter(plotting.matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
