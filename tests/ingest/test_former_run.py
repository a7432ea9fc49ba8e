"""A former run finds the unchanged documents by their digests, and the files that need not be read again."""

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from pychunk.ingest import ingest
from pychunk.ingest.former_run import FormerRun, digest_table
from pychunk.ingest.row_digests import digests_of, from_binary
from pychunk.ingest.run_manifest import Manifest
from pychunk.io import open_source


def documents(**columns: Any) -> pa.Table:
    return pa.table({"id": ["a", "b", "c"], "text": ["One.", "Two.", "Three."], **columns})


def test_a_document_that_failed_has_no_digest_and_is_never_unchanged(tmp_path: Path) -> None:
    given = documents(file=["x", "x", "y"])
    found = digests_of(given)
    table = digest_table(found, given, 5, [1])
    assert table["document_index"].to_pylist() == [5, 6, 7]
    assert table["text_bytes"].to_pylist() == [4, 4, 6]
    assert [digest is None for digest in table["digest"].to_pylist()] == [False, True, False]
    assert (from_binary(table["digest"].chunk(0)) == found.values).all(1).tolist() == [True, False, True]


def run_of(source: Path, out: Path, **options: Any) -> FormerRun:
    ingest(source, out, method="sentence", update=True, **options)
    manifest = Manifest.load(out)
    assert manifest is not None
    return FormerRun(out, manifest)


def test_documents_are_found_by_their_ids_and_unchanged_by_their_digests(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": f"d{i}", "text": f"One {i}. Two {i}."}) + "\n" for i in range(9)))
    former = run_of(path, tmp_path / "out", columns={"text": "text"}, ids="id")
    assert former.ids.to_pylist() == [f"d{i}" for i in range(9)]
    texts = pa.array(["One 8. Two 8.", "Other.", "One 3. Two 3."], pa.large_string())
    rows, same = former.find(digests_of(pa.table({"id": ["d8", "d1", "new"], "text": texts})))
    assert (rows.tolist(), same.tolist()) == ([8, 1, -1], [True, False, False])


def test_a_file_is_read_again_if_it_changed_or_is_young_or_had_a_dead_letter(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.txt", "young.txt", "broken.txt", "empty.jsonl"):
        (folder / name).write_bytes({"broken.txt": b"\xff\xfe\xfa", "empty.jsonl": b""}.get(name, b"Cats purr."))
        if name != "young.txt":
            os.utime(folder / name, (1e9, 1e9))
    former = run_of(folder, tmp_path / "out")
    assert len(former) == 4

    def unchanged() -> list[str]:
        source = open_source(folder, dead_letters=lambda _: None)
        return sorted(Path(path).name for path in former.unchanged_files(source))

    assert unchanged() == ["a.txt", "b.txt", "c.txt"]
    os.utime(folder / "b.txt", (1e9, 1e9 + 1))
    (folder / "c.txt").write_bytes(b"Cats purr. ")
    os.utime(folder / "c.txt", (1e9, 1e9))
    assert unchanged() == ["a.txt"]
    former._manifest.complete = False
    assert unchanged() == []


def test_a_dead_letter_of_a_file_that_is_not_read_leaves_the_others_alone(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a.txt", "b.bin"):
        (folder / name).write_bytes(b"Cats purr.")
        os.utime(folder / name, (1e9, 1e9))
    former = run_of(folder, tmp_path / "out", strict=True)
    assert b"b.bin" in (tmp_path / "out" / "_dead_letters.jsonl").read_bytes()
    assert former.unchanged_files(open_source(folder, dead_letters=print)) == {str(folder / "a.txt")}
