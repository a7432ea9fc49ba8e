"""The endpoints: each answer equals pychunk.segment of the same document, whatever shares its batch."""

import base64
import gc
import io
import json
import random

import numpy as np
import pyarrow as pa
import pytest

import pychunk
from pychunk import Index

pytest.importorskip("msgspec")

from service_calls import OPTIONS, TEXTS, called, chunks_of, expected, posted, rounded

from pychunk.service import counters, http
from pychunk.service.settings import Settings

VOCABULARY = pychunk.__path__[0] + "/models/vocab.txt"


def test_answers_equal_segment_whatever_shares_the_batch(settings):
    chance = random.Random(5)
    requests, wanted = [], []
    for number in range(60):
        options = chance.choice(OPTIONS)
        texts = [chance.choice(TEXTS) for _ in range(chance.randint(1, 4))]
        ids = [f"{number}-{row}" for row in range(len(texts))] if chance.random() < 0.5 else None
        documents = texts if ids is None else [{"id": id, "text": text} for id, text in zip(ids, texts)]
        requests.append(("POST", "/v1/segment", {"json": {"documents": documents, "options": options}}))
        wanted.append((expected(texts, options, ids), ids or [None] * len(texts)))
    for response, (chunks, ids) in zip(called(settings, *requests), wanted):
        assert rounded(chunks_of(response)) == rounded(chunks)
        assert [each["id"] for each in response.json()["documents"]] == ids


def test_no_text_is_left_to_the_garbage_collector(settings):
    """It runs too rarely: 150 MB of the texts of answered requests stayed in a worker."""
    documents = [[TEXTS[0]], ["fine", "\ud800"], ["Cats purr. " * 100_000], ["Cats purr. " * 100_000, "\ud800"]]
    requests = [("POST", "/v1/segment", {"content": json.dumps({"documents": each}).encode()}) for each in documents]
    called(settings, *requests)  # loads what is needed
    gc.collect()
    gc.disable()
    try:
        assert [each.status_code for each in called(settings, *requests)] == [200, 422] * 2
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        assert not {type(each).__name__ for each in gc.garbage} & {"Job", "Batch", "Documents"}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def test_requests_at_the_same_time_share_batches(settings):
    requests = [("POST", "/v1/segment", {"json": {"documents": [TEXTS[0]]}})] * 50
    called(settings, *requests)
    text = counters.Counters(settings.counters).text()
    found = {name: float(value) for name, value in (line.split() for line in text.splitlines() if line[0] != "#")}
    assert found["pychunk_batched_requests_total"] == 50
    assert found["pychunk_batches_total"] < 25
    assert found["pychunk_documents_total"] == 50
    assert found['pychunk_requests_total{route="segment",status="200"}'] == 50
    assert found["pychunk_request_seconds_count"] >= 50


def test_a_wrong_document_fails_alone(settings):
    good = ("POST", "/v1/segment", {"json": {"documents": [TEXTS[0]]}})
    wrong = ("POST", "/v1/segment", {"content": b'{"documents": ["fine", "\\ud800"]}'})
    responses = called(settings, *[good, wrong] * 10)
    assert [each.status_code for each in responses] == [200, 422] * 10
    assert "row 1: lone surrogate U+D800" in responses[1].json()["error"]["message"]
    assert all(rounded(chunks_of(each)) == rounded(expected(TEXTS[:1], {})) for each in responses[::2])


@pytest.mark.parametrize("wrong", [b'"\\ud800"', b'"a\xff"'])
@pytest.mark.parametrize("format", [b"text", b"markdown"])
def test_skip_returns_the_rest_and_the_reason(settings, wrong, format):
    options = b'"options": {"on_error": "skip"}, "format": "' + format + b'"}'
    body = b'{"documents": ["One.", ' + wrong + b', "Two."], ' + options
    answer = called(settings, ("POST", "/v1/segment", {"content": body}))[0].json()
    assert [[chunk["text"] for chunk in each["chunks"]] for each in answer["documents"]] == [["One."], [], ["Two."]]
    assert [each["document"] for each in answer["errors"]] == [1]


def test_lines_and_arrow_equal_json(settings):
    texts, ids = TEXTS[:4], ["a", "b", "c", "d"]
    documents = [{"id": id, "text": text} for id, text in zip(ids, texts)]
    sink = io.BytesIO()
    table = pa.table({"body": texts, "key": ids, "year": [1, 2, 3, 4]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    arrow = {"Content-Type": http.ARROW}
    lines = {"Content-Type": http.LINES}
    url = "/v1/segment?method=fixed&size=4&unit=words"
    responses = called(
        settings,
        ("POST", "/v1/segment", {"json": {"documents": documents, "options": OPTIONS[2] | {"size": 4}}}),
        ("POST", url, {"content": "\n".join(map(json.dumps, documents)), "headers": lines}),
        ("POST", url + "&text=body&ids=key", {"content": sink.getvalue(), "headers": arrow}),
        (
            "POST",
            url + "&text=body&ids=key",
            {"content": sink.getvalue(), "headers": {**arrow, "Accept": "application/json"}},
        ),
    )
    wanted = rounded(chunks_of(responses[0]))
    assert rounded([json.loads(line)["chunks"] for line in responses[1].text.splitlines()]) == wanted
    found = pa.ipc.open_stream(responses[2].content).read_all()
    own = pychunk.segment(
        table, columns={"text": "body"}, ids="key", metadata_columns=["year"], method="fixed", size=4, unit="words"
    ).table
    assert found.equals(own)
    assert found.schema.metadata == own.schema.metadata
    assert [each["id"] for each in responses[3].json()["documents"]] == ids
    assert [[chunk["year"] for chunk in each] for each in chunks_of(responses[3])] == [
        [year] * len(chunks) for year, chunks in zip([1, 2, 3, 4], wanted)
    ]


@pytest.mark.parametrize(
    ("body", "message", "path"),
    [
        ({"documents": ["a"], "option": {}}, "unknown field `option`", None),
        ({"documents": ["a", 3]}, "got `int`", "$.documents[1]"),
        ({"documents": ["a"], "options": {"sise": 3}}, "unknown option 'sise'; choose from method", "$.options.sise"),
        ({"documents": ["a"], "options": {"method": "no"}}, "unknown method 'no'; choose one of pic", "$.options"),
        ({"documents": ["a"], "options": {"encoder": "/etc"}}, "offers the encoders static", "$.options.encoder"),
        ({"documents": ["a"], "options": {"encoder": ["static"]}}, "offers the encoders", "$.options.encoder"),
        (
            {"documents": ["a"], "options": {"tokenizer": "/a.json"}},
            "offers the tokenizers none",
            "$.options.tokenizer",
        ),
        ({"documents": ["a"], "options": {"model": "/a"}}, "unknown option 'model'", "$.options.model"),
        ({"documents": ["a"], "options": {"method": "lumber"}}, "asks a language model", "$.options.method"),
        ({"documents": ["a"], "options": {"summary": "llm"}}, "asks a language model", "$.options.summary"),
        ({"documents": ["a"], "options": {"augment": "llm"}}, "asks a language model", "$.options.augment"),
        ({"documents": ["a"], "options": {"augment": ["context:x"]}}, "augment must be of", "$.options.augment"),
        ({"documents": ["a"], "options": {"max_tokens": -1}}, "max_tokens must be", "$.options"),
        ({"documents": ["a"], "options": {"size": 10**30, "method": "fixed"}}, "size", "$.options"),
        ({"documents": ["a", {"text": "b", "id": "x"}]}, "have an id or none", "$.documents[1]"),
        ({"documents": [{"text": "b", "columns": {"x": 1}}]}, "unknown column 'x'", "$.documents[0]"),
        ({"documents": ["a"], "format": "pdf"}, "Invalid enum value 'pdf'", "$.format"),
    ],
)
def test_errors_name_the_path_and_the_choices(settings, body, message, path):
    response = posted(settings, "/v1/segment", body)
    error = response.json()["error"]
    assert response.status_code == 422
    assert message in error["message"]
    assert error.get("path") == path
    assert error["request"] == response.headers["x-request-id"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[1", b"{}", b"null", b"[" * 100_000, b'{"documents": {}}'])
def test_broken_bodies_are_422(settings, content):
    for path in ("/v1/segment", "/v1/sentences", "/v1/tokenize", "/v1/embeddings", "/v1/search", "/v1/chunk/semantic"):
        assert called(settings, ("POST", path, {"content": content}))[0].status_code == 422


def test_other_endpoints(settings, tmp_path):
    folder = str(tmp_path / "docs.idx")
    with Index.create(folder) as index:
        index.add(pychunk.segment(["Cats purr at night.", "Stars burn hydrogen."], ids=["cats", "stars"]))
    offered = Settings(counters=settings.counters, tokenizers=(VOCABULARY,), indexes={"docs": folder})
    sentences, tokens, counts, vector, coded, hits, unknown = called(
        offered,
        ("POST", "/v1/sentences", {"json": {"texts": TEXTS}}),
        ("POST", "/v1/tokenize", {"json": {"texts": TEXTS, "tokenizer": VOCABULARY}}),
        ("POST", "/v1/tokenize", {"json": {"texts": TEXTS, "tokenizer": VOCABULARY, "count": True}}),
        ("POST", "/v1/embeddings", {"json": {"input": "Cats purr.", "user": "x"}}),
        ("POST", "/v1/embeddings", {"json": {"input": TEXTS, "encoding_format": "base64", "task": "query"}}),
        ("POST", "/v1/search", {"json": {"index": "docs", "queries": ["What burns?"], "k": 1}}),
        ("POST", "/v1/search", {"json": {"index": "other", "queries": ["What burns?"]}}),
    )
    assert sentences.json()["sentences"] == json.loads(json.dumps(pychunk.split_sentences(TEXTS)))
    table = pychunk.tokenize(TEXTS, VOCABULARY)
    assert {name: tokens.json()[name] for name in table.column_names} == table.to_pydict()
    assert counts.json() == {"counts": pychunk.count_tokens(TEXTS, VOCABULARY).to_pylist()}
    assert np.float32(vector.json()["data"][0]["embedding"]).tolist() == pychunk.embed("Cats purr.").tolist()
    assert vector.json()["usage"] == {"prompt_tokens": 4, "total_tokens": 4}
    found = [np.frombuffer(base64.b64decode(each["embedding"]), "<f4") for each in coded.json()["data"]]
    assert np.array_equal(found, pychunk.embed(TEXTS, task="query"))
    assert coded.json()["usage"]["prompt_tokens"] == sum(counts.json()["counts"])
    assert hits.json()["hits"][0][0]["document_id"] == "stars"
    assert "has the indexes docs; got 'other'" in unknown.json()["error"]["message"]


def test_arrow_answers_keep_columns_and_formats(settings):
    body = {
        "documents": [{"text": "One two. Three four. Five six.", "columns": {"page_starts": [0, 9]}}],
        "options": {"method": "page"},
    }
    headers = {"Accept": http.ARROW}
    (pages,) = called(settings, ("POST", "/v1/segment", {"json": body, "headers": headers}))
    found = pa.ipc.open_stream(pages.content).read_all()
    own = pychunk.segment([body["documents"][0]["text"]], "page", columns={"page_starts": [[0, 9]]}).table
    assert found.equals(own)
    assert found.num_rows == 2


def test_an_error_of_one_request_leaves_others_their_answers(settings):
    def request(end):
        document = {"text": "Cats purr. Dogs bark.", "columns": {"removed": [[0, end]]}}
        return "POST", "/v1/segment", {"json": {"documents": [document]}}

    responses = called(settings, request(4), request(10**30), request(4), request(4))
    assert [each.status_code for each in responses] == [200, 422, 200, 200]


def test_answers_have_a_limit(settings):
    small = Settings(counters=settings.counters, max_bytes=200_000)

    def stream(**columns):
        table = pa.table(columns)
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return {"content": sink.getvalue(), "headers": {"Content-Type": http.ARROW}}

    url = "/v1/segment?method=sentence&keep_together=false"
    large, clash, long_id, many = called(
        small,
        ("POST", url, stream(text=["Cats purr. " * 5000], other=["x" * 100_000])),
        ("POST", url, stream(text=["Cats purr."], start=[1])),
        ("POST", "/v1/segment", {"json": {"documents": [{"text": "a", "id": "x" * 300}]}}),
        ("POST", url, {"content": json.dumps("Go on. " * 20_000), "headers": {"Content-Type": http.LINES}}),
    )
    assert [each.status_code for each in (large, clash, long_id, many)] == [413, 422, 422, 413]
    assert "leave out the other columns" in large.json()["error"]["message"]
    assert "same names as the table: ['start']" in clash.json()["error"]["message"]


@pytest.mark.parametrize(
    "options",
    [
        b'{"\\ud800": 1}',
        b'{"method": "\\ud800"}',
        b'{"separators": ["\\ud800"], "method": "recursive"}',
        b'{"separators": ["' + b"x" * 20_000 + b'"], "method": "recursive"}',
    ],
)
def test_options_that_are_no_unicode_or_too_long_are_422(settings, options):
    (response,) = called(
        settings, ("POST", "/v1/segment", {"content": b'{"documents": ["a"], "options": ' + options + b"}"})
    )
    assert response.status_code == 422


def test_reranking_in_the_shape_of_tei(settings, monkeypatch):
    from pychunk.index.rerank import rerankers

    custom = rerankers.CustomReranker(lambda queries, hits: [[len(hit.text) - 3 for hit in own] for own in hits])
    monkeypatch.setattr(rerankers, "load", {"by-length": custom}.get)
    offered = Settings(counters=settings.counters, reranker="by-length")
    body = {"query": "cats", "texts": ["Cat", "Cats purr", ""]}
    plain, raw, empty = called(
        offered,
        ("POST", "/v1/rerank", {"json": {**body, "truncate": True}}),
        ("POST", "/v1/rerank", {"json": {**body, "raw_scores": True, "return_text": True}}),
        ("POST", "/v1/rerank", {"json": {"query": "cats", "texts": []}}),
    )
    assert [each["index"] for each in plain.json()] == [1, 0, 2]
    assert [round(each["score"], 6) for each in plain.json()] == [0.997527, 0.5, 0.047426]
    assert raw.json()[0] == {"index": 1, "score": 6.0, "text": "Cats purr"}
    assert (empty.status_code, empty.json()["error"]["path"]) == (422, "$.texts")
    assert "start it with --reranker" in posted(settings, "/v1/rerank", body).json()["error"]["message"]
