"""Which ranks wait for which: the operations and messages of a pass with local pivoting, as
`glinpack plu --explain-pass K --json FILE` records them. GLINPACK in the environment names the program."""
import json
import os
import pathlib
import subprocess
import tempfile

from distribution import owner, role
from svg import ON_ROLES, ROLES, Drawing

GLINPACK = os.environ.get("GLINPACK", str(pathlib.Path(__file__).parents[2] / "build" / "release" / "bin" / "glinpack"))
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
