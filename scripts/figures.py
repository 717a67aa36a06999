#!/usr/bin/python3
"""Draws the figures of docs/algorithm.md: figures.py [FOLDER], or figures.py --check to see whether docs/figures is up
to date.

The messages are those that glinpack (GLINPACK in the environment) lists; nothing is measured. With --check, exit status
1 if a file is not what would be drawn.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

# The roles of a pass, as in all of glinpack's pictures: told apart by lightness, too.
ROLES = {"pivot": "#0b2e59", "normalize": "#58b39d", "eliminate": "#c8501e", "reduce": "#f3d77c"}
ON_ROLES = {"pivot": "white", "normalize": "black", "eliminate": "white", "reduce": "black"}
INK = "#222222"
DONE = "#d9d9d9"

_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" \
font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="13">
<title>{title}</title>
<defs>
<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse">
<path d="M0,1 L10,5 L0,9 Z" fill="{ink}"/></marker>
<pattern id="waits" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect width="6" height="6" fill="white"/><line x1="0" y1="0" x2="0" y2="6" stroke="#9a9a9a" stroke-width="1.5"/></pattern>
<pattern id="net" width="4" height="4" patternUnits="userSpaceOnUse">
<rect width="4" height="4" fill="#b9b9b9"/><circle cx="2" cy="2" r="1" fill="#555555"/></pattern>
</defs>
<rect width="{width}" height="{height}" fill="white"/>
"""


def number(value):
    """Without digits that nobody sees."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Drawing:
    def __init__(self, width, height, title):
        self.parts = [_HEAD.format(width=width, height=height, title=escape(title), ink=INK)]

    def box(self, x, y, width, height, fill="white", stroke=INK, line=1.0, dashed=False):
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        self.parts.append(f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" '
                          f'fill="{fill}" stroke="{stroke}" stroke-width="{number(line)}"{dash}/>\n')

    def text(self, x, y, words, size=13, anchor="middle", colour=INK, bold=False, italic=False):
        style = (' font-weight="bold"' if bold else "") + (' font-style="italic"' if italic else "")
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" font-size="{size}" text-anchor="{anchor}" '
                          f'fill="{colour}"{style}>{escape(words)}</text>\n')

    def label(self, x, y, width, height, words, fill="white", colour=INK, size=13, stroke=INK, line=1.0):
        """A box with words in its middle; a list of words gives lines."""
        self.box(x, y, width, height, fill, stroke, line)
        lines = [words] if isinstance(words, str) else words
        first = y + height / 2 + size * 0.36 - (len(lines) - 1) * size * 0.62
        for i, words_of_line in enumerate(lines):
            self.text(x + width / 2, first + i * size * 1.24, words_of_line, size, colour=colour)

    def line(self, points, arrow=False, dashed=False, width=1.4, colour=INK):
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{number(width)}"'
                          + (' stroke-dasharray="5 3"' if dashed else "")
                          + (' marker-end="url(#head)"' if arrow else "") + "/>\n")

    def arrow(self, *points, **style):
        self.line(points, arrow=True, **style)

    def svg(self):
        return "".join(self.parts) + "</svg>\n"

# How blocks are dealt out, and what each rank does in a pass

RANK_TINTS = ("#ffffff", "#dbe7f3", "#f6e3d3", "#c9d3c4")


def owner(block_row, block_column, rows, columns):
    """src/global/matrix/distribution.hpp: block b belongs to process b mod P."""
    return block_row % rows, block_column % columns


def role(process, pivot):
    """src/global/matrix/pass.hpp, role_in_pass()."""
    if process == pivot:
        return "pivot"
    if process[0] == pivot[0]:
        return "normalize"
    return "eliminate" if process[1] == pivot[1] else "reduce"


def block_cyclic():
    """An 8 x 8 block matrix and its right-hand side on a 2 x 2 grid, and what each rank holds of it."""
    blocks, cell, rows, columns = 8, 34, 2, 2
    drawing = Drawing(820, 400, "Block-cyclic distribution of [A | b] on a 2 x 2 process grid")
    left, top = 50, 70
    drawing.text(left + blocks * cell / 2, 28, "the matrix, by blocks of nb x nb", bold=True)
    drawing.text(left + blocks * cell + 8 + cell / 4, 60, "b", italic=True)
    for i in range(blocks):
        drawing.text(left - 14, top + i * cell + 22, str(i), 12)
        drawing.text(left + i * cell + cell / 2, top - 10, str(i), 12)
        for j in range(blocks + 1):
            p, q = owner(i, j, rows, columns)
            rank = p * columns + q
            x = left + j * cell + (8 if j == blocks else 0)
            drawing.label(x, top + i * cell, cell / 2 if j == blocks else cell, cell, str(rank), RANK_TINTS[rank])
    drawing.text(left + blocks * cell / 2, top + blocks * cell + 26, "number: the rank that holds the block", 12)

    drawing.text(596, 28, "the local matrices: global numbers of their blocks", bold=True)
    local, width, height = 4, 36, 26
    for rank in range(rows * columns):
        p, q = divmod(rank, columns)
        x, y = 410 + q * 205, 70 + p * 165
        drawing.text(x + local * width / 2, y - 8, f"rank {rank} = ({p},{q})", 12)
        for i in range(local):
            for j in range(local):
                drawing.label(x + j * width, y + i * height, width, height, f"{i * rows + p},{j * columns + q}",
                              RANK_TINTS[rank], size=12)
            if q == 0:
                drawing.label(x + local * width + 4, y + i * height, width / 2, height, "b", RANK_TINTS[rank], size=12)
    return drawing


def roles():
    """Pass 2: which operation each block undergoes, and the roles of ranks on two grids."""
    blocks, cell, k = 8, 34, 2
    drawing = Drawing(820, 416, "The four roles in a pass")
    left, top = 40, 70
    drawing.text(left + blocks * cell / 2, 28, f"pass k = {k} on a 2 x 2 grid", bold=True)
    pivot = owner(k, k, 2, 2)
    for i in range(blocks):
        for j in range(blocks):
            rank = owner(i, j, 2, 2)
            words = str(rank[0] * 2 + rank[1])
            done = i < k or j < k
            fill = DONE if done else ROLES[role(rank, pivot)]
            drawing.label(left + j * cell, top + i * cell, cell, cell, words, fill,
                          "#777777" if done else ON_ROLES[role(rank, pivot)])
    corner = (left + k * cell, top + k * cell)
    size = (blocks - k) * cell
    for width, height in ((size, size), (cell, size), (size, cell)):
        drawing.box(*corner, width, height, "none", "black", 3)
    drawing.text(left + blocks * cell / 2, top - 12, "grey: done, L and U", 12)
    y = top + blocks * cell + 24
    drawing.text(left, y, "framed: the panel, A₁₁ over A₂₁; the block row,", 12, "start")
    drawing.text(left, y + 17, "A₁₁ beside A₁₂; the rest, A₂₂", 12, "start")

    for words, s, x, size in (("2 x 2 grid, pass 2", 2, 380, 62), ("4 x 4 grid, pass 2", 4, 570, 54)):
        drawing.text(x + s * size / 2, 28, words, bold=True)
        pivot = owner(k, k, s, s)
        for p in range(s):
            for q in range(s):
                is_role = role((p, q), pivot)
                drawing.label(x + q * size, 70 + p * size, size, size, f"{p},{q}", ROLES[is_role], ON_ROLES[is_role])
    counts = {"pivot": "1", "normalize": "s - 1", "eliminate": "s - 1", "reduce": "s² - 2(s - 1) - 1"}
    tasks = {"pivot": "P, L₁₁, U₁₁, L₂₁", "normalize": "U₁₂ = L₁₁⁻¹ A₁₂", "eliminate": "L₂₁ = A₂₁ U₁₁⁻¹", "reduce": "-"}
    for x, words in ((406, "role"), (505, "ranks of s x s"), (645, "first computes")):
        drawing.text(x, 304, words, 12, "start", italic=True)
    for i, name in enumerate(ROLES):
        y = 324 + 20 * i
        drawing.box(380, y - 12, 18, 15, ROLES[name])
        drawing.text(406, y, name, 12, "start", bold=True)
        drawing.text(505, y, counts[name], 12, "start")
        drawing.text(645, y, tasks[name], 12, "start")
    drawing.text(380, 406, "then all: A₂₂ = A₂₂ - L₂₁ U₁₂", 12, "start")
    return drawing

# Which ranks wait for which: a pass with local pivoting, recorded by plu --explain-pass K --json FILE

GLINPACK = os.environ.get("GLINPACK", str(pathlib.Path(__file__).parents[1] / "build" / "release" / "bin" / "glinpack"))
BLOCKS = 6
RANKS = [(p, q) for p in range(2) for q in range(2)]


def recorded_pass(k):
    """{rank: its role, operations and messages}."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "pass.json"
        subprocess.run([GLINPACK, "plu", "--n", str(BLOCKS), "--nb", "1", "--grid", "2x2", "--pivoting", "local",
                        "--backend", "reference", "--explain-pass", str(k), "--json", str(file)],
                       check=True, capture_output=True)
        run, = json.loads(file.read_text(encoding="utf-8"))["runs"]
    return {(rank["row"], rank["column"]): rank for rank in run["ranks"]}


def steps_of_rank(rank):
    """("work", what), ("send", kind) and ("receive", kind), in the driver's order."""
    received = set()
    for operation in rank["operations"]:
        if operation["kind"] == "compute":
            work = "panel" if operation["work"] == "panel of the host" else operation["work"]
            if work != "swap" and operation["flops"] > 0:
                yield "work", "eliminate" if (work, rank["role"]) == ("panel", "eliminate") else work
        elif operation["kind"] != "wait for work":
            number = operation["message"]
            message = rank["messages"][number]
            if operation["kind"] == "start message" and not message["receives"]:
                yield "send", message["kind"]
            elif operation["kind"] != "start message" and message["receives"] and number not in received:
                received.add(number)
                yield "receive", message["kind"]


def steps_of_pass(k):
    """("work", rank, what) and ("message", sender, receiver, what). A message comes when both ends have reached it."""
    ranks = recorded_pass(k)
    left = {at: list(steps_of_rank(rank)) for at, rank in ranks.items()}
    steps = []
    while any(left.values()):
        before = len(steps)
        for at, own in left.items():
            while own and own[0][0] == "work":
                steps.append(("work", at, own.pop(0)[1]))
            if not own or own[0][0] != "send":
                continue
            kind = own[0][1]
            other = (at[0], 1 - at[1]) if kind == "panel" else (1 - at[0], at[1])
            if left[other] and left[other][0] == ("receive", kind):
                what = {"u11": "U₁₁", "u12": "U₁₂", "panel": "P, L₁₁, L₂₁" if ranks[at]["role"] == "pivot" else "L₂₁"}
                steps.append(("message", at, other, what[kind]))
                own.pop(0)
                left[other].pop(0)
        assert len(steps) > before, f"pass {k}: {left}"
    return steps


class Run:
    """Four ranks on a 2 x 2 grid, each doing one thing at a time. `seconds(what, rank, k)` is how long a thing takes; a
    message takes its time from when both ends are there, and until then the one that is there waits."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.now = {rank: 0.0 for rank in RANKS}
        self.spans = []  # (rank, pass, what, role, begin, end)
        self.messages = []  # (sender, receiver, what, begin, end)

    def work(self, rank, k, what):
        begin = self.now[rank]
        self.now[rank] += self.seconds(what, rank, k)
        self.spans.append((rank, k, what, role(rank, owner(k, k, 2, 2)), begin, self.now[rank]))

    def send(self, sender, receiver, k, what):
        begin = max(self.now[sender], self.now[receiver])
        for rank in (sender, receiver):
            if self.now[rank] < begin:
                self.spans.append((rank, k, "waits", None, self.now[rank], begin))
        end = begin + self.seconds("message " + what, sender, k)
        for rank in (sender, receiver):
            self.spans.append((rank, k, "message", None, begin, end))
            self.now[rank] = end
        self.messages.append((sender, receiver, what, begin, end))

    def do_pass(self, k):
        for kind, rank, *rest in steps_of_pass(k):
            if kind == "work":
                self.work(rank, k, *rest)
            else:
                self.send(rank, rest[0], k, rest[1])


def draw_spans(drawing, run, place, unit, top_of, height):
    """Each span as a box: work in the colour of its role, messages and waiting in grey patterns."""
    for rank, _, what, is_role, begin, end in run.spans:
        if end > begin:
            fill = {"waits": "url(#waits)", "message": "url(#net)"}.get(what) or ROLES[is_role]
            drawing.box(place + begin * unit, top_of[rank], (end - begin) * unit, height, fill, line=0.6)


def legend(drawing, x, y):
    for name, fill, words in ([(name, colour, name) for name, colour in ROLES.items()]
                              + [("", "url(#net)", "message"), ("", "url(#waits)", "waits for another rank")]):
        drawing.box(x, y - 12, 20, 14, fill, line=0.6)
        drawing.text(x + 26, y, words, 12, "start")
        x += 46 + 7.3 * len(words)


def messages():
    """One pass, with what each rank does written into its boxes."""
    lengths = {"panel": 4.2, "eliminate": 3.4, "normalize": 3.4, "reduce": 4.4}
    run = Run(lambda what, rank, k: lengths.get(what, 0.7))
    run.do_pass(0)
    drawing = Drawing(820, 330, "The messages of a pass, and who waits for them")
    names = {(0, 0): "pivot", (1, 0): "eliminate", (0, 1): "normalize", (1, 1): "reduce"}
    top_of = {rank: 44 + 64 * i for i, rank in enumerate(names)}
    place, height = 110, 36
    unit = 690 / max(run.now.values())
    words = {"panel": ["panel: P, L₁₁,", "U₁₁, own L₂₁"], "eliminate": ["L₂₁ =", "A₂₁ U₁₁⁻¹"],
             "normalize": ["rows by P, then", "U₁₂ = L₁₁⁻¹ A₁₂"], "reduce": ["A₂₂ =", "A₂₂ - L₂₁ U₁₂"]}
    drawing.text(800, 24, "time →", anchor="end")
    for rank, name in names.items():
        drawing.text(16, top_of[rank] + 23, name, anchor="start", bold=True)
    draw_spans(drawing, run, place, unit, top_of, height)
    for rank, _, what, is_role, begin, end in run.spans:
        if what in words:
            drawing.label(place + begin * unit, top_of[rank], (end - begin) * unit, height, words[what],
                          ROLES[is_role], ON_ROLES[is_role], 11.5, line=0.6)
    for sender, receiver, what, begin, end in run.messages:
        x, x_end = place + begin * unit + 3, place + end * unit - 3
        down = top_of[receiver] > top_of[sender]
        y = top_of[sender] + (height if down else 0)
        drawing.arrow((x, y), (x_end, top_of[receiver] + (0 if down else height)), width=2)
        next_lane = abs(top_of[receiver] - top_of[sender]) == 64
        beside = 6 if sender == (0, 1) else -26 if next_lane else -12
        drawing.text(x_end + beside, top_of[receiver] - 7, what, 12, "start" if beside > 0 else "end", bold=True)
    legend(drawing, 70, 318)
    return drawing


def waiting():
    """Six passes without look-ahead. Lengths follow from the extents of blocks; nothing is measured."""
    def seconds(what, rank, k):
        rows = sum(1 for i in range(k + 1, BLOCKS) if i % 2 == rank[0])
        columns = sum(1 for j in range(k + 1, BLOCKS) if j % 2 == rank[1])
        return {"panel": 2.4 * (rows + 0.67), "eliminate": 1.0 * rows, "normalize": 1.0 * columns,
                "reduce": 2.0 * rows * columns, "message U₁₁": 0.5, "message P, L₁₁, L₂₁": 0.4 + 0.4 * (rows + 1),
                "message L₂₁": 0.4 + 0.4 * rows, "message U₁₂": 0.4 + 0.4 * columns if columns else 0}[what]

    run = Run(seconds)
    for k in range(BLOCKS):
        run.do_pass(k)
    drawing = Drawing(820, 300, "Six passes without look-ahead on a 2 x 2 grid")
    top_of = {rank: 44 + 52 * i for i, rank in enumerate(RANKS)}
    place, height = 80, 38
    unit = 725 / max(run.now.values())
    drawing.text(800, 24, "time →", anchor="end")
    for i, rank in enumerate(RANKS):
        drawing.text(12, top_of[rank] + 24, f"rank {i}", anchor="start", bold=True)
    draw_spans(drawing, run, place, unit, top_of, height)
    for rank, k, what, is_role, begin, end in run.spans:
        if what == "reduce" and (end - begin) * unit > 20:
            drawing.text(place + (begin + end) / 2 * unit, top_of[rank] + 24, str(k), colour=ON_ROLES[is_role])
    legend(drawing, 70, 288)
    drawing.text(70, 268, "number: the pass, in its reduction; the role of a rank changes from pass to pass", 12, "start")
    return drawing

# Fragment shaders: how a matrix lies in textures, and a step of the pivot operation

CHANNELS = ("red", "green", "blue", "alpha")
MULTIPLIER, NEXT = "#f4b8b0", "#b9cdf2"
TOP_ROW, PIVOT_ROW = "#f7d9a8", "#a9d3e8"


def texture():
    """A matrix with ten columns: three texels a row, and the extra one."""
    drawing = Drawing(820, 410, "A matrix in four-wide texels, with the extra column")
    left, top, part, height, rows, columns = 60, 92, 38, 30, 5, 10
    texels = 1 + (columns + 3) // 4

    def place(texel):
        return left + texel * (4 * part + 16)

    drawing.text(place(0) + 2 * part, 26, "extra column", bold=True)
    drawing.text((place(1) + place(texels - 1) + 4 * part) / 2, 26,
                 "the matrix: element (i, j) is channel j mod 4 of texel (1 + j / 4, i)", bold=True)
    for texel in range(texels):
        drawing.text(place(texel) + 2 * part, 58, f"texel {texel}", 12)
        for c, channel in enumerate(CHANNELS):
            drawing.text(place(texel) + (c + 0.5) * part, 80, channel, 10)
    for i in range(rows):
        y = top + i * height
        drawing.text(left - 12, y + 20, str(i), 12)
        for c in range(4):
            words, fill = {0: (f"m{i}", MULTIPLIER), 2: (f"n{i}", NEXT)}.get(c, ("", "white"))
            drawing.label(place(0) + c * part, y, part, height, words, fill, size=12, line=0.5)
        for j in range(4 * (texels - 1)):
            x = place(1 + j // 4) + j % 4 * part
            drawing.label(x, y, part, height, f"{i},{j}" if j < columns else "0", "white" if j < columns else DONE,
                          "black" if j < columns else "#777777", 12, line=0.5)
        for texel in range(texels):
            drawing.box(place(texel), y, 4 * part, height, "none", line=2)
    y = top + rows * height + 26
    drawing.box(left, y - 12, 18, 15, MULTIPLIER)
    drawing.text(left + 26, y, "red: the multiplier of row i", 12, "start")
    drawing.box(left + 235, y - 12, 18, 15, NEXT)
    drawing.text(left + 261, y, "blue: row i's element of the next column, reduced", 12, "start")
    drawing.box(left + 590, y - 12, 18, 15, DONE)
    drawing.text(left + 616, y, "padding", 12, "start")

    y = 330
    for x, odd, even in ((150, "front", "back"), (480, "back", "front")):
        drawing.label(x, y - 20, 70, 46, ["A", odd], "#eeeeee", size=13)
        drawing.label(x + 130, y - 20, 70, 46, ["B", even], "#eeeeee", size=13)
        ends = ((x + 72, y + 3), (x + 128, y + 3))
        drawing.arrow(*(ends if odd == "front" else ends[::-1]))
    drawing.text(250, y + 50, "step j: A is read, B is drawn", 12)
    drawing.text(580, y + 50, "step j + 1: exchanged", 12)
    drawing.text(415, y + 7, "then", 13, italic=True)
    return drawing


def step():
    """Step j = 2 of a panel of eight rows: the largest candidate is in row 5."""
    rows, height, j, pivot = 8, 30, 2, 5
    drawing = Drawing(820, 412, "Rows change places while they are drawn")
    top = 74
    front, back, extra, wide = 60, 470, 46, 200
    drawing.text(front + (extra + wide) / 2, 26, "front texture: read", bold=True)
    drawing.text(back + (extra + wide) / 2, 26, "back texture: drawn", bold=True)

    for x in (front, back):
        drawing.text(x + extra / 2, 62, "extra", 11)
        drawing.text(x + extra + 8 + wide / 2, 62, "matrix", 11)
    for i in range(rows):
        y = top + i * height
        fill = DONE if i < j else {j: TOP_ROW, pivot: PIVOT_ROW}.get(i, "white")
        words = f"row {i}: of U" if i < j else {j: f"row {i}: top", pivot: f"row {i}: pivot"}.get(i, f"row {i}")
        drawing.box(front, y, extra, height, "#f5f5f5", line=0.6)
        drawing.label(front + extra + 8, y, wide, height, words, fill, size=12)
        source = {j: pivot, pivot: j}.get(i, i)
        fill = DONE if i < j else {j: PIVOT_ROW, pivot: TOP_ROW}.get(i, "white")
        words = (f"row {i}: of U" if i < j else f"row {pivot} as it was: of U" if i == j
                 else f"row {source} - m{i} · row {pivot}")
        drawing.label(back, y, extra, height, f"m{i} | n{i}" if i > j else "", MULTIPLIER if i > j else "#f5f5f5",
                      size=10, line=0.6)
        drawing.label(back + extra + 8, y, wide, height, words, fill, size=12)
        if i >= j:
            drawing.arrow((front + extra + wide + 12, top + source * height + height / 2),
                          (back - 4, y + height / 2), width=2.2 if source != i else 1,
                          colour="black" if source != i else "#8a8a8a")
    y = top + rows * height + 28
    drawing.text(60, y, "Arrows: which row the texture coordinates of a rectangle's vertices point to. Rows 3, 4 and 6, 7"
                 " read themselves;", 12, "start")
    drawing.text(60, y + 18, "row 2's place reads row 5, and row 5's place row 2. All places below the top read the pivot "
                 "row, too, and their", 12, "start")
    drawing.text(60, y + 36, "multiplier. First the extra column is drawn (m, n), then the matrix, which reads m from a "
                 "copy: nothing that", 12, "start")
    drawing.text(60, y + 54, "is being drawn is read.", 12, "start")
    return drawing


def overlap():
    """Two steps in time. The host looks for the next pivot while the device reduces."""
    drawing = Drawing(820, 300, "Read-back and the search for the pivot hide behind the reduction")
    lanes = {"GPU": 46, "copy (PBO)": 106, "CPU": 166}
    height = 38
    for name, y in lanes.items():
        drawing.text(16, y + 24, name, anchor="start", bold=True)
        drawing.line([(110, y + height), (800, y + height)], width=0.5, colour="#999999")
    drawing.text(800, 24, "time →", anchor="end")
    for i, x in enumerate((120, 440)):
        j = "j" if i == 0 else "j+1"
        y = lanes["GPU"]
        drawing.label(x, y, 74, height, ["column", f"m, n of {j}"], MULTIPLIER, size=11, line=0.6)
        drawing.label(x + 74, y, 240, height, ["reduce the rest: four columns a texel,", f"rows exchanged, step {j}"],
                      ROLES["reduce"], size=11, line=0.6)
        y = lanes["copy (PBO)"]
        drawing.label(x + 78, y, 66, height, ["extra", "column"], MULTIPLIER, size=11, line=0.6)
        drawing.label(x + 318, y, 42 if i else 60, height, ["row", "of U"], PIVOT_ROW, size=11, line=0.6)
        y = lanes["CPU"]
        drawing.label(x + 150, y, 110, height, ["largest |n|:", "pivot of " + ("j+1" if i == 0 else "j+2")], NEXT, size=11,
                      line=0.6)
        drawing.arrow((x + 74, lanes["GPU"] + height), (x + 82, lanes["copy (PBO)"]))
        drawing.arrow((x + 144, lanes["copy (PBO)"] + height), (x + 154, lanes["CPU"]))
        drawing.arrow((x + 314, lanes["GPU"] + height), (x + 322, lanes["copy (PBO)"]))
    drawing.arrow((380, lanes["CPU"] + 19), (506, lanes["CPU"] + 19), (506, lanes["GPU"] + height + 1))
    drawing.text(120, 240, "A fence stands behind each copy; the host waits for that fence alone, never for all work "
                 "(no glFinish).", 12, "start")
    drawing.text(120, 258, "The next step needs the pivot, which is known before the reduction ends: the GPU goes on without "
                 "a pause.", 12, "start")
    drawing.text(120, 276, "Rows of U arrive while later steps are drawn; they are waited for once, at the end.", 12,
                 "start")
    return drawing


FIGURES = {
    "distribution.svg": block_cyclic,
    "roles.svg": roles,
    "messages.svg": messages,
    "waiting.svg": waiting,
    "raster-texture.svg": texture,
    "raster-step.svg": step,
    "raster-overlap.svg": overlap,
}


def main():
    arguments = sys.argv[1:]
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-") and arguments[0] != "--check"):
        print(__doc__, file=sys.stderr)
        return 2
    check = arguments == ["--check"]
    default = pathlib.Path(__file__).resolve().parents[1] / "docs" / "figures"
    folder = default if check or not arguments else pathlib.Path(arguments[0])
    stale = []
    for name, draw in FIGURES.items():
        text = draw().svg()
        if check:
            if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    if stale:
        print(f"not as drawn: {', '.join(stale)}; draw them with scripts/figures.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
