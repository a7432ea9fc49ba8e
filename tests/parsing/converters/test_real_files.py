"""Real files keep their text, its order, and their headings, tables, lists and pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import real_files
from real_files import FILES, INSTALLED, Raw, files, letters

import pychunk
from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.io.kinds import KINDS
from pychunk.io.recognition import ending_of
from pychunk.parsing.converters import dispatch
from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.pdf.paged_text import Paged

FOLDERS = (*([Path(FILES)] if FILES else []), *INSTALLED)
READINGS: dict[str, tuple[str, Callable[[bytes], Raw]]] = {
    "docx": ("*.docx", real_files.docx),
    "pptx": ("*.pptx", real_files.pptx),
    "xlsx": ("*.xlsx *.xlsm", real_files.xlsx),
    "ods": ("*.ods", real_files.ods),
    "odt": ("*.odt", real_files.odt),
    "rtf": ("*.rtf", real_files.rtf),
    "notebook": ("*.ipynb", real_files.notebook),
    "epub": ("*.epub", real_files.epub),
    "mail": ("*.eml msg_*.txt", real_files.mail),
    "subtitles": ("*.srt *.vtt", real_files.subtitles),
    "json": ("*.json", real_files.json_text),
    "yaml": ("*.yaml *.yml", real_files.yaml),
    "toml": ("*.toml", real_files.toml),
    "xml": ("*.xml", real_files.xml),
    "rst": ("*.rst", real_files.structured_text),
    "tex": ("*.tex", real_files.tex),
    "code": ("*.py", real_files.python),
}
#: The kinds whose text is that of the file.
UNCHANGED = ("rst", "tex", "code")
CASES = [
    pytest.param(kind, path, id=f"{kind}-{path.name}")
    for kind, (names, _) in READINGS.items()
    for path in files(names, FOLDERS)
]


def converted(kind: str, path: Path) -> Paged:
    kind = "xlsx" if kind == "ods" else kind
    return dispatch.convert(dispatch.request(KINDS[kind].function, path.read_bytes(), ending_of(path.name, kind)))


def missing(pieces: list[str], text: str) -> list[str]:
    """Return the pieces that do not follow each other in a text."""
    found, at = [], 0
    for piece in pieces:
        place = text.find(piece, at)
        if place < 0:
            found.append(piece)
        else:
            at = place + len(piece)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "path"), CASES)
def test_a_real_file_keeps_its_text_and_its_structure(kind: str, path: Path) -> None:
    try:
        made = converted(kind, path)
    except ConversionError as error:
        pytest.skip(f"refused: {error}")
    raw = READINGS[kind][1](path.read_bytes())
    text = letters(made.text)
    assert missing(raw.pieces, text) == []
    assert [piece for piece in raw.loose if piece not in text] == []
    names = [BLOCK_KINDS[each] for each in made.blocks.kind.tolist()]
    spans = list(zip(names, made.blocks.start.tolist(), made.blocks.end.tolist(), strict=True))
    headings = "\n".join(letters(made.text[start:end]) for name, start, end in spans if name == "heading")
    assert missing(raw.headings, headings) == []
    assert names.count("table") >= raw.tables
    assert names.count("item") >= raw.items
    if raw.pages is not None:
        assert len(made.page_starts) == len(raw.pages)
        ends = [*made.page_starts.tolist()[1:], len(made.text)]
        for page, start, end in zip(raw.pages, made.page_starts.tolist(), ends, strict=False):
            own = letters(made.text[start:end])
            assert [piece for piece in page if piece not in own] == []
    if kind in UNCHANGED:
        assert made.text == real_files.decoded(path.read_bytes())
    chunks = pychunk.segment([made.text], "structure", size=200, columns={"blocks": made.blocks})
    assert [chunk.text for chunk in chunks] == [made.text[chunk.start : chunk.end] for chunk in chunks]
    assert letters("".join(chunk.text for chunk in chunks)) == text
