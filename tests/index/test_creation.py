"""The options of a new index: checked, stored in the manifest, and compared with those of an existing one."""

from dataclasses import replace
from typing import Any

import pytest

from pychunk.index import Bm25, creation

WORDS = Bm25(
    terms="words", ngram=4, stemmer=None, stop_words=(), fold_diacritics=False, cjk_bigrams=True, k1=0.9, b=0.4
)
ENCODER = {"encoder": {"name": "static", "fingerprint": "static-1", "dim": 256}}


def made(bm25: Bm25 | str | None = WORDS, kind: str = "flat") -> dict[str, Any]:
    return creation.options("sentence", "int8", kind, bm25)


def test_what_the_manifest_keeps() -> None:
    found = made()
    assert {name: found[name] for name in ("vectors", "dtype", "kind", "bm25")} == {
        "vectors": "sentence",
        "dtype": "int8",
        "kind": "flat",
        "bm25": {"k1": 0.9, "b": 0.4},
    }
    assert found["terms"]["unit"] == "words"
    assert made(None)["terms"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bm25": "letters"}, "bm25 must be one of 'words', 'ngrams', 'auto', None; got 'letters'"),
        ({"kind": "ivf"}, "kind must be one of 'auto', 'flat', .*got 'ivf'"),
        ({"bm25": Bm25(terms=None, stemmer="english")}, "terms must be one of 'words', 'ngrams', 'auto'; got None"),
        ({"bm25": Bm25(terms=None, stop_words=["the"])}, "terms must be one of 'words', 'ngrams', 'auto'; got None"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        made(**options)


def test_stop_words_are_a_list() -> None:
    with pytest.raises(TypeError, match="stop_words must be a list of words; got the text 'the'"):
        made(Bm25("words", stop_words="the"))


def test_differences_name_the_option_and_both_values() -> None:
    known = {**made(), **ENCODER}
    assert creation.differences(known, {**made(), **ENCODER}) == []
    assert creation.differences(known, {**made(kind="pq"), **ENCODER}) == ["kind is 'flat', not 'pq'"]
    assert creation.differences(known, {**made(replace(WORDS, fold_diacritics=True)), **ENCODER}) == [
        "fold_diacritics is False, not True"
    ]
    assert "ngram" not in " ".join(creation.differences(known, {**made(replace(WORDS, ngram=3)), **ENCODER})), (
        "words have none"
    )
