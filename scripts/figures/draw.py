#!/usr/bin/python3
"""Draws the figures of docs/algorithm.md: draw.py [FOLDER], or draw.py --check to see whether docs/figures is up to date.

The messages are those that glinpack (GLINPACK in the environment) lists; nothing is measured. With --check, exit status
1 if a file is not what would be drawn.
"""
import pathlib
import sys

import distribution
import passes
import raster

FIGURES = {
    "distribution.svg": distribution.block_cyclic,
    "roles.svg": distribution.roles,
    "messages.svg": passes.messages,
    "waiting.svg": passes.waiting,
    "raster-texture.svg": raster.texture,
    "raster-step.svg": raster.step,
    "raster-overlap.svg": raster.overlap,
}


def main():
    arguments = sys.argv[1:]
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-") and arguments[0] != "--check"):
        print(__doc__, file=sys.stderr)
        return 2
    check = arguments == ["--check"]
    default = pathlib.Path(__file__).resolve().parents[2] / "docs" / "figures"
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
        print(f"not as drawn: {', '.join(stale)}; draw them with scripts/figures/draw.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
