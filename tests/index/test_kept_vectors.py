"""An index that keeps the vectors of unchanged chunks stores the bytes that encoding them again would store."""

import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

pytest.importorskip("faiss")

import pychunk
from pychunk._engine import native
from pychunk.cli.main import app
from pychunk.index import chunk_tables, writer
from pychunk.index.index import Index
from pychunk.index.store import document_digests
from pychunk.index.store.part import SENTENCES

pytestmark = pytest.mark.usefixtures("one_faiss_thread")

LINES = [
    "Cats purr when they are content. They sleep all day.",
    "Rust is memory safe, and its compiler is strict.",
    "Take it with food. Never twice a day.",
    "ทะเลกว้างใหญ่ไพศาล และลึกมาก",  # The encoder knows no word of it, so its vectors are zero.
    "Stars burn hydrogen for billions of years. Then they swell.",
    "The compass points north.",
]
SEGMENTER = pychunk.Segmenter("recursive", size=12, unit="words", placement=pychunk.Placement(threads=1))
CASES = [
    (dtype, vectors, more)
    for dtype in ("int8", "float16", "float32")
    for vectors in ("sentence", "chunk", "both")
    for more in ("", "context", "propositions")
]
Corpus = dict[str, list[str]]


class Counting:
    """A model whose vectors depend on the text alone, which counts the texts that it is asked for."""

    def __init__(self) -> None:
        self.count = 0

    def encode(self, texts: list[str]) -> Any:
        self.count += len(texts)
        seeds = [zlib.crc32(text.encode()) for text in texts]
        return np.stack([np.random.default_rng(seed).standard_normal(16) for seed in seeds]).astype(np.float32)


def chunks_of(corpus: Corpus, more: str = "") -> pa.Table:
    """Return the chunks of a corpus without vectors, with contexts or propositions that depend on their text."""
    texts = ["\n\n".join(lines) for lines in corpus.values()]
    table = SEGMENTER(texts, ids=list(corpus)).table
    own = table["text"].to_pylist()
    if more == "context":
        heads = [corpus[name][0][:9] if len(text) % 3 else "" for name, text in zip(_ids(table), own, strict=True)]
        return table.append_column("context", pa.array(heads, pa.large_string()))
    if more == "propositions":
        facts = [[f"It is said: {text[:20]}", ""][: len(text) % 3] or None for text in own]
        return table.append_column("propositions", pa.array(facts, pa.large_list(pa.large_string())))
    return table


def _ids(table: pa.Table) -> list[str]:
    return [str(each) for each in table["document_id"].to_pylist()]


def edited(corpus: Corpus, seed: int) -> Corpus:
    """Return a corpus in which documents gained, lost, moved and repeated lines, and came and went."""
    drawn = random.Random(seed)
    found = {name: list(lines) for name, lines in corpus.items() if drawn.random() > 0.1}
    for lines in found.values():
        how = drawn.randrange(6)
        if how == 0:
            lines.insert(drawn.randrange(len(lines) + 1), drawn.choice(LINES))
        elif how == 1 and len(lines) > 1:
            lines.pop(drawn.randrange(len(lines)))
        elif how == 2:
            drawn.shuffle(lines)
        elif how == 3:
            lines.insert(0, f"Line {drawn.randrange(1000)} is new.")
    return {**found, f"new{seed}": drawn.choices(LINES, k=3)}


def corpus_of(count: int, seed: int = 0) -> Corpus:
    drawn = random.Random(seed)
    return {f"d{number}": [*drawn.choices(LINES, k=4), f"This is {number}."] for number in range(count)}


def files(folder: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: data for name, data in found.items() if name != "lock"}


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs another one while no vector is kept."""

    def run(action: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(writer.IndexWriter, "encoded_rows", lambda self, keys: [])
            return action()

    return run


@pytest.mark.parametrize(("dtype", "vectors", "more"), CASES)
def test_an_update_stores_the_bytes_that_encoding_every_chunk_again_stores(
    tmp_path: Path, never: Any, dtype: str, vectors: str, more: str
) -> None:
    def updated(folder: Path, seed: int, *, saved: bool) -> dict[str, bytes]:
        corpus = corpus_of(6, seed)
        with Index.create(folder, dtype=dtype, vectors=vectors) as index:
            for step in range(4):
                index.add(chunks_of(corpus, more))
                index.remove([name for name in index.ids() if name not in corpus])
                if saved:
                    index.save()
                corpus = edited(corpus, seed + step)
        return files(folder)

    for seed in range(2):
        ours = updated(tmp_path / f"kept{seed}", seed, saved=bool(seed))
        other = tmp_path / f"again{seed}"
        assert ours == never(lambda seed=seed, other=other: updated(other, seed, saved=bool(seed)))


@pytest.mark.parametrize("kind", ["pq", "hnsw"])
def test_approximate_indexes_are_made_of_the_kept_vectors(tmp_path: Path, never: Any, kind: str) -> None:
    corpus = {name: [*lines, f"Number {name} ends."] for name, lines in corpus_of(300).items()}

    def updated(folder: Path) -> dict[str, bytes]:
        with Index.create(folder, kind=kind) as index:
            index.add(chunks_of(corpus))
            index.save()
            assert index._contents._kinds()["sentences"] == kind
            index.add(chunks_of(edited(corpus, 1)))
        return files(folder)

    assert updated(tmp_path / "kept") == never(lambda: updated(tmp_path / "again"))


def test_of_documents_that_gain_a_line_only_the_new_texts_are_encoded(tmp_path: Path) -> None:
    drawn = random.Random(5)
    words = [f"word{number}" for number in range(500)]
    lines = [" ".join(drawn.choices(words, k=9)).capitalize() + "." for _ in range(6400)]
    corpus = {f"d{number}": lines[8 * number : 8 * number + 8] for number in range(800)}
    changed = corpus | {name: [*corpus[name], "One more line."] for name in list(corpus)[::100]}
    model = Counting()
    for vectors in ("sentence", "chunk", "both"):
        with Index.create(tmp_path / vectors, encoder=pychunk.Encoder(model, "counting"), vectors=vectors) as index:
            before = model.count
            index.add(chunks_of(corpus))
            first = model.count - before
            index.save()
            index.add(chunks_of(corpus))
            assert model.count == before + first  # Nothing has changed, so nothing is encoded.
            index.add(chunks_of(changed))
            assert 0 < model.count - before - first <= 0.05 * first
            again = model.count
            index.add(chunks_of({"d0": changed["d0"]}))
            assert model.count == again
            assert len(index) == chunks_of(changed).num_rows


def test_changed_documents_by_digest_keep_the_vectors_of_their_other_chunks(tmp_path: Path) -> None:
    model, first = Counting(), corpus_of(40)
    with Index.create(tmp_path / "x", encoder=pychunk.Encoder(model, "counting"), vectors="chunk") as index:
        for corpus in (first, {**first, "d7": [*first["d7"], "One more line."]}):
            before = model.count
            texts = ["\n\n".join(lines) for lines in corpus.values()]
            documents = document_digests.of(pa.table({"id": list(corpus), "text": texts}), ["text"], SEGMENTER.options)
            new = index.diff(documents)
            chosen = {name: lines for name, lines, is_new in zip(corpus, corpus.values(), new, strict=True) if is_new}
            index.add(chunks_of(chosen), documents=documents.choose(new))
        assert new.sum() == 1
        assert 0 < model.count - before <= 2  # of 5: the chunk with the new line, and one that it moved a line to


def test_a_changed_context_or_proposition_is_encoded_with_its_chunk(tmp_path: Path) -> None:
    chunks, model = chunks_of({"a": LINES[:1]}), Counting()
    with Index.create(tmp_path / "x", encoder=pychunk.Encoder(model, "counting")) as index:
        for context, facts, encoded in (
            ("Pets", ["Cats purr."], 4),  # two sentences, the context and the proposition
            ("Pets", ["Cats purr."], 0),
            ("Animals", ["Cats purr."], 4),
            ("Animals", ["Cats sleep."], 4),
            ("Animals", ["Cats sleep."], 0),
        ):
            before, own = model.count, chunks.append_column("context", pa.array([context]))
            index.add(own.append_column("propositions", pa.array([facts])))
            assert model.count - before == encoded


def test_chunks_without_ids_keep_their_vectors_too(tmp_path: Path) -> None:
    model = Counting()
    with Index.create(tmp_path / "x", encoder=pychunk.Encoder(model, "counting"), vectors="chunk") as index:
        chunks, counts = SEGMENTER(LINES[1:3]), [0]
        for _ in range(3):
            index.add(chunks)
            counts.append(model.count)
        assert counts[0] < counts[1] == counts[2] == counts[3]
        assert len(index) == len(chunks)


def test_vectors_that_came_with_chunks_are_not_kept(tmp_path: Path, never: Any) -> None:
    corpus = corpus_of(5)
    texts = ["\n\n".join(lines) for lines in corpus.values()]
    with_vectors = pychunk.segment(texts, "recursive", size=12, unit="words", vectors="sentence", ids=list(corpus))

    def mixed(folder: Path) -> dict[str, bytes]:
        with Index.create(folder) as index:
            index.add(with_vectors)  # A part with vectors of both kinds counts as one of given vectors.
            index.add(chunks_of({"other": LINES}))
            assert index._contents.encoded_rows(pa.array(["other", "d0"], pa.large_string())) == []
            index.add(chunks_of(corpus))
        return files(folder)

    assert mixed(tmp_path / "one") == never(lambda: mixed(tmp_path / "other"))


def test_vectors_of_another_version_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, chunks = Counting(), chunks_of(corpus_of(5))
    with Index.create(tmp_path / "x", encoder=pychunk.Encoder(model, "counting"), vectors="chunk") as index:
        before = model.count
        index.add(chunks)
        first = model.count - before
        index.save()
        with monkeypatch.context() as patch:
            patch.setattr(native, "version", "0.0.1")
            index.add(chunks)
            for _ in range(2):
                index.add(chunks)
                assert model.count - before == 2 * first
        index.add(chunks)
        assert model.count - before == 3 * first
        index.save()


def test_merged_and_compacted_parts_still_know_who_encoded_them(tmp_path: Path) -> None:
    corpus, model = corpus_of(12), Counting()
    encoder = pychunk.Encoder(model, "counting")
    with Index.create(tmp_path / "x", encoder=encoder, vectors="chunk") as index:
        for name, lines in corpus.items():
            index.add(chunks_of({name: lines}))
            index.save()
        assert len(index._store.manifest["parts"]) < len(corpus)
        index.remove([f"d{number}" for number in range(7)])
        index.save()
        assert index.info["removed"] == 0
    with Index.open(tmp_path / "x", encoder=encoder) as index:
        before = model.count
        index.add(chunks_of({name: corpus[name] for name in ("d8", "d9", "d11")}))
        assert model.count == before


def test_a_damaged_vector_is_not_copied(tmp_path: Path) -> None:
    chunks = chunks_of(corpus_of(200))
    with Index.create(tmp_path / "x") as index:
        index.add(chunks)
    path = next((tmp_path / "x").glob(f"part-*/{SENTENCES}"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with Index.open(tmp_path / "x", verify="headers") as index:
        with pytest.raises(ValueError, match=rf"{SENTENCES} is damaged"):
            index.add(chunks)
        index.close(discard=True)


def test_the_command_keeps_vectors_of_a_file_of_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    encode = chunk_tables.encode_chunks

    def counted(table: Any, *args: Any, **more: Any) -> Any:
        counts.append(table.num_rows)
        return encode(table, *args, **more)

    monkeypatch.setattr(chunk_tables, "encode_chunks", counted)
    before = corpus_of(8)
    for corpus in (before, {**before, "d3": [*before["d3"], "One more line is here."]}):
        pq.write_table(chunks_of(corpus), tmp_path / "chunks.parquet")
        found = CliRunner().invoke(app, ["index", str(tmp_path / "chunks.parquet"), "-o", str(tmp_path / "x")])
        assert found.exit_code == 0, found.output
    *first, last = counts  # The last document of a file is added by itself, because it may go on.
    assert (sum(first), last) == (chunks_of(before).num_rows, 1)
