"""The tree of headings under every method: its properties on Markdown, HTML and PDF, and with arbitrary cuts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdfs import Page, made

import pychunk
from pychunk.chunks.batch import ChunkBatch

ROOT = Path(__file__).resolve().parents[2]
METHODS: dict[str, dict[str, Any]] = {
    "structure": {},
    "topic": {},
    "pic": {},
    "semantic": {},
    "nsp": {"encoder": "static"},
    "cluster": {},
    "fixed": {"size": 60},
    "recursive": {"size": 60},
    "sentence": {},
    "paragraph": {},
    "page": {},
}
#: Options of a budget under which chunks cut tables, lists and sentences, and repeat text.
BUDGETS: list[dict[str, Any]] = [{}, {"max_tokens": 24, "min_tokens": 0}, {"max_tokens": 60, "overlap": 12}]
TABLE = "| animal | hours |\n|---|---|\n" + "".join(f"| animal {i} | sleeps {i} hours a day |\n" for i in range(20))
MARKDOWN = f"""Before all headings.

# Cats

Cats purr. They sleep a lot, and they hunt at night.

#### Food

They eat fish. Milk is not good for them.

## Sleep

{TABLE}
They dream.

# Dogs

- bark
- run in packs, and herd sheep for as long as the shepherd wants them to do it

## Work

```
def work():
    return "guard"
```
"""


def page_of(text: str) -> str:
    parts = [f"<h{len(p) - len(p.lstrip('#'))}>{p.lstrip('# ')}</h1>" if p[0] == "#" else f"<p>{p}</p>"
             for p in text.split("\n\n") if p and p[0] not in "|`-"]  # fmt: skip
    return f"<html><body><main>{''.join(parts)}</main></body></html>"


def documents(kind: str, folder: Path) -> Any:
    if kind == "markdown":
        return pychunk.parse([MARKDOWN, (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")], "markdown")
    if kind == "html":
        return pychunk.parse([page_of(MARKDOWN)], "html", noise="off")
    page = Page()
    for y, name in ((80, "Cats"), (300, "Dogs")):
        page.put(60, y, name, 20, bold=True)
        page.lines(
            60, y + 40, [f"{name} live with people, and sleep a lot of the day in {n} places." for n in range(9)]
        )
    (folder / "a.pdf").write_bytes(made([page]))
    return pychunk.read(folder / "a.pdf")


def check(chunks: ChunkBatch) -> None:
    """Check that the tree of each document's chunks is one in preorder that covers the text."""
    for number in range(chunks.documents):
        own = chunks.by_document()[number]
        below: list[int] = []  # the ends of the subtrees that are open
        for row, chunk in enumerate(own):
            assert chunk.chunk_index == row
            while below and below[-1] <= row:
                below.pop()
            assert chunk.depth == len(below)
            assert chunk.subtree is not None
            assert row + chunk.subtree <= (below[-1] if below else len(own))
            below.append(row + chunk.subtree)
            if chunk.parent is None:
                assert chunk.depth == 0
            else:
                parent = own[chunk.parent]
                assert chunk.depth == (parent.depth or 0) + 1
                assert chunk.parent < row < chunk.parent + (parent.subtree or 0)
            assert chunk.path is not None
            assert chunk.sections is not None
            assert all(path[: len(chunk.path)] == chunk.path for path in chunk.sections)
            assert chunk.sections
            if len(chunk.sections) == 1:
                assert chunk.sections[0] == chunk.path
            assert 1 <= (chunk.part or 0) <= (chunk.parts or 0)
            if (chunk.part or 0) > 1:
                before = own[row - 1]
                assert (before.part, before.parts) == (chunk.part - 1, chunk.parts)
        assert [chunk.chunk_id for node in chunks.tree(number) for chunk in node] == [chunk.chunk_id for chunk in own]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("kind", ["markdown", "html", "pdf"])
@pytest.mark.parametrize("method", METHODS)
def test_chunks_of_every_method_have_the_documents_tree(
    method: str, kind: str, budget: dict[str, Any], tmp_path: Path
) -> None:
    batch = documents(kind, tmp_path)
    for keep_together in (True, False):
        chunks = pychunk.segment(batch, method, keep_together=keep_together, **METHODS[method], **budget)
        check(chunks)
        if kind == "markdown":
            assert ["Cats", "Food"] in [path for chunk in chunks.by_document()[0] for path in chunk.sections or ()]


@pytest.mark.parametrize("method", METHODS)
def test_parts_of_a_table_know_its_header(method: str) -> None:
    batch = pychunk.parse([TABLE], "markdown")
    chunks = pychunk.segment(batch, method, **{**METHODS[method], "max_tokens": 60, "min_tokens": 0})
    assert len(chunks) > 2
    headers = {chunk.header for chunk in chunks if not chunk.text.startswith("| animal | hours")}
    assert headers == {"| animal | hours |"}
    assert [chunk.part for chunk in chunks] == list(range(1, len(chunks) + 1))


def test_the_tree_is_the_same_for_the_same_cuts_whatever_made_them() -> None:
    batch = documents("markdown", ROOT)
    columns = ["path", "sections", "parent", "depth", "subtree", "part", "parts", "header"]
    for method in ("structure", "topic", "semantic"):
        first = pychunk.Segmenter(method, keep_together=False, max_tokens=None, min_tokens=0)
        cuts = first.cuts(batch)
        again = pychunk.segment(batch, "precomputed", columns={"cuts": cuts})
        made = first(batch)
        assert made.table.select(["start", "end", *columns]) == again.table.select(["start", "end", *columns])


def test_scores_are_those_of_the_sentences_that_are_cut() -> None:
    batch = documents("markdown", ROOT)
    segmenter = pychunk.Segmenter("semantic", keep_together=False, max_tokens=None, min_tokens=0)
    table = segmenter.scores(batch)
    assert len(table) == segmenter.cuts(batch).score.values.size + len(batch)
    with pytest.raises(ValueError, match="structure"):
        pychunk.Segmenter().scores(batch)
    assert segmenter.fit(batch).plan.threshold_value != segmenter.fit([MARKDOWN]).plan.threshold_value


@given(data=st.data())
def test_arbitrary_cuts_make_a_tree(data: st.DataObject) -> None:
    lines = data.draw(
        st.lists(
            st.sampled_from(["# A", "## B", "#### C", "Text. More.", "- item", "| a |\n|---|\n| b |", ""]), max_size=12
        )
    )
    batch = pychunk.parse(["\n\n".join(lines)], "markdown")
    count = pychunk.Segmenter("sentence").cuts(batch).first.size
    cuts = sorted({0, *data.draw(st.lists(st.integers(0, max(0, count - 1)), max_size=5))}) if count else []
    check(pychunk.segment(batch, "precomputed", columns={"cuts": [cuts]}))


@given(
    st.lists(st.sampled_from(["# A", "## B", "#### C", "Text. More.", "...", "a"]), max_size=8),
    st.integers(1, 12),
    st.integers(0, 11),
    st.sampled_from([[""], [" ", ""], ["\n\n", " ", ""]]),
)
def test_chunks_that_repeat_text_between_separators_make_a_tree(
    lines: list[str], size: int, overlap: int, separators: list[str]
) -> None:
    batch = pychunk.parse(["\n\n".join(lines)], "markdown")
    options = {"size": size, "overlap": min(overlap, size - 1), "unit": "characters", "separators": separators}
    check(pychunk.segment(batch, "recursive", **options))


def test_plain_text_has_no_tree_but_by_structure() -> None:
    assert "path" not in pychunk.segment("Cats\n\nThey purr.", "topic").table.column_names
    assert pychunk.segment("Cats\n\nThey purr.", "structure")[0].path == ["Cats"]
