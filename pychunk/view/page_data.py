"""The data of a page: documents, their chunks by one or several methods, score curves and hits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine.data.columns import CUT_REASONS, KINDS
from .._util.counting import counted
from .._util.html_page import Page
from .._util.reprs import quoted
from ..chunks.batch import ChunkBatch
from ..chunks.batch_options import limits_of, told
from ..chunks.sizes import lengths_of
from ..defaults import SEARCH
from . import svg
from .page_hits import PageHit, by_index, of_hits
from .segmentation_page import page

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

#: The most bytes of text on a page, which a browser still opens quickly.
MOST_BYTES = 16 << 20


class Pages:
    """A builder that collects documents and their chunks, batch by batch, for a :class:`Page`.

    Args:
        title: The title of the page.
        queries: Questions, for which the page searches the chunks of each method; or a dict that maps questions to the
            hits that ``Index.search`` returned.
        k: The number of hits to find for each question.
    """

    def __init__(
        self, title: str, queries: Sequence[str] | Mapping[str, Sequence[Any]] = (), k: int = SEARCH.k
    ) -> None:
        if isinstance(queries, str):
            queries = [queries]
        self._title, self._queries, self._k = title, queries, k
        self._documents: list[dict[str, Any]] = []
        self._batches: list[list[ChunkBatch]] = []
        self._units: list[Units] = []
        self._bytes = 0

    def add(self, batches: Sequence[ChunkBatch], texts: Sequence[str], names: Sequence[str]) -> None:
        """Add documents with their texts and names, and one batch of their chunks for each method.

        Raises:
            ValueError: The chunks were cut from other documents, or there is more text than a page can show.
        """
        self._bytes += sum(len(text.encode()) for text in texts)
        count = len(self._documents) + len(texts)
        if self._bytes > MOST_BYTES:
            mend = "pass fewer (on the command line, --limit N)" if count > 1 else "pass a part of it"
            raise ValueError(
                f"a page shows at most {MOST_BYTES >> 20} MB of text; got {self._bytes / 2**20:,.1f} MB in "
                f"{counted(count, 'document')}: {mend}"
            )
        units = [Units(text) for text in texts]
        self._units += units
        layers = [_layers(batch, texts, units) for batch in batches]
        for row, (text, name) in enumerate(zip(texts, names, strict=True)):
            self._documents.append({"name": name, "text": text, "layers": [each[row] for each in layers]})
        if not self._batches:
            self._batches = [[] for _ in batches]
        for kept, batch in zip(self._batches, batches, strict=True):
            kept.append(batch)

    def page(self) -> Page:
        """Return the page with all documents that were added."""
        methods = [_method(kept) for kept in self._batches]
        names = _told_apart([each["name"] for each in methods])
        for method, name in zip(methods, names, strict=True):
            method["name"] = name
        how = self._find()
        data = {
            "title": self._title,
            "reasons": CUT_REASONS,
            "kinds": KINDS,
            "queries": list(self._queries),
            "methods": methods,
            "documents": self._documents,
        }
        return page(data, _facts(methods, self._batches, how))

    def _find(self) -> str:
        """Find the hits of all queries, add them to the documents, and return a phrase that names the ranking."""
        if not self._queries:
            return ""
        how = ""
        for m, kept in enumerate(self._batches):
            if isinstance(self._queries, Mapping):
                found, how = of_hits(kept, self._queries), "an index"
            else:
                found, how = by_index(kept, self._queries, self._k)
            self._take(m, found)
        return how

    def _take(self, m: int, found: Sequence[Sequence[PageHit]]) -> None:
        for document in self._documents:
            document["layers"][m]["hits"] = [[] for _ in found]
        for q, hits in enumerate(found):
            for rank, hit in enumerate(hits, 1):
                layer = self._documents[hit.document_index]["layers"][m]
                a, b = self._units[hit.document_index].of(np.array(hit.sentence or (0, 0), np.int64)).tolist()
                place = layer["n"].index(hit.chunk_index) if hit.chunk_index in layer.get("n", ()) else hit.chunk_index
                if "n" not in layer or hit.chunk_index in layer["n"]:  # Otherwise the chunk is not shown.
                    layer["hits"][q].append([place, _rounded(hit.score), a, b, rank])


class Units:
    """The conversion of positions in a text from characters to UTF-16 units, in which JavaScript counts."""

    def __init__(self, text: str) -> None:
        points = np.empty(0, np.uint32)
        if not text.isascii():
            points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        self._pairs = np.flatnonzero(points > 0xFFFF)

    def of(self, characters: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return positions in UTF-16 units, int64[n]: one more for each earlier character that takes two units."""
        if not len(self._pairs):
            return characters
        found: npt.NDArray[np.int64] = characters + np.searchsorted(self._pairs, characters)
        return found


def view_of(
    chunks: ChunkBatch,
    *,
    texts: Any = None,
    against: ChunkBatch | Sequence[ChunkBatch] = (),
    queries: Sequence[str] | Mapping[str, Sequence[Any]] = (),
    k: int = SEARCH.k,
    title: str | None = None,
) -> Page:
    """Return the page of chunks. See :meth:`pychunk.ChunkBatch.view`."""
    others = [against] if isinstance(against, ChunkBatch) else list(against)
    batches = [chunks, *others]
    for other in others:
        if not isinstance(other, ChunkBatch):
            raise TypeError(
                "against must be a ChunkBatch or a list of them, with the same documents cut otherwise; got "
                f"{other!r:.80}"
            )
        if other.documents != chunks.documents:
            raise ValueError(
                "against must have chunks of the same documents; the number of documents must be "
                f"{chunks.documents}, got {other.documents}"
            )
    if len(batches) > 4:
        raise ValueError(f"a page has room for four methods side by side; got {len(batches)}: leave some out")
    known = next((each.origin.texts for each in batches if each.origin and each.origin.texts is not None), None)
    if texts is not None:
        from ..inputs import TextBatch

        held = TextBatch.of(texts, on_error="skip")
    elif known is not None:
        held = known
    else:
        raise ValueError(
            "these chunks do not hold their documents (they come from a file or a pickle, or from more than 4 MB of "
            "text): pass texts="
        )
    if len(held) != chunks.documents:
        raise ValueError(f"texts must be the {chunks.documents} documents of these chunks; got {len(held)}")
    batches = [each.with_origin(each.origin.of(held, each.first_document)) if each.origin else each for each in batches]
    values = [value for part in held.texts for value in part.to_pylist()]
    ids = (
        held.ids.to_pylist()
        if held.ids is not None
        else range(chunks.first_document, chunks.first_document + len(held))
    )
    made = Pages(title or (f"{ids[0]}" if held.ids is not None and len(held) == 1 else "pychunk"), queries, k)
    made.add(batches, values, [str(each) for each in ids])
    return made.page()


def _layers(batch: ChunkBatch, texts: Sequence[str], units: Sequence[Units]) -> list[dict[str, Any]]:
    """Return the chunks and the score curve of each document, with positions in UTF-16 units."""
    table = batch.table
    names = ("document_index", "chunk_index", "start", "end")
    columns = {name: np.asarray(table[name].combine_chunks()) for name in names}
    order = np.lexsort([columns["chunk_index"], columns["document_index"]])
    if (np.diff(order) < 0).any():  # This happens for chunks[::-1], for instance.
        table, columns = table.take(order), {name: column[order] for name, column in columns.items()}
    rows = columns["document_index"] - batch.first_document
    borders = np.searchsorted(rows, np.arange(len(texts) + 1))
    curves = _curves(batch, units)
    gone = None if batch.removed is None else batch.removed.combine_chunks()
    found = []
    for row, text in enumerate(texts):
        a, b = int(borders[row]), int(borders[row + 1])
        own = table.slice(a, b - a)
        starts, ends = columns["start"][a:b], columns["end"][a:b]
        for start, end, wanted in zip(starts.tolist(), ends.tolist(), own["text"].to_pylist(), strict=True):
            if text[start:end] != wanted:
                raise ValueError(
                    f"document {row + batch.first_document} does not have {quoted(wanted, 40)} at {start}:{end}, but "
                    f"{quoted(text[start:end], 40)}: pass as texts= the documents that were cut, in their order"
                )
        layer: dict[str, Any] = {"s": units[row].of(starts).tolist(), "e": units[row].of(ends).tolist()}
        if layer["s"] != starts.tolist() or layer["e"] != ends.tolist():
            layer |= {"cs": starts.tolist(), "ce": ends.tolist()}
        numbers = columns["chunk_index"][a:b].tolist()
        if numbers != list(range(b - a)):
            layer["n"] = numbers
        if own["tokens"].null_count < b - a:
            layer["tokens"] = own["tokens"].to_pylist()
        if own["score"].null_count < b - a:
            layer["score"] = [_rounded(value) for value in own["score"].to_pylist()]
        if own["relevance"].null_count < b - a:
            layer["kind"] = [-1 if kind is None else KINDS.index(kind) for kind in own["relevance"].to_pylist()]
        if "end_reason" in own.column_names and own["end_reason"].null_count < b - a:
            layer["cut"] = [-1 if why is None else CUT_REASONS.index(why) for why in own["end_reason"].to_pylist()]
        if "depth" in own.column_names:
            layer["depth"] = own["depth"].to_pylist()
            layer["path"] = [" › ".join(path or ()) for path in own["path"].to_pylist()]
        if gone is not None:
            layer["gone"] = _gone(gone, row + batch.first_document, units[row])
        if curves is not None:
            layer["curve"] = curves[row]
        found.append(layer)
    return found


def _gone(removed: pa.Table, document: int, places: Units) -> list[list[Any]]:
    """Return the removed spans of a document as [start, end, reason], with positions in UTF-16 units."""
    first, last = np.searchsorted(np.asarray(removed["document_index"]), [document, document + 1]).tolist()
    own = removed.slice(first, last - first)
    columns = [places.of(np.asarray(own[name])).tolist() for name in ("start", "end")]
    return [list(row) for row in zip(*columns, own["reason"].to_pylist(), strict=True)]


def _curves(batch: ChunkBatch, units: Sequence[Units]) -> list[dict[str, Any]] | None:
    scores = _scores(batch)
    if scores is None:
        return None
    rows = np.asarray(scores["document_index"].combine_chunks()) - batch.first_document
    borders = np.searchsorted(rows, np.arange(len(units) + 1))
    found = []
    for row, places in enumerate(units):
        own: pa.Table = scores.slice(int(borders[row]), int(borders[row + 1] - borders[row]))
        thresholds = own["threshold"].to_pylist()
        found.append(
            {
                "at": places.of(np.asarray(own["start"].combine_chunks())).tolist(),
                "v": [_rounded(value) for value in own["score"].to_pylist()],
                "t": _rounded(thresholds[0]) if thresholds else None,
            }
        )
    return found


def _scores(batch: ChunkBatch) -> pa.Table | None:
    return None if batch.origin is None else batch.origin.scores()


def _rounded(value: float | None) -> float | None:
    return None if value is None or value != value else round(value, 9)


def _method(kept: Sequence[ChunkBatch]) -> dict[str, Any]:
    """Return the facts of a method for a page."""
    first = kept[0]
    metadata = first.metadata
    name = str(metadata.get("method", "chunks")).encode("utf-8", "replace").decode()
    scores = _scores(kept[0])
    found: dict[str, Any] = {"name": name, "method": name, "options": told(metadata)}
    if scores is not None:
        facts = json.loads(scores.schema.metadata[b"pychunk"])
        found |= {"what": facts["score"], "pairs": facts["of"] == "pairs"}
    return found


def _told_apart(names: Sequence[str]) -> list[str]:
    """Return the methods' names; those that occur several times get a number."""
    return [name if names.count(name) == 1 else f"{name} {names[: i + 1].count(name)}" for i, name in enumerate(names)]


def _facts(methods: Sequence[Mapping[str, Any]], batches: Sequence[Sequence[ChunkBatch]], how: str) -> str:
    """Return HTML with each method's options and encoder, and a histogram of its chunks' sizes."""
    parts = []
    if how:
        parts.append(f'<p class="soft">Ranked by {escape(how)}.</p>')
    for method, kept in zip(methods, batches, strict=True):
        metadata = kept[0].metadata
        options = ", ".join(f"{name}={value}" for name, value in method["options"].items())
        lines = [options, str(metadata.get("encoder", ""))]
        said = "<br>".join(_plain(line) for line in lines if line)
        parts.append(f'<h2>{_plain(method["name"])}</h2><p class="soft">{said}</p>{_histogram(method, kept)}')
    return "".join(parts)


def _histogram(method: Mapping[str, Any], kept: Sequence[ChunkBatch]) -> str:
    limits = limits_of(kept[0].metadata)
    lengths = [lengths_of(each.table) for each in kept]
    units = [unit for unit in ("tokens", "words", "characters") if all(unit in each for each in lengths)]
    unit = next((each for each in units if each in limits), units[0])
    values = np.concatenate([each[unit] for each in lengths])
    if not len(values):
        return '<p class="soft">no chunks</p>'
    limit = limits.get(unit)
    # 30 equal bins cover all but the longest 0.5 % of chunks. If the limit is longer than these chunks, but at most
    # four times as long, the axis is extended to the limit.
    end = max(1.0, float(np.percentile(values, 99.5)))
    if limit is not None and limit <= 4 * end:
        end = max(end, float(limit))
    end = svg.ticks(0, end * 1.02, 4)[-1]
    edges = np.linspace(0, end, 31)
    counts, _ = np.histogram(values, edges)
    drawn = svg.histogram(
        edges.tolist(), counts.tolist(), end, float(values.mean()), str(method["name"]), unit=unit, limit=limit
    )
    beyond = int((values > end).sum())
    about = f"{len(values):,} chunks of {values.mean():,.0f} ± {values.std():,.0f} {unit}, longest {values.max():,}"
    if limit is not None:
        shown = "dashed" if limit <= end else "not drawn"
        about += f"; limit {limit:,} ({shown})"
    if beyond:
        about += f"; {beyond:,} beyond the axis"
    return f'<figure><figcaption class="soft">{about}</figcaption>{drawn}</figure>'


def _plain(text: str) -> str:
    return escape(text.encode("utf-8", "replace").decode())
