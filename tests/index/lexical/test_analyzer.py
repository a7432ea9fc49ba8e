"""The terms that BM25 counts: words in every spelling, n-grams, stems."""

import json
import re
import time
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk.index import Bm25

pytest.importorskip("faiss")

from index_reference import chunks_of

from pychunk.index.index import Index
from pychunk.index.lexical import analyzer as terms_module
from pychunk.index.lexical import character_tables
from pychunk.index.lexical.analyzer import Analyzer, folded
from pychunk.index.lexical.bm25 import BM25
from pychunk.index.lexical.postings import PostingsBuilder
from pychunk.index.store.index_folder import SCHEMA, Store

pytestmark = pytest.mark.usefixtures("one_faiss_thread")


@pytest.mark.slow
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
    expected = Analyzer(cjk_bigrams=False).terms(text)
    plain = unicodedata.normalize("NFC", text.casefold())
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", plain).casefold())
    assert expected == words.findall(ignored.sub("", plain))
    for analyzer in (Analyzer(cjk_bigrams=False), Analyzer(), Analyzer("ngrams", fold_diacritics=True)):
        expected = analyzer.terms(text)
        assert analyzer.terms(unicodedata.normalize("NFC", text)) == expected
        assert analyzer.terms(unicodedata.normalize("NFD", text)) == expected


@given(st.text(st.characters(max_codepoint=127)))
def test_words_of_ascii(text: str) -> None:
    assert Analyzer().terms(text) == re.findall(r"[a-z0-9_]+", text.lower())


#: The unspaced scripts, by their names in Unicode.
NAMED = re.compile(
    "CJK (UNIFIED|COMPATIBILITY) IDEOGRAPH-|(HIRAGANA|KATAKANA|BOPOMOFO) .*LETTER |HANGUL SYLLABLE |HANGZHOU NUMERAL|"
    "VERTICAL KANA REPEAT|IDEOGRAPHIC (ITERATION|CLOSING|NUMBER)|MASU MARK|(HIRAGANA|KATAKANA).*(ITERATION|DIGRAPH)|"
    "KATAKANA-HIRAGANA PROLONGED|VERTICAL IDEOGRAPHIC ITERATION|HENTAIGANA|HIRAGANA DIGRAPH|KATAKANA DIGRAPH"
)


TRIPLED = re.compile("(THAI|LAO|TIBETAN|MYANMAR|KHMER|TAI LE|NEW TAI LUE|TAI THAM|TAI VIET|BALINESE|JAVANESE) ")


def is_named(c: str) -> bool:
    name = unicodedata.name(c, "")
    return c.isalnum() and bool(NAMED.match(name) or (TRIPLED.match(name) and c.isalpha()))


def in_pairs(word: str) -> list[str]:
    """Return a word's terms, character by character."""
    parts: list[tuple[bool, str]] = []
    for c in word:
        paired = is_named(c)
        if parts and (unicodedata.category(c) in ("Mn", "Mc") or not (paired or parts[-1][0])):
            parts[-1] = (parts[-1][0], parts[-1][1] + c)
        else:
            parts.append((paired, c))
    found = []
    for i, (paired, part) in enumerate(parts):
        found.append(part)
        if paired and i + 1 < len(parts) and parts[i + 1][0]:
            found.append(part + parts[i + 1][1])
            if i + 2 < len(parts) and parts[i + 2][0] and TRIPLED.match(unicodedata.name(part[0])):
                found.append(part + parts[i + 1][1] + parts[i + 2][1])
    return found


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.lists(st.sampled_from("京都大ｶﾞか゚ー々〇한ㅋ㍿𠮷ㄅ\u3099・ａa1_é, \u0301\ufe00ทะเลน้ำທະເລཀི་သင်္ខ្ញ๑")).map("".join)
)
def test_what_is_unspaced_is_counted_by_characters_and_pairs(text: str) -> None:
    words = Analyzer(cjk_bigrams=False).terms(text)
    assert Analyzer().terms(text) == [term for word in words for term in in_pairs(word)]


@pytest.mark.slow
def test_every_unspaced_letter_is_known() -> None:
    for point in range(0x110000):
        c = chr(point)
        if c.isalnum() and folded(c) == c and not 0xD800 <= point < 0xE000:
            assert Analyzer().terms(c * 2) == ([c, c * 2, c] if is_named(c) else [c * 2]), c


@pytest.mark.slow
@pytest.mark.parametrize("terms", ["words", "ngrams", "auto"])
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("เรือแล่นในทะเล", "ทะเล"),
        ("ເຮືອແລ່ນໃນທະເລ", "ທະເລ"),
        ("នាវាបើកនៅសមុទ្រ", "សមុទ្រ"),
        ("သင်္ဘောများပင်လယ်တွင်ရွက်လွှင့်သည်", "ပင်လယ်"),
        ("གྲུ་གཟིངས་རྒྱ་མཚོར་འགྲོ", "རྒྱ་མཚོ"),
        ("我在北京大学学习汉语。", "北京"),
        ("我在北京大学学习汉语。", "大学"),
        ("我有一只猫。", "猫"),
        ("東京都に住んでいます。", "東京"),
        ("新しいコンピューターを買った。", "ｺﾝﾋﾟｭｰﾀｰ"),
        ("猫はソファーで寝ている。", "ソファー"),
        ("그는 서울대학교에서 공부한다.", "대학교"),
        ("iPhone手机很贵。", "iphone"),
        ("iPhone手机很贵。", "手机"),
    ],
)
def test_words_are_found_in_sentences_without_spaces(terms: str, text: str, query: str, tmp_path: Path) -> None:
    others = ["今天天气很好。", "今日はいい天気です。", "오늘은 날씨가 좋다.", "The sun shines."]
    with Index.create(tmp_path / "x", bm25=terms) as index:
        index.add(chunks_of([*others, text]))
        assert index.search(query, k=1, mode="sparse")[0][0].text == text
    with Index.create(tmp_path / "whole", bm25=Bm25(terms=terms, cjk_bigrams=False)) as index:
        index.add(chunks_of([*others, text]))
        found = [hit.text for hit in index.search(query, mode="sparse")[0]]
        if not TRIPLED.match(unicodedata.name(query[0])):
            assert found == [text] * (terms != "words" and len(query) > 3)  # four letters in a row


@pytest.mark.parametrize(
    ("options", "least", "most"),
    [
        ({}, 0.93, 1.0),
        ({"unit": "ngrams"}, 0.94, 1.0),
        ({"cjk_bigrams": False}, 0.0, 0.1),
        ({"unit": "ngrams", "cjk_bigrams": False}, 0.0, 0.78),
    ],
)
def test_chinese_questions_find_their_paragraph(data: Path, options: dict[str, Any], least: float, most: float) -> None:
    path = data / "xquad" / "xquad.zh.json"
    if not path.is_file():
        pytest.skip(f"no {path}")
    paragraphs = [each for article in json.loads(path.read_text())["data"] for each in article["paragraphs"]]
    analyzer = Analyzer(**options)
    builder = PostingsBuilder(analyzer)
    builder.add(builder.count(pa.chunked_array([[each["context"] for each in paragraphs]])))
    scored = BM25([builder.finish()], np.ones(len(paragraphs), np.bool_), k1=0.9, b=0.4)
    asked = [(number, question["question"]) for number, each in enumerate(paragraphs) for question in each["qas"]]
    scores = scored.scores([analyzer.terms(question) for _, question in asked])
    found = np.mean([own.max() > 0 and own.argmax() == number for own, (number, _) in zip(scores, asked)])
    assert len(asked) == 1190
    assert least <= found <= most


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Crème brûlée", "creme brulee"),
        ("Łódź", "lodz"),
        ("Đà Nẵng", "da nang"),
        ("Smørrebrød", "SMORREBROD"),
        ("Þingvellir", "thingvellir"),
        ("Ještě", "jes\u030cte\u030c"),
        ("Ещё", "еще"),
        ("Қазақстан", "казакстан"),
        ("Ἀθῆναι", "αθηναι"),
        ("أحمد", "احمد"),
        ("Iğdır", "igdir"),
        ("Œuvre", "oeuvre"),
    ],
)
def test_diacritics_are_folded_where_that_is_asked_for(text: str, query: str, tmp_path: Path) -> None:
    with Index.create(tmp_path / "x", bm25=Bm25(fold_diacritics=True)) as index:
        index.add(chunks_of([text, "Something else."]))
        index.save()
    index = Index.open(tmp_path / "x")
    for each in (query, text):
        assert [hit.text for hit in index.search(each, mode="sparse")[0]] == [text]
    for one, other in (("が", "か"), ("दी", "द"), ("กำ", "ก"), ("ɜ", "e")):
        assert Analyzer(fold_diacritics=True).terms(one) != Analyzer(fold_diacritics=True).terms(other)
    assert Analyzer(stop_words=["Été"], fold_diacritics=True).terms("ete l'été") == ["l"]


def test_an_index_of_the_second_analysis_keeps_it(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x", dtype="float16") as index:
        assert index.info["terms"]["version"] == 4
        assert index._store.manifest["schema"] == SCHEMA
    store = Store(tmp_path / "x")
    manifest = store.read()
    for name in ("fold_diacritics", "cjk_bigrams"):  # in the form that was written before these existed
        del manifest["terms"][name]
    manifest["terms"] |= {"unit": "words", "version": 2}
    store.commit({**manifest, "schema": 2})
    texts = ["我在北京大学学习。", "Żółć हिन्दी."]
    for _ in range(2):
        with Index.create(tmp_path / "x", dtype="float16", exist_ok=True) as index:
            index.add(chunks_of(texts))
    with Index.open(tmp_path / "x") as index:
        assert index.search(["大学", "zolc"], mode="sparse") == [[], []]
        assert [hit.text for hit in index.search("我在北京大学学习", mode="sparse")[0]] == texts[:1]
        assert [hit.text for hit in index.search("हिन्दी", mode="sparse")[0]] == texts[1:]
        assert (index._store.manifest["schema"], index.info["terms"]["version"]) == (SCHEMA, 2)
    with pytest.raises(ValueError, match="fold_diacritics is False, not True"):
        Index.create(tmp_path / "x", dtype="float16", bm25=Bm25(fold_diacritics=True), exist_ok=True)


def test_an_index_of_the_first_analysis_keeps_it(tmp_path: Path) -> None:
    texts = ["İstanbul Cafe\u0301 हिन्दी Украї\u0301на.", "Größe \ufb01nal."]
    with Index.create(tmp_path / "x", bm25="words") as index:
        assert index.info["terms"]["version"] == 4
    store = Store(tmp_path / "x")
    manifest = store.read()
    for name in ("version", "fold_diacritics", "cjk_bigrams"):  # in the form that was written before these existed
        del manifest["terms"][name]
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
        assert index._store.manifest["schema"] == SCHEMA
        assert "version" not in index.info["terms"]
    with pytest.raises(ValueError, match="version must be from 1 to 4; got 5"):
        Analyzer(version=5)
    with pytest.raises(ValueError, match="unit 'auto' needs version 4; got version 3"):
        Analyzer("auto", version=3)
    for name in ("fold_diacritics", "cjk_bigrams"):
        with pytest.raises(ValueError, match=f"{name} must be True or False; got 'yes'"):
            Analyzer(**{name: "yes"})


@pytest.mark.slow
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
        assert long < 3 * 8 * short  # 64 times as long, when each word was counted in all the others


def test_ngrams_find_inflected_and_unspaced_words(tmp_path: Path) -> None:
    texts = ["Die Katze schläft.", "Der Hund bellt.", "我在北京大学学习。", "今天天气很好。"]
    made = (
        Index.create(tmp_path / "words", bm25="words"),
        Index.create(tmp_path / "n", bm25=Bm25(terms="ngrams", ngram=2)),
    )
    with made[0] as words, made[1] as ngrams:
        for index in (words, ngrams):
            index.add(chunks_of(texts))
        assert words.search("Katzen", mode="sparse") == [[]]
        assert words.search("大学", mode="sparse")[0][0].text == texts[2]
        assert ngrams.search("Katzen", mode="sparse")[0][0].text == texts[0]
        assert ngrams.search("大学", mode="sparse")[0][0].text == texts[2]
        ngrams.save()
    assert Index.open(tmp_path / "n").search("天气", mode="sparse")[0][0].text == texts[3]


def test_an_ngram_has_four_characters_and_words_go_by_none(tmp_path: Path) -> None:
    assert Analyzer("ngrams").terms("Katze") == ["_kat", "katz", "atze", "tze_"]
    for terms in ("words", "ngrams"):
        with Index.create(tmp_path / terms, bm25=Bm25(terms=terms, ngram=3)) as index:
            index.add(chunks_of(["Die Katze."]))
    with Index.create(tmp_path / "words", bm25="words", exist_ok=True) as index:  # made when the default was three
        assert len(index) == 1
    with pytest.raises(ValueError, match="ngram"):
        Index.create(tmp_path / "ngrams", bm25="ngrams", exist_ok=True)
    with Index.create(tmp_path / "ngrams", bm25=Bm25(terms="ngrams", ngram=3), exist_ok=True) as index:
        assert len(index.search("tze", mode="sparse")[0]) == 1


def test_stemming_and_stop_words_are_kept_with_the_index(tmp_path: Path) -> None:
    pytest.importorskip("Stemmer")
    with Index.create(tmp_path / "x", bm25=Bm25(stemmer="english", stop_words=["The"])) as index:
        index.add(chunks_of(["The runner runs.", "The walls fall."]))
        index.save()
    index = Index.open(tmp_path / "x")
    assert [hit.text for hit in index.search("running", mode="sparse")[0]] == ["The runner runs."]
    assert index.search("the", mode="sparse") == [[]]


def test_behind_the_last_character_that_is_looked_at_nothing_is_a_letter_or_changes() -> None:
    rest = "".join(map(chr, range(character_tables.LAST, 0x110000)))
    assert re.search(r"\w", rest) is None
    assert rest == rest.casefold() == rest.lower()
    assert all(unicodedata.normalize(form, rest) == rest for form in ("NFC", "NFD", "NFKC", "NFKD"))
