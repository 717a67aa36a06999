"""The local algorithm on fragment shaders: how a matrix lies in textures, and a step of the pivot operation."""
from svg import DONE, ROLES, Drawing

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
