"""Tables of rows for the pieces of a tokenizer: vectors by their definition, and errors that name file and remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pychunk
from pychunk._util.checksums import sha256
from pychunk.encoders import piece_encoder
from pychunk.encoders.registry import vector_encoder
from pychunk.index import Rewrite

tokenizers = pytest.importorskip("tokenizers")

PIECES = ["<unk>", "\u2581", "\u2581кіт", "\u2581спить", "\u2581cats", "\u2581sleep", "s", "l", "e", "p", "."]
TEXTS = ["кіт спить. cats sleep", "", "cats, кіт", "sleep."]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a small table."""
    made = tokenizers.Tokenizer(tokenizers.models.Unigram([(piece, -float(len(PIECES))) for piece in PIECES], unk_id=0))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    made.save(str(tmp_path / "tokenizer.json"))
    table = np.random.default_rng(0).integers(-127, 128, (len(PIECES), 16)).astype(np.int8)
    table[0] = 0
    np.save(tmp_path / "static.npy", table)
    facts = {"format": 1, "name": "tiny", "tokens": len(PIECES), "table": "static.npy", "tokenizer": "tokenizer.json"}
    for name in ("table", "tokenizer"):
        facts[f"{name}_sha256"] = sha256(tmp_path / str(facts[name]))
    (tmp_path / "static.json").write_text(json.dumps(facts))
    return tmp_path


def test_a_vector_is_the_sum_of_its_pieces_rows(folder: Path) -> None:
    made = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    table = np.load(folder / "static.npy").astype(np.float64)
    sums = np.array([table[made.encode(text).ids].sum(axis=0) for text in TEXTS])
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    found = vector_encoder(folder).encode(TEXTS)
    np.testing.assert_allclose(found, np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0), atol=1e-6)
    again = vector_encoder(folder).encode(TEXTS * 500, threads=3)
    assert (again == np.tile(found, (500, 1))).all()


def test_chunks_are_cut_and_searched_with_it(folder: Path, tmp_path: Path) -> None:
    chunks = pychunk.segment([TEXTS[0]], "sentence", encoder=folder, vectors="chunk")
    assert chunks.metadata["encoder"].startswith("tiny:")
    assert chunks.texts == ["кіт спить.", "cats sleep"] or chunks.texts == [TEXTS[0]]
    with pychunk.Index.create(tmp_path / "t.idx", encoder=folder) as index:
        index.add(pychunk.segment(TEXTS, "sentence", encoder=folder, vectors="sentence", ids=list("abcd")))
        assert index.search("кіт спить.", k=1, mode="dense")[0][0].document_id == "a"


@pytest.mark.parametrize(
    ("query", "weight", "counts"),
    # The chunks have all of the words; none, but n-grams of it; one of six, such as a name; and one of two, which is
    # between foreign and own.
    [("кіт спить", 0.25, True), ("спитьс", 1.0, True), ("cats a b c d e", 1.0, False), ("кіт спит", 0.625, True)],
)
@pytest.mark.parametrize("stages", [(), Rewrite(lambda query: [query])], ids=["plain", "rewritten"])
def test_cosines_weigh_less_unless_the_query_is_foreign(
    folder: Path, tmp_path: Path, query: str, weight: float, counts: bool, stages: Any
) -> None:
    def scores(place: str, mode: str) -> dict[str, float]:
        with pychunk.Index.create(tmp_path / place, encoder=folder) as index:
            index.add(pychunk.segment(TEXTS[:1], "sentence", encoder=folder, vectors="sentence"))
            return dict(index.search(query, k=1, mode=mode, stages=stages)[0][0].scores)

    facts = json.loads((folder / "static.json").read_text())
    whole, alone = scores("whole.idx", "hybrid"), scores("alone.idx", "dense")
    assert whole["sparse"] > 0
    (folder / "static.json").write_text(json.dumps({**facts, "cosine_weight": 0.25}))
    assert scores("less.idx", "dense") == alone
    found = scores("weighed.idx", "hybrid")
    expected = {"dense": weight * whole["dense"], "sparse": whole["sparse"]} if counts else {**alone, "sparse": 0}
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("file", ["static.npy", "tokenizer.json"])
@pytest.mark.parametrize("state", ["missing", "damaged"])
def test_damage_is_an_error_with_the_file_and_the_remedy(folder: Path, file: str, state: str) -> None:
    (folder / file).unlink() if state == "missing" else (folder / file).write_bytes(b" " + (folder / file).read_bytes())
    with pytest.raises(ValueError, match=rf"{file} is {state}.*; mend it$"):
        piece_encoder.load(folder, "mend it")


def test_a_table_of_another_shape_is_an_error(folder: Path) -> None:
    facts = json.loads((folder / "static.json").read_text())
    (folder / "static.json").write_text(json.dumps({**facts, "tokens": 7}))
    with pytest.raises(ValueError, match=r"static\.npy must be int8 with 7 rows; got int8 \(11, 16\): mend it"):
        piece_encoder.load(folder, "mend it")
    (folder / "static.json").write_text(json.dumps({"format": 1, "tokenizer": "tokenizer.json"}))
    with pytest.raises(ValueError, match=r"static\.json is damaged \(it lacks name, table, .*; mend it"):
        piece_encoder.load(folder, "mend it")
