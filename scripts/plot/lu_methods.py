#!/usr/bin/python3
"""Draws GFLOPS of LU decompositions against n, as Figure 5 of Ino et al., 2005: copying beside switching."""
import plotting

EXAMPLES = """\
FILE is from `glinpack-papers lu-methods --json FILE` (docs/papers/lu-decomposition.md). Sizes of several files are drawn
together; of the same size and method the last file counts. The blocked factorisation on compute shaders, which has no
strategy, is in every part; --no-compute leaves it out, since it may dwarf the others, and --log shows both. Medians of
the repetitions.

examples:
  glinpack-papers lu-methods --n 32,64,128,256 --json lu.json
  scripts/plot/lu_methods.py lu.json -o lu.png -o lu.svg
"""
METHODS = ("M1", "M2", "M3", "M4")
STRATEGIES = {"copy": "copying", "switch": "switching"}


def read_results(paths):
    """{(variant, strategy): {n: GFLOPS}}, the strategy of compute being empty, and device and host."""
    rates, machine = {}, set()
    for path in paths:
        document = plotting.read_json(path)
        if not isinstance(document, dict) or document.get("mode") != "lu-methods":
            raise plotting.Refusal(f"{path}: no results of glinpack-papers lu-methods: what its --json writes is expected, see "
                                   "docs/papers/lu-decomposition.md")
        machine.add(f"{document['device']['renderer']}; {document['host']['processor']}")
        failed = sum(not result["passed"] for result in document["results"])
        if failed:
            plotting.say_left_out(failed, len(document["results"]))
        for result in document["results"]:
            if result["passed"] and not result["rival"]:
                strategy = "" if result["variant"] == "compute" else result["settings"]
                rates.setdefault((result["variant"], strategy), {})[result["n"]] = result["gflops"]
    return rates, " / ".join(sorted(machine))


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, "+")
    parser.add_argument("--no-compute", action="store_true", help="without the blocked factorisation on compute shaders")
    parser.add_argument("--log", action="store_true", help="a logarithmic axis of GFLOPS; the paper's is linear")
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    rates, machine = read_results(arguments.files)
    strategies = [strategy for strategy in STRATEGIES if any(key[1] == strategy for key in rates)]
    if not strategies:
        raise plotting.Refusal("no results of M1 to M4 to draw: the files have none that passed")

    figure, parts = plotting.pyplot.subplots(1, len(strategies), figsize=(4.2 * len(strategies), 3.6), sharey=True,
                                             squeeze=False)
    for axes, letter, strategy in zip(parts[0], "ab", strategies):
        lines = [(method, (method, strategy)) for method in METHODS] + [("compute, blocked", ("compute", ""))]
        sizes = set()
        for index, (name, key) in enumerate(lines):
            if key not in rates or (arguments.no_compute and key[0] == "compute"):
                continue
            places = sorted(rates[key])
            sizes.update(places)
            axes.plot(places, [rates[key][n] for n in places], label=name, **plotting.line_look(index))
        axes.set_xscale("log", base=2)
        if arguments.log:
            axes.set_yscale("log")
        plotting.whole_ticks(axes.xaxis, sizes)
        axes.set_xlabel(f"n\n({letter}) {STRATEGIES[strategy]}")
    if arguments.log:
        plotting.plain_log_ticks(parts[0][0].yaxis)
    else:
        parts[0][0].set_ylim(bottom=0)
    parts[0][0].set_ylabel("GFLOPS")
    parts[0][-1].legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    figure.suptitle(arguments.title or f"lu-methods\n{machine}", fontsize=10)
    figure.tight_layout()
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
