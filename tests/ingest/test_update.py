"""An update leaves the rows of a new run, lists the chunks that changed, and refuses what it cannot compare."""

import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from command_line import invoke
from corpora import contents
from shard_rows import check_same_rows, rows_of

import pychunk
from pychunk.ingest import Report, ingest, update
from pychunk.ingest.run_folder import CHANGES

pytestmark = pytest.mark.usefixtures("small_batches")

LINES = ["Cats purr when content.", "Rust is safe.", "Stars burn.", "The compass points north. It helps."]
RUNS: dict[str, dict[str, Any]] = {
    "chunks": {},
    "vectors": {"vectors": "sentence", "compression": "zstd"},
    "summaries": {"method": "pic", "vectors": "chunk", "summaries_out": True},
    "removed spans": {"method": "structure", "columns": {"text": "text", "removed": "gone"}},
    "a sample": {"sample": 40, "limit": 30},
}
Corpus = dict[str, list[str]]


def corpus_of(count: int) -> Corpus:
    drawn = random.Random(1)
    return {f"d{number}": drawn.choices(LINES, k=drawn.randint(0, 30)) for number in range(count)}


def edited(corpus: Corpus, seed: int) -> Corpus:
    drawn = random.Random(seed)
    found = {name: list(lines) for name, lines in corpus.items() if drawn.random() > 0.1}
    for lines in found.values():
        if drawn.random() < 0.2:
            lines.insert(drawn.randint(0, len(lines)), f"Line {seed} is new.")
    rows = [*found.items(), (f"n{seed}", drawn.choices(LINES, k=9))]
    if seed % 2:
        drawn.shuffle(rows)
    return dict(rows)


def write(path: Path, corpus: Corpus, year: int | None = 7) -> Path:
    rows = []
    for number, (name, lines) in enumerate(corpus.items()):
        gone = [{"start": 0, "end": 3, "reason": "menu", "score": 0.5}] if lines and number % 3 == 0 else []
        rows.append({"id": name, "text": "\n\n".join(lines), "year": year if number % 5 else None, "gone": gone})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def updated(path: Path, out: Path, **options: Any) -> Report:
    usual: dict[str, Any] = {"columns": {"text": "text"}, "ids": "id", "metadata_columns": ["year"]}
    return ingest(path, out, update=True, **{**usual, "shard_bytes": 9000, **options})


def changes_of(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(out / CHANGES).to_pylist()
    return found


def texts_of(out: Path) -> dict[str, str]:
    """Return the text of each chunk, by text id."""
    rows = [row for path in sorted(out.glob("part-*")) for row in pq.read_table(path).to_pylist()]
    assert len({row["text_id"] for row in rows}) == len(rows)
    return {row["text_id"]: row["text"] for row in rows}


@pytest.mark.parametrize("name", RUNS)
def test_an_update_leaves_the_rows_of_a_new_run(tmp_path: Path, name: str) -> None:
    corpus, out, kept = corpus_of(60), tmp_path / "out", 0
    for step in range(4):
        path = write(tmp_path / "in.jsonl", corpus)
        report = updated(path, out, **RUNS[name])
        updated(path, tmp_path / f"new{step}", **RUNS[name])
        assert (out / CHANGES).exists() == (step > 0)
        check_same_rows(out, tmp_path / f"new{step}")
        assert report.folder == out
        kept += report.kept
        corpus = edited(corpus, step)
    assert kept > 40
    assert not [each.name for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_the_list_of_changes_leads_from_one_state_to_the_next(tmp_path: Path) -> None:
    corpus, out = corpus_of(60), tmp_path / "out"
    updated(write(tmp_path / "in.jsonl", corpus), out)
    store = texts_of(out)
    for step in range(4):
        corpus = edited(corpus, step)
        report = updated(write(tmp_path / "in.jsonl", corpus), out)
        changes = changes_of(out)
        counts = {name: sum(row["change"] == name for row in changes) for name in report.changes}
        assert counts == report.changes
        for _ in range(2):  # To apply a list twice is harmless.
            for row in changes:
                if row["change"] == "removed":
                    store.pop(row["text_id"], None)
                else:
                    assert row["change"] == "added" or store[row["text_id"]] == row["text"]
                    store[row["text_id"]] = row["text"]
        assert store == texts_of(out)


def test_a_text_that_moved_to_another_document_is_removed_from_the_first(tmp_path: Path) -> None:
    out, options = tmp_path / "out", {"method": "paragraph", "keep_together": False, "min_tokens": 0}
    updated(write(tmp_path / "in.jsonl", {"a": ["One.", "Two."], "b": ["Three."]}), out, **options)
    before = set(texts_of(out))
    report = updated(write(tmp_path / "in.jsonl", {"a": ["One."], "b": ["Three.", "Two."]}), out, **options)
    assert report.changes == {"kept": 2, "moved": 0, "added": 1, "removed": 1}
    listed = {
        change: {row["text_id"] for row in changes_of(out) if row["change"] == change}
        for change in ("added", "removed")
    }
    assert listed["removed"] == before - set(texts_of(out))
    assert listed["added"] == set(texts_of(out)) - before


def test_of_documents_that_gain_a_line_only_their_texts_are_encoded(tmp_path: Path) -> None:
    counts: list[int] = []

    def encode(texts: list[str]) -> Any:
        counts.append(len(texts))
        return np.stack([[len(text), text.count("a"), 1] for text in texts]).astype(np.float32)

    corpus = {f"d{number}": [f"Line {line} of {number}." for line in range(8)] for number in range(300)}
    changed = corpus | {name: [*corpus[name], "One more line."] for name in list(corpus)[::100]}
    options = {"method": "sentence", "vectors": pychunk.Vectors("chunk", pychunk.Encoder(encode, "lengths"))}
    encoded = []
    for each in (corpus, changed):
        before = sum(counts)
        report = updated(write(tmp_path / "in.jsonl", each), tmp_path / "out", **options)
        encoded.append(sum(counts) - before)
    assert 0 < encoded[1] <= 0.05 * encoded[0]
    assert (report.kept, report.changes) == (297, {"kept": 24, "moved": 0, "added": 3, "removed": 0})


def test_a_changed_column_is_a_change_of_the_document(tmp_path: Path) -> None:
    corpus, out = {"a": LINES, "b": LINES[:1]}, tmp_path / "out"
    updated(write(tmp_path / "in.jsonl", corpus), out)
    report = updated(write(tmp_path / "in.jsonl", corpus, year=8), out)
    assert report.kept == 1  # The first document has no year.
    assert {row["change"] for row in changes_of(out)} == {"kept"}
    assert [row["year"] for row in rows_of(out)][-1] == "8"


def test_the_same_state_changes_nothing(tmp_path: Path) -> None:
    path, out = write(tmp_path / "in.jsonl", corpus_of(20)), tmp_path / "out"
    updated(path, out)
    updated(write(path, corpus_of(21)), out)
    before = contents(out)
    assert updated(path, out).did_nothing
    assert contents(out) == before


def test_folders_and_deleted_files(tmp_path: Path) -> None:
    folder, out = tmp_path / "notes", tmp_path / "out"
    folder.mkdir()
    for name, text in (("a.txt", LINES[0]), ("b.md", "# Rust\n\nRust is safe."), ("c.txt", LINES[2])):
        (folder / name).write_text(text)
    ingest(folder, out, update=True)
    (folder / "a.txt").unlink()
    (folder / "b.md").write_text("# Rust\n\nRust is safe.\n\n# Go\n\nGo is simple.")
    report = ingest(folder, out, update=True)
    assert (report.documents, report.kept) == (2, 1)
    assert {(Path(row["document_id"]).name, row["change"]) for row in changes_of(out)} >= {
        ("a.txt", "removed"),
        ("b.md", "added"),
    }
    ingest(folder, tmp_path / "new", update=True)
    check_same_rows(out, tmp_path / "new")


@pytest.mark.parametrize("vectors", [None, "chunk"])
def test_the_last_file_of_a_kind_goes_and_a_new_kind_comes(tmp_path: Path, vectors: Any) -> None:
    folder, out = tmp_path / "notes", tmp_path / "out"
    folder.mkdir()
    (folder / "a.txt").write_text(LINES[0])
    (folder / "b.txt").write_text(LINES[1])
    states = [
        {},
        {"c.md": "# Rust\n\nRust is safe.\n\n[![badge](a.svg)](b)"},
        {"d.html": "<h1>Go</h1><p>Go is simple."},
    ]
    options: dict[str, Any] = {"method": "structure", "vectors": vectors, "update": True}
    for step, state in enumerate(states):
        for path in [*folder.glob("*.md"), *folder.glob("*.html")]:
            path.unlink()
        for name, text in state.items():
            (folder / name).write_text(text)
        report = ingest(folder, out, **options)
        ingest(folder, tmp_path / f"new{step}", **options)
        assert report.kept == 2 * (step > 0)
        columns = [pq.read_schema(path).names for path in out.glob("part-*")]
        assert all(each == columns[0] for each in columns)
        new = rows_of(tmp_path / f"new{step}")
        # A column that only the gone kind had stays, and holds nothing.
        found = [
            {key: value for key, value in row.items() if key in new[0] or value is not None} for row in rows_of(out)
        ]
        assert found == new
    assert {row["change"] for row in changes_of(out) if row["document_id"].endswith("c.md")} == {"removed"}


def test_two_documents_of_one_id_are_refused_and_nothing_changes(tmp_path: Path) -> None:
    path, out = write(tmp_path / "in.jsonl", corpus_of(20)), tmp_path / "out"
    updated(path, out)
    before = contents(out)
    path.write_text(path.read_text() + json.dumps({"id": "d3", "text": "Again.", "year": 1, "gone": []}) + "\n")
    with pytest.raises(ValueError, match=r"documents 3 and 20 have the same id 'd3'.*give each document an id"):
        updated(path, out)
    assert contents(out) == before
    with pytest.raises(ValueError, match=r"'d3' is the id of document 20 and of document 3.*one of its own"):
        updated(path, tmp_path / "first")


def test_an_id_that_a_file_takes_from_one_that_is_not_read_again_is_refused(tmp_path: Path) -> None:
    folder, out = tmp_path / "tables", tmp_path / "out"
    folder.mkdir()
    options: dict[str, Any] = {"columns": {"text": "text"}, "ids": "id", "metadata_columns": ["year"], "update": True}
    write(folder / "a.jsonl", {"a": LINES})
    write(folder / "b.jsonl", {"b": LINES})
    for path in folder.iterdir():
        os.utime(path, (1e9, 1e9))
    ingest(folder, out, **options)
    write(folder / "b.jsonl", {"b": LINES, "a": LINES})
    with pytest.raises(ValueError, match=r"a document of .*a\.jsonl and one of .*b\.jsonl have the same id 'a'"):
        ingest(folder, out, **options)
    (folder / "a.jsonl").unlink()
    assert ingest(folder, out, **options).kept == 1  # The other document has a year now.


def test_a_source_without_any_id_of_before_is_refused_with_the_cost(tmp_path: Path) -> None:
    path, out = write(tmp_path / "in.jsonl", corpus_of(20)), tmp_path / "out"
    updated(path, out)
    before = contents(out)
    for other in ({f"other{name}": lines for name, lines in corpus_of(20).items()}, {}):
        write(path, other)
        said = rf"20 documents, .* none of their ids: .* cut and encode all {len(other)} documents \(0\.0 MB of text\)"
        with pytest.raises(ValueError, match=said):
            updated(path, out)
        assert contents(out) == before


def test_other_options_damage_and_a_run_without_digests_are_refused(tmp_path: Path) -> None:
    path, out = write(tmp_path / "in.jsonl", corpus_of(20)), tmp_path / "out"
    updated(path, out)
    write(path, corpus_of(21))
    with pytest.raises(ValueError, match=r"holds a different run: compression: was \"none\", is \"zstd\""):
        updated(path, out, compression="zstd")
    with pytest.raises(ValueError, match=r"holds a different run: .*update: was true, is not given"):
        ingest(path, out, columns={"text": "text"}, ids="id", metadata_columns=["year"], shard_bytes=9000, resume=True)
    shard = out / "_digests" / "part-000000.parquet"
    shard.write_bytes(shard.read_bytes()[:-1] + b"?")
    with pytest.raises(ValueError, match=r"its file of digests is damaged.*Restore it from a copy"):
        updated(path, out)
    ingest(path, tmp_path / "plain", columns={"text": "text"}, ids="id")
    with pytest.raises(ValueError, match=r"its first run had no --update .* pass it from the first run on"):
        ingest(path, tmp_path / "plain", columns={"text": "text"}, ids="id", update=True)


def test_an_update_goes_on_even_if_the_source_changed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, out = corpus_of(60), tmp_path / "out"
    updated(write(tmp_path / "in.jsonl", corpus), out)
    before = contents(out)
    path = write(tmp_path / "in.jsonl", edited(corpus, 2))

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(update, "_write_changes", interrupt)
        with pytest.raises(KeyboardInterrupt):
            updated(path, out)
    assert contents(out) == before
    assert update.beside(out).is_dir()
    path = write(tmp_path / "in.jsonl", edited(corpus, 4))
    updated(path, out)
    updated(path, tmp_path / "new")
    check_same_rows(out, tmp_path / "new")
    assert not update.beside(out).exists()


def test_without_an_exchange_of_folders_two_renames_do_and_a_kill_between_them_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, out = corpus_of(30), tmp_path / "out"
    monkeypatch.setattr(update, "exchange", lambda *_: False)
    updated(write(tmp_path / "in.jsonl", corpus), out)
    path = write(tmp_path / "in.jsonl", edited(corpus, 2))
    updated(path, out)
    wanted = contents(out)
    os.replace(out, tmp_path / ".out.before")
    assert updated(path, out).did_nothing
    assert contents(out) == wanted


def test_the_command_says_what_an_update_did(tmp_path: Path) -> None:
    command = ["ingest", str(tmp_path / "in.jsonl"), "--column", "text", "--ids", "id", "-o", str(tmp_path / "out")]
    for corpus, said in (
        ({"a": LINES, "b": LINES[:1]}, "2 documents"),
        ({"a": LINES, "b": LINES[:2]}, "1 document cut, 1 unchanged; chunks of documents that changed: 0 kept"),
        ({"a": LINES, "b": LINES[:2]}, "2 unchanged"),
    ):
        write(tmp_path / "in.jsonl", corpus)
        done = invoke([*command, "--update"])
        assert done.exit_code == 0, done.output
        assert said in " ".join(done.output.split())
    done = invoke([*command, "--shard-size", "3"])
    assert "--compression none,shard_size=MB" in " ".join(done.output.split())


@pytest.mark.parametrize("then", ["gone", "in another file", "there"])
def test_documents_that_moved_to_another_file_are_known_from_there(tmp_path: Path, then: str) -> None:
    source, out = tmp_path / "corpus", tmp_path / "out"
    source.mkdir()

    def rows(name: str, ids: str, time: float = 1.6e9) -> None:
        (source / name).write_text("".join(json.dumps({"id": each, "text": f"Cats {each}."}) + "\n" for each in ids))
        os.utime(source / name, (time, time))

    rows("one.jsonl", "abc")
    ingest(source, out, method="sentence", update=True)
    rows("one.jsonl", "ab", 1.61e9)
    rows("two.jsonl", "c")
    assert ingest(source, out, method="sentence", update=True).kept == 3
    if then != "there":
        (source / "two.jsonl").unlink()
    rows("three.jsonl", "cd" if then == "in another file" else "d")
    ingest(source, out, method="sentence", update=True)
    check_same_rows(out, ingest(source, tmp_path / "new", method="sentence", update=True).folder)
