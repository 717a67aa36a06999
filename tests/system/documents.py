#!/usr/bin/python3
"""Documents: what they link to exists, and their figures are what scripts/figures draws."""
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/**/*.md")]
FIGURES = ROOT / "docs" / "figures"


def links(document):
    """Targets of links and pictures that are neither elsewhere on the net nor inside code."""
    text = re.sub(r"```.*?```|`[^`\n]*`(?!\])", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]


def anchors(document):
    """Of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        self.assertGreater(len(DOCUMENTS), 4)
        for document in DOCUMENTS:
            for target in links(document):
                with self.subTest(document=document.name, target=target):
                    path, _, anchor = target.partition("#")
                    file = document.parent / path if path else document
                    self.assertTrue(file.exists(), file)
                    if anchor:
                        self.assertIn(anchor, anchors(file))

    def test_files_that_are_named_exist(self):
        for document in DOCUMENTS:
            code = re.findall(r"`((?:app|configs|docs|scripts|shaders|src|tests)/[\w./-]*)`", document.read_text())
            for name in code:
                with self.subTest(document=document.name, file=name):
                    self.assertTrue((ROOT / name).exists())


class Figures(unittest.TestCase):
    def test_figures_are_what_the_script_draws(self):
        drawn = subprocess.run([sys.executable, "-B", ROOT / "scripts" / "figures" / "draw.py", "--check"], check=False,
                               capture_output=True, text=True)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)

    def test_every_figure_is_an_svg_that_a_document_shows(self):
        shown = {(document.parent / target).resolve() for document in DOCUMENTS for target in links(document)}
        figures = sorted(FIGURES.glob("*.svg"))
        self.assertGreaterEqual(len(figures), 5)
        for figure in figures:
            with self.subTest(figure=figure.name):
                self.assertEqual(xml.etree.ElementTree.parse(figure).getroot().tag, "{http://www.w3.org/2000/svg}svg")
                self.assertIn(figure.resolve(), shown)


if __name__ == "__main__":
    unittest.main()
