"""Whole corpora: the same bytes for any course of a run, and no silent loss."""

import bz2
import fcntl
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from command_line import invoke
from corpora import contents, corpus, sentences, wiki

import pychunk
from pychunk.ingest import IngestError, Report, ingest, shard_output, shards
from pychunk.ingest.run_manifest import Manifest, differences
from pychunk.ingest.sample import rank
from pychunk.io import files, source

pytestmark = pytest.mark.usefixtures("small_batches")


def run_once(path: Path, out: Path, **options: Any) -> Report:
    return ingest(path, out, **{"shard_bytes": 9_000, **options})


def letters_of(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "_dead_letters.jsonl").read_text().splitlines()]


def test_nothing_gets_its_name_before_it_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut loses all that the system still holds: contents come first, then the name, then the folder."""
    told: list[tuple[str, int, int]] = []
    real = os.fsync, os.replace

    def fsync(handle: int) -> None:
        real[0](handle)
        facts = os.fstat(handle)
        told.append(("fsync", facts.st_ino, facts.st_size))

    def replace(old: Any, new: Any) -> None:
        facts = os.stat(old)
        told.append(("replace", facts.st_ino, facts.st_size))
        real[1](old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    report = run_once(corpus(tmp_path / "in.parquet"), tmp_path / "out", columns={"text": "text"}, summaries_out=True)
    folders = [path.stat().st_ino for path in (tmp_path / "out", tmp_path / "out" / "_summaries")]
    renamed = [at for at, (what, _, _) in enumerate(told) if what == "replace"]
    # The two files of each shard, and the manifest before and after them.
    assert len(renamed) == 3 * report.shards + 1
    followed = []
    for at in renamed:
        _, file, size = told[at]
        assert ("fsync", file, size) in told[:at]
        assert told[at + 1][0] == "fsync"
        followed.append(folders.index(told[at + 1][1]))
    assert followed == [0] + [0, 1, 0] * report.shards


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_a_data_set_holds_what_segment_returns(tmp_path: Path, compression: str) -> None:
    path = corpus(tmp_path / "in.parquet")
    report = run_once(path, tmp_path / "out", columns={"text": "text"}, compression=compression, vectors="chunk")
    table = pq.read_table(path)
    expected = pychunk.segment(table, columns={"text": "text"}, ids="id", vectors="chunk").table
    found = ds.dataset(tmp_path / "out").to_table()
    assert found.drop_columns("relevance").equals(expected.drop_columns("relevance"))
    assert found["relevance"].to_pylist() == expected["relevance"].to_pylist()
    assert report.shards > 3
    assert (report.documents, report.chunks, report.letters) == (60, len(expected), 0)
    assert report.text_bytes == sum(len(text.encode()) for text in table["text"].to_pylist())
    said = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    assert said["complete"] is True
    for shard in said["shards"]:
        data = (tmp_path / "out" / shard["name"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (shard["bytes"], shard["sha256"])
        rows_ = pq.read_table(tmp_path / "out" / shard["name"])
        assert len(rows_) == shard["chunks"]
        assert set(rows_["document_index"].to_pylist()) <= set(
            range(shard["first_document"], shard["first_document"] + shard["documents"])
        )


def test_summaries_are_a_second_data_set_beside_the_chunks(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    options: dict[str, Any] = {"columns": {"text": "text"}, "summaries_out": True, "summary": "lead"}
    run_once(path, tmp_path / "out", **options)
    plain = {name: value for name, value in options.items() if name != "summaries_out"}
    run_once(path, tmp_path / "plain", **plain)
    out, beside = tmp_path / "out", tmp_path / "out" / "_summaries"
    expected = pychunk.segment(
        pq.read_table(path), columns={"text": "text"}, ids="id", summary="lead", summaries_out=True
    )
    assert ds.dataset(beside).to_table().to_pylist() == expected.summaries.to_pylist()
    assert [path.name for path in sorted(beside.iterdir())] == [path.name for path in sorted(out.glob("part*"))]
    for shard in out.glob("part*"):  # the chunks are those of a run without summaries, and all that a reader finds
        assert shard.read_bytes() == (tmp_path / "plain" / shard.name).read_bytes()
    assert ds.dataset(out).to_table().num_rows == len(expected)
    wanted = contents(out)
    (beside / "part-000001.parquet").unlink()
    (beside / "part-000002.parquet").write_bytes(wanted["_summaries/part-000002.parquet"][:-1])
    (beside / "_writing-part-000009.parquet").write_bytes(b"half")
    with pytest.raises(ValueError, match=r"part-000001.parquet: its file of summaries is missing; pass --resume"):
        run_once(path, out, **options)
    report = run_once(path, out, **options, resume=True)
    assert len(report.damaged) == 2
    assert report.removed == ["_summaries/_writing-part-000009.parquet"]
    assert contents(out) == wanted
    with pytest.raises(ValueError, match="holds a different run"):
        run_once(path, out, **plain, resume=True)
    with pytest.raises(ValueError, match="has no option 'summaries_out'"):
        run_once(path, tmp_path / "other", columns={"text": "text"}, method="sentence", summaries_out=True)


def test_threads_change_no_byte(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    for threads in (1, 3):
        run_once(path, tmp_path / str(threads), columns={"text": "text"}, placement=pychunk.Placement(threads=threads))
    assert contents(tmp_path / "1") == contents(tmp_path / "3")


def test_what_is_removed_is_a_data_set_of_its_own(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    table = pq.read_table(path)
    texts = table.column("text").to_pylist()
    spans = [[{"start": 0, "end": 2, "reason": "menu", "score": 0.5}] if text else None for text in texts]
    blocks = [[{"kind": "paragraph", "level": 0, "start": 0, "end": len(text)}] if text else [] for text in texts]
    table = table.append_column("gone", pa.array(spans)).append_column("parts", pa.array(blocks))
    pq.write_table(table, path)
    columns = {"text": "text", "removed": "gone", "blocks": "parts"}
    said: dict[str, Any] = {"method": "structure", "columns": columns}
    out, beside = tmp_path / "out", tmp_path / "out" / "_removed"
    run_once(path, out, **said)
    expected = pychunk.segment(table, ids="id", on_error="skip", **said)
    assert ds.dataset(beside).to_table().to_pylist() == expected.removed.to_pylist()
    assert ds.dataset(out).to_table().to_pylist() == expected.table.to_pylist()
    wanted = contents(out)
    sorted(beside.iterdir())[-1].unlink()
    with pytest.raises(ValueError, match=r"its file of removed spans is missing; pass --resume"):
        run_once(path, out, **said)
    run_once(path, out, resume=True, **said)
    assert wanted == contents(out)


class Stop(BaseException):
    """A stop that a test raises instead of a kill: no clean-up may depend on it."""


@pytest.mark.parametrize("step", ["named", "letters", "manifest"])
@pytest.mark.parametrize("after", [0, pytest.param(1, marks=pytest.mark.slow), 3])
@pytest.mark.parametrize("more", [{}, {"summaries_out": True}], ids=["", "summaries"])
def test_resumed_after_any_step_the_bytes_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, after: int, more: dict[str, Any]
) -> None:
    options: dict[str, Any] = {"columns": {"text": "text"}, **more}
    path = corpus(tmp_path / "in.jsonl.parquet")
    whole = run_once(path, tmp_path / "whole", **options)
    assert whole.shards > 4
    left = [after]

    def then_stop(real: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            done = real(*arguments)
            left[0] -= 1
            if left[0] < 0:
                raise Stop
            return done

        return wrapped

    with monkeypatch.context() as patch:
        if step == "named":
            patch.setattr(shard_output, "settle", then_stop(shard_output.settle))
        elif step == "letters":
            patch.setattr(shard_output.dead_letters, "put", then_stop(shard_output.dead_letters.put))
        else:
            patch.setattr(Manifest, "save", then_stop(Manifest.save))
        with pytest.raises(Stop):
            run_once(path, tmp_path / "out", **options)
    assert contents(tmp_path / "out") != contents(tmp_path / "whole")
    report = run_once(path, tmp_path / "out", **options, resume=True)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert (report.documents, report.chunks) == (whole.documents, whole.chunks)


def test_what_is_complete_is_left_alone(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    run_once(path, tmp_path / "out", columns={"text": "text"}, resume=True)  # on nothing yet, it starts
    before = {each.name: each.stat().st_mtime_ns for each in (tmp_path / "out").iterdir()}
    for resume in (False, True):
        report = run_once(path, tmp_path / "out", columns={"text": "text"}, resume=resume)
        assert report.did_nothing
        assert report.documents == 60
    assert before == {each.name: each.stat().st_mtime_ns for each in (tmp_path / "out").iterdir()}


def test_shards_that_are_gone_or_damaged_are_made_again(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    drawn = random.Random(3)
    lines = [json.dumps({"id": str(i), "text": sentences(drawn, 30)}) for i in range(60)]
    for broken in (5, 6, 30, 59):
        lines[broken] = "{ broken"
    path.write_text("\n".join(lines) + "\n")
    run_once(path, tmp_path / "out")
    wanted = contents(tmp_path / "out")
    assert len(letters_of(tmp_path / "out")) == 4
    names = [name for name in wanted if name.startswith("part")]
    (tmp_path / "out" / names[1]).unlink()
    (tmp_path / "out" / names[2]).write_bytes(wanted[names[2]][:-1])
    flipped = bytearray(wanted[names[-1]])
    flipped[100] ^= 1
    (tmp_path / "out" / names[-1]).write_bytes(flipped)
    (tmp_path / "out" / "_writing-part-000009.parquet").write_bytes(b"half")
    with pytest.raises(ValueError, match=f"{names[1]} is missing; pass --resume"):
        run_once(path, tmp_path / "out")
    report = run_once(path, tmp_path / "out", resume=True)
    assert [each.split(":")[0] for each in report.damaged] == [names[1], names[2], names[-1]]
    assert report.removed == ["_writing-part-000009.parquet"]
    assert contents(tmp_path / "out") == wanted
    (tmp_path / "out" / "_dead_letters.jsonl").unlink()
    assert run_once(path, tmp_path / "out", resume=True).damaged
    assert contents(tmp_path / "out") == wanted


def test_another_source_other_options_other_folders_are_refused(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    run_once(path, tmp_path / "out", columns={"text": "text"})
    wanted = contents(tmp_path / "out")
    with pytest.raises(ValueError, match=r"method: was not given, is \"sentence\""):
        run_once(path, tmp_path / "out", columns={"text": "text"}, method="sentence", resume=True)
    with pytest.raises(ValueError, match=r"limit: was not given, is 3"):
        run_once(path, tmp_path / "out", columns={"text": "text"}, limit=3, resume=True)
    with pytest.raises(
        ValueError, match=r"vector_encoder: was not given, is \"static\"; vectors: was not given, is \"chunk"
    ):
        run_once(path, tmp_path / "out", columns={"text": "text"}, vectors=pychunk.Vectors("chunk", "static"))
    placement = pychunk.Placement(device="cpu", threads=3, runtime="torch", precision="fp32")
    with pytest.raises(
        ValueError, match=r"device: was .* is \"cpu\"; precision: .* is \"fp32\"; runtime: .* is \"torch\""
    ):
        run_once(path, tmp_path / "out", columns={"text": "text"}, placement=placement, resume=True)
    manifest = tmp_path / "out" / "_manifest.json"
    manifest.write_text(manifest.read_text().replace('"pychunk": "', '"pychunk": "9'))
    with pytest.raises(ValueError, match=r"versions.pychunk: was \"9"):
        run_once(path, tmp_path / "out", columns={"text": "text"}, resume=True)
    manifest.write_bytes(wanted["_manifest.json"])
    os.utime(path, (1, 1))
    for resume in (False, True):
        with pytest.raises(ValueError, match=r"in.parquet has changed"):
            run_once(path, tmp_path / "out", columns={"text": "text"}, resume=resume)
    assert contents(tmp_path / "out") == wanted
    for damaged in ("{", "[" * 100_000):
        manifest.write_text(damaged)
        with pytest.raises(ValueError, match=r"_manifest.json is damaged"):
            run_once(path, tmp_path / "out", columns={"text": "text"}, resume=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("Mine.")
    with pytest.raises(ValueError, match=r"holds no run \(it contains thesis.txt\)"):
        run_once(path, tmp_path / "other", columns={"text": "text"}, resume=True)
    assert (tmp_path / "other" / "thesis.txt").read_text() == "Mine."


def test_an_unfinished_run_asks_for_resume(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    with pytest.raises(Stop):
        run_once(path, tmp_path / "out", columns={"text": "text"}, progress=_stop)
    with pytest.raises(ValueError, match=r"unfinished run of .* go on with --resume"):
        run_once(path, tmp_path / "out", columns={"text": "text"})
    assert not [name for name in contents(tmp_path / "out") if name.startswith("_writing")]


def _stop(share: float, report: Report) -> None:
    raise Stop


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    (tmp_path / "out").mkdir()
    with open(tmp_path / "out" / "_lock", "ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match="another process writes"):
            run_once(path, tmp_path / "out", columns={"text": "text"})
    assert run_once(path, tmp_path / "out", columns={"text": "text"}).documents == 60


def test_limit_and_sample(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    table = pq.read_table(path)
    assert run_once(path, tmp_path / "limit", columns={"text": "text"}, limit=17).documents == 17
    found = ds.dataset(tmp_path / "limit").to_table()
    assert found["chunk_id"].equals(
        pychunk.segment(table.slice(0, 17), columns={"text": "text"}, ids="id").table["chunk_id"]
    )
    drawn = {}
    for seed in (0, 7):
        out = tmp_path / f"sample{seed}"
        assert run_once(path, out, columns={"text": "text"}, sample=20, seed=seed, shard_bytes=5_000).documents == 20
        best = sorted(table["id"].to_pylist(), key=lambda id_: rank(seed, id_))[:20]
        kept = [row for row in table.to_pylist() if row["id"] in best]
        expected = pychunk.segment([row["text"] for row in kept], ids=[row["id"] for row in kept]).table
        found = ds.dataset(out).to_table()
        assert found["chunk_id"].equals(expected["chunk_id"])
        assert found["document_index"].to_pylist() == expected["document_index"].to_pylist()
        drawn[seed] = best
        wanted = contents(out)
        (out / "part-000001.parquet").unlink()
        run_once(path, out, columns={"text": "text"}, sample=20, seed=seed, shard_bytes=5_000, resume=True)
        assert contents(out) == wanted
    assert drawn[0] != drawn[7]
    assert run_once(path, tmp_path / "all", columns={"text": "text"}, sample=1000).documents == 60


def test_no_documents_make_an_empty_data_set_with_columns(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("broken\n")
    report = run_once(tmp_path / "in.jsonl", tmp_path / "out")
    assert (report.documents, report.letters, report.shards) == (0, 1, 1)
    assert "chunk_id" in ds.dataset(tmp_path / "out").to_table().column_names
    assert run_once(tmp_path / "in.jsonl", tmp_path / "out", resume=True).did_nothing


def test_an_unreadable_file_of_a_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (folder / name).write_text(f"This is {name}.")
    (folder / "d.bin").write_bytes(b"\0")
    (folder / "e.txt").write_bytes(b"bad \xff")
    real = files.open_binary

    def refuse(path: str) -> Any:
        if path.endswith("b.txt"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(source.files, "open_binary", refuse)
    result = invoke(["ingest", str(folder), "-o", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert "2 dead letters" in result.output
    assert str(folder / "d.bin") in result.output
    assert "2 documents" in result.output
    told = letters_of(tmp_path / "out")
    assert [Path(letter["source"]).name for letter in told] == ["b.txt", "e.txt"]
    assert "Permission denied" in told[0]["reason"]
    assert invoke(["ingest", str(folder), "-o", str(tmp_path / "x"), "--strict"]).exit_code == 1


def test_a_cut_off_dump_gives_its_whole_pages_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.bz2"
    dump = wiki(120)
    streams = [bz2.compress(dump[at : at + 20_000]) for at in range(0, len(dump), 20_000)]
    data = b"".join(streams)
    path.write_bytes(data[: len(data) - len(streams[-1]) - 50])
    report = run_once(path, tmp_path / "out")
    assert 60 < report.documents < 120
    assert report.letters
    assert any("cut off" in letter["reason"] for letter in letters_of(tmp_path / "out"))
    assert str(path) in {letter["source"] for letter in letters_of(tmp_path / "out")}


@pytest.mark.parametrize("errno_", [28, 5])
def test_a_disk_that_fails_keeps_what_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, errno_: int) -> None:
    path = corpus(tmp_path / "in.parquet")
    run_once(path, tmp_path / "whole", columns={"text": "text"})
    left = [60_000]
    real = shards._Hashing.write

    def write(self: Any, data: Any) -> int:
        left[0] -= len(data)
        if left[0] < 0:
            raise OSError(errno_, os.strerror(errno_))
        return real(self, data)

    with monkeypatch.context() as patch:
        patch.setattr(shards._Hashing, "write", write)
        with pytest.raises(IngestError, match=f"{os.strerror(errno_)}.*go on with --resume"):
            run_once(path, tmp_path / "out", columns={"text": "text"})
    assert not [name for name in contents(tmp_path / "out") if name.startswith("_writing")]
    run_once(path, tmp_path / "out", columns={"text": "text"}, resume=True)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files replaces it: the write fails inside the kernel, in a process of its own."""
    path = corpus(tmp_path / "in.parquet", 400)
    command = [sys.executable, "-m", "pychunk", "ingest", str(path), "--column", "text", "-o", "out"]
    limited = "import resource, runpy, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); sys.argv = sys.argv[1:]; "
    limited += "runpy.run_module('pychunk', run_name='__main__')"
    failed = subprocess.run(
        [sys.executable, "-c", limited, *command[2:]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert failed.returncode == 1, failed.stderr
    assert "File too large" in failed.stderr
    assert "--resume" in failed.stderr
    assert not list((tmp_path / "out").glob("*.parquet"))
    done = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "400 documents" in done.stderr


def test_a_source_that_changes_meanwhile_is_no_complete_run(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    with pytest.raises(IngestError, match=r"in.parquet changed while it was read"):
        run_once(
            path, tmp_path / "out", columns={"text": "text"}, progress=lambda share, report: os.utime(path, (1, 1))
        )
    assert not json.loads((tmp_path / "out" / "_manifest.json").read_text())["complete"]
    with pytest.raises(IngestError, match=r"in.parquet changed while it was read"):
        run_once(
            path,
            tmp_path / "gone",
            columns={"text": "text"},
            progress=lambda share, report: path.unlink(missing_ok=True),
        )


def test_differences_name_the_place() -> None:
    assert list(differences({"a": 1, "b": {"c": [1]}}, {"a": 1, "b": {"c": [2], "d": 3}})) == [
        "b.c: was [1], is [2]",
        "b.d: was not given, is 3",
    ]


def test_columns_are_kept_and_titles_come_from_one(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"text": ["Cats purr. Stars burn."], "title": ["Stars"], "year": pa.array([1999], pa.int16())}),
        tmp_path / "in.parquet",
    )
    out, own_cuts = tmp_path / "out", {"keep_together": False, "min_tokens": 0}
    ingest(
        tmp_path / "in.parquet",
        out,
        columns={"text": "text", "titles": "title"},
        metadata_columns=["year"],
        summary="title",
        **own_cuts,
    )
    (table,) = map(pq.read_table, out.glob("*.parquet"))
    assert (table.schema.field("year").type, set(table["year"].to_pylist())) == (pa.int16(), {1999})
    assert next(row for row in table.to_pylist() if "Stars" in row["text"])["relevance"] == "relevant"
    with pytest.raises(ValueError, match=r"holds a different run: metadata_columns"):
        ingest(tmp_path / "in.parquet", out, columns={"text": "text", "titles": "title"}, summary="title", **own_cuts)
    with pytest.raises(TypeError, match="titles must be the name of a column of the source; got list"):
        ingest(tmp_path / "in.parquet", tmp_path / "b", columns={"text": "text", "titles": ["Stars"]}, summary="title")


def test_a_column_that_is_kept_and_named_is_read_once(tmp_path: Path) -> None:
    table = pa.table({"text": ["Cats purr.", "Stars burn."], "title": ["Cats", "Stars"]})
    pq.write_table(table, tmp_path / "in.parquet")
    ingest(
        tmp_path / "in.parquet", tmp_path / "out", columns={"text": "text"}, metadata_columns=["title"], summary="title"
    )
    found = ds.dataset(tmp_path / "out").to_table()
    assert dict(zip(found["text"].to_pylist(), found["title"].to_pylist())) == {
        "Cats purr.": "Cats",
        "Stars burn.": "Stars",
    }


def test_a_kept_column_of_json_lines_that_changes_its_type_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pychunk.io.formats.json_lines.TABLE_BYTES", 2000)  # when types are found, part by part
    years = [*range(100), *["n/a"] * 100, *[1.0] * 50, *[None] * 50]
    rows = [{"id": str(i), "text": "One sentence here. " * 5, "year": year} for i, year in enumerate(years)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run_once(
        tmp_path / "in.jsonl",
        tmp_path / "out",
        columns={"text": "text"},
        metadata_columns=["year"],
        method="page",
        shard_bytes=5000,
    )
    shards = sorted((tmp_path / "out").glob("part*"))
    assert len(shards) > 3
    assert {pq.read_schema(path).field("year").type for path in shards} == {pa.large_string()}
    written = [None if year is None else year if isinstance(year, str) else json.dumps(year) for year in years]
    assert [year for path in shards for year in pq.read_table(path)["year"].to_pylist()] == written


def test_files_that_declare_other_types_are_an_error_that_names_the_column(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, years in (("a", [1999]), ("b", ["about 2000"]), ("c", [2001])):
        pq.write_table(pa.table({"text": ["Cats purr. " * 2000], "year": years}), tmp_path / "in" / f"{name}.parquet")
    with pytest.raises(ValueError, match=r"column 'year' is of type .*string here, but was of type int64 in earlier"):
        ingest(tmp_path / "in", tmp_path / "out", columns={"text": "text"}, metadata_columns=["year"])


def test_files_of_several_kinds_have_one_set_of_columns(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Cats purr. They sleep by day and hunt at dusk, when mice come out.")
    (tmp_path / "in" / "b.md").write_text("# Stars\n\nThey burn hydrogen for ages.")
    report = ingest(tmp_path / "in", tmp_path / "out", shard_bytes=30)
    assert report.new_shards == 2  # one of each kind
    whole = pq.read_table(sorted((tmp_path / "out").glob("*.parquet")))
    paths = {Path(name).name: path for name, path in zip(whole["document_id"].to_pylist(), whole["path"].to_pylist())}
    assert paths == {"a.txt": None, "b.md": ["Stars"]}
    schemas = [pq.read_schema(file) for file in sorted((tmp_path / "out").glob("*.parquet"))]
    assert schemas[0].equals(schemas[1])
    again = ingest(tmp_path / "in", tmp_path / "again", shard_bytes=30)
    assert again.new_shards == 2
    for file in (tmp_path / "out").glob("*.parquet"):
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_several_sources_are_read_in_their_order_and_belong_to_the_run(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name, text in (("notes/b.md", "# Bees\n\nBees hum."), ("notes/a.txt", "Ants run."), ("z.txt", "Zebras graze.")):
        (tmp_path / name).write_text(text)
    pq.write_table(pa.table({"id": ["1", "2"], "text": ["Cats purr.", "Dogs bark."]}), tmp_path / "in.parquet")
    sources = [tmp_path / name for name in ("z.txt", "in.parquet", "notes")]
    ingest(sources, tmp_path / "out")
    found = pq.read_table(tmp_path / "out")["document_id"].to_pylist()
    ids = [str(each).removeprefix(f"{tmp_path}/") for each in found]
    assert list(dict.fromkeys(ids)) == ["z.txt", "1", "2", "notes/b.md", "notes/a.txt"]
    assert ingest(sources, tmp_path / "out", resume=True).did_nothing
    for others in (sources[::-1], sources[:2], [*sources[:2], tmp_path / "notes" / "a.txt"]):
        with pytest.raises(ValueError, match=r"source\.path: was .*Pass the same sources in the same order"):
            ingest(others, tmp_path / "out", resume=True)
    with pytest.raises(ValueError, match=r"a\.txt is named twice, by .*notes and by .*a\.txt"):
        ingest([tmp_path / "notes", tmp_path / "notes" / "a.txt"], tmp_path / "other")
    with pytest.raises(ValueError, match="got an empty list"):
        ingest([], tmp_path / "other")


def test_several_sources_go_on_where_they_stopped_to_the_same_bytes(tmp_path: Path) -> None:
    sources = [corpus(tmp_path / "a.parquet", 12, seed=1), corpus(tmp_path / "b.parquet", 12, seed=2)]
    whole = ingest(sources, tmp_path / "whole", columns={"text": "text"}, shard_bytes=5_000)
    assert whole.shards > 2

    def stop(share: float, report: Report) -> None:
        if report.new_shards:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(sources, tmp_path / "parts", columns={"text": "text"}, shard_bytes=5_000, progress=stop)
    rest = ingest(sources, tmp_path / "parts", columns={"text": "text"}, shard_bytes=5_000, resume=True)
    assert 0 < rest.new_shards < whole.shards
    for shard in (tmp_path / "whole").glob("*.parquet"):
        assert (tmp_path / "parts" / shard.name).read_bytes() == shard.read_bytes()
