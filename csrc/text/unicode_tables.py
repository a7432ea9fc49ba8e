"""The generator of unicode_tables.inc, the properties that Hugging Face `tokenizers` gives every code point.

The Rust crates in `tokenizers` each have their own version of Unicode, none of them Python's. The generator therefore
probes the installed package instead of reading unicodedata:

    python csrc/text/unicode_tables.py            # rewrites csrc/text/unicode_tables.inc
    python csrc/text/unicode_tables.py --check    # exit status 1 if the file differs from the package
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import tokenizers
from tokenizers import normalizers, pre_tokenizers

OTHER, WHITE, CHINESE, MARK, PUNCTUATION = 1, 2, 4, 8, 16
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def bert(**on: bool) -> normalizers.Normalizer:
    """Return BERT's normalizer with only the named steps switched on."""
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    return normalizers.BertNormalizer(**{**off, **on})


def combining_classes(decompose: normalizers.Normalizer) -> dict[int, int]:
    """Return for each mark a rank that sorts like its canonical combining class, without starters.

    A mark moves before another one exactly if its class is lower. The marks that it passes therefore give its rank.
    """
    highest, common = "\u0345", "\u0301"
    marks = [
        c
        for c in CODE_POINTS
        if len(decompose.normalize_str(chr(c))) == 1
        and chr(c) == decompose.normalize_str(chr(c))
        and (
            (decompose.normalize_str("a" + highest + chr(c)) == "a" + chr(c) + highest and chr(c) != highest)
            or (decompose.normalize_str("a" + chr(c) + common) == "a" + common + chr(c) and chr(c) != common)
        )
    ]
    # The classes, in ascending order. The first member of each class represents it.
    classes: list[list[int]] = []
    for c in marks:
        for at, members in enumerate(classes):
            other = chr(members[0])
            if decompose.normalize_str("a" + other + chr(c)) == "a" + chr(c) + other:
                classes.insert(at, [c])  # passes `other`, but nothing before it
                break
            if decompose.normalize_str("a" + chr(c) + other) == "a" + chr(c) + other:
                members.append(c)
                break
        else:
            classes.append([c])
    return {c: rank for rank, members in enumerate(classes, start=1) for c in members}


def runs(values: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Merge ascending (code point, value) pairs into (first, last, value) runs, without zero values."""
    out: list[tuple[int, int, int]] = []
    for c, value in values:
        if value and out and out[-1][1] == c - 1 and out[-1][2] == value:
            out[-1] = (out[-1][0], c, value)
        elif value:
            out.append((c, c, value))
    return out


def flags(decompose: normalizers.Normalizer) -> list[tuple[int, int]]:
    """Return (code point, flags) of every code point, as BERT's tokenizer treats it."""
    clean, chinese, strip = bert(clean_text=True), bert(handle_chinese_chars=True), bert(strip_accents=True)
    split = pre_tokenizers.BertPreTokenizer()
    found = []
    for c in CODE_POINTS:
        s = f"a{chr(c)}a"
        value = OTHER if clean.normalize_str(s) == "aa" else 0
        pieces = [piece for piece, _ in split.pre_tokenize_str(s)]
        value |= WHITE if pieces == ["a", "a"] else PUNCTUATION if len(pieces) == 3 else 0
        value |= CHINESE if chinese.normalize_str(s) == f"a {chr(c)} a" else 0
        value |= MARK if strip.normalize_str(s) == "aa" and decompose.normalize_str(s) == s else 0
        found.append((c, value))
    return found


def mappings(normalizer: normalizers.Normalizer) -> list[tuple[int, ...]]:
    """Return (code point, its replacement's code points) of the code points that a normalizer changes."""
    found = []
    for c in CODE_POINTS:
        mapped = normalizer.normalize_str(chr(c))
        if mapped != chr(c) and c not in HANGUL:
            found.append((c, *map(ord, mapped)))
    return found


def lowercase_runs(pairs: list[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return one-to-one mappings as (first, last, step, mapping of last), and mappings to several code points."""
    out: list[tuple[int, ...]] = []
    for c, lower in (p for p in pairs if len(p) == 2):
        if out:
            first, last, step, target = out[-1]
            if lower - c == target - last and c - last in (1, 2) and (first == last or c - last == step):
                out[-1] = (first, c, c - last, lower)
                continue
        out.append((c, c, 1, lower))
    return out, [p for p in pairs if len(p) != 2]


def array(name: str, comment: str, rows: Iterable[Iterable[int]]) -> str:
    """Return a C++ array of the rows' numbers, with a comment above it."""
    cells = [f"{value:#x}," for row in rows for value in row]
    lines, line = [], ""
    for cell in cells:
        if len(line) + len(cell) > 110:
            lines.append(line)
            line = ""
        line += cell
    body = "\n".join([*lines, line])
    return f"// {comment}\nconstexpr uint32_t {name}[] = {{\n{body}\n}};\n"


def render() -> str:
    """Return the content of unicode_tables.inc."""
    decompose = normalizers.NFD()
    one, several = lowercase_runs(mappings(bert(lowercase=True)))
    parts = [
        f"// Written by unicode_tables.py from tokenizers {tokenizers.__version__}; do not edit.\n",
        array("kFlagRuns", "first, last, flags", runs(flags(decompose))),
        array("kClassRuns", "first, last, rank of the combining class",
              runs(sorted(combining_classes(decompose).items()))),
        array("kLowerRuns", "first, last, step, lower case of the last", one),
        array("kLowerLong", "code point, count, lower case", ((p[0], len(p) - 1, *p[1:]) for p in several)),
        array("kDecompositions", "code point, count, full canonical decomposition (Hangul syllables left out)",
              ((p[0], len(p) - 1, *p[1:]) for p in mappings(decompose))),
    ]  # fmt: skip
    return "\n".join(parts)


if __name__ == "__main__":
    target = Path(__file__).with_name("unicode_tables.inc")
    text = render()
    if sys.argv[1:] == ["--check"]:
        sys.exit(target.read_text() != text)
    target.write_text(text)
