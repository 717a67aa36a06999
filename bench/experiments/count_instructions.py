#!/usr/bin/env python3
"""Count multiply-add instructions in the machine code of NVIDIA's shader cache: count_instructions.py CACHE_DIRECTORY

One line per program: its NV assembly instructions, then the machine instructions the driver made of them. Needs zstd.
Instructions of Volta and later have 16 bytes; the lowest nine bits are the opcode.
"""
import collections
import pathlib
import re
import struct
import subprocess
import sys

OPCODES = {0x031: "HFMA2", 0x035: "HFMA2.MMA", 0x030: "HADD2", 0x023: "FFMA", 0x02B: "DFMA"}
ZSTANDARD_FRAME = bytes.fromhex("28b52ffd")


def frame_bytes(data: bytes, start: int) -> bytes:
    """The content of one zstd frame; its length stands in the frame's header (RFC 8878, 3.1.1.1)."""
    descriptor = data[start + 4]
    size_flag, single_segment, dictionary_flag = descriptor >> 6, descriptor >> 5 & 1, descriptor & 3
    at = start + 5 + (1 - single_segment) + [0, 1, 2, 4][dictionary_flag]
    width = [single_segment, 2, 4, 8][size_flag]
    size = int.from_bytes(data[at : at + width], "little") + (256 if width == 2 else 0)
    content = subprocess.run(["zstd", "-dc"], input=data[start:], capture_output=True, check=False).stdout
    return content[:size]


def instruction_counts(code: bytes) -> collections.Counter:
    counts = collections.Counter()
    for at in range(0, len(code) - 15, 16):
        word = struct.unpack_from("<H", code, at)[0]
        name = OPCODES.get(word & 0x1FF)
        if name and word >> 9 & 7:
            counts[name] += 1
    return counts


def main() -> None:
    for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.bin")):
        data = path.read_bytes()
        sources = [match.start() for match in re.finditer(rb"!!NVcp", data)]
        for match in re.finditer(re.escape(ZSTANDARD_FRAME), data):
            before = [start for start in sources if start < match.start()]
            assembly = data[before[-1] : match.start()] if before else b""
            wanted = {name: assembly.count(name.encode()) for name in ("MAD.F16", "MAD.F32", "MAD.F64")}
            made = instruction_counts(frame_bytes(data, match.start()))
            print(", ".join(f"{name} {count}" for name, count in wanted.items() if count), "->",
                  ", ".join(f"{name} {count}" for name, count in sorted(made.items())))


if __name__ == "__main__":
    main()
