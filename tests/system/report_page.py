#!/usr/bin/python3
"""Report pages, comparisons and variant codes of real runs. The pages are opened in a browser."""
import json
import re
import shutil
import subprocess
import sys
import unittest

from launch import GLINPACK, ROOT, GlinpackTest

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
HOSTILE = "</td></style><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\"'"
# Added to the page by the test: reports the visible content. The page itself has no script.
PROBE = """<script>
const root = document.documentElement;
const wide = [...document.body.querySelectorAll('*')].filter(e => !e.closest('.scroll, svg, pre')
    && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className);
const small = [...document.querySelectorAll('svg text')].filter(e => e.getBoundingClientRect().height > 0
    && parseFloat(getComputedStyle(e).fontSize) < 11).length;
const facts = {overflow: root.scrollWidth - innerWidth, wide: wide.slice(0, 5), small: small,
    width: innerWidth, sections: document.querySelectorAll('section').length, title: document.title,
    height: root.scrollHeight, charts: document.querySelectorAll('svg[role=img]').length,
    images: document.images.length, foreign: performance.getEntriesByType('resource').length};
document.body.insertAdjacentHTML('beforeend', '<pre id=facts>' + JSON.stringify(facts) + '</pre>');
</script>"""


def browser():
    for name in BROWSERS:
        if shutil.which(name):
            return name
    raise AssertionError("there is no browser: apt-get install chromium-headless-shell")


class PageTest(GlinpackTest):
    def alone(self, *arguments, status=0):
        """glinpack ARGUMENTS, without a launcher"""
        outcome = self.start([GLINPACK, *map(str, arguments)])
        self.assertEqual(outcome.status, status, outcome)
        return outcome

    def run_plu(self, name, *arguments, repeat=2, ranks=4):
        """Runs a few small factorisations on 2 x 2 processes."""
        outcome = self.glinpack("plu", "--n", "64,96", "--nb", "16", "--grid", "2x2", "--backend", "openblas",
                                "--repeat", repeat, "--threads", "1", "--json", name, *arguments, ranks=ranks, timeout=60)
        self.assertEqual(outcome.status, 0, outcome)

    def browse(self, page, *arguments):
        """Returns the browser's stdout and stderr."""
        return subprocess.run([browser(), "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                               "--enable-logging=stderr", "--virtual-time-budget=2000",
                               f"--user-data-dir={self.folder / 'profile'}", *arguments, page.as_uri()],
                              cwd=self.folder, timeout=120, stdin=subprocess.DEVNULL, capture_output=True, check=True)

    def console(self, completed):
        """The console messages of the page: errors of its HTML, CSS and policy."""
        return [line for line in completed.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]

    def facts_at(self, page, width):
        """Returns the output of the probe in a window of `width` pixels."""
        text = page.read_text(encoding="utf-8")
        probed = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", text, count=1)
        self.assertNotEqual(probed, text)
        copy = self.write("probed.html", probed.replace("</body>", PROBE + "</body>"))
        dumped = self.browse(copy, "--dump-dom", f"--window-size={width},900")
        self.assertEqual(self.console(dumped), [])
        found = re.search(r"<pre id=\"facts\">(.*?)</pre>", dumped.stdout.decode())
        return json.loads(found[1])


class Pages(PageTest):
    def test_a_page_of_a_real_run_opens_without_errors_at_every_width_and_prints(self):
        self.run_plu("results.json", "--trace", "trace.json")
        self.run_plu("again.json")
        network = self.glinpack("network", "--n", "64", "--nb", "16", "--grid", "2x2", "--json", "network.json",
                                "--ping-pong", "0-1", "--screen", "never", ranks=4, timeout=60)
        self.assertEqual(network.status, 0, network)
        self.alone("matmul", "--n", "16,32", "--variant", "compute", "--repeat", "1", "--json", "mode.json")
        written = self.alone("report", "results.json", "again.json", "trace.json", "network.json", "mode.json", "-o", "page.html")
        self.assertEqual(written.out, "page.html\n")
        page = self.folder / "page.html"
        html = page.read_text(encoding="utf-8")
        for text in ("PASSED", "GFLOPS against N", "Where the time went", "Expected and measured", "rank 3 (1, 1)",
                     "Timeline of the passes", "Files compared", "Standalone modes", "Ping-pong", "Hosts and versions",
                     "WR10R2R16"):
            self.assertIn(text, html)

        opened = self.browse(page, "--dump-dom")
        self.assertEqual(self.console(opened), [])
        for width in (390, 1280):
            with self.subTest(width=width):
                facts = self.facts_at(page, width)
                self.assertEqual(facts["width"], width)
                self.assertLessEqual(facts["overflow"], 0, facts)
                self.assertEqual(facts["wide"], [], facts)
                self.assertEqual(facts["small"], 0, facts)
                self.assertEqual(facts["foreign"], 0, facts)
                self.assertGreaterEqual(facts["sections"], 8, facts)
                self.assertGreater(facts["charts"], 20, facts)
        self.browse(page, f"--print-to-pdf={self.folder / 'page.pdf'}", "--no-pdf-header-footer")
        self.assertTrue((self.folder / "page.pdf").read_bytes().startswith(b"%PDF"))

    def test_the_contents_of_a_file_are_escaped(self):
        self.run_plu("results.json")
        document = json.loads((self.folder / "results.json").read_text())
        document["context"].update(version=HOSTILE, hosts=[HOSTILE], notes=[HOSTILE], command_line=[HOSTILE])
        for run in document["runs"]:
            run.update(backend=HOSTILE, failure=HOSTILE, passed=False)
            for rank in run["ranks"]:
                rank.update(host=HOSTILE, device=HOSTILE, driver=HOSTILE)
        self.write("hostile.json", json.dumps(document))
        self.alone("report", "hostile.json", "-o", "page.html", "--title", "safe")
        facts = self.facts_at(self.folder / "page.html", 390)
        self.assertEqual((facts["title"], facts["images"], facts["foreign"]), ("safe", 0, 0))
        self.assertLessEqual(facts["overflow"], 0, facts)

    def test_committed_results_give_a_page(self):
        files = sorted(str(path) for path in (ROOT / "results" / "h200-x4").glob("*.json"))
        self.assertGreaterEqual(len(files), 3)
        self.alone("report", *files, "-o", "page.html")
        self.assertIn("gl-compute", (self.folder / "page.html").read_text(encoding="utf-8"))

    def test_existing_pages_and_unusable_files_are_rejected(self):
        self.write("there.html", "mine")
        good = ROOT / "results" / "h200-x4" / "gpus-1.json"
        self.write("broken.json", "{\"format\": 1,\n \"context\": }")
        self.write("other.json", "{\"a\": 1}")
        document = json.loads(good.read_text())
        document["runs"][1]["n"] = "many"
        self.write("wrong.json", json.dumps(document))
        before = self.files()
        for arguments, named in [
            ([], ["no file is given", "glinpack report"]),
            ([good, "-o", "there.html"], ["--output", "there.html", "--force"]),
            ([good, "-o", "no/folder/p.html"], ["--output", "no/folder"]),
            ([good, "-o", "."], ["--output", "a folder"]),
            (["missing.json", "-o", "p.html"], ["missing.json", "no such file"]),
            (["broken.json", "-o", "p.html"], ["broken.json", "not JSON", "line 2"]),
            (["other.json", "-o", "p.html"], ["other.json", "--json"]),
            (["wrong.json", "-o", "p.html"], ["wrong.json", "/runs/1/n", "a whole number"]),
            ([good, good, "-o", "p.html"], ["gpus-1.json", "twice"]),
            (["wrong.json", "-o", "wrong.json", "--force"], ["--output", "wrong.json", "files to read"]),
            ([good, "--outptu", "p.html"], ["'--outptu'", "--output"]),
        ]:
            with self.subTest(arguments=arguments):
                outcome = self.alone("report", *arguments, status=2)
                self.assertEqual(len(outcome.messages), 1, outcome)
                self.assertEqual(len(outcome.err.splitlines()), 1, outcome)
                for text in named:
                    self.assertIn(text, outcome.err)
        self.assertEqual(self.files(), before)
        self.alone("report", good, "-o", "there.html", "--force")
        self.assertIn("<!DOCTYPE html>", (self.folder / "there.html").read_text(encoding="utf-8"))


class Comparisons(PageTest):
    def test_real_runs_are_compared_and_the_gate_fails_slower_ones(self):
        self.run_plu("a.json", repeat=3)
        self.run_plu("b.json", repeat=3)
        outcome = self.alone("compare", "a.json", "b.json", "--json", "c.json")
        self.assertIn("n 64", outcome.out)
        checked = subprocess.run([sys.executable, "-B", ROOT / "tests/system/validate_json.py", self.folder / "c.json",
                                  ROOT / "docs/compare.schema.json"], check=False, capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        document = json.loads((self.folder / "c.json").read_text())
        self.assertEqual(len(document["pairs"]), 2)
        for pair in document["pairs"]:
            self.assertEqual((pair["a"]["repetitions"], pair["b"]["repetitions"]), (3, 3))
            self.assertLessEqual(pair["least"], pair["ratio"])
            self.assertLessEqual(pair["ratio"], pair["most"])
            self.assertAlmostEqual(pair["confidence"], 0.9)

        # constant rates, independent of the machine's load
        runs = json.loads((self.folder / "a.json").read_text())
        for place, run in enumerate(runs["runs"]):
            run["gflops"] = 1 + 0.01 * place
        self.write("steady.json", json.dumps(runs))
        for run in runs["runs"]:
            run["gflops"] /= 4
        runs["runs"][-1]["passed"] = False
        self.write("slow.json", json.dumps(runs))
        self.alone("compare", "steady.json", "slow.json")
        failed = self.alone("compare", "steady.json", "slow.json", "--fail-below", "0.5", status=1)
        self.assertIn("the ratio 0.250 is below 0.5", failed.out)
        self.assertIn("1 of b FAILED", failed.out)
        self.assertIn("b is slower", failed.out)

    def test_incomparable_files_are_rejected(self):
        self.run_plu("a.json")
        other = self.glinpack("plu", "--n", "32", "--nb", "16", "--grid", "1x1", "--backend", "reference", "--json",
                              "other.json", ranks=1)
        self.assertEqual(other.status, 0, other)
        for arguments, named in [
            (["a.json"], ["1 files", "two"]),
            (["a.json", "missing.json"], ["missing.json", "no such file"]),
            (["a.json", "other.json"], ["other.json", "a.json", "--ignore"]),
            (["a.json", "other.json", "--ignore", "bakend"], ["--ignore", "'bakend'", "did you mean backend?"]),
            (["a.json", "a.json", "--ignore", "n"], ["differ in n", "--ignore"]),
            (["a.json", "other.json", "--json", "a.json", "--force"], ["--json", "a.json", "files to read"]),
        ]:
            with self.subTest(arguments=arguments):
                outcome = self.alone("compare", *arguments, status=2)
                self.assertEqual((len(outcome.messages), outcome.out), (1, ""), outcome)
                for text in named:
                    self.assertIn(text, outcome.err)


class Variants(PageTest):
    def test_the_codes_of_a_report_are_explained_with_its_options(self):
        outcome = self.glinpack("plu", "--n", "32", "--nb", "16", "--grid", "1x2", "--backend", "reference",
                                "--broadcast", "two-rings-modified", "--lookahead", "0", "--column-major")
        self.assertEqual(outcome.status, 0, outcome)
        code = re.search(r"^(W[RC]\d\S+) +32 ", outcome.out, flags=re.MULTILINE)[1]
        explained = self.alone("variant", code)
        self.assertIn("glinpack plu --column-major --lookahead 0 --broadcast two-rings-modified", explained.out)
        options = re.search(r"glinpack plu (.*)", explained.out)[1].split()
        again = self.glinpack("plu", "--n", "32", "--nb", "16", "--grid", "1x2", "--backend", "reference", *options)
        self.assertIn(f"\n{code} ", again.out)

    def test_invalid_codes_are_rejected_with_their_position(self):
        for code, named in [("WR11X2R4", ["'WR11X2R4'", "place 5", "RFACT"]), ("", ["place 1", "'W'"])]:
            outcome = self.alone("variant", code, status=2)
            self.assertEqual((len(outcome.messages), outcome.out), (1, ""), outcome)
            for text in named:
                self.assertIn(text, outcome.err)


if __name__ == "__main__":
    unittest.main()
