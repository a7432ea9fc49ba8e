"""Blocks of Markdown: equal to markdown-it-py's, native equal to the reference, right on odd input."""

import bisect
import gzip
import json
import os
import re
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_oracle import Leaf, leaves

from pychunk._engine.data.blocks import BLOCK_KINDS, Blocks
from pychunk._engine.reference.parsing import markdown as reference
from pychunk._engine.reference.parsing import markdown_lines
from pychunk.io import open_source
from pychunk.io.document_batches import DeadLetter
from pychunk.io.formats import markdown_files
from pychunk.parsing.block_columns import BLOCKS_TYPE, blocks_from_arrow
from pychunk.parsing.markdown import blocks_of, heading_text, titles_of

Row = tuple[str, int, int, int]


def rows_of(blocks: Blocks) -> list[list[Row]]:
    kinds = [BLOCK_KINDS[kind] for kind in blocks.kind]
    rows = list(zip(kinds, blocks.level.tolist(), blocks.start.tolist(), blocks.end.tolist(), strict=True))
    return [rows[begin:end] for begin, end in zip(blocks.offsets[:-1], blocks.offsets[1:], strict=True)]


def rows(text: str) -> list[Row]:
    return rows_of(blocks_of([text]))[0]


def told(text: str) -> list[tuple[str, int, str]]:
    """Return (kind, level, text) of each block."""
    return [(kind, level, text[start:end]) for kind, level, start, end in rows(text)]


def by_lines(text: str) -> list[Leaf]:
    """Return the oracle's form: by first and last line."""
    begins = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]
    line = [(bisect.bisect(begins, start) - 1, bisect.bisect(begins, end - 1) - 1) for _, _, start, end in rows(text)]
    return [Leaf(kind, level, *lines) for (kind, level, *_), lines in zip(rows(text), line, strict=True)]


# ---- combinations of all elements of Markdown ----

TOKENS = [
    *(
        "a",
        "b",
        " ",
        "  ",
        "    ",
        "\t",
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "\0",
        "é",
        "中",
        "\xa0",
        "\x0b",
        "\x1f",
        "\ufeff",
    ),
    *(
        "> ",
        ">",
        "- ",
        "-",
        "* ",
        "+ ",
        "1. ",
        "2. ",
        "10) ",
        "1.",
        "- - ",
        "> - ",
        "1. > ",
        "   ",
        "     ",
        "     code",
    ),
    *("#", "# ", "## x", "```", "~~~", "````", "---", "***", "===", "_", "`", "+++", "...", "title: x\n", "foo\n"),
    *(
        "|",
        "|-|",
        "--|--",
        "-|-",
        ":-|",
        "| a | b |\n|---|---|\n",
        "<div>",
        "<pre>",
        "</pre>",
        "<!-- ",
        "-->",
        "<?",
        "?>",
    ),
    *("<a b='c'>", "<a\xa0b=c\xa0d=e>", "</b >", "<!X", "]]>", "<![CDATA[", "<table>", "<td>", "<script>", "</style>"),
    *(
        "$$",
        "$$ x=1 $$",
        "\\[",
        "\\]",
        "\\begin{align*}",
        "\\end{align}",
        "\\end{cases}",
        "[^a]: ",
        "[^b]:",
        ": ",
        ":\t",
        ":   x",
    ),
    *(
        "<h1>",
        "</h1>",
        "<H2 a>",
        "</h2>",
        "<h1",
        "import a from 'b';",
        "export const a",
        "| a |\n| b |\n|---|",
        ";;;",
        "{",
        "}",
        '"',
    ),
    *("[a]: b", "[a]:", '"t"', "'t", "(t)", "[", "]", "\\", ":", "x\\", "[a]: <b c>", "[a]: b(c)d 'e'", '""', "\u2028"),
]
SOUP = st.lists(st.sampled_from(TOKENS), max_size=40).map("".join)
LEAVES = [
    *(
        "plain text",
        "two\nlines",
        "# heading",
        "###### six ##",
        "####### seven",
        "setext\n===",
        "two\nlines\n---",
        "\\# no",
    ),
    *(
        "```py\n# no heading\n```",
        "~~~\nnever closed",
        "    indented\n\n    code",
        "***",
        "- - -",
        "-",
        "1.",
        "",
        "|",
        "\\",
    ),
    *("<div>\n*a*\n</div>", "<pre>\n\nx\n</pre>", "<!-- a\n\nb -->", "<table>\n<tr>", "<b>\n\nx"),
    *("[a]: /b 'c'", '[a]:\n/b\n"c\nd"', '[a]: b "c', "[x]\n: y", "text\n- item", "text\n2. item", "text\n1. item"),
    *("$$\nm\n=\nc\n$$", "text\n$$\nx\n-\n$$\nmore", "\\[\nx\n\n\\]", "$$ a^2 $$", "\\begin{cases}\n---\n\\end{cases}"),
    *(
        "term\n: text\n: more",
        "term\n\n:   text\n\n    more",
        "[^a]: note\n[^b]: note\n\n    more",
        "import a from 'b'\nx",
    ),
    *("<div>\n<h1>a</h1>b\n</div>", "<h2>\na</h2>", "<h1>a\n\nb</h1>", "|a|\n|b|\n|-|\n|c|", "|a|\n|b|c|\n|-|-|"),
    *("a | b\n--|--", "| a | b |\n|:--|--:|\n| 1 |", "| a |\n|--|--|\n| 1 |"),
]
LEAF = st.sampled_from([leaf.split("\n") for leaf in LEAVES])
INDENT = st.sampled_from(["", "", "", " ", "   ", "    ", "\t", " \t"])


@st.composite
def quoted(draw: st.DrawFn, inside: st.SearchStrategy[list[str]]) -> list[str]:
    marks = st.sampled_from(["> ", "> ", ">", ">\t", "", " > "])
    lines = draw(inside)
    return ["> " + lines[0], *(draw(marks) + line for line in lines[1:])]


@st.composite
def listed(draw: st.DrawFn, inside: st.SearchStrategy[list[str]]) -> list[str]:
    mark = draw(st.sampled_from(["-", "*", "+", "1.", "2)", "10."])) + draw(
        st.sampled_from([" ", "  ", "\t", "      "])
    )
    width = draw(st.sampled_from([len(mark.expandtabs(4)), len(mark), 2, 0]))
    lines = draw(inside)
    return [mark + lines[0], *(" " * width + line if line else "" for line in lines[1:])]


@st.composite
def together(draw: st.DrawFn, inside: st.SearchStrategy[list[str]]) -> list[str]:
    parts = draw(st.lists(inside, min_size=1, max_size=4))
    lines: list[str] = []
    for part in parts:
        lines += [""] * draw(st.sampled_from([0, 1, 1, 1, 2])) if lines else []
        lines += part
    indent = draw(INDENT)
    return [indent + line if line else "" for line in lines]


DOCUMENT = st.recursive(
    LEAF, lambda inside: st.one_of(quoted(inside), listed(inside), together(inside), together(inside)), max_leaves=12
).map("\n".join)
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r"])
MARKDOWN = st.one_of(SOUP, st.tuples(DOCUMENT, ENDS).map(lambda drawn: drawn[0].replace("\n", drawn[1])))


#: Lines with syntax that CommonMark does not have: formulas, notes, definitions, modules, headings in HTML, a table
#: with two header rows, front matter that is an object.
ADDED = re.compile(
    r"\$\$|\\\[|\\begin|\[\^|:[ \t]+\S|import |export |<[hH][1-6]|\A\s*(;;;|\{|---|\+\+\+)"
    r"|\|.*(\r\n?|\n)[^|\r\n]*\|.*(\r\n?|\n)[^|\r\n]*\|[ \t]*[:-]"
)


def is_common(text: str) -> bool:
    return ADDED.search(text.removeprefix("\ufeff")) is None


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(MARKDOWN.filter(is_common))
def test_blocks_are_those_of_markdown_it(text: str) -> None:
    pytest.importorskip("markdown_it")
    assert by_lines(text) == leaves(text)


@pytest.mark.slow
@pytest.mark.long
@settings(max_examples=10_000, deadline=None)
@given(MARKDOWN.filter(is_common))
def test_blocks_are_those_of_markdown_it_often(text: str) -> None:
    pytest.importorskip("markdown_it")
    assert by_lines(text) == leaves(text)


FOLDERS = (sysconfig.get_paths()["purelib"], *(path for path in sys.path if path.endswith("site-packages")))
FOLDERS = tuple(dict.fromkeys([*FOLDERS, "/usr/share/doc"]))


def installed(pattern: str) -> list[Path]:
    """Return files that come with installed packages, by path."""
    found = []
    for folder in FOLDERS:
        for path, _, names in os.walk(folder):
            found += [Path(path, name) for name in names if re.fullmatch(pattern, name, re.IGNORECASE)]
    return sorted(set(found))


def check_files(most: int) -> None:
    pytest.importorskip("markdown_it")
    files = installed(r".*\.(md|markdown)")
    if not files:
        pytest.skip("no installed package has a Markdown file")
    read = 0
    for file in files:
        if not file.is_file() or (read := read + file.stat().st_size) > most:
            continue
        text = file.read_bytes().decode(errors="replace")
        if is_common(text):
            assert by_lines(text) == leaves(text), file
        assert rows(text) == named(reference.blocks(text)), file


@pytest.mark.slow
def test_files_of_installed_packages() -> None:
    check_files(1_000_000)


@pytest.mark.slow
@pytest.mark.long
def test_all_files_of_installed_packages() -> None:
    check_files(10**9)


def test_examples_of_commonmark() -> None:
    pytest.importorskip("markdown_it")
    files = installed(r"commonmark.*\.json|spec.*\.json")
    examples = [case["markdown"] for file in files for case in json.loads(file.read_bytes()) if "markdown" in case]
    if not examples:
        pytest.skip("no installed package ships CommonMark's examples (commonmark.json)")
    for text in examples:
        assert by_lines(text) == leaves(text)


# ---- native and reference ----


def named(found: list[tuple[int, int, int, int]]) -> list[Row]:
    return [(BLOCK_KINDS[kind], *rest) for kind, *rest in found]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(MARKDOWN, st.text()), max_size=5), st.integers(1, 4))
def test_native_equals_reference(texts: list[str], threads: int) -> None:
    found = rows_of(blocks_of(texts, threads=threads))
    assert found == [named(reference.blocks(text)) for text in texts]


@pytest.mark.slow
@pytest.mark.long
@settings(max_examples=10_000, deadline=None)
@given(MARKDOWN)
def test_native_equals_reference_often(text: str) -> None:
    assert rows(text) == named(reference.blocks(text))


@settings(deadline=None)
@given(st.one_of(MARKDOWN, st.text()))
def test_blocks_rise_and_end_with_text(text: str) -> None:
    before = 0
    for kind, level, start, end in rows(text):
        assert before <= start < end
        assert text[end - 1] not in " \t\r\n"
        assert kind == "code" or text[start] not in " \t\r\n"
        assert (level > 0) == (kind in ("heading", "item", "quote"))
        before = end


def test_slices_of_arrow_arrays() -> None:
    texts = ["# a", "", "é\n\n# b", "- c"]
    for array in (pa.array(texts), pa.array(texts, pa.large_string()), pa.chunked_array([texts[:1], texts[1:]])):
        assert rows_of(blocks_of(array[1:])) == rows_of(blocks_of(texts[1:]))
    assert rows_of(blocks_of([])) == []


def test_what_is_no_text() -> None:
    with pytest.raises(ValueError, match="document 1"):
        blocks_of(["a", None])
    with pytest.raises(TypeError):
        blocks_of("# a")
    with pytest.raises(TypeError):
        blocks_of([1])
    broken = pa.Array.from_buffers(
        pa.large_string(), 1, [None, pa.py_buffer(np.array([0, 2], np.int64)), pa.py_buffer(b"\xe4\xb8")]
    )
    with pytest.raises(ValueError, match="UTF"):
        blocks_of(broken)


# ---- odd input ----


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\ufeff# A\nb", [("heading", 1, "\ufeff# A"), ("paragraph", 0, "b")]),
        ("\ufeff\n# A", [("heading", 1, "# A")]),
        ("\ufeff<h2>\nA</h2> b", [("heading", 2, "\ufeff<h2>\nA</h2>"), ("paragraph", 0, "b")]),
        ("\n[^b]:<h2></h2>", [("paragraph", 0, "[^b]:<h2></h2>")]),
        ("<h1>\n>\n</h1>", [("heading", 1, "<h1>\n>\n</h1>")]),
        ("```\n# a\n```\nb", [("code", 0, "```\n# a\n```"), ("paragraph", 0, "b")]),
        ("a\n~~~\n# b\n\n- c\n\n", [("paragraph", 0, "a"), ("code", 0, "~~~\n# b\n\n- c")]),
        ("# a\n#### b", [("heading", 1, "# a"), ("heading", 4, "#### b")]),
        ("a\r\n=\r\n- b\r\n  c\r\n", [("heading", 1, "a\r\n="), ("item", 1, "- b\r\n  c")]),
        ("a\rb\r\r# c\r", [("paragraph", 0, "a\rb"), ("heading", 1, "# c")]),
        ("-\ta\n\n\tb\n\n\t\tc", [("item", 1, "-\ta"), ("paragraph", 0, "b"), ("code", 0, "\t\tc")]),
        ("\0\n# \0", [("paragraph", 0, "\0"), ("heading", 1, "# \0")]),
        ("    a\n      b\n\n    c\nd", [("code", 0, "    a\n      b\n\n    c"), ("paragraph", 0, "d")]),
        (
            "- a\n  - b\n\n    c\n- - d",
            [("item", 1, "- a"), ("item", 2, "- b"), ("paragraph", 0, "c"), ("item", 2, "- - d")],
        ),
        ("-\n- ***\n- ```\n  x", [("item", 1, "-"), ("item", 1, "- ***"), ("code", 0, "- ```\n  x")]),
        ("> a\nb\n>> c\n\nd", [("quote", 1, "> a\nb"), ("quote", 2, ">> c"), ("paragraph", 0, "d")]),
        ("> - a\n>\n>   b", [("item", 1, "> - a"), ("quote", 1, ">   b")]),
        ("|a|b|\n|-|-|\n|1|\nx\n\ny", [("table", 0, "|a|b|\n|-|-|\n|1|\nx"), ("paragraph", 0, "y")]),
        ("|a|b|\n|-|\n", [("paragraph", 0, "|a|b|\n|-|")]),
        ("<table>\n<tr>\n\n<td>\n", [("table", 0, "<table>\n<tr>"), ("table", 0, "<td>")]),
        ("<PRE>\n\n# a\n</PRE>b\nc", [("code", 0, "<PRE>\n\n# a\n</PRE>b"), ("paragraph", 0, "c")]),
        ("<!--\n\n# a -->\n# b", [("paragraph", 0, "<!--\n\n# a -->"), ("heading", 1, "# b")]),
        ("a\n\n[b]: c\n  'd'\n\n---\n\ne", [("paragraph", 0, "a"), ("paragraph", 0, "e")]),
        ("---\na: b\n\nc: d\n...\n# e", [("front_matter", 0, "---\na: b\n\nc: d\n..."), ("heading", 1, "# e")]),
        ("\ufeff+++\na = 1\n+++  \nb", [("front_matter", 0, "\ufeff+++\na = 1\n+++"), ("paragraph", 0, "b")]),
        ("---\n\na\n\n---\n", [("paragraph", 0, "a")]),
        ("---\na\n", [("paragraph", 0, "a")]),
        ("---\na\n+++\n", [("paragraph", 0, "a\n+++")]),
        ("\n---\na\n---\n", [("heading", 2, "a\n---")]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_odd_input(text: str, found: list[tuple[str, int, str]]) -> None:
    assert told(text) == found


def test_containers_that_are_too_deep_are_text() -> None:
    deepest = markdown_lines.DEEPEST
    assert told(">" * deepest + " a") == [("quote", deepest, ">" * deepest + " a")]
    assert told(">" * 100 + "a\n" + ">" * 100) == [("quote", deepest, ">" * 100 + "a\n" + ">" * 100)]
    assert told("- " * 100 + "a") == [("item", deepest, "- " * 100 + "a")]


#: Text that takes quadratic time in a scanner that looks back, or ahead, for each line.
HOSTILE = {
    "lazy lines of deep quotes": "> " * 40 + "a\n" + "b\n" * 200_000,
    "quotes that end at once": "> > a\n    - b\n" * 30_000,
    "nested quotes": (">" * 40 + "a\n") * 10_000,
    "lists that begin again": ("- " * 30 + "a\n\nb\n") * 7_000,
    "one line of lists": "- " * 200_000 + "a",
    "blank lines in a deep list": "- " * 40 + "a\n" + "\n" * 400_000,
    "carriage returns": "a\r" * 200_000,
    "a carriage return, then none": "\r" + "a\n" * 200_000,
    "titles that are never closed": "[a]: b \"x\n[a]: b 'x\n" + "[a]: b (x\n" * 40_000,
    "titles opened again and again": ("[a]: b '\n" + "c\n" * 50) * 4_000,
    "labels that are never closed": "[a\n" * 100_000,
    "a destination of brackets": "[a]: " + "(" * 400_000,
    "delimiter rows": "|-|-|\n" * 70_000,
    "a long delimiter row": "|-" * 200_000 + "\n" + "|-" * 200_000,
    "attributes": "<a" + " b=c" * 100_000,
    "attributes in quotes": "<a" + " b='c'" * 70_000 + "\n",
    "comments never closed": "<!-- \n" * 70_000,
    "backticks": "`" * 400_000 + "x`",
    "fences": "```\n" * 100_000,
    "front matter never closed": "---\na: b\n" + "a: b\n" * 80_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_linear_time(text: str) -> None:
    begun = time.process_time()
    blocks_of([text])
    assert time.process_time() - begun < 2  # at most 0.3 s here; quadratic time would take minutes


# ---- titles ----


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("a\n\n## b\n\n# c #\n\n# d", "c"),
        ("---\ntitle: 'a: b'\nx: 1\n---\n## c", "a: b"),
        ("---\r\nx: 1\r\ntitle: a\r\n---\r\n", "a"),
        ('+++\ntitle = "a"\n+++\n# b', "b"),
        ("---\nsub:\n  title: a\n---\n", None),
        ("#\n\n# a", "a"),
        ("a\nb\n===", "a b"),
        ("> a\n> ===", None),
        ("\ufeff# a", "a"),
        ("```\n# a\n```", None),
        ("", None),
    ],
)
def test_titles(text: str, title: str | None) -> None:
    assert titles_of([text, "", text], blocks_of([text, "", text])) == [title, None, title]


def test_text_of_headings() -> None:
    assert [heading_text(source) for source in ("###### a#b ##", "- ## c", "# \\#", "#", "b\n  ---")] == [
        "a#b",
        "c",
        "#",
        "",
        "b",
    ]


# ---- files ----


def test_files_have_blocks_and_titles(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf# A\r\n\r\n- b\r\n")
    (tmp_path / "b.MARKDOWN.gz").write_bytes(gzip.compress("---\ntitle: Ä\n---\nc".encode()))
    (tmp_path / "c.mkd").write_bytes(b"")
    (tmp_path / "d.md").write_bytes(b"\xff")
    (tmp_path / "e.txt").write_text("# e")
    letters: list[DeadLetter] = []
    source = open_source(tmp_path, dead_letters=letters.append)
    markdown, text = (batch.table for batch in source)
    assert source.kind == "markdown, text"
    assert [(letter.source, letter.reason) for letter in letters] == [
        (str(tmp_path / "d.md"), "invalid UTF-8 at byte 0")
    ]
    assert markdown["text"].to_pylist() == ["# A\r\n\r\n- b\r\n", "---\ntitle: Ä\n---\nc", ""]
    assert markdown["title"].to_pylist() == ["A", "Ä", None]
    assert markdown.schema.field("blocks").type == BLOCKS_TYPE
    assert rows_of(blocks_from_arrow(markdown["blocks"])) == [rows(text) for text in markdown["text"].to_pylist()]
    assert markdown["blocks"][0][1].as_py() == dict.fromkeys(("source_start", "source_end", "page", "box")) | {
        "kind": "item", "level": 1, "start": 7, "end": 10, "markup": True
    }  # fmt: skip
    assert text.column_names == ["id", "text", "file"]


def test_markdown_is_text_for_those_who_ask(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A")
    (tmp_path / "b.txt").write_text("b")
    for path, texts in ((tmp_path, ["# A", "b"]), (tmp_path / "a.md", ["# A"])):
        (batch,) = open_source(path, kind="text")
        assert batch.table["text"].to_pylist() == texts
        assert batch.table.column_names == ["id", "text", "file"]
    (batch,) = open_source(tmp_path, kind="markdown")
    assert batch.table["title"].to_pylist() == ["A"]


def test_files_that_are_too_long_have_no_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown_files, "MAX_BYTES", 3)
    (tmp_path / "a.md").write_text("# A")
    (tmp_path / "b.md").write_text("# Bé")
    (batch,) = open_source(tmp_path)
    assert batch.table["title"].to_pylist() == ["A", None]
    assert batch.table["blocks"].is_valid().to_pylist() == [True, False]


def test_a_long_file_takes_seconds(tmp_path: Path) -> None:
    section = (
        "## Section {}\n\n"
        + "Words of a paragraph, more or less. " * 10
        + "\n\n- a\n- b\n\n| c | d |\n|---|---|\n| é | f |\n\n"
    )
    for sections in (10_000, 20_000):
        (tmp_path / "a.md").write_text("# T\n\n" + "".join(section.format(i) for i in range(sections)))
        begun = time.process_time()
        (batch,) = open_source(tmp_path / "a.md")
        assert time.process_time() - begun < 5  # 0.1 s and 0.2 s here
        assert len(batch.table["blocks"][0]) == 1 + 5 * sections
