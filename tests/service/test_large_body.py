"""Large bodies: Arrow reads them as msgspec does, or leaves them to it."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("msgspec")

from service_calls import called, chunks_of, expected, rounded

from pychunk.service.large_body import large_request
from pychunk.service.merger import BATCH_BYTES
from pychunk.service.requests import SegmentRequest

TEXTS = st.text(max_size=8) | st.sampled_from(
    ["2020-01-01", "2020-01-01 10:00:00", "1", "true", "\x00", '"\\/', "\x7f"]
)
LEAVES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXTS
OPTIONS = st.dictionaries(
    TEXTS, LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(TEXTS, LEAVES, max_size=2), max_size=3
)
DOCUMENTS = (
    st.lists(TEXTS, max_size=4)
    | st.lists(st.fixed_dictionaries({"text": TEXTS, "id": TEXTS}), max_size=4)
    | st.lists(st.fixed_dictionaries({"text": TEXTS}), max_size=4)
    | st.lists(
        st.dictionaries(st.sampled_from(["text", "id", "columns", "other"]), LEAVES, max_size=3) | LEAVES, max_size=3
    )
)
BODIES = st.fixed_dictionaries(
    {"documents": DOCUMENTS},
    optional={"options": OPTIONS | LEAVES, "format": st.sampled_from(["text", "html", "pdf", None])},
)


@given(
    BODIES,
    st.sampled_from([None, 2]),
    st.sampled_from(["{}", "{}{}", "{}x", '{}\n{{"documents": ["b"]}}', " \n{}\r\n"]),
)
def test_it_is_read_as_msgspec_reads_it(body, indent, around):
    written = (
        json.dumps(body, indent=indent, allow_nan=False)
        if "NaN" not in str(json.dumps(body)) and "Infinity" not in json.dumps(body)
        else json.dumps({"documents": []})
    )
    content = around.format(written, written).encode()
    found = large_request(content)
    if found is None:
        return
    said = msgspec.json.decode(content, type=SegmentRequest)
    texts = [each if isinstance(each, str) else each.text for each in said.documents]
    ids = [None if isinstance(each, str) else each.id for each in said.documents]
    assert found.texts.to_pylist() == texts
    assert (found.ids or [None] * len(texts)) == ids
    assert msgspec.json.encode(found.options, order="sorted") == msgspec.json.encode(said.options, order="sorted")
    assert found.format == said.format


@pytest.mark.parametrize(
    "body",
    [
        b'{"documents": ["a", "\\ud800"]}',
        b'{"documents": ["a", null]}',
        b'{"documents": null}',
        b'{"documents": ["a"], "other": 1}',
        b'{"documents": [{"text": "a", "columns": {}}]}',
        b'{"documents": [{"text": "a", "id": "b"}, {"text": "a"}]}',
        b'{"documents": [{"id": "b"}]}',
        b'{"documents": [{"text": "a", "id": "' + b"x" * 257 + b'"}]}',
        b'{"documents": ["a"], "options": {"threshold": ["percentile", 20]}}',
        b'{"documents": ["a"]} {"documents": ["b"]}',
        b'{"documents": ["a"], "documents": ["b"]}',
        b'["a"]',
        b"",
    ],
)
def test_what_arrow_leaves_to_msgspec(body):
    assert large_request(body) is None


@pytest.mark.parametrize("wrong", [None, b'"\\ud800"', b'"a\xff"'])
def test_large_bodies_are_answered_as_small_ones(settings, wrong):
    texts = ["Cats purr. " * (BATCH_BYTES // 10), "Ümläute. Dogs bark.", ""]
    options = {"method": "fixed", "size": 500, "on_error": "skip"}
    body = json.dumps({"documents": texts, "options": options}).encode()
    documents = body if wrong is None else body.replace(b'"documents": [', b'"documents": [' + wrong + b", ")
    answer = called(settings, ("POST", "/v1/segment", {"content": documents}))[0]
    assert rounded(chunks_of(answer))[-3:] == rounded(expected(texts, options))
    assert [each["document"] for each in answer.json()["errors"]] == ([] if wrong is None else [0])
