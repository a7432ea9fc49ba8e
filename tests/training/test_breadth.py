"""Questions of mixed breadth and their measures, by hand on tiny documents; the real ones if they are present."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk.evaluation.datasets import Dataset
from pychunk.evaluation.datasets import Question as Asked
from pychunk.index import Ranking
from pychunk.training import breadth, breadth_levels
from pychunk.training.breadth import (
    Measure,
    Question,
    mixed,
    of_articles,
    of_references,
    of_squad,
    part_of,
)
from pychunk.training.section_questions import MARK

BODY = "She was born in London and wrote about engines. " * 40
TEXT = f"Ada Lovelace was an early English writer of programs. She lived.\nLife.\n{BODY}\nWork.\n{BODY}"


def test_articles_lose_their_leads_and_headings() -> None:
    (found,) = of_articles(["Ada Lovelace", "No sections"], [TEXT, BODY])
    assert found.text.startswith(f"{MARK}\n\nShe was born")
    assert "programs" not in found.text
    assert "Life" not in found.text
    assert [(kind, text) for kind, text, _ in found.asked] == [
        ("section", "Ada Lovelace: Life"),
        ("section", "Ada Lovelace: Work"),
        ("document", "was an early English writer of programs."),
    ]
    for kind, _, ((start, end),) in found.asked:
        assert found.text[start:end].strip(f"{MARK}\n ") == (BODY.strip() if kind == "section" else found.text[3:])
    assert [(kind, found.text[start:end]) for kind, _, start, end in found.rows] == [
        ("heading", MARK),
        ("paragraph", BODY.strip()),
    ] * 2


def test_a_squad_question_is_about_the_sentence_of_its_answer() -> None:
    name = next(name for name in map(str, range(99)) if part_of(name) == "test")
    lead, body = "An engine is a machine.", "Steam came first. It was Watt's. Diesel came later."
    document, own = f"{lead}\n{body}", (len(lead) + 1, len(lead) + 1 + len(body))
    asked = [
        Asked("Whose was it?", 0, ("Watt's",), paragraph=own),
        Asked("What was later?", 0, ("later", "Diesel"), paragraph=own),
        Asked("What is an engine?", 0, ("a machine",), paragraph=(0, len(lead))),
    ]
    (found,) = of_squad(Dataset("squad", "answers", [name], [document], asked), "test")
    assert found.text == body
    spans = [(text, found.text[slice(*spans[0])].strip()) for _, text, spans in found.asked]
    assert spans == [("Whose was it?", "It was Watt's."), ("What was later?", "Diesel came later.")]
    assert not of_squad(Dataset("squad", "answers", [name], [document], asked), "train")


def test_references_of_files_with_several_articles() -> None:
    text = " = A one = \n Cats purr . \n = = Life = = \n They sleep . Often . \n = B two = \n Dogs bark . "
    spans = [(text.index(each), text.index(each) + len(each)) for each in ("Cats purr .", "Often .", "Dogs bark .")]
    asked = [
        Asked("Who purrs?", 0, spans=(spans[0],)),
        Asked("What do cats do?", 0, spans=(spans[1], spans[0])),
        Asked("What do dogs do?", 0, spans=(spans[2],)),
        Asked("What do both do?", 0, spans=(spans[0], spans[2])),  # of two articles
    ]
    data = Dataset("references", "references", ["wiki"], [text], asked)
    found = [each for part in ("train", "validation", "test") for each in of_references(data, part)]
    by_name = {each.name: each for each in found}
    assert set(by_name) == {"A one", "B two"}
    told = {
        text: (kind, [own.text[slice(*span)] for span in spans]) for own in found for kind, text, spans in own.asked
    }
    assert told == {
        "Who purrs?": ("sentence", ["Cats purr ."]),
        "What do cats do?": ("passages", ["Cats purr .", "Often ."]),
        "What do dogs do?": ("sentence", ["Dogs bark ."]),
    }
    assert "Life" not in by_name["A one"].text
    assert [kind for kind, *_ in by_name["A one"].rows] == ["heading", "paragraph", "heading", "paragraph"]


def _few() -> list[breadth._Article]:
    return [
        breadth._Article(
            f"Name {row}",
            BODY,
            [("paragraph", 0, 0, len(BODY))],
            [
                ("sentence", f"Where was number{row} born, and why?", ((0, 47),)),
                ("sentence", f"Which engines did number{row} write about?", ((0, 47),)),
                ("passages", f"What of number{row}?", ((0, 47), (96, 143))),
                ("section", f"Name {row}: Life number{row}", ((0, 1000),)),
                ("document", f"wrote a lot about number{row} engines and London programs", ((0, len(BODY)),)),
            ],
        )
        for row in range(20)
    ]


def test_a_third_each_drawn_by_seed() -> None:
    made = mixed(_few(), 30, seed=3)
    assert Counter(each.breadth for each in made.questions) == {"narrow": 10, "middle": 10, "broad": 10}
    assert made.questions == mixed(_few(), 30, seed=3).questions != mixed(_few(), 30, seed=4).questions
    assert {each.document for each in made.questions} == set(range(len(made.documents)))
    assert made.blocks.documents == len(made.documents)
    every = mixed(_few())
    assert Counter(each.kind for each in every.questions) == {"sentence": 20, "passages": 20, "document": 20}


def test_stripped_questions_have_no_form_and_one_length() -> None:
    made = mixed([replaced for each in _few() for replaced in [_without_passages(each)]], 0)
    for each in made.questions:
        words = each.stripped.split()
        assert not set(words) & breadth.FORM
        assert each.stripped == each.stripped.lower()
        assert len(words) <= 4  # as many as "name 3 life number3" has
        assert any(word.startswith("number") for word in words)  # the rarest


def _without_passages(article: breadth._Article) -> breadth._Article:
    asked = [each for each in article.asked if each[0] != "passages"]
    return breadth._Article(article.name, article.text, article.rows, asked)


def test_what_is_handed_over_keeps_to_its_words() -> None:
    measure = Measure(["One two. Three four five.", "Six seven."])
    spans = ([0, 0, 1], [9, 0, 0], [25, 8, 10])
    assert measure.handed_over(*spans, words=5) == [(0, 9, 25), (0, 0, 8)]
    assert measure.handed_over(*spans, words=6) == [(0, 9, 25), (0, 0, 8), (1, 0, 3)]  # cut after "Six"
    assert measure.handed_over(*spans, words=2) == [(0, 9, 19)]
    assert measure.handed_over([0, 0], [0, 9], [25, 25], words=99) == [(0, 0, 25)]  # no character twice
    asked = Question("?", "", "passages", 0, ((0, 3), (9, 14)))
    assert measure.f1(asked, *spans, words=2) == 2 * 5 / (10 + 8)
    assert measure.f1(asked, [1], [0], [10], words=9) == 0
    assert measure.f1(asked, [], [], [], words=9) == 0


@given(st.text(max_size=60), st.data())
def test_f1_by_sets_of_characters(text: str, data: st.DataObject) -> None:
    place = st.integers(0, len(text))
    spans = [tuple(sorted(data.draw(st.tuples(place, place)))) for _ in range(3)]
    words = data.draw(st.integers(1, 8))
    measure = Measure([text])
    handed = measure.handed_over([0] * 3, [a for a, _ in spans], [b for _, b in spans], words)
    characters = [place for _, a, b in handed for place in range(a, b)]
    assert len(characters) == len(set(characters))
    asked = Question("?", "", "sentence", 0, ((0, len(text)),))
    found = measure.f1(asked, [0] * 3, [a for a, _ in spans], [b for _, b in spans], words)
    total = len(characters) + len(text)
    assert found == (2 * len(characters) / total if total else 0)


def test_ranges_and_labels() -> None:
    found = breadth.ranges(["a", "b", "c"])
    assert found == [("a", "a"), ("b", "b"), ("c", "c"), ("a", "b"), ("b", "c"), ("a", "c")]
    assert breadth.pseudo_labels(np.array([[0, 0.2, 0.2], [0, 0, 0], [0.3, 0.1, 0]])).tolist() == [1, -1, 0]


def test_every_range_of_levels_is_what_a_search_finds(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    texts = [
        f"Ada was an early writer of long programs.\nLife.\n{BODY}\nWork.\nEngines, {row}. {BODY}" for row in range(4)
    ]
    articles = of_articles([f"Ada {row}" for row in range(4)], texts)
    for row, own in enumerate(articles):
        own.asked.append(("sentence", f"Which engines, {row}?", ((2000, 2100),)))
    data = mixed(articles)
    measure = Measure(data.documents)
    queries = [each.text for each in data.questions]
    with breadth_levels.index_of(data, tmp_path / "it.idx") as index:
        found, held = breadth_levels.scores_of_ranges(index, data, queries)
        places = [np.asarray(index.table[name]) for name in ("document_index", "start", "end")]
        for number, pair in enumerate(breadth.ranges()):
            rows, _ = index.rank(queries, breadth_levels.HITS, ranking=Ranking(levels=pair))
            for question, own, scores in zip(data.questions, rows, found[:, number], strict=True):
                spans = [each[own[own >= 0]] for each in places]
                wanted = [measure.f1(question, *spans, words) for words in breadth.BUDGETS]
                assert scores.tolist()[:2] == wanted[:2]  # the hits of the search hold fewer than 1,500 words
            for row, (question, own) in enumerate(zip(data.questions, rows, strict=True)):
                spans = [each[own[own >= 0]] for each in places]
                wanted = [measure.holds(question, *spans, words) for words in breadth.BUDGETS]
                assert held[row, number].tolist()[:2] == wanted[:2]
    assert found.max() > 0.8
    assert held.any()
    assert not held.all()


@pytest.mark.slow
@pytest.mark.skipif("PYCHUNK_DATA" not in os.environ, reason="PYCHUNK_DATA names no data")
def test_the_real_questions() -> None:
    folder = Path(os.environ["PYCHUNK_DATA"])
    made = breadth.load(folder, "validation", 900)  # with 300 the means of lengths differ by 0.3 to 0.5
    assert Counter(each.breadth for each in made.questions) == {"narrow": 300, "middle": 300, "broad": 300}
    assert {part_of(name) for name in made.names} == {"validation"}
    for each in made.questions:
        text = made.documents[each.document]
        assert all(text[a:b].strip() for a, b in each.spans)
        if each.kind == "document":
            assert each.spans == ((0, len(text)),)
    lengths = {
        kind: np.mean([len(q.stripped.split()) for q in made.questions if q.breadth == kind])
        for kind in ("narrow", "middle", "broad")
    }
    assert max(lengths.values()) - min(lengths.values()) < 0.5, lengths
    with pytest.raises(FileNotFoundError, match="no articles"):
        breadth.load(folder / "nowhere", "test")
