"""PIC compared with summaries that an LLM writes."""

import json

import pytest
from llm_server import Server

pytest.importorskip("httpx2")

import pychunk
from pychunk.llm import LLM

TEXTS = [
    "Cats purr when they are at ease. Nobody knows how they do it. Stars burn hydrogen for a long time. Cats sleep.",
    " \n ",
    "Bread needs flour, water and salt. The dough rests for a night. An oven is hot. Dogs bark.",
]


def written(kind: str, units: list[tuple[int, str]], body: dict[str, object]) -> str:
    text = body["messages"][-1]["content"]
    return f"About {text.split()[0]}:\n {text.split('.')[0]}."


EXPECTED = [
    "About Cats: Cats purr when they are at ease.",
    "",
    "About Bread: Bread needs flour, water and salt.",
]


def test_chunks_are_those_of_the_same_summaries_given() -> None:
    with Server(answer=written) as server, LLM(server.url, "test", cache=False) as llm:
        options = {"min_tokens": 0, "keep_together": False, "summaries_out": True}
        asked = pychunk.segment(TEXTS, "pic", summary="llm", llm=llm, **options)
        given = pychunk.segment(TEXTS, "pic", summary="given", columns={"summaries": EXPECTED}, **options)
        assert asked.table.equals(given.table)
        assert len(asked) > 2
        assert asked.summaries["text"].to_pylist() == EXPECTED
        assert set(asked.summaries["source"].to_pylist()) == {"llm"}
        assert server.counts["kind summary"] == server.counts["calls"] == 2
        assert asked.errors == []
        facts = json.loads(asked.table.schema.metadata[b"pychunk"])
        assert (facts["options"]["summary"], facts["llm"]["prompt"]) == ("llm", "en/summary/1")
        made = pychunk.Segmenter("pic", summary="llm", llm=llm)
        with pytest.raises(ValueError, match="got summary='llm', which writes them: leave summaries out"):
            made(TEXTS, columns={"summaries": EXPECTED})
        plain = pychunk.Segmenter("pic", summary="given")
        assert made.cuts(TEXTS).first.tolist() == plain.cuts(TEXTS, columns={"summaries": EXPECTED}).first.tolist()
        assert made.scores(TEXTS)["score"].equals(plain.scores(TEXTS, columns={"summaries": EXPECTED})["score"])


def test_a_page_shows_the_scores_without_another_call() -> None:
    with Server(answer=written) as server, LLM(server.url, "test", cache=False) as llm:
        chunks = pychunk.segment(TEXTS, "pic", summary="llm", llm=llm, min_tokens=0, keep_together=False)
        given = pychunk.Segmenter("pic", summary="given").scores(TEXTS, columns={"summaries": EXPECTED})
        assert chunks.origin.scores()["score"].equals(given["score"])
        assert "hydrogen" in chunks.view().html
        assert server.counts["calls"] == 2


def test_the_beginning_stands_in_for_a_summary_that_is_refused() -> None:
    with Server("refusal,always") as server, LLM(server.url, "test", cache=False) as llm:
        asked = pychunk.segment(TEXTS, "pic", summary="llm", llm=llm)
        given = pychunk.segment(TEXTS, "pic", summary="given", columns={"summaries": TEXTS})
        assert asked.table.equals(given.table)
        assert [error.row for error in asked.errors] == [0, 2]
        assert "the model refused" in asked.errors[0].reason


def test_a_long_document_is_shown_without_its_middle() -> None:
    text = "Beginning. " + "Middle of it. " * 4000 + "End."
    with Server() as server, LLM(server.url, "test", cache=False) as llm:
        pychunk.segment(text, "pic", summary="llm", llm=llm)
        shown = server.bodies[0]["messages"][-1]["content"]
        assert len(shown) == 32_003
        assert shown.startswith("Beginning.")
        assert shown.endswith("End.")


def test_what_does_not_go_together() -> None:
    with Server() as server, LLM(server.url, "test", cache=False) as llm:
        with pytest.raises(ValueError, match="summary='given'"):
            pychunk.segment(TEXTS, "pic", summary="llm", llm=llm, columns={"summaries": EXPECTED})
        with pytest.raises(ValueError, match="llm= is for summary='llm'"):
            pychunk.segment(TEXTS, "pic", summary="lead", llm=llm)
        assert server.counts["calls"] == 0
