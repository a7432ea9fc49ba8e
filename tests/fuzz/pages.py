"""Pages of random nestings at two sizes: work and memory stay in proportion, and no word is lost.

A page is a head, and a body of tags, attributes, comments, drawings, formulas and words that the page repeats many
times.

These properties hold. A page is a document, or a dead letter. A page of four times the bytes takes at most ten times
the CPU time, and memory in proportion to its nodes. A flattened page has the same words as the unflattened one. A long
page has those of a short one, as many times as it is longer.
"""

from __future__ import annotations

import contextlib
import random
import re
import resource
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pychunk.io.decompression.bzip2 import Block
from pychunk.io.document_batches import DeadLetter
from pychunk.io.formats import html_files
from pychunk.parsing.html import html_guard
from pychunk.parsing.html import page as html

WORDS = ("wolf", "река", "pike", "eel", "heron")
_WORD = re.compile("|".join(WORDS))
BLOCKS = "div p ul ol li dl dt dd blockquote h2 pre section details summary table tr td th caption form center"
INLINE = "a b i em code font span sup sub nobr label ruby rt x x-y x# x-#"
HIDDEN = "script style template noscript textarea iframe object"
FOREIGN = (
    "<svg>",
    "</svg>",
    "<g>",
    "</g>",
    "<svg/>",
    "<foreignObject>",
    "</foreignObject>",
    "<math>",
    "</math>",
    "<mi>",
    "</mi>",
    "<math/>",
)
ATTRIBUTES = (" a", " class=b", " id=c#", " d#", ' e="</div>"', " f='<p>'", " hidden", " g=/", " style='color:red'")
OTHERS = ("<!-- x -->", "<!--x--!>", "<!-->", "<!>", "<?x?>", "</zz>", "</p>", "<br>", "<hr>", "<img alt=x>", "<input>",
          "&amp;", "< ", "</ x>", "<![CDATA[x]]>")  # fmt: skip
#: The bytes of the smaller page, and the factor of the larger one.
BYTES, TIMES = 200_000, 4
#: The nodes of a page whose parts cost most when it is flattened, with microseconds for each. The largest ratio of
#: seconds, of which a quadratic page has 16. The bytes for each node, and for each byte.
LONGEST, RATIO, NODE_BYTES, BYTE_BYTES = 60_000, 10, 1200, 60
_SECONDS, _SLACK = 0.2, 64 << 20


class Case(NamedTuple):
    """Pieces that occur once, and pieces that are repeated; ``#`` is the number of the repetition."""

    head: tuple[str, ...]
    body: tuple[str, ...]


class Pages:
    name = "pages"
    timeout = 120.0

    def make(self, rng: random.Random) -> Case:
        depth = rng.choice([0, 0, 1, 20, 190, 480])
        head = [_piece(rng) for _ in range(rng.randint(1, 3))] * depth
        body = [_piece(rng) for _ in range(rng.randint(1, 12))] + [f" {rng.choice(WORDS)} "]
        if rng.random() < 0.3:  # nested and closed
            name = rng.choice(f"{BLOCKS} {INLINE}".split())
            count = rng.choice([2, 30, 300])
            body = [f"<{name}>" * count, *body, f"</{name}>" * count]
        rng.shuffle(body) if rng.random() < 0.2 else None
        return Case(tuple(head), tuple(body))

    def check(self, case: Case) -> None:
        _check_words(case)
        size = max(1, BYTES // len("".join(case.body).encode()))
        small, large = page(case, size), page(case, TIMES * size)
        _check_document(small)
        if html_guard.work_of(large).nodes < LONGEST * TIMES:
            with contextlib.suppress(html_guard.WorkError):  # a refusal of the flattened page is an answer, too
                _check_work(small, large)

    def simpler(self, case: Case) -> Iterator[Case]:
        for part in ("head", "body"):
            pieces = getattr(case, part)
            step = len(pieces)
            while step:
                for at in range(0, len(pieces), step):
                    yield case._replace(**{part: pieces[:at] + pieces[at + step :]})
                step //= 2

    def test(self, case: Case) -> str:
        return (
            f"def test_page() -> None:\n    from tests.fuzz.pages import Case, target\n\n    target.check({case!r})\n"
        )


def _piece(rng: random.Random) -> str:
    drawn = rng.random()
    if drawn < 0.15:
        return f" {rng.choice(WORDS)} "
    if drawn < 0.25:
        return rng.choice(OTHERS)
    if drawn < 0.32:
        return rng.choice(FOREIGN)
    if drawn < 0.36:
        return rng.choice([f"<{name}>" for name in HIDDEN.split()] + [f"</{name}>" for name in HIDDEN.split()])
    name = rng.choice((BLOCKS if rng.random() < 0.6 else INLINE).split())
    if rng.random() < 0.4:
        return f"</{name}>"
    return f"<{name}{''.join(rng.choices(ATTRIBUTES, k=rng.choice([0, 0, 0, 1, 3])))}>"


def page(case: Case, count: int) -> bytes:
    """Return the page of a case with this many bodies."""
    body = "".join(case.body)
    bodies = (body.replace("#", str(number)) for number in range(count)) if "#" in body else [body] * count
    return ("".join(case.head) + "".join(bodies)).encode()


def _words(data: bytes, is_flat: bool | None = None) -> Counter[str]:
    """Return the words of a page, flattened or not; by default its work decides."""
    work = html_guard.work_of(data)
    is_suspect = work.is_suspect if is_flat is None else is_flat
    found = html.parse_markup(html.Markup(data, "utf-8", work._replace(is_suspect=is_suspect)))
    return Counter(word for word in _WORD.findall(f"{found.text} {found.title}"))


def _check_words(case: Case) -> None:
    short, longer, long = (_words(page(case, count), False) for count in (4, 8, 64))
    for word in WORDS:
        every = longer[word] - short[word]  # in four bodies: quotes, links and formats may alternate
        wanted = short[word] + 15 * every
        assert long[word] == wanted, f"{long[word]} times {word!r} in 64 bodies, not {wanted}"
    flat = _words(page(case, 8), True)
    assert flat >= longer, f"words of a flattened page: {dict(flat)}, not {dict(longer)}"


def _check_document(data: bytes) -> None:
    letters: list[DeadLetter] = []
    found = html_files.document([Block(data, len(data))], "page", letters.append)
    assert found is not None or letters, "neither a document nor a letter"
    assert all(letter.reason for letter in letters), letters
    if found is not None:
        found.text.encode()


def _check_work(small: bytes, large: bytes) -> None:
    work = html_guard.work_of(large)  # of both: a flattened page takes longer
    pages = [html.Markup(data, "utf-8", work) for data in (small, large)]
    before = _peak(reset=True)
    best = [_seconds(page) for page in pages]
    memory = _peak() - before
    for _ in range(3):
        if best[1] <= RATIO * max(best[0], _SECONDS / RATIO):
            break
        best = [min(least, _seconds(page)) for least, page in zip(best, pages)]
    else:
        raise AssertionError(f"{len(small):,} bytes take {best[0]:.2f} s, {len(large):,} bytes {best[1]:.2f} s")
    most = NODE_BYTES * work.nodes + BYTE_BYTES * len(large) + _SLACK
    assert memory <= most, f"{memory:,} bytes of memory for a page of {len(large):,}, of at most {most:,}"


def _seconds(page: html.Markup) -> float:
    begun = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    html.parse_markup(page)
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - begun


def _peak(reset: bool = False) -> int:
    """Return the peak memory of the process, or 0 if the system does not provide it."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM"))


target = Pages()
