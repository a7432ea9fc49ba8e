"""The manifest of a run's folder: the source, the options, the versions, and each complete shard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .._util.durable_files import whole_file
from .._util.reprs import whole_words
from .run_folder import DIGESTS, REMOVED, SUMMARIES, aside

NAME = "_manifest.json"
SCHEMA = 1


@dataclass(frozen=True)
class Shard:
    """A complete shard.

    The shard covers ``batches`` batches of the source from ``first_batch`` on. They hold ``read`` documents from
    ``first_read`` on. After ``limit`` and ``sample``, ``documents`` of them remain, numbered from ``first_document``.
    Of these, ``blank`` documents have no chunks. ``dropped`` is the number of wiki templates that were removed inside
    sentences. ``cuts`` is the number of chunks by the reason why they end. The dead letters of the shard are
    ``letter_bytes`` bytes of the file of dead letters from ``letters_at`` on. Summaries, removed spans and digests, if
    the run writes any, are separate files.
    """

    name: str
    bytes: int
    sha256: str
    first_batch: int
    batches: int
    first_read: int
    read: int
    first_document: int
    documents: int
    chunks: int
    text_bytes: int
    letters: int
    letters_at: int
    letter_bytes: int
    letters_sha256: str
    summaries_bytes: int = 0
    summaries_sha256: str = ""
    removed_bytes: int = 0
    removed_sha256: str = ""
    blank: int = field(default=0, compare=False)  # Earlier manifests lack it.
    dropped: int = field(default=0, compare=False)
    cuts: dict[str, int] = field(default_factory=dict, compare=False)  # Earlier manifests lack it.
    digests_bytes: int = 0
    digests_sha256: str = ""

    def files(self, folder: Path) -> list[tuple[Path, int, str]]:
        """Return (path, bytes, SHA-256) of each file of the shard."""
        beside = (
            (folder / SUMMARIES / self.name, self.summaries_bytes, self.summaries_sha256),
            (folder / REMOVED / self.name, self.removed_bytes, self.removed_sha256),
            (folder / DIGESTS / self.name, self.digests_bytes, self.digests_sha256),
        )
        return [(folder / self.name, self.bytes, self.sha256), *(file for file in beside if file[2])]


@dataclass
class Manifest:
    """The manifest of a run's folder. A run can be resumed only if its ``facts`` are equal.

    After an update, ``updated`` is true, because shards from several states of the source cannot be written again.
    ``duplicates`` is the number of documents that were left out as copies, if the run leaves them out.
    """

    facts: dict[str, Any]
    shards: list[Shard] = field(default_factory=list)
    complete: bool = False
    updated: bool = False
    duplicates: int | None = None
    _files: str | None = field(default=None, repr=False, compare=False)

    def save(self, folder: Path) -> None:
        """Replace the manifest in one step."""
        said = {
            "schema": SCHEMA,
            **self.facts,
            "shards": [asdict(shard) for shard in self.shards],
            "complete": self.complete,
            **({"updated": True} if self.updated else {}),
            **({} if self.duplicates is None else {"duplicates": self.duplicates}),
        }
        path = folder / NAME
        with whole_file(path, aside(path)) as file:
            file.write(self._written(said).encode(errors="surrogateescape") + b"\n")

    def _written(self, said: dict[str, Any]) -> str:
        """Return the manifest as JSON of several lines, with each file of the source on one line.

        With an indent, Python's encoder takes ten times as long, a tenth of the time of an update of 8,000 files.
        """
        source = said.get("source", {})
        if "files" not in source:
            return json.dumps(said, indent=1, ensure_ascii=False)
        if self._files is None:
            self._files = json.dumps(source["files"], ensure_ascii=False).replace('], "', '],\n   "')
        rest = json.dumps({**said, "source": {**source, "files": None}}, indent=1, ensure_ascii=False)
        return rest.replace('"files": null', f'"files": {self._files}', 1)

    @staticmethod
    def remove(folder: Path) -> None:
        """Remove the manifest, so that the folder holds no run."""
        (folder / NAME).unlink(missing_ok=True)

    @staticmethod
    def load(folder: Path) -> Manifest | None:
        """Return the manifest of a folder, or None if there is none.

        Raises:
            ValueError: The manifest is damaged, or a newer version wrote it.
        """
        path = folder / NAME
        if not path.is_file():
            return None
        try:
            said = json.loads(path.read_bytes().decode(errors="surrogateescape"))
            if not isinstance(said, dict):
                raise TypeError("it is no object")
            schema = int(said.pop("schema"))
            if schema == SCHEMA:
                shards = [Shard(**shard) for shard in said.pop("shards")]
                complete, updated = bool(said.pop("complete")), bool(said.pop("updated", False))
                copies = said.pop("duplicates", None)
                return Manifest(complete=complete, updated=updated, duplicates=copies, shards=shards, facts=said)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            why = f"it lacks {error}" if isinstance(error, KeyError) else whole_words(str(error), 80)
            raise ValueError(
                f"{path} is damaged ({why}). Restore it from a copy, or ingest into another folder"
            ) from error
        raise ValueError(f"{path} is of version {schema}; this pychunk reads {SCHEMA}. Use the pychunk that wrote it")


#: The names of the groups of options in a manifest. Messages leave them out, because users know only the options.
_GROUPS = ("options", "reader", "segmenter", "columns", "wanted")


def differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """Yield each difference between two trees of facts, with both values.

    >>> list(differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}))
    ['a.c: was 2, is 3']
    >>> list(differences({"options": {"segmenter": {"size": None}}}, {"options": {"segmenter": {"size": 150}}}))
    ['size: was not given, is 150']
    """
    if isinstance(before, dict) and isinstance(now, dict):
        for key in [*before, *(key for key in now if key not in before)]:
            place = name if key in _GROUPS else f"{name}.{key}" if name else str(key)
            yield from differences(before.get(key), now.get(key), place)
    elif before != now:
        yield f"{name}: was {_said(before)}, is {_said(now)}"


def _said(value: Any) -> str:
    return "not given" if value is None else json.dumps(value)


def told(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the differences between the facts of two runs in words, including each source file that differs.

    >>> told({"source": {"path": "a", "files": {"a/x": [1]}}}, {"source": {"path": "a", "files": {"a/y": [1]}}})
    ['a/x is gone', 'a/y is new']
    """
    sources = [facts.get("source", {}) for facts in (before, now)]
    old, new = (source.get("files", {}) for source in sources)
    found = []
    if sources[0].get("path") == sources[1].get("path"):
        for path in dict.fromkeys([*old, *new]):
            if old.get(path) != new.get(path):
                found.append(
                    f"{path} {'is new' if path not in old else 'is gone' if path not in new else 'has changed'}"
                )
    rest = [
        {**facts, "source": {name: value for name, value in source.items() if name != "files"}}
        for facts, source in zip((before, now), sources, strict=True)
    ]
    return [*found, *differences(rest[0], rest[1])]
