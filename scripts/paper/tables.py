"""A table as text, in the paper's layout with the paper's figures beside ours, and as CSV. From table*.json alone."""
import csv
import io
import textwrap

import cells as plan

WIDTH = 118


def row_key(cell):
    return cell["n"], cell["processes"], cell["subsize"]


def rows_of(document):
    """The cells by row, in the order of the table: [((n, processes, subsize), {column: cell})]. A column is a number of
    nodes, in Table 4 a backend."""
    rows = {}
    for cell in document["cells"]:
        column = cell["backend"] if document["table"] == 4 else cell["nodes"]
        rows.setdefault(row_key(cell), {})[column] = cell
    return list(rows.items())


def seconds_text(seconds):
    """As the paper prints times: five decimals, more of them for what is shorter than a millisecond."""
    return f"{seconds:.5f}" if seconds >= 1e-3 else f"{seconds:.7f}"


def cell_text(cell):
    if cell["status"] in ("measured", "doubtful"):
        return ("!" if cell["status"] == "doubtful" else "") + seconds_text(cell["seconds"])
    return {"failed": "failed", "left out": "-", "not run": "?"}[cell["status"]]


def percent_text(value):
    return "" if value is None else f"{value:.0f}"


def paper_text(seconds):
    return "" if seconds is None else seconds_text(seconds)


class Grid:
    """Right-aligned columns under two lines of headings, the upper ones spanning several columns."""

    def __init__(self, groups):
        """groups: [(heading, [column heading, ...]), ...]"""
        self.groups = groups
        self.rows = []

    def add(self, groups, rule=False):
        """Cells by group; `rule`: a line above."""
        self.rows.append((groups, rule))

    def text(self):
        widths = []
        for index, (_, headings) in enumerate(self.groups):
            columns = zip(headings, *(groups[index] for groups, _ in self.rows))
            widths.append([max(map(len, column)) + 2 for column in columns])
        total = [max(sum(group), len(heading) + 2) for group, (heading, _) in zip(widths, self.groups)]

        def line(groups):
            pieces = ["".join(text.rjust(width) for text, width in zip(group, group_widths)).rjust(whole)
                      for group, group_widths, whole in zip(groups, widths, total)]
            return "  |".join(pieces).rstrip()

        upper = "  |".join(("  " + heading).rjust(whole) if len(group) == 1 else ("  " + heading).ljust(whole)
                           for (heading, group), whole in zip(self.groups, total)).rstrip()
        lines = [upper, line([headings for _, headings in self.groups])]
        rule = "-" * (sum(total) + 3 * (len(total) - 1))
        lines.append(rule)
        for groups, ruled in self.rows:
            lines += [rule] if ruled else []
            lines.append(line(groups))
        return "\n".join([*lines, rule])


def grid_by_nodes(document):
    """Tables 1 and 3: a column for every number of nodes."""
    nodes = sorted({cell["nodes"] for cell in document["cells"]})
    with_n = document["table"] == 1
    columns = [str(count) for count in nodes]
    grid = Grid([("", ["n", "subsize"] if with_n else ["subsize"]), ("glinpack, nodes", columns),
                 ("white paper (2007), nodes", columns)])
    last_n = None
    for (n, _, subsize), row in rows_of(document):
        new = n != last_n
        head = [str(n) if new else "", str(subsize)] if with_n else [str(subsize)]
        grid.add([head, [cell_text(row[count]) for count in nodes],
                  [paper_text(row[count]["white_paper_seconds"]) for count in nodes]], rule=new and last_n is not None)
        last_n = n
    return grid


def grid_by_processes(document):
    """Table 2."""
    grid = Grid([("", ["procs", "subsize"]), ("glinpack", ["time", "network %", "waiting %"]),
                 ("white paper (2007)", ["time", "network %"])])
    last = None
    for (_, processes, subsize), row in rows_of(document):
        cell = next(iter(row.values()))
        new = processes != last
        grid.add([[str(processes) if new else "", str(subsize)],
                  [cell_text(cell), percent_text(cell["network_percent"]), percent_text(cell["waiting_percent"])],
                  [paper_text(cell["white_paper_seconds"]), percent_text(cell["white_paper_network_percent"])]],
                 rule=new and last is not None)
        last = processes
    return grid


def grid_by_backend(document):
    """Table 4."""
    backends = list(dict.fromkeys(cell["backend"] for cell in document["cells"]))
    grid = Grid([("", ["n"]), ("glinpack, backend", backends), ("white paper (2007)", ["time"])])
    for (n, _, _), row in rows_of(document):
        cells = list(row.values())
        grid.add([[str(n)], [cell_text(row[backend]) for backend in backends],
                  [paper_text(cells[0]["white_paper_seconds"])]])
    return grid


GRIDS = {1: grid_by_nodes, 2: grid_by_processes, 3: grid_by_nodes, 4: grid_by_backend}


def fastest(table, cells, key):
    """'3.52 GFLOPS (n 4096, subsize 256, 2 nodes)', of the times under this key; None where there are none."""
    timed = [cell for cell in cells if cell[key] and (key != "seconds" or cell["status"] == "measured")]
    if not timed:
        return None
    rate, cell = max(((plan.gflops(cell["n"], cell[key]), cell) for cell in timed), key=lambda pair: pair[0])
    where = [f"n {cell['n']}"]
    if table != 4:
        where += [f"subsize {cell['subsize']}", plan.count_text(cell["processes"], "process", "es")]
        where += [plan.count_text(cell["nodes"] if table == 1 or key == "seconds" else 4, "node")]
    return f"{rate:.3g} GFLOPS ({', '.join(where)})"


def rates(document):
    """The highest rates, by the paper's count of 2/3 n^3 operations. Table 3 computes nothing."""
    table, cells = document["table"], document["cells"]
    if table == 3:
        return []
    lines = []
    for backend in dict.fromkeys(cell["backend"] for cell in cells):
        best = fastest(table, [cell for cell in cells if cell["backend"] == backend], "seconds")
        lines += [f"glinpack, {backend}: {best}"] if best else []
    best = fastest(table, cells, "white_paper_seconds")
    lines += [f"white paper: {best}"] if best else []
    rival = document["white_paper"].get("rival")
    return [f"Highest rate, {line}" for line in lines + ([rival] if rival else [])]


def notes(document):
    """What the marks in the cells mean, and what differs from the paper."""
    table, cells = document["table"], document["cells"]
    lines = []
    for reason in dict.fromkeys(cell["reason"] for cell in cells if cell["status"] == "left out"):
        lines.append(f"-  left out: {reason}")
    def by_text(key, mark, chosen):
        for words in dict.fromkeys(cell.get(key) for cell in chosen):
            where = "; ".join(plan.text_of(table, cell) for cell in chosen if cell.get(key) == words)
            lines.append(f"{mark}  {words}: {where}")

    bad = {status: [cell for cell in cells if cell["status"] == status] for status in ("doubtful", "failed")}
    by_text("reason", "!", bad["doubtful"])
    by_text("reason", "failed", bad["failed"])
    if bad["doubtful"] or bad["failed"]:
        lines.append("   The logs are in runs.jsonl.gz: scripts/results.py unpack runs.jsonl.gz DIR")
    by_text("remark", "*", [cell for cell in cells if cell.get("remark")])
    unfinished = sum(cell["status"] == "not run" for cell in cells)
    if unfinished:
        lines.append(f"?  not run: {unfinished} cells; interrupted before")
    return lines + [f"*  {note}" for note in document["notes"]]


def text(document):
    lines = textwrap.wrap(f"Table {document['table']}. {document['white_paper']['caption']}", WIDTH)
    lines += ["", GRIDS[document["table"]](document).text(), ""]
    for line in [*document["description"], *rates(document), *notes(document)]:
        lines += textwrap.wrap(line, WIDTH, subsequent_indent="   ", break_on_hyphens=False, break_long_words=False)
    return "\n".join(lines) + "\n"


COLUMNS = ("n", "subsize", "processes", "grid", "nodes", "placement", "backend", "status", "seconds", "gflops",
           "network_percent", "waiting_percent", "residual", "white_paper_seconds", "white_paper_network_percent", "reason")


def csv_text(document):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("table", *COLUMNS))
    for cell in document["cells"]:
        values = {**cell, "placement": "+".join(map(str, cell["placement"]))}
        writer.writerow([document["table"], *("" if values[key] is None else values[key] for key in COLUMNS)])
    return out.getvalue()
