"""Files in the body of a request, read by pychunk's readers."""

from __future__ import annotations

import io
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..io.document_batches import DeadLetter, documents_of
from ..io.source import open_source
from ..segmenter import Segmenter
from .answer_size import check_size
from .request_error import RequestError
from .segmentation import Parts, body_of

#: The type of a body with files, and the most files that it may have.
FORM, MOST = "multipart/form-data", 128


@dataclass
class Upload:
    """The files of a request, each with its name, and the options as JSON."""

    files: list[tuple[str, bytes]]
    options: bytes


def upload_of(body: bytes, kind: str) -> Upload:
    """Return the files of a body, and the options in its part ``options``.

    ``kind`` is the header Content-Type, which says what separates the parts.

    Raises:
        RequestError: The body is no such form, another part is no file, or there are no or too many files.
    """
    try:
        from multipart import MultipartError, MultipartParser, parse_options_header
    except ImportError:
        raise RequestError(501, 'files need multipart: pip install "pychunk-native[serve]"') from None
    limits = {"spool_limit": len(body) + 1, "memory_limit": len(body) + 1, "part_limit": MOST + 1}
    upload = Upload([], b"{}")
    try:
        for part in MultipartParser(io.BytesIO(body), parse_options_header(kind)[1].get("boundary", ""), **limits):
            if part.filename:
                upload.files.append((_name(part.filename), part.raw))
            elif part.name == "options":
                upload.options = part.raw
            else:
                raise RequestError(
                    422, f"the part {part.name!r:.80} is no file: give it a file name, or the name options"
                )
    except (MultipartError, ValueError) as error:
        raise RequestError(422, f"the body is no form of at most {MOST} files: {error}") from None
    if not upload.files:
        raise RequestError(422, "the body has no file: send each in a part with a file name")
    return upload


def _name(said: str) -> str:
    """Return the last part of a file's name, by which its kind is known."""
    name = said.replace("\\", "/").rpartition("/")[2].replace("\0", "")
    return name if name.strip(".") else "file"


def segmented_files(files: list[tuple[str, bytes]], segmenter: Segmenter, most: int) -> bytes:
    """Return the answer with the chunks of all documents of files, and the reasons for what cannot be read.

    The id of a document is the name of its file; rows of a table have ids of their own. ``most`` is the number of bytes
    that the answer may have.
    """
    documents: list[list[bytes]] = []
    errors: list[dict[str, Any]] = []
    metadata, chunks = b"{}", 0
    with tempfile.TemporaryDirectory(prefix="pychunk-serve-") as folder:
        for number, (name, content) in enumerate(files):
            path = Path(folder, str(number), name)
            path.parent.mkdir()
            path.write_bytes(content)
            own, letters = f"{path.parent}/", list[DeadLetter]()
            try:
                for batch in open_source(path, dead_letters=letters.append).batches():
                    ids = pc.replace_substring(batch.table["id"].cast(pa.string()), own, "")
                    place = batch.table.column_names.index("id")
                    found = segmenter(documents_of(batch.table.set_column(place, "id", ids)))
                    chunks += len(found)
                    check_size(chunks, [], most)
                    parts = Parts(found)
                    documents += parts.documents(ids.to_pylist(), range(found.documents))
                    metadata = parts.metadata
                    errors += [{"file": name, "reason": f"row {error.row}: {error.reason}"} for error in found.errors]
            except (ValueError, OSError, ImportError) as error:
                letters.append(DeadLetter(name, "", str(error)))
            for letter in letters:
                reason = ": ".join(each for each in (letter.position, letter.reason) if each)
                errors.append({"file": name, "reason": reason.replace(own, "")})
    return body_of(documents, errors, metadata)
