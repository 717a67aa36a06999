"""Starts glinpack and glinpack-papers. The environment variables GLINPACK and MPIEXEC name glinpack and the MPI launcher;
glinpack-papers is beside glinpack."""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))
import results  # noqa: E402
GLINPACK = os.environ.get("GLINPACK", str(ROOT / "build" / "release" / "bin" / "glinpack"))
GLINPACK_PAPERS = GLINPACK + "-papers"
MPIEXEC = os.environ.get("MPIEXEC", "mpirun.mpich")
# Vulkan's validation layer, which writes its messages to stdout.
VALIDATION = {"VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation",
              "VK_LAYER_ENABLES": "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT"}


def is_hydra():
    """Whether the launcher is MPICH's."""
    return "HYDRA" in subprocess.run([MPIEXEC, "--version"], check=False, capture_output=True, text=True).stdout


def skip_all(why):
    """Skips the tests of the script; CTest finds the line."""
    print(f"{pathlib.Path(sys.argv[0]).stem}: skipped: {why}", file=sys.stderr)
    raise unittest.SkipTest(why)


def hpl_dat_with(changes):
    """netlib's HPL.dat with some lines (1-based) replaced."""
    lines = (ROOT / "tests" / "data" / "HPL.dat").read_text().splitlines()
    for number, text in changes.items():
        lines[number - 1] = text
    return "\n".join(lines) + "\n"


def wait_for(condition, seconds=30):
    """Polls condition() and returns its first true value, or a false one after `seconds`."""
    end = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return value


def npy(rows, columns, values, description="<f8"):
    """A .npy file, version 1."""
    header = f"{{'descr': '{description}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}d", *values)


def read_npy(path):
    """Shape and elements of a .npy file of float64."""
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    shape = re.search(r"'shape': \(([^)]*)\)", data[10:10 + length].decode())[1]
    values = data[10 + length:]
    return [int(extent) for extent in shape.split(",") if extent.strip()], struct.unpack(f"<{len(values) // 8}d", values)


class Outcome:
    """The result of a run: exit status, stdout, stderr, and the messages on stderr."""

    def __init__(self, completed):
        self.status = completed.returncode
        self.out = completed.stdout.decode(errors="replace")
        self.err = completed.stderr.decode(errors="replace")
        self.messages = [line for line in self.err.splitlines() if line.startswith("glinpack: ")]

    def __str__(self):
        return f"exit status {self.status}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class GlinpackTest(unittest.TestCase):
    """Each test has an empty folder; the program runs in it."""

    PROGRAM = GLINPACK

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="glinpack-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def committed(self, study):
        """A folder with the files of results/STUDY/runs.jsonl.gz."""
        folder = self.folder / "committed" / study
        results.unpack(ROOT / "results" / study / "runs.jsonl.gz", folder)
        return folder

    def start(self, command, environment=None, timeout=30):
        completed = subprocess.run(command, cwd=self.folder, timeout=timeout, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                   env={**os.environ, **(environment or {})})
        return Outcome(completed)

    def glinpack(self, *arguments, ranks=2, environment=None, timeout=30):
        """mpirun -np RANKS PROGRAM ARGUMENTS. A message of Vulkan's validation layer about vk-compute fails the test."""
        is_validated = "vk-compute" in arguments
        outcome = self.start([MPIEXEC, "-np", str(ranks), self.PROGRAM, *map(str, arguments)],
                             {**(VALIDATION if is_validated else {}), **(environment or {})}, timeout)
        if is_validated:
            self.assertNotIn("Validation ", outcome.out + outcome.err, outcome)
        return outcome

    def assert_refused(self, outcome, start, *named):
        """Expects one line that begins with `start` and contains all of `named`, and no other output."""
        self.assertEqual((outcome.status, outcome.out, len(outcome.err.splitlines())), (2, "", 1), outcome)
        self.assertTrue(outcome.err.startswith(start), outcome)
        for text in named:
            self.assertIn(text, outcome.err)

    def valid_json(self, name, schema="result.schema.json"):
        """The document of a file that is valid by its schema in docs/."""
        import validate_json  # needs a package that not every test needs
        self.assertEqual(validate_json.faults_of(self.folder / name, ROOT / "docs" / schema), [])
        return json.loads((self.folder / name).read_text())

    def svg_text(self, name):
        """Returns the text of a picture, which must be XML."""
        root = xml.etree.ElementTree.parse(self.folder / name).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        return " ".join("".join(element.itertext()) for element in root.iter() if element.tag.endswith("}text"))

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))
