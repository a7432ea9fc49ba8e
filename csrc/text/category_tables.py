"""The generator of category_tables.inc, the categories that patterns of byte-level tokenizers distinguish.

The regular expressions of such tokenizers run in two Rust crates. `tokenizers` uses Oniguruma and tiktoken uses
fancy-regex, each with its own version of Unicode. The generator probes the installed `tokenizers`, and
tests/tokenizers/test_byte_pair.py compares the tables with tiktoken:

    python csrc/text/category_tables.py            # rewrites csrc/text/category_tables.inc
    python csrc/text/category_tables.py --check    # exit status 1 if the file differs from the package
"""

import sys
from pathlib import Path

import tokenizers
from tokenizers import Regex, pre_tokenizers

#: The flags of csrc/text/categories.h, by the characters that have them.
FLAGS = {r"[\p{Lu}\p{Lt}]": 1, r"\p{Ll}": 2, r"[\p{Lm}\p{Lo}]": 4, r"\p{M}": 8, r"\p{N}": 16, r"\s": 32}
#: The number of characters that are probed at once.
AT_ONCE = 50_000


def flags() -> dict[int, int]:
    """Return the flags of every code point that has any."""
    every = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    found: dict[int, int] = {}
    for pattern, flag in FLAGS.items():
        split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
        for first in range(0, len(every), AT_ONCE):
            for piece, _ in split.pre_tokenize_str("".join(every[first : first + AT_ONCE])):
                found |= {ord(c): found.get(ord(c), 0) | flag for c in piece}
    return found


def render() -> str:
    """Return the content of category_tables.inc."""
    runs: list[list[int]] = []
    for c, value in sorted(flags().items()):
        if runs and runs[-1][1] == c - 1 and runs[-1][2] == value:
            runs[-1][1] = c
        else:
            runs.append([c, c, value])
    lines, line = [], ""
    for cell in (f"{value:#x}," for run in runs for value in run):
        if len(line) + len(cell) > 110:
            lines.append(line)
            line = ""
        line += cell
    body = "\n".join([*lines, line])
    return (
        f"// Written by category_tables.py from tokenizers {tokenizers.__version__}; do not edit.\n\n"
        f"// first, last, flags\nconstexpr uint32_t kCategoryRuns[] = {{\n{body}\n}};\n"
    )


if __name__ == "__main__":
    target = Path(__file__).with_name("category_tables.inc")
    text = render()
    if sys.argv[1:] == ["--check"]:
        sys.exit(target.read_text() != text)
    target.write_text(text)
