"""The generator of grapheme_tables.inc, the characters that never begin a grapheme cluster.

    python csrc/text/grapheme_tables.py            # rewrites csrc/text/grapheme_tables.inc

The characters come from Python's unicodedata. They are all marks (Mn, Me, and Mc except some that begin a cluster),
joiners, skin tones, tags and halfwidth voice marks. In UAX 29 these are the values Extend, SpacingMark and ZWJ of
Grapheme_Cluster_Break.
"""

import unicodedata
from pathlib import Path

#: The spacing marks that begin a cluster (UAX 29, table 2).
ALONE = {
    *(0x102B, 0x102C, 0x1038, *range(0x1062, 0x1065), *range(0x1067, 0x106E), 0x1083, *range(0x1087, 0x108D), 0x108F),
    *(*range(0x109A, 0x109D), 0x1A61, 0x1A63, 0x1A64, 0xAA7B, 0xAA7D, 0x11720, 0x11721),
}
MORE = {0x200C, 0x200D, 0xFF9E, 0xFF9F, 0xE33, 0xEB3, *range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080)}


def extends(c: int) -> bool:
    """Return whether a character never begins a grapheme cluster."""
    return c in MORE or (unicodedata.category(chr(c)) in ("Mn", "Me", "Mc") and c not in ALONE)


def main() -> None:
    """Write grapheme_tables.inc."""
    runs: list[list[int]] = []
    for c in range(0x110000):
        if not extends(c):
            continue
        if runs and runs[-1][1] == c - 1:
            runs[-1][1] = c
        else:
            runs.append([c, c])
    cells = [f"{value:#x}," for run in runs for value in run]
    lines, line = [], ""
    for cell in cells:
        if len(line) + len(cell) > 110:
            lines.append(line)
            line = ""
        line += cell
    body = "\n".join([*lines, line])
    Path(__file__).with_name("grapheme_tables.inc").write_text(
        f"// Written by grapheme_tables.py from Unicode {unicodedata.unidata_version}; do not edit.\n\n"
        f"// first, last\nconstexpr uint32_t kExtendRuns[] = {{\n{body}\n}};\n"
    )


if __name__ == "__main__":
    main()
