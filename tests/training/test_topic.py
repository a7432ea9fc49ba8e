"""Method `topic`: its network and its cuts compared with the reference, its model, its lengths."""

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_reference import TEXTS, check_equal

import pychunk
from pychunk._engine import native
from pychunk._engine.reference import engine as reference_engine
from pychunk._engine.reference import topic as reference
from pychunk.encoders import static_encoder, topic_model
from training import topic_articles

TOPICS = "however the he in 1999 it river mountain engine album government war music species theory"
WORDS = TOPICS.split()


def prose(sentences: int, seed: int = 0, joint: str = " ") -> str:
    """Return sentences of some words each; neighbours share the most words."""
    drawn, lines = np.random.default_rng(seed), []
    topics = drawn.integers(0, len(WORDS), (sentences // 9 + 1, 4))
    for s in range(sentences):
        few = topics[s // 9]
        lines.append(" ".join(WORDS[i] for i in drawn.choice(few, drawn.integers(2, 14))).capitalize() + ".")
    return joint.join(lines)


def affinities(text: str, **options: Any) -> np.ndarray:
    found = pychunk.Segmenter("topic", **options).cuts([text]).score
    assert found is not None
    return found.values


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, size=st.integers(1, 2000), least=st.integers(0, 30), most=st.sampled_from([None, 31, 200]))
def test_it_equals_the_reference(texts: list[str], size: int, least: int, most: int | None) -> None:
    check_equal(pychunk.Segmenter("topic", size=size, min_tokens=least, max_tokens=most), texts)


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=300))
def test_any_text_equals_the_reference(text: str) -> None:
    check_equal(pychunk.Segmenter("topic", size=20), [text.encode(errors="replace").decode()])


@pytest.mark.parametrize("joint", [" ", "\n\n"])
def test_documents_of_several_blocks_equal_the_reference(joint: str) -> None:
    """The network processes 512 sentences at a time, but also uses the ones around them."""
    text = prose(530, joint=joint)
    array, offsets = np.frombuffer(text.encode(), np.uint8), np.array([0, len(text)])
    starts, flags = native.split_texts(array, offsets, threads=1)
    assert len(starts.values) == 530
    own = [text[a:b] for a, b in pairwise([*starts.values.tolist(), len(text)])]
    vectors = static_encoder.load().encode(own)
    expected = reference.affinities(topic_model.load(), own, flags.values.tolist(), vectors)
    np.testing.assert_array_equal(affinities(text), expected)


def test_neither_batch_nor_threads_change_a_score() -> None:
    texts = [prose(n, n) for n in (1, 2, 3, 17, 64, 200, 513)]
    alone = [affinities(text, placement=pychunk.Placement(threads=1)) for text in texts]
    together = pychunk.Segmenter("topic", placement=pychunk.Placement(threads=4)).cuts(texts[::-1]).score
    assert together is not None
    for row, own in enumerate(alone[::-1]):
        np.testing.assert_array_equal(together.part(row), own)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), n=st.integers(1, 12), least=st.integers(0, 12), most=st.integers(0, 30))
def test_cuts_are_the_best_within_the_limits(data: st.DataObject, n: int, least: int, most: int) -> None:
    """They are compared with every possible partition."""
    tokens = data.draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    found = data.draw(st.lists(st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9]), min_size=n - 1, max_size=n - 1))
    most = max(most, least) if most else 0
    firsts = reference.cut_within(found, 0.5, tokens, least, most)

    def worth(cuts: list[int]) -> tuple[int, float] | None:
        chunks = [tokens[a:b] for a, b in zip(cuts, [*cuts[1:], n], strict=True)]
        if most and any(sum(chunk) > most and len(chunk) > 1 for chunk in chunks):
            return None
        return -sum(sum(chunk) < least for chunk in chunks), sum(0.5 - found[cut - 1] for cut in cuts[1:])

    every = [[0, *(i for i in range(1, n) if bits >> (i - 1) & 1)] for bits in range(2 ** (n - 1))]
    assert worth(firsts) == max(value for cuts in every if (value := worth(cuts)) is not None)


def test_chunks_keep_within_the_limits() -> None:
    text = prose(400)
    out = pychunk.Segmenter("topic", size=50, min_tokens=40, max_tokens=90)(text)
    tokens = out.table["tokens"].to_numpy()
    assert tokens.max() <= 90
    assert tokens.min() >= 40
    assert "".join(out.texts).replace(" ", "") == text.replace(" ", "")


def test_a_smaller_size_cuts_more_often(articles: list[str]) -> None:
    counts = [len(pychunk.segment(articles[:40], "topic", size=size)) for size in (60, 120, 250, 500)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 2 * counts[-1]


def test_a_wished_size_is_met_on_articles(articles: list[str]) -> None:
    """Headings are hidden, as in the calibration; the threshold is not a document's but everybody's."""
    shown = [topic_articles.seen(text, topic_articles.HIDDEN)[0] for text in articles]
    out = pychunk.segment(shown, "topic", size=150, max_tokens=None)
    assert 100 < np.mean(out.table["tokens"].to_numpy()) < 225


def test_white_space_between_sentences_is_not_seen() -> None:
    """White space at the end of a section must not reveal where it ends."""
    text = prose(60)
    np.testing.assert_array_equal(affinities(text), affinities(text.replace(". ", ".   ")))


def test_sections_are_found_without_headings(articles: list[str]) -> None:
    shown = [own for own in (topic_articles.seen(text, topic_articles.HIDDEN) for text in articles) if own[1]]
    spans = pychunk.split_sentences([text for text, _ in shown])
    begins, others = [], []
    for (text, starts), own in zip(shown, spans, strict=True):
        scores = affinities(text)
        at = {start: row for row, (start, _) in enumerate(own)}
        rows = {at[start] for start in starts if start in at} - {0}
        for row, score in enumerate(scores, 1):
            (begins if row in rows else others).append(score)
    below = np.searchsorted(np.sort(others), begins)
    assert 1 - below.mean() / len(others) > 0.84


def test_another_encoders_vectors_are_refused(tmp_path: Path) -> None:
    for name in ("topic.json", "topic.npz"):
        shutil.copyfile(static_encoder.SHIPPED / name, tmp_path / name)
    facts = json.loads((tmp_path / "topic.json").read_text())
    pychunk.Segmenter("topic", model=tmp_path)
    (tmp_path / "topic.json").write_text(json.dumps({**facts, "encoder": "minilm:0123456789abcdef"}))
    with pytest.raises(ValueError, match=r"for vectors of minilm:0123456789abcdef, but these are of pychunk-static"):
        pychunk.Segmenter("topic", model=tmp_path)
    vectors = np.ones((2, 256), np.float32)
    with pytest.raises(ValueError, match=r"leave out columns={'sentence_vectors': ...}"):
        pychunk.segment("One here. Two there.", "topic", columns={"sentence_vectors": [vectors]})


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    for name in ("topic.json", "topic.npz"):
        shutil.copyfile(static_encoder.SHIPPED / name, tmp_path / name)
    data = bytearray((tmp_path / "topic.npz").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "topic.npz").write_bytes(data)
    with pytest.raises(ValueError, match=r"python -m training\.topic --encoder NAME --out .* in a checkout"):
        pychunk.Segmenter("topic", model=tmp_path)
    with pytest.raises(ValueError, match=r"topic\.json is missing"):
        pychunk.Segmenter("topic", model=tmp_path / "none")


def test_the_shipped_model_is_small() -> None:
    assert (static_encoder.SHIPPED / "topic.npz").stat().st_size <= 500_000


def test_options_are_checked() -> None:
    for options, error in (
        ({"size": 0}, "size must be"),
        ({"size": 1.5}, "size must be"),
        ({"model": 3}, "path of a folder"),
    ):
        with pytest.raises(ValueError, match=error):
            pychunk.Segmenter("topic", **options)


def test_metadata_names_the_model_and_scores_their_threshold() -> None:
    segmenter = pychunk.Segmenter("topic", size=100)
    facts = json.loads(segmenter("One here. Two there.").table.schema.metadata[b"pychunk"])
    model = topic_model.load()
    assert facts["topic_model"] == model.fingerprint
    assert facts["options"]["size"] == 100
    table = segmenter.scores(prose(30))
    assert set(table["threshold"].to_pylist()) == {model.threshold(100)}


def test_thresholds_fall_with_the_size() -> None:
    model = topic_model.load()
    found = [model.threshold(size) for size in (1, 50, 100, 173, 250, 1000, 10**6)]
    assert found == sorted(found, reverse=True)
    assert all(0 < threshold < 1 for threshold in found)


def test_the_engine_needs_the_model() -> None:
    segmenter = pychunk.Segmenter("topic")
    (request, _), *_ = segmenter.requests(segmenter.read("One here. Two there.", {})[1])
    with pytest.raises(ValueError, match="needs pair_scores, or a topic head"):
        native.segment(request.with_(topic_head=None))


class OtherHead:
    """A network of random weights with other numbers of channels, taps and dilations than the shipped one."""

    def __init__(self, channels: int, taps: tuple[int, ...], dilations: list[int]) -> None:
        drawn = np.random.default_rng(channels)
        shipped = topic_model.load()
        self.words, self.dilations, self.out_bias = shipped.words, dilations, 0.25
        shapes = [(len(part), channels) if part.ndim == 2 else (channels,) for part in shipped.parts]
        shapes[0], shapes[-1] = (shipped.parts[0].shape[0], 16), shipped.parts[-1].shape
        self.parts = [drawn.normal(0, 0.3, shape).astype(np.float32) for shape in shapes]
        self.layers: list[np.ndarray] = []
        for each in taps:
            self.layers.append(drawn.normal(0, 0.1, (each * channels, channels)).astype(np.float32))
            self.layers.append(drawn.normal(0, 0.1, channels).astype(np.float32))


@pytest.mark.parametrize(
    ("channels", "taps", "dilations"), [(16, (5, 3), [3, 1]), (48, (1,), [1]), (64, (3, 7), [8, 2]), (32, (), [])]
)
@pytest.mark.parametrize("sentences", [2, 3, 8, 37])
def test_networks_of_other_shapes_equal_the_reference(
    channels: int, taps: tuple[int, ...], dilations: list[int], sentences: int
) -> None:
    head, text = OtherHead(channels, taps, dilations), prose(sentences, channels)
    segmenter = pychunk.Segmenter("topic")
    ((request, _),) = segmenter.requests(segmenter.read(text, {})[1])
    request = segmenter.models.complete(request, native).with_(topic_head=head)
    expected, found = reference_engine.cuts(request).score, native.cuts(request).score
    assert expected is not None
    assert found is not None
    assert len(found.values) == sentences - 1
    np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_weights_of_a_layer_must_be_finite(value: float) -> None:
    """The layers multiply the zeros before a document's first sentence by the weights."""
    head = OtherHead(16, (3,), [1])
    head.layers[0][5, 5] = value
    with pytest.raises(ValueError, match="the weights of layer 0 must be finite, got infinity or NaN: train"):
        native._topic_head(head)
