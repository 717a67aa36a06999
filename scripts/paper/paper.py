#!/usr/bin/python3 -B
"""Repeats the evaluation of "PLU factorization on a cluster of GPUs using Fast Ethernet" (2007), its Tables 1 to 4."""
import argparse
import json
import os
import pathlib
import signal
import sys
import time

import cells as plan
import documents
import places
import runs
import tables

sys.path.insert(0, str(places.ROOT / "scripts"))
import results  # noqa: E402, needs the path above

EXAMPLES = """\
OUTPUT gets, for each table K, tableK.txt in the paper's layout with the paper's figures beside ours, tableK.csv,
tableK.json, tableK.png and tableK.svg; and runs.jsonl.gz with the log and JSON of every run: scripts/results.py unpacks
it. A run that fails leaves its cell marked.

examples:
  scripts/paper/paper.py --quick                                       # about two minutes on two cores
  scripts/paper/paper.py --backend openblas --output results/paper/openblas
  scripts/paper/paper.py --largest-n 2048 --rate 1gbit                 # software OpenGL without the largest matrices
  scripts/paper/paper.py --nodes hosts --hostfile hosts.txt            # a real cluster
  sbatch --nodes 4 --wrap 'scripts/paper/paper.py --nodes hosts'       # the same under Slurm
  scripts/paper/paper.py --tables 4 --nodes local
  scripts/paper/paper.py --render study --force                        # text, CSV and pictures anew, from the JSON there

GLINPACK in the environment names the program (build/release/bin/glinpack), MPIEXEC its MPI's launcher (mpirun.mpich).
Exit status: 0 all cells measured or left out; 1 a cell failed; 2 unusable arguments; 130 interrupted, what was measured
by then is written.
"""


def whole(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1")
    return int(text)


def table_list(text):
    numbers = text.split(",")
    if not set(numbers) <= set(map(str, plan.TABLES)):
        raise argparse.ArgumentTypeError(f"'{text}': the tables are 1,2,3,4")
    return sorted({int(number) for number in numbers})


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/paper/paper.py", description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="small matrices, the rows of the paper that are")
    add("--tables", type=table_list, default=list(plan.TABLES), metavar="1,2,3,4", help="these tables alone")
    add("--backend", default="gl-raster", metavar="NAME", help="computes Tables 1 and 2 [gl-raster]")
    add("--pivot-backends", default="gl-raster,gl-compute,openblas", metavar="NAME,...",
        help="columns of Table 4 [gl-raster,gl-compute,openblas]")
    add("--nodes", choices=("auto", "netlab", "hosts", "local"), default="auto",
        help="what a node is: a network namespace of this machine (needs root), a host, or this machine alone; auto: "
             "netlab where it is allowed, else local")
    add("--rate", metavar="RATE", help="of netlab's links [100mbit]")
    add("--hostfile", type=pathlib.Path, metavar="FILE", help="the hosts, one a line, the first one this; in a Slurm "
        "allocation its hosts are taken")
    add("--largest-n", type=whole, metavar="N", help="leave larger matrices out of Tables 1 and 2 and of Table 4's OpenGL")
    add("--repeat", type=whole, default=3, metavar="COUNT",
        help="runs of every cell, the first of which is cold; the median counts [3]")
    add("--time-limit", type=whole, default=3600, metavar="SECONDS", help="a run that takes longer has failed [3600]")
    add("--no-plots", action="store_true", help="no pictures; --render draws them later, elsewhere")
    add("--output", type=pathlib.Path, metavar="DIR", help="folder for all results [paper-DATE-TIME]")
    add("--force", action="store_true", help="overwrite results in the folder")
    add("--render", type=pathlib.Path, metavar="DIR", help="run nothing; write text, CSV and pictures from DIR's JSON")
    return parser.parse_args()


def derived_files(folder, table, plots):
    return [folder / f"table{table}.{kind}" for kind in ("txt", "csv", *(("png", "svg") if plots else ()))]


def render(folder, table, plots):
    """Text, CSV and pictures of a table, from its JSON."""
    document = json.loads((folder / f"table{table}.json").read_text(encoding="utf-8"))
    text, comma_separated, *images = derived_files(folder, table, plots)
    text.write_text(tables.text(document), encoding="utf-8")
    comma_separated.write_text(tables.csv_text(document), encoding="utf-8")
    if images:
        import pictures  # needs matplotlib
        pictures.draw(document, images)
    return text.read_text(encoding="utf-8")


def refuse_existing(files, force):
    existing = [file for file in files if file.exists()]
    if existing and not force:
        raise places.Refusal(f"{existing[0]} exists; --force overwrites, --output names another folder")


def check_plots(wanted):
    if wanted:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            raise places.Refusal("matplotlib is not installed: apt-get install python3-matplotlib, or --no-plots") from None


def render_only(arguments):
    found = [table for table in arguments.tables if (arguments.render / f"table{table}.json").exists()]
    if not found:
        raise places.Refusal(f"--render {arguments.render}: there is no table1.json ... table4.json")
    plots = not arguments.no_plots
    refuse_existing([file for table in found for file in derived_files(arguments.render, table, plots)], arguments.force)
    for table in found:
        print(render(arguments.render, table, plots))


def plan_tables(arguments, place):
    return {table: plan.cells_of(table, backend=arguments.backend, pivot_backends=arguments.pivot_backends.split(","),
                                 quick=arguments.quick, most_nodes=place.most_nodes, place=place.name,
                                 largest_n=arguments.largest_n) for table in arguments.tables}


def run_cells(machine, planned):
    todo = [(table, cell) for table, cells in planned.items() for cell in cells if cell["status"] == "not run"]
    for done, (table, cell) in enumerate(todo, 1):
        print(f"[{done}/{len(todo)}] table {table}: {plan.text_of(table, cell)}: ", end="", flush=True)
        machine.run(table, cell)
        print(cell["reason"] or f"{cell['seconds']:.4g} s", flush=True)


def pack_runs(folder):
    """Logs and JSON of the runs into one file."""
    results.pack(folder / "runs.jsonl.gz", sorted((folder / "runs").iterdir()))
    (folder / "runs").rmdir()


def write_tables(machine, planned, arguments, folder):
    pack_runs(folder)
    for table, cells in planned.items():
        document = documents.document_of(table, cells, machine, arguments)
        (folder / f"table{table}.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n",
                                                   encoding="utf-8")
    for table in planned:
        print("\n" + render(folder, table, not arguments.no_plots), end="", flush=True)
    print(f"\nall of it: {folder}")


def ignore_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def make_folder(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise places.Refusal(f"--output {folder}: {error.strerror}") from None


def measure(arguments, place, program, planned, folder):
    """Runs all cells and writes the tables, even if interrupted; True where no cell failed."""
    machine = runs.Machine(place, program, folder, arguments.repeat, arguments.time_limit)
    nodes = [cell["nodes"] for cells in planned.values() for cell in cells if cell["status"] == "not run"]
    try:
        if nodes:
            place.start(max(nodes))
        make_folder(folder / "runs")
        try:
            run_cells(machine, planned)
        finally:
            ignore_signals()
            write_tables(machine, planned, arguments, folder)
    finally:
        ignore_signals()
        place.stop()
    return all(cell["status"] in ("measured", "left out") for cells in planned.values() for cell in cells)


def run_all(arguments):
    place = places.choose(arguments.nodes, arguments.rate, arguments.hostfile, os.environ.get("MPIEXEC", "mpirun.mpich"))
    planned = plan_tables(arguments, place)
    folder = (arguments.output or pathlib.Path(time.strftime("paper-%Y%m%d-%H%M%S"))).resolve()
    refuse_existing([folder / f"table{table}.json" for table in arguments.tables] +
                    [file for table in arguments.tables
                     for file in derived_files(folder, table, not arguments.no_plots)], arguments.force)
    program = runs.check_program(planned)
    print(f"nodes: {place.text}", flush=True)
    return 0 if measure(arguments, place, program, planned, folder) else 1


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    arguments = parse_arguments()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        check_plots(not arguments.no_plots)
        if arguments.render:
            render_only(arguments)
            return 0
        return run_all(arguments)
    except places.Refusal as refusal:
        print(f"paper.py: {refusal}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("paper.py: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
