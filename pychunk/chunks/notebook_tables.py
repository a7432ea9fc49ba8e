"""Small static HTML tables for notebooks, which bring no style sheet and use the notebook's own colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from .batch_options import told

if TYPE_CHECKING:
    from .batch import ChunkBatch

#: The most rows of a table, and the most characters of a text, that are shown.
ROWS, CHARACTERS = 10, 160
#: The background colours of alternating chunks, for light and dark pages.
_TINTS = ("rgba(31,95,196,.13)", "rgba(192,120,0,.13)")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "", tinted: bool = False) -> str:
    """Return a table whose cells are HTML and whose column names are plain text."""
    cell = "padding:.15em .6em;text-align:left;vertical-align:top"
    top = "".join(f'<th style="{cell}">{plain(name)}</th>' for name in head)
    body = ""
    for i, row in enumerate(rows):
        tint = f' style="background:{_TINTS[i % 2]}"' if tinted else ""
        cells = "".join(f'<td style="{cell}">{each}</td>' for each in row)
        body += f"<tr{tint}>{cells}</tr>"
    said = f'<caption style="text-align:left;caption-side:top">{caption}</caption>' if caption else ""
    return f'<table style="border-collapse:collapse">{said}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def plain(text: Any) -> str:
    """Return any text escaped for HTML, with characters that are not valid Unicode replaced."""
    return escape(str(text).replace("\0", "\ufffd").encode("utf-8", "replace").decode())


def excerpt(text: str, room: int = CHARACTERS) -> str:
    """Return the start of a text in an element that isolates its writing direction from the rest of the page."""
    cut = text if len(text) <= room else text[: room - 1] + "…"
    shown = " ".join(cut.split())
    return f'<bdi style="overflow-wrap:anywhere">{plain(shown)}</bdi>'


def facts(rows: Sequence[tuple[str, str]], caption: str = "") -> str:
    """Return a table of names and values, all of them plain text."""
    return table(("", ""), [(f"<b>{plain(name)}</b>", plain(value)) for name, value in rows], plain(caption))


def chunks_html(chunks: ChunkBatch) -> str:
    """Return a table of the first chunks of a batch."""
    rows = []
    for chunk in chunks[:ROWS]:
        name = chunk.document_index if chunk.document_id is None else chunk.document_id
        score = "" if chunk.score is None else f"{chunk.score:.3f}"
        tokens = "" if chunk.tokens is None else f"{chunk.tokens:,}"
        span = f"{chunk.start}:{chunk.end}"
        shown = (
            _named(name),
            f"c{chunk.chunk_index}",
            span,
            tokens,
            chunk.relevance or "",
            score,
            chunk.end_reason or "",
        )
        rows.append([*shown, excerpt(chunk.text)])
    more = f"; the first {ROWS} of them" if len(chunks) > ROWS else ""
    head = ("document", "chunk", "span", "tokens", "relevance", "score", "end_reason", "text")
    used = [i for i in range(len(head)) if not rows or any(row[i] for row in rows)]
    return table(
        [head[i] for i in used],
        [[row[i] for i in used] for row in rows],
        f"{plain(repr(chunks))}{more}; <code>.view()</code> shows all",
        tinted=True,
    )


def segmenter_html(said: str, about: str, metadata: Mapping[str, Any]) -> str:
    """Return a table of a Segmenter: its method with a description, its options and its models."""
    rows = [
        ("method", str(metadata["method"])),
        ("description", " ".join(about.split("\n\n")[0].replace("``", "").split())),
    ]
    rows += [(name, str(value)) for name, value in told(metadata).items()]
    rows += [
        (name, str(metadata[name])) for name in ("encoder", "vector_encoder", "runtime", "device") if name in metadata
    ]
    return facts(rows, said)


def index_html(said: str, info: Mapping[str, Any]) -> str:
    """Return a table of the options that an index was created with."""
    rows = []
    for name in ("encoder", "vectors", "dtype", "kind", "terms", "bm25"):
        value = info.get(name)
        if isinstance(value, Mapping):
            value = ", ".join(f"{key}={each}" for key, each in value.items() if each not in (None, [], ()))
        if value is not None:
            rows.append((name, str(value)))
    return facts(rows, said)


def hits_html(hits: Sequence[Any]) -> str:
    """Return a table of hits or of documents with hits, or one such table for each query.

    The best sentence of each hit is marked.
    """
    if hits and all(isinstance(each, list) for each in hits):
        shown = [f"<div>query {i}</div>{hits_html(each)}" for i, each in enumerate(hits[:ROWS])]
        return "".join([*shown, f"<div>and {len(hits) - ROWS} more</div>" if len(hits) > ROWS else ""])
    single: list[tuple[str, Any]] = []
    for rank, each in enumerate(hits, 1):
        inner = getattr(each, "hits", None)
        single += [(str(rank), each)] if inner is None else [(str(rank), hit) for hit in inner]
    rows = []
    for place, hit in single[:ROWS]:
        name = hit.document_index if hit.document_id is None else hit.document_id
        parts = ", ".join(f"{stage} {score:.3f}" for stage, score in hit.scores.items())
        lines = "" if hit.line is None else f"{hit.line}" if hit.line == hit.end_line else f"{hit.line}–{hit.end_line}"
        rows.append([place, f"{hit.score:.3f}", plain(parts), _named(name), f"c{hit.chunk_index}", lines, _best(hit)])
    more = f"the first {ROWS} of {len(single)}" if len(single) > ROWS else ""
    return table(("", "score", "of", "document", "chunk", "lines", "text"), rows, more)


def _named(name: Any) -> str:
    return f"<bdi>{plain(str(name)[:40])}</bdi>"


def _best(hit: Any) -> str:
    """Return the text of a hit around its best sentence, which is marked."""
    if not hit.sentence:
        return excerpt(hit.text)
    a, b = (min(max(at - hit.start, 0), len(hit.text)) for at in hit.sentence)
    before, best = hit.text[:a], hit.text[a:b]
    if len(before) > 40:
        before = "…" + before[-39:]
    after = hit.text[b : b + max(0, CHARACTERS - len(best))]
    after += "…" if b + len(after) < len(hit.text) else ""
    marked = f'<mark style="background:rgba(255,200,0,.4);color:inherit">{plain(best[: 2 * CHARACTERS])}</mark>'
    return f'<bdi style="overflow-wrap:anywhere">{plain(before)}{marked}{plain(after)}</bdi>'
