#!/usr/bin/python3
"""Combinations of options: some run has every possible pair of values, and passes. OpenGL runs on software.

N and NB are lists, and every job runs all of both. A covering array assigns the other options to jobs."""
import functools
import itertools
import random
import re
import unittest

from launch import ROOT, GlinpackTest

N = [1, 37, 64]
NB = [8, 32, 50]
RANKS = 4

TABLE = ROOT / "docs" / "options.md"  # as the program writes it: documents.py

# Values where the table has no list of words, or more than the tests can use. None: the option is not given.
VALUES = {
    "backend": ["reference", "openblas", "gl-compute", "gl-raster", "vk-compute"],
    "precision": ["single", "double", "mixed"],
    "lookahead": ["0", "1", "2"],
    "grid": ["1x1", "1x4", "4x1", "2x2"],
    "threads": ["1", "2"],
    "hpl-dat": [None, "row-major", "column-major"],  # its processes
    "abft": ["off", "auto", "1"],
    "checkpoint": [None, "checkpoints"],
}

# Options without pairs.
ALONE = set("""
n nb seed threshold repeat checkpoint-every memory-fraction time peak device node-grid tile watchdog
matrix input config shader-dir resume peer
json csv trace save-solution write-hpl-dat products output-dir force log-level breakdown doctor dry-run explain-pass
""".split())


def table_of_plu():
    """The options of plu and their words; [] if the value is no list of words, None for a flag."""
    plu = TABLE.read_text().split("\n## plu\n")[1].split("\n## ")[0]
    table = {}
    for name, value in re.findall(r"^\| `--([a-z-]+)` \| (?:`(.*?)`)? *\| ", plu, re.MULTILINE):
        words = value.split("\\|")
        table[name] = None if not value else words if all(re.fullmatch("[a-z0-9-]+", word) for word in words) else []
    return table


def options_of(table):
    """The options in pairs, and their values. Options that are new in the table are among them."""
    flags = {name: [False, True] for name, words in table.items() if words is None}
    return {name: VALUES.get(name, flags.get(name, words)) for name, words in table.items() if name not in ALONE}


OPTIONS = options_of(table_of_plu())


def is_possible(case):
    """Whether the options in `case` can be combined; missing options are ignored."""
    backend = case.get("backend")
    is_raster = backend == "gl-raster"
    is_row_by_row = is_raster and (case.get("pivoting") == "local" or
                                   case.get("pivoting") == "partial" and case.get("grid", "").startswith("1x"))
    has_checksums = case.get("abft", "off") != "off"
    return not (is_raster and (case.get("precision") == "double" or has_checksums) or
                is_row_by_row and case.get("lookahead", "0") != "0" or
                case.get("panel") == "device" and (
                    backend not in [None, "gl-compute", "vk-compute"] or
                    case.get("pivoting") == "local" and not case.get("grid", "1x").startswith("1x")) or
                case.get("compute-only") and (case.get("precision") == "mixed" or case.get("pivoting") == "tournament" or
                                              has_checksums or case.get("checkpoint")))


# The options that is_possible checks.
RESTRICTED = ["backend", "pivoting", "panel", "precision", "compute-only", "lookahead", "grid", "abft", "checkpoint"]


@functools.cache
def can_complete(part):
    free = next((option for option in RESTRICTED if option not in dict(part)), None)
    return is_possible(dict(part)) and (
        free is None or any(can_complete((*part, (free, value))) for value in OPTIONS[free]))


def can_be_completed(part):
    """Whether the values in `part` can be completed to a possible case."""
    return can_complete(tuple((option, part[option]) for option in RESTRICTED if option in part))


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


@functools.cache
def covering_array(tries=40, seed=1):
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


# HPL's digits are the positions in these lists.
HPL_BROADCASTS = ["ring", "ring-modified", "two-rings", "two-rings-modified", "long", "long-modified"]
HPL_SWAPS = ["binary-exchange", "spread-roll", "mix"]


def sizes_of(case):
    """N and NB: one run if a folder has its checkpoints."""
    return (N, NB) if case["checkpoint"] is None else ([37], [8])


def hpl_dat(case):
    """An HPL.dat in netlib's format with the runs of the case."""
    rows, columns = case["grid"].split("x")
    broadcast = HPL_BROADCASTS.index(case["broadcast"]) if case["broadcast"] in HPL_BROADCASTS else 0
    swap = HPL_SWAPS.index(case["row-swap"]) if case["row-swap"] in HPL_SWAPS else 2
    n, nb = sizes_of(case)
    lines = ["HPLinpack benchmark input file", "pairwise", "HPL.out", "6", len(n), " ".join(map(str, n)), len(nb),
             " ".join(map(str, nb)), 1 if case["hpl-dat"] == "column-major" else 0, 1, rows, columns, "16.0",
             1, 2, 1, 4, 1, 2, 1, 2, 1, broadcast, 1, case["lookahead"], swap, 20, 0, 0, 1, 8]
    return "".join(f"{line}  \n" for line in lines)


def arguments_of(case):
    in_hpl_dat = {"grid", "lookahead"} if case["hpl-dat"] else set()
    if case["hpl-dat"]:
        in_hpl_dat |= {"broadcast"} if case["broadcast"] in HPL_BROADCASTS else set()
        in_hpl_dat |= {"row-swap"} if case["row-swap"] in HPL_SWAPS else set()
    n, nb = sizes_of(case)
    arguments = ["plu", "--log-level", "warn", "--breakdown", "none", "--doctor", "off", "--force"]
    if not case["hpl-dat"]:
        arguments += ["--n", ",".join(map(str, n)), "--nb", ",".join(map(str, nb))]
    for option, value in case.items():
        if value is True:
            arguments += [f"--{option}"]
        elif value not in [None, False] and option not in in_hpl_dat:
            arguments += [f"--{option}", "HPL.dat" if option == "hpl-dat" else value]
    return arguments


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
        for first, second in itertools.combinations(OPTIONS, 2):
            for one, other in itertools.product(OPTIONS[first], OPTIONS[second]):
                self.assertEqual((first, one, second, other) in covered, can_be_completed({first: one, second: other}))
        self.assertLess(len(cases), 2 * 40)  # 40: the pairs of backends and broadcasts

    def test_every_option_of_the_table_has_pairs_or_tests_of_its_own(self):
        table = table_of_plu()
        self.assertGreater(len(table), 40)
        self.assertLessEqual(ALONE | VALUES.keys(), table.keys())
        for option, values in OPTIONS.items():
            self.assertGreater(len(values), 1, f"--{option} is new: add values to VALUES, or its name to ALONE")
            self.assertLessEqual(set(values), {*(table[option] or values)}, option)

    def test_a_new_option_gets_pairs(self):
        self.assertEqual(options_of({**table_of_plu(), "new": ["a", "b"], "flag": None}),
                         {**OPTIONS, "new": ["a", "b"], "flag": [False, True]})


class Pairwise(GlinpackTest):
    def test_every_case_passes(self):
        for case in covering_array():
            with self.subTest(case=case):
                self.write("HPL.dat", hpl_dat(case))
                outcome = self.glinpack(*arguments_of(case), ranks=RANKS, timeout=300)
                self.assertEqual(outcome.status, 0, outcome)
                sizes = list(itertools.product(*sizes_of(case)))
                runs = len(sizes)
                checked = 0 if case["compute-only"] else runs
                self.assertEqual(outcome.out.count("PASSED"), checked, outcome)
                self.assertNotIn("FAILED", outcome.out)
                self.assertIn(f"Finished {runs:6} tests", outcome.out)
                rows, columns = case["grid"].split("x")
                letter = "C" if case["hpl-dat"] == "column-major" else "R"
                expected = [(letter, case["lookahead"], str(n), str(nb), rows, columns) for n, nb in sizes]
                if case["compute-only"]:  # no row that a parser takes for a result
                    self.assertEqual(ROW.findall(outcome.out), [], outcome)
                    self.assertEqual(COMPUTED.findall(outcome.out), [row[2:] for row in expected], outcome)
                else:
                    self.assertEqual(ROW.findall(outcome.out), expected, outcome)


if __name__ == "__main__":
    unittest.main()
