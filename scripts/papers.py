#!/usr/bin/python3
"""Repeats papers: runs every command of the table "of the paper" on their pages in docs/papers. Without a page: all.

examples:
  scripts/papers.py --quick poisson matmul
  scripts/papers.py --output-dir repeated
  scripts/results.py pack poisson.jsonl.gz repeated/poisson/*.txt repeated/poisson/*.json
  scripts/results.py table poisson.jsonl.gz

GLINPACK_PAPERS in the environment names glinpack-papers (build/release/bin/glinpack-papers), MPIEXEC MPI's launcher.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("coprocessor", "lu-decomposition", "matmul", "plu-on-a-cluster", "poisson")
PROGRAM = os.environ.get("GLINPACK_PAPERS", str(ROOT / "build" / "release" / "bin" / "glinpack-papers"))
GLINPACK = os.environ.get("GLINPACK", str(pathlib.Path(PROGRAM).with_name("glinpack")))
PROGRAMS = {"glinpack-papers": PROGRAM, "glinpack": GLINPACK, "mpirun.mpich": os.environ.get("MPIEXEC", "mpirun.mpich")}

# for scripts: the programs, and the Python module beside them
ENVIRONMENT = {**os.environ, "GLINPACK": GLINPACK, "PYTHONPATH": os.pathsep.join(
    filter(None, [str(pathlib.Path(PROGRAM).parents[1] / "python"), os.environ.get("PYTHONPATH")]))}


def commands_of(page):
    """The commands in the table's second column, in order."""
    text = (ROOT / "docs" / "papers" / f"{page}.md").read_text(encoding="utf-8")
    rows = re.search(r"^\| of the paper \| command \|\n\| --- \| --- \|\n((?:\|.*\n)+)", text, re.MULTILINE)[1]
    return [command for row in rows.splitlines() for command in re.findall(r"`([^`]+)`", row.split(" | ")[-1])]


def words_of(command, quick, name):
    """The words to execute; solvers write NAME.json, too. `quick`: sizes 16, 32, 48 ... of these in place of the page's."""
    words = shlex.split(command)
    for place, option in enumerate(words[:-1]):
        if quick and words[0] == "glinpack-papers" and option in ("--n", "--systems"):
            count = words[place + 1].count(",") + 1
            words[place + 1] = ",".join(str(16 * (size + 1)) for size in range(count))
    if words[0] == "scripts/paper/paper.py":
        words += ["--output", f"tables{name}", *(["--quick", "--repeat", "1"] if quick else [])]
    if words[0] == "glinpack-papers":
        words += [] if "--json" in words else ["--json", f"{name}.json"]
        words += ["--repeat", "1"] if quick and words[1] != "paranoia" else []
    words += [] if words[0].startswith("examples/") else ["--force"]
    return [PROGRAMS.get(word, str(ROOT / word) if word.startswith(("scripts/", "examples/")) else word) for word in words]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, one repetition: minutes on software OpenGL")
    parser.add_argument("--output-dir", type=pathlib.Path, default=pathlib.Path("papers"),
                        help="folder for reports and files, one a page (default: papers)")
    parser.add_argument("page", nargs="*", metavar="page", help=", ".join(PAGES))
    arguments = parser.parse_args()
    unknown = set(arguments.page) - set(PAGES)
    if unknown:
        parser.error(f"there is no page {unknown.pop()}; there are {', '.join(PAGES)}")
    failed = 0
    for page in arguments.page or PAGES:
        folder = arguments.output_dir / page
        folder.mkdir(parents=True, exist_ok=True)
        for number, command in enumerate(commands_of(page), 1):
            report = folder / f"{number}.txt"
            with report.open("w", encoding="utf-8") as file:
                print(f"$ {command}", file=file, flush=True)
                status = subprocess.run(words_of(command, arguments.quick, number), cwd=folder, stdout=file, stderr=file,
                                        check=False, env=ENVIRONMENT).returncode
            print(f"{report}: {'passed' if status == 0 else f'exit code {status}'}: {command}", flush=True)
            failed += status != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
