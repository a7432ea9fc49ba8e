"""The texts, workloads and answers of `pychunk bench`."""

import hashlib
import statistics
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.benchmark import workloads
from pychunk.benchmark.calibration import Calibration
from pychunk.benchmark.synthetic_texts import Author, corpora

PARENT = Path(pychunk.__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    return corpora()


def test_the_texts_are_those_recorded(texts: dict[str, list[str]]) -> None:
    """Figures of different machines and commits use the same text; another text makes saved files incomparable."""
    found = {name: hashlib.sha256("\0".join(each).encode()).hexdigest()[:16] for name, each in texts.items()}
    assert found == {
        "articles": "355c9fc0222604ce",
        "few": "a5cf5e47ab75cb6a",
        "large": "70d83551eb8db2fc",
        "tiny": "e31aeceab0b80e43",
        "small": "ecab56b3c95cfb04",
        "leaflet": "e841b8a850d345b0",
    }


def test_the_texts_are_like_english(texts: dict[str, list[str]]) -> None:
    joined = texts["large"][0]
    sentences = pychunk.split_sentences(texts["few"])
    lengths = [end - start for document in sentences for start, end in document]
    assert 60 < statistics.median(lengths) < 160
    assert 0.001 < sum(not character.isascii() for character in joined) / len(joined) < 0.05
    assert joined.count("\n\n") > 150
    words = joined.lower().split()
    assert 0.005 < words.count("the") / len(words) < 0.2


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_a_seed_writes_the_same_document_again(seed: int, sections: int) -> None:
    document = Author(seed).document(sections)
    assert document == Author(seed).document(sections)
    assert document.count("\n\n") >= 3 * sections - 1  # with a heading and at least two paragraphs each
    assert not any(line != line.strip() for line in document.splitlines())


@pytest.mark.parametrize("name", workloads.WORKLOADS)
def test_every_workload_gives_the_recorded_answer(name: str, texts: dict[str, list[str]]) -> None:
    if name == "nsp":
        pytest.importorskip("onnxruntime")
    workload = workloads.WORKLOADS[name]
    documents = texts[workload.corpus]
    found = workload.prepare(documents)()
    assert workload.check(found, documents) == workload.answer
    workloads.check_tiling(workloads.spans_of(found), documents)


def test_another_cut_gives_another_hash(texts: dict[str, list[str]]) -> None:
    few = texts["small"]
    hashes = set()
    for options in ({"size": 40}, {"size": 41}, {"size": 41, "vectors": "sentence"}):
        found = pychunk.segment(few, "fixed", unit="tokens", **options)
        hashes.add(workloads.hash_of(workloads.spans_of(found), found))
    assert len(hashes) == 3


@pytest.mark.parametrize(
    "spans", [[], [(0, 0, 5)], [(0, 2, 10)], [(0, 0, 5), (0, 4, 10)], [(0, 0, 4), (0, 6, 10)], [(0, 6, 10), (0, 0, 5)]]
)
def test_what_does_not_tile_is_refused(spans: list[tuple[int, int, int]]) -> None:
    with pytest.raises(ValueError, match="document 0 has a gap or an overlap"):
        workloads.check_tiling(np.array(spans, dtype=np.int64).reshape(-1, 3), ["abcde fghi"])
    workloads.check_tiling(np.array([(0, 0, 5), (0, 6, 10)]), ["abcde fghi"])


def test_definitions_differ_where_timed_work_differs(texts: dict[str, list[str]]) -> None:
    found = {name: each.definition(texts[each.corpus]) for name, each in workloads.WORKLOADS.items()}
    assert len(set(found.values())) == len(found)
    assert found["pic"] != workloads.WORKLOADS["pic"].definition(texts["few"])


def test_calibration_takes_time() -> None:
    assert 1e-5 < Calibration().seconds(2) < 1
