"""Sentence vectors that the caller passes: read in place, whatever their layout, with the bits of the reference."""

import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pychunk
from pychunk._engine.reference import engine as reference
from pychunk.encoders import static_encoder

native = pytest.importorskip("pychunk._engine.native")

from pychunk._engine.data.features import Features
from pychunk._engine.data.plan import Plan
from pychunk._engine.data.ragged import Ragged, offsets_of
from pychunk._engine.data.request import Request
from pychunk.inputs.span_inputs import sentence_matrix

LENGTHS = (3, 0, 300, 1, 40)
TEXTS = [" ".join(f"Cats number {i} purr." for i in range(n)) for n in LENGTHS]
PIC, SEMANTIC = (native.method_traits()[name] for name in ("pic", "semantic"))
PLANS = {
    **{f"pic {name}": Plan("pic", PIC, summary=name) for name in ("mean", "lead", "extractive", "sentence", "random")},
    "semantic": Plan("semantic", SEMANTIC),
    "semantic, window": Plan("semantic", SEMANTIC, window=3),
}


def vectors_of(dim: int, dtype: Any = np.float32, kind: str = "plain") -> np.ndarray:
    """Return a vector for each sentence of TEXTS. Some are zero; with ``kind="extreme"`` some are huge or tiny."""
    random = np.random.default_rng(dim)
    found = random.normal(size=(sum(LENGTHS), dim)).astype(np.float32) + np.float32(0.3)
    found[[1, 100]] = 0
    if kind == "extreme":
        found[50:60] *= np.float32(1e25)
        found[60:70] *= np.float32(1e-25)
    return found.astype(dtype)


def layouts(vectors: np.ndarray) -> dict[str, Any]:
    """Return the same numbers in other memory."""
    wide = np.zeros((len(vectors), 2 * vectors.shape[1] + 3), vectors.dtype)
    wide[:, 1 : 1 + vectors.shape[1]] = vectors
    apart = np.zeros((len(vectors), 2 * vectors.shape[1]), vectors.dtype)
    apart[:, ::2] = vectors
    odd = np.frombuffer(b"x" + vectors.tobytes(), np.uint8)[1:].view(vectors.dtype).reshape(vectors.shape)
    return {
        "one": vectors,
        "columns first": np.asfortranarray(vectors),
        "rows apart": wide[:, 1 : 1 + vectors.shape[1]],
        "numbers apart": apart[:, ::2],
        "backwards": vectors[::-1].copy()[::-1],
        "unaligned": odd,
        "one for each": np.split(vectors, np.cumsum(LENGTHS)[:-1]),
    }


def request_of(vectors: Any, plan: Plan) -> Request:
    text = np.frombuffer("".join(TEXTS).encode(), np.uint8)
    features = Features(text, offsets_of([len(each) for each in TEXTS]))
    starts, flags = native.split(Request(features, Plan("sentence")))
    assert starts.counts.tolist() == list(LENGTHS)
    features = features.with_(sentences=starts, flags=flags, vectors=sentence_matrix(vectors, starts.offsets))
    return Request(features, plan)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("kind", ["plain", "extreme"])
@pytest.mark.parametrize("dim", [1, 8, 33, 64])
def test_chunks_and_scores_equal_the_reference(plan: str, kind: str, dim: int) -> None:
    request = request_of(vectors_of(dim, kind=kind), PLANS[plan])
    ours, slow = native.segment(request), reference.segment(request)
    assert set(ours) == set(slow)
    for name, column in ours.items():
        np.testing.assert_array_equal(column, slow[name], name)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_similar_neighbours_are_joined_by_vectors_in_place(dtype: Any) -> None:
    # Boundaries between short chunks are compared by the cosines of pairs of rows. 40 dimensions fill a register and a
    # part of one, and the 300 sentences of a document take several steps of rows.
    vectors = vectors_of(40, dtype)
    plan = Plan("pic", PIC, summary="mean", min_tokens=12, max_tokens=40)
    request = request_of(vectors, plan).with_(tokenizer=static_encoder.load())
    ours, slow = native.segment(request), reference.segment(request)
    for name in ours.keys() - {"tokens_met", "fallback_tokens"}:  # the reference does not report its work
        np.testing.assert_array_equal(ours[name], slow[name], name)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("layout", layouts(vectors_of(40)))
def test_every_layout_is_read_in_place(dtype: Any, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = vectors_of(40, dtype)
    expected = [native.cuts(request_of(vectors.astype(np.float64), plan)) for plan in PLANS.values()]

    def copied(*_: Any) -> None:
        raise AssertionError("the vectors were copied")

    monkeypatch.setattr(native, "normalized_rows", copied)
    for plan, wanted in zip(PLANS.values(), expected, strict=True):
        for part in (slice(0, 5), slice(2, 4), slice(3, 3)):
            whole = request_of(layouts(vectors)[layout], plan)
            bounds = whole.features.offsets[part.start : part.stop + 1]
            own = {
                name: getattr(whole.features, name).rows(part.start, part.stop)
                for name in ("sentences", "flags", "vectors")
            }
            found = native.cuts(Request(Features(whole.features.text, bounds, **own), plan, threads=2))
            assert found.score is not None
            assert wanted.score is not None
            np.testing.assert_array_equal(
                found.first, Ragged(wanted.first, wanted.offsets).rows(part.start, part.stop).flat()
            )
            np.testing.assert_array_equal(found.score.flat(), wanted.score.rows(part.start, part.stop).flat())


def test_tensors_and_arrow_arrays_are_matrices() -> None:
    vectors = vectors_of(16)
    flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), 16)
    forms: list[Any] = [flat, pa.chunked_array([flat[:7], flat[7:]])]
    halves = pa.FixedSizeListArray.from_arrays(pa.array(vectors.astype(np.float16).reshape(-1)), 16)

    class Tensor:
        ndim = 2

        def __dlpack__(self, **options: Any) -> Any:
            return vectors.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return vectors.__dlpack_device__()

    forms.append(Tensor())
    options: dict[str, Any] = {"summary": "mean", "max_tokens": None}
    expected = pychunk.segment(TEXTS, "pic", **options, columns={"sentence_vectors": vectors.astype(np.float64)}).table
    for form in forms:
        assert pychunk.segment(TEXTS, "pic", **options, columns={"sentence_vectors": form}).table.equals(expected)
    rounded = vectors.astype(np.float16).astype(np.float64)
    expected = pychunk.segment(TEXTS, "pic", **options, columns={"sentence_vectors": rounded}).table
    assert pychunk.segment(TEXTS, "pic", **options, columns={"sentence_vectors": halves}).table.equals(expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("method", ["pic", "semantic", "fixed"])
@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_first_vector_that_is_not_finite_is_named(bad: float, method: str, pieces: bool, dtype: Any) -> None:
    vectors = vectors_of(24, dtype)
    vectors[[303, 320], 5] = bad
    given: Any = np.split(vectors, np.cumsum(LENGTHS)[:-1]) if pieces else vectors
    options: dict[str, Any] = {"summary": "mean"} if method == "pic" else {}
    with pytest.raises(
        ValueError, match=rf"^sentence_vectors must be finite in float32; sentence 0 of document 3 has {bad}$"
    ):
        pychunk.segment(TEXTS, method, **options, columns={"sentence_vectors": given})


def test_slices_name_the_document_of_the_batch() -> None:
    vectors = vectors_of(24)
    vectors[305, 5] = np.nan
    for given in (vectors, np.split(vectors, np.cumsum(LENGTHS)[:-1])):
        rows = sentence_matrix(given, offsets_of(LENGTHS)).rows(2, 5).rows(2, 3)
        with pytest.raises(ValueError, match=r"sentence 1 of document 4 has nan"):
            rows.flat()


def test_instruction_sets_agree() -> None:
    vectors = {
        f"{dtype.__name__} {dim}": [native.cuts(request_of(vectors_of(dim, dtype), plan)) for plan in PLANS.values()]
        for dtype in (np.float32, np.float16)
        for dim in (1, 3, 8, 13, 21, 40, 100)
    }
    digest = hashlib.sha256(b"".join(cut.score.flat().tobytes() for cuts in vectors.values() for cut in cuts))
    if os.environ.get("PYCHUNK_GIVEN_VECTORS"):
        print(digest.hexdigest())
        return
    for isa in pychunk.backend()["isas"]:
        run = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-qs",
                "-p",
                "no:cacheprovider",
                f"{__file__}::{test_instruction_sets_agree.__name__}",
            ],
            env={**os.environ, "PYCHUNK_ISA": isa, "PYCHUNK_GIVEN_VECTORS": "1"},
            capture_output=True,
            text=True,
        )
        assert digest.hexdigest() in run.stdout, (isa, run.stdout)


def test_given_counts_are_not_counted_again() -> None:
    texts = [text for text in TEXTS if text]
    vectors = vectors_of(16)
    spans = pychunk.split_sentences(texts)
    counts = []
    for text, own in zip(texts, spans, strict=True):
        bounds = np.array([*(begin for begin, _ in own), len(text)])
        counts.append(static_encoder.load().tokens_of(np.frombuffer(text.encode(), np.uint8), bounds).counts)
    expected = pychunk.segment(texts, "pic", summary="mean", columns={"sentence_vectors": vectors}).table
    before = native.work()
    given = {"sentence_vectors": vectors, "sentence_spans": spans, "token_counts": counts}
    assert pychunk.segment(texts, "pic", summary="mean", columns=given).table.equals(expected)
    assert native.work() == before


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([[1]], "document 0 has 2 sentences but 1 token count"),
        ([[1, -2]], "token_counts of document 0 must be 0 or more; got -2"),
        ([[1, 2.5]], "token_counts of document 0 must be whole numbers; got"),
        ([[1], [2]], "token_counts must hold as many lists as there are documents, 1; got 2"),
    ],
)
def test_counts_that_do_not_fit_are_refused(counts: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        pychunk.segment(["Cats purr. Dogs bark."], "fixed", size=5, columns={"token_counts": counts})
