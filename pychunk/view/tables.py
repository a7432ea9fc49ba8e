"""Small static tables of HTML for notebooks, which bring no style sheet: they take the notebook's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..chunks import ChunkBatch

#: Rows that are shown, and characters of a text.
ROWS, CHARACTERS = 10, 160
#: Behind every second chunk, on light and on dark pages.
_TINTS = ("rgba(31,95,196,.13)", "rgba(192,120,0,.13)")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "", tinted: bool = False) -> str:
    """A table of cells that are HTML; names of columns are text."""
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
    """Text as text, whatever it holds: escaped, without what is no Unicode, and with its own direction."""
    return escape(str(text).replace("\0", "\ufffd").encode("utf-8", "replace").decode())


def excerpt(text: str, room: int = CHARACTERS) -> str:
    """The start of a text, in an element that its direction marks cannot leave."""
    cut = text if len(text) <= room else text[: room - 1] + "…"
    shown = " ".join(cut.split())
    return f'<bdi style="overflow-wrap:anywhere">{plain(shown)}</bdi>'


def chunks_html(chunks: ChunkBatch) -> str:
    """The first chunks of a batch."""
    rows = []
    for chunk in chunks[:ROWS]:
        name = chunk.document if chunk.id is None else chunk.id
        score = "" if chunk.score is None else f"{chunk.score:.3f}"
        tokens = "" if chunk.tokens is None else f"{chunk.tokens:,}"
        span = f"{chunk.start}:{chunk.end}"
        facts = (plain(name)[:40], f"c{chunk.chunk}", span, tokens, chunk.kind or "", score, chunk.cut or "")
        rows.append([*facts, excerpt(chunk.text)])
    more = f"; the first {ROWS} of them" if len(chunks) > ROWS else ""
    head = ("document", "chunk", "span", "tokens", "kind", "score", "cut", "text")
    used = [i for i in range(len(head)) if not rows or any(row[i] for row in rows)]
    return table(
        [head[i] for i in used],
        [[row[i] for i in used] for row in rows],
        f"{plain(repr(chunks))}{more}; <code>.view()</code> shows all",
        tinted=True,
    )
