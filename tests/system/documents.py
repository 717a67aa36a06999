#!/usr/bin/python3
"""Documents: their links resolve, their commands are valid, the small ones are executed, and their figures match the
output of scripts/figures.py."""
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from launch import GLINPACK, GLINPACK_PAPERS, MPIEXEC, ROOT

DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/**/*.md")]
PROGRAMS = {"glinpack": GLINPACK, "glinpack-papers": GLINPACK_PAPERS}
FIGURES = ROOT / "docs" / "figures"


def links(document):
    """The local targets of links and pictures outside code."""
    text = re.sub(r"```.*?```|`[^`\n]*`(?!\])", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]


def anchors(document):
    """The anchors that GitHub generates for a document's headings."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def blocks(document):
    """The blocks of commands: fenced blocks without a language."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [text for language, text in fenced if not language]


def commands(text):
    """The commands in lines of shell, as lists of words. In a transcript, the lines with a prompt."""
    if text.startswith("$ "):
        text = "\n".join(line[2:] for line in text.splitlines() if line.startswith("$ "))
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.shlex(re.sub(r"(^|\s)#.*|\d?>&\d", "", line), posix=True, punctuation_chars=True)
        words.whitespace_split = True
        current, is_file = [], False
        for word in [*words, ";"]:
            if is_file or word in (">", ">>", "<"):
                is_file = not is_file
            elif re.fullmatch("[;&|()<>]+", word):
                found += [current] if current else []
                current = []
            else:
                current.append(word)
    return [words for command in found if (words := without_prefix(command))]


def without_prefix(words):
    """Removes the prefix that starts a program: variables, sudo, launchers, a lab's node."""
    while words:
        if re.match(r"\w+=", words[0]) or words[0] in ("sudo", "!", "{", "}"):
            words = words[1:]
        elif words[0].startswith(("mpirun", "mpiexec", "srun", "flux")):
            programs = [i for i, word in enumerate(words) if re.search("(^|/)(glinpack|glinpack-papers|[a-z]+_tests)$", word)]
            words = words[programs[0]:] if programs else []
        elif words[0] == "scripts/netlab/run" and "--" in words:
            words = words[words.index("--") + 1:]
        else:
            return words
    return words


# System programs, whose options are not checked.
SYSTEM = {"apptainer", "apt-get", "awk", "cat", "cd", "chgrp", "chmod", "cpack", "cut", "dpkg", "dpkg-deb",
          "dpkg-query", "echo", "export", "git", "grep", "head", "ip", "jq", "kill", "ls", "man", "module", "sacct",
          "sbatch", "scancel", "scontrol", "sinfo", "sleep", "source", "squeue", "tc", "tail", "wait", "zcat"}
# Scripts that pass their options to glinpack, and scripts that pass them to Slurm.
HAND_ON = {"scripts/run.sh", "scripts/slurm/sweep.sbatch"}
SLURM_LAB = {"scripts/slurm/lab/enter", "scripts/slurm/lab/run"}


class Commands(unittest.TestCase):
    """No command is executed here. glinpack parses their options and rejects an added unknown one. Scripts, programs and
    presets must exist."""

    def check_glinpack(self, words):
        if words[1].startswith("--"):
            self.assertIn(words[1], ("--help", "--version"))
            return
        if "--" in words:  # the following options are for plu
            self.check_glinpack(words[:words.index("--")])
            words = ["glinpack", "plu", *words[words.index("--") + 1:]]
        if words[1:] in (["SUBCOMMAND", "--help"], ["SUBCOMMAND"]) or "--help" in words:
            return
        arguments = [word for word in words[1:] if word != "..."]
        # an option without a value gets the first one
        sentinels = ["--no-such-option", "--no-such-option"]
        rejected = subprocess.run([PROGRAMS[words[0].split("/")[-1]], *arguments, *sentinels], check=False, capture_output=True, text=True,
                                 timeout=30, env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"})
        self.assertRegex(rejected.stderr, r"^glinpack: (unknown option|--[\w-]+:) '--no-such-option'")
        self.assertEqual(rejected.returncode, 2)
        for option, file in zip(words, words[1:]):
            if option in ("--config", "--hpl-dat", "--input") and "/" in file:
                self.assertTrue((ROOT / file).exists(), file)

    def check_script(self, words):
        script = ROOT / words[0]
        self.assertTrue(os.access(script, os.X_OK), script)
        sources = "".join(path.read_text() for path in script.parent.rglob("*")
                         if path.is_file() and path.suffix in (".py", ".sh", ""))
        for word in words[1:]:
            if word.startswith("--") and "netlab" not in words[0] and words[0] not in HAND_ON | SLURM_LAB:
                self.assertTrue(word.split("=")[0] in sources, f"{words[0]} and its folder do not support {word}")

        if words[0] in SLURM_LAB:
            for i in [i for i, word in enumerate(words) if word.endswith(".sbatch")]:
                self.check_glinpack(["glinpack", "plu", *words[i + 1:]])

    def check_program(self, name):
        lists = "".join(path.read_text() for path in ROOT.glob("**/CMakeLists.txt") if "build" not in path.parts)
        self.assertTrue(re.search(rf"\b{name}\b", lists), name)

    def check_preset(self, words):
        if "--preset" not in words:
            return
        presets = json.loads((ROOT / "CMakePresets.json").read_text())
        kind = {"cmake": "buildPresets" if "--build" in words else "configurePresets", "ctest": "testPresets"}[words[0]]
        self.assertIn(words[words.index("--preset") + 1], [preset["name"] for preset in presets[kind]])

    def check(self, words):
        program = words[0].removeprefix("./")
        if program.startswith(("scripts/", "tests/", "packaging/")):
            self.check_script(words)
        elif program.split("/")[-1] in PROGRAMS:
            self.check_glinpack(words)
        elif program.endswith(("_bench", "_tests")) or re.match(r"build/\w+/bin/", program):
            self.check_program(program.split("/")[-1])
        elif program in ("cmake", "ctest"):
            self.check_preset(words)
        else:
            self.assertIn(program, SYSTEM | {"$glinpack"}, "no command that is known; what is none is fenced as text")

    def test_every_block_of_commands_is_valid(self):
        checked = 0
        for document in DOCUMENTS:
            for block in blocks(document):
                for words in commands(block):
                    with self.subTest(document=document.name, command=" ".join(words)):
                        self.check(words)
                        checked += 1
        self.assertGreater(checked, 100)

    def test_every_inline_command_is_valid(self):
        checked = 0
        for document in DOCUMENTS:
            text = re.sub(r"^```\w*\n.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
            for code in re.findall(r"`([^`]+)`", text):
                code = " ".join(code.split())
                if not re.search(r"(^|bin/| )glinpack(-papers)? [a-z-]+ --\w", code):
                    continue
                for words in commands(code):
                    with self.subTest(document=document.name, command=" ".join(words)):
                        self.check(words)
                        checked += 1
        self.assertGreater(checked, 15)

    def test_the_examples_of_every_help_are_valid(self):
        helps = []
        for program in PROGRAMS.values():
            text = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
            helps += [(program, name) for name in re.findall(r"^  ([a-z][\w-]+)  +[A-Z]", text, re.MULTILINE)]
        self.assertGreater(len(helps), 20)
        for program, name in helps:
            text = subprocess.run([program, name, "--help"], check=True, capture_output=True, text=True).stdout
            examples = re.search(r"^Examples:\n((?:  .*\n)+)", text, re.MULTILINE)[1]
            for words in commands(re.sub(r"   +\S.*", "", "\n".join(line[2:] for line in examples.splitlines()))):
                with self.subTest(subcommand=name, command=" ".join(words)):
                    self.check(words)


# What a command writes, and what it reads.
OUTPUTS = ("--json", "--csv", "--trace", "-o", "--output-dir")
# Measures the machine for minutes.
LONG = ("tune", "peaks")
GREATEST_N = {"poisson": 128}
GREATEST_N_OF_OTHERS = 3000


def executable(line, folder):
    """The command of a line of shell, if any machine executes it in seconds: glinpack alone or started by MPICH, small,
    without files that other documents or clusters have. Else nothing."""
    words = shlex.split(line, comments=True)
    while words and re.match(r"\w+=", words[0]):
        words = words[1:]
    launcher = words[:3] if words[:2] == ["mpirun.mpich", "-np"] else []
    words = words[len(launcher):]
    if not words or words[0].removeprefix("build/release/bin/") not in PROGRAMS:
        return None
    if len(words) < 2 or words[1] in LONG or set(words) & {"--tune", "--device", "--replay", "...", "|"}:
        return None
    for option, value in zip(words, words[1:]):
        if option == "--n" and not re.fullmatch(r"[\d,]+", value):
            return None
        if option == "--n" and max(map(int, value.split(","))) > GREATEST_N.get(words[1], GREATEST_N_OF_OTHERS):
            return None
        if value.endswith(".json") and option not in OUTPUTS and not (folder / value).exists():
            return None
    return [*([MPIEXEC, *launcher[1:]] if launcher else []), PROGRAMS[words[0].split("/")[-1]], *words[1:]]


def comparable(line):
    """A line of output without what differs between machines and runs: numbers, the host's name, spacing, what
    compare finds."""
    line = re.sub(r"\b(faster|slower|no difference)$", "FINDING", line)
    line = re.sub(r"(Mesa)/X\.org|(Mesa [\d.]+)\S*", r"\1\2", line)  # names of any version
    line = re.sub(r"\b(vm|" + re.escape(platform.node()) + r")\b", "HOST", line)
    return " ".join(re.sub(r"[-+]?\d[\d.,]*(e[-+]\d+)?", "#", line).split())


class ExecutedCommands(unittest.TestCase):
    """The small commands of the documents end well, in the documents' order, and print what the transcripts show. A
    transcript may leave lines out. One that shows an error message is of a command that fails on purpose."""

    def check_transcript(self, shown, printed, exactly):
        as_compared = str.strip if exactly else comparable
        printed = [as_compared(line) for line in printed.splitlines()]
        for line in filter(None, map(as_compared, shown)):
            if line == "...":
                continue
            self.assertIn(line, printed, "a line that is shown is not printed, or not in this order")
            printed = printed[printed.index(line) + 1:]

    def test_documented_commands(self):
        executed = transcripts = 0
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "LP_NUM_THREADS": "0"}
        for document in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                for block in blocks(document):
                    is_transcript = block.startswith("$ ")
                    for part in re.split(r"^\$ " if is_transcript else r"\n", block.replace("\\\n", " "), flags=re.MULTILINE):
                        line, *shown = part.splitlines() or [""]
                        command = executable(line, folder) if "glinpack" in line else None
                        if command is None:
                            continue
                        with self.subTest(document=document.name, command=line):
                            run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120,
                                                 cwd=folder, env=environment)
                            refused = any(text.startswith("glinpack: ") for text in shown)
                            self.assertEqual(run.returncode != 0, refused, run.stdout + run.stderr)
                            executed += 1
                            if is_transcript and shown:
                                # a plan needs no machine: its numbers are the same everywhere
                                self.check_transcript(shown, run.stderr if refused else run.stdout, "plan" in command)
                                transcripts += 1
        self.assertGreater(executed, 25)
        self.assertGreater(transcripts, 5)


class Documents(unittest.TestCase):
    def test_links_resolve(self):
        self.assertGreater(len(DOCUMENTS), 4)
        for document in DOCUMENTS:
            for target in links(document):
                with self.subTest(document=document.name, target=target):
                    path, _, anchor = target.partition("#")
                    file = document.parent / path if path else document
                    self.assertTrue(file.exists(), file)
                    if anchor:
                        self.assertIn(anchor, anchors(file))

    def test_every_page_is_in_the_index_of_its_folder(self):
        for folder in (ROOT / "docs", ROOT / "docs" / "papers"):
            index = folder / "README.md"
            listed = {(folder / target.partition("#")[0]).resolve() for target in links(index)}
            for page in [*folder.glob("*.md"), *folder.glob("*.json")]:
                with self.subTest(page=page.name):
                    self.assertIn(page, listed | {index, *folder.glob("*options.md")}, f"{index} lists every page")

    def test_named_files_exist(self):
        for document in DOCUMENTS:
            code = re.findall(r"`((?:app|configs|docs|scripts|shaders|src|tests)/[\w./-]*)`", document.read_text())
            for name in code:
                with self.subTest(document=document.name, file=name):
                    self.assertTrue((ROOT / name).exists())


class Figures(unittest.TestCase):
    def test_figures_match_the_output_of_the_script(self):
        drawn = subprocess.run([sys.executable, "-B", ROOT / "scripts" / "figures.py", "--check"], check=False,
                               capture_output=True, text=True)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)

    def test_every_figure_is_an_svg_used_by_a_document(self):
        shown = {(document.parent / target).resolve() for document in DOCUMENTS for target in links(document)}
        figures = sorted(FIGURES.glob("*.svg"))
        self.assertGreaterEqual(len(figures), 5)
        for figure in figures:
            with self.subTest(figure=figure.name):
                self.assertEqual(xml.etree.ElementTree.parse(figure).getroot().tag, "{http://www.w3.org/2000/svg}svg")
                self.assertIn(figure.resolve(), shown)


if __name__ == "__main__":
    unittest.main()
