"""The compression encoder: native equal to the reference, the same in any batch, its refusals, its training."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instruction_sets import printed_by_each

import pychunk
from pychunk._engine import native
from pychunk._engine.reference import engine as slow
from pychunk.levels.compressor import FACTS, SHIPPED, Compressor, compressor, shipped_for
from pychunk.levels.pooling import pooled

FOLDER = Path(pychunk.__file__).parent / "models"
LEVELS = ["sentence", "paragraph", "section", "document"]
TEXT = "Cats\n\nCats purr. They sleep by day.\n\nThey eat mice.\n\nDogs\n\nDogs bark at night. They bite. They dig."
TEXTS = [TEXT, "One sentence.", "", "Stars burn hydrogen. They shine.\n\nSome explode.", TEXT + "\n\nFish swim."]


def weights(seed: int, heads: int, dim: int, rank: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = [(heads, dim), (10, heads), (heads,), (dim, rank), (rank, dim), (2, dim)]
    return [rng.normal(size=shape).astype(np.float32) for shape in shapes]


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(0, 6), min_size=1, max_size=5),
    seed=st.integers(0, 99),
    heads=st.integers(1, 3),
    dim=st.sampled_from([16, 48]),
)
def test_native_equals_the_reference(counts: list[int], seed: int, heads: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *counts])
    vectors = rng.normal(size=(int(offsets[-1]), dim)).astype(np.float32)
    vectors[rng.random(len(vectors)) < 0.1] = 0
    tokens = rng.integers(0, 200, len(vectors))
    documents = [(a, b) for a, b in zip(offsets, offsets[1:], strict=False) if a < b]
    halves = [(a, b) for first, last in documents for a, b in ((first, (first + last) // 2),) if a < b]
    levels = [tuple(np.array([each[i] for each in spans], np.int64) for i in (0, 1)) for spans in (documents, halves)]
    parts = weights(seed, heads, dim, 16)
    found = native.compressed_vectors(parts, vectors, tokens, offsets, levels, threads=2)
    expected = slow.compressed_vectors(parts, vectors, tokens, offsets, levels, threads=1)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_zero_vectors_stay_zero_and_long_scores_stay_finite() -> None:
    parts = weights(0, 2, 16, 16)
    zero = native.compressed_vectors(
        parts,
        np.zeros((2, 16), np.float32),
        np.ones(2, np.int64),
        np.array([0, 2]),
        [(np.array([0]), np.array([2]))],
        threads=1,
    )
    assert not zero[0].any()
    parts[0] *= 1e4
    rows = np.random.default_rng(0).normal(size=(9, 16)).astype(np.float32)
    found = native.compressed_vectors(
        parts, rows, np.ones(9, np.int64), np.array([0, 9]), [(np.array([0]), np.array([9]))], threads=1
    )
    assert np.linalg.norm(found[0]) == pytest.approx(1, abs=1e-5)


def test_the_border_is_checked() -> None:
    parts, rows, tokens = weights(0, 1, 16, 16), np.ones((4, 16), np.float32), np.ones(4, np.int64)
    whole = [(np.array([0]), np.array([4]))]
    for given_parts, given_rows, given_tokens, offsets, message in (
        (parts[:5], rows, tokens, [0, 4], "six parts"),
        (weights(0, 1, 16, 8), rows, tokens, [0, 4], "multiples of 16"),
        ([*parts[:5], parts[5][:1]], rows, tokens, [0, 4], "the parts of a compressor must be"),
        (parts, np.ones((4, 32), np.float32), tokens, [0, 4], "vectors must have 16 dimensions, got 32"),
        (parts, rows, tokens[:3], [0, 4], "one number for each of 4"),
        (parts, rows, -tokens, [0, 4], "must not be negative"),
        (parts, rows, tokens, [0, 2, 4], "a node must be inside one document"),
    ):
        with pytest.raises(ValueError, match=message):
            native.compressed_vectors(given_parts, given_rows, given_tokens, np.array(offsets), whole, threads=1)


def test_levels_by_the_compressor() -> None:
    found = pychunk.segment_levels(TEXTS, LEVELS, vectors="sentence", pooling="compressor")
    plain = pychunk.segment_levels(TEXTS, LEVELS, vectors="sentence")
    np.testing.assert_array_equal(found.vectors("sentence"), plain.vectors("sentence"))
    for level in LEVELS:
        np.testing.assert_array_equal(found.vectors(level), pooled(plain, level, "compressor"))
        one = np.diff(found.first(level)) == 1  # those equal their sentence
        np.testing.assert_array_equal(found.vectors(level)[one], plain.vectors(level)[one])
        np.testing.assert_allclose(np.linalg.norm(found.vectors(level), axis=1), 1, atol=1e-5)
    assert not np.allclose(found.vectors("document"), plain.vectors("document"), atol=0.01)
    assert found.metadata["pooling"] == compressor().fingerprint
    assert pychunk.segment_levels(TEXTS, LEVELS, vectors="sentence", pooling=FOLDER).metadata == found.metadata
    again = pychunk.Hierarchy.from_arrow(found.to_arrow())
    np.testing.assert_array_equal(again.vectors("document"), found.vectors("document"))


def test_whatever_the_batch_the_order_the_threads_and_the_levels() -> None:
    def documents(texts: list[str], threads: int, levels: list[str]) -> np.ndarray:
        found = pychunk.segment_levels(
            texts, levels, vectors="sentence", pooling="compressor", placement=pychunk.Placement(threads=threads)
        )
        return found.vectors("document")

    texts = [text for text in TEXTS if text] * 80
    wanted = documents(texts, 1, LEVELS)
    np.testing.assert_array_equal(documents(texts, 2, ["document"]), wanted)
    np.testing.assert_array_equal(documents(texts[::-1], 2, LEVELS), wanted[::-1])
    np.testing.assert_array_equal(documents(texts[1:2], 1, LEVELS), wanted[1:2])


@pytest.mark.slow  # a process for each
def test_whatever_the_instruction_set() -> None:
    code = (
        "import hashlib, numpy as np\n"
        "from pychunk._engine import native\n"
        "rng = np.random.default_rng(5)\n"
        "shapes = [(3, 48), (10, 3), (3,), (48, 32), (32, 48), (2, 48)]\n"
        "parts = [rng.normal(size=shape).astype(np.float32) for shape in shapes]\n"
        "rows = rng.normal(size=(2000, 48)).astype(np.float32)\n"
        "first = np.unique(np.concatenate([[0], rng.integers(0, 2000, 150)]))\n"
        "spans = [(first, np.append(first[1:], 2000))]\n"
        "tokens = rng.integers(0, 300, 2000)\n"
        "found = native.compressed_vectors(parts, rows, tokens, np.array([0, 2000]), spans, threads=1)[0]\n"
        "print(hashlib.sha256(found.tobytes()).hexdigest())\n"
    )
    printed = printed_by_each(code)
    assert len(printed) == 1
    assert len(printed.pop().strip()) == 64


def test_what_it_was_not_made_for(tmp_path: Path) -> None:
    def segment(**more: object) -> object:
        return pychunk.segment_levels(
            ["One. Two."], ["document"], "sentence", **{"vectors": "sentence", "pooling": "compressor", **more}
        )

    with pytest.raises(
        ValueError, match=r"are for vectors of pychunk-static-en-256:\w+ and of minilm:\w+; these are of g"
    ):
        segment(columns={"sentence_vectors": [np.ones((2, 8), np.float32)]})
    with pytest.raises(
        ValueError, match=r"compressor-minilm is for vectors of minilm:\w+; these are of pychunk-static"
    ):
        segment(pooling=FOLDER / "compressor-minilm")
    with pytest.raises(ValueError, match="these are of no known encoder"):
        segment(vectors=None)
    with pytest.raises(
        ValueError, match="pooling must be 'tokens', 'compressor' or the folder of a compressor; got 'max'"
    ):
        segment(pooling="max")
    with pytest.raises(ValueError, match=r"compressor.json is missing"):
        segment(pooling=tmp_path)
    with pytest.raises(ValueError, match=r"call pychunk.segment_levels\(batch, \[...\], pooling=...\)"):
        pychunk.segment("One.", pooling="compressor")
    found = pychunk.segment_levels(
        ["One. Two."], ["document"], "sentence", columns={"sentence_vectors": [np.ones((2, 8))]}, vectors="sentence"
    )
    with pytest.raises(ValueError, match="these are of given"):
        pooled(found, "document", "compressor")


@pytest.mark.parametrize("folder", SHIPPED, ids=["static", "minilm"])
def test_what_is_shipped(folder: Path, tmp_path: Path) -> None:
    assert sum((folder / name).stat().st_size for name in (FACTS, "compressor.npz", "compressor.md")) < 300_000
    for name in (FACTS, "compressor.npz"):
        shutil.copy(folder / name, tmp_path / name)
    assert Compressor(tmp_path).fingerprint == compressor(folder).fingerprint
    (tmp_path / "compressor.npz").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"compressor.npz is damaged"):
        Compressor(tmp_path)


def test_each_encoder_has_its_own() -> None:
    """Vectors of MiniLM use MiniLM's; random ones are enough, since only their name says whose they are."""
    plain = pychunk.segment_levels(TEXTS, LEVELS, vectors="sentence")
    model = compressor(FOLDER / "compressor-minilm")
    assert shipped_for(model.facts["encoder"]) is model
    assert shipped_for(plain.metadata["vector_encoder"]) is compressor()
    drawn = np.random.default_rng(0).normal(size=(plain.count("sentence"), 384)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    said = {**plain.metadata, "vector_encoder": model.facts["encoder"]}
    stored = tuple(np.zeros((len(each), 384), np.float32) for each in plain.stored_vectors[1:])
    found = replace(plain, stored_vectors=(drawn, *stored), metadata=said)
    made = pooled(found, "document", "compressor")
    several = np.diff(found.first("document")) > 1
    offsets, first = found.doc_offsets, found.first("document")
    spans = [(first[:-1][several], first[1:][several])]
    expected = slow.compressed_vectors(model.parts, drawn, found.tokens, offsets, spans, threads=1)[0]
    np.testing.assert_array_equal(made[several], expected)


@pytest.mark.slow  # it imports torch
def test_training_goes_on_to_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from training import compressor as training
    from training import compressor_fit, compressor_spans

    body = " ".join(f"She wrote of engine {i} in London." for i in range(20))
    texts = [f"Ada {row} wrote programs.\nLife.\n{body} {row}\nWork.\n{row} {body}" for row in range(9)]
    articles = compressor_spans.without_leads([str(row) for row in range(9)], ["Ada"] * 9, texts)
    for target in ("lead", "summary"):
        lessons = compressor_spans.lessons(articles, target)
        assert lessons.documents == 9
        assert len(lessons.first) == len(lessons.targets) == 27
    monkeypatch.setattr(compressor_spans, "_KEPT_TOGETHER", 4)
    kept = [compressor_spans.lessons(articles, "summary", keep=tmp_path / "kept") for _ in range(2)]
    for name in ("vectors", "tokens", "first", "last", "targets"):
        for each in kept:
            np.testing.assert_array_equal(getattr(each, name), getattr(lessons, name))
    assert len(list((tmp_path / "kept").iterdir())) == 3

    def run(name: str, epochs: int) -> bytes:
        given_ = ["--out", tmp_path / name, "--checkpoint", tmp_path / f"{name}.pt", "--batch", 4, "--epochs", epochs]
        training.finish(training.parser().parse_args(list(map(str, given_))), lessons, lessons)
        return (tmp_path / name / "compressor.npz").read_bytes()

    whole = run("whole", 3)
    assert run("whole", 3) == whole  # from its last checkpoint
    with pytest.raises(ValueError, match="belongs to another run"):
        run("whole", 4)
    made = Compressor(tmp_path / "whole")
    assert made.facts["metrics"]["compressor"]["mean"] == pytest.approx(max(made.facts["history"]), abs=2e-4)

    given = tmp_path / "given.parquet"
    pq.write_table(pa.table({"id": ["7", "0", "x"], "summary": ["Programs.", "Engines.", "None."]}), given)
    some = compressor_spans.lessons(articles, str(given))
    assert some.documents == 2
    np.testing.assert_array_equal(some.targets[:2], pychunk.embed(["Engines.", "Programs."]))
    assert some.last[:2].tolist() == [(some.last[-1] // 9), (some.last[-1] // 9) * 8]
    pq.write_table(pa.table({"id": ["x"], "summary": ["None."]}), given)
    with pytest.raises(ValueError, match="contains a summary of none of 9 articles"):
        compressor_spans.lessons(articles, str(given))

    calls: list[int] = []

    def interrupted(*arguments: object) -> float:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measured(*arguments)

    measured = compressor_fit.mean_cosine
    monkeypatch.setattr(compressor_fit, "mean_cosine", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run("again", 3)
    assert run("again", 3) == whole
    assert len(calls) == 4  # the first pass was not repeated
