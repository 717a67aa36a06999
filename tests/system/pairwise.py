#!/usr/bin/python3
"""Combinations of options: some run has every possible pair of values, and passes. OpenGL runs on software.

N and NB are lists, and every job runs all of both. A covering array assigns the other options to jobs."""
import itertools
import random
import re
import unittest

from launch import GlinpackTest, npy, read_npy

N = [1, 37, 64]
NB = [8, 32, 50]
RANKS = 4

# The values of options that need no separate jobs. Add the values of new options here.
OPTIONS = {
    "backend": ["reference", "openblas", "gl-compute", "gl-raster"],
    "precision": ["single", "double", "mixed"],
    "pivoting": ["local", "partial", "tournament"],
    "panel": ["auto", "host", "device"],
    "broadcast": ["ring", "ring-modified", "two-rings", "two-rings-modified", "long", "long-modified", "ibcast",
                  "ring-pipelined"],
    "lookahead": ["0", "1", "2"],
    "row-swap": ["binary-exchange", "spread-roll", "mix", "direct"],
    "grid": ["1x1", "1x4", "4x1", "2x2"],
    "order": ["row-major", "column-major"],
    "threads": ["1", "2"],
    "compute-only": [False, True],
    "hpl-dat": [False, True],
}


def is_possible(case):
    """Whether the options in `case` can be combined; missing options are ignored."""
    is_raster = case.get("backend") == "gl-raster"
    is_row_by_row = is_raster and (case.get("pivoting") == "local" or
                                   case.get("pivoting") == "partial" and case.get("grid", "").startswith("1x"))
    return not (is_raster and case.get("precision") == "double" or
                is_row_by_row and case.get("lookahead", "0") != "0" or
                case.get("panel") == "device" and (case.get("backend", "gl-compute") != "gl-compute" or
                                                   case.get("pivoting", "tournament") != "tournament") or
                case.get("compute-only") and (case.get("precision") == "mixed" or case.get("pivoting") == "tournament" or
                                              case.get("panel") == "device"))


# The options that is_possible checks.
RESTRICTED = ["backend", "pivoting", "panel", "precision", "compute-only", "lookahead", "grid"]


def can_be_completed(part):
    """Whether the values in `part` can be completed to a possible case."""
    free = [option for option in RESTRICTED if option not in part]
    return any(is_possible({**part, **dict(zip(free, values))})
               for values in itertools.product(*(OPTIONS[option] for option in free)))


def all_pairs():
    """Every possible pair of values of different options: ((option, value), (option, value))."""
    pairs = set()
    for first, second in itertools.combinations(OPTIONS, 2):
        for values in itertools.product(OPTIONS[first], OPTIONS[second]):
            if can_be_completed({first: values[0], second: values[1]}):
                pairs.add(((first, values[0]), (second, values[1])))
    return pairs


def pairs_of(case):
    return set(itertools.combinations([(option, case[option]) for option in OPTIONS if option in case], 2))


def covering_array(tries=20, seed=1):
    """Cases that cover every pair. Greedy, as in AETG (Cohen, Dalal, Fredman, Patton, 1997). Each case begins with an
    uncovered pair. It adds the other options in random order, each with the value that covers most uncovered pairs.
    The best of several tries is used."""
    choose = random.Random(seed)
    missing = all_pairs()
    cases = []
    while missing:
        best = None
        for _ in range(tries):
            case = dict(choose.choice(sorted(missing, key=repr)))
            options = [option for option in OPTIONS if option not in case]
            choose.shuffle(options)
            for option in options:
                values = [value for value in OPTIONS[option] if can_be_completed({**case, option: value})]
                choose.shuffle(values)
                case[option] = max(values, key=lambda value: len(pairs_of({**case, option: value}) & missing))
            if best is None or len(pairs_of(case) & missing) > len(pairs_of(best) & missing):
                best = case
        cases.append(best)
        missing -= pairs_of(best)
    return cases


# HPL's digits are the positions in the lists of broadcasts and row swaps. HPL does not have the last values.
NOT_IN_HPL = ["ibcast", "ring-pipelined"]


def hpl_dat(case):
    """An HPL.dat in netlib's format with the runs of the case."""
    rows, columns = case["grid"].split("x")
    broadcast = OPTIONS["broadcast"].index(case["broadcast"]) if case["broadcast"] not in NOT_IN_HPL else 0
    swap = OPTIONS["row-swap"].index(case["row-swap"]) if case["row-swap"] != "direct" else 2
    threshold = "16.0"
    lines = ["HPLinpack benchmark input file", "pairwise", "HPL.out", "6", len(N), " ".join(map(str, N)), len(NB),
             " ".join(map(str, NB)), 0 if case["order"] == "row-major" else 1, 1, rows, columns, threshold,
             1, 2, 1, 4, 1, 2, 1, 2, 1, broadcast, 1, case["lookahead"], swap, 20, 0, 0, 1, 8]
    return "".join(f"{line}  \n" for line in lines)


def arguments_of(case):
    arguments = ["plu", "--backend", case["backend"], "--precision", case["precision"], "--pivoting", case["pivoting"], "--panel", case["panel"],
                 "--threads", case["threads"],
                 "--log-level", "warn", "--breakdown", "none"]
    if case["compute-only"]:
        arguments.append("--compute-only")
    if case["hpl-dat"]:
        return [*arguments, "--hpl-dat", "HPL.dat",
                *(["--broadcast", case["broadcast"]] if case["broadcast"] in NOT_IN_HPL else []),
                *(["--row-swap", "direct"] if case["row-swap"] == "direct" else [])]
    return [*arguments, "--n", ",".join(map(str, N)), "--nb", ",".join(map(str, NB)), "--grid", case["grid"],
            "--broadcast", case["broadcast"], "--lookahead", case["lookahead"], "--row-swap", case["row-swap"],
            *(["--column-major"] if case["order"] == "column-major" else [])]


# order, look-ahead, N, NB, P, Q in a result row of HPL
COMPUTED = re.compile(r"^Compute only: .*\n  N (\d+): .*, NB (\d+), grid (\d+)x(\d+), ", re.MULTILINE)
ROW = re.compile(r"^W([RC])(\d)\S+ +(\d+) +(\d+) +(\d+) +(\d+) +\d+\.\d+ +\S+$", re.MULTILINE)


class CoveringArray(unittest.TestCase):
    def test_every_possible_pair_of_values_is_covered(self):
        cases = covering_array()
        covered = set()
        for case in cases:
            self.assertEqual(case.keys(), OPTIONS.keys())
            self.assertTrue(is_possible(case), case)
            for first, second in itertools.combinations(OPTIONS, 2):
                covered.add((first, case[first], second, case[second]))
        excluded = {("backend", "gl-raster", "precision", "double"),
                    ("precision", "mixed", "compute-only", True), ("pivoting", "tournament", "compute-only", True),
                    ("panel", "device", "compute-only", True),
                    *(("backend", backend, "panel", "device")
                      for backend in OPTIONS["backend"] if backend != "gl-compute"),
                    *(("pivoting", pivoting, "panel", "device") for pivoting in ["local", "partial"])}
        for first, second in itertools.combinations(OPTIONS, 2):
            for one, other in itertools.product(OPTIONS[first], OPTIONS[second]):
                pair = (first, one, second, other)
                self.assertNotEqual(pair in covered, pair in excluded, pair)
        self.assertLess(len(cases), 2 * 28)  # 28: the pairs of backends and broadcasts

    def test_it_is_reproducible(self):
        self.assertEqual(covering_array(), covering_array())


class Pairwise(GlinpackTest):
    def test_every_case_passes(self):
        for case in covering_array():
            with self.subTest(case=case):
                self.write("HPL.dat", hpl_dat(case))
                outcome = self.glinpack(*arguments_of(case), ranks=RANKS, timeout=300)
                self.assertEqual(outcome.status, 0, outcome)
                runs = len(N) * len(NB)
                checked = 0 if case["compute-only"] else runs
                self.assertEqual(outcome.out.count("PASSED"), checked, outcome)
                self.assertNotIn("FAILED", outcome.out)
                self.assertIn(f"Finished {runs:6} tests", outcome.out)
                rows, columns = case["grid"].split("x")
                letter = "R" if case["order"] == "row-major" else "C"
                expected = [(letter, case["lookahead"], str(n), str(nb), rows, columns) for n in N for nb in NB]
                if case["compute-only"]:  # no row that a parser takes for a result
                    self.assertEqual(ROW.findall(outcome.out), [], outcome)
                    self.assertEqual(COMPUTED.findall(outcome.out), [row[2:] for row in expected], outcome)
                else:
                    self.assertEqual(ROW.findall(outcome.out), expected, outcome)


def exact_matrix(n, nb):
    """The elements of a matrix P L U, by rows. Elimination has no rounding errors, in any order. L is unit lower
    triangular with -1/2, 0 and 1/2; U is upper triangular with -1, 0 and 1 and a diagonal of -1 and 1; P permutes the
    rows of every block. With every pivoting, each pivot is larger than all other candidates."""
    numbers = random.Random(1)
    upper = [[0] * i + [numbers.choice([-1, 1])] + numbers.choices([-1, 0, 1], k=n - i - 1) for i in range(n)]
    rows = []
    for i in range(n):
        row = list(upper[i])
        for k, multiplier in enumerate(numbers.choices([-0.5, 0, 0.5], k=i)):
            if multiplier:
                row = [value + multiplier * above for value, above in zip(row, upper[k])]
        rows.append(row)
    blocks = [rows[first:first + nb] for first in range(0, n, nb)]
    return [value for block in blocks for row in numbers.sample(block, k=len(block)) for value in row]


class LookAhead(GlinpackTest):
    """A BLAS may sum in another order if a block ends at another column. Only systems without rounding errors have the
    same solution with all kernels of OpenBLAS. The other backends have the same solution of any system."""
    N = 66
    NB = 12

    def solution(self, backend, pivoting, depth, *matrix):
        outcome = self.glinpack("plu", *matrix, "--nb", self.NB, "--grid", "2x2", "--backend", backend,
                                "--precision", "single", "--pivoting", pivoting, "--threads", 1, "--lookahead", depth,
                                "--save-solution", "x.npy", "--force", ranks=RANKS, timeout=120)
        self.assertEqual(outcome.status, 0, outcome)
        shape, values = read_npy(self.folder / "x.npy")
        self.assertEqual(shape, [self.N])
        return values

    def test_solutions_are_the_same_with_and_without_look_ahead(self):
        for backend in OPTIONS["backend"]:
            for pivoting in OPTIONS["pivoting"]:
                if not is_possible({"backend": backend, "pivoting": pivoting, "lookahead": "1"}):
                    continue
                with self.subTest(backend=backend, pivoting=pivoting):
                    depths = [depth for depth in OPTIONS["lookahead"] if backend != "openblas" or depth != "0"]
                    solutions = {self.solution(backend, pivoting, depth, "--n", self.N) for depth in depths}
                    self.assertEqual(len(solutions), 1)

    def test_a_system_without_rounding_has_its_exact_solution(self):
        self.write("exact.npy", npy(self.N, self.N, exact_matrix(self.N, self.NB)))
        for pivoting in OPTIONS["pivoting"]:
            for depth in OPTIONS["lookahead"]:
                with self.subTest(pivoting=pivoting, depth=depth):
                    self.assertEqual(self.solution("openblas", pivoting, depth, "--input", "exact.npy"), (1.0,) * self.N)


if __name__ == "__main__":
    unittest.main()
