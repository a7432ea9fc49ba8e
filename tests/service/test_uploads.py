"""Files in bodies: the same chunks as of files that pychunk reads from a disk."""

import json
import zlib

import pytest

import pychunk

pytest.importorskip("msgspec")
pytest.importorskip("multipart")

from service_calls import called, rounded

from pychunk.service import segmentation
from pychunk.service.settings import Settings

FILES = {
    "cats.md": b"# Cats\n\nCats purr.\n\n## Sleep\n\nThey sleep.",
    "page.html": b"<html><body><h1>Dogs</h1><p>Dogs bark at night, and others answer them from afar.</p></body></html>",
    "rows.jsonl": b'{"id": "a", "text": "One. Two."}\n{"id": "b", "text": "Three."}\n',
    "notes": "Ümläute. Zwei Sätze.".encode(),
}


def form(files, **fields):
    """Return the arguments of a request with files as (name, content), and fields."""
    parts = [(f'name="{name}"', value.encode()) for name, value in fields.items()]
    parts += [(f'name="files"; filename="{name}"', content) for name, content in files]
    body = b"".join(
        b"--line\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (said.encode(), content)
        for said, content in parts
    )
    return {"content": body + b"--line--\r\n", "headers": {"Content-Type": "multipart/form-data; boundary=line"}}


def test_files_are_segmented_as_from_a_disk(settings, tmp_path):
    options = {"max_tokens": 50}
    upload = form([(f"C:\\docs\\{name}", content) for name, content in FILES.items()], options=json.dumps(options))
    answer = called(settings, ("POST", "/v1/segment", upload))[0]
    assert answer.status_code == 200, answer.text
    wanted = []
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
        batch = pychunk.read(tmp_path / name)
        ids = [name] if len(batch) == 1 else ["a", "b"]
        found = pychunk.segment(batch, ids=ids, **options)
        for id, chunks in zip(ids, found.by_document()):
            rows = [row for row in found.table.to_pylist() if row["document_index"] == chunks[0].document_index]
            wanted.append(
                {"id": id, "chunks": [{key: row[key] for key in row if key not in segmentation.NESTED} for row in rows]}
            )
    assert rounded(answer.json()["documents"]) == rounded(json.loads(json.dumps(wanted)))
    assert answer.json()["errors"] == []
    assert answer.json()["metadata"]["options"]["max_tokens"] == 50


def test_files_that_cannot_be_read_are_named(settings):
    bad = {
        "data.bin": bytes(range(256)),
        "broken.pdf": b"%PDF-1.7 and no more",
        "latin.txt": b"caf\xe9",
        "..": b"Fine.",
    }
    answer = called(settings, ("POST", "/v1/segment", form(bad.items())))[0].json()
    assert {each["file"] for each in answer["errors"]} >= {"data.bin", "broken.pdf", "latin.txt"}
    assert [each["id"] for each in answer["documents"]] == ["file"]
    assert "pychunk-serve-" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (form([]), "has no file"),
        (form([], other="x"), "the part 'other' is no file: give it a file name, or the name options"),
        (form(FILES.items(), options="{"), "the part options: "),
        (form(FILES.items(), options='{"sise": 1}'), "unknown option 'sise'"),
        (form(FILES.items(), options='{"method": "no"}'), "unknown method 'no'"),
        (form([("a", b"x")] * 200), "no form of at most 128 files"),
        ({**form(FILES.items()), "content": b"--line\r\nno"}, "no form"),
        ({"content": b"x", "headers": {"Content-Type": "multipart/form-data"}}, "no form"),
    ],
)
def test_wrong_forms_are_422(settings, request_, message):
    answer = called(settings, ("POST", "/v1/segment", request_))[0]
    assert answer.status_code == 422
    assert message in answer.json()["error"]["message"]


def test_an_archive_of_zeros_is_bounded(settings):
    small = Settings(counters=settings.counters, max_bytes=1_000_000)
    packed = zlib.compressobj(wbits=31)
    bomb = packed.compress(bytes(1 << 28)) + packed.flush()
    answer = called(small, ("POST", "/v1/segment", form([("bomb.txt.gz", bomb)])))[0]
    assert answer.status_code in (200, 413)
    assert len(answer.content) < 16_000_000
