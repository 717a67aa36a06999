"""Runs the cells of a table with glinpack, and takes their figures from its JSON."""
import json
import os
import pathlib
import shlex
import shutil
import signal
import statistics
import subprocess

import cells as plan
import places

ROOT = places.ROOT
GLINPACK = os.environ.get("GLINPACK", str(ROOT / "build" / "release" / "bin" / "glinpack"))
MESSAGES = ("glinpack: ", "netlab/", "paper.py: ")  # by which lines of a log begin that say why
SECONDS_TO_END = 10  # from asking to killing


def cores():
    return len(os.sched_getaffinity(0))


# The white paper's technique: single precision, local pivoting, panels sent by MPI's own broadcast, no look-ahead. Table
# 3: the messages alone. Table 4: the pivot operation alone, on a matrix that is one block.
FACTORISATION = ["plu", "--precision", "single", "--pivoting", "local", "--broadcast", "ibcast", "--lookahead", "0"]
COMMANDS = {1: FACTORISATION, 2: FACTORISATION,
            3: ["network", "--precision", "single", "--pivoting", "local", "--broadcast", "ibcast", "--ping-pong", "never",
                "--screen", "never"],
            4: ["plu", "--precision", "single", "--pivoting", "local", "--compute-only"]}


def glinpack_arguments(table, cell):
    arguments = [*COMMANDS[table], "--n", str(cell["n"]), "--nb", str(cell["subsize"]), "--grid", cell["grid"]]
    return arguments + (["--backend", cell["backend"]] if cell["backend"] else [])


def check_program(planned):
    """The program as commands name it. Refuses before any work what glinpack would refuse: it plans one run of each
    kind, or tries a very small one."""
    program = shutil.which(GLINPACK)
    if not program:
        raise places.Refusal(f"there is no program {GLINPACK}: cmake --preset release && cmake --build --preset release, "
                             "or name it by GLINPACK in the environment")
    program = str(pathlib.Path(program).resolve())
    kinds = {(table, cell["backend"]): cell for table, cells in planned.items() for cell in cells}
    for (table, _), cell in kinds.items():
        if table == 3:
            trial = glinpack_arguments(table, {**cell, "n": 8, "subsize": 4, "grid": "1x1"})
        else:
            trial = [*glinpack_arguments(table, cell), "--dry-run"]
        done = subprocess.run([program, *trial], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise places.Refusal(f"table {table}: {places.last_line(done.stderr)}")
    return places.relative(program)


def end(process):
    """Ends a job and everything it started in its session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=SECONDS_TO_END)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def run_job(command, log, limit, environment):
    """The job's exit status; None where it took too long, 127 where it cannot be started. Its output goes to `log`,
    under the command."""
    with open(log, "w", encoding="utf-8") as out:
        out.write(f"$ {shlex.join(command)}\n")
        out.flush()
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                       cwd=ROOT, env=environment, start_new_session=True)
        except OSError as error:
            out.write(f"paper.py: {command[0]}: {error.strerror}\n")
            return 127
        try:
            return process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                end(process)


def why_not(status, limit, log):
    if status is None or status == 124:
        return f"not finished after {limit} s, the time limit"
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.startswith(MESSAGES)]
    return f"exit status {status}" + (f": {lines[0]}" if lines else "")


class Machine:
    """Where the cells run, and what is learnt of it on the way."""

    def __init__(self, place, program, folder, repeat, limit):
        self.place = place
        self.program = program
        self.folder = folder
        self.repeat = repeat
        self.limit = limit
        self.contexts = {}  # of a table and backend: what the first run's JSON says of program, devices, libraries

    def environment(self, processes):
        """llvmpipe's threads: it takes all cores for every process where it is not told. None, where processes outnumber
        cores: they would only compete, and then may crash (CONTRIBUTING.md)."""
        if self.place.name == "hosts" or processes == 1 or "LP_NUM_THREADS" in os.environ:
            return dict(os.environ)
        return {**os.environ, "LP_NUM_THREADS": str(cores() // processes)}

    def run(self, table, cell):
        """Runs a cell, and fills in its figures."""
        name = plan.name_of(table, cell)
        result, log = (self.folder / "runs" / f"{name}.{kind}" for kind in ("json", "log"))
        result.unlink(missing_ok=True)
        cell["log"] = str(log.relative_to(self.folder))
        command = [*self.place.command(cell["placement"], self.limit), self.program,
                   *glinpack_arguments(table, cell), "--repeat", str(self.repeat), "--json", places.relative(result)]
        status = run_job(command, log, self.limit + self.place.seconds_to_end, self.environment(cell["processes"]))
        if not result.exists():
            cell.update(status="failed", reason=why_not(status, self.limit, log))
            return
        document = json.loads(result.read_text(encoding="utf-8"))
        hosts = {rank["host"] for run in document["runs"] for rank in run["ranks"]}
        if len(hosts) != cell["nodes"]:
            cell.update(status="failed", reason=f"ran on {plan.count_text(len(hosts), 'host')}, not on {cell['nodes']}")
            return
        self.contexts.setdefault((table, cell["backend"]), document)
        take = take_messages if table == 3 else take_runs
        take(cell, document)
        if status != 0 and cell["status"] == "measured":
            # glinpack writes its JSON, whole, after the last run: what came then was MPI's end
            cell["remark"] = f"the job did not end well after its last result, {why_not(status, self.limit, log)}"


def median(values):
    return statistics.median(values) if values else None


def take_runs(cell, document):
    """The figures of glinpack plu's runs. Times are the factorisation's, as the paper's."""
    runs = document["runs"]
    cell["samples"] = [run["factor_seconds"] for run in runs]
    cell["seconds"] = median(cell["samples"])
    cell["gflops"] = plan.gflops(cell["n"], cell["seconds"])
    cell["residual"] = max((run["residual"] for run in runs if run["residual"] is not None), default=None)
    parts = [(run["breakdown"], run["time"]) for run in runs if run["breakdown"] and run["time"] > 0]
    if cell["processes"] > 1:
        cell["network_percent"] = median([100 * part["network"]["total"]["mean"] / time for part, time in parts])
        cell["waiting_percent"] = median([100 * part["waiting"]["mean"] / time for part, time in parts])
    failures = [run["failure"] for run in runs if run["checked"] and not run["passed"]]
    cell.update(status="doubtful" if failures else "measured", reason=failures[0] if failures else "")


def take_messages(cell, document):
    """The figures of glinpack network."""
    cell["samples"] = [run["time"] for run in document["runs"]]
    cell["seconds"] = median(cell["samples"])
    cell["status"] = "measured"
