"""WordPiece: ids and offsets equal to Hugging Face `tokenizers`, on real text, on fuzz, for every code point."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk import _core
from pychunk.encoders.static_encoder import SHIPPED
from pychunk.tokenizers.wordpiece import load_vocabulary

tokenizers = pytest.importorskip("tokenizers", reason="Hugging Face tokenizers is the oracle")

VOCABULARY = load_vocabulary(SHIPPED / "vocab.txt")[0]
CASED = [
    "[UNK]",
    "The",
    "the",
    "Caf",
    "##é",
    "é",
    "e",
    "##e",
    "A",
    "##a",
    "İ",
    "ﬁ",
    "x",
    "##x",
    "한",
    "国",
    ".",
    "##s",
    "s",
]


def native(vocabulary: list[str], *, lowercase: bool) -> _core.WordPiece:
    return _core.WordPiece(vocabulary, lowercase=lowercase, strip_accents=lowercase)


def oracle(vocabulary: list[str], *, lowercase: bool) -> "tokenizers.Tokenizer":
    model = tokenizers.models.WordPiece(
        {token: i for i, token in enumerate(vocabulary)}, unk_token="[UNK]", max_input_chars_per_word=100
    )
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return made


UNCASED = native(VOCABULARY, lowercase=True), oracle(VOCABULARY, lowercase=True)
CASED_PAIR = native(CASED, lowercase=False), oracle(CASED, lowercase=False)


def encode(wordpiece: _core.WordPiece, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    ids, _, spans, _ = wordpiece.encode(data, np.array([0, len(data)]), True)
    before = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])
    return ids.tolist(), [(int(before[a]), int(before[b])) for a, b in spans]


def check_ids(pair: tuple, text: str) -> None:
    wordpiece, hugging_face = pair
    assert encode(wordpiece, text)[0] == hugging_face.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Hello, world!",
        "unaffable",
        "Zoë's café naïve İstanbul",
        "don't U.S.A. 3.14 e-mail@x.org",
        "中国人 한국어 にほんご",
        "a\x00b\ufffdc\u200bd\u00ade\x0bf\x85g\u2028h",
        "x" * 100,
        "x" * 101,
        "é" * 101,
        "👍🏽 family 👨‍👩‍👧",
        "\u0301a\u0327\u0301b",
        "[CLS] [UNK] ##ing",
        "ＦＵＬＬ　ｗｉｄｔｈ",
    ],
)
def test_literal_cases_equal_hugging_face(text: str) -> None:
    check_ids(UNCASED, text)
    check_ids(CASED_PAIR, text)


def test_offsets_equal_hugging_face_on_plain_text() -> None:
    text = "The café's naïve users (3.14%) don't re-tokenise: unaffable, Zoë!"
    spans = encode(UNCASED[0], text)[1]
    assert spans == UNCASED[1].encode(text, add_special_tokens=False).offsets


ALPHABET = st.one_of(
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from(list("abcdeéèñüÀİßſ國中한あ.,!?'-_()[] \t\n\x00\x0b\x7f\u00ad\u200d\u0301\u0327\ufffd\ue000👍")),
)


@settings(max_examples=300, deadline=None)
@given(st.text(ALPHABET, max_size=120))
def test_ids_equal_hugging_face_on_fuzz(text: str) -> None:
    check_ids(UNCASED, text)
    check_ids(CASED_PAIR, text)


@settings(max_examples=100, deadline=None)
@given(st.text(ALPHABET, max_size=80), st.lists(st.integers(0, 80), max_size=5))
def test_spans_are_tokenised_each_by_itself(text: str, cuts: list[int]) -> None:
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    before = np.concatenate([[0], np.cumsum([len(c.encode()) for c in text])]).astype(np.int64)
    bounds = np.array(sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)}))
    ids, offsets, _, _ = UNCASED[0].encode(data, before[bounds], False)
    for i, (start, stop) in enumerate(zip(bounds, bounds[1:])):
        assert ids[offsets[i] : offsets[i + 1]].tolist() == encode(UNCASED[0], text[start:stop])[0]


@pytest.mark.parametrize("pair", [UNCASED, CASED_PAIR], ids=["uncased", "cased"])
@pytest.mark.parametrize("seed", range(20))
def test_ids_equal_hugging_face_on_long_text_without_white_space(pair: tuple, seed: int) -> None:
    """The core reads text in pieces. Far from white space it cuts before a character that is a word by itself.

    Marks, letters that decompose, dropped controls and long words are around every cut.
    """
    drawn = random.Random(seed)
    isolated = drawn.choice(["中文没有空格", "中。", "、,", "豈国", "."])
    around = [
        "a",
        "é",
        "e\u0301",
        "\u0301\u0327",
        "한",
        "\u1100\u1161",
        "\u00ad",
        "\x00",
        "ﬁ",
        "İ",
        "x" * 101,
        "𠀀",
        "\u200d",
    ]
    rare = drawn.choice([2, 50, 3000])
    parts = [drawn.choice(isolated) if drawn.randrange(rare) == 0 else drawn.choice(around) for _ in range(rare + 9000)]
    check_ids(pair, "".join(parts))


@pytest.mark.slow
def test_ids_equal_hugging_face_on_articles(articles: list[str]) -> None:
    for text in articles[:60]:
        check_ids(UNCASED, text)


@pytest.mark.slow
@pytest.mark.long
def test_ids_equal_hugging_face_on_every_article(data: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    wordpiece, hugging_face = UNCASED
    for batch in pq.ParquetFile(data / "wiki" / "articles.parquet").iter_batches(batch_size=200, columns=["text"]):
        texts = batch.column("text").to_pylist()
        for text, encoding in zip(texts, hugging_face.encode_batch(texts, add_special_tokens=False)):
            assert encode(wordpiece, text)[0] == encoding.ids


@pytest.mark.slow
@pytest.mark.parametrize("lowercase", [True, pytest.param(False, marks=pytest.mark.long)])
@pytest.mark.parametrize(("forms", "step"), [(1, 7), pytest.param(3, 1, marks=pytest.mark.long)])
def test_every_code_point_equals_hugging_face(lowercase: bool, forms: int, step: int) -> None:
    wordpiece, hugging_face = UNCASED if lowercase else CASED_PAIR
    points = [chr(c) for c in range(0, 0x110000, step) if not 0xD800 <= c <= 0xDFFF]
    for form in ("a{}b", "{}", "{} {}")[:forms]:
        for begin in range(0, len(points), 50_000):
            texts = [form.format(c, c) for c in points[begin : begin + 50_000]]
            for text, encoding in zip(texts, hugging_face.encode_batch(texts, add_special_tokens=False)):
                assert encode(wordpiece, text)[0] == encoding.ids, repr(text)


def test_vocabulary_files(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\na\nb\n")
    assert load_vocabulary(tmp_path / "vocab.txt")[0] == ["[UNK]", "a", "b"]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    assert load_vocabulary(tmp_path / "vocab.txt")[1]["lowercase"] is False
    oracle(VOCABULARY, lowercase=True).save(str(tmp_path / "tokenizer.json"))
    tokens, options = load_vocabulary(tmp_path / "tokenizer.json")
    assert tokens == VOCABULARY
    assert options["strip_accents"] is True


def test_a_token_with_two_ids_is_refused() -> None:
    for tokens, ids in ((["[UNK]", "a", "##a", "b", "a"], "1 and 4"), (["[UNK]", "##x", "", "##x", ""], "2 and 4")):
        with pytest.raises(ValueError, match=f"has two ids, {ids}"):
            _core.WordPiece(tokens)


@pytest.mark.parametrize(
    ("content", "message"), [("a\nb\n", "lacks its unknown token"), ("[UNK]\na\na\n", "occurs twice")]
)
def test_bad_vocabularies_are_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "vocab.txt").write_text(content)
    with pytest.raises(ValueError, match=message):
        load_vocabulary(tmp_path / "vocab.txt")


def test_a_missing_token_id_is_named(tmp_path: Path) -> None:
    made = {
        "model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "a": 2, "b": 2}},
        "normalizer": {"type": "BertNormalizer"},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(made))
    with pytest.raises(ValueError, match="token ids must be 0 to 2, each once; 1 is missing"):
        load_vocabulary(tmp_path / "tokenizer.json")
