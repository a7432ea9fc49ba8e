"""The functions of `pychunk._native` that segment() needs, one document after the other, in Python and NumPy.

Chosen by PYCHUNK_BACKEND=reference; never a substitute on its own. From the native core come only the word lists of the
sentence rules, and WordPiece spans for recursive splitting by tokens.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from ..plan import Plan, Request
from . import budget, scoring, wordpiece
from . import vectors as linear
from .cluster import optimal_partition
from .hashing import chunk_id
from .recursive import split_recursive
from .sentences import PARAGRAPH, sentence_starts
from .vectors import F32

Trimmed = tuple[int, int]


def trim(text: str, begin: int, end: int) -> Trimmed:
    """[begin, end) without white space at its edges."""
    while begin < end and text[begin].isspace():
        begin += 1
    while end > begin and text[end - 1].isspace():
        end -= 1
    return begin, end


class Document:
    """One document of a request, in characters."""

    def __init__(self, request: Request, row: int) -> None:
        self.request, self.row, self.plan = request, row, request.plan
        data = bytes(request.text[request.offsets[row] : request.offsets[row + 1]])
        self.data, self.text = data, data.decode()
        self.vocabulary: dict[str, int] = {}
        if request.encoder is not None:
            self.vocabulary = _ids(request.encoder)
        self.flags: list[int] = []
        self.starts, self.paragraphs = self._sentences()
        self.pages = self._pages()
        if request.page_starts is not None:
            self._cut_at_pages()
        self.n = len(self.starts)
        self.ends = [*self.starts[1:], len(self.text)][: self.n]
        self._tokens: list[int] | None = None
        self._vectors: F32 | None = None
        self._affinities: list[float] | None = None

    def _sentences(self) -> tuple[list[int], list[bool]]:
        given = self.request.sentence_starts
        if given is None:
            found, self.flags = sentence_starts(self.text, self.plan.wrap)
            return found, [bool(flag & PARAGRAPH) for flag in self.flags]
        values, offsets = given
        starts = [int(value) for value in values[offsets[self.row] : offsets[self.row + 1]]]
        name = self.request.first_row + self.row
        if any(start > len(self.text) for start in starts):
            raise ValueError(f"sentence_spans of document {name} must lie in its {len(self.text)} characters")
        if not starts:
            if self.text.strip():
                raise ValueError(f"document {name} has text but no sentence in sentence_spans")
            return [], []
        starts[0] = 0
        gaps = [self.text[len(self.text[:start].rstrip()) : start] for start in starts]
        breaks = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
        begins = [start == 0 or any(c in breaks for c in gap) for start, gap in zip(starts, gaps, strict=True)]
        self.flags = [PARAGRAPH * begin for begin in begins]
        return starts, begins

    def _pages(self) -> list[int]:
        given = self.request.page_starts
        if given is None:
            return [0, *(i + 1 for i, c in enumerate(self.text) if c == "\f")]
        values, offsets = given
        return sorted({0, *(int(value) for value in values[offsets[self.row] : offsets[self.row + 1]])})

    def _cut_at_pages(self) -> None:
        starts: list[int] = []
        paragraphs: list[bool] = []
        for i, start in enumerate(self.starts):
            stop = self.starts[i + 1] if i + 1 < len(self.starts) else len(self.text)
            starts.append(start)
            paragraphs.append(self.paragraphs[i])
            for page in self.pages:
                if start < page < stop and self.text[starts[-1] : page].strip() and self.text[page:stop].strip():
                    starts.append(trim(self.text, page, stop)[0])
                    paragraphs.append(True)
        self.starts, self.paragraphs = starts, paragraphs
        self.flags = [PARAGRAPH * begin for begin in paragraphs]

    def page_at(self, character: int) -> int:
        return bisect_right(self.pages, character)

    def encode(self, text: str) -> list[int]:
        assert self.request.encoder is not None
        return wordpiece.encode(text, self.vocabulary, self.request.encoder.tokenizer_options)

    def count(self, text: str) -> int:
        assert self.request.encoder is not None
        return wordpiece.count(text, self.vocabulary, self.request.encoder.tokenizer_options)

    def measure(self, text: str, unit: str) -> int:
        return {"characters": len, "words": lambda t: len(t.split()), "tokens": self.count}[unit](text)

    @property
    def tokens(self) -> list[int]:
        if self._tokens is None:
            self._tokens = [self.count(self.text[a:b]) for a, b in zip(self.starts, self.ends, strict=True)]
        return self._tokens

    def length(self, unit: str) -> budget.Length:
        """Of sentences [i, j) in a unit."""
        if unit == "characters":
            return lambda i, j: (
                trim(self.text, 0, self.ends[j - 1])[1] - trim(self.text, self.starts[i], len(self.text))[0]
            )
        if unit == "words":
            counts = [len(self.text[a:b].split()) for a, b in zip(self.starts, self.ends, strict=True)]
        else:
            counts = self.tokens
        return lambda i, j: sum(counts[i:j])

    @property
    def vectors(self) -> F32:
        if self._vectors is None:
            if self.request.vectors is not None:
                matrix, offsets = self.request.vectors
                self._vectors = matrix[offsets[self.row] : offsets[self.row + 1]]
                if len(self._vectors) != self.n:
                    raise ValueError(
                        f"document {self.request.first_row + self.row} has {self.n} sentences but "
                        f"{len(self._vectors)} sentence vectors"
                    )
            else:
                self._vectors = np.stack(
                    [self.vector(self.text[a:b]) for a, b in zip(self.starts, self.ends, strict=True)]
                )
        return self._vectors

    def vector(self, text: str) -> F32:
        assert self.request.encoder is not None
        return linear.bag(self.request.encoder.table, self.encode(text))

    @property
    def affinities(self) -> list[float]:
        """How much each sentence belongs to the one before: probabilities (nsp), else adjacent cosines."""
        if self._affinities is None:
            given, head = self.request.pair_scores, self.request.pair_head
            if given is not None:
                found = given[0][given[1][self.row] : given[1][self.row + 1]]
            elif head is not None:
                found = linear.next_probabilities(head, self.vectors)
            else:
                found = linear.adjacent(self.vectors)
            self._affinities = [float(x) for x in found]
        return self._affinities

    @property
    def table_vectors(self) -> F32:
        """Those that the table holds."""
        if self.request.table_vectors is None:
            return self.vectors
        matrix, offsets = self.request.table_vectors
        return matrix[offsets[self.row] : offsets[self.row + 1]]


_vocabularies: dict[int, dict[str, int]] = {}


def _ids(encoder: Any) -> dict[str, int]:
    return _vocabularies.setdefault(id(encoder), {token: i for i, token in enumerate(encoder.vocabulary)})


def _summary(document: Document) -> F32:
    plan, given = document.plan, document.request.summaries
    if plan.summary != "given":
        return linear.summary_vector(plan.summary, document.vectors, document.paragraphs, document.text)
    assert given is not None
    if isinstance(given, np.ndarray):
        return np.asarray(given[document.row], dtype=np.float32)
    return document.vector(given[document.row].as_py())


def _runs(begins: list[bool]) -> list[budget.Group]:
    """Groups that begin at sentence 0 and wherever `begins` says so."""
    first = [i for i, begin in enumerate(begins) if begin or i == 0]
    return list(zip(first, [*first[1:], len(begins)], strict=True))


class Cut:
    """The chunks of one document: spans of characters with the sentences that they touch."""

    def __init__(self, document: Document) -> None:
        self.document, self.plan = document, document.plan
        self.scores: F32 = np.empty(0, np.float32)
        self.labels: list[bool] = []
        #: (begin, end, first sentence, last sentence, first that is not repeated)
        self.spans: list[tuple[int, int, int, int, int]] = []
        if document.n:
            if self.plan.method == "recursive":
                self._recursive()
            else:
                self._grouped(self._groups())

    def _groups(self) -> list[budget.Group]:
        d, plan, n = self.document, self.plan, self.document.n
        if plan.method == "sentence":
            return _runs([True] * n)
        if plan.method == "paragraph":
            return _runs(d.paragraphs)
        if plan.method == "page":
            pages = [d.page_at(start) for start in d.starts]
            return _runs([i > 0 and pages[i] != pages[i - 1] for i in range(n)])
        if plan.method == "fixed":
            return budget.greedy(n, d.length(plan.unit), plan.size, plan.overlap)
        if plan.method == "cluster":
            first = set(optimal_partition(d.vectors, d.tokens, plan.max_tokens))
            return _runs([i in first for i in range(n)])
        if plan.method in ("semantic", "nsp"):
            wide = plan.window > 1
            scores = linear.adjacent(d.vectors, plan.window) if wide else np.array(d.affinities, np.float32)
            return _runs([False, *scoring.cuts(scores, plan.threshold, plan.threshold_value)])
        summary = _summary(d)
        self.scores = np.array([linear.dot(vector, summary) for vector in d.vectors], np.float32)
        self.labels = scoring.labels(self.scores, plan.k)
        return _runs([i > 0 and self.labels[i] != self.labels[i - 1] for i in range(n)])

    def _grouped(self, groups: list[budget.Group]) -> None:
        d, plan = self.document, self.plan
        limits: list[tuple[budget.Length, int]] = []
        if plan.method == "fixed":
            limits.append((d.length(plan.unit), plan.size))
        if plan.max_tokens:
            limits.append((d.length("tokens"), plan.max_tokens))

        def fits(i: int, j: int) -> bool:
            return all(length(i, j) <= limit for length, limit in limits)

        has_vectors = any(x is not None for x in (d.request.pair_scores, d.request.vectors, d.request.encoder))
        affinities = d.affinities if has_vectors and (plan.min_tokens or limits) else None
        if plan.min_tokens:
            groups = budget.join_short(groups, d.length("tokens"), plan.min_tokens, fits, affinities)
        for length, limit in limits:
            groups = budget.cut_long(groups, lambda i, j, f=length, m=limit: f(i, j) <= m, affinities)  # type: ignore[misc]
        unit = plan.unit if plan.method == "fixed" else "tokens"
        starts = [first for first, _ in groups]
        if plan.overlap:
            starts = budget.overlap_starts(groups, d.length(unit), plan.overlap, fits)
        for (first, last), start in zip(groups, starts, strict=True):
            if last - first > 1 or fits(first, last):
                self.spans.append((d.starts[start], d.ends[last - 1], start, last, first))
                continue
            borders = [d.starts[first]]
            if plan.method == "fixed":
                borders = self._refined(borders, d.ends[first], plan.unit, plan.size)
            if plan.max_tokens:
                borders = self._refined(borders, d.ends[first], "tokens", plan.max_tokens)
            for begin, end in zip(borders, [*borders[1:], d.ends[first]], strict=True):
                self.spans.append((begin, end, first, first + 1, first))

    def _refined(self, borders: list[int], stop: int, unit: str, limit: int) -> list[int]:
        finer: list[int] = []
        for begin, end in zip(borders, [*borders[1:], stop], strict=True):
            inside = self.document.text[slice(*trim(self.document.text, begin, end))]
            if self.document.measure(inside, unit) <= limit:
                finer.append(begin)
            else:
                finer += self._oversize(begin, end, unit, limit)
        return finer

    def _oversize(self, begin: int, end: int, unit: str, limit: int) -> list[int]:
        """Where the pieces of a text begin that is too long: at words where one fits, else at characters."""
        text, measure = self.document.text, self.document.measure
        words: list[Trimmed] = []
        at = begin
        while at < end:
            while at < end and text[at].isspace():
                at += 1
            start = at
            while at < end and not text[at].isspace():
                at += 1
            if start < at:
                words.append((start, at))
        starts: list[int] = []
        i = 0
        while i < len(words):
            if measure(text[slice(*words[i])], unit) > limit:
                starts += self._word_pieces(*words[i], unit, limit)
                i += 1
                continue
            starts.append(words[i][0])
            length = measure(text[slice(*words[i])], unit)
            i += 1
            while i < len(words):
                own = measure(text[slice(*words[i])], unit)
                more = own + words[i][0] - words[i - 1][1] if unit == "characters" else own
                if length + more > limit:
                    break
                length += more
                i += 1
        return starts

    def _word_pieces(self, begin: int, end: int, unit: str, limit: int) -> list[int]:
        starts: list[int] = []
        while begin < end:
            starts.append(begin)
            length = max(100, 4 * limit) if unit == "tokens" else limit
            while unit == "tokens" and length > 1:
                piece = self.document.text[begin : min(end, begin + length)]
                tokens = self.document.count(piece)
                if tokens <= limit:
                    break
                length = max(1, min(length - 1, len(piece) * limit // tokens))
            begin += length
        return starts

    def _recursive(self) -> None:
        d, plan = self.document, self.plan
        token_starts: list[int] = []
        if plan.unit == "tokens":
            token_starts = _token_starts(d)
        found = split_recursive(
            d.text, plan.size, plan.overlap, plan.separators or None, plan.unit, d.starts, token_starts
        )
        for begin, end in found:
            borders = [begin]
            if plan.max_tokens and d.count(d.text[begin:end]) > plan.max_tokens:
                borders = self._oversize(begin, end, "tokens", plan.max_tokens)
            for start, stop in zip(borders, [*borders[1:], end], strict=True):
                first = bisect_right(d.starts, start) - 1
                self.spans.append((start, stop, first, bisect_right(d.starts, stop - 1), first))


def _token_starts(document: Document) -> list[int]:
    """Where tokens begin, from the native tokenizer's byte spans, and a long run's surplus spread evenly over it."""
    encoder, data, text = document.request.encoder, document.data, document.text
    assert encoder is not None
    _, _, spans = _native.encode_words(
        encoder, np.frombuffer(data, np.uint8), np.array([0, len(data)]), byte_spans=True
    )
    assert spans is not None
    starts = [len(data[:a].decode()) for a, _ in spans]
    at = 0
    for run in text.split():
        at = text.index(run, at)
        raw = run.encode()
        surplus = max(0, -(-len(run) // 4) - len(document.encode(run))) if len(run) > 100 else 0
        starts += [
            at + len(raw[: len(raw) * i // surplus + 1].decode(errors="ignore")) - _inside(raw, len(raw) * i // surplus)
            for i in range(surplus)
        ]
        at += len(run)
    return sorted(starts)


def _inside(raw: bytes, byte: int) -> int:
    """1 if raw[: byte + 1] ends with a whole character, 0 if it ends within one."""
    return int(byte + 1 >= len(raw) or raw[byte + 1] & 0xC0 != 0x80)


def _kind(document: Document, labels: list[bool], first: int, last: int) -> int:
    """The run's label; of joined runs, the one that holds more tokens (a tie: relevant)."""
    if not labels:
        return -1
    own = labels[first:last]
    if all(own) or not any(own):
        return int(own[0])
    return int(sum(t if label else -t for t, label in zip(document.tokens[first:last], own, strict=True)) >= 0)


def _counts_tokens(plan: Plan, request: Request) -> bool:
    sized = plan.method in ("fixed", "recursive")
    needs = plan.max_tokens or plan.min_tokens or (plan.overlap and (not sized or plan.unit == "tokens"))
    needs = needs or plan.chunk_vectors or (sized and plan.unit == "tokens") or plan.method == "cluster"
    return bool(needs or (plan.needs_vectors and request.vectors is None))


def segment(request: Request) -> dict[str, Any]:
    """Columns of the chunk table of a batch, by name; see `_native.segment`."""
    plan = request.plan
    rows: dict[str, list[Any]] = {
        name: []
        for name in (
            "document",
            "chunk",
            "start",
            "end",
            "start_byte",
            "end_byte",
            "tokens",
            "overlap",
            "kind",
            "score",
        )
    }
    rows.update(page=[], page_end=[], vector=[], sentence_start=[], sentence_end=[], sentence_vectors=[])
    texts: list[bytes] = []
    ids: list[str] = []
    sentence_offsets = [0]
    counted = _counts_tokens(plan, request)
    for row in range(request.documents):
        document = Document(request, row)
        cut = Cut(document)
        name = document.data if request.ids is None else str(request.ids[row].as_py()).encode()
        previous = position = 0
        for begin, end, first, last, own in cut.spans:
            start, stop = trim(document.text, begin, end)
            if start == stop:
                continue
            text = document.text[start:stop]
            parts = [
                (s, *trim(document.text, max(start, document.starts[s]), min(stop, document.ends[s])))
                for s in range(first, last)
            ]
            whole = [trim(document.text, document.starts[s], document.ends[s]) == (a, b) for s, a, b in parts]
            counts = [
                (document.tokens[s] if w else document.count(document.text[a:b])) if counted else 0
                for (s, a, b), w in zip(parts, whole, strict=True)
            ]
            scores = cut.scores[own:last]
            if plan.method in ("semantic", "nsp"):
                scores = np.array(document.affinities[own : last - 1], np.float32)
            rows["document"].append(request.first_row + row)
            rows["chunk"].append(position)
            rows["start"].append(start)
            rows["end"].append(stop)
            rows["start_byte"].append(len(document.text[:start].encode()))
            rows["end_byte"].append(len(document.text[:stop].encode()))
            rows["tokens"].append(document.count(text) if counted and plan.method == "recursive" else sum(counts))
            rows["overlap"].append(max(0, previous - start))
            rows["kind"].append(_kind(document, cut.labels, own, last))
            rows["score"].append(scoring.mean(scores) if len(scores) else np.nan)
            rows["page"].append(document.page_at(start))
            rows["page_end"].append(document.page_at(stop - 1))
            if plan.chunk_vectors or plan.sentence_vectors:
                own_text = request.vectors is None and request.table_vectors is None
                found = [
                    document.vector(document.text[a:b]) if own_text and not w else document.table_vectors[s]
                    for (s, a, b), w in zip(parts, whole, strict=True)
                ]
                solid = [i for i, (_, a, b) in enumerate(parts) if a < b]
                if plan.sentence_vectors:
                    rows["sentence_start"] += [parts[i][1] for i in solid]
                    rows["sentence_end"] += [parts[i][2] for i in solid]
                    rows["sentence_vectors"] += [found[i] for i in solid]
                if plan.chunk_vectors:
                    weights = counts if any(counts[i] for i in solid) else [1] * len(parts)
                    scaled = [np.float32(weights[i]) * found[i] for i in solid]
                    rows["vector"].append(linear.normalize(linear.total(np.stack(scaled))))
            sentence_offsets.append(len(rows["sentence_start"]))
            texts.append(text.encode())
            ids.append(chunk_id(name, start, stop, text))
            previous, position = stop, position + 1
    return _columns(request, rows, texts, ids, sentence_offsets, counted)


def _columns(
    request: Request,
    rows: dict[str, list[Any]],
    texts: list[bytes],
    ids: list[str],
    sentence_offsets: list[int],
    counted: bool,
) -> dict[str, Any]:
    plan = request.plan
    whole = ("document", "chunk", "start", "end", "start_byte", "end_byte", "overlap")
    out: dict[str, Any] = {name: np.array(rows[name], np.int64) for name in whole}
    out["text"] = np.frombuffer(b"".join(texts), np.uint8)
    out["text_offsets"] = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    out["chunk_id"] = np.frombuffer("".join(ids).encode(), np.uint8)
    out["kind"] = np.array(rows["kind"], np.int8)
    out["score"] = np.array(rows["score"], np.float32)
    if counted:
        out["tokens"] = np.array(rows["tokens"], np.int64)
    if plan.method == "page" or request.page_starts is not None:
        out["page"], out["page_end"] = np.array(rows["page"], np.int64), np.array(rows["page_end"], np.int64)
    shown = request.vectors if request.table_vectors is None else request.table_vectors
    dim = shown[0].shape[1] if shown is not None else 0
    if shown is None and request.encoder is not None:
        dim = request.encoder.table.shape[1]
    if plan.chunk_vectors:
        out["vector"] = np.array(rows["vector"], np.float32).reshape(-1, dim)
    if plan.sentence_vectors:
        out["sentence_offsets"] = np.array(sentence_offsets, np.int64)
        out["sentence_start"] = np.array(rows["sentence_start"], np.int64)
        out["sentence_end"] = np.array(rows["sentence_end"], np.int64)
        out["sentence_vectors"] = np.array(rows["sentence_vectors"], np.float32).reshape(-1, dim)
    out["tokens_met"] = out["fallback_tokens"] = 0
    return out


def adjacent_sums(request: Request) -> tuple[int, int]:
    """(sum, count) of the scores between neighbours of a batch, the sum in units of 2**-32."""
    total = count = 0
    for row in range(request.documents):
        document = Document(request, row)
        if document.n:
            window = request.plan.window
            scores = linear.adjacent(document.vectors, window) if window > 1 else document.affinities
            total += sum(map(scoring.fixed_point, scores))
            count += len(scores)
    return total, count


def encode_static(text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], encoder: Any, *, threads: int) -> F32:
    """Unit vectors float32[k, dim] of k texts."""
    ids, options = _ids(encoder), encoder.tokenizer_options
    texts = [bytes(text[a:b]).decode() for a, b in pairwise(offsets)]
    rows = [linear.bag(encoder.table, wordpiece.encode(t, ids, options)) for t in texts]
    return np.array(rows, np.float32).reshape(-1, encoder.table.shape[1])


def sentence_table(
    request: Request,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """(spans int64[n, 2] in bytes of each document, doc_offsets int64[k + 1], flags uint8[n]) of k documents.

    Flags are those of sentences split here; with given ones only whether a paragraph begins.
    """
    spans: list[Trimmed] = []
    flags: list[int] = []
    counts = [0]
    for row in range(request.documents):
        document = Document(request, row)
        borders = [*document.starts, len(document.text)]
        spans += pairwise(
            [len(document.text[:border].encode()) for border in borders[: len(borders) if document.n else 0]]
        )
        flags += document.flags
        counts.append(document.n)
    pairs = np.array(spans, np.int64).reshape(-1, 2)
    return pairs, np.cumsum(counts).astype(np.int64), np.array(flags, np.uint8)


def split_sentences(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], *, wrap: bool, threads: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """As `sentence_table`, of texts alone."""
    return sentence_table(Request(text, offsets, Plan("sentence", wrap=wrap)))


__all__ = ["adjacent_sums", "encode_static", "segment", "sentence_table", "split_sentences"]
