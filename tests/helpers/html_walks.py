"""A comparison of the core's and the reference's walk over a page of HTML, which must be equal."""

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from pychunk._engine import native as _native
from pychunk._engine.reference.parsing import html_walk
from pychunk.parsing.html import page as html
from pychunk.parsing.html.encodings import decode
from pychunk.parsing.html.html_guard import flattened, work_of


def native(written: str, images: bool = False, targets: bool = False) -> html_walk.HtmlDocument | None:
    found = _native.walk_html(np.frombuffer(written.encode(), np.uint8), images=images, targets=targets)
    return None if found is None else html.walked_from(found)


def check(page: str | bytes) -> bool:
    """Compare both walks over a page; return False if the native one leaves it to Python's."""
    text = page.replace("\0", "") if isinstance(page, str) else decode(page)[0]
    data = text.encode("utf-8", "replace")
    tree = LexborHTMLParser(flattened(data.decode()) if work_of(data).is_suspect else data)
    tree.strip_tags(["script", "style", "template"])
    rows = set()
    for images, targets in ((False, False), (True, False), (True, True)):
        found = native(tree.root.html, images, targets)
        slow = html_walk.walk(tree.root, images=images, targets=targets)
        if found is None:
            return False
        assert found.text == slow.text
        assert found.first_heading == slow.first_heading
        for one, other in zip((*found[1:5], *found.words), (*slow[1:5], *slow.words)):
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            assert one.tobytes() == other.tobytes()
        rows |= {len(found.rows)} if images else set()
    assert len(rows) == 1  # targets change no block
    return True
