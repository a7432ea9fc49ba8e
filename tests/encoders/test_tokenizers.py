"""Encoders with a tokenizer other than the shipped one count their own tokens, also in budgets."""

import json
import logging
import shutil
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest
from test_segment import check_exact

import pychunk
from pychunk._util.checksums import sha256
from pychunk.encoders import static_encoder
from pychunk.encoders.files import huggingface

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("onnxruntime")

TEXT = (
    "Unfamiliar taxpayers subdivided internationalization. Naïve? Yes: e.g. Dr. Who, at 3.14 p.m. \n\n"
    "# Heading\n- 中文没有空格。他走了。\n\tТекст на русском.  Two  spaces.\u3000Wide. 👩‍👩‍👧 emoji!\r\n"
    f"{'x' * 230} end. A b c.\n\n\n\n"
)
TEXTS = [TEXT * 6, "", "One.", TEXT[:120], "word " * 400, "\n\n\n", "aaaa" * 300]


def trained(kind: str) -> Any:
    """Return a small tokenizer of a kind that published encoders have, trained on a few words."""
    corpus = [TEXT, "the cat sat on the mat. " * 20, "internationalization of taxpayers\n\n"] * 5
    if kind == "unigram":  # as in XLM-R and T5
        made = tokenizers.Tokenizer(tokenizers.models.Unigram())
        made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        special = {"special_tokens": ["<s>", "<pad>", "</s>", "<unk>"], "unk_token": "<unk>"}
        made.train_from_iterator(corpus, tokenizers.trainers.UnigramTrainer(vocab_size=250, **special))
    else:  # as in RoBERTa and ModernBERT
        made = tokenizers.Tokenizer(tokenizers.models.BPE())
        made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=400, initial_alphabet=alphabet, special_tokens=["<s>", "<pad>", "</s>", "<unk>"]
        )
        made.train_from_iterator(corpus, trainer)
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return made


def with_tokenizer(source: Path, path: Path, write: Any) -> Path:
    """Return a copy of a model with another tokenizer."""
    shutil.copytree(source, path)
    (path / "vocab.txt").unlink()
    write(path / "tokenizer.json")
    facts = json.loads((path / "pychunk.json").read_text())
    facts |= huggingface.template(path / "tokenizer.json")
    facts |= {"tokenizer": "tokenizer.json", "tokenizer_sha256": sha256(path / "tokenizer.json")}
    (path / "pychunk.json").write_text(json.dumps(facts))
    return path


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def foreign(request: pytest.FixtureRequest, tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = trained(request.param)
    folder = tmp_path_factory.mktemp(request.param) / "model"
    return with_tokenizer(tiny_encoder, folder, lambda path: made.save(str(path)))


def counter(path: Path) -> Any:
    loaded = tokenizers.Tokenizer.from_file(str(path / "tokenizer.json"))
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "pic"},
        {"method": "fixed", "size": 30, "unit": "words", "overlap": 8},
        {"method": "fixed", "size": 15, "overlap": 7},
        {"method": "recursive", "size": 20, "overlap": 8},
        {"method": "page"},
        {"method": "sentence", "min_tokens": 8},
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in [
                {"method": "semantic", "min_tokens": 5, "vectors": pychunk.Vectors("chunk", "static")},
                {"method": "cluster", "vectors": "sentence"},
                {"method": "fixed", "size": 15},
                {"method": "recursive", "size": 20},
                {"method": "recursive", "size": 300, "unit": "characters", "overlap": 50},
                {"method": "paragraph", "overlap": 6},
            ]
        ),
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
@pytest.mark.parametrize("max_tokens", [12, pytest.param(40, marks=pytest.mark.slow)])
def test_budgets_hold_in_the_encoders_own_tokens(foreign: Path, options: dict[str, Any], max_tokens: int) -> None:
    out = pychunk.segment(TEXTS, encoder=foreign, max_tokens=max_tokens, **options)
    count = counter(foreign)
    check_exact(TEXTS, out, overlap="overlap" in options)
    for chunk in out:
        assert chunk.tokens == count(chunk.text)
        assert chunk.tokens <= max_tokens or len(chunk.text) == 1
        if options.get("unit", "characters" if "size" not in options else "tokens") == "tokens":
            assert chunk.tokens <= options["size"] or len(chunk.text) == 1
    one = pychunk.segment(
        TEXTS, encoder=foreign, max_tokens=max_tokens, placement=pychunk.Placement(threads=1), **options
    )
    assert one.table["text"].equals(out.table["text"])
    # The budget is used up: chunks of running words are nearly full.
    if options["method"] in ("page", "fixed", "recursive") and options.get("unit", "tokens") == "tokens":
        full = [chunk.tokens for chunk in out.by_document()[4]]
        assert np.mean(full[:-1]) > 0.6 * min(max_tokens, options.get("size", max_tokens))


def test_pieces_do_not_end_with_a_heading(foreign: Path) -> None:
    prose = "the red panda lives in the mountains and eats bamboo, leaves and fruit that it finds among the trees "
    text = "\n\n".join(f"Habitat {n}\n\n{prose * 3}and sleeps. {prose}by night." for n in range(6))
    for method in ("paragraph", "fixed"):
        size = {"size": 30} if method == "fixed" else {}
        chunks = pychunk.segment(text, method, encoder=foreign, max_tokens=30, **size)
        assert len(chunks) > 12
        ends = [chunk for chunk in chunks if chunk.text.splitlines()[-1].startswith("Habitat")]
        assert ends == []


def test_the_tokenizer_is_named_and_told_of_once(foreign: Path, caplog: pytest.LogCaptureFixture) -> None:
    segmenter = pychunk.Segmenter("fixed", size=20, encoder=foreign)
    with caplog.at_level(logging.WARNING, "pychunk"):
        out = segmenter([TEXT])
        segmenter([TEXT])
    said = [record.message for record in caplog.records if "not WordPiece" in record.message]
    assert len(said) <= 1
    assert out.metadata["tokenizer"] == f"tokenizer.json:{sha256(foreign / 'tokenizer.json')[:16]}"
    assert pychunk.segment("One.").metadata["tokenizer"].startswith("vocab.txt:")


def test_another_vocabulary_of_wordpiece_counts_too(tiny_encoder: Path, tmp_path: Path) -> None:
    """This also holds if the static encoder fills the table: its vocabulary is not the encoder's."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ".", *ascii_lowercase, *("##" + c for c in ascii_lowercase)]

    def write(path: Path) -> None:
        made = tokenizers.BertWordPieceTokenizer({token: i for i, token in enumerate(vocabulary)})
        made.save(str(path))

    path = with_tokenizer(tiny_encoder, tmp_path / "model", write)
    count = counter(path)
    text = "Cats purr and dogs bark. Stars burn. Both sleep."
    for options in ({}, {"vectors": "chunk"}, {"vectors": pychunk.Vectors("chunk", "static")}):
        for chunk in pychunk.segment(text, "fixed", size=15, encoder=path, **options):
            assert chunk.tokens == count(chunk.text) <= 15


def test_a_static_encoder_of_ones_own_cuts(tmp_path: Path) -> None:
    import hashlib

    path = Path(shutil.copytree(static_encoder.SHIPPED, tmp_path / "own", ignore=shutil.ignore_patterns("nsp*")))
    facts = json.loads((path / "static.json").read_text())
    table = np.load(path / facts["table"])[::-1].copy()
    np.save(path / facts["table"], table)
    facts["table_sha256"] = hashlib.sha256((path / facts["table"]).read_bytes()).hexdigest()
    (path / "static.json").write_text(json.dumps(facts))
    texts = ["Cats purr loudly. Dogs bark at night. The sun is a star. Stars burn hydrogen."]
    vectors = static_encoder.load(path).encode([texts[0][a:b] for a, b in pychunk.split_sentences(texts)[0]])
    own = pychunk.segment(texts, "semantic", encoder=path, vectors="sentence")
    given = pychunk.segment(texts, "semantic", columns={"sentence_vectors": vectors}, vectors="sentence")
    assert own.table["text"].equals(given.table["text"])
    assert own.table["score"].to_pylist() == given.table["score"].to_pylist()
    assert own.table["sentences"].to_pylist() == given.table["sentences"].to_pylist()
