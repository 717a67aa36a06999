#!/usr/bin/python3
"""Draws what the standalone modes measured against n, as the papers' figures do: points, and the polynomials fitted."""
import plotting

EXAMPLES = """\
FILE is from --json of `glinpack-papers matmul` or another standalone solver (docs/papers/README.md). Every variant with its
settings is a line. Of the repetitions a point shows the median, the bar the least and the most. Where the
mode was run with --fit, seconds have the fitted polynomial as a line, else the points are joined.

examples:
  glinpack-papers matmul --variant single-pass,multi-pass --n 64,96,128,192,256 --fit --json matmul.json
  scripts/plot/mode_times.py matmul.json -o matmul.png -o matmul.svg
  scripts/plot/mode_times.py matmul.json --quantity element -o element.svg
  scripts/plot/mode_times.py matmul.json --quantity speedup --with-all -o speedup.svg
"""
QUANTITIES = {"seconds": "time, seconds", "element": "time of an element of the product, seconds",
              "iteration": "time per iteration, seconds", "speedup": "speed-up over the processor", "gflops": "GFLOPS"}
CURVE_POINTS = 200


def read_series(paths):
    """{(series, mode, device): (results, fit or None)}, and how many results did not pass."""
    series, failed = {}, 0
    for path in paths:
        document = plotting.read_json(path)
        if not isinstance(document, dict) or "results" not in document or "mode" not in document:
            raise plotting.Refusal(f"{path}: no results of a standalone mode: what their --json writes is expected, see "
                                   "docs/papers/README.md")
        device = (document["device"] or {}).get("renderer", document["host"]["processor"])
        fits = {fit["series"]: fit["coefficients"] for fit in document["fits"]}
        for result in document["results"]:
            if not result["passed"] or result["times"] is None:
                failed += 1
                continue
            name = f"{result['variant']} {result['settings']}".strip()
            key = (name, document["mode"], document["host"]["processor"] if result["rival"] else device)
            series.setdefault(key, ([], fits.get(name)))[0].append(result)
    return series, failed


def labels(series):
    """What tells the series apart: mode and device only where they differ."""
    modes, devices = {key[1] for key in series}, {key[2] for key in series}
    parts = lambda key: [key[1]] * (len(modes) > 1) + [key[0]] + [f"({key[2]})"] * (len(devices) > 2)  # noqa: E731
    return {key: " ".join(parts(key)) for key in series}


def value_of(result, arguments):
    """(middle, least, most) of what is drawn; None where the result has none."""
    if arguments.quantity == "iteration":
        iterations = result["parameters"].get("iterations")
        times = result["times"]["compute"]
        return tuple(times[key] / iterations for key in ("median", "least", "most")) if iterations else None
    if arguments.quantity not in ("seconds", "element"):
        key = "speedup_with_all" if arguments.quantity == "speedup" and arguments.with_all else arguments.quantity
        return None if result[key] is None else (result[key],) * 3
    elements = 1
    if arguments.quantity == "element":
        extents = result["parameters"]
        if "rows" not in extents or "columns" not in extents:
            return None
        elements = extents["rows"] * extents["columns"]
    times = result["times"]["with_all" if arguments.with_all else "compute"]
    return tuple(times[key] / elements for key in ("median", "least", "most"))


def draw_line(axes, name, results, fit, arguments, look):
    points = sorted((result["n"], value_of(result, arguments)) for result in results if value_of(result, arguments))
    if not points:
        return False
    sizes = [n for n, _ in points]
    middle = [value[0] for _, value in points]
    reach = [[m - value[1] for m, (_, value) in zip(middle, points)],
             [value[2] - m for m, (_, value) in zip(middle, points)]]
    fitted = fit is not None and arguments.quantity == "seconds" and not arguments.with_all
    axes.errorbar(sizes, middle, yerr=reach, capsize=2, fmt="none", ecolor=look["color"])
    axes.plot(sizes, middle, label=name, **({**look, "linestyle": "none"} if fitted else look))
    if fitted:
        low, high = min(sizes), max(sizes)
        places = [low + (high - low) * step / (CURVE_POINTS - 1) for step in range(CURVE_POINTS)]
        axes.plot(places, [sum(c * n**k for k, c in enumerate(fit)) for n in places], color=look["color"],
                  linestyle=look["linestyle"], linewidth=look["linewidth"])
    return True


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, "+")
    parser.add_argument("--quantity", choices=QUANTITIES, default="seconds",
                        help="what is drawn; seconds by default; element: of products alone")
    parser.add_argument("--with-all", action="store_true",
                        help="seconds, element, speedup: with packing and transfer instead of the computation alone")
    parser.add_argument("--log", action="store_true", help="logarithmic axes; the papers' are linear")
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    series, failed = read_series(arguments.files)
    if failed:
        plotting.say_left_out(failed, failed + sum(len(results) for results, _ in series.values()))
    if not series:
        raise plotting.Refusal("no results to draw: the files have none that passed")
    if len(series) > plotting.MOST_SERIES:
        raise plotting.Refusal(f"{len(series)} lines are too many to tell apart, {plotting.MOST_SERIES} the most; measure "
                               "fewer variants")

    figure, axes = plotting.pyplot.subplots(figsize=(6, 4))
    if arguments.log:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
    drawn = [draw_line(axes, labels(series)[key], results, fit, arguments, plotting.line_look(index))
             for index, (key, (results, fit)) in enumerate(series.items())]
    if not any(drawn):
        raise plotting.Refusal(f"no result has what --quantity {arguments.quantity} draws")
    plotting.whole_ticks(axes.xaxis, [result["n"] for results, _ in series.values() for result in results])
    if arguments.log:
        plotting.plain_log_ticks(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel("n")
    with_all = " with packing and transfer" if arguments.with_all and arguments.quantity != "gflops" else ""
    axes.set_ylabel(QUANTITIES[arguments.quantity] + with_all)
    modes = sorted({key[1] for key in series})
    devices = sorted({key[2] for key in series})
    axes.set_title(arguments.title or ", ".join(modes) + "\n" + "; ".join(devices))
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
