"""Summaries of a hierarchy's nodes: one call a node of the named levels, the fallback, an index of them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_server import ANSWER, Server

pytest.importorskip("httpx2")

import pychunk
import pychunk.llm.client
from pychunk.augmentation import LevelSummary
from pychunk.llm import LLM

TEXTS = [
    "Cats\n\nThey purr. They sleep by day.\n\nThey hunt. At night they see.\n\nDogs\n\nThey bark. They run.",
    "Alone.",
    " \n",
]
LEVELS = ["sentence", "paragraph", "section", "document"]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pychunk.llm.client, "_FIRST_WAIT", 0.01)


@pytest.fixture(scope="module")
def hierarchy() -> pychunk.Hierarchy:
    return pychunk.segment_levels(TEXTS, LEVELS, vectors="sentence", ids=["pets", "alone", "blank"])


def about(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> str:
    return f"Of {body['messages'][-1]['content'].split(chr(10), 1)[1]}"


def by_text(found: Any) -> dict[str, str]:
    return dict(zip(found.texts, found.table["context"].to_pylist()))


def test_one_call_for_each_node_of_the_levels_that_are_named(hierarchy: pychunk.Hierarchy, tmp_path: Path) -> None:
    chunks = hierarchy.chunks()
    with Server(answer=about) as server:
        with LLM(server.url, "test", cache=tmp_path / "answers.sqlite") as llm:
            found = pychunk.augment(chunks, LevelSummary(llm, levels=["section"]))
        assert server.counts["kind level_summary"] == server.counts["calls"] == hierarchy.count("section") - 1 == 2
        assert all(body["messages"][-1]["content"].startswith("At most 400 characters.\n") for body in server.bodies)
        with LLM(server.url, "test", cache=tmp_path / "answers.sqlite") as llm:
            every = pychunk.augment(chunks, LevelSummary(llm))
        nodes = [text for text, own in zip(chunks.texts, chunks.table["levels"].to_pylist()) if "sentence" not in own]
        assert server.counts["calls"] == len(set(nodes)) > 4, "the sections were in the cache"
    assert found.table.drop_columns(["context"]).equals(chunks.table), (
        "text, spans, levels and vectors are what they were"
    )
    sections = [" ".join(text.split()) for text in hierarchy.texts_of("section")]
    assert sorted(filter(None, by_text(found).values())) == [f"Of {text}" for text in sections[:2]]
    assert {text for text, context in by_text(every).items() if context} == set(nodes)
    assert by_text(every)["Alone."] == "", "a sentence that is a document needs no summary"
    assert found.errors == every.errors == []
    assert found.metadata["augment_llm"]["levels:llm"]["levels"] == ["section"]
    assert found.metadata["augment_llm"]["levels:llm"]["prompt"] == "en/level_summary/1"


@pytest.mark.parametrize("mode", ["sparse", "dense", "hybrid"])
def test_a_summary_finds_its_node(mode: Any, hierarchy: pychunk.Hierarchy, tmp_path: Path) -> None:
    pytest.importorskip("faiss")

    def unlike(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> str:
        return "Violin." if "bark" in body["messages"][-1]["content"] else "Volcano."

    with Server(answer=unlike) as server, LLM(server.url, "test", cache=False) as llm:
        chunks = pychunk.augment(hierarchy.chunks(), LevelSummary(llm, levels=["section"]))
    with pychunk.Index.create(tmp_path / "levels.idx", vectors="chunk") as index:
        index.add(chunks)
        index.save()
        for query, word, other in (("volcano", "Cats", "bark"), ("violin", "Dogs", "purr")):
            (hit,) = index.search(query, k=1, mode=mode)[0]
            assert hit.text.startswith(word)
            assert other not in hit.text
            assert hit.context == {"volcano": "Volcano.", "violin": "Violin."}[query]
            assert TEXTS[0][hit.start : hit.end] == hit.text


@pytest.mark.parametrize("fault", ANSWER)
def test_the_beginning_stands_in_and_is_told(fault: str, hierarchy: pychunk.Hierarchy) -> None:
    chunks = hierarchy.chunks()
    with Server(f"{fault},always") as server, LLM(server.url, "test", cache=False, retries=0) as llm:
        found = pychunk.augment(chunks, LevelSummary(llm, levels=["section"], characters=12))
    contexts = [own for own in by_text(found).values() if own]
    assert len(contexts) == 2
    assert all(len(own) <= 12 for own in contexts)
    if fault in ("refusal", "empty"):
        assert sorted(contexts) == ["Cats They", "Dogs They"]
        assert [(each.row, each.reason[:45]) for each in found.errors] == [
            (0, "levels:llm: its beginning in place of an answ")
        ]
    else:
        assert found.errors == []


@settings(max_examples=20, deadline=None)
@given(st.text(max_size=200))
def test_no_answer_touches_text(hierarchy: pychunk.Hierarchy, any_server: Server, said: str) -> None:
    any_server.answer = lambda kind, units, body: said
    chunks = hierarchy.chunks()
    with LLM(any_server.url, "test", cache=False, retries=0) as llm:
        found = pychunk.augment(chunks, LevelSummary(llm, levels=["document"], characters=50))
    assert found.table.drop_columns(["context"]).equals(chunks.table)
    contexts = by_text(found)
    assert [text for text, own in contexts.items() if own] == [TEXTS[0]], "the other document is a sentence"
    assert len(contexts[TEXTS[0]]) <= 50


@pytest.fixture(scope="module")
def any_server() -> Any:
    with Server() as server:
        yield server


def test_a_long_node_is_shown_by_its_ends() -> None:
    text = "First words. " + "More of it. " * 4000 + "Last words."
    found = pychunk.segment_levels([text], ["document"])
    with Server() as server, LLM(server.url, "test", cache=False) as llm:
        pychunk.augment(found.chunks(), LevelSummary(llm, levels=["document"]))
        (body,) = server.bodies
    shown = body["messages"][-1]["content"]
    assert len(shown) < 32_100
    assert shown.splitlines()[1].startswith("First words.")
    assert shown.splitlines()[2] == "…"
    assert shown.endswith("Last words.")


def test_what_is_refused(hierarchy: pychunk.Hierarchy, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = LLM("http://127.0.0.1:1/v1", "test", cache=False, dry_run=True)
    for wrong in ([], "section"):
        with pytest.raises(ValueError, match="levels must be a list of levels"):
            LevelSummary(llm, levels=wrong)
    with pytest.raises(ValueError, match="characters must be a whole number"):
        LevelSummary(llm, characters=0)
    with pytest.raises(
        ValueError, match="no chunk is at level page; name one of document, paragraph, section, sentence"
    ):
        pychunk.augment(hierarchy.chunks(), LevelSummary(llm, levels=["page"]))
    with pytest.raises(ValueError, match="these have no column 'levels'"):
        pychunk.augment(pychunk.segment(TEXTS, "sentence"), LevelSummary(llm))
    monkeypatch.delenv("PYCHUNK_LLM_URL", raising=False)
    with pytest.raises(ValueError, match="PYCHUNK_LLM_URL"):
        LevelSummary()
    assert llm.account.total.calls == 0
