"""The score curve as a table: its threshold is the one that the method uses."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Cuts, Features, Method, Segmenter

SENTENCES = st.lists(
    st.sampled_from(
        ["Cats purr. ", "Dogs bark at night. ", "👍 Stars burn hydrogen. ", "Brot!\n\n", "\n", "a. ", "é "]
    ),
    max_size=14,
).map("".join)
CURVES = [
    ("pic", {}),
    ("pic", {"k": 0.5, "summary": "lead"}),
    ("semantic", {}),
    ("semantic", {"threshold": 0.3}),
    ("semantic", {"threshold": ("std", 1), "window": 3}),
    ("semantic", {"threshold": ("iqr", 0.5), "window": 2}),
    ("semantic", {"threshold": ("gradient", 70)}),
    ("nsp", {"encoder": "static"}),
    ("nsp", {"threshold": ("percentile", 30), "encoder": "static"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "options"), CURVES, ids=str)
@settings(max_examples=25, deadline=None)
@given(texts=st.lists(SENTENCES, max_size=3))
def test_the_threshold_explains_each_cut(method: str, options: dict, texts: list[str]) -> None:
    seg = Segmenter(method, **options)
    table = seg.scores(texts)
    spans = [span for row in pychunk.split_sentences(texts) for span in row]
    assert list(zip(table["start"].to_pylist(), table["end"].to_pylist())) == spans
    begins = [set(seg.cuts(texts).part(row).tolist()) for row in range(len(texts))]
    rows = table.to_pylist()
    for row, after in zip(rows, [*rows[1:], None]):
        ends = after is None or after["document_index"] != row["document_index"]
        assert row["cut"] == (not ends and row["sentence"] + 1 in begins[row["document_index"]])
        if ends or row["threshold"] is None:
            continue
        if method == "pic":
            sides = [
                abs(each["score"] - row["threshold"]) < 1e-9 or each["score"] > row["threshold"]
                for each in (row, after)
            ]
            assert (
                row["cut"] == (sides[0] != sides[1])
                or min(abs(each["score"] - row["threshold"]) for each in (row, after)) < 1e-9
            )
        else:
            assert row["cut"] == (row["score"] < row["threshold"]) or abs(row["score"] - row["threshold"]) < 1e-9


@pytest.mark.parametrize(("method", "options"), CURVES, ids=str)
def test_scores_are_those_of_the_reference(method: str, options: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["Cats purr. Dogs bark at night. 👍 Stars burn hydrogen. The sun is a star. Brot!", "", "One."]
    native = Segmenter(method, **options).scores(texts)
    monkeypatch.setenv("PYCHUNK_BACKEND", "reference")
    assert Segmenter(method, **options).scores(texts).equals(native)


def test_scores_say_what_they_are() -> None:
    table = Segmenter("semantic", window=2).scores(["One cat. Two dogs.", "", "Three."], ids=["a", "b", "c"])
    assert table.column_names == [
        "document_index",
        "document_id",
        "sentence",
        "start",
        "end",
        "score",
        "threshold",
        "cut",
    ]
    assert table["document_id"].to_pylist() == ["a", "a", "c"]
    facts = json.loads(table.schema.metadata[b"pychunk"])
    assert facts == {"method": "semantic", "score": "cosine of 2 sentences on either side", "of": "pairs"}
    assert table["score"].null_count == 2
    assert Segmenter().scores([]).schema.equals(Segmenter().scores(["One."]).schema)


@pytest.mark.parametrize("method", ["fixed", "cluster", "recursive", "sentence"])
def test_methods_without_scores_say_so(method: str) -> None:
    with pytest.raises(ValueError, match=f"'{method}' has no scores"):
        Segmenter(method).scores("One. Two.")


def test_scores_of_a_method_in_python() -> None:
    class Every(Method):
        name = "every"

        def cuts(self, features: Features) -> Cuts:
            counts = features.given("sentences").counts
            return Cuts.of([range(0, n, 2) for n in counts], score=[np.arange(n) for n in counts])

    table = Segmenter(Every()).scores("One. Two. Three.")
    assert table["score"].to_pylist() == [0.0, 1.0, 2.0]
    assert table["cut"].to_pylist() == [False, True, False]
    assert table["threshold"].null_count == 3
