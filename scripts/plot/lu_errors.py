#!/usr/bin/python3
"""Draws how the error of LU grows with n, on the device and on the processor."""
import plotting

EXAMPLES = """\
FILE is from `glinpack-papers paranoia --json FILE` (docs/papers/lu-decomposition.md), with its part lu. Errors are in epsilon:
2^-24 in single, 2^-53 in double precision. There is a line per precision and device. Both axes are logarithmic.

examples:
  glinpack-papers paranoia --part lu --n 64,128,256,512 --json paranoia.json
  scripts/plot/lu_errors.py paranoia.json -o errors.png -o errors.svg
  scripts/plot/lu_errors.py paranoia.json --error backward -o backward.svg
"""
ERRORS = {"forward": "forward error of x, epsilon", "backward": "backward error of x, epsilon"}


def read_document(path):
    document = plotting.read_json(path)
    if not isinstance(document, dict) or document.get("mode") != "paranoia":
        raise plotting.Refusal(f"{path}: no results of glinpack-papers paranoia: what its --json writes is expected, see "
                               "docs/papers/lu-decomposition.md")
    return document


def lines_of(document, key):
    """{(precision, variant): [(n, error)]} of what is known, and how many results failed."""
    lines, failed = {}, 0
    for result in document["results"]:
        if not result["passed"]:
            failed += 1
        elif result["parameters"][key]:
            lines.setdefault((result["precision"], result["variant"]), []).append((result["n"], result["parameters"][key]))
    return lines, failed


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, 1)
    parser.add_argument("--error", choices=ERRORS, default="forward", help="what is drawn; forward by default")
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    document = read_document(arguments.files[0])
    lines, failed = lines_of(document, f"{arguments.error}_error")
    if failed:
        plotting.say_left_out(failed, len(document["results"]))
    if not lines:
        raise plotting.Refusal(f"{arguments.files[0]}: no {arguments.error} errors to draw")

    figure, axes = plotting.pyplot.subplots(figsize=(6, 4))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    for index, ((precision, variant), points) in enumerate(lines.items()):
        axes.plot(*zip(*sorted(points)), label=f"{variant}, {precision}", **plotting.line_look(index))
    plotting.whole_ticks(axes.xaxis, [n for points in lines.values() for n, _ in points])
    plotting.plain_log_ticks(axes.yaxis)
    axes.set_xlabel("n")
    axes.set_ylabel(ERRORS[arguments.error])
    names = ([document["device"]["renderer"]] if document["device"] else []) + [document["host"]["processor"]]
    configuration = document["context"]["configuration"]
    axes.set_title(arguments.title or f"LU of the matrix {configuration['matrix']}, seed {configuration['seed']}\n"
                   + "; ".join(names))
    plotting.legend_below(axes, 2)
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
