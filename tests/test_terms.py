"""What BM25 counts: words however they are spelt, n-grams, stems."""

import re
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("faiss")

from index_reference import chunks_of

from pychunk.retrieval import terms as terms_module
from pychunk.retrieval.index import Index
from pychunk.retrieval.store import Store
from pychunk.retrieval.terms import Analyzer

pytestmark = pytest.mark.usefixtures("one_faiss_thread")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("İstanbul'da", "istanbul"),
        ("ISTANBUL", "İstanbul"),
        ("Україна", "Украї\u0301на"),
        ("Мо\u0301сква", "москва"),
        ("Cafe\u0301 re\u0301sume\u0301", "résumé"),
        ("Café", "cafe\u0301"),
        ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"),
        ("हिन्दी भाषा", "हिन्दी"),
        ("שָׁלוֹם", "שלום"),
        ("كِتَابٌ", "كتاب"),
        ("دیتا\u200cبیس", "دیتابیس"),
        ("Donau\u00addampf", "Donaudampf"),
        ("\ufb01nal", "FINAL"),
        ("ＡＢＣ１２", "abc12"),
        ("ﾃｽﾄ", "テスト"),
        ("Gro\u1e9e", "gross"),
        ("brand™", "BRANDtm"),
        ("naïve", "NAI\u0308VE"),
        ("\u01f0a", "J\u030cA"),
    ],
)
def test_words_are_found_however_they_are_spelt(text: str, query: str, tmp_path: Path) -> None:
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of([text, "Something else."]))
        assert [hit.text for hit in index.search(query, mode="sparse")[0]] == [text]


def test_letters_that_differ_stay_apart_and_words_are_whole() -> None:
    for one, other in (
        ("é", "e"),
        ("ї", "і"),
        ("й", "и"),
        ("ñ", "n"),
        ("ä", "a"),
        ("が", "か"),
        ("दी", "द"),
        ("กำ", "ก"),
    ):
        assert Analyzer().terms(one) != Analyzer().terms(other)
    assert Analyzer().terms("हिन्दी विश्व की भाषा है।") == ["हिन्दी", "विश्व", "की", "भाषा", "है"]
    assert Analyzer().terms("Россия, 1\ufe0f\u20e3 — 𑀓𑁆𑀢 x_y\u200b3") == ["россия", "1", "𑀓𑁆𑀢", "x_y", "3"]
    assert Analyzer().terms("\u0301\u0900 \u00ad") == []
    assert Analyzer(stop_words=["É"]).terms("e\u0301 x") == ["x"]
    assert Analyzer("ngrams", ngram=2).terms("E\u0301a") == ["_é", "éa", "a_"]


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_analysis_is_that_of_any_normal_form_and_the_fast_path(text: str) -> None:
    ignored, _, words = terms_module._patterns()
    expected = Analyzer().terms(text)
    plain = unicodedata.normalize("NFC", text.casefold())
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", plain).casefold())
    assert expected == words.findall(ignored.sub("", plain))
    assert Analyzer().terms(unicodedata.normalize("NFC", text)) == expected
    assert Analyzer().terms(unicodedata.normalize("NFD", text)) == expected


def test_an_index_of_the_first_analysis_keeps_it(tmp_path: Path) -> None:
    texts = ["İstanbul Cafe\u0301 हिन्दी Украї\u0301на.", "Größe \ufb01nal."]
    with Index.create(tmp_path / "x") as index:
        assert index.info["terms"]["version"] == 2
    store = Store(tmp_path / "x")
    manifest = store.read()
    del manifest["terms"]["version"]  # as it was written before there were two
    store.commit({**manifest, "schema": 1})
    with Index.open(tmp_path / "x") as index:
        index.add(chunks_of(texts))
        words = [re.findall(r"\w+", text.casefold()) for text in texts]
        assert index._contents.searcher().bm25.parts[0].terms.to_pylist() == sorted(
            {each for own in words for each in own}
        )
    with Index.open(tmp_path / "x") as index:
        assert index.search("istanbul", mode="sparse") == [[]]
        assert [hit.text for hit in index.search("GRÖSSE", mode="sparse")[0]] == texts[1:]
        assert index._store.manifest["schema"] == 1
        assert "version" not in index.info["terms"]
    with pytest.raises(ValueError, match="version must be 1 or 2; got 3"):
        Analyzer(version=3)


def test_a_long_query_takes_time_in_proportion(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(40_000)]
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of([" ".join(words[i : i + 500]) + "." for i in range(0, len(words), 500)]))

        def seconds(count: int) -> float:
            begun = time.process_time()
            index.search(" ".join(words[:count]), mode="sparse")
            return time.process_time() - begun

        seconds(100)
        short, long = (min(seconds(count) for _ in range(3)) for count in (5_000, 40_000))
        assert long < 3 * 8 * short  # 64 times, where each word was counted in all the others


def test_ngrams_find_inflected_and_unspaced_words(tmp_path: Path) -> None:
    texts = ["Die Katze schläft.", "Der Hund bellt.", "我在北京大学学习。", "今天天气很好。"]
    with Index.create(tmp_path / "words") as words, Index.create(tmp_path / "n", terms="ngrams", ngram=2) as ngrams:
        for index in (words, ngrams):
            index.add(chunks_of(texts))
        assert words.search("Katzen", mode="sparse") == [[]]
        assert words.search("大学", mode="sparse") == [[]]
        assert ngrams.search("Katzen", mode="sparse")[0][0].text == texts[0]
        assert ngrams.search("大学", mode="sparse")[0][0].text == texts[2]
        ngrams.save()
    assert Index.open(tmp_path / "n").search("天气", mode="sparse")[0][0].text == texts[3]


def test_an_ngram_has_four_characters_and_words_go_by_none(tmp_path: Path) -> None:
    assert Analyzer("ngrams").terms("Katze") == ["_kat", "katz", "atze", "tze_"]
    for terms in ("words", "ngrams"):
        with Index.create(tmp_path / terms, terms=terms, ngram=3) as index:
            index.add(chunks_of(["Die Katze."]))
    with Index.create(tmp_path / "words", exist_ok=True) as index:  # made when the default was three
        assert len(index) == 1
    with pytest.raises(ValueError, match="ngram"):
        Index.create(tmp_path / "ngrams", terms="ngrams", exist_ok=True)
    with Index.create(tmp_path / "ngrams", terms="ngrams", ngram=3, exist_ok=True) as index:
        assert len(index.search("tze", mode="sparse")[0]) == 1


def test_stemming_and_stop_words_are_kept_with_the_index(tmp_path: Path) -> None:
    pytest.importorskip("Stemmer")
    with Index.create(tmp_path / "x", stemmer="english", stop_words=["The"]) as index:
        index.add(chunks_of(["The runner runs.", "The walls fall."]))
        index.save()
    index = Index.open(tmp_path / "x")
    assert [hit.text for hit in index.search("running", mode="sparse")[0]] == ["The runner runs."]
    assert index.search("the", mode="sparse") == [[]]
