"""Late chunking equals its definition, in any batch, and an index keeps its vectors apart from others."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from amounts import amounts
from command_line import invoke
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine.arrow import flat_text
from pychunk._engine.data.removed_spans import RemovedSpans
from pychunk.encoders import late_chunking, transformer
from pychunk.encoders.late_chunking import windows_of
from pychunk.encoders.transformer import TransformerEncoder
from pychunk.ingest import ingest
from pychunk.levels.pooling import pooled
from pychunk.methods.base import MethodResult

pytest.importorskip("onnxruntime")

WORDS = ["cats", "sleep", "all", "day", "and", "dogs", "bark", "at", "night", "while", "rust", "eats", "iron", "far"]


def flat(lists: list[list[Any]]) -> list[Any]:
    return list(itertools.chain.from_iterable(lists))


def text_of(seed: int, sizes: list[int]) -> str:
    random = np.random.default_rng(seed)
    return " ".join(" ".join(random.choice(WORDS, size)).capitalize() + "." for size in sizes)


#: Documents of one window, of several, with a sentence longer than a window, and without words.
TEXTS = [
    "Cats purr when they are content. Dogs bark at night, as Dr. Who knows. The sun is a star.\n\nStars burn hydrogen.",
    "One sentence.",
    "",
    text_of(1, [9, 30, 4, 60, 25] * 9),
    text_of(2, [8, 5, 1200, 6, 40]),
    "  \n ",
    text_of(3, [12, 10]),
]


def sentences_of(text: str) -> list[str]:
    return [text[a:b] for a, b in pychunk.split_sentences([text])[0]]


def states_of(encoder: TransformerEncoder, ids: list[int]) -> np.ndarray:
    """Return the states of tokens between the model's own special tokens, from a run of its session with one row."""
    template = encoder.template
    row = [*template.prefix, *ids, *template.suffix]
    values = {"ids": row, "mask": [1] * len(row), "types": [0] * len(row)}
    feed = {each.name: np.array([values[each.role]], each.dtype) for each in encoder.session.inputs}
    return encoder.session.run(feed)[0][len(template.prefix) :][: len(ids)]


def tokens_of(encoder: TransformerEncoder, sentences: list[str]) -> list[list[int]]:
    found = encoder.tokens_of(*flat_text(pa.array(sentences, pa.large_string())))
    return [found.ids[a:b].tolist() for a, b in itertools.pairwise(found.offsets)]


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def expected(encoder: TransformerEncoder, sentences: list[str]) -> np.ndarray:
    """Return the vectors of a document's sentences by the definition, if none is longer than a window."""
    tokens = tokens_of(encoder, sentences)
    windows = windows_of(np.array(list(map(len, tokens))), np.array([0, len(tokens)]), encoder.room)
    rows = []
    for first, last in itertools.pairwise(windows.tolist()):
        states, at = states_of(encoder, flat(tokens[first:last])), 0
        for own in tokens[first:last]:
            rows.append(unit(states[at : at + len(own)].mean(axis=0)))
            at += len(own)
    return np.array(rows)


def vectors_of(chunks: pychunk.ChunkBatch) -> np.ndarray:
    return np.array([one["vector"] for chunk in chunks for one in chunk.sentences])


def late(encoder: object, of: str = "sentence") -> pychunk.Vectors:
    return pychunk.Vectors(of, encoder, late_chunking=True)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that receives the tokens of each row that a transformer reads."""
    found: list[int] = []
    run = TransformerEncoder.run

    def counted(self: TransformerEncoder, tokens: Any, first: Any, *rest: Any, **options: Any) -> None:
        found.extend(np.diff(tokens.offsets)[first].tolist())
        run(self, tokens, first, *rest, **options)

    monkeypatch.setattr(TransformerEncoder, "run", counted)
    return found


@pytest.mark.parametrize("row", [0, 1, 3, 6])
def test_vectors_equal_the_definition(tiny_encoder: Path, row: int) -> None:
    encoder = transformer.load(tiny_encoder)
    chunks = pychunk.segment(TEXTS[row], "sentence", vectors=late(tiny_encoder), keep_together=False)
    wanted = expected(encoder, sentences_of(TEXTS[row]))
    np.testing.assert_allclose(vectors_of(chunks), wanted, atol=1e-5)
    plain = vectors_of(pychunk.segment(TEXTS[row], "sentence", vectors=pychunk.Vectors("sentence", tiny_encoder)))
    assert np.abs(plain - wanted).max() > 1e-3


def test_minilm_reads_the_sentences_around(minilm: Path) -> None:
    texts = ["Berlin is the capital of Germany. It has 3.7 million inhabitants.", "It has 3.7 million inhabitants."]
    own = vectors_of(pychunk.segment(texts, "sentence", vectors=late(minilm)))
    np.testing.assert_allclose(own[:2], expected(transformer.load(minilm), sentences_of(texts[0])), atol=1e-5)
    (question,) = transformer.load(minilm).encode_queries(["How many people live in Berlin?"])
    assert own[1] @ question > own[2] @ question + 0.1


def test_a_sentence_longer_than_a_window_is_the_mean_of_its_parts(tiny_encoder: Path) -> None:
    encoder = transformer.load(tiny_encoder)
    tokens = tokens_of(encoder, sentences_of(TEXTS[4]))
    size = len(tokens[2])
    assert size > 2 * encoder.room
    count = -(-size // encoder.room)
    at = [part * size // count for part in range(count + 1)]
    parts = [tokens[2][a:b] for a, b in itertools.pairwise(at)]
    rows = [*tokens[:2], *parts, *tokens[3:]]
    windows = windows_of(np.array(list(map(len, rows))), np.array([0, len(rows)]), encoder.room)
    of_rows = []
    for first, last in itertools.pairwise(windows.tolist()):
        states, begin = states_of(encoder, flat(rows[first:last])), 0
        for own in rows[first:last]:
            of_rows.append(unit(states[begin : begin + len(own)].mean(axis=0)))
            begin += len(own)
    mean = unit(sum(vector * len(part) for vector, part in zip(of_rows[2:], parts, strict=False)))
    wanted = np.array([*of_rows[:2], mean, *of_rows[2 + count :]])
    chunks = pychunk.segment(TEXTS[4], "sentence", vectors=late(tiny_encoder), max_tokens=None)
    np.testing.assert_allclose(vectors_of(chunks), wanted, atol=1e-5)
    assert chunks.describe()["sentences"] == {"windowed": 1}
    twice = pychunk.segment(TEXTS[4], "semantic", encoder=tiny_encoder, vectors=late(None))
    assert twice.describe()["sentences"] == {"windowed": 1}


@settings(max_examples=200)
@given(st.lists(st.lists(st.integers(0, 9), max_size=14), max_size=3), st.integers(9, 20))
def test_windows_are_as_few_as_possible(documents: list[list[int]], room: int) -> None:
    sizes = np.array(flat(documents), np.int64)
    offsets = np.cumsum([0, *map(len, documents)])
    found = windows_of(sizes, offsets, room).tolist()
    assert found[-1] == len(sizes)
    assert set(offsets[:-1][np.diff(offsets) > 0].tolist()) <= set(found)
    for first, last in itertools.pairwise(offsets.tolist()):
        own = [at for at in found if first <= at < last]
        assert len(own) == len(set(own))
        assert max((sizes[a:b].sum() for a, b in itertools.pairwise([*own, last])), default=0) <= room
        greedy, filled = int(first < last), 0
        for size in sizes[first:last].tolist():
            greedy, filled = (greedy, filled + size) if filled + size <= room else (greedy + 1, size)
        assert len(own) == greedy


@pytest.mark.parametrize("size", [1, 3, 7])
def test_windows_are_of_even_sizes(size: int) -> None:
    for count in range(1, 400):
        found = np.diff(windows_of(np.full(count, size), np.array([0, count]), 100))
        assert found.max() - found.min() <= 1


@pytest.mark.parametrize("seed", amounts(3, 30))
def test_vectors_do_not_depend_on_the_batch(tiny_encoder: Path, seed: int) -> None:
    encoder = transformer.load(tiny_encoder)
    random = np.random.default_rng(seed)
    texts = [*TEXTS, *(text_of(seed, random.integers(1, 60, random.integers(1, 40)).tolist()) for _ in range(5))]
    documents = [sentences_of(text) for text in texts]
    offsets = np.cumsum([0, *map(len, documents)])
    found = encoder.tokens_of(*flat_text(pa.array(flat(documents), pa.large_string())))
    whole = late_chunking.late_vectors(encoder, found, offsets)
    for threads, tokens in ((1, 1), (2, 40), (5, 5000)):
        other = late_chunking.late_vectors(encoder, found, offsets, threads=threads, batch_tokens=tokens)
        np.testing.assert_allclose(other, whole, atol=1e-6)
    seg = pychunk.Segmenter("sentence", vectors=late(tiny_encoder), max_tokens=None, keep_together=False)
    kept = np.abs(whole).sum(axis=1) > 0
    np.testing.assert_allclose(vectors_of(seg(texts)), whole[kept], atol=1e-6)
    order = random.permutation(len(texts))
    there = seg([texts[at] for at in order]).by_document()
    for at, rows in zip(order, there, strict=True):
        alone = seg(texts[at])
        assert [chunk.text for chunk in rows] == alone.texts
        if len(alone):
            found_there = np.array([one["vector"] for chunk in rows for one in chunk.sentences])
            np.testing.assert_allclose(found_there, vectors_of(alone), atol=1e-6)


def test_the_model_reads_each_token_once(tiny_encoder: Path, runs: list[int]) -> None:
    encoder = transformer.load(tiny_encoder)
    sizes = [sum(map(len, tokens_of(encoder, sentences_of(text)))) for text in TEXTS if text.strip()]
    for method in ("recursive", "structure", "topic", "fixed"):
        runs.clear()
        pychunk.segment(TEXTS, method, vectors=late(tiny_encoder, "chunk"))
        assert sum(runs) == sum(sizes)
        assert len(runs) == sum(-(-size // encoder.room) for size in sizes)
    runs.clear()
    pychunk.segment_levels(TEXTS, ["paragraph", "document"], vectors=late(tiny_encoder, "chunk"))
    assert sum(runs) == sum(sizes)
    runs.clear()
    pychunk.segment(TEXTS, "semantic", encoder=tiny_encoder, vectors=late(None, "chunk"))
    assert sum(runs) == 2 * sum(sizes)  # once for the cuts, once for the vectors


@pytest.mark.parametrize("method", ["pic", "semantic", "cluster", "sentence", "fixed"])
def test_the_cuts_stay(tiny_encoder: Path, method: str) -> None:
    plain = pychunk.segment(TEXTS, method, encoder=tiny_encoder, vectors="chunk")
    chunks = pychunk.segment(TEXTS, method, encoder=tiny_encoder, vectors=late(None, "chunk"))
    assert chunks.table.drop_columns("vector").equals(plain.table.drop_columns("vector"))
    assert np.abs(chunks.vectors - plain.vectors).max() > 1e-3
    assert chunks.metadata == {**plain.metadata, "late_chunking": True}
    spans = pychunk.split_sentences(TEXTS)
    vectors = np.random.default_rng(0).normal(size=(sum(map(len, spans)), 8)).astype(np.float32)
    if method in ("pic", "semantic"):
        options: dict[str, Any] = {"columns": {"sentence_vectors": vectors}}
        plain = pychunk.segment(TEXTS, method, **options)
        chunks = pychunk.segment(TEXTS, method, vectors=late(tiny_encoder, "chunk"), **options)
        assert chunks.table.drop_columns("vector").equals(plain.table)
        assert chunks.vectors.shape == (len(plain), 64)


def test_chunk_vectors_come_from_sentence_vectors(tiny_encoder: Path) -> None:
    chunks = pychunk.segment(TEXTS[3], "fixed", vectors=late(tiny_encoder, "chunk"), size=150)
    with_sentences = pychunk.segment(TEXTS[3], "fixed", vectors=late(tiny_encoder), size=150)
    encoder = transformer.load(tiny_encoder)
    for chunk, other in zip(chunks, with_sentences, strict=True):
        own = [TEXTS[3][each["start"] : each["end"]] for each in other.sentences]
        weights = np.array(list(map(len, tokens_of(encoder, own))))
        mean = unit((np.array([each["vector"] for each in other.sentences]) * weights[:, None]).sum(axis=0))
        np.testing.assert_allclose(chunk.vector, mean, atol=1e-5)


def test_levels(tiny_encoder: Path) -> None:
    found = pychunk.segment_levels(TEXTS, ["group", "document"], vectors=late(tiny_encoder, "chunk"))
    wanted = pychunk.segment(TEXTS, "sentence", vectors=late(tiny_encoder), max_tokens=None, keep_together=False)
    own = found.vectors("sentence")
    np.testing.assert_allclose(own[np.abs(own).sum(axis=1) > 0], vectors_of(wanted), atol=1e-6)
    assert found.metadata["late_chunking"] is True
    assert json.loads(found.chunks().table.schema.metadata[b"pychunk"])["late_chunking"] is True
    remedy = "these were made by late chunking: pass pooling='tokens'"
    with pytest.raises(ValueError, match=remedy):
        pychunk.segment_levels(TEXTS, ["document"], vectors=late(tiny_encoder, "chunk"), pooling="compressor")
    with pytest.raises(ValueError, match=remedy):
        pooled(found, "document", "compressor")


def test_removed_text_is_not_read(tiny_encoder: Path, runs: list[int]) -> None:
    encoder = transformer.load(tiny_encoder)
    text = "Cats purr. Home About Contact. Dogs bark at night. Stars burn."
    gone = (text.index("Home"), text.index("Dogs"))
    chunks = pychunk.segment([text], "sentence", vectors=late(tiny_encoder), columns={"removed": [[gone]]})
    kept = ["Cats purr. ", "Dogs bark at night. ", "Stars burn."]
    assert sum(runs) == sum(map(len, tokens_of(encoder, kept)))
    np.testing.assert_allclose(vectors_of(chunks), expected(encoder, kept), atol=1e-5)
    runs.clear()
    pychunk.segment_levels([text], ["document"], vectors=late(tiny_encoder), columns={"removed": [[gone]]})
    assert sum(runs) == sum(map(len, tokens_of(encoder, kept)))


class Remover(pychunk.Method):
    """Remove the second sentence of each document."""

    name, removes = "remover", True

    def cuts(self, features: pychunk.Features) -> pychunk.Cuts:
        starts = features.given("sentences")
        return pychunk.Cuts.of([range(len(starts.part(row))) for row in range(features.documents)])

    def decided(self, features: pychunk.Features) -> MethodResult:
        starts = [features.given("sentences").part(row).tolist() for row in range(features.documents)]
        spans = [[(own[1], own[2], "menu", 1.0)] for own in starts]
        return MethodResult(self.cuts(features), RemovedSpans.of(spans))


def test_text_that_the_method_removes_is_not_read(tiny_encoder: Path) -> None:
    text = "Cats purr. Home About Contact. Dogs bark at night. Stars burn."
    chunks = pychunk.segment([text], Remover(), vectors=late(tiny_encoder), keep_together=False)
    assert chunks.texts == ["Cats purr.", "Dogs bark at night.", "Stars burn."]
    kept = ["Cats purr. ", "Dogs bark at night. ", "Stars burn."]
    np.testing.assert_allclose(vectors_of(chunks), expected(transformer.load(tiny_encoder), kept), atol=1e-5)


def with_facts(source: Path, folder: Path, **facts: Any) -> Path:
    """Return a copy of a model directory with other facts."""
    made = Path(shutil.copytree(source, folder))
    known = json.loads((made / "pychunk.json").read_text())
    (made / "pychunk.json").write_text(json.dumps({**known, **facts}))
    return made


def test_the_prompt_is_before_each_window_and_in_no_vector(tiny_encoder: Path, tmp_path: Path) -> None:
    folder = with_facts(tiny_encoder, tmp_path / "prompted", passage_prompt="passage: ")
    encoder = transformer.load(folder)
    assert len(encoder.template.prefix) > 1
    chunks = pychunk.segment(TEXTS[3], "sentence", vectors=late(folder), keep_together=False)
    np.testing.assert_allclose(vectors_of(chunks), expected(encoder, sentences_of(TEXTS[3])), atol=1e-5)


def test_vectors_that_the_model_does_not_normalize(tiny_encoder: Path, tmp_path: Path) -> None:
    encoder = transformer.load(with_facts(tiny_encoder, tmp_path / "raw", normalize=False))
    tokens = encoder.tokens_of(*flat_text(pa.array(sentences_of(TEXTS[0]), pa.large_string())))
    found = late_chunking.late_vectors(encoder, tokens, np.array([0, len(tokens.counts)]))
    states = states_of(encoder, tokens.ids.tolist())
    means = [states[a:b].mean(axis=0) for a, b in itertools.pairwise(tokens.offsets)]
    np.testing.assert_allclose(found, means, atol=1e-5)


def test_encoders_that_cannot_are_refused(tiny_encoder: Path, tiny_pairs: Path, tmp_path: Path) -> None:
    for options in ({}, {"method": "nsp", "encoder": tiny_pairs, "threshold": 0.5}):
        with pytest.raises(ValueError, match=r"late_chunking=True needs a transformer.* pass .*encoder='minilm'"):
            pychunk.segment("One.", vectors=late(None), **options)
    cls = with_facts(tiny_encoder, tmp_path / "cls", pooling="cls")
    with pytest.raises(ValueError, match=r"mean of its token states; .*cls has pooling 'cls': choose another encoder"):
        pychunk.segment("One.", vectors=late(cls))
    on_gpu = copy.copy(transformer.load(tiny_encoder))
    on_gpu.placement = replace(on_gpu.placement, device=SimpleNamespace(name="cuda:0"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="runs on the CPU only; got the device cuda:0: leave out the device"):
        late_chunking.checked(on_gpu)


def test_segmenters_and_views_keep_the_choice(tiny_encoder: Path) -> None:
    seg = pychunk.Segmenter("sentence", vectors=late(tiny_encoder))
    assert "Vectors(of='sentence', encoder=" in repr(seg)
    assert "late_chunking=True" in repr(seg)
    chunks = pickle.loads(pickle.dumps(seg))(TEXTS)
    assert np.array_equal(vectors_of(chunks), vectors_of(seg(TEXTS)))
    again = seg(TEXTS).origin.again(pa.array(list(map(str, range(len(TEXTS))))))
    assert np.array_equal(vectors_of(again), vectors_of(chunks))
    assert not len(seg([]))
    assert seg([]).metadata["late_chunking"] is True


def test_an_index_keeps_late_vectors_apart(tiny_encoder: Path, tmp_path: Path) -> None:
    ids = [str(at) for at in range(len(TEXTS))]
    chosen = late(tiny_encoder, "chunk")
    made = pychunk.segment(TEXTS, "fixed", vectors=chosen, ids=ids)
    plain = pychunk.segment(TEXTS, "fixed", vectors=replace(chosen, late_chunking=False), ids=ids)
    bare = pychunk.segment(TEXTS, "fixed", ids=ids)
    others = r"the index's vectors were made by late chunking, and the chunks have other vectors or none: segment with"
    with pychunk.Index.create(tmp_path / "late", encoder=tiny_encoder, vectors="chunk") as index:
        index.add(pychunk.segment([], "fixed", vectors=replace(chosen, late_chunking=False), ids=[]))
        index.add(made)
        for refused in (plain, bare):
            with pytest.raises(ValueError, match=others):
                index.add(refused)
        with pytest.raises(ValueError, match=others):  # a table that lost its vectors, but not its metadata
            index.add(made.table.drop_columns("vector"))
        assert len(index) == len(made)
        assert index.search("Cats purr", k=1, mode="dense")[0]
    pq.write_table(made.table, tmp_path / "late.parquet")
    with pychunk.Index.open(tmp_path / "late") as index:
        assert index.info["late_chunking"] is True
        with pytest.raises(ValueError, match=others):
            index.add(plain)
        index.add(pq.read_table(tmp_path / "late.parquet"))
        assert len(index) == len(made)
    with pychunk.Index.create(tmp_path / "plain", encoder=tiny_encoder, vectors="chunk") as index:
        index.add(bare)
        with pytest.raises(ValueError, match="the chunks' vectors were made by late chunking, those of the index were"):
            index.add(made)
        assert "late_chunking" not in index.info
    with pychunk.Index.open(tmp_path / "plain") as index, pytest.raises(ValueError, match="made by late chunking"):
        index.add(made)


def test_the_command_updates_such_an_index(tiny_encoder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXTS[0])
    made = pychunk.segment([TEXTS[6]], "fixed", vectors=late(tiny_encoder, "chunk"), ids=["first"])
    with pychunk.Index.create(tmp_path / "x", encoder=tiny_encoder, vectors="chunk") as index:
        index.add(made)
    out = invoke(["index", str(folder), "-o", str(tmp_path / "x"), "--method", "fixed"])
    assert out.exit_code == 0, out.output
    wanted = pychunk.segment([TEXTS[0]], "fixed", vectors=late(tiny_encoder, "chunk"))
    with pychunk.Index.open(tmp_path / "x") as index:
        assert index.info["late_chunking"] is True
        assert len(index) == len(made) + len(wanted)
        best = index.search(wanted.vectors[:1], k=1, mode="dense")[0][0]
        assert best.text == wanted.texts[0]
        assert best.score > 0.999


def test_ingested_chunks_tell_it(tiny_encoder: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a", "b"], "text": [TEXTS[0], TEXTS[6]]}), tmp_path / "texts.parquet")
    out = tmp_path / "out"
    ingest(tmp_path / "texts.parquet", out, ids="id", vectors=late(tiny_encoder, "chunk"))
    (file,) = out.glob("*.parquet")
    assert json.loads(pq.read_schema(file).metadata[b"pychunk"])["late_chunking"] is True
    with pychunk.Index.create(tmp_path / "x", encoder=tiny_encoder, vectors="chunk") as index:
        index.add(pq.read_table(file))
        index.save()
        assert index.info["late_chunking"] is True
    with pytest.raises(ValueError, match="late_chunking: was true, is not given"):
        ingest(tmp_path / "texts.parquet", out, ids="id", vectors=pychunk.Vectors("chunk", tiny_encoder))
