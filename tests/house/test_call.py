"""One call of segment() enters only a few modules, as a profile shows."""

import sys
from pathlib import Path
from types import FrameType

import pychunk

PACKAGE = Path(pychunk.__file__).parent


def entered(texts: list[str]) -> set[Path]:
    found: set[Path] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            file = Path(frame.f_code.co_filename)
            if file.is_relative_to(PACKAGE):
                found.add(file.relative_to(PACKAGE))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        pychunk.segment(texts)
    finally:
        sys.setprofile(before)
    return found


def test_a_call_enters_few_rooms() -> None:
    texts = ["Cats purr. They sleep.\n\nDogs bark at night.", "Stars burn hydrogen."]
    pychunk.segment(texts)  # imports, models and the Segmenter are made once
    found = entered(texts)
    rooms = {file.parent for file in found}
    assert len(rooms) <= 8, sorted(map(str, rooms))
    assert len(found) <= 15, sorted(map(str, found))
