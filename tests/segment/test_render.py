"""Chunk.render: headings, the header of a table, closed code, and no removed text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pychunk
from pychunk.chunks.batch import Chunk

PARTS = ["# Cats", "## Food", "They eat fish. They drink water.", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
         "```python\nx = 1\n\ny = 2\n```", "- one\n- two", "~~~\ncode\n~~~"]  # fmt: skip


def chunk(text: str, **fields: Any) -> Chunk:
    return Chunk(
        document_index=0,
        chunk_index=0,
        chunk_id="",
        start=10,
        end=10 + len(text),
        start_byte=0,
        end_byte=0,
        text=text,
        **fields,
    )


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        ("Fish.", {}, "Fish."),
        ("Fish.", {"path": ["Cats", "Food"]}, "Cats > Food\n\nFish."),
        ("## Food\n\nFish.", {"path": ["Cats", "Food"]}, "Cats\n\n## Food\n\nFish."),
        ("Foods differ.", {"path": ["Food"]}, "Food\n\nFoods differ."),
        ("Before all.\n\n# Cats", {"path": [], "sections": [[], ["Cats"]]}, "Before all.\n\n# Cats"),
        ("Food\n====\n\nFish.", {"path": ["Food"]}, "Food\n====\n\nFish."),
        (
            "Fish.\n\n## Sleep",
            {"path": ["Cats"], "sections": [["Cats", "Food"], ["Cats", "Sleep"]]},
            "Cats > Food\n\nFish.\n\n## Sleep",
        ),
        ("| 1 | 2 |", {"header": "| a | b |"}, "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("1 | 2", {"header": r"a \\| x | b"}, "a \\\\| x | b\n|---|---|\n1 | 2"),
        ("| 1 |", {"header": "| a |\n|---|"}, "| a |\n|---|\n| 1 |"),
        ("fish 1", {"header": "animal count"}, "animal count\nfish 1"),
        ("y = 2", {"header": "```python"}, "```python\ny = 2\n```"),
        ("y = 2\n```\n\nText.", {"header": "```python"}, "```python\ny = 2\n```\n\nText."),
        ("````\n```\nx", {}, "````\n```\nx\n````"),
        ("Cats [edit] purr.", {"holes": [{"start": 15, "end": 21}]}, "Cats purr."),
        ("Cats\n\nPage 1\n\npurr.", {"holes": [{"start": 16, "end": 22}]}, "Cats\n\npurr."),
    ],
)  # fmt: skip
def test_a_chunk_says_what_its_span_does_not(text: str, fields: dict[str, Any], expected: str) -> None:
    own = chunk(text, **fields)
    assert own.render() == expected
    assert own.text == text
    plain = own.render(path=False, header=False, fences=False)
    if not fields.get("holes"):
        assert plain == text


@given(st.lists(st.sampled_from(PARTS), max_size=8), st.sampled_from(["structure", "topic", "recursive", "sentence"]))
def test_every_chunk_is_rendered_with_its_text(parts: list[str], method: str) -> None:
    batch = pychunk.parse(["\n\n".join(parts)], "markdown")
    for own in pychunk.segment(batch, method, max_tokens=12, min_tokens=0):
        made = own.render()
        assert own.text in made
        lines = [line for line in made.splitlines() if line.startswith(("```", "~~~"))]
        assert len(lines) % 2 == 0
        above = list(own.sections[0]) if own.sections else []
        if above and not own.header and own.text.splitlines()[0].strip("#= \t") == above[-1]:
            above.pop()
        assert made.startswith(f"{' > '.join(above)}\n\n" if above else own.header or own.text)


def test_a_hit_is_rendered_like_its_chunk(tmp_path: Path) -> None:
    rows = "".join(f"| animal {i} | {i} hours |\n" for i in range(30))
    batch = pychunk.parse(f"# Sleep\n\n| mammal | time |\n|---|---|\n{rows}", "markdown")
    chunks = pychunk.segment(batch, max_tokens=100, vectors="sentence")
    with pychunk.Index.create(tmp_path / "i") as index:
        index.add(chunks)
        for hit in index.search("animal 25", k=9)[0]:
            assert hit.render() == chunks[hit.chunk_index].render()
            assert "| mammal | time |\n|---|---|" in hit.render()
