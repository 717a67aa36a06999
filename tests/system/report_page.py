#!/usr/bin/python3
"""Report pages and comparisons of real runs. The pages are opened in a browser."""
import copy
import html
import itertools
import json
import re
import shutil
import subprocess
import unittest

from launch import GLINPACK, GLINPACK_PAPERS, GlinpackTest

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
HOSTILE = "</td></style></script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\"'"
# Added to the page by the tests: what a reader sees at first, and what the tests' own scripts find.
PROBE = """<script>
// at least three colours, so more than a background with a frame
function isDrawn(canvas) {
  const {width, height} = canvas, pen = new OffscreenCanvas(width, height).getContext("2d", {willReadFrequently: true});
  pen.drawImage(canvas, 0, 0);
  return new Set(new Uint32Array(pen.getImageData(0, 0, width, height).data.buffer)).size >= 3;
}
function facts() {
  const wide = [...document.body.querySelectorAll("*")].filter(e => !e.closest(".scroll, pre")
    && e.getBoundingClientRect().right > innerWidth + 1).map(e => `${e.tagName}.${e.className}`);
  const drawn = [...document.querySelectorAll(".chart canvas")];
  return {overflow: document.documentElement.scrollWidth - innerWidth, wide: wide.slice(0, 5), width: innerWidth,
    sections: [...document.querySelectorAll("section")].map(section => section.id), title: document.title,
    charts: drawn.length, blank: drawn.filter(canvas => !isDrawn(canvas)).map(canvas => canvas.getAttribute("aria-label")),
    images: document.images.length, foreign: performance.getEntriesByType("resource").length,
    dark: matchMedia("(prefers-color-scheme: dark)").matches, background: getComputedStyle(document.body).backgroundColor,
    text: document.querySelector("main").innerText};
}
const rowsOf = id => [...document.querySelectorAll(`#${id} tbody tr`)].map(row => [...row.cells].map(cell => cell.innerText));
function sort(id, name) {
  [...document.querySelectorAll(`#${id} th button`)].find(button => button.innerText.startsWith(name)).click();
}
function filter(id, words) {
  const field = document.querySelector(`#${id} input`);
  field.value = words;
  field.dispatchEvent(new Event("input"));
}
function choose(select, value) {
  select.value = value;
  select.dispatchEvent(new Event("change"));
}
const selectOf = name => [...document.querySelectorAll("label")].find(label => label.firstChild.data === name).querySelector("select");
const wait = ms => new Promise(done => setTimeout(done, ms));
addEventListener("load", async () => {
  // charts are drawn when the browser knows their size, sometimes after this event
  for (let i = 0; i < 50 && facts().blank.length > 0; ++i) await wait(10);
  const found = await (async () => { SCRIPT })();
  document.body.replaceChildren(Object.assign(document.createElement("pre"), {id: "found", textContent: JSON.stringify(found)}));
});
</script>"""


def browser():
    for name in BROWSERS:
        if shutil.which(name):
            return name
    raise AssertionError("there is no browser: apt-get install chromium-headless-shell")


def set_rate(run, gflops):
    """The rate, and the time of the run's operations at it."""
    seconds = run["n"] ** 2 * (2 / 3 * run["n"] + 1.5) * 1e-9 / gflops
    run.update(gflops=gflops, time=seconds, factor_seconds=seconds, solve_seconds=0)


class PageTest(GlinpackTest):
    def alone(self, *arguments, status=0):
        """glinpack ARGUMENTS, without a launcher"""
        outcome = self.start([GLINPACK, *map(str, arguments)])
        self.assertEqual(outcome.status, status, outcome)
        return outcome

    def run_plu(self, name):
        """Runs a few small factorisations on 2 x 2 processes."""
        outcome = self.glinpack("plu", "--n", "64,96", "--nb", "16", "--grid", "2x2", "--backend", "openblas", "--repeat", 3,
                                "--threads", "1", "--peak", "none", "--json", name, ranks=4, timeout=60)
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

    def script(self, page, script, *arguments, width=1280):
        """What `script` returns, the body of an async function in the page, which is `width` pixels wide."""
        text = page.read_text(encoding="utf-8")
        probed = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", text, count=1)
        self.assertNotEqual(probed, text)
        head, end, tail = probed.rpartition("</body>")
        copy = self.write("probed.html", head + PROBE.replace("SCRIPT", script) + end + tail)
        dumped = self.browse(copy, "--dump-dom", f"--window-size={width},900", *arguments)
        self.assertEqual(self.console(dumped), [])
        found = re.search(r"<pre id=\"found\">(.*?)</pre>", dumped.stdout.decode(), flags=re.DOTALL)
        return json.loads(html.unescape(found[1]))

    def facts(self, page, *arguments, width=1280):
        return self.script(page, "return facts();", *arguments, width=width)

    def report(self, *files):
        """The page of the files: names, or documents to write."""
        names = []
        for place, file in enumerate(files):
            names.append(file if isinstance(file, str) else self.write(f"document{place}.json", json.dumps(file)).name)
        self.alone("report", *names, "-o", "page.html", "--force")
        return self.folder / "page.html"

    written = []

    def document(self, repeat=1):
        """The first repetitions of the runs of run_plu(), which all tests share."""
        if not self.written:
            self.run_plu("run.json")
            self.written.append((self.folder / "run.json").read_text())
        document = json.loads(self.written[0])
        return {**document, "runs": [run for run in document["runs"] if run["repeat"] < repeat]}


def sweep_of(document):
    """864 runs like those of tests/data/HPL.dat, as copies of one run of the document."""
    first, runs = document["runs"][0], []
    for order, nb, (p, q) in itertools.product((29, 30, 34, 35), (1, 2, 3, 4), ((2, 2), (1, 4), (4, 1))):
        for pfact, nbmin, rfact in itertools.product("LCR", (2, 4), "LCR"):
            run = copy.deepcopy(first)
            run.update(n=order, nb=nb, p=p, q=q, repeat=0)
            set_rate(run, order + nb / 10)
            run["variant"].update(pfact=pfact, nbmin=nbmin, rfact=rfact)
            runs.append(run)
    return {**document, "runs": runs}


class Pages(PageTest):
    def test_a_page_of_real_runs_draws_every_chart_without_errors(self):
        self.write("results.json", json.dumps(self.document(repeat=3)))
        self.run_plu("again.json")
        one = self.glinpack("plu", "--n", "64", "--nb", "16", "--backend", "openblas", "--json", "one.json", ranks=1)
        self.assertEqual(one.status, 0, one)
        network = self.glinpack("network", "--n", "64", "--nb", "16", "--grid", "2x2", "--json", "network.json",
                                "--ping-pong", "0-1", "--screen", "never", ranks=4, timeout=60)
        self.assertEqual(network.status, 0, network)
        self.start([GLINPACK_PAPERS, "matmul", "--n", "16,32", "--variant", "compute", "--repeat", "1", "--json", "mode.json"])
        files = ["results.json", "again.json", "one.json", "network.json", "mode.json"]
        written = self.alone("report", *files, "-o", "page.html")
        self.assertEqual(written.out, "page.html\n")
        page = self.folder / "page.html"

        # with its content security policy, which the tests' own script would violate
        opened = self.browse(page, "--dump-dom")
        self.assertEqual(self.console(opened), [])
        sections = ["configurations", "speed", "scaling", "times", "roles", "runs", "comparison",
                    "modes", "network", "machines"]
        for section in sections:
            self.assertIn(f"<section id=\"{section}\">", opened.stdout.decode())

        for width, colours in (400, "dark"), (1600, "light"):
            with self.subTest(width=width, colours=colours):
                dark = ["--blink-settings=preferredColorScheme=0"] if colours == "dark" else []
                facts = self.facts(page, *dark, width=width)
                self.assertEqual((facts["width"], facts["dark"]), (width, colours == "dark"))
                self.assertEqual(facts["background"], "rgb(14, 19, 26)" if colours == "dark" else "rgb(243, 245, 248)")
                self.assertLessEqual(facts["overflow"], 0, facts)
                self.assertEqual((facts["wide"], facts["blank"], facts["foreign"]), ([], [], 0))
                self.assertEqual(facts["sections"], sections)
                self.assertGreaterEqual(facts["charts"], 9, facts)
        for text in ("PASSED", "GFLOPS over N", "Where the time went", "WR10R2R16",
                     "Ping-pong", "GFLOPS"):
            self.assertIn(text, facts["text"] + opened.stdout.decode())
        # a table that is wider than the screen says that it scrolls
        self.assertTrue(self.script(page, """
            const scroller = [...document.querySelectorAll(".scroll")].find(one => one.scrollWidth > one.clientWidth + 50);
            return !scroller.previousSibling.hidden;""", width=420))
        self.browse(page, f"--print-to-pdf={self.folder / 'page.pdf'}", "--no-pdf-header-footer")
        self.assertTrue((self.folder / "page.pdf").read_bytes().startswith(b"%PDF"))

    def test_numbers_have_grouped_digits_and_readable_units(self):
        page = self.report(self.document())
        texts = self.script(page, """return [figures(53738.2), figures(12.3456), figures(0.00123456), figures(0), figures(NaN),
            figures(1.5e12), whole(1234567), quantity(0.00321, "seconds"), quantity(33950, "gflops"), quantity(1.5e9, "bytes"),
            quantity(512, "bytes"), percent(0.33333), date(1700000000), date(NaN)];""")
        self.assertEqual(texts, ["53,738", "12.35", "0.001235", "0", "–", "1.50e+12", "1,234,567", "3.210 ms", "33.95 TFLOPS",
                                 "1.500 GB", "512 B", "33.3 %", "2023-11-14 22:13 UTC", "unknown"])

    def test_one_run_has_a_page(self):
        document = self.document()
        document["runs"] = document["runs"][:1]
        document["runs"][0].update(peak={"gflops": 40, "source": "stated"}, of_peak=0.75)
        set_rate(document["runs"][0], 30)
        page = self.report(document)
        for width in (400, 1600):
            facts = self.script(page, "return {...facts(), runs: rowsOf('runs').length};", width=width)
            self.assertEqual((facts["blank"], facts["wide"], facts["runs"]), ([], [], 1))
            self.assertEqual(facts["sections"][:4], ["configurations", "speed", "times", "roles"])
            self.assertRegex(facts["text"], r"75\.0 %\s+of 40\.00 GFLOPS, the stated peak")

    def test_864_runs_sort_and_filter(self):
        page = self.report(sweep_of(self.document()))
        narrow = self.facts(page, "--blink-settings=preferredColorScheme=0", width=400)
        found = self.script(page, """
            const found = {atFirst: facts(), shown: rowsOf("runs").length, configurations: rowsOf("configurations").length};
            [...document.querySelectorAll("#runs button")].find(button => button.innerText === "Show all").click();
            found.all = rowsOf("runs").length;
            sort("runs", "rate");
            found.fastest = rowsOf("runs")[0];
            sort("runs", "rate");
            found.slowest = rowsOf("runs")[0];
            sort("runs", "P×Q");
            found.firstGrid = rowsOf("runs")[0][3];
            filter("runs", "2x2 wr10c2");
            found.filtered = rowsOf("runs").map(row => row[3] + row[7].slice(0, 6));
            choose(selectOf("N"), "35");
            found.chosen = rowsOf("configurations").map(row => row[0]);
            choose(selectOf("P×Q"), "1x4");
            found.both = rowsOf("configurations").length;
            found.speed = document.querySelector("#speed h2").innerText;
            await wait(100);
            found.blank = facts().blank;
            return found;""", width=1600)
        for facts in narrow, found["atFirst"]:
            self.assertEqual((facts["blank"], facts["wide"]), ([], []))
            self.assertIn("864 PASSED", facts["text"])
        self.assertEqual((found["shown"], found["all"], found["configurations"]), (250, 864, 48))
        self.assertEqual((found["fastest"][1:3], found["slowest"][1:3]), (["35", "4"], ["29", "1"]))
        self.assertEqual(found["firstGrid"], "1x4")
        self.assertEqual(found["filtered"], ["2x2WR10C2"] * 96)
        self.assertEqual((found["chosen"], found["both"]), (["35"] * 12, 4))
        self.assertEqual((found["speed"], found["blank"]), ("GFLOPS", []))

    def test_configurations_have_best_and_median_and_scaling_has_efficiency(self):
        document = self.document(repeat=3)
        for run in document["runs"]:
            set_rate(run, 100.0 + run["repeat"] + run["n"])
        one = copy.deepcopy(document)
        for run in one["runs"]:
            run.update(p=1, q=1, ranks=run["ranks"][:1])
            set_rate(run, run["gflops"] / 2)
        one["runs"][0].update(passed=False, failure="the residual is NaN")
        page = self.report(document, one)
        found = self.script(page, """return {configurations: rowsOf("configurations"), scaling: rowsOf("scaling"),
            marked: document.querySelectorAll("#configurations .best").length, text: facts().text};""")
        # N, NB, P×Q, runs, best, median
        self.assertEqual([row[:6] for row in found["configurations"]],
                         [["64", "16", "2x2", "3", "166.0", "165.0"], ["96", "16", "2x2", "3", "198.0", "197.0"],
                          ["64", "16", "1x1", "3", "83.00", "82.75"], ["96", "16", "1x1", "3", "99.00", "98.50"]])
        self.assertEqual(found["configurations"][2][-1], "1 FAILED")
        self.assertEqual(found["marked"], 1)
        # ranks, rate, per rank, speed-up, efficiency
        self.assertEqual([row[:5] for row in found["scaling"]],
                         [["1", "98.50", "98.50", "1.000", "100.0 %"], ["4", "197.0", "49.25", "2.000", "50.0 %"]])
        self.assertIn("64, 1x1: the residual is NaN", found["text"])
        self.assertIn("198.0 GFLOPS", found["text"])

    def test_peaks_and_tiles_have_a_table_and_runs_the_names_of_their_devices(self):
        document = self.document()
        peak = {"unit": "GFLOPS", "median": 400.0, "least": 400.0, "most": 400.0, "repetitions": 1}
        for run in document["runs"]:
            run["backend"] = "gl-compute"
            set_rate(run, 400.0)
            run["peak"] = {"gflops": 800.0, "source": "measured"}
            for rank in run["ranks"]:
                rank.update(backend="gl-compute", device="Some GPU", device_index=rank["rank"] % 2)
        peaks = {"format": 1, "context": document["context"], "notes": [],
                    "device": {"renderer": "Some GPU", "fma_double": peak, "fma_single": {**peak, "median": 900.0}},
                    "host": {"name": "elsewhere", "threads": 1, "gemm_double": peak}}
        trial = {"tile": "64x64", "unit": "GFLOPS", "median": 12.5, "least": 12.0, "most": 13.0, "repetitions": 3, "right": True}
        tune = {"format": 1, "context": document["context"], "notes": [],
                "tunings": [{"precision": "double", "order": 512, "depth": 64, "taken": "64x64", "trials": [trial]}]}
        found = self.script(self.report(document, peaks, tune), "return {...facts(), peaks: rowsOf('peaks')};")
        self.assertEqual(found["peaks"],
                         [["fma, double", "400.0", "400.0", "400.0", "GFLOPS", "right"],
                          ["fma, single", "900.0", "400.0", "400.0", "GFLOPS", "right"],
                          ["gemm, double", "400.0", "400.0", "400.0", "GFLOPS", "right"],
                          ["64x64", "12.50", "12.00", "13.00", "GFLOPS", "right"]])
        self.assertIn("50.0 %\nof 800.0 GFLOPS, the measured peak", found["text"])
        self.assertIn("2 × Some GPU", found["text"])
        self.assertIn("per GPU", found["text"])

    def test_energy_is_shown_if_a_file_has_it(self):
        document = self.document()
        for run in document["runs"]:
            run.update(energy=None)
        page = self.report(document)
        self.assertNotIn("energy", self.facts(page)["sections"])
        unread = {"joules": None, "average_watts": None, "peak_watts": None, "gflops_per_watt": None, "rough": False,
                  "scope": None, "nodes": None, "nodes_with_memory": None, "gpus": None, "sensors": [], "unread": []}
        document["runs"][0]["energy"] = {**unread, "joules": 1234.0, "average_watts": 123.4, "peak_watts": 234.5,
                                         "gflops_per_watt": 0.16207, "rough": True, "scope": "2 packages"}
        document["runs"][1].update(energy=unread)
        rows = self.script(self.report(document), "return rowsOf('energy');")
        self.assertEqual([row[1:] for row in rows], [["1", "1,234", "123.4", "234.5", "0.1621", "2 packages; rough: a short run"]])
        document["runs"][0]["energy"] = {**unread, "wall_watts": 450.0, "gflops_per_watt": 2.5}
        found = self.script(self.report(document), "return {...facts(), rows: rowsOf('energy')};")
        self.assertEqual(found["rows"][0][1:], ["1", "2.500", "GFLOPS/W by a wall meter: 450.0 W"])
        self.assertIn("GFLOPS/W is by the wall meter", found["text"])

    def test_extreme_and_empty_documents_have_pages(self):
        document = self.document()
        for run, values in zip(document["runs"], ({"gflops": 1e300}, {"gflops": 1e-300, "start_time": -1e300})):
            seconds = run["gflops"] * run["time"] / values["gflops"]
            run.update(values, time=seconds, factor_seconds=seconds, solve_seconds=0)
        for runs in (document["runs"], []):
            facts = self.facts(self.report({**document, "runs": runs}))
            self.assertNotIn("NaN", facts["text"])
            self.assertNotIn("Infinity", facts["text"])
            self.assertEqual(facts["wide"], [])

    def test_a_click_on_a_configuration_shows_its_roles_and_phases(self):
        page = self.report(self.document())
        found = self.script(page, """const found = [];
            for (const row of [0, 1]) {
              document.querySelectorAll("#configurations tbody tr")[row].click();
              await wait(50);
              found.push([document.querySelector("#roles p").innerText, document.querySelectorAll("#roles canvas[role=img]").length,
                facts().blank.length, [...document.querySelector("#roles table").rows].map(row => row.cells[0].innerText)]);
            }
            return found;""")
        for order, (text, charts, blank, phases) in zip((64, 96), found):
            self.assertIn(f"N {order}, NB 16, 2 × 2", text)
            self.assertEqual((charts, blank), (3, 0))
            self.assertEqual(phases[1:], ["pfact", "bcast", "laswp", "trsm", "update", "ptrsv", "copies", "idle"])

    def test_on_paper_the_page_is_light_and_as_wide_as_the_paper(self):
        page = self.report(self.document())
        found = self.script(page, """const look = () => {
              const widths = [...document.querySelectorAll(".chart canvas")].map(canvas => canvas.clientWidth);
              return {...facts(), widest: Math.max(...widths)};
            };
            const screen = look();
            dispatchEvent(new Event("beforeprint"));
            const paper = look();
            dispatchEvent(new Event("afterprint"));
            await wait(50);
            return [screen, paper, look()];""", "--blink-settings=preferredColorScheme=0", width=1600)
        self.assertEqual([facts["background"] for facts in found], ["rgb(14, 19, 26)", "rgb(243, 245, 248)", "rgb(14, 19, 26)"])
        self.assertEqual([facts["blank"] for facts in found], [[]] * 3)
        self.assertLessEqual(found[1]["widest"], 700)
        self.assertGreater(found[2]["widest"], 1000)

    def test_the_contents_of_a_file_are_text(self):
        document = self.document()
        document["context"].update(version=HOSTILE, hosts=[HOSTILE], notes=[HOSTILE], command_line=[HOSTILE])
        for run in document["runs"]:
            run.update(backend=HOSTILE, failure=HOSTILE, passed=False)
            for rank in run["ranks"]:
                rank.update(host=HOSTILE, device=HOSTILE, driver=HOSTILE)
        self.write("hostile.json", json.dumps(document))
        self.alone("report", "hostile.json", "-o", "page.html", "--title", "safe")
        facts = self.facts(self.folder / "page.html", width=400)
        self.assertEqual((facts["title"], facts["images"], facts["foreign"]), ("safe", 0, 0))
        self.assertIn("<script>document.title='owned'</script>", facts["text"])
        self.assertLessEqual(facts["overflow"], 0, facts)

    def test_committed_results_give_a_page(self):
        files = sorted(str(path) for path in self.committed("h200-x4").glob("*.json"))
        self.assertGreaterEqual(len(files), 3)
        self.alone("report", *files, "-o", "page.html")
        facts = self.facts(self.folder / "page.html")
        self.assertEqual(facts["blank"], [])
        for text in ("TFLOPS", "4 × NVIDIA H200", "Scaling over GPUs"):
            self.assertIn(text, facts["text"])

    def test_existing_pages_and_unusable_files_are_rejected(self):
        self.write("there.html", "mine")
        good = self.committed("h200-x4") / "gpus-1.json"
        self.write("wrong.json", "{\"format\": 1,\n \"context\": }")
        before = self.files()
        for arguments, named in [
            ([], ["no file is given", "glinpack report"]),
            ([good, "-o", "there.html"], ["--output", "there.html", "--force"]),
            ([good, "-o", "no/folder/p.html"], ["--output", "no/folder"]),
            ([good, "-o", "."], ["--output", "a folder"]),
            (["wrong.json", "-o", "p.html"], ["wrong.json", "not JSON", "line 2"]),
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
    def test_real_runs_are_compared(self):
        self.write("a.json", json.dumps(self.document(repeat=3)))
        self.run_plu("b.json")
        outcome = self.alone("compare", "a.json", "b.json", "--json", "c.json")
        self.assertIn("n 64", outcome.out)
        document = self.valid_json("c.json", "compare.schema.json")
        self.assertEqual(len(document["pairs"]), 2)
        for pair in document["pairs"]:
            self.assertEqual((pair["a"]["repetitions"], pair["b"]["repetitions"]), (3, 3))
            self.assertLessEqual(pair["least"], pair["ratio"])
            self.assertLessEqual(pair["ratio"], pair["most"])
            self.assertTrue(0 <= pair["confidence"] < 0.9 + 1e-9, pair)


if __name__ == "__main__":
    unittest.main()
