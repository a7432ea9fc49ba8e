"""Files and folders of files on a disk that fails: an ingested corpus, a model, a table of chunks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pychunk import Placement
from pychunk.inputs.document_columns import DocumentColumns

from .injector import DISK
from .work import Work


class Ingesting(Work):
    """The work of ingesting a corpus to shards."""

    steps = 1

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        super().__init__(folder, options)
        self.source = folder.parent / f"{folder.name}.jsonl"

    def prepare(self) -> None:
        lines = []
        for i in range(self.options["documents"]):
            text = " ".join(f"Document {i} has sentence {j}, and no more." for j in range(1 + i * 7 % 40))
            gone = [{"start": 0, "end": 8, "reason": "menu", "score": 0.5}][: i % 3]
            lines.append("broken\n" if i % 29 == 5 else json.dumps({"id": f"d{i}", "text": text, "gone": gone}) + "\n")
        self.source.write_text("".join(lines))
        os.utime(self.source, (1, 1))  # the manifest holds it

    def _ingest(self) -> Any:
        from pychunk.ingest import ingest

        columns: DocumentColumns = {"text": "text"}
        said: dict[str, Any] = {"summaries_out": self.options.get("summaries", False)}
        if self.options.get("removed"):
            columns["removed"] = "gone"
            said = {"method": "structure"}
        return ingest(
            self.source,
            self.folder / "out",
            columns=columns,
            ids="id",
            resume=True,
            shard_bytes=self.options["shard_bytes"],
            compression=self.options["compression"],
            vectors=self.options["vectors"],
            placement=Placement(threads=1),
            **said,
        )

    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        self._ingest()
        tell(1)

    def survive(self) -> None:
        try:
            self._ingest()
        except (OSError, RuntimeError, KeyboardInterrupt):
            DISK.mend()
            self.check(None)
            self._ingest()

    def check(self, possible: set[int] | None) -> int:
        from pychunk.ingest.run_manifest import Manifest
        from pychunk.ingest.verification import damage

        manifest = Manifest.load(self.folder / "out") if (self.folder / "out").is_dir() else None
        if manifest is not None:
            bad = damage(self.folder / "out", manifest.shards, hashes=True)
            assert not bad, bad
        state = int(manifest is not None and manifest.complete)
        assert possible is None or state in possible
        return state


class Updating(Ingesting):
    """The work of updating a run's folder to another state of its corpus."""

    def prepare(self) -> None:
        self._write(0)
        self._ingest()
        self._write(1)

    def _documents(self, state: int) -> dict[str, str]:
        """Return the corpus before or after: documents gain a sentence, come and go."""
        names = range(5 * state, self.options["documents"] + 5 * state)
        texts = {i: [f"Document {i} has sentence {j}, and no more." for j in range(1 + i * 7 % 40)] for i in names}
        return {f"d{i}": " ".join([*own, *["It has one more."] * (state and i % 9 == 0)]) for i, own in texts.items()}

    def _write(self, state: int) -> None:
        rows = [json.dumps({"id": name, "text": text}) + "\n" for name, text in self._documents(state).items()]
        self.source.write_text("".join(rows))
        os.utime(self.source, (1 + state, 1 + state))  # the manifest holds it

    def _ingest(self) -> Any:
        from pychunk.ingest import ingest

        options = {name: self.options[name] for name in ("shard_bytes", "vectors")}
        where = Placement(threads=1)
        out = self.folder / "out"
        return ingest(self.source, out, columns={"text": "text"}, ids="id", update=True, placement=where, **options)

    def check(self, possible: set[int] | None) -> int:
        import pyarrow.parquet as pq

        from pychunk.ingest.run_manifest import Manifest
        from pychunk.ingest.verification import damage

        out = self.folder / "out"
        manifest = Manifest.load(out)
        assert manifest is not None
        assert manifest.complete
        assert not damage(out, manifest.shards, hashes=True)
        assert sorted(path.name for path in out.glob("part-*")) == [shard.name for shard in manifest.shards]
        rows = [row for path in sorted(out.glob("part-*")) for row in pq.read_table(path).to_pylist()]
        states = [self._documents(0), self._documents(1)]
        last = {row["document_id"]: row["text"] for row in rows}
        found = [
            last.keys() == own.keys() and all(own[name].endswith(text.strip()) for name, text in last.items())
            for own in states
        ]
        assert sum(found) == 1, f"neither the state before nor the one after: {found}"
        assert (out / "_changes.parquet").exists() == found[1]
        state = found.index(True)
        assert possible is None or state in possible
        return state


class Model(Work):
    """The work of writing a model's folder over an older one, or over none."""

    steps = 1
    same_bytes = False  # files that a kill leaves next to the model stay

    def prepare(self) -> None:
        if self.options["older"]:
            self._write(b"older")

    def _write(self, data: bytes) -> None:
        from pychunk._util.checksums import sha256
        from pychunk.encoders.files import model_dir

        with model_dir.whole_or_nothing(self.folder / "model") as aside:
            (aside / "model.onnx").write_bytes(data * 10_000)
            (aside / "vocab.txt").write_bytes(b"[PAD]\n" * 1000)
            model_dir.write_facts(
                aside,
                model_dir.ModelFacts(
                    name=data.decode(),
                    task="vectors",
                    model="model.onnx",
                    model_sha256=sha256(aside / "model.onnx"),
                    tokenizer="vocab.txt",
                    tokenizer_sha256=sha256(aside / "vocab.txt"),
                    prefix=(1,),
                    middle=(),
                    suffix=(2,),
                    pad=0,
                    max_length=512,
                ),
            )

    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        self._write(b"newer")
        tell(1)

    def survive(self) -> None:
        try:
            self._write(b"newer")
        except (OSError, KeyboardInterrupt):
            DISK.mend()
            assert not self.options["older"] or (self.folder / "model").exists()
            self.check({0, 1})
            self._write(b"newer")

    def check(self, possible: set[int] | None) -> int:
        from pychunk.encoders.files import model_dir

        if not (self.folder / "model").exists():
            assert not self.options["older"], "the older model is gone"
            return 0
        state = int(model_dir.read(self.folder / "model").name == "newer")
        assert possible is None or state in possible
        assert state or self.options["older"]
        return state


class Segmenting(Work):
    """The work of writing a table of chunks over a file."""

    steps = 1

    def prepare(self) -> None:
        self._path.write_bytes(b"mine")

    @property
    def _path(self) -> Path:
        return self.folder / f"out{self.options['ending']}"

    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        import pychunk
        from pychunk.io.writers import Writer

        with Writer(str(self._path)) as writer:
            for batch in range(self.options["batches"]):
                texts = [f"Batch {batch} has document {i}. It says no more." for i in range(200)]
                writer.write(pychunk.segment(texts, "sentence", placement=Placement(threads=1)).table)
        tell(1)

    def survive(self) -> None:
        try:
            self.run(lambda state: None)
        except (OSError, KeyboardInterrupt):
            DISK.mend()
            self.check({0, 1})
            assert [path.name for path in self.folder.iterdir()] == [self._path.name]
            self.run(lambda state: None)

    def check(self, possible: set[int] | None) -> int:
        import pyarrow as pa
        import pyarrow.parquet as pq

        data = self._path.read_bytes()
        state = int(data != b"mine")
        if state:
            count = {
                ".jsonl": lambda: len([json.loads(line) for line in data.splitlines()]),
                ".parquet": lambda: pq.read_table(pa.BufferReader(data)).num_rows,
                ".arrow": lambda: pa.ipc.open_file(data).read_all().num_rows,
            }[self.options["ending"]]()
            assert count == 400 * self.options["batches"], count
        assert possible is None or state in possible
        return state

    def found(self) -> dict[str, bytes]:
        return {self._path.name: self._path.read_bytes()}
