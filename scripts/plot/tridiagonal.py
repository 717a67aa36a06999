#!/usr/bin/python3
"""Draws times and speed-up of many tridiagonal systems solved side by side, as Brodtkorb's figure 4 (2008)."""
import plotting

EXAMPLES = """\
FILE is from `glinpack-papers tridiagonal --json FILE` (docs/papers/coprocessor.md), with several --n, --systems, or both.
Three pictures against the equations of a system, a line for every number of systems: LAPACK on the processor, one variant
on the device, and the first over the second. As in the paper the device's time has the transfer in it, and packing.

examples:
  glinpack-papers tridiagonal --systems 64,256,1024 --n 64,128,256,512 --variant raster --json tridiagonal.json
  scripts/plot/tridiagonal.py tridiagonal.json -o tridiagonal.png -o tridiagonal.svg
"""


def read_results(path, variant):
    """The document, its results that passed as {(variant, systems, n): result}, and the variant that is drawn."""
    document = plotting.read_json(path)
    if not isinstance(document, dict) or document.get("mode") != "tridiagonal":
        raise plotting.Refusal(f"{path}: no results of glinpack-papers tridiagonal: what its --json writes is expected, see "
                               "docs/papers/coprocessor.md")
    good = [result for result in document["results"] if result["passed"]]
    if len(good) < len(document["results"]):
        plotting.say_left_out(len(document["results"]) - len(good), len(document["results"]))
    variants = list(dict.fromkeys(result["variant"] for result in good if not result["rival"]))
    if not variants:
        raise plotting.Refusal(f"{path}: no results to draw: no variant but the processor's has passed")
    if variant and variant not in variants:
        raise plotting.Refusal(f"--variant {variant}: {path} has results of {', '.join(variants)}")
    chosen = variant or variants[0]
    results = {("rival" if result["rival"] else chosen, result["parameters"]["systems"], result["n"]): result
               for result in good if result["rival"] or result["variant"] == chosen}
    return document, results, chosen


def seconds(result):
    return result["times"]["compute" if result["rival"] else "with_all"]["median"]


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, 1)
    parser.add_argument("--variant", metavar="NAME", help="what the device computed by; the first in the file by default")
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    document, results, variant = read_results(arguments.files[0], arguments.variant)
    places = sorted({key[1:] for key in results if key[0] == variant and ("rival", *key[1:]) in results})
    if not places:
        raise plotting.Refusal(f"{arguments.files[0]}: no results to draw: no size was passed by both")
    host = {place: seconds(results["rival", *place]) for place in places}
    device = {place: seconds(results[variant, *place]) for place in places}

    figure, panels = plotting.pyplot.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    threads = document["host"]["threads"]
    values = [(f"(a) LAPACK, {threads} thread{'' if threads == 1 else 's'}", "time, seconds", host),
              (f"(b) {variant}, with packing and transfer", "time, seconds", device),
              ("(c) speed-up", "(a) over (b)", {place: host[place] / device[place] for place in places})]
    for axes, (title, label, points) in zip(panels, values, strict=True):
        for index, count in enumerate(sorted({systems for systems, _ in places})):
            line = [(n, points[systems, n]) for systems, n in places if systems == count]
            axes.plot(*zip(*line), label=f"{count} systems", **plotting.line_look(index))
        plotting.whole_ticks(axes.xaxis, [n for _, n in places])
        axes.set_ylim(bottom=0)
        axes.set_xlabel("equations of a system")
        axes.set_ylabel(label)
        axes.set_title(title)
    panels[-1].legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    figure.suptitle(arguments.title or f"tridiagonal: {document['device']['renderer']}; {document['host']['processor']}",
                    fontsize=10)
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
