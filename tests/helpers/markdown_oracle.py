"""The leaf blocks that markdown-it-py finds in Markdown: the oracle of tests/parsing/test_markdown.py."""

import functools
import re
from typing import NamedTuple

from hypothesis import reject

from pychunk._engine.reference.parsing.markdown_lines import DEEPEST

TABLE_NAMES = "caption|col|colgroup|table|tbody|td|tfoot|th|thead|tr"
FRONT_MATTER = re.compile(
    r"(---[ \t]*\n(?![ \t]*\n)(?:.*\n)*?(?:---|\.\.\.)[ \t]*|\+\+\+[ \t]*\n(?![ \t]*\n)(?:.*\n)*?\+\+\+[ \t]*)(?:\n|\Z)"
)


class Leaf(NamedTuple):
    """A block: its kind and level as ``Blocks`` has them, its first and last line, from 0."""

    kind: str
    level: int
    first: int
    last: int


@functools.cache
def parser():
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"maxNesting": 10_000}).enable("table")
    made.disable("inline")
    made.validateLink = lambda url: True  # the safety of links does not concern syntax
    return made


def leaves(text: str) -> list[Leaf]:
    """Return the leaf blocks of a text, without blank lines at the end of one."""
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    text += "\n" * (not text.endswith("\n"))  # without a final line break markdown-it-py reads beyond the end
    found: list[Leaf] = []
    before = 0
    if front := FRONT_MATTER.match(text):
        before = front[0].count("\n")
        found.append(Leaf("front_matter", 0, 0, front[1].count("\n")))
        text = text[front.end() :]
    lines = text.split("\n")
    items: list[tuple[int, int]] = []  # for each open list item: blocks found before it, its first line
    around: list[str] = []

    def add(kind: str, level: int, first: int, last: int) -> None:
        while not lines[last - 1].strip(" \t"):
            last -= 1
        found.append(Leaf(kind, level, first + before, last - 1 + before))

    def add_text(first: int, last: int) -> None:
        if around and around[-1] == "item" and items[-1][0] == len(found):
            add("item", around.count("item"), first, last)
        elif "quote" in around:
            add("quote", around.count("quote"), first, last)
        else:
            add("paragraph", 0, first, last)

    inside_table = 0
    for token in parser().parse(text):
        if token.type == "blockquote_open":
            around.append("quote")
        elif token.type == "list_item_open":
            around.append("item")
            items.append((len(found), token.map[0]))
        if len(around) > DEEPEST:
            reject()  # deeper containers are text in pychunk
        if token.type == "blockquote_close":
            around.pop()
        elif token.type == "list_item_close":
            rows, first = items.pop()
            if rows == len(found):
                add("item", around.count("item"), first, first + 1)
            around.pop()
        elif token.type == "heading_open":
            if around:
                add_text(*token.map)
            else:
                add("heading", int(token.tag[1]), *token.map)
        elif token.type in ("code_block", "fence"):
            add("code", 0, *token.map)
        elif token.type == "table_open":
            add("table", 0, *token.map)
            inside_table += 1
        elif token.type == "table_close":
            inside_table -= 1
        elif token.type == "paragraph_open" and not inside_table:
            add_text(*token.map)
        elif token.type == "html_block":
            begin = token.content.lstrip(" \t")
            if re.match(r"(?i)<pre(?=\s|>|$)", begin):
                add("code", 0, *token.map)
            elif re.match(rf"(?i)</?({TABLE_NAMES})(?=\s|/?>|$)", begin):
                add("table", 0, *token.map)
            else:
                add_text(*token.map)
    return found
