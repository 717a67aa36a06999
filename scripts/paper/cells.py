"""The cells of the white paper's tables: which runs there are, and what of them is left out. Pure."""
import json
import math
import pathlib

WHITE_PAPER = json.loads((pathlib.Path(__file__).parent / "white_paper.json").read_text(encoding="utf-8"))
TABLES = (1, 2, 3, 4)

# The status of a cell: "not run", "left out", "measured", "doubtful" (a time, but a wrong answer) or "failed".

# --quick: rows that two cores finish in seconds, where possible some that the paper has. Table 2 has none of these.
QUICK_ROWS = {
    1: [{"n": 128, "subsize": 8}, {"n": 128, "subsize": 64}, {"n": 512, "subsize": 64}, {"n": 512, "subsize": 256}],
    2: [{"n": 512, "processes": 4, "subsize": 32}, {"n": 512, "processes": 4, "subsize": 128},
        {"n": 512, "processes": 16, "subsize": 32}, {"n": 512, "processes": 16, "subsize": 128}],
    3: [{"n": 2048, "subsize": 256}, {"n": 2048, "subsize": 1024}],
    4: [{"n": 64}, {"n": 256}],
}


def placement(processes, nodes):
    """Processes on each node, the first ones having more: 4 on 3 nodes are 2, 1, 1."""
    return [processes // nodes + (node < processes % nodes) for node in range(nodes)]


def gflops(n, seconds):
    """As the paper counts: 2/3 n^3 operations."""
    return 2 / 3 * n**3 / seconds * 1e-9


def paper_rows(table):
    """[{n, subsize, processes, seconds: {nodes: seconds}, network_percent}] as the paper prints them."""
    printed = WHITE_PAPER["tables"][str(table)]
    rows = []
    for row in printed["rows"]:
        n = row.get("n", printed.get("n"))
        rows.append({"n": n, "subsize": row.get("subsize", n), "processes": row.get("processes", printed.get("processes")),
                     "seconds": dict(zip(printed["nodes"], row["seconds"])),
                     "network_percent": row.get("network_percent")})
    return rows


def rows_of(table, quick):
    """The table's rows; in a quick table those that the paper does not have lack its figures."""
    printed = paper_rows(table)
    if not quick:
        return printed
    rows = []
    for wanted in QUICK_ROWS[table]:
        wanted = {"subsize": wanted["n"], "processes": printed[0]["processes"], **wanted}
        same = [row for row in printed if all(row[key] == value for key, value in wanted.items())]
        rows.append(same[0] if same else {**wanted, "seconds": {}, "network_percent": None})
    return rows


def count_text(count, thing, plural="s"):
    return f"{count} {thing}{plural if count != 1 else ''}"


def name_of(table, cell):
    """Of the cell's files."""
    parts = [f"table{table}", f"n{cell['n']}", f"nb{cell['subsize']}", f"{cell['processes']}procs",
             f"{cell['nodes']}nodes", cell["backend"]]
    return "-".join(part for part in parts if part)


def text_of(table, cell):
    """The cell in words."""
    words = [f"n {cell['n']}", f"subsize {cell['subsize']}",
             count_text(cell["processes"], "process", "es"), count_text(cell["nodes"], "node")]
    return ", ".join(words if table != 4 else [words[0], cell["backend"]])


def reason_to_leave_out(table, cell, most_nodes, place, largest_n):
    if cell["nodes"] > most_nodes:
        return f"{count_text(cell['nodes'], 'node')}: --nodes {place} has {most_nodes}"
    # the network alone computes nothing, and OpenBLAS is Table 4's yardstick
    limited = table in (1, 2) or (table == 4 and cell["backend"] != "openblas")
    if limited and largest_n is not None and cell["n"] > largest_n:
        return f"n {cell['n']} is above --largest-n {largest_n}"
    return None


def cells_of(table, *, backend, pivot_backends, quick, most_nodes, place, largest_n):
    """All cells of a table, each with the figures of the paper, before anything is run. `place`: of --nodes."""
    if table == 4:
        backends = pivot_backends
    else:
        backends = ["" if table == 3 else backend]
    # Table 2 has no column for nodes: where there are no four, it is made on those there are
    nodes = [min(4, most_nodes)] if table == 2 else WHITE_PAPER["tables"][str(table)]["nodes"]
    cells = []
    for row in rows_of(table, quick):
        for count in nodes:
            for name in backends:
                side = math.isqrt(row["processes"])
                cell = {"n": row["n"], "subsize": row["subsize"], "processes": row["processes"],
                        "grid": f"{side}x{side}", "nodes": count, "placement": placement(row["processes"], count),
                        "backend": name, "status": "not run", "reason": "", "remark": "", "seconds": None, "samples": [],
                        "gflops": None, "network_percent": None, "waiting_percent": None, "residual": None,
                        "white_paper_seconds": row["seconds"].get(4 if table == 2 else count),
                        "white_paper_network_percent": row["network_percent"]}
                reason = reason_to_leave_out(table, cell, most_nodes, place, largest_n)
                if reason:
                    cell.update(status="left out", reason=reason)
                cells.append(cell)
    return cells
