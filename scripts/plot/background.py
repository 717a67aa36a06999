#!/usr/bin/python3
"""Draws where the time of a system goes while the processor and a device share the systems, as Brodtkorb's figure 5."""
import plotting

EXAMPLES = """\
FILE is from `glinpack-papers background --json FILE` (docs/papers/coprocessor.md). The picture shows the mean time of a system
against n: computed by the processor, waiting for the device, and in total; and the time of each of the two alone.

examples:
  glinpack-papers background --n 128,256,384,512 --systems 30 --json background.json
  scripts/plot/background.py background.json -o background.png -o background.svg
"""
SHARED = {"total_seconds": "both, total", "cpu_seconds": "of it, CPU computes", "waiting_seconds": "of it, waits for the GPU"}
ALONE = {"cpu": "CPU alone", "gpu": "GPU alone"}


def read_results(path):
    """The document, and its results that passed: {(variant, n): result}."""
    document = plotting.read_json(path)
    if not isinstance(document, dict) or document.get("mode") != "background":
        raise plotting.Refusal(f"{path}: no results of glinpack-papers background: what its --json writes is expected, see "
                               "docs/papers/coprocessor.md")
    results = {(result["variant"], result["n"]): result for result in document["results"] if result["passed"]}
    if not any(variant == "both" for variant, _ in results):
        raise plotting.Refusal(f"{path}: no results to draw: none passed its check")
    return document, results


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, 1)
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    document, results = read_results(arguments.files[0])
    sizes = sorted(n for variant, n in results if variant == "both")
    both = [results["both", n]["parameters"] for n in sizes]

    figure, axes = plotting.pyplot.subplots(figsize=(6, 4))
    for index, (key, name) in enumerate(SHARED.items()):
        axes.plot(sizes, [parameters[key] for parameters in both], label=name, **plotting.line_look(index))
    for index, (variant, name) in enumerate(ALONE.items(), len(SHARED)):
        places = [n for n in sizes if (variant, n) in results]
        times = [results[variant, n]["times"]["compute"]["median"] for n in places]
        axes.plot(places, times, label=name, **{**plotting.line_look(index), "linewidth": 0.8})
    plotting.whole_ticks(axes.xaxis, sizes)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("n")
    axes.set_ylabel("time of a system, average, seconds")
    configuration = document["context"]["configuration"]
    axes.set_title(arguments.title or f"{configuration['systems']} systems, {configuration['operation']}, load ratio "
                   f"{configuration['ratio']}\n{document['device']['renderer']}; {document['host']['processor']}")
    plotting.legend_below(axes, 2)
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
