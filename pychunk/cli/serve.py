"""The command `serve`, which answers HTTP requests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..service.server import serve as run
from ..service.settings import Settings, keys_of
from .shared.errors import readable_errors

EPILOG = """Examples:

pychunk serve --port 8080

pychunk serve --workers 2 --tokenizer o200k_base --index docs=docs.idx

pychunk --memory-limit 4GB serve --workers 4

pychunk serve --host 0.0.0.0 --api-key-file keys.txt --max-bytes 8000000"""
_LIMITS = Settings()


def serve(
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 for all networks of this machine.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at.")] = 8000,
    flight: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port at which to serve Arrow Flight, too.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer requests.")] = 1,
    threads: Annotated[int, typer.Option(min=1, max=1024, help="Threads of the engine in each worker.")] = 1,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="File with one key a line. Requests must send one of them as Authorization: Bearer KEY.",
        ),
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Most bytes of a request's body.")] = _LIMITS.max_bytes,
    max_documents: Annotated[int, typer.Option(min=1, help="Most documents of a request.")] = _LIMITS.max_documents,
    queue: Annotated[
        int, typer.Option(min=1, help="Most requests of a worker that wait for the engine; others get the status 429.")
    ] = _LIMITS.queue,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Most seconds of a request; then its work stops.")
    ] = _LIMITS.timeout,
    encoder: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Encoder that requests may name, in addition to static. May be repeated."),
    ] = None,
    tokenizer: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Tokenizer that requests may name. May be repeated.")
    ] = None,
    reranker: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Cross-encoder of /v1/rerank: reranker, or the folder of a model."),
    ] = None,
    index: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PATH", help="Index that requests may search, and its name. May be repeated."),
    ] = None,
) -> None:
    """Serve segmentation, sentences, tokens, vectors and search over HTTP.

    POST documents as JSON, as JSON Lines or as an Arrow stream to /v1/segment; /openapi.json describes all routes. The
    server keeps no document, and writes none to its log.
    """
    with readable_errors("stopped"):
        settings = Settings(
            max_bytes=max_bytes,
            max_documents=max_documents,
            queue=queue,
            timeout=timeout,
            threads=threads,
            encoders=("static", *(encoder or ())),
            tokenizers=tuple(tokenizer or ()),
            reranker=reranker,
            indexes=dict(_named(each) for each in index or ()),
            keys=() if api_key_file is None else keys_of(api_key_file),
        )
        run(settings, host, port, workers, flight)


def _named(said: str) -> tuple[str, str]:
    name, _, path = said.partition("=")
    if not (name and path):
        raise typer.BadParameter(f"--index takes NAME=PATH; got {said!r}")
    return name, str(Path(path).resolve())
