"""A table as a picture, the paper's figures beside ours. From table*.json alone."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "plot"))
import plotting  # noqa: E402, after the path that it is found by
from matplotlib import lines  # noqa: E402

OURS = {"linestyle": "-", "linewidth": 1.4, "markersize": 5}
# as ours, but dashed and hollow
PAPER = {"linestyle": (0, (4, 2)), "linewidth": 1, "markersize": 6, "markerfacecolor": "white"}


def look(index, whose):
    return {"color": plotting.COLOURS[index % len(plotting.COLOURS)],
            "marker": plotting.MARKERS[index % len(plotting.MARKERS)], **whose}


def draw_pair(axes, index, label, cells, x, ours, paper):
    """Our line and the paper's over the cells' `x`; what was not measured, or the paper does not have, is left out."""
    points = [(cell[x], cell[paper]) for cell in cells if cell[paper] is not None]
    axes.plot(*zip(*points) if points else ([], []), **look(index, PAPER))
    points = [(cell[x], cell[ours]) for cell in cells if cell["status"] == "measured" and cell[ours] is not None]
    axes.plot(*zip(*points) if points else ([], []), label=label, **look(index, OURS))


def seconds_axis(axes):
    axes.set_ylabel("time, seconds")
    if any(len(line.get_ydata()) for line in axes.lines):
        axes.set_yscale("log")
        axes.autoscale_view()
        plotting.plain_log_ticks(axes.yaxis)
    else:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "nothing measured", ha="center", va="center", transform=axes.transAxes)


def grouped(cells, key):
    groups = {}
    for cell in cells:
        groups.setdefault(cell[key], []).append(cell)
    return groups


def draw_over_nodes(axes, cells, title):
    for index, (subsize, group) in enumerate(grouped(cells, "subsize").items()):
        draw_pair(axes, index, f"subsize {subsize}", group, "nodes", "seconds", "white_paper_seconds")
    plotting.whole_ticks(axes.xaxis, [cell["nodes"] for cell in cells])
    axes.margins(x=0.1)
    axes.set_xlabel("nodes")
    seconds_axis(axes)
    axes.set_title(title)
    axes.legend(loc="best", fontsize=7)


def picture_by_nodes(document):
    """Tables 1 and 3: a part for every n, a line for every subsize."""
    groups = grouped(document["cells"], "n")
    rows, columns = (len(groups) + 1) // 2, min(2, len(groups))
    figure, axes = plotting.pyplot.subplots(rows, columns, squeeze=False, figsize=(1.5 + 3.6 * columns, 3 * rows),
                                            constrained_layout=True)
    for place, (n, cells) in zip(axes.flat, groups.items()):
        draw_over_nodes(place, cells, f"n = {n}")
    for place in axes.flat[len(groups):]:
        place.set_visible(False)
    return figure


def picture_by_processes(document):
    """Table 2: time, and the network's share of it, over the subsize; a line for every number of processes."""
    figure, (time, share) = plotting.pyplot.subplots(1, 2, figsize=(8.6, 3.6), constrained_layout=True)
    cells = document["cells"]
    for index, (processes, group) in enumerate(grouped(cells, "processes").items()):
        name = f"{processes} processes"
        draw_pair(time, index, name, group, "subsize", "seconds", "white_paper_seconds")
        draw_pair(share, index, name, group, "subsize", "network_percent", "white_paper_network_percent")
    for axes in time, share:
        axes.set_xscale("log", base=2)
        plotting.whole_ticks(axes.xaxis, [cell["subsize"] for cell in cells])
        axes.set_xlabel("subsize")
        axes.legend(loc="best", fontsize=7)
    seconds_axis(time)
    share.set_ylim(0, 100)
    share.set_ylabel("network, per cent of the time")
    time.set_title(f"n = {cells[0]['n']}")
    share.set_title("network's share")
    return figure


def picture_by_backend(document):
    """Table 4: time over n, a line for every backend."""
    figure, axes = plotting.pyplot.subplots(figsize=(6.5, 4), constrained_layout=True)
    cells = document["cells"]
    axes.set_xscale("log", base=2)
    backends = grouped(cells, "backend")
    for index, (backend, group) in enumerate(backends.items()):
        measured = [cell for cell in group if cell["status"] == "measured"]
        axes.plot([cell["n"] for cell in measured], [cell["seconds"] for cell in measured], label=backend,
                  **look(index, OURS))
    printed = [cell for cell in next(iter(backends.values())) if cell["white_paper_seconds"]]
    axes.plot([cell["n"] for cell in printed], [cell["white_paper_seconds"] for cell in printed],
              **look(len(backends), PAPER))
    plotting.whole_ticks(axes.xaxis, [cell["n"] for cell in cells])
    axes.set_xlabel("n = subsize")
    seconds_axis(axes)
    axes.set_title("Pivot operation on the whole matrix, one process")
    axes.legend(loc="best", fontsize=8)
    return figure


PICTURES = {1: picture_by_nodes, 2: picture_by_processes, 3: picture_by_nodes, 4: picture_by_backend}


def draw(document, paths):
    table = document["table"]
    figure = PICTURES[table](document)
    handles = [lines.Line2D([], [], color="0.3", marker="o", label=document["name"], **OURS)]
    if any(cell["white_paper_seconds"] for cell in document["cells"]):
        handles.append(lines.Line2D([], [], color="0.3", marker="o", label="white paper (2007)", **PAPER))
    figure.legend(handles=handles, loc="upper center", ncol=2, bbox_to_anchor=(0.5, 0), frameon=False)
    figure.suptitle(f"White paper, Table {table}", fontsize=11)
    plotting.save(figure, paths)
