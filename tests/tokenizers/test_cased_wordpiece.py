"""WordPiece with BERT's cased settings: ids and offsets equal those of the package tokenizers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amounts import amounts
from hypothesis import given, settings
from hypothesis import strategies as st
from token_texts import CASES, in_characters, texts_of

from pychunk._engine import native
from pychunk._engine.reference.text import wordpiece as reference
from pychunk.tokenizers.wordpiece import WordPieceTokenizer

tokenizers = pytest.importorskip("tokenizers", reason="Hugging Face tokenizers is the oracle")

CASED = {"lowercase": False, "strip_accents": False, "handle_chinese_chars": True, "clean_text": True}


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small cased tokenizer.json, trained on Wikipedia and XQuAD."""
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer(**CASED)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=8000, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False
    )
    made.train_from_iterator(texts_of(data, ["wiki", "xquad"], 0.01), trainer)
    path = tmp_path_factory.mktemp("cased") / "tokenizer.json"
    made.save(str(path))
    return path


def pair(path: Path) -> tuple[WordPieceTokenizer, Any]:
    content = json.loads(path.read_text(encoding="utf-8"))
    content |= {"added_tokens": [], "post_processor": None}  # so that special tokens in a text are text
    return WordPieceTokenizer(path), tokenizers.Tokenizer.from_str(json.dumps(content))


def check(both: tuple[WordPieceTokenizer, Any], text: str) -> None:
    ours, theirs = both
    data = np.frombuffer(text.encode(), np.uint8)
    ids, _, spans = native.encode_words(ours, data, np.array([0, len(data)]), byte_spans=True)
    assert spans is not None
    wanted = theirs.encode(text, add_special_tokens=False)
    assert ids.tolist() == wanted.ids
    assert in_characters(text, [(int(a), int(b)) for a, b in spans]) == wanted.offsets


@pytest.mark.slow
@pytest.mark.parametrize("share", amounts(0.02, 1.0))
def test_ids_and_offsets_equal_those_of_tokenizers(trained: Path, data: Path, share: float) -> None:
    both = pair(trained)
    for text in [
        *CASES,
        "Zo\u00eb's CAF\u00c9 \u0130stanbul \u00df \u1e9e",
        *texts_of(data, ["wiki", "xquad", "code"], share),
    ]:
        check(both, text)


ALPHABET = st.one_of(
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from(
        list("abcABC\u00e9\u00c9\u00fc\u0130\u00df\u570b\u4e2d\ud55c.,!-_() \t\n\x00\x7f\u00ad\u0301\ufffd\U0001f44d")
    ),
)
PIECES = [
    "[UNK]",
    *"abcABC.,!-",
    "##a",
    "##B",
    "\u00e9",
    "##\u00e9",
    "\u0130",
    "\u00df",
    "\u4e2d",
    "aB",
    "##bc",
    "e\u0301",
]


class Table:
    """The attributes of a tokenizer that the core reads."""

    vocabulary = PIECES
    tokenizer_options = CASED
    table = np.empty((0, 0), np.int8)


@settings(max_examples=300, deadline=None)
@given(st.text(ALPHABET, max_size=80))
def test_the_core_gives_what_the_reference_gives(text: str) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    ids = native.encode_words(TABLE, data, np.array([0, len(data)]))[0]
    assert ids.tolist() == reference.encode(text, {piece: at for at, piece in enumerate(PIECES)}, CASED)


TABLE: Any = Table()
