"""Whole corpora: the same bytes however a run went, and nothing silently missing."""

import bz2
import fcntl
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import pychunk
from pychunk.cli import app
from pychunk.ingest import IngestError, Report, ingest, output, run, shards
from pychunk.ingest.manifest import Manifest, differences
from pychunk.ingest.sample import rank
from pychunk.io import DeadLetter, columns, files, json_lines, open_source, rows, source, streams, tables
from pychunk.io.documents import grouped, table_of

RUNNER = CliRunner()
WORDS = ["cats", "purr", "the", "sun", "is", "a", "star", "dogs", "bark", "at", "night", "rivers", "carry", "silt"]


def sentences(drawn: random.Random, count: int) -> str:
    return " ".join(" ".join(drawn.choices(WORDS, k=8)).capitalize() + "." for _ in range(count))


def corpus(path: Path, documents: int = 60, seed: int = 1) -> Path:
    drawn = random.Random(seed)
    texts = [sentences(drawn, drawn.randint(0, 100)) for _ in range(documents)]
    pq.write_table(pa.table({"id": [f"d{i}" for i in range(documents)], "text": texts}), path, row_group_size=7)
    return path


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of 8 kB, so that a small corpus has many shards."""
    monkeypatch.setattr(run, "open_source", lambda path, **options: open_source(path, batch_bytes=8192, **options))
    monkeypatch.setattr(shards, "ROW_GROUP_BYTES", 10_000)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def run_once(path: Path, out: Path, **options: Any) -> Report:
    return ingest(path, out, **{"shard_bytes": 9_000, "column": None, **options})


def letters_of(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "_dead_letters.jsonl").read_text().splitlines()]


def test_nothing_gets_its_name_before_it_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut takes what the operating system still holds: contents first, then the name, then the folder."""
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
    report = run_once(corpus(tmp_path / "in.parquet"), tmp_path / "out", column="text")
    folder = (tmp_path / "out").stat().st_ino
    renamed = [at for at, (what, _, _) in enumerate(told) if what == "replace"]
    assert len(renamed) == 2 * report.shards + 1  # each shard, and the manifest before and after it
    for at in renamed:
        _, file, size = told[at]
        assert ("fsync", file, size) in told[:at]
        assert told[at + 1][:2] == ("fsync", folder)


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_a_data_set_holds_what_segment_returns(tmp_path: Path, compression: str) -> None:
    path = corpus(tmp_path / "in.parquet")
    report = run_once(path, tmp_path / "out", column="text", compression=compression, vectors="chunk")
    table = pq.read_table(path)
    expected = pychunk.segment(table, column="text", ids="id", vectors="chunk").table
    found = ds.dataset(tmp_path / "out").to_table()
    assert found.drop_columns("kind").equals(expected.drop_columns("kind"))
    assert found["kind"].to_pylist() == expected["kind"].to_pylist()
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
        assert set(rows_["document"].to_pylist()) <= set(
            range(shard["first_document"], shard["first_document"] + shard["documents"])
        )


def test_threads_change_no_byte(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    for threads in (1, 3):
        run_once(path, tmp_path / str(threads), column="text", threads=threads)
    assert contents(tmp_path / "1") == contents(tmp_path / "3")


class Stop(BaseException):
    """What a test raises where a process would have been killed: no clean-up may depend on it."""


@pytest.mark.parametrize("step", ["named", "letters", "manifest"])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_resumed_after_any_step_the_bytes_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, after: int
) -> None:
    path = corpus(tmp_path / "in.jsonl.parquet")
    whole = run_once(path, tmp_path / "whole", column="text")
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
            patch.setattr(output, "settle", then_stop(output.settle))
        elif step == "letters":
            patch.setattr(output.letters, "put", then_stop(output.letters.put))
        else:
            patch.setattr(Manifest, "save", then_stop(Manifest.save))
        with pytest.raises(Stop):
            run_once(path, tmp_path / "out", column="text")
    assert contents(tmp_path / "out") != contents(tmp_path / "whole")
    report = run_once(path, tmp_path / "out", column="text", resume=True)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert (report.documents, report.chunks) == (whole.documents, whole.chunks)


def test_what_is_complete_is_left_alone(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    run_once(path, tmp_path / "out", column="text", resume=True)  # on nothing yet, it starts
    before = {each.name: each.stat().st_mtime_ns for each in (tmp_path / "out").iterdir()}
    for resume in (False, True):
        report = run_once(path, tmp_path / "out", column="text", resume=resume)
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
    with pytest.raises(ValueError, match=f"{names[1]}: is missing; --resume"):
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
    run_once(path, tmp_path / "out", column="text")
    wanted = contents(tmp_path / "out")
    with pytest.raises(ValueError, match=r"options.segmenter.method: was null, is \"sentence\""):
        run_once(path, tmp_path / "out", column="text", method="sentence", resume=True)
    with pytest.raises(ValueError, match=r"options.limit: was null, is 3"):
        run_once(path, tmp_path / "out", column="text", limit=3, resume=True)
    manifest = tmp_path / "out" / "_manifest.json"
    manifest.write_text(manifest.read_text().replace('"pychunk": "', '"pychunk": "9'))
    with pytest.raises(ValueError, match=r"versions.pychunk: was \"9"):
        run_once(path, tmp_path / "out", column="text", resume=True)
    manifest.write_bytes(wanted["_manifest.json"])
    os.utime(path, (1, 1))
    for resume in (False, True):
        with pytest.raises(ValueError, match=r"source.files.*in.parquet: was"):
            run_once(path, tmp_path / "out", column="text", resume=resume)
    assert contents(tmp_path / "out") == wanted
    for damaged in ("{", "[" * 100_000):
        manifest.write_text(damaged)
        with pytest.raises(ValueError, match=r"_manifest.json is damaged"):
            run_once(path, tmp_path / "out", column="text", resume=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("Mine.")
    with pytest.raises(ValueError, match=r"holds no run \(thesis.txt is there\)"):
        run_once(path, tmp_path / "other", column="text", resume=True)
    assert (tmp_path / "other" / "thesis.txt").read_text() == "Mine."


def test_an_unfinished_run_asks_for_resume(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    with pytest.raises(Stop):
        run_once(path, tmp_path / "out", column="text", progress=_stop)
    with pytest.raises(ValueError, match=r"unfinished run of .* go on with --resume"):
        run_once(path, tmp_path / "out", column="text")
    assert not [name for name in contents(tmp_path / "out") if name.startswith("_writing")]


def _stop(share: float, report: Report) -> None:
    raise Stop


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    (tmp_path / "out").mkdir()
    with open(tmp_path / "out" / "_lock", "ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match="another process writes"):
            run_once(path, tmp_path / "out", column="text")
    assert run_once(path, tmp_path / "out", column="text").documents == 60


def test_limit_and_sample(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    table = pq.read_table(path)
    assert run_once(path, tmp_path / "limit", column="text", limit=17).documents == 17
    found = ds.dataset(tmp_path / "limit").to_table()
    assert found["chunk_id"].equals(pychunk.segment(table.slice(0, 17), column="text", ids="id").table["chunk_id"])
    drawn = {}
    for seed in (0, 7):
        out = tmp_path / f"sample{seed}"
        assert run_once(path, out, column="text", sample=20, seed=seed, shard_bytes=5_000).documents == 20
        best = sorted(table["id"].to_pylist(), key=lambda id_: rank(seed, id_))[:20]
        kept = [row for row in table.to_pylist() if row["id"] in best]
        expected = pychunk.segment([row["text"] for row in kept], ids=[row["id"] for row in kept]).table
        found = ds.dataset(out).to_table()
        assert found["chunk_id"].equals(expected["chunk_id"])
        assert found["document"].to_pylist() == expected["document"].to_pylist()
        drawn[seed] = best
        wanted = contents(out)
        (out / "part-000001.parquet").unlink()
        run_once(path, out, column="text", sample=20, seed=seed, shard_bytes=5_000, resume=True)
        assert contents(out) == wanted
    assert drawn[0] != drawn[7]
    assert run_once(path, tmp_path / "all", column="text", sample=1000).documents == 60


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
    result = RUNNER.invoke(app, ["ingest", str(folder), "-o", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert "2 dead letters" in result.output
    assert str(folder / "d.bin") in result.output
    assert "2 documents" in result.output
    told = letters_of(tmp_path / "out")
    assert [Path(letter["source"]).name for letter in told] == ["b.txt", "e.txt"]
    assert "Permission denied" in told[0]["reason"]
    assert RUNNER.invoke(app, ["ingest", str(folder), "-o", str(tmp_path / "x"), "--strict"]).exit_code == 1


def wiki(pages: int) -> bytes:
    drawn = random.Random(5)
    body = b"".join(
        f"<page><title>T{i}</title><ns>0</ns><id>{i}</id><revision><id>1</id><text>{sentences(drawn, 20)}</text>"
        "</revision></page>\n".encode()
        for i in range(pages)
    )
    return b"<mediawiki>\n" + body + b"</mediawiki>\n"


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
    run_once(path, tmp_path / "whole", column="text")
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
            run_once(path, tmp_path / "out", column="text")
    assert not [name for name in contents(tmp_path / "out") if name.startswith("_writing")]
    run_once(path, tmp_path / "out", column="text", resume=True)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stands for it: the write fails inside the kernel, in a process of its own."""
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
        run_once(path, tmp_path / "out", column="text", progress=lambda share, report: os.utime(path, (1, 1)))
    assert not json.loads((tmp_path / "out" / "_manifest.json").read_text())["complete"]
    with pytest.raises(IngestError, match=r"in.parquet changed while it was read"):
        run_once(path, tmp_path / "gone", column="text", progress=lambda share, report: path.unlink(missing_ok=True))


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    text = sentences(random.Random(2), 2000) * 50
    pq.write_table(pa.table({"id": [str(i) for i in range(20)], "text": [text] * 20}), path)
    command = [sys.executable, "-m", "pychunk", "ingest", str(path), "--column", "text", "-o", "out"]
    command += ["--shard-size", "0.01"]  # a shard for each batch of 8 MB

    def heed_interrupts() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in the background of a shell

    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    ) as child:
        while not list(tmp_path.glob("out/part-*")):
            time.sleep(0.005)
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        errors = child.communicate(timeout=30)[1]
    if child.returncode == 0:
        pytest.skip("the run ended before the signal came")
    assert child.returncode == 130, errors
    assert "--resume goes on" in errors
    done = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-"], "standard input cannot be read twice"),
        (["nope.parquet"], "no such file"),
        (["in.parquet", "--compression", "best"], "compression must be one of none, lz4, zstd; got 'best'"),
        (["in.parquet", "--namespace", "x"], "--namespace must be a number or all"),
        (["in.parquet", "--kind", "x"], "unknown kind 'x'"),
        (["in.parquet", "--column", "body"], "column 'body' is not there"),
        (["."], "lies in ., where its shards would be read"),
    ],
)
def test_errors_of_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    corpus(tmp_path / "in.parquet", 5)
    monkeypatch.chdir(tmp_path)
    result = RUNNER.invoke(app, ["ingest", *arguments, "-o", "out"])
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert not (tmp_path / "out" / "_manifest.json").exists()  # what was wrong is in nobody's way
    assert RUNNER.invoke(app, ["ingest", "in.parquet", "--column", "text", "-o", "out"]).exit_code == 0


def test_the_command_says_what_it_did(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    arguments = ["ingest", str(path), "--column", "text", "-o", str(tmp_path / "out"), "--shard-size", "0.02"]
    first = RUNNER.invoke(app, arguments)
    assert first.exit_code == 0, first.output
    assert "60 documents" in first.output
    assert "0 failures" in first.output
    again = RUNNER.invoke(app, arguments)
    assert again.exit_code == 0
    assert "complete already, nothing to do" in again.output
    assert RUNNER.invoke(app, [*arguments, "--quiet"]).output == ""


def test_differences_name_the_place() -> None:
    assert list(differences({"a": 1, "b": {"c": [1]}}, {"a": 1, "b": {"c": [2], "d": 3}})) == [
        "b.c: was [1], is [2]",
        "b.d: was null, is 3",
    ]


# Batches of columns against the documents, one by one, that they stand for.


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=30)), max_size=40),
    named=st.sampled_from(["no", "integers", "strings", "some", "floats"]),
    cuts=st.integers(1, 9),
    max_bytes=st.integers(1, 60),
)
def test_columns_are_grouped_like_documents(texts: list[str | None], named: str, cuts: int, max_bytes: int) -> None:
    names = range(len(texts))
    ids = {
        "no": None,
        "integers": pa.array(names, pa.int64()),
        "strings": pa.array([f"n{i}" for i in names], pa.string()),
        "some": pa.array([None if i % 3 else f"n{i}" for i in names], pa.string()),
        "floats": pa.array([i / 2 for i in names], pa.float64()),
    }[named]
    table = pa.table({"text": pa.array(texts, pa.string()), "extra": pa.array([None] * len(texts), pa.string())})
    if ids is not None:
        table = table.append_column("id", ids)
    schema = source.schema((("extra", pa.string()),))
    found: list[DeadLetter] = []
    expected: list[DeadLetter] = []
    options: dict[str, Any] = {"column": "text", "id_column": None, "metadata": ("extra",)}

    def parts() -> list[tables.Part]:
        spans = [range(at, min(at + cuts, len(texts))) for at in range(0, len(texts), cuts)]
        return [tables.Part(table.slice(s[0], len(s)), "row", range(s[0] + 1, s[-1] + 2), s[-1]) for s in spans]

    runs = columns.runs(parts(), "f", found.append, schema, **options)
    groups = [columns.joined(group) for group in columns.grouped(runs, max_bytes)]
    documents = rows.documents(parts(), "f", expected.append, **options)
    wanted = [table_of(group, schema) for group in grouped(documents, max_bytes)]
    assert [group.to_pylist() for group in groups] == [group.to_pylist() for group in wanted]
    assert [group.schema for group in groups] == [group.schema for group in wanted]
    assert found == expected


@pytest.mark.parametrize("skip", [0, 1, 3])
def test_letters_are_told_with_their_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, skip: int) -> None:
    monkeypatch.setattr(json_lines, "TABLE_BYTES", 300)
    monkeypatch.setattr(streams, "_READ", 100)
    path = tmp_path / "in.jsonl"
    lines = ["broken" if i % 7 == 3 else json.dumps({"id": str(i), "text": "x" * 40}) for i in range(60)]
    path.write_text("\n".join(lines) + "\nbroken")
    told: list[tuple[int, str]] = []
    now = [-1]
    opened = open_source(path, batch_bytes=400, dead_letters=lambda letter: told.append((now[0], letter.position)))
    for batch in opened.batches():
        now[0] = batch.number
    expected = [each for each in told if each[0] >= skip - 1]
    told.clear()
    now[0] = skip - 1
    for batch in opened.batches(skip=skip):
        now[0] = batch.number
    assert told == expected
    assert told[-1][1] == "line 61"


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system takes no such name")
def test_a_file_name_that_is_no_utf8_is_a_letter(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name in (b"a.txt", b"b\xff.txt", b"c.txt", b"d\xff.png"):
        Path(os.fsdecode(bytes(tmp_path / "notes") + b"/" + name)).write_text("Cats purr.")
    for resume in ([], ["--resume"]):
        done = RUNNER.invoke(app, ["ingest", str(tmp_path / "notes"), "-o", str(tmp_path / "out"), *resume])
        assert done.exit_code == 0, done.output
        assert "2 documents" in done.output
    (letter,) = [json.loads(line) for line in (tmp_path / "out" / "_dead_letters.jsonl").read_text().splitlines()]
    assert letter["source"].endswith("b\\xff.txt")
    assert letter["reason"] == "the file's name is not UTF-8: rename it"
    done = RUNNER.invoke(app, ["ingest", os.fsdecode(bytes(tmp_path) + b"/notes/b\xff.txt"), "-o", str(tmp_path / "x")])
    assert done.exit_code == 1
    assert "the file's name is not UTF-8: rename it" in done.output


def test_nothing_that_could_be_read_is_status_1(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for i in range(3):
        (tmp_path / "in" / f"{i}.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    done = RUNNER.invoke(app, ["ingest", str(tmp_path / "in"), "--kind", "text", "-o", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "nothing could be read" in done.output
    assert "0.pdf, whole file: a PDF, not text: extract its text first" in done.output
    (tmp_path / "in" / "a.pdf").write_text("Text after all.")
    done = RUNNER.invoke(app, ["ingest", str(tmp_path / "in"), "--kind", "text", "-o", str(tmp_path / "out2")])
    assert done.exit_code == 0
    assert "3 dead letters" in done.output


@pytest.mark.parametrize("documents", [30, 3000])
def test_ids_that_come_twice_are_named(tmp_path: Path, documents: int) -> None:
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"id": i % (documents - 10), "text": "Topic " * 5}) for i in range(documents)]
    path.write_text("\n".join(lines))
    done = RUNNER.invoke(app, ["ingest", str(path), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    first = "document 0" if documents == 30 else "an earlier one"
    assert f"ids come more than once: '0' is that of document {documents - 10} and of {first}" in done.output
    path.write_text("\n".join(lines[: documents - 10]))
    assert "more than once" not in RUNNER.invoke(app, ["ingest", str(path), "-o", str(tmp_path / "out2")]).output
