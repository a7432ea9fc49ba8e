"""Inputs besides plain lists are read right, or one line names the row, the received value and the remedy."""

import datetime
import pickle
import uuid
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from command_line import invoke

import pychunk
from pychunk._engine.data.features import Features, quick
from pychunk._engine.data.plan import Plan
from pychunk._engine.data.request import Request
from pychunk.inputs import TextBatch

TEXTS = ["One here. Two there.", "Three stays. Four goes."]
DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]
NAMES = [uuid.UUID(int=7), uuid.UUID(int=8)]


def ids_in(documents: object, **options: object) -> list[object]:
    out = pychunk.segment(documents, "sentence", **options)
    ids = [chunks[0].document_id for chunks in out.by_document()]
    assert len({chunk.chunk_id for chunk in out}) == len(out)
    return ids


@pytest.mark.parametrize("more", [0, 1, 7])
def test_buffers_may_be_longer_than_what_they_hold(more: int) -> None:
    # A damaged Arrow file stated that 24 bytes of offsets were 255, which Arrow itself reads.
    offsets = np.array([0, 10, 20], np.int64).tobytes() + bytes(more)
    text = pa.Array.from_buffers(
        pa.large_string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"One. Two. Three. Four.")]
    )
    assert [chunk.text for chunk in pychunk.segment(text, "sentence")] == ["One.", "Two.", "Three.", "Fou"]


def test_one_text_takes_its_id_title_and_summary_as_a_str() -> None:
    assert [chunk.document_id for chunk in pychunk.segment("One. Two.", "sentence", ids="x")] == ["x", "x"]
    named = pychunk.segment(["One. Two."], "sentence", ids=["x"]).table["chunk_id"]
    assert pychunk.segment("One. Two.", "sentence", ids="x").table["chunk_id"].equals(named)
    text = "Cats purr. Dogs bark. Stars burn."
    for source, argument in (("title", "titles"), ("given", "summaries")):
        alone = pychunk.segment(text, summary=source, columns={argument: "Cats"}).table
        assert alone.equals(pychunk.segment([text], summary=source, columns={argument: ["Cats"]}).table)
    with pytest.raises(ValueError, match="ids='x' names a column, but the documents have no columns"):
        pychunk.segment(["a.", "b."], ids="x")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["x", "y"], ["x", "y"]),
        ([1, 2**63 - 1], [1, 2**63 - 1]),
        ([2**63, 2**64 - 1], [2**63, 2**64 - 1]),
        (np.array([3, 4]), [3, 4]),
        (np.array(["x", "y"]), ["x", "y"]),
        (np.array(["x", "y"], object), ["x", "y"]),
        ([1.5, 2.0], [1.5, 2.0]),
        ([b"x", b"y"], ["x", "y"]),
        (NAMES, [str(name) for name in NAMES]),
        (pa.array(["x", "y"]).dictionary_encode(), ["x", "y"]),
        (pa.array(["x", "y"]).cast(pa.string_view()), ["x", "y"]),
        (pa.chunked_array([["x"], ["y"]]), ["x", "y"]),
        (pa.chunked_array([pa.array(["x"]).dictionary_encode(), pa.array(["y"]).dictionary_encode()]), ["x", "y"]),
        (DAYS, DAYS),
    ],
)  # fmt: skip
def test_ids_come_back(ids: object, expected: list[object]) -> None:
    assert ids_in(TEXTS, ids=ids) == expected


def test_documents_that_are_read_already_take_ids() -> None:
    texts = ["# A\n\nOne.", "Two."]
    documents, named = pychunk.parse(texts, "markdown"), pychunk.parse(texts, "markdown", ids=["x", "y"])
    found = pychunk.segment(documents, ids=["x", "y"])
    assert [(chunk.document_id, chunk.path) for chunk in found] == [("x", ["A"]), ("y", [])]
    assert found.table.equals(pychunk.segment(named).table)
    assert {chunk.document_id for chunk in pychunk.segment(named, ids=[1, 2])} == {1, 2}
    with pytest.raises(ValueError, match="ids must hold one value for each of 2 documents; got 1"):
        pychunk.segment(documents, ids=["x"])
    with pytest.raises(ValueError, match="no column of texts can be chosen; got 'body'"):
        pychunk.segment(documents, columns={"text": "body"})


def test_uuids_of_arrow_are_their_text() -> None:
    if not hasattr(pa, "uuid"):
        pytest.skip("this pyarrow has no UUIDs")
    array = pa.array([name.bytes for name in NAMES], pa.uuid())
    assert ids_in(TEXTS, ids=array) == ids_in(TEXTS, ids=NAMES)
    assert ids_in(pa.table({"text": TEXTS, "key": array}), ids="key") == ids_in(TEXTS, ids=NAMES)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([1, "x"], TypeError, r"ids must be of one type; got int \(document 0\) and str \(document 1\)"),
        ([1, 2.5], TypeError, r"got int \(document 0\) and float \(document 1\): make a string of each"),
        ([1, True], TypeError, r"got int \(document 0\) and bool \(document 1\)"),
        ([1, 2**64], ValueError, "all fit into int64 or all into uint64; got 18,446.* for document 1; make a string"),
        ([-1, 2**63], ValueError, "ids must all fit into int64 or all into uint64; got -1 for document 0"),
        ([[1], [2]], TypeError, "ids must be strings, .*, numbers, .* or UUIDs, got list<item: int64>"),
        ([{"a": 1}, {"a": 2}], TypeError, "ids must be strings, .* or UUIDs, got struct"),
        ([b"x", b"\xff"], ValueError, r"ids must be strings or UTF-8; got b'.xff' for document 1; .* value.hex\(\)"),
        (["x", "\ud800"], ValueError, "ids must be text that UTF-8 can encode; got .* for document 1: remove"),
        (["x", None], ValueError, "ids must not be null; got null for document 1"),
        (["x", float("nan")], ValueError, "ids must not be null; got null for document 1"),
        ([1.0, float("nan")], ValueError, "ids must not be null; got null for document 1"),
        (["x"], ValueError, "ids must hold one value for each of 2 documents; got 1"),
        (5, TypeError, "ids must be a list or an array with one value for each document; got int"),
        ({"x": 1, "y": 2}, TypeError, "ids must be a list or an array with one value for each document; got dict"),
        ([object(), object()], TypeError, "ids must be strings, .* or UUIDs, all of one type .*; make a string"),
        ([("a", 1), ("b", 2)], TypeError, "ids must be strings, .* or UUIDs, all of one type .*; make a string"),
    ],
)  # fmt: skip
def test_ids_that_name_nothing_are_refused(ids: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pychunk.segment(TEXTS, "sentence", ids=ids)


def test_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"text": TEXTS, "id": ["x", "y"], "n": [1, 2]})
    expected = pychunk.segment(TEXTS, "sentence", ids=["x", "y"]).table["chunk_id"]
    for found in (
        pychunk.segment(frame["text"], "sentence", ids=frame["id"]),
        pychunk.segment(TEXTS, "sentence", ids=frame["id"].cast(pl.Categorical)),
        pychunk.segment(frame["text"].cast(pl.Categorical), "sentence", ids=["x", "y"]),
        pychunk.segment(frame["text"].cast(pl.Enum(TEXTS)), "sentence", ids=["x", "y"]),
        pychunk.segment(pl.Series(TEXTS, dtype=pl.Object), "sentence", ids=["x", "y"]),
        pychunk.segment(
            frame.with_columns(pl.col("text").cast(pl.Categorical)), "sentence", ids="id", columns={"text": "text"}
        ),
        pychunk.segment(frame, "sentence", ids="id", columns={"text": "text"}),
    ):
        assert found.table["chunk_id"].equals(expected)
    assert ids_in(TEXTS, ids=frame["n"]) == [1, 2]
    assert ids_in(TEXTS, ids=pl.Series(NAMES, dtype=pl.Object)) == [str(name) for name in NAMES]
    with pytest.raises(TypeError, match="row 1: the text must be str, got UUID"):
        pychunk.segment(pl.Series([TEXTS[0], NAMES[0]], dtype=pl.Object))
    with pytest.raises(TypeError, match=r"a Polars LazyFrame, .* pass frame.collect\(\)"):
        pychunk.segment(frame.lazy())
    assert len(pychunk.segment(frame.clear(), columns={"text": "text"})) == 0
    assert len(pychunk.segment(pl.Series([]))) == 0
    assert len(pychunk.segment(pl.DataFrame({"text": []}))) == 0


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    expected = pychunk.segment(TEXTS, "sentence", ids=["x", "y"]).table["chunk_id"]
    frame = pd.DataFrame({"text": TEXTS, "id": ["x", "y"], "odd": [1, "y"], "when": pd.to_datetime(["2020", "2021"])})
    for kind in (object, "category", "string"):
        typed = frame.astype({"text": kind, "id": kind})
        found = pychunk.segment(typed, "sentence", ids="id", columns={"text": "text"})
        assert found.table["chunk_id"].equals(expected)
        found = pychunk.segment(typed["text"], "sentence", ids=typed["id"])
        assert found.table["chunk_id"].equals(expected)
    assert ids_in(TEXTS, ids=pd.Series(NAMES)) == [str(name) for name in NAMES]
    assert ids_in(TEXTS, ids=pd.Series([1, 2], dtype="Int64")) == [1, 2]
    with pytest.raises(TypeError, match=r"ids must be of one type; got int \(document 0\) and str \(document 1\)"):
        pychunk.segment(frame, ids="odd", columns={"text": "text"})
    with pytest.raises(ValueError, match="ids must not be null; got null for document 1"):
        pychunk.segment(TEXTS, ids=pd.Series([1, None], dtype="Int64"))
    for empty in (pd.DataFrame({"text": []}), pd.DataFrame(columns=["text"]), pd.Series([]), frame[:0][["text"]]):
        assert len(pychunk.segment(empty)) == 0
        assert len(pychunk.segment(empty, vectors="chunk")) == 0


def test_pandas_rows_that_are_not_text_are_named() -> None:
    pd = pytest.importorskip("pandas")
    for missing in (pd.NA, pd.NaT, None, float("nan")):
        for documents in (["a.", missing], pd.Series(["a.", missing], dtype=object)):
            with pytest.raises(ValueError, match="row 1: the text is null"):
                pychunk.segment(documents)
            out = pychunk.segment(documents, on_error="skip")
            assert [(error.row, error.reason) for error in out.errors] == [(1, "the text is null")]
        with pytest.raises(ValueError, match="row 1: the text is null"):
            pychunk.segment(pd.DataFrame({"text": ["a.", missing]}))
    with pytest.raises(TypeError, match="row 1: the text must be str, got int"):
        pychunk.segment(pd.DataFrame({"text": ["a.", 3]}))
    with pytest.raises(TypeError, match="row 0: the text must be str, got int"):
        pychunk.segment(pd.DataFrame({"text": ["a.", "b."], "n": [1, 2]}), columns={"text": "n"})
    twice = pd.DataFrame([["a.", "b."]], columns=["text", "text"])
    with pytest.raises(ValueError, match="column='text': 2 columns have this name; rename all but one"):
        pychunk.segment(twice)
    with pytest.raises(ValueError, match="ids='id': 2 columns have this name"):
        pychunk.segment(
            pa.table([["a."], ["b"], ["c"]], names=["text", "id", "id"]), columns={"text": "text"}, ids="id"
        )
    assert len(pychunk.segment(pd.DataFrame([["a.", 1, 2]], columns=["text", "n", "n"]))) == 1


def test_rows_of_arrays_are_no_text() -> None:
    with pytest.raises(TypeError, match="row 0: the text must be str, got ndarray"):
        pychunk.segment(np.array([["a.", "b."]], object))
    with pytest.raises(TypeError, match=r"documents must be a str, .* got set"):
        pychunk.segment({"a.", "b."})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sentence_spans": [[(0, 9)], [(0, 99)]]}, r"document 1 must lie in its 23 characters; got \(0, 99\)"),
        ({"sentence_spans": [[(0, 2**63)], [(0, 9)]]}, "sentence_spans of document 0 must be whole numbers"),
        ({"sentence_spans": [[(0, 2**64)], [(0, 9)]]}, "sentence_spans of document 0 must be whole numbers"),
        ({"sentence_spans": [[(0, 2.5)], [(0, 9)]]}, "sentence_spans of document 0 must be whole numbers"),
        ({"sentence_spans": [[(0, 9), 3], [(0, 9)]]}, r"sentence_spans of document 0 must be \(start, end\) pairs"),
        ({"page_starts": [[0], [2**63]]}, "page_starts of document 1 must be whole numbers"),
        ({"page_starts": [[0], [1.5]]}, "page_starts of document 1 must be whole numbers"),
        ({"sentence_vectors": np.empty((4, 0))}, "sentence_vectors must have at least one column"),
        ({"summaries": np.empty((2, 0))}, "summaries must have at least one column"),
    ],
)  # fmt: skip
def test_given_numbers_are_checked(columns: dict[str, Any], message: str) -> None:
    options = {"summary": "given"} if "summaries" in columns else {}
    with pytest.raises(ValueError, match=message):
        pychunk.segment(TEXTS, vectors="chunk", columns=columns, **options)


def test_spans_of_an_empty_document() -> None:
    with pytest.raises(ValueError, match="sentence_spans of document 1 must lie in its 0 characters"):
        pychunk.segment(["One.", ""], "sentence", columns={"sentence_spans": [[(0, 4)], [(0, 1)]]})
    out = pychunk.segment(["Ön.", ""], "sentence", columns={"sentence_spans": [[(0, 3)], []]})
    assert [chunk.text for chunk in out] == ["Ön."]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "fixed", "size": 2**63}, "size must be a whole number of at most 4611686018427387904"),
        ({"method": "fixed", "size": 10**5000}, "size must be a whole number of at most .* got a number of 16610 bits"),
        ({"method": "fixed", "size": True}, "size must be a whole number of at least 1; got True"),
        ({"method": "fixed", "size": 1.0}, "size must be a whole number of at least 1; got 1.0"),
        ({"method": "semantic", "window": 2**63}, "window must be a whole number of at most"),
        ({"max_tokens": 2**63}, "max_tokens must be a whole number of at most"),
        ({"max_tokens": None, "min_tokens": 2**64}, "min_tokens must be a whole number of at most"),
        ({"max_tokens": None, "overlap": 2**64}, "overlap must be a whole number of at most"),
        ({"k": 2**2000}, "k must be finite as a 64-bit float; got a number of 2001 bits"),
        ({"k": float("inf")}, "k must be finite; got inf"),
        ({"k": True}, "k must be a number; got True"),
        ({"method": "semantic", "threshold": ("std", float("inf"))}, "threshold 'std' must be finite; got inf"),
        ({"method": "semantic", "threshold": ("iqr", float("nan"))}, "threshold 'iqr' must be a number; got nan"),
        ({"method": "nsp", "threshold": ("std", float("-inf"))}, "threshold 'std' must be finite; got -inf"),
        ({"method": "nsp", "threshold": True}, "threshold must be a number; got True"),
        ({"method": ["pic"]}, r"unknown method \['pic'\]; choose one of pic,"),
        ({"method": "recursive", "separators": ["\ud800"]}, "separators must be UTF-8; .* has a lone surrogate"),
        ({"method": "recursive", "separators": 5}, "separators must be a list of strings; got 5"),
    ],
)  # fmt: skip
def test_options_are_checked_where_they_are_given(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pychunk.Segmenter(**options)


@pytest.mark.parametrize("threads", [2**31, 1025])
def test_threads_are_checked_where_they_are_given(threads: int) -> None:
    with pytest.raises(ValueError, match=f"threads must be a whole number of at most 1024; got {threads}"):
        pychunk.Segmenter(placement=pychunk.Placement(threads=threads))


def test_the_largest_size_is_no_limit() -> None:
    text = "Word " * 300
    assert [chunk.text for chunk in pychunk.segment(text, "recursive", size=2**62, unit="words")] == [text.strip()]


def test_options_that_are_equal_are_not_the_same() -> None:
    assert len(pychunk.segment("One two. Three four.", "fixed", size=1, unit="words")) == 4
    for size in (1.0, True):
        with pytest.raises(ValueError, match="size must be a whole number"):
            pychunk.segment("One two.", "fixed", size=size, unit="words")
    pychunk.segment("One.", "semantic", threshold=("percentile", 1))
    with pytest.raises(ValueError, match="must be a number; got True"):
        pychunk.segment("One.", "semantic", threshold=("percentile", True))
    with pytest.raises(ValueError, match="unwrap_lines must be 'auto', True or False; got 0"):
        pychunk.segment("One.", "fixed", unwrap_lines=0)


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["a", "b", "a"], r"the id 'a' belongs to rows 0 and 2: give each document its own id, or, if the rows are"),
        ([7, 7, 7], "the id 7 belongs to rows 0, 1 and 2: "),
        (["b", "b", "a", "a", "b"], r"'b' belongs to rows 0, 1 and 4 \(1 more ids come more than once\): "),
        (["a"] * 60_000, "'a' belongs to rows 0, 1, 2, 3 and 59,996 more: "),
    ],
)
def test_an_id_of_several_rows_is_warned_of(ids: list[Any], said: str) -> None:
    texts = ["One."] * len(ids)
    for call in (lambda: pychunk.segment(texts, ids=ids), lambda: pychunk.Segmenter()(texts, ids=ids)):
        with pytest.warns(UserWarning, match=said) as told:
            call()
        assert [Path(each.filename).name for each in told] == ["test_inputs.py"]
    with pytest.warns(UserWarning, match=said):
        pychunk.segment(pa.table({"text": texts, "id": ids}), columns={"text": "text"}, ids="id")


@pytest.mark.filterwarnings("error")
def test_ids_that_differ_are_not_warned_of() -> None:
    for ids in (["a", "b"], [1, 2], list(range(60_000))):
        pychunk.segment(["One."] * len(ids), ids=ids)


def test_the_command_names_an_id_that_comes_twice(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text\n1,One.\n2,Two.\n1,Three.\n")
    done = invoke(["segment", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.jsonl")])
    assert done.exit_code == 0
    assert "'1' is the id of document 2 and of document 0 (counted from 0)" in " ".join(done.stderr.split())


@pytest.mark.parametrize("texts", [["Cats purr."], ["", "löud 🐕", ""], ["a"] * 9, []])
def test_a_few_strings_are_the_batch_that_arrow_makes(texts: list[str]) -> None:
    found, expected = TextBatch.of(texts), TextBatch.of(pa.array(texts, pa.large_string()))
    assert (len(found), found.nbytes, found.errors) == (len(expected), expected.nbytes, [])
    both = [
        [(row, text[offsets[0] : offsets[-1]].tobytes(), np.diff(offsets).tolist()) for row, text, offsets in each]
        for each in (found.slices(4), expected.slices(4))
    ]
    assert both[0] == both[1]
    again = pickle.loads(pickle.dumps(found))
    for batch in (found, again):
        assert [text for part in batch.texts for text in part.to_pylist()] == texts
        assert (len(batch), batch.nbytes) == (len(expected), expected.nbytes)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        found.other  # noqa: B018  # the look-up raises


def test_quick_objects_equal_those_of_their_class() -> None:
    text, offsets = np.zeros(3, np.uint8), np.array([0, 3])
    features = Features(text, offsets)
    made = quick(Features, {"text": text}, offsets=offsets, others={})
    names = {each.name for each in fields(Features)} - {"others"}
    assert all(getattr(made, name) is getattr(features, name) for name in names)
    assert made.others == features.others
    plan = Plan("sentence")
    whole, few = Request(features, plan, first_row=7), quick(Request, features=features, plan=plan, first_row=7)
    assert few == whole
    assert few.with_(threads=2) == whole.with_(threads=2)
    assert pickle.loads(pickle.dumps(few)).first_row == 7
