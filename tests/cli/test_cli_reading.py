"""The command line's input: several kinds of files, encodings, and unreadable files."""

import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_files import rows_of
from command_line import invoke


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    result = invoke(["segment", *arguments, "-m", "sentence", "-o", str(folder / "out.jsonl"), "--overwrite"])
    return result.exit_code, result.output


def test_what_cannot_be_read_is_named_by_file_and_line_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        b'{"text": "One."}\n{broken\n{"text": "\xff"}\nnull\n{"text": null}\n{"text": 5}\n{"text": "Two."}\n'
    )
    status, said = run(tmp_path, str(path))
    assert (status, f"{path}, line 2: expected a key" in said) == (2, True)
    status, said = run(tmp_path, str(path), "--on-error", "skip")
    assert status == 0
    assert [int(line) for line in re.findall(rf"skipped {path}, line (\d+): ", said)] == [2, 3, 4, 5, 6]
    assert "5 skipped" in said
    assert [row["text"] for row in rows_of(tmp_path / "out.jsonl")] == ["One.", "Two."]


def test_a_row_that_is_no_text_is_named_with_the_remedy(tmp_path: Path) -> None:
    table = pa.table({"text": pa.array([b"One.", b"no\xff", None], pa.binary())})
    pq.write_table(table, path := tmp_path / "in.parquet")
    status, said = run(tmp_path, str(path), "--column", "text")
    assert status == 2
    assert f"{path}, row 2: invalid UTF-8 at byte 2; fix it, or pass --on-error skip" in said
    status, said = run(tmp_path, str(path), "--column", "text", "--on-error", "skip")
    assert (status, f"skipped {path}, row 2: invalid UTF-8 at byte 2" in said) == (0, True)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"%PDF-1.7\n%\xe2\xe3", "a PDF, not text"),
        ("a.md", b"PK\x03\x04\x14\0", "a ZIP archive"),
        ("a.txt", "text".encode("utf-16"), "UTF-16"),
        ("a.txt", "text".encode("utf-16-le"), "UTF-16"),
        ("a.txt", b"fine, but \xff", "invalid UTF-8 at byte 10"),
    ],
)
def test_what_is_no_text_is_called_what_it_is(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "b.txt").write_text("One.")
    status, said = run(tmp_path, str(tmp_path / name), str(tmp_path / "b.txt"))
    assert (status, message in said, str(tmp_path / name) in said) == (2, True, True)
    status, said = run(tmp_path, str(tmp_path / name), str(tmp_path / "b.txt"), "--on-error", "skip")
    assert (status, message in said) == (0, True)
    assert [row["text"] for row in rows_of(tmp_path / "out.jsonl")] == ["One."]


def test_a_text_in_another_encoding_is_told_of_the_option(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Café.".encode("latin-1"))
    status, said = run(tmp_path, str(path))
    advice = "it may be cp1252, which is a guess: pass --reader encoding=cp1252; fix it, or pass --on-error skip"
    assert (status, advice in " ".join(said.split())) == (2, True)
    status, said = run(tmp_path, str(path), "--reader", "encoding=cp1252")
    assert [row["text"] for row in rows_of(tmp_path / "out.jsonl")] == ["Café."]


@pytest.mark.parametrize(
    ("name", "text", "encoding"),
    [
        ("a.txt", "“Quoted” – it costs 5 €… done.\n", "cp1252"),
        ("a.md", "Все счастливые семьи похожи друг на друга, каждая несчастливая семья", "koi8_u"),
        ("a.txt", "北京是中国的首都，有很多人住在那里。这是一个测试，看看能不能猜出来。", "gb18030"),
        ("a.txt", "東京は日本の首都であり、多くの人が住んでいます。", "cp932"),
        ("a.csv", "id,text\n1,Müßig – “so”\n", "cp1252"),
        ("a.jsonl", '{"text": "Где оборванец-жид, боль моя, где ты, старый знакомый?"}\n', "cp1251"),
        ("a.csv", "id,text\n1,Hello there.\n", "utf-16"),
        ("a.jsonl", '{"text": "Hello there."}\n', "utf-16-le"),
        ("a.txt", "Привіт, світе! Як справи?", "utf-16-be"),
        ("a.txt", "Hello there.", "utf-32-le"),
    ],
)
def test_the_advice_names_the_encoding_by_a_guess(tmp_path: Path, name: str, text: str, encoding: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    status, said = run(tmp_path, str(path))
    assert (status, f"pass --reader encoding={encoding};" in " ".join(said.split())) == (2, True), said
    assert ("a guess" in said) == (not encoding.startswith("utf"))
    status, said = run(tmp_path, str(path), "--reader", f"encoding={encoding}")
    assert status == 0, said
    assert next(row["text"] for row in rows_of(tmp_path / "out.jsonl")).strip() in text


def test_latin_1_that_is_windows_1252_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("“Quoted” – it costs 5 €".encode("cp1252"))
    status, said = run(tmp_path, str(tmp_path / "a.txt"), "--reader", "encoding=latin-1")
    assert status == 0
    assert "byte 0x93 is a control character in latin-1" in said
    assert "pass --reader encoding=cp1252" in said


@pytest.mark.parametrize(
    "data", [random.Random(5).randbytes(500), b"\x7fOOP\0\x9c\x01\x02" * 9, "é ".encode() * 9 + b"\xff"]
)
def test_no_encoding_is_advised_of_what_has_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bin.txt").write_bytes(data)
    status, said = run(tmp_path, str(tmp_path / "bin.txt"))
    assert (status, "encoding=" in said) == (2, False), said


def test_a_folder_is_read_file_by_file_whatever_their_kinds(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("One.")
    (folder / "sub" / "b.jsonl").write_text('{"text": "Two.", "id": "007"}\n')
    (folder / "c.csv").write_text("id,text\n1,Three.\n")
    (folder / "d.png").write_bytes(b"\x89PNG")
    status, said = run(tmp_path, str(folder))
    assert status == 0, said
    assert f"not read, because of an unknown or different kind: {folder / 'd.png'}" in said
    assert [(row["document_id"], row["text"]) for row in rows_of(tmp_path / "out.jsonl")] == [
        ("007", "Two."), ("1", "Three."), (str(folder / "a.md"), "One.")
    ]  # fmt: skip
    status, said = run(tmp_path, str(tmp_path / "nothing"))
    assert (status, "no such file, or a folder without files" in said) == (2, True)


def test_inputs_of_several_kinds_make_one_table(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("One.")
    (tmp_path / "b.jsonl").write_text('{"text": "Two.", "id": 7, "n": 1}\n')
    pq.write_table(pa.table({"text": ["Three."], "n": ["x"]}), tmp_path / "c.parquet")
    given = [str(tmp_path / name) for name in ("a.md", "b.jsonl", "c.parquet")]
    for ending in (".parquet", ".jsonl", ".arrow", ".csv"):
        output = tmp_path / f"out{ending}"
        done = invoke(["segment", *given, "--column", "text", "-m", "sentence", "-o", str(output)])
        assert done.exit_code == 0, done.output
        if ending != ".csv":
            found = [(row["document_id"], row["text"]) for row in rows_of(output)]
            assert found == [(given[0], "One."), ("7", "Two."), (f"{given[2]}#1", "Three.")]
    done = invoke(["segment", *given, "--column", "text", "--id-column", "key", "-o", str(tmp_path / "no.jsonl")])
    assert done.exit_code == 2
    assert f"{given[2]}: column 'key' is not there; the columns are text, n" in done.output
    assert not (tmp_path / "no.jsonl").exists()


def test_inputs_of_several_kinds_go_to_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Cats purr.")
    (tmp_path / "b.md").write_text("# Dogs\n\nThey bark.\n\n## Old\n\nThey sleep.")
    out = invoke(["segment", str(tmp_path / "a.txt"), str(tmp_path / "b.md"), "-o", str(tmp_path / "c.parquet")])
    assert out.exit_code == 0, out.output
    assert pq.read_table(tmp_path / "c.parquet")["path"].to_pylist() == [None, ["Dogs"]]
