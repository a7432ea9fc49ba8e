"""The LangChain splitter of texts with markup; other tests are in test_integrations_splitters.py."""

from __future__ import annotations

import pytest

pytest.importorskip("langchain_text_splitters")

import pychunk
from pychunk.integrations.langchain import PychunkTextSplitter

SENTENCES = " ".join(["They purr when they are content. They sleep for most of the day. They hunt at dusk."] * 12)
MARKDOWN = f"# Cats\n\n{SENTENCES}\n\n# Dogs\n\n{SENTENCES}\n"


@pytest.mark.parametrize("markup", ["markdown", "auto"])
def test_markdown_is_cut_by_its_structure(markup: str) -> None:
    splitter = PychunkTextSplitter(add_start_index=True, markup=markup)  # type: ignore[arg-type]
    parts = splitter.create_documents([MARKDOWN])
    assert [part.page_content for part in parts] == pychunk.segment(pychunk.parse(MARKDOWN, "markdown")).texts
    assert splitter.split_text(MARKDOWN) != PychunkTextSplitter().split_text(MARKDOWN)
    for part in parts:
        start = part.metadata["start_index"]
        assert MARKDOWN[start : start + len(part.page_content)] == part.page_content
    assert splitter.split_text(MARKDOWN) == [part.page_content for part in parts]


def test_the_text_of_a_page_is_split_without_its_elements() -> None:
    page = f"<html><body><h1>Cats</h1><p>{SENTENCES}</p><h1>Dogs</h1><p>{SENTENCES}</p></body></html>"
    found = PychunkTextSplitter(markup="html").split_text(page)
    assert found == PychunkTextSplitter(markup="markdown").split_text(MARKDOWN)
    assert not any("<p>" in text for text in found)
