"""table*.json: the cells of a table with the figures of the paper, and how they came about."""
import pathlib
import platform
import time

import cells as plan
import runs


def processor():
    """Its name."""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def computed_with(backend, document):
    """A line on what a backend computed with, from one of its runs."""
    run = document["runs"][0]
    rank = run["ranks"][0]
    words = [rank["device"]] + (["software OpenGL"] if rank["software_gl"] else [])
    words += [rank["driver"]] + ([f"{rank['kernels']} kernels"] if rank["kernels"] else [])
    words.append(f"{plan.count_text(rank['threads'], 'thread')} a process on the host")
    return f"{backend}: " + ", ".join(word for word in words if word)


def description(table, machine, repeat):
    documents = {backend: document for (of, backend), document in machine.contexts.items() if of == table}
    lines = [] if table == 3 else [computed_with(backend, document) for backend, document in documents.items()]
    if table in (1, 2):
        lines.append("Single precision, local pivoting, panels sent by the MPI library's own broadcast.")
    times = {3: "the messages of a factorisation, nothing computed",
             4: "the pivot operation, factorising the whole matrix"}.get(table, "the factorisation, as the paper's")
    lines.append(f"Times: {times}" + (f"; the median of {repeat} runs." if repeat > 1 else "; one run each."))
    if table != 4:
        lines.append(f"Nodes: {machine.place.text}.")
    lines.append(f"This machine: {processor()}, {runs.cores()} cores.")
    if documents:
        context = next(iter(documents.values()))["context"]
        lines.append(f"{context['program']} {context['version']}, {context['git_commit']}; {context['mpi_library']}; "
                     + time.strftime("%Y-%m-%d"))
    return lines


def host_panels(machine):
    """Backends by OpenGL whose panel, with subsize = n the whole matrix, was factorised on the host."""
    found = []
    for (table, backend), document in machine.contexts.items():
        if table == 4 and backend.startswith("gl-"):
            breakdown = document["runs"][0]["breakdown"]
            if {line["lane"] for line in breakdown["phases"] if line["phase"] == "panel"} == {"cpu"}:
                found.append(backend)
    return found


def notes(table, cells, machine, quick):
    lines = []
    if table == 2:
        printed = plan.WHITE_PAPER["tables"]["2"]
        lines.append("network %: messages under way, waiting %: for a process that had not begun its end of one; of the "
                     "run's time, mean over processes. The paper does not say how it counted.")
        if all(cell["n"] == printed["n"] for cell in cells):
            lines.append(printed["n_derived"])
        else:
            lines.append(f"n is {cells[0]['n']} here and {printed['n']} in the white paper, so its times are not shown.")
        if cells[0]["nodes"] != 4:
            lines.append(f"On {plan.count_text(cells[0]['nodes'], 'node')} instead of four.")
    if table in (1, 3) and any(cell["placement"] == [2, 1, 1] and cell["status"] == "measured" for cell in cells):
        lines.append("4 processes on 3 nodes: two on the first, one on each other.")
    if table == 4:
        lines += [f"{backend} factorises a panel on the host, and the whole matrix is one: no OpenGL in these times."
                  for backend in host_panels(machine)]
    elif machine.place.name == "netlab":
        lines.append(f"All nodes compute on the {runs.cores()} cores of one machine: more nodes are not more processors.")
    if quick:
        lines.append("--quick: a few small rows of the table.")
    return lines


def document_of(table, cells, machine, arguments):
    printed = plan.WHITE_PAPER["tables"][str(table)]
    contexts = {backend or "network": document["context"]
                for (of, backend), document in machine.contexts.items() if of == table}
    name = "glinpack" if table in (3, 4) else f"glinpack, {arguments.backend}"
    return {
        "format": 1,
        "table": table,
        "name": name,
        "description": description(table, machine, arguments.repeat),
        "notes": notes(table, cells, machine, arguments.quick),
        "white_paper": {"source": plan.WHITE_PAPER["source"],
                        **{key: printed[key] for key in ("caption", "n_derived", "rival") if key in printed}},
        "nodes": machine.place.name,
        "rate": getattr(machine.place, "rate", None),
        "largest_n": arguments.largest_n,
        "quick": arguments.quick,
        "repeat": arguments.repeat,
        "contexts": contexts,
        "cells": cells,
    }
