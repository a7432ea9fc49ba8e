"""The options of an index and a search: short forms, and errors that say where a keyword of before is now."""

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import pychunk
from pychunk.index import Bm25, Expansion, Ranking, Rerank, Rewrite
from pychunk.index.options import OF_CREATE, OF_OPEN, OF_SEARCH

TEXTS = ["Cats purr when content. They sleep by day.", "The sun is a star. Stars burn hydrogen."]
#: The keywords that searches had before their options became objects.
OF_SEARCH_BEFORE = (
    *(
        "fusion",
        "weight",
        "blend",
        "document_weight",
        "levels",
        "plan",
        "rerank",
        "depth",
        "expand",
        "words",
        "parents",
    ),
    *("by_document", "min_score", "query_vectors", "threads", "rewrite", "on_error"),
)
OF_CREATE_BEFORE = (
    *("terms", "ngram", "stemmer", "stop_words", "fold_diacritics", "cjk_bigrams", "k1", "b", "runtime", "device"),
)
CALLS: list[tuple[Callable[..., Any], dict[str, str], tuple[str, ...]]] = [
    (pychunk.Index.search, OF_SEARCH, OF_SEARCH_BEFORE),
    (pychunk.Index.search_documents, OF_SEARCH, OF_SEARCH_BEFORE),
    (pychunk.Index.create, OF_CREATE, OF_CREATE_BEFORE),
    (pychunk.Index.open, OF_OPEN, ("runtime", "device")),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> pychunk.Index:
    made = pychunk.Index.create(tmp_path_factory.mktemp("options") / "it")
    made.add(pychunk.segment(TEXTS, "sentence", keep_together=False, vectors="sentence", ids=["cats", "sun"]))
    made.save()
    return made


@pytest.mark.parametrize(
    ("function", "replacements", "before"), CALLS, ids=lambda value: getattr(value, "__name__", "")
)
def test_keywords_of_before_name_what_is_there_now(
    function: Callable[..., Any], replacements: dict[str, str], before: tuple[str, ...]
) -> None:
    known = set(inspect.signature(function).parameters)
    for name in before:
        assert name not in known
        said = re.escape(f"{function.__name__}() has no keyword {name!r}: {replacements[name]}")
        with pytest.raises(TypeError, match=said):
            function("i", **{name: 1})


def test_replacements_name_what_exists() -> None:
    classes = {each.__name__: each for each in (Bm25, Expansion, Ranking, Rerank, Rewrite, pychunk.Placement)}
    for function, replacements, _ in CALLS:
        known = set(inspect.signature(function).parameters)
        for text in replacements.values():
            elsewhere = text.endswith(" to Index.open or Index.create")
            for name in [] if elsewhere else re.findall(r"pass (\w+)=", text):
                assert name in known, text
            for made, field in re.findall(r"pychunk\.(?:index\.)?(\w+)\((\w+)=", text):
                assert field in {each.name for each in fields(classes[made])}, text


def plain(found: Any) -> list[list[tuple[Any, ...]]]:
    return [[(hit.text, hit.score, [each.text for each in hit.around]) for hit in own] for own in found]


def test_short_forms_are_those_of_the_objects(index: pychunk.Index, tmp_path: Path) -> None:
    def found(**options: Any) -> list[list[tuple[Any, ...]]]:
        return plain(index.search(["cats", "stars"], 2, **options))

    assert found(expansion=1) == found(expansion=Expansion(1)) != found()
    assert found(stages=Rerank("features", 2)) == found(stages=[Rerank("features", 2)]) != found()
    assert found(ranking=Ranking(), expansion=Expansion(), stages=()) == found()
    for short, whole in (("words", Bm25(terms="words")), ("ngrams", Bm25(terms="ngrams")), ("auto", Bm25())):
        infos = [
            pychunk.Index.create(tmp_path / f"{short}{number}", bm25=each).info["terms"]  # type: ignore[arg-type]
            for number, each in enumerate((short, whole))
        ]
        assert infos[0] == infos[1]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"ranking": {"fusion": "rrf"}}, TypeError, "ranking must be a pychunk.index.Ranking; got {'fusion': 'rrf'}"),
        (
            {"stages": "features"},
            TypeError,
            "stages must be pychunk.index.Rewrite or pychunk.index.Rerank; got 'features'",
        ),
        ({"stages": [Rerank("features")] * 2}, ValueError, "stages must have one Rerank at most; got two"),
        ({"stages": Rerank("features", on_error="ignore")}, ValueError, "on_error must be 'raise' or 'skip'"),
        ({"expansion": "chapter"}, ValueError, "expansion must be 'subtree', 'section' or .*; got 'chapter'"),
        ({"expansion": Expansion(max_words=0)}, ValueError, "max_words must be .*; got 0"),
    ],
)
def test_wrong_objects_are_named(
    index: pychunk.Index, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        index.search("cats", **options)
