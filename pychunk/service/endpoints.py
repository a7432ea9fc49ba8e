"""The endpoints that read documents or questions, one function for each."""

from __future__ import annotations

import asyncio
import base64
import functools
import json
import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from . import chonkie_shape, requests, uploads
from .arrow_body import table_of
from .http import ARROW, JSON, LINES, Answer, Request
from .large_body import large_request
from .merger import BATCH_BYTES, Job
from .options import ROLES, checked_options, query_options, segmenter_of
from .request_error import RequestError
from .segmentation import Documents, Rows

if TYPE_CHECKING:
    from .app import Service

Body = TypeVar("Body")
#: The parameters of a URL that are no options.
PARAMETERS = ("format", "text", "ids")
#: The type that curl -d sends unless it is told another. The body is read as JSON.
FORM = "application/x-www-form-urlencoded"


async def segment(service: Service, request: Request) -> Answer:
    """Return the chunks of documents."""
    body = await request.body(service.settings.max_bytes)
    kind = JSON if request.kind in ("", FORM) else request.kind
    if kind == uploads.FORM:
        return await _files(service, request, body)
    form = _form(request, kind)
    readers: dict[str, Callable[..., Documents | Rows]] = {JSON: _documents, LINES: _lines, ARROW: _rows}
    if kind not in readers:
        kinds = ", ".join((JSON, LINES, ARROW, uploads.FORM))
        raise RequestError(415, f"Content-Type must be one of {kinds}; got {kind!r:.80}")
    if len(body) < BATCH_BYTES:
        work = readers[kind](service, request, body, form)
    else:  # in a thread, while the loop serves others
        work = await asyncio.to_thread(readers[kind], service, request, body, form)
    answer = await segmented(service, request, work)
    return Answer(answer, form)


async def _files(service: Service, request: Request, body: bytes) -> Answer:
    """Return the chunks of the documents in files."""
    upload = uploads.upload_of(body, request.headers.get("content-type", ""))
    options = checked_options(_decoded(upload.options, dict[str, Any], "the part options: "), service.settings)

    def work() -> bytes:
        segmenter = segmenter_of(options, service.settings.threads)
        return uploads.segmented_files(upload.files, segmenter, service.most_bytes)

    # Readers may take long, so files are long requests whatever their size.
    answer = Answer(await _result(service, request, Job(object(), work, max(len(body), BATCH_BYTES))))
    service.counters.add("documents", len(upload.files))
    return answer


async def segmented(service: Service, request: Request, work: Documents | Rows) -> bytes:
    """Return the body of the answer with the chunks of documents, and count them."""
    if isinstance(work, Rows):
        key, count, size = object(), work.table.num_rows, work.table.column(work.text).nbytes
    else:
        key = object() if work.answer == ARROW else work.key
        count, size = len(work.texts), work.size
    answer = await _result(service, request, Job(key, work, size))
    service.counters.add("documents", count)
    service.counters.add("text_bytes", size)
    service.counters.add("chunks", work.chunks)
    return answer


def _documents(service: Service, request: Request, body: bytes, form: str) -> Documents:
    if request.parameters:
        names = ", ".join(name for name, _ in request.parameters)
        raise RequestError(422, f"options of a JSON body are in its field options; got the URL's parameters {names}")
    if len(body) >= BATCH_BYTES and (large := large_request(body)):
        _check_number(service, len(large.texts))
        options = checked_options(large.options, service.settings)
        return Documents(large.texts, large.ids, {}, large.format, options, form)
    said = _decoded(body, requests.SegmentRequest)
    options = checked_options(said.options, service.settings)
    return _checked(service, said.documents, said.format, options, form)


def _lines(service: Service, request: Request, body: bytes, form: str) -> Documents:
    format, options = _parameters(service, request)
    documents = []
    for number, line in enumerate(body.split(b"\n")):
        if line.strip():
            documents.append(_decoded(line, str | requests.Document, f"line {number + 1}: "))
    return _checked(service, documents, format, options, form)


def _parameters(service: Service, request: Request) -> tuple[str, bytes]:
    said = [(name, value) for name, value in request.parameters if name not in PARAMETERS]
    format = dict(request.parameters).get("format", "text")
    if format not in requests.FORMATS:
        raise RequestError(422, f"format must be {', '.join(requests.FORMATS)}; got {format!r:.80}")
    return format, checked_options(query_options(said), service.settings)


def _checked(
    service: Service, documents: list[str | requests.Document], format: str, options: bytes, form: str
) -> Documents:
    """Return the documents of a request, after checking that they have the same fields."""
    _check_number(service, len(documents))
    whole = [each if isinstance(each, requests.Document) else requests.Document(each) for each in documents]
    roles = sorted(whole[0].columns) if whole else []
    for number, each in enumerate(whole):
        path = f"$.documents[{number}]"
        if (each.id is None) != (whole[0].id is None):
            raise RequestError(422, "either all documents of a request have an id or none", path)
        if sorted(each.columns) != roles:
            raise RequestError(422, f"all documents must have the same columns; document 0 has {roles}", path)
    if unknown := [role for role in roles if role not in ROLES]:
        raise RequestError(422, f"unknown column {unknown[0]!r:.80}; choose from {', '.join(ROLES)}", "$.documents[0]")
    if format != "text" and roles:
        raise RequestError(422, f"columns need format text; got {format}", "$.documents[0].columns")
    ids = [str(each.id) for each in whole] if whole and whole[0].id is not None else None
    columns = {role: [each.columns[role] for each in whole] for role in roles}
    return Documents([each.text for each in whole], ids, columns, format, options, form)


def _check_number(service: Service, documents: int) -> None:
    most = service.settings.max_documents
    if documents > most:
        raise RequestError(413, f"a request must have at most {most} documents; got {documents}", "$.documents")


def _rows(service: Service, request: Request, body: bytes, form: str) -> Rows:
    format, options = _parameters(service, request)
    if format != "text":
        raise RequestError(422, f"an Arrow body has format text; got {format}: send Markdown and HTML as JSON")
    table = table_of(body)
    if len(set(table.column_names)) < table.num_columns:
        raise RequestError(422, f"the table has several columns of one name; its columns are {table.column_names}")
    _check_number(service, table.num_rows)
    parameters = dict(request.parameters)
    text, ids = parameters.get("text") or "text", parameters.get("ids")
    for name in (text, ids):
        if name is not None and name not in table.column_names:
            raise RequestError(422, f"the table has no column {name!r:.80}; its columns are {table.column_names}")
    return Rows(table, text, ids, options, form)


async def sentences(service: Service, request: Request) -> Answer:
    """Return the spans of the sentences of texts."""
    from ..api import split_sentences

    said = await decoded_body(service, request, requests.TextsRequest)

    def work() -> bytes:
        return msgspec.json.encode(requests.Spans(split_sentences(said.texts)))

    return await called(service, request, work, said.texts)


async def tokenize(service: Service, request: Request) -> Answer:
    """Return the tokens of texts, or their number."""
    from ..tokenization import count_tokens
    from ..tokenization import tokenize as tokens_of

    said = await decoded_body(service, request, requests.TokenizeRequest)
    checked_options({"tokenizer": said.tokenizer}, service.settings)

    def work() -> bytes:
        if said.count:
            return msgspec.json.encode(requests.TokenizeAnswer(count_tokens(said.texts, said.tokenizer).to_pylist()))
        table = tokens_of(said.texts, said.tokenizer)
        lists = {name: table.column(name).to_pylist() for name in table.column_names}
        return msgspec.json.encode(requests.TokenizeAnswer([len(each) for each in lists["ids"]], **lists))

    return await called(service, request, work, said.texts)


async def embeddings(service: Service, request: Request) -> Answer:
    """Return the vectors of texts, in the shape of OpenAI's endpoint."""
    from .._engine.arrow import flat_texts
    from ..embedding import embed
    from ..encoders import registry

    said = await decoded_body(service, request, requests.EmbeddingsRequest)
    checked_options({"encoder": said.model}, service.settings)
    texts = [said.input] if isinstance(said.input, str) else said.input

    def work() -> bytes:
        vectors = embed(texts, encoder=said.model, task=said.task)
        if said.dimensions is not None and said.dimensions != vectors.shape[1]:
            raise ValueError(f"model {said.model} has {vectors.shape[1]} dimensions; got {said.dimensions}")
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": base64.b64encode(vector.astype("<f4").tobytes()).decode()
                if said.encoding_format == "base64"
                else vector.tolist(),
            }
            for index, vector in enumerate(vectors)
        ]
        tokens = int(registry.vector_encoder(said.model).tokens_of(*flat_texts(texts)).counts.sum())
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return msgspec.json.encode({"object": "list", "data": data, "model": said.model, "usage": usage})

    return await called(service, request, work, texts)


async def rerank(service: Service, request: Request) -> Answer:
    """Return texts in the order of their relevance for a question, in the shape of Text Embeddings Inference."""
    from ..index.rerank.rerankers import reranked
    from ..index.search.hits import Hit

    said = await decoded_body(service, request, requests.RerankRequest)
    reranker = service.reranker
    if reranker is None:
        raise RequestError(422, "this service has no reranker: start it with --reranker MODEL")

    def work() -> bytes:
        hits = [Hit(row, row, "", 0, str(row), 0, len(text), text, 0.0, {}) for row, text in enumerate(said.texts)]
        ((*best,), *_), _ = reranked(reranker, [said.query], [hits], len(hits), threads=service.settings.threads)
        return msgspec.json.encode(
            [
                requests.RankedText(
                    hit.row,
                    hit.score if said.raw_scores else 0.5 + 0.5 * math.tanh(hit.score / 2),
                    hit.text if said.return_text else None,
                )
                for hit in best
            ]
        )

    return await called(service, request, work, [said.query, *said.texts])


async def search(service: Service, request: Request) -> Answer:
    """Return the best chunks of an index for questions."""
    said = await decoded_body(service, request, requests.SearchRequest)
    index = service.indexes.get(said.index)
    if index is None:
        names = ", ".join(service.indexes) or "none"
        raise RequestError(422, f"this service has the indexes {names}; got {said.index!r:.80}", "$.index")

    def work() -> bytes:
        found = index.search(said.queries, k=said.k, mode=said.mode, where=said.where)
        return msgspec.json.encode({"hits": [[_hit(hit) for hit in hits] for hits in found]})

    return await called(service, request, work, said.queries)


def _hit(hit: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {name: value for name, value in asdict(hit).items() if value is not None}


async def called(service: Service, request: Request, work: Callable[[], bytes], texts: list[str]) -> Answer:
    """Return what a function returns that reads texts in the engine's thread."""
    _check_number(service, len(texts))
    return Answer(await _result(service, request, Job(object(), work, sum(map(len, texts)))))


async def _result(service: Service, request: Request, job: Job) -> bytes:
    """Return the engine's result. A long job ends if its client is gone."""
    if job.size < BATCH_BYTES:
        try:
            return cast(bytes, await service.merger.result(job))
        finally:
            del job  # the same as in Merger.result
    result: asyncio.Future[bytes] = asyncio.ensure_future(service.merger.result(job))
    gone: asyncio.Future[Any] = asyncio.ensure_future(request.gone())
    try:
        await asyncio.wait([result, gone], return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            job.cancelled = True
        return await result
    finally:
        gone.cancel()
        result.cancel()
        del job, result


async def decoded_body(service: Service, request: Request, kind: type[Body]) -> Body:
    """Return the body of a request in JSON as an object of a type."""
    found: Body = _decoded(await request.body(service.settings.max_bytes), kind)
    return found


def _form(request: Request, kind: str) -> str:
    accept = request.headers.get("accept", "*/*")
    for form in (JSON, LINES, ARROW):
        if form in accept:
            return form
    if "*/*" in accept or "application/*" in accept:
        return kind if kind in (JSON, LINES, ARROW) else JSON
    raise RequestError(406, f"Accept must be {JSON}, {LINES} or {ARROW}; got {accept!r:.80}")


def _decoded(body: bytes, kind: Any, where: str = "") -> Any:
    """Return JSON as an object of a type.

    Text that is not valid Unicode comes through, because the engine names its row, or leaves it out.

    Raises:
        RequestError: It is no JSON, or has other fields or types; the failure has the path.
    """
    try:
        return _decoder(kind).decode(body)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
        failed = error.with_traceback(None)  # which holds this frame, and thus itself and the body
    if not isinstance(failed, msgspec.ValidationError):
        try:
            return msgspec.convert(json.loads(body.decode("utf-8", "surrogateescape")), kind)
        except (ValueError, RecursionError) as error:
            failed = error.with_traceback(None) if isinstance(error, msgspec.ValidationError) else failed
    message, _, path = str(failed).partition(" - at `")
    raise RequestError(422, where + message, path.rstrip("`") or None)


@functools.cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


PATHS: dict[str, Callable[[Service, Request], Awaitable[Answer]]] = {
    "/v1/segment": segment,
    "/v1/sentences": sentences,
    "/v1/tokenize": tokenize,
    "/v1/embeddings": embeddings,
    "/v1/rerank": rerank,
    "/v1/search": search,
    **{f"/v1/chunk/{kind}": chonkie_shape.chunk for kind in ("sentence", "recursive", "semantic")},
}
