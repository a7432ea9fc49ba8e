"""Arguments for each document: values or the name of a column, and columns repeated on every chunk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pychunk
from pychunk import Segmenter
from pychunk.inputs import arguments, document_columns
from pychunk.inputs.document_columns import DOCUMENT_COLUMNS, NAMES, DocumentColumns
from pychunk.inputs.span_inputs import ragged_starts
from pychunk.integrations.data_frame_chunks import BlockSegmenter

TEXTS = ["Cats purr. The sun burns. Dogs bark.", "", "One. Two."]
SAID: dict[str, list[Any]] = {
    "titles": ["cats", "nothing", "numbers"],
    "summaries": ["about cats", "", "about numbers"],
    "sentence_spans": [[(0, 10), (11, 25), (26, 36)], [], [(0, 4), (5, 9)]],
    "sentence_vectors": [np.eye(3, 4).tolist(), [], np.eye(2, 4).tolist()],
    "token_counts": [[3, 4, 3], [], [2, 2]],
    "page_starts": [[0, 11], [0], [0, 5]],
    "blocks": [
        [{"kind": "heading", "level": 1, "start": 0, "end": 10}, {"kind": "code", "level": 0, "start": 11, "end": 36}],
        [],
        [{"kind": "item", "level": 2, "start": 0, "end": 9}],
    ],
    "removed": [[{"start": 0, "end": 10, "reason": "menu", "score": 0.5}], [], []],
    "cuts": [[0, 2], [], [0]],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "titles": {"method": "pic", "summary": "title"},
    "summaries": {"method": "pic", "summary": "given"},
    "sentence_spans": {"method": "sentence"},
    "sentence_vectors": {"method": "semantic", "threshold": 0.5},
    "token_counts": {"method": "fixed", "size": 4},
    "page_starts": {"method": "page"},
    "blocks": {"method": "structure"},
    "removed": {"method": "sentence"},
    "cuts": {"method": "precomputed"},
}


def arrow_of(name: str) -> pa.Table:
    types = {"sentence_vectors": pa.list_(pa.list_(pa.float32())), "page_starts": pa.list_(pa.int32())}
    return pa.table({"text": TEXTS, "c": pa.array(SAID[name], types.get(name)), "n": [7, 8, 9]})


def pandas_of(name: str) -> Any:
    return pytest.importorskip("pandas").DataFrame({"text": TEXTS, "c": SAID[name], "n": [7, 8, 9]})


def polars_of(name: str) -> Any:
    return pytest.importorskip("polars").DataFrame(arrow_of(name).to_pydict())


def test_every_entry_is_a_role_and_is_tried_here() -> None:
    assert tuple(SAID) == tuple(OPTIONS) == NAMES
    assert {"text", *NAMES} == set(DocumentColumns.__annotations__)


@pytest.mark.parametrize("frame", [arrow_of, pandas_of, polars_of])
@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_column_says_what_its_values_say(name: str, frame: Callable[[str], Any]) -> None:
    as_values = pychunk.segment(TEXTS, columns={name: SAID[name]}, **OPTIONS[name])
    as_column = pychunk.segment(frame(name), columns={"text": "text", name: "c"}, **OPTIONS[name])
    assert as_column.table.equals(as_values.table)
    streamed = list(
        Segmenter(**OPTIONS[name]).stream(
            [frame(name), frame(name)], columns={"text": "text", name: "c"}, metadata_columns=["n"]
        )
    )
    assert streamed[1].table["n"].to_pylist() == [
        7 + row - 3 for row in streamed[1].table["document_index"].to_pylist()
    ]
    assert streamed[0].table.drop_columns(["n"]).equals(as_values.table)


@pytest.mark.parametrize("name", NAMES)
def test_blocks_of_a_distributed_frame_take_every_entry(name: str) -> None:
    data_frame_chunks = BlockSegmenter.of(
        columns={"text": "text", name: "c"}, ids=None, metadata_columns=["n"], **OPTIONS[name]
    )
    made = pa.concat_tables(list(data_frame_chunks(arrow_of(name))))
    same = pychunk.segment(arrow_of(name), columns={"text": "text", name: "c"}, metadata_columns=["n"], **OPTIONS[name])
    assert made.drop_columns(["document_index"]).equals(same.table.drop_columns(["document_index"]))
    assert set(data_frame_chunks.needed(["text", "c", "n", "other"])) == {"text", "c", "n"}


def test_a_column_called_title_is_what_titles_are_by_themselves() -> None:
    table = pa.table({"text": TEXTS, "title": SAID["titles"]})
    named = pychunk.segment(table, columns={"text": "text", "titles": "title"}, summary="title")
    assert pychunk.segment(table, columns={"text": "text"}, summary="title").table.equals(named.table)
    data_frame_chunks = BlockSegmenter.of(
        "pic", columns={"text": "text"}, ids=None, metadata_columns=[], summary="title"
    )
    assert data_frame_chunks.needed(["text", "title", "n"]) == ["text", "title"]
    assert data_frame_chunks.needed(None) == []  # its presence is unknown: all are read
    with pytest.raises(
        ValueError, match=r"method 'pic' needs columns=\{'titles': \.\.\.\}: a title for each document, or"
    ):
        pychunk.segment(table.drop_columns(["title"]), summary="title")


def test_what_is_of_no_use_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"columns={'titles': ...} is for method 'pic' with summary='title'; got Fixed\("
    ):
        pychunk.segment("One. Two.", "fixed", size=3, unit="words", columns={"titles": ["a"]})
    with pytest.raises(ValueError, match=r"columns has no role 'title': the roles are text, .*; did you mean 'titles'"):
        Segmenter("pic", summary="title")("One. Two.", columns={"title": ["a"]})
    with pytest.raises(TypeError, match=r"no argument 'titles': pass columns={'titles': ...} with the name of a"):
        Segmenter("pic", summary="title")("One. Two.", titles=["a"])
    with pytest.raises(TypeError, match=r"no argument 'size': options belong to the Segmenter"):
        list(Segmenter("fixed").stream([["One. Two."]], size=3))
    with pytest.raises(TypeError, match=r'columns must map roles to columns, such as {"titles": "headline"}; got '):
        pychunk.segment("One. Two.", columns=["titles"])
    with pytest.raises(TypeError, match=r"columns={'text': ...} must be the name of a column; got list: pass texts as"):
        pychunk.segment(TEXTS, columns={"text": TEXTS})
    with pytest.raises(ValueError, match="page_starts='pages' is not a column; the columns are text"):
        pychunk.segment(pa.table({"text": TEXTS}), columns={"page_starts": "pages"})
    with pytest.raises(ValueError, match="page_starts must not be null; got null for document 1"):
        pychunk.segment(pa.table({"text": TEXTS, "p": [[0], None, [0]]}), columns={"text": "text", "page_starts": "p"})


@pytest.mark.parametrize("texts", [TEXTS, []])
def test_kept_columns_stand_after_the_chunks_own_with_their_types(texts: list[str]) -> None:
    n = len(texts)
    own = {
        "n": pa.array(range(n), pa.int16()),
        "tags": pa.array([["a"]] * n, pa.list_(pa.string())),
        "topic": pa.array(["x"] * n).dictionary_encode(),
        "none": pa.nulls(n, pa.float64()),
    }
    table = pa.table({"text": pa.array(texts, pa.string()), **own})
    out = pychunk.segment(table, "sentence", columns={"text": "text"}, metadata_columns=list(own))
    plain = pychunk.segment(table, "sentence", columns={"text": "text"}).table
    assert out.table.drop_columns(list(own)).equals(plain)
    assert out.table.column_names[len(plain.column_names) :] == list(own)
    for name, values in own.items():
        assert out.table.schema.field(name).type == values.type
        assert out.table[name].to_pylist() == [values[row].as_py() for row in plain["document_index"].to_pylist()]
    for chunk in out:
        assert chunk.metadata == {"n": chunk.document_index, "tags": ["a"], "topic": "x", "none": None}
    assert [chunk.metadata for chunk in out] == [out[i].metadata for i in range(len(out))]


@pytest.mark.parametrize(
    ("batch", "keep", "message"),
    [
        (TEXTS, ["n"], "the documents have none; pass a table"),
        (arrow_of("titles"), "n", r"write metadata_columns=\['n'\]"),
        (arrow_of("titles"), ["nothing"], "metadata_columns='nothing' is not a column; the columns are text, c, n"),
        (arrow_of("titles"), ["n", "n"], "each column once"),
        (arrow_of("titles"), ["text"], "must not name a column of pychunk's own chunk table; got 'text'"),
    ],
)
def test_what_cannot_be_kept_is_said(batch: Any, keep: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        pychunk.segment(
            batch, "sentence", columns={"text": "text" if isinstance(batch, pa.Table) else None}, metadata_columns=keep
        )


def test_an_index_shows_and_filters_by_what_was_kept(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    table = pa.table({"text": ["Cats purr.", "Stars burn."], "topic": ["pets", "sky"]})
    with pychunk.Index.create(tmp_path / "x.idx") as index:
        index.add(
            pychunk.segment(table, "sentence", columns={"text": "text"}, metadata_columns=["topic"], vectors="sentence")
        )
        (hit,) = index.search(["What do cats do?"], k=2, where={"topic": "sky"})[0]
        assert (hit.text, hit.metadata) == ("Stars burn.", {"topic": "sky"})


def test_entries_with_a_flag_are_those_that_a_file_may_hold() -> None:
    assert [column.name for column in DOCUMENT_COLUMNS if column.flag] == [
        *("titles", "summaries", "page_starts", "blocks", "removed")
    ]


def test_a_new_entry_reaches_a_method_in_python_from_any_way_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only an entry is added: no other code names it, and calls, streams and blocks pass it on."""

    def flat(values: Any, call: document_columns.Call) -> dict[str, Any]:
        return {"lengths": ragged_starts(values, len(call.texts), "lengths")}

    entry = document_columns.DocumentColumn(
        "lengths", "lengths of chunks", flat, of_column=lambda array: array.to_pylist()
    )
    for module in (document_columns, arguments):
        monkeypatch.setattr(module, "DOCUMENT_COLUMNS", (*DOCUMENT_COLUMNS, entry))
    monkeypatch.setattr(document_columns, "NAMES", (*NAMES, "lengths"))

    class Runs(pychunk.Method):
        name = "runs"

        def cuts(self, features: pychunk.Features) -> pychunk.Cuts:
            lengths = features.given("lengths")
            return pychunk.Cuts.of(
                [np.cumsum([0, *lengths.part(row)])[:-1].tolist() for row in range(features.documents)]
            )

    values = [[1, 2], [], [2]]
    expected = ["Cats purr.", "The sun burns. Dogs bark.", "One. Two."]
    table = pa.table({"text": TEXTS, "lengths": values})
    assert Segmenter(Runs(), keep_together=False)(TEXTS, columns={"lengths": values}).texts == expected
    assert (
        pychunk.segment(table, Runs(), columns={"text": "text", "lengths": "lengths"}, keep_together=False).texts
        == expected
    )
    made = BlockSegmenter.of(
        Runs(), columns={"text": "text", "lengths": "lengths"}, ids=None, metadata_columns=[], keep_together=False
    )
    assert pa.concat_tables(list(made(table)))["text"].to_pylist() == expected
