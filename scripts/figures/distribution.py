"""How blocks are dealt out, and what each rank does in a pass."""
from svg import DONE, ON_ROLES, ROLES, Drawing

RANK_TINTS = ("#ffffff", "#dbe7f3", "#f6e3d3", "#c9d3c4")


def owner(block_row, block_column, rows, columns):
    """src/global/matrix/distribution.hpp: block b belongs to process b mod P."""
    return block_row % rows, block_column % columns


def role(process, pivot):
    """src/global/lu/schedule.cpp, role_in_pass()."""
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
