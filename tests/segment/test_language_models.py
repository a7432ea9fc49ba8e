"""The encoder "auto": each document is cut as with the encoder of its language, whatever shares its batch."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.encoders.files import model_packages
from pychunk.features.language_models import LanguageModels

try:
    model_packages.folder(model_packages.MULTILINGUAL)
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

ENGLISH = (
    "The station lies in the north of the town. It was built in 1890. More than a hundred trains stop there each day. "
    "Italian cuisine is known for its variety. Pasta is mostly made of durum wheat. A strong red wine goes with it. "
)
GERMAN = (
    "Der Bahnhof liegt im Norden der Stadt. Er wurde im Jahr 1890 erbaut. Heute halten dort täglich hundert Züge. "
    "Die Küche Italiens ist für ihre Vielfalt bekannt. Nudeln werden meist aus Hartweizen hergestellt. "
)
TEXTS = [
    ENGLISH,
    ENGLISH * 5,
    GERMAN,
    GERMAN * 5,
    "Где вокзал? Он на севере города.",
    "駅はどこですか。",
    "",
    "42.",
    "Hello.",
]
ENCODERS = ["static"] * 2 + ["multilingual"] * 4 + ["static"] * 3


def rows(chunks: pychunk.ChunkBatch) -> list[dict]:
    return chunks.table.drop([name for name in ("encoder",) if name in chunks.table.column_names]).to_pylist()


@pytest.mark.parametrize("method", [None, "topic", "pic", "semantic", "cluster", "nsp", "fixed", "structure"])
def test_a_document_is_cut_as_with_the_encoder_of_its_language(method: str | None) -> None:
    found = pychunk.segment(TEXTS, method, encoder="auto", vectors="chunk")
    for row, (text, encoder) in enumerate(zip(TEXTS, ENCODERS, strict=True)):
        own = [each | {"document_index": 0} for each in rows(found) if each["document_index"] == row]
        assert own == rows(pychunk.segment(text, method, encoder=encoder, vectors="chunk"))
    named = zip(found.table["document_index"].to_pylist(), found.table["encoder"].to_pylist(), strict=True)
    assert all(name == ENCODERS[row] for row, name in named)


@settings(max_examples=25)
@given(st.lists(st.integers(0, len(TEXTS) - 1), max_size=7), st.integers(1, 3))
def test_any_batch_and_number_of_threads_gives_the_same(numbers: list[int], threads: int) -> None:
    one, several = (
        pychunk.Segmenter(encoder="auto", vectors="chunk", placement=pychunk.Placement(threads=count))
        for count in (1, threads)
    )
    texts = [TEXTS[number] for number in numbers]
    alone = [each | {"document_index": row} for row, text in enumerate(texts) for each in rows(one(text))]
    assert rows(several(texts)) == alone


def test_scores_cuts_edits_and_levels_go_by_the_language_too() -> None:
    auto = pychunk.Segmenter(encoder="auto")
    for text, encoder in ((ENGLISH * 4, "static"), (GERMAN * 4, "multilingual")):
        own = pychunk.Segmenter(encoder=encoder)
        assert auto.scores(["", text])["score"].to_pylist() == own.scores(["", text])["score"].to_pylist()
        assert auto.cuts([text]).first.tolist() == own.cuts([text]).first.tolist()
        other = GERMAN if text.startswith("The") else ENGLISH
        edited = auto.edit(auto(text), [(0, len(text), other * 4)])
        assert edited.table.equals(auto(other * 4).table)
        titled = pychunk.Segmenter("pic", encoder="auto", summary="title")
        edited = titled.edit(titled(text, columns={"titles": ["A"]}), [(0, len(text), other * 4)])
        assert edited.table.equals(titled(other * 4, columns={"titles": ["A"]}).table)
        levels = [
            pychunk.segment_levels([text], ["group", "document"], encoder=each).chunks() for each in ("auto", encoder)
        ]
        assert levels[0].texts == levels[1].texts


def test_the_metadata_names_both_encoders_and_does_not_depend_on_the_batch() -> None:
    found = [pychunk.segment(texts, encoder="auto").metadata for texts in ([], [ENGLISH], [GERMAN], TEXTS)]
    assert len({json.dumps(each, sort_keys=True) for each in found}) == 1
    assert found[0]["encoder"] == pychunk.segment(ENGLISH).metadata["encoder"]
    other = pychunk.segment(GERMAN, encoder="multilingual").metadata
    assert found[0]["other_languages"]["encoder"] == other["encoder"]
    assert found[0]["other_languages"]["topic_model"] == other["topic_model"]
    assert found[0]["other_languages"]["threshold_value"] == other["options"]["threshold_value"]


def test_vectors_of_the_caller_choose_no_encoder() -> None:
    vectors = np.eye(5, 8, dtype=np.float32)
    found = pychunk.segment(GERMAN, "pic", encoder="auto", columns={"sentence_vectors": vectors})
    assert "encoder" not in found.table.column_names
    assert found.metadata["encoder"] == "given"


def test_without_the_package_english_models_read_all_and_the_warning_has_the_command(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing(package: object) -> Path:
        raise ImportError("it is not installed; pip install it")

    from pychunk.inputs import language_warning

    monkeypatch.setattr(model_packages, "folder", missing)
    monkeypatch.setattr(language_warning, "_warned", set())
    monkeypatch.setattr(language_warning, "_looked", 0)
    found = pychunk.Segmenter(encoder="auto")([GERMAN * 2, ENGLISH])
    assert set(found.table["encoder"].to_pylist()) == {"static"}
    assert 'Install the multilingual table (pip install it) and pass "auto", or' in caplog.text


def test_no_index_takes_vectors_of_two_encoders(tmp_path: Path) -> None:
    chunks = pychunk.segment([ENGLISH, GERMAN], "sentence", encoder="auto", vectors="sentence", ids=["a", "b"])
    for encoder in ("static", "multilingual"):
        with (
            pychunk.Index.create(tmp_path / encoder, encoder=encoder) as index,
            pytest.raises(ValueError, match=r"pychunk-static-en.* or pychunk-multilingual"),
        ):
            index.add(chunks)


def test_one_encoder_is_needed_to_embed_and_to_fit() -> None:
    for task in ("passage", "query"):
        with pytest.raises(ValueError, match="one encoder is needed here"):
            pychunk.embed([ENGLISH, GERMAN], encoder="auto", task=task)
    with pytest.raises(ValueError, match="one encoder is needed here"):
        pychunk.Segmenter("semantic", encoder="auto").fit([GERMAN])


def test_the_callers_column_of_the_same_name_stays() -> None:
    table = pa.table({"text": [GERMAN, ENGLISH], "encoder": ["mine", "yours"]})
    found = pychunk.segment(table, "fixed", encoder="auto", columns={"text": "text"}, metadata_columns=["encoder"])
    assert found.table["encoder"].to_pylist() == ["mine", "yours"]


def test_a_gpu_is_refused() -> None:
    segmenter = pychunk.Segmenter()
    place = SimpleNamespace(device=SimpleNamespace(name="cuda:0"))
    with pytest.raises(ValueError, match="runs on the CPU; got the device cuda:0"):
        LanguageModels(segmenter.method, segmenter.plan, None, place)


def test_vectors_of_the_table_have_one_encoder() -> None:
    with pytest.raises(ValueError, match="one encoder is needed here"):
        pychunk.Segmenter(encoder="auto", vectors=pychunk.Vectors("chunk", "auto"))


@pytest.mark.parametrize("threshold", [0.5, "default", ("percentile", 20), ("std", "default")])
def test_a_threshold_of_the_caller_holds_in_every_language(threshold: object) -> None:
    """Also one that equals the default of the network for English."""
    default = pychunk.Segmenter("nsp", encoder="static").plan.threshold_value
    given = {"default": default}.get(threshold, threshold) if isinstance(threshold, str) else threshold
    if isinstance(given, tuple):
        given = tuple(default if part == "default" else part for part in given)
    found = pychunk.segment(TEXTS, "nsp", encoder="auto", threshold=given)
    for row, (text, encoder) in enumerate(zip(TEXTS, ENCODERS, strict=True)):
        own = [each | {"document_index": 0} for each in rows(found) if each["document_index"] == row]
        assert own == rows(pychunk.segment(text, "nsp", encoder=encoder, threshold=given))
    assert "threshold_value" not in found.metadata["other_languages"]
    usual = pychunk.segment(TEXTS, "nsp", encoder="auto").metadata
    own = pychunk.Segmenter("nsp", encoder="multilingual").plan.threshold_value
    assert usual["other_languages"]["threshold_value"] == own != default


def test_next_sentences_in_other_languages_have_a_network_of_their_own() -> None:
    path = model_packages.folder(model_packages.MULTILINGUAL)
    facts, weights = json.loads((path / "nsp_static.json").read_text()), np.load(path / "nsp_static.npz")
    segmenter = pychunk.Segmenter("nsp", encoder="multilingual")
    assert segmenter(GERMAN).metadata["encoder"].startswith("pychunk-nsp-static-multilingual:")
    vectors = pychunk.segment(GERMAN, "sentence", encoder="multilingual", vectors="chunk").table["vector"]
    u, v = (np.stack(vectors.to_pylist())[rows].astype(np.float32) for rows in (slice(-1), slice(1, None)))
    inside = u @ weights["first"].T + v @ weights["second"].T + (u * v) @ weights["product"].T + weights["bias"]
    odds = np.maximum(inside, 0) @ weights["out"] + weights["out_bias"]
    scores = segmenter.scores(GERMAN)
    found = np.array(scores["score"].to_pylist()[:-1])
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-odds)), atol=1e-4)
    assert scores["threshold"].to_pylist() == pytest.approx([facts["threshold"]] * len(scores))
