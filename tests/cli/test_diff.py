"""The command diff: its summary, its files, its status, and the notes about tables that were made differently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_files import rows_of
from command_line import invoke

import pychunk
from pychunk.chunks.differences import CHANGES
from pychunk.cli.shared.value_types import share_of

OLD = {"cats": "Cats purr. They sleep by day.", "stars": "The sun is a star. Stars burn hydrogen."}
NEW = {"cats": "It rains. Cats purr. They sleep by day.", "stars": "The sun is a star."}


def chunks_of(documents: dict[Any, str], **options: Any) -> pychunk.ChunkBatch:
    options = {"method": "sentence", "keep_together": False, "min_tokens": 0, "ids": list(documents), **options}
    return pychunk.segment(list(documents.values()), **options)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for ending in ("parquet", "arrow", "jsonl", "csv"):
        chunks_of(OLD).write(tmp_path / f"old.{ending}")
        chunks_of(NEW).write(tmp_path / f"new.{ending}")
    return tmp_path


def test_the_summary_counts_changes_and_names_documents(files: Path) -> None:
    done = invoke(["diff", str(files / "old.parquet"), str(files / "new.parquet")])
    assert (done.exit_code, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows == [
        ["4", "chunks", "in", "OLD,", "4", "chunks", "in", "NEW"],
        ["chunks", "of", "OLD", "of", "NEW"],
        ["kept", "3", "75.0", "%", "75.0", "%"],
        ["moved", "0", "0.0", "%", "0.0", "%"],
        ["added", "1", "25.0", "%"],
        ["removed", "1", "25.0", "%"],
        [],
        ["most", "changed", "documents", *CHANGES],
        ["'cats'", "2", "0", "1", "0"],
        ["'stars'", "1", "0", "0", "1"],
    ]


@pytest.mark.parametrize("old", ["parquet", "arrow", "jsonl", "csv"])
@pytest.mark.parametrize("new", ["parquet", "jsonl"])
def test_files_of_all_kinds_are_compared(files: Path, old: str, new: str) -> None:
    done = invoke(["diff", str(files / f"old.{old}"), str(files / f"new.{new}"), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["counts"] == {"kept": 3, "moved": 0, "added": 1, "removed": 1}
    assert (found["changed"], found["fail_over"]) == (0.25, None)
    assert found["new"] == {"file": str(files / f"new.{new}"), "chunks": 4}
    assert found["documents"][0] == {"document_id": "cats", "kept": 2, "moved": 0, "added": 1, "removed": 0}
    says = {kind: kind in ("parquet", "arrow") for kind in (old, new)}
    silent = "" if says[old] == says[new] else f"{'NEW' if says[old] else 'OLD'} does not say how its chunks were made"
    assert done.stderr == (f"note: {silent}\n" if silent else "")


def test_a_folder_of_shards_is_compared(files: Path) -> None:
    source = files / "in.jsonl"
    source.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in OLD.items()))
    arguments = ["--column", "text", "--ids", "id", "-m", "sentence", "--no-keep-together", "--min-tokens", "0"]
    assert invoke(["ingest", str(source), "-o", str(files / "shards"), *arguments]).exit_code == 0
    done = invoke(["diff", str(files / "shards"), str(files / "old.parquet"), "--fail-over", "0"])
    assert (done.exit_code, done.stderr) == (0, "")


def test_folders_of_updates_are_compared(files: Path) -> None:
    source = files / "in.jsonl"
    call = ["ingest", str(source), "-o", str(files / "shards"), "--update", "--column", "text", "--ids", "id"]
    call += ["-m", "sentence", "--no-keep-together", "--min-tokens", "0"]
    for documents in (OLD, NEW):
        source.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in documents.items()))
        assert invoke(call).exit_code == 0
    assert (files / "shards" / "_changes.parquet").is_file()
    for old, counts in (("new", (4, 0, 0, 0)), ("old", (3, 0, 1, 1))):
        done = invoke(["diff", str(files / f"{old}.parquet"), str(files / "shards"), "--json"])
        assert done.exit_code == 0, done.output
        assert tuple(json.loads(done.stdout)["counts"].values()) == counts


@pytest.mark.parametrize("name", ["changes.parquet", "changes.jsonl", "changes.arrow", "changes.csv", "-"])
def test_the_changes_are_written(files: Path, name: str) -> None:
    output = name if name == "-" else str(files / name)
    done = invoke(["diff", str(files / "old.parquet"), str(files / "new.parquet"), "-o", output])
    assert done.exit_code == 0, done.output
    assert "4 chunks in OLD" in (done.stderr if name == "-" else done.stdout)
    expected = pychunk.diff(chunks_of(OLD), chunks_of(NEW)).table.to_pylist()
    if name == "-":
        assert [json.loads(line) for line in done.stdout.splitlines()] == expected
    elif name.endswith(".csv"):
        assert (files / name).read_text().count("\n") == len(expected) + 1
    else:
        assert rows_of(files / name) == expected


@pytest.mark.parametrize(
    ("limit", "status"), [("24%", 1), ("0.249", 1), ("25%", 0), ("0.25", 0), ("99%", 0), ("0", 1), ("0%", 1)]
)
def test_the_status_depends_on_the_share_that_changed(files: Path, limit: str, status: int) -> None:
    done = invoke(["diff", str(files / "old.parquet"), str(files / "new.parquet"), "--fail-over", limit])
    assert done.exit_code == status, done.output
    allowed = 100 * share_of("--fail-over", limit, most=1, or_none=True)
    told = f"25.0 % of the chunks changed; --fail-over allows {allowed:.1f} %\n"
    assert done.stderr == (told if status else "")


def test_equal_files_pass_a_limit_of_none(files: Path) -> None:
    assert invoke(["diff", *[str(files / "old.parquet")] * 2, "--fail-over", "0%"]).exit_code == 0


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"max_tokens": 7}, "max_tokens (0, then 7)"),
        ({"method": "paragraph"}, "method (sentence, then paragraph)"),
        ({"method": "fixed", "size": 9}, "method (sentence, then fixed), options (size)"),
    ],
)
def test_tables_that_were_made_differently_say_so_first(files: Path, options: dict[str, Any], note: str) -> None:
    chunks_of(OLD, **options).write(files / "other.parquet")
    done = invoke(["diff", str(files / "old.parquet"), str(files / "other.parquet"), "--fail-over", "0"])
    assert done.stderr.startswith(f"note: OLD and NEW were made differently: {note}\n"), done.stderr


def test_chunks_without_ids_are_compared(files: Path) -> None:
    chunks_of(NEW, ids=None).write(files / "none.parquet")
    chunks_of({0: NEW["cats"], 1: NEW["stars"]}).write(files / "numbers.parquet")
    done = invoke(["diff", str(files / "none.parquet"), str(files / "none.parquet")])
    assert (done.exit_code, "documents" in done.stdout) == (0, False)
    chunks_of({"0": NEW["cats"], "1": NEW["stars"]}).write(files / "numbers.csv")
    done = invoke(["diff", str(files / "numbers.csv"), str(files / "numbers.parquet"), "--fail-over", "0"])
    assert done.exit_code == 0, done.output


def test_files_of_empty_tables_are_compared(files: Path) -> None:
    pychunk.segment([""], "sentence", ids=["a"]).write(files / "none.parquet")
    done = invoke(["diff", str(files / "none.parquet"), str(files / "none.parquet"), "--fail-over", "0"])
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "0 chunks in OLD, 0 chunks in NEW"), done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.parquet", "new.parquet"], "nope.parquet: no such file"),
        (
            ["documents.parquet", "new.parquet"],
            "documents.parquet holds no chunks, because these have the columns document_index, start, end, text; its "
            "columns are id, text: name a file that `pychunk segment -o` wrote",
        ),
        (
            ["notes.txt", "new.parquet"],
            "notes.txt holds no chunks, because it is no table but of kind text: name a file that `pychunk segment -o` "
            "wrote",
        ),
        (["damaged.parquet", "new.parquet"], "damaged.parquet, whole file: cannot be read as .parquet: "),
        (
            ["old.parquet", "new.parquet", "--fail-over", "5x"],
            "must be a percentage below 100%, such as 10%",
        ),
        (["old.parquet", "new.parquet", "--fail-over", "100%"], "got '100%'"),
        (["old.parquet", "new.parquet", "--fail-over", "nan"], "got 'nan'"),
        (["old.parquet", "new.parquet", "-o", "new.parquet"], "is the input"),
        (["old.parquet", "new.parquet", "-o", "old.csv"], "exists already"),
        (["old.parquet", "new.parquet", "-o", "x.pdf"], "unknown kind of output"),
        (["old.parquet", "new.parquet", "-o", "-", "--json"], "--json cannot be combined with -o -"),
    ],
)
def test_errors_name_the_fault_and_the_remedy(
    files: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(files)
    pq.write_table(pa.table({"id": ["a"], "text": ["Cats purr."]}), "documents.parquet")
    for name in ("notes.txt", "damaged.parquet"):
        (files / name).write_text("Cats purr.")
    done = invoke(["diff", *arguments])
    assert (done.exit_code, message in done.stderr) == (2, True), done.output


def test_questions_show_which_hits_change(files: Path) -> None:
    pytest.importorskip("faiss")
    call = ["diff", str(files / "old.parquet"), str(files / "new.parquet")]
    (files / "questions.txt").write_text("Do cats purr?\n\nWhat do stars burn?\n")
    done = invoke([*call, "-q", str(files / "questions.txt"), "-q", "Does it rain?", "--json"])
    assert done.exit_code == 0, done.output
    found = {each.pop("question"): each for each in json.loads(done.stdout)["questions"]}
    assert list(found) == ["Do cats purr?", "What do stars burn?", "Does it rain?"]
    for each in found.values():  # all chunks are among the best five
        assert each["kept"] == 3
        assert [hit["text"] for hit in each["lost"]] == ["Stars burn hydrogen."]
        assert [(hit["document_id"], hit["text"], hit["start"]) for hit in each["gained"]] == [("cats", "It rains.", 0)]
    shown = invoke([*call, "-q", "Do cats purr?"]).stdout
    assert "questions whose best 5 hits changed: 1 of 1" in shown
    assert "- 'Stars burn hydrogen.'" in shown
    assert "+ 'It rains.'" in shown
    same = invoke(["diff", str(files / "old.parquet"), str(files / "old.jsonl"), "-q", "Do cats purr?"]).stdout
    assert same.endswith("questions whose best 5 hits changed: 0 of 1\n")
    (files / "empty.txt").write_text("\n")
    (files / "latin.txt").write_bytes(b"Do c\xffts purr?")
    wrong = invoke([*call, "-q", str(files / "latin.txt")])
    assert wrong.exit_code == 2
    assert "-q takes a text file in UTF-8; got" in " ".join(wrong.output.split())
    for blank in (" ", str(files / "empty.txt")):
        refused = invoke([*call, "-q", blank])
        assert refused.exit_code == 2
        assert "-q needs a question, or a text file with one on each line; got" in " ".join(refused.output.split())


def test_questions_are_asked_of_nodes_empty_files_and_documents_of_one_id(files: Path) -> None:
    pytest.importorskip("faiss")
    pychunk.segment_levels(list(OLD.values()), ["sentence", "document"]).chunks().write(files / "levels.parquet")
    chunks_of({}).write(files / "none.parquet")
    twice = pychunk.segment(["Cats purr.", "Dogs bark."], "sentence", ids=["a", "a"], min_tokens=0)
    twice.write(files / "twice.parquet")
    for name, texts in (("levels", 6), ("none", 0), ("twice", 2)):
        done = invoke(
            ["diff", str(files / "old.parquet"), str(files / f"{name}.parquet"), "-q", "Do cats purr?", "--json"]
        )
        assert done.exit_code == 0, done.output
        (found,) = json.loads(done.stdout)["questions"]
        assert found["kept"] + len(found["gained"]) == min(texts, 5)
