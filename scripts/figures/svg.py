"""A drawing as SVG text: boxes, words and arrows. Python's own library is all it needs."""
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
