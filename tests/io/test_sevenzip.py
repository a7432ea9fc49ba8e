"""7z archives give the plain file's documents for all options; archives that cannot be unpacked are reported."""

import bz2
import io
import random
import sys
import threading
from pathlib import Path

import pytest
from amounts import amounts
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk.io import DeadLetter, open_source
from pychunk.io.decompression import sevenzip, streams

py7zr = pytest.importorskip("py7zr")
properties = pytest.importorskip("py7zr.properties")

PAGES = 4000
BODY = "Cats purr. Dogs bark at {}, and nobody knows why they do so.\n"


#: The unpacked content is the same; the strongest level, the default, takes 600 MB for each archive that it makes.
WEAK = {"preset": 1}


def packed(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with py7zr.SevenZipFile(out, "w", filters=[{"id": py7zr.FILTER_LZMA2, **WEAK}]) as archive:
        for name, data in members.items():
            archive.writestr(data, name)
    return out.getvalue()


def dump() -> bytes:
    pages = "".join(
        f"<page><title>T{i}</title><ns>0</ns><id>{i}</id><revision><id>1</id><text>{BODY.format(i) * 10}</text>"
        "</revision></page>\n"
        for i in range(PAGES)
    )
    return f"<mediawiki>\n{pages}</mediawiki>\n".encode()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dump") / "enwiki-pages-articles.xml.7z"
    path.write_bytes(packed({"enwiki-pages-articles.xml": dump()}))
    return path


@pytest.mark.slow
def test_a_dump_gives_the_articles_of_the_plain_file(tmp_path: Path, archive: Path) -> None:
    plain = tmp_path / "plain.xml"
    plain.write_bytes(dump())
    source = open_source(archive)
    assert source.kind == "mediawiki"
    found = list(source)
    assert [row for batch in found for row in batch.table.drop_columns("file").to_pylist()] == [
        row for batch in open_source(plain) for row in batch.table.drop_columns("file").to_pylist()
    ]
    assert sum(len(batch) for batch in found) == PAGES
    assert list(source) == found
    assert found[-1].bytes_read <= source.total_bytes == archive.stat().st_size


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(data=st.binary(max_size=5000).flatmap(lambda part: st.integers(1, 900).map(lambda times: part * times)))
def test_any_bytes_come_back(data: bytes) -> None:
    found = list(sevenzip.blocks(io.BytesIO(packed({"any": data})), 1 << 16))
    assert b"".join(block.data for block in found) == data
    assert all(len(block.data) <= 1 << 16 for block in found)


@pytest.mark.slow
def test_no_more_is_read_than_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.7z"
    path.write_bytes(packed({"a": random.Random(0).randbytes(2 << 20)}))
    before = threading.active_count()
    with open(path, "rb") as file:
        blocks = sevenzip.blocks(file, 1000)
        assert 0 < next(blocks).bytes_read < 1 << 20
        assert threading.active_count() == before
        blocks.close()
        assert not file.closed


METHODS = ("LZMA2", "LZMA", "ZSTD", "DEFLATE", "DEFLATE64", "BZIP2", "BROTLI", "COPY")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "method"),
    [(first, method) for first in (None, "X86", "ARM") for method in METHODS if not first or method != "COPY"],
)
@pytest.mark.parametrize("size", amounts(1 << 16, 1 << 20))
def test_every_method_gives_the_file(method: str, first: str | None, size: int) -> None:
    """The contents are some blocks, one, one and a byte, two equal ones, and a byte."""
    drawn = random.Random(1)
    words = [drawn.randbytes(drawn.randint(1, 9)) for _ in range(500)]
    data = b"".join(drawn.choices(words, k=size * 3 // 10)) + bytes(3 * size) + drawn.randbytes(size // 10)
    filters: list[dict[str, object]] = [
        {"id": getattr(properties, f"FILTER_{name}")} for name in (first, method) if name
    ]
    filters[-1] |= {"LZMA": WEAK, "LZMA2": WEAK, "BROTLI": {"level": 3}}.get(method, {})
    for part in (data, data[:size], data[: size + 1], bytes(2 * size), b"a"):
        out = io.BytesIO()
        with py7zr.SevenZipFile(out, "w", filters=filters) as archive:
            archive.writestr(part, "any")
        found = list(sevenzip.blocks(out, size))
        assert b"".join(block.data for block in found) == part
        assert max(len(block.data) for block in found) <= size


def test_a_checksum_that_does_not_fit_is_told() -> None:
    out = io.BytesIO()
    with py7zr.SevenZipFile(out, "w", filters=[{"id": properties.FILTER_COPY}]) as archive:
        archive.writestr(b"cats and dogs", "any")
    data = out.getvalue().replace(b"cats", b"bats")
    letters: list[DeadLetter] = []
    list(streams.blocks(io.BytesIO(data), "a.7z", letters.append))
    assert [letter.reason for letter in letters] == [
        "cannot be read further: the archive is damaged: the file's checksum does not match; get it again"
    ]


def test_ppmd_is_refused() -> None:
    """The package pyppmd 1.3 crashes with a segmentation fault for about half of ordinary archives of 5 MB."""
    out = io.BytesIO()
    with py7zr.SevenZipFile(out, "w", filters=[{"id": properties.FILTER_PPMD, "order": 6, "mem": 24}]) as archive:
        archive.writestr(b"cats and dogs", "any")
    with pytest.raises(OSError, match=r"PPMd.*7z x -so"):
        list(sevenzip.blocks(out, 1000))


def damaged(data: bytes) -> bytes:
    at = 2000
    return data[:at] + bytes(255 - byte for byte in data[at : at + 500]) + data[at + 500 :]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (damaged(packed({"a": bytes(range(256)) * 999 + dump()})), "Error"),
        (packed({"a": dump()})[:-30], ""),
        (packed({"a": b"one", "b": b"two"}), "holds 2 files, not one"),
        (packed({}), "holds 0 files, not one"),
        (b"7z\xbc\xaf\x27\x1c and nothing more", ""),
    ],
    ids=["damaged", "cut off", "two files", "no file", "a head alone"],
)
def test_what_cannot_be_unpacked_is_told(data: bytes, reason: str) -> None:
    letters: list[DeadLetter] = []
    found = list(streams.blocks(io.BytesIO(data), "a.7z", letters.append))
    assert len(letters) == 1
    assert letters[0].reason.startswith("cannot be read further: ")
    assert reason in letters[0].reason
    assert found[-1].gap


@pytest.mark.slow
def test_a_letter_names_about_the_place_of_the_damage() -> None:
    drawn = random.Random(0).randbytes(5 << 19)
    data = packed({"a": drawn})
    at = 2 << 20
    letters: list[DeadLetter] = []
    found = list(streams.blocks(io.BytesIO(data[:at] + bytes(1000) + data[at + 1000 :]), "a.7z", letters.append))
    assert int(letters[0].position.rpartition(" ")[2]) > 1 << 20
    assert found[-1].bytes_read >= found[-2].bytes_read


@pytest.mark.slow
def test_of_two_compressions_one_is_read(tmp_path: Path) -> None:
    (tmp_path / "dump.xml.7z").write_bytes(packed({"dump.xml": dump()}))
    (tmp_path / "dump.xml.bz2").write_bytes(bz2.compress(dump()))
    source = open_source(tmp_path)
    assert [Path(file.path).name for file in source.files] == ["dump.xml.bz2"]
    assert [Path(name).name for name in source.ignored] == ["dump.xml.7z"]


def test_a_stream_is_refused() -> None:
    class Stream(io.BytesIO):
        def seekable(self) -> bool:
            return False

    with pytest.raises(OSError, match="7z x -so"):
        next(sevenzip.blocks(Stream(packed({"a": b"x"})), 10))


def test_without_py7zr_the_extra_is_named(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py7zr", None)
    with pytest.raises(ImportError, match=r"pychunk-native\[7z\]"):
        list(open_source(archive))
