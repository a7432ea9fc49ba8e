"""An index on a disk that fails."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pychunk.index import Ranking

from .injector import DISK
from .work import Work

#: The chunks of each document: text, year and context.
State = dict[str, list[tuple[str, int | None, str | None]]]


class Indexing(Work):
    """The work of additions, replacements and removals, with saves between."""

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        super().__init__(folder, options)
        self.path = folder / "x.idx"
        self.script = [tuple(step) for step in options["script"]]
        self.steps = sum(step[0] == "save" for step in self.script)

    def prepare(self) -> None:
        from pychunk.index.index import Index

        index = Index.create(self.path, kind=self.options["kind"], vectors=self.options["vectors"])
        index.add(*self._batch(["a", "b", "c"], 0)[:1])
        index.save()
        index.close()

    def _batch(self, names: list[str], version: int) -> tuple[Any, dict[str, Any], State]:
        """Return chunks, keywords and resulting contents for documents of some sentences each."""
        import pychunk

        texts = [
            " ".join(f"Document {name} in version {version} has sentence {i}." for i in range(1 + (ord(name) % 4)))
            for name in names
        ]
        if self.options.get("encoded"):  # the index encodes the chunks, and keeps the vector of the first one
            texts = [f"Document {name} begins. {text}" for name, text in zip(names, texts, strict=True)]
        options: dict[str, Any] = {"ids": names, "placement": pychunk.Placement(threads=1)}
        chunks: Any
        if self.options.get("levels"):
            chunks = pychunk.segment_levels(texts, ["sentence", "document"], vectors="chunk", **options).chunks()
        else:
            vectors = "sentence" if self.options["vectors"] != "chunk" else "chunk"
            vectors = None if self.options.get("encoded") else vectors
            chunks = pychunk.segment(texts, "sentence", vectors=vectors, **options)
        said = None
        if self.options.get("contexts") and version % 3:
            said = f"said beside in {version}"
            chunks = pychunk.augment(chunks, lambda documents: [said] * len(documents))
        years = [1900 + version + i for i in range(len(names))] if version % 2 else [None] * len(names)
        keywords = {"metadata": {"year": years}} if version % 2 else {}
        state: State = {}
        for name, text in zip(chunks.table["document_id"].to_pylist(), chunks.table["text"].to_pylist(), strict=True):
            state.setdefault(name, []).append((text, years[names.index(name)], said))
        return chunks, keywords, state

    @functools.cached_property
    def after(self) -> list[State]:
        """The contents at first, and after each step."""
        found = [self._batch(["a", "b", "c"], 0)[2]]
        for number, step in enumerate(self.script, 1):
            now = found[-1]
            if step[0] == "add":
                now = {**now, **self._with_years_of_before(self._batch(step[1], number)[2], number, now)}
            if step[0] == "remove":
                now = {name: rows for name, rows in now.items() if name not in step[1]}
            found.append(now)
        return found

    @staticmethod
    def _with_years_of_before(added: State, number: int, before: State) -> State:
        """Return contents that keep the years not given again, unless whole documents with columns are given."""
        if number % 2 or _says_documents(number):
            return added
        years = {name: rows[0][1] for name, rows in before.items()}
        return {name: [(text, years.get(name), said) for text, _, said in rows] for name, rows in added.items()}

    @property
    def same_bytes(self) -> bool:
        """False if an add and a remove cancel out, since nothing shows on which side of a save a kill fell."""
        saved = [0, *(number for number, step in enumerate(self.script, 1) if step[0] == "save")]
        return not any(
            self.after[a] == self.after[b] and any(step[0] in ("add", "remove") for step in self.script[a:b])
            for a, b in zip(saved, saved[1:], strict=False)
        )

    @property
    def states(self) -> list[State]:
        """The contents at first, and after each save."""
        saved = [number for number, step in enumerate(self.script, 1) if step[0] == "save"]
        return [self.after[number] for number in [0, *saved]]

    def _apply(self, index: Any, number: int, step: tuple[Any, ...]) -> None:
        import pyarrow as pa

        from pychunk.index.store import document_digests

        if step[0] == "add":
            chunks, keywords, _ = self._batch(step[1], number)
            if _says_documents(number):
                texts = pa.table({"id": step[1], "text": [f"version {number}"] * len(step[1])})
                keywords["documents"] = document_digests.of(texts, ["text"], None)
            index.add(chunks, **keywords)
        elif step[0] == "remove":
            index.remove(step[1])
        elif step[0] == "search":
            index.search("document", k=3)
        else:
            index.save()

    def _from(self, state: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield the numbered steps after a state."""
        saves = 0
        for number, step in enumerate(self.script, 1):
            if saves >= state:
                yield number, step
            saves += step[0] == "save"

    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        from pychunk.index.index import Index

        index = Index.open(self.path)
        for number, step in self._from(begun):
            self._apply(index, number, step)
            if step[0] == "save":
                begun += 1
                tell(begun)
        index.save()  # if nothing is left to save, the remains of a kill are removed nevertheless
        index.close()

    def survive(self) -> None:
        from pychunk.index.index import Index

        index, state = Index.open(self.path), 0
        steps = list(self._from(0))
        while steps:
            number, step = steps[0]
            try:
                self._apply(index, number, step)
            except (OSError, KeyboardInterrupt):
                DISK.mend()
                if step[0] == "save":
                    state = self.check({state, state + 1})
                else:
                    self.check({state})
                try:
                    self._same(index, number)
                    self._apply(index, number, step)
                except ValueError as lost:
                    if "is lost" not in str(lost):
                        raise
                    index.close(discard=True)
                    index = Index.open(self.path)
                    steps = list(self._from(state))
                    continue
                if step[0] == "save":
                    state = self.check({self._saves(number)})
            else:
                state += step[0] == "save"
            del steps[0]
        DISK.mend()
        index.close()
        self.check({self.steps})

    def _saves(self, number: int) -> int:
        return sum(step[0] == "save" for step in self.script[:number])

    def _same(self, index: Any, number: int) -> None:
        """Check that the index on which a step failed holds its earlier contents."""
        wanted, found = self.after[number - 1], _state_of(index)
        assert found == wanted, f"before step {number} there was {wanted}, now {found}"

    def check(self, possible: set[int] | None) -> int:
        from pychunk.index.index import Index

        index = Index.open(self.path, verify=True)
        found = _state_of(index)
        which = [i for i, state in enumerate(self.states) if state == found and (possible is None or i in possible)]
        assert which, f"not one of the states {possible}: {found}"
        return which[-1]  # of two that are equal, the save between changed nothing


def _says_documents(number: int) -> bool:
    return number % 3 == 0


def _state_of(index: Any) -> State:
    """Return documents and their chunks, as the table and as searches show them."""
    table, removed = index.table, index._contents.removed
    state: State = {}
    for row, gone in zip(table.to_pylist(), removed, strict=True):
        if not gone:
            state.setdefault(row["document_id"], []).append((row["text"], row.get("year"), row.get("context")))
    count = len(index)
    assert count == sum(map(len, state.values()))
    said = Counter(name for name, rows in state.items() for row in rows if row[2] is not None)
    assert Counter(hit.document_id for hit in index.search("beside", k=10_000, mode="sparse")[0]) == said
    counts = Counter({name: len(rows) for name, rows in state.items()})
    for mode in ("dense", "sparse", "hybrid"):
        hits = index.search("document", k=10_000, mode=mode)[0]
        assert Counter(hit.document_id for hit in hits) == counts, mode
    if "levels" in table.column_names:  # all levels of each document or none
        hits = index.search("document", k=10_000, ranking=Ranking(fusion="levels", levels="document"))[0]
        assert Counter(hit.document_id for hit in hits) == Counter(list(state))
    return state
