"""The conversion of HTML to Markdown, blocks, and facts for noise detection, on lexbor's tree (extra ``docs``)."""

from __future__ import annotations

import contextlib
import json
import pickle
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._engine import native
from ..._engine.data.blocks import Blocks
from ..._engine.data.html_document import HtmlDocument
from ..._engine.data.html_tags import word_hash, words_of
from ..._engine.data.ragged import Ragged, offsets_of
from ..._engine.engine import backend_name, engine, walk_tree
from ..._util.worker_process import WorkerProcess
from . import html_guard
from .encodings import decode, is_utf8
from .html_facts import HtmlFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


@dataclass(frozen=True)
class HtmlPage:
    """A page that was read.

    Attributes:
        text: Markdown of everything that the page shows: headings ``#``, lists ``-`` and ``1.``, tables as rows with
            bars, fenced code, quotes ``>``. The text of paragraphs is not escaped; only bars in tables are.
        blocks: The blocks of the page, with positions in ``text``.
        facts: The facts by which noise is detected.
        title: The title in the page's head, else its first heading of level 1, else "".
        encoding: The character encoding with which the bytes were decoded.
    """

    text: str
    blocks: Blocks
    facts: HtmlFacts
    title: str
    encoding: str


def parse_html(data: bytes | str, *, images: bool = False, targets: bool = False) -> HtmlPage:
    r"""Convert a page to Markdown and blocks.

    Text that the page hides, or shows only without scripts, is included and marked (``facts.hidden``). Text of scripts,
    styles, templates, frames and media is not included. Nothing is fetched. Time and memory are proportional to the
    size of any page (see ``html_guard``). A page of at least 8 MB or 50,000 nodes is read in a separate process, with
    the same result.

    Args:
        data: The page; :func:`pychunk.parsing.html.encodings.decode` turns bytes into text.
        images: Whether an image by itself becomes a block, ``[image: its alternative text]``, if that text has three
            words or more. An image that is a heading or a whole table cell is always replaced by its alternative text.
        targets: Whether links outside headings are written with their targets, as ``[text](target)``.

    Raises:
        ImportError: selectolax is not installed.
        WorkError: The page has too many nodes; the message names the limit.
        ProcessKilledError: The process that read a large page ended, or took too long.

    Example:
        >>> page = parse_html("<title>T</title><h1>One</h1><p>Two <b>th</b>ree<ul><li>four</ul>")
        >>> page.text, page.title
        ('# One\n\nTwo three\n\n- four\n', 'T')
    """
    markup = markup_of(data)
    read = _parse_apart if markup.work.is_large else parse_markup
    return read(markup, images, targets)


class Markup(NamedTuple):
    """The markup of a page in UTF-8, the character encoding of the original bytes, and the work of parsing the page."""

    page: bytes
    encoding: str
    work: html_guard.Work


def markup_of(data: bytes | str) -> Markup:
    """Return the markup of a page.

    Raises:
        ImportError: selectolax is not installed.
        WorkError: The page has too many nodes; the message names the limit.

    Example:
        >>> markup_of("<p>One".encode("utf-16"))
        Markup(page=b'<p>One', encoding='utf-16-le', work=Work(size=6, nodes=1, steps=1, is_suspect=False))
    """
    try:
        import selectolax.lexbor  # noqa: F401  # only whether it is installed counts here
    except ImportError as error:
        raise ImportError('reading HTML needs selectolax: pip install "pychunk-native[docs]"') from error
    if isinstance(data, bytes) and is_utf8(data):
        page, encoding = data, "utf-8"
    else:
        text, encoding = (data.replace("\0", ""), "") if isinstance(data, str) else decode(data)
        page = text.encode("utf-8", "replace")
    work = html_guard.work_of(page)
    work.check()
    return Markup(page, encoding, work)


def _parse_apart(markup: Markup, images: bool, targets: bool) -> HtmlPage:
    """Parse a page in a separate process."""
    function = f"{__name__}:{_parse_packed.__name__}"
    isolated = WorkerProcess(function, seconds=html_guard.SECONDS, memory=html_guard.MEMORY)
    with contextlib.closing(isolated):
        found: HtmlPage = isolated(pickle.dumps((markup, images, targets)))
    return found


def _parse_packed(data: bytes) -> HtmlPage:
    """Parse a page from pickled markup and options."""
    return parse_markup(*pickle.loads(data))


def parse_markup(markup: Markup, images: bool = False, targets: bool = False) -> HtmlPage:
    """Parse a page in this process; for the options see :func:`parse_html`."""
    page = markup.page
    if markup.work.is_suspect:
        page = html_guard.flattened(page.decode()).encode()
        html_guard.work_of(page)._replace(is_suspect=True).check()
    places = _places(page[:_TYPED_WITHIN], (_KIND, *_BODIES, _FORMULA))
    tree = _tree(page, bool(places[-1]))
    metas = _metas(tree)
    about = _about(metas, tree, page, places[0])
    found = tree.css_first("head > title") or tree.css_first("title")
    title = " ".join(found.text().split()) if found is not None else ""
    written = tree.root.html if tree.root is not None and backend_name() == "native" else None
    found = tree = None  # the tree takes 320 bytes a node, so it is freed before the result is made
    walked = None if written is None else _walked(written, images, targets)
    if walked is None:  # the backend is not the native one, or the page is not regular
        walked = walk_tree(_tree(page, bool(places[-1])).root, images=images, targets=targets)
    return _page(walked, about, _told(metas, page, places[1:-1]), title or walked.first_heading, markup.encoding)


def _tree(page: bytes, has_formulas: bool) -> Any:
    """Return lexbor's tree of a page without scripts; formulas that are in scripts become elements ``math``."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(page)
    if has_formulas:
        show_formulas(tree)
    tree.strip_tags(["script", "style", "template"])
    return tree


#: An element that closes itself, of a name that has an end tag in HTML.
_SELF_CLOSED = re.compile(
    rb"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)([A-Za-z][\w.:-]*)([^<>]*)/>"
)


def with_end_tags(page: bytes) -> bytes:
    """Return a page of XHTML with an end tag for each element that closes itself, which HTML would leave open.

    Example:
        >>> with_end_tags(b'<head><title/></head><a id="x"/>One<br/>')
        b'<head><title></title></head><a id="x"></a>One<br/>'
    """
    return _SELF_CLOSED.sub(rb"<\1\2></\1>", page)


def show_formulas(tree: Any) -> None:
    """Replace each script that holds a MathJax formula (type ``math/tex``), and its preview, by an element ``math``."""
    from selectolax.lexbor import LexborHTMLParser

    scripts = tree.css('script[type^="math/tex"]')
    written = "".join(
        f'<math alttext="{escape(script.text())}" display="{"block" if "display" in kind else "inline"}"></math>'
        for script in scripts
        for kind in [script.attributes.get("type") or ""]
    )
    for script, formula in zip(scripts, LexborHTMLParser(written).css("math"), strict=True):
        for _ in range(2):
            before = script.prev
            if before is None or not (before.attributes.get("class") or "").startswith("MathJax"):
                break
            before.decompose()
        script.replace_with(formula)


def _walked(written: str, images: bool, targets: bool) -> HtmlDocument | None:
    """Return what the native core reads from lexbor's serialized tree; None if the page is too irregular for it."""
    found = native.walk_html(
        np.frombuffer(written.encode("utf-8", "replace"), np.uint8), images=images, targets=targets
    )
    return walked_from(found) if found else None


def walked_from(found: tuple[Any, ...]) -> HtmlDocument:
    """Return the native core's result as a named structure."""
    text, rows, facts, parent, last, words, offsets, heading = found
    return HtmlDocument(text, rows, facts, parent, last, Ragged(words, offsets), heading)


def _page(walked: HtmlDocument, about: list[str], told: str, title: str, encoding: str) -> HtmlPage:
    rows, facts, words = walked.rows, walked.facts, walked.words
    blocks = Blocks(
        offsets_of([len(rows)]), rows[:, 0].astype(np.int8), rows[:, 1].astype(np.int16), rows[:, 2].copy(),
        rows[:, 3].copy()
    )  # fmt: skip
    has = [known for name, known in _HAS.items() if (words.values == name).any()]
    return HtmlPage(
        walked.text,
        blocks,
        HtmlFacts(
            facts[:, 0].copy(),
            facts[:, 1].copy(),
            facts[:, 2].copy(),
            np.minimum(facts[:, 3], _DEPTH).astype(np.int16),
            facts[:, 4].astype(bool),
            _is_told(told, walked.text, blocks),
            walked.parent,
            walked.last,
            _depths(walked.last),
            words,
            np.array(sorted({*(word_hash(word) for word in about), *has}), np.uint32),
        ),
        title,
        encoding,
    )


_DEPTH = 32767


def _depths(last: npt.NDArray[np.int32]) -> npt.NDArray[np.int16]:
    """Return the number of elements around each element; ``last`` is one past the last row inside each."""
    steps = np.ones(len(last) + 1, np.int64)
    steps -= np.bincount(last, minlength=len(last) + 1)
    depth = np.cumsum(steps[:-1]) - 1
    return np.minimum(depth, _DEPTH).astype(np.int16)


#: The key with which pages declare their types in JSON. It is searched in the first ``_TYPED_WITHIN`` bytes of a page.
_KIND = b'"@type"'
#: The beginning of the type of MathJax's scripts.
_FORMULA = b'"math/tex'
_TYPE = re.compile(rb'\s*:\s*"(\w{3,40})"')
_TYPED_WITHIN = 4 << 20
_TAG = re.compile(r"<[^>]{0,200}>")


#: The keys of texts for search engines, which pages hold in JSON.
_NO_WORD = re.compile(r"[\W_]+")
_BODIES = (b'"articleBody"', b'"reviewBody"', b'"description"', b'"text"')
_BODY_BEGINS = re.compile(rb"\s*:\s*(?=\")")
_BODY = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_ESCAPED = re.compile(rb"\\.")
#: The minimum and maximum number of characters of such a text; an escape sequence counts as one character.
_SHORTEST, _LONGEST = 60, 20_000
_TRIES = 500
#: Limits of the comparison of blocks with these texts: the most characters of all texts, the most blocks of a page, and
#: the least and the most letters and digits at the beginning of a block that are compared. Texts and blocks of fewer
#: characters than the most are not compared.
_TOLD, _TOLD_BLOCKS, _TOLD_LEAST, _TOLD_BY = 50_000, 4000, 25, 40


def _told(metas: dict[str, str], page: bytes, places: Sequence[Sequence[int]]) -> str:
    """Return the letters and digits of a page's text for search engines: description, articles and reviews."""
    texts = [metas.get("description", ""), metas.get("og:description", "")]
    size = tries = 0
    for key, starts in zip(_BODIES, places, strict=True):
        end = 0
        for at in starts:
            if at < end:  # a quote that ends one key does not begin another
                continue
            end = at + len(key)
            if size > _TOLD or tries == _TRIES:
                break
            tries += 1
            if body := _body(page, at + len(key)):
                try:
                    texts.append(_TAG.sub(" ", json.loads(body, strict=False)))
                    size += len(texts[-1])
                except ValueError:
                    pass
    return "|".join(_bare(text) for text in texts if len(text) >= _TOLD_BY)[:_TOLD]


def _is_told(told: str, text: str, blocks: Blocks) -> npt.NDArray[np.bool_]:
    """Return bool[b]: whether a block begins as one of a page's texts for search engines."""
    if not told or len(blocks.kind) > _TOLD_BLOCKS:
        return np.zeros(len(blocks.kind), bool)
    page, wanted = (np.frombuffer(each.encode("utf-8", "replace"), np.uint8) for each in (text, told))
    found = engine().find_told(page, blocks.start, blocks.end, wanted, least=_TOLD_LEAST, most=_TOLD_BY)
    for row in np.flatnonzero(found > 1).tolist():  # blocks of other letters than Latin ones
        start = int(blocks.start[row])
        bare = _bare(text[start : min(int(blocks.end[row]), start + 3 * _TOLD_BY)])[:_TOLD_BY]
        found[row] = len(bare) >= _TOLD_LEAST and bare in told
    return found.view(bool)


def _body(page: bytes, at: int) -> bytes:
    """Return the JSON string that is the value of the key that ends at ``at``; empty if it is too short or too long."""
    begins = _BODY_BEGINS.match(page, at)
    found = _BODY.match(page, begins.end(), begins.end() + 2 * _LONGEST + 2) if begins else None
    if not found or len(found[0]) < _SHORTEST + 2:
        return b""
    size = len(found[0]) - 2 - (len(_ESCAPED.findall(found[0])) if b"\\" in found[0] else 0)
    return found[0] if _SHORTEST <= size <= _LONGEST else b""


def _places(page: bytes, keys: Sequence[bytes]) -> list[list[int]]:
    """Return a list of positions for each key; a key begins with a quote."""
    return engine().find_keys(np.frombuffer(page, np.uint8), list(keys))


_SMALL = bytes(range(256)).lower()
_NO_LETTERS = bytes(byte for byte in range(128) if not chr(byte).isalnum())


def _bare(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    if text.isascii():  # takes an eighth of the time of the general case
        return text.encode().translate(_SMALL, _NO_LETTERS).decode()
    return _NO_WORD.sub("", text).lower()


def _about(metas: dict[str, str], tree: Any, page: bytes, kinds: Sequence[int]) -> list[str]:
    """Return words for a page's declarations about itself: ``og:type``, schema.org types, generator, <body> names."""
    found_kinds, end = set(), 0
    for at in kinds:
        if at >= end and (kind := _TYPE.match(page, at + len(_KIND), _TYPED_WITHIN)):
            found_kinds.add(kind[1])
            end = kind.end()
    words = [f"@{kind.decode('ascii', 'replace').lower()}" for kind in found_kinds]
    words += [f"og:{word}" for word in words_of(metas.get("og:type", ""))[:4]]
    words += [f"by:{word}" for word in words_of(metas.get("generator", ""))[:4]]
    for top in (tree.root, tree.body):
        if top is not None and (found := top.attributes):
            words += [f"body:{word}" for word in words_of(f"{found.get('class') or ''} {found.get('id') or ''}")]
    return words


def _metas(tree: Any) -> dict[str, str]:
    """Return the metadata in the head by name; of several with one name, the first counts."""
    found: dict[str, str] = {}
    node = None if tree.head is None else tree.head.first_child
    while node is not None:
        if node.tag == "meta":
            attributes = node.attributes
            name = attributes.get("property") or attributes.get("name")
            if name and (content := attributes.get("content")):
                found.setdefault(name.lower(), content)
        node = node.next
    return found


#: Elements whose presence in a page is a feature: the hash of the element's name, and the hash of the feature.
_HAS = {word_hash("<" + name): word_hash("has:" + name) for name in ("main", "article", "h1")}
