"""Next-sentence prediction: probabilities, thresholds and cuts, compared with their definitions."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pychunk

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from pychunk.encoders.cross_encoder import PairScorer

#: Every cut of the method.
OWN_CUTS = {"keep_together": False, "min_tokens": 0}
TEXTS = [
    "Cats purr when they are content. Dogs bark at night. The sun is a star. Stars burn hydrogen. They shine.",
    "One sentence.",
    "",
    "A long one follows. " + "word " * 600 + ". It ends. Yes it does. " + "more " * 550 + "end.",
]


def neighbours(text: str) -> list[tuple[str, str]]:
    found = [text[a:b] for a, b in pychunk.split_sentences(text)[0]] if text else []
    return list(zip(found, found[1:]))


@pytest.mark.parametrize("vectors", [None, "chunk", "sentence"])
def test_no_documents_have_the_columns_of_documents(vectors: str | None) -> None:
    """The commands ingest and index ask for them before they read anything."""
    none, some = (pychunk.segment(texts, "nsp", vectors=vectors) for texts in ([], TEXTS[:1]))
    assert len(none) == 0
    assert none.table.schema.equals(some.table.schema)
    assert len(pychunk.segment([None], "nsp", vectors=vectors, on_error="skip")) == 0


def probabilities(scorer: PairScorer, text: str) -> list[float]:
    """Return the probabilities, one pair at a time."""
    out = []
    for a, b in neighbours(text):
        data = np.frombuffer((a + b).encode(), np.uint8)
        bounds = np.array([0, len(a.encode()), len(data)])
        out.append(float(scorer.probabilities(data, bounds, np.array([0]), np.array([1]))[0]))
    return out


def expected_chunks(scorer: PairScorer, text: str, threshold: float) -> list[str]:
    groups: list[str] = []
    pairs = neighbours(text)
    if not text:
        return []
    groups = [pairs[0][0] if pairs else text]
    for (_, second), p in zip(pairs, probabilities(scorer, text)):
        if p >= threshold:
            groups[-1] += second
        else:
            groups.append(second)
    return [group.strip() for group in groups]


@pytest.mark.parametrize("percent", [10, 50, 90])
def test_cuts_are_where_the_probability_is_below_the_threshold(tiny_pairs: Path, percent: float) -> None:
    scorer = PairScorer(tiny_pairs)
    for text in TEXTS:
        p = probabilities(scorer, text)
        threshold = float(np.percentile(p, percent)) + 1e-4 if p else 0.5
        out = pychunk.segment(text, "nsp", encoder=tiny_pairs, threshold=threshold, max_tokens=None, **OWN_CUTS)
        assert [chunk.text for chunk in out] == expected_chunks(scorer, text, threshold)
        by_percentile = pychunk.segment(text, "nsp", encoder=tiny_pairs, threshold=("percentile", percent))
        assert len(by_percentile) >= bool(text)


def test_the_score_of_a_chunk_is_the_mean_inside(tiny_pairs: Path) -> None:
    out = pychunk.segment(TEXTS[0], "nsp", encoder=tiny_pairs, threshold=0.0)
    assert len(out) == 1
    mean = np.mean(probabilities(PairScorer(tiny_pairs), TEXTS[0]))
    assert next(iter(out)).score == pytest.approx(mean, abs=1e-6)
    alone = pychunk.segment(TEXTS[0], "nsp", encoder=tiny_pairs, threshold=1.0, **OWN_CUTS)
    assert [chunk.score for chunk in alone] == [None] * 5


def test_fit_is_the_mean_over_a_sample_and_travels_with_the_segmenter(tiny_pairs: Path) -> None:
    bare = pychunk.Segmenter("nsp", encoder=tiny_pairs, max_tokens=None)
    with pytest.raises(ValueError, match=r"stores no threshold: pass threshold=.*or call fit"):
        bare(TEXTS[0])
    segmenter = bare.fit(TEXTS)
    with pytest.raises(ValueError, match=r"stores no threshold"):  # the objects that threads share do not change
        bare(TEXTS[0])
    scorer = PairScorer(tiny_pairs)
    mean = np.mean([p for text in TEXTS for p in probabilities(scorer, text)])
    assert segmenter.plan.threshold_value == pytest.approx(mean, abs=1e-6)
    again = pickle.loads(pickle.dumps(segmenter))
    assert again.plan == segmenter.plan
    assert again(TEXTS).table.equals(segmenter(TEXTS).table)
    assert segmenter.fit(TEXTS[::-1]).plan == again.plan  # order does not matter
    with pytest.raises(ValueError, match="at least two sentences"):
        segmenter.fit(["One."])


def test_vectors_beside_nsp_come_from_the_static_encoder(tiny_pairs: Path) -> None:
    out = pychunk.segment(TEXTS[0], "nsp", encoder=tiny_pairs, threshold=0.5, vectors="sentence")
    static = pychunk.segment(TEXTS[0], "sentence", vectors="sentence")
    assert out.metadata["encoder"].startswith("random-bert")
    assert out.metadata["vector_encoder"].startswith("pychunk-static")
    found = [s["vector"] for chunk in out for s in chunk.sentences]
    assert found == [s["vector"] for chunk in static for s in chunk.sentences]


def test_the_shipped_model_needs_no_options() -> None:
    text = (
        "The river rises in the mountains. It flows east for 300 kilometres. Near the coast it splits into two arms. "
        "Chess is played on a board of 64 squares. Each player begins with sixteen pieces."
    )
    for encoder in (None, "static"):
        segmenter = pychunk.Segmenter("nsp", encoder=encoder)
        assert 0.2 < segmenter.plan.threshold_value < 0.95
        out = segmenter(text)
        assert "".join("".join(chunk.text for chunk in out).split()) == "".join(text.split())
        assert out.metadata["encoder"].startswith("pychunk-nsp")
    by_chess = [chunk for chunk in pychunk.segment(text, "nsp", min_tokens=0) if "Chess" in chunk.text]
    assert len(by_chess) == 1
    assert "river" not in by_chess[0].text


@pytest.mark.slow
def test_the_network_on_static_vectors_is_near_the_cross_encoder(articles: list[str]) -> None:
    from pychunk.encoders import registry, static_nsp

    facts = static_nsp.load().facts
    assert facts["teacher"] == registry.pair_encoder(None).fingerprint
    assert facts["metrics"]["agreement_all_pairs"]["correlation"] > 0.5
    means = [
        pychunk.Segmenter("nsp", encoder=encoder).fit(articles[:4]).plan.threshold_value for encoder in (None, "static")
    ]
    assert abs(means[0] - means[1]) < 0.2


@pytest.mark.parametrize("method", ["nsp", "pic"])
def test_boundaries_do_not_depend_on_the_batch(
    method: str, articles: list[str], request: pytest.FixtureRequest
) -> None:
    """Real text is cut as documents one by one, by threes and all at once, on one thread and on two."""
    encoder = None if method == "nsp" else request.getfixturevalue("minilm")
    texts = [text[:700] for text in articles[:5]]
    whole = pychunk.Segmenter(method, encoder=encoder, placement=pychunk.Placement(threads=2))(
        texts
    ).table.drop_columns(["document_index"])
    for size, threads in ((1, 2), (3, 1), (len(texts), 1)):
        segmenter = pychunk.Segmenter(method, encoder=encoder, placement=pychunk.Placement(threads=threads))
        parts = segmenter.stream(texts[i : i + size] for i in range(0, len(texts), size))
        assert pa.concat_tables(part.table.drop_columns(["document_index"]) for part in parts).equals(whole)


@pytest.mark.parametrize(
    ("threshold", "message"),
    [(1.5, "threshold must be from 0 to 1"), (("gradient", 5), "must be one of value, percentile, std, iqr")],
)
def test_thresholds_out_of_range_are_named(threshold: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pychunk.Segmenter("nsp", encoder="static", threshold=threshold)


@pytest.mark.slow
def test_onnx_runtime_reports_nothing_and_writes_nothing(tmp_path: Path) -> None:
    code = "import pychunk; pychunk.segment('Cats purr. Dogs bark.', 'nsp')"
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTHONSAFEPATH": "1"}
    for command in (["-c", code], ["-m", "pychunk", "doctor"]):
        done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True)
        assert "telemetry" not in done.stderr.lower()
        assert list(tmp_path.rglob("*")) == []
