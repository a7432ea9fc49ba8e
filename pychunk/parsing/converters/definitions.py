"""The definitions and statements of source code, as marks in the text at which blocks begin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..._engine.data.blocks import HEADING, TERM
from . import grammars

if TYPE_CHECKING:
    from tree_sitter import Node

#: The size in bytes up to which a file is parsed; longer ones are made by programs.
MAX_BYTES = 8 << 20
#: The size in bytes up to which a definition is one block, whose inner definitions have no headings. It is about the
#: longest chunk by default.
WHOLE = 600
#: The share of a file that may be errors, and the most bytes of a heading.
ERRORS, HEADING_BYTES = 0.25, 240
#: The deepest level of a heading.
_DEEPEST = 6
#: The nodes of functions that are called where they are defined. Other calls may define a function as last argument.
_CALLED = grammars.FUNCTIONS | {"parenthesized_expression"}
#: The nodes in which definitions are looked for.
_BLOCKS = grammars.CLAUSES | grammars.CONDITIONS
#: A line with a letter, without the white space before it.
_WORDS = re.compile(rb"(?<![^\r\n])[ \t]*(?P<line>\S[^\r\n]*?[A-Za-z\x80-\xff])")
#: The names of nodes that are functions.
_FUNCTION = re.compile("func|method|constructor|operator")
#: The fields of what stands in the line that opens a body without a name of its own, such as ``#ifdef NAME``.
_HEADS = ("name", "condition")
#: The name to which the first line of a statement assigns.
_ASSIGNED = re.compile(rb"[^\r\n={(\"'#]+?(?=\s*:?=(?![=>]))")


class Mark(NamedTuple):
    """The first byte of a block of code, or of a heading or a term, which has an end, with code after it.

    The level of code is that of the heading that it introduces.
    """

    start: int
    level: int = 0
    end: int = 0
    kind: int = HEADING


def marks(source: bytes, ending: str) -> list[Mark]:
    """Return the marks of a source in UTF-8; an empty list if it cannot be parsed."""
    parser = grammars.parser_of(ending) if len(source) <= MAX_BYTES else None
    if parser is None:
        return []
    root = parser.parse(source).root_node
    walk = _Walk(source)
    try:
        walk.statements(root.named_children, 1)
    except RecursionError:  # such as a thousand nested ``#if``
        return []
    return walk.marks if walk.errors <= ERRORS * len(source) else []


class _Walk:
    """A walk over the statements of a file, which goes into definitions that are long, and never into expressions."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.marks: list[Mark] = []
        self.errors = 0

    def statements(
        self, nodes: Sequence[Node], level: int, before: str = "", whole: bool = True, lead: int = -1, last: int = -1
    ) -> str:
        """Mark the statements of a body, whose headings have a level, and return the kind of the last one.

        Args:
            nodes: The statements, with comments.
            level: The level of the headings of definitions among them.
            before: The kind of the statement before them.
            whole: Whether a statement of several lines is a block of its own. In a function it is not, because a
                function is kept together.
            lead: The first byte of the comments above the next statement, or of the line that opens the body; -1
                without.
            last: The end of the last node, or the start of the first one if a line opens the body.
        """
        opened = False  # whether a definition was among them
        for node, after in zip(nodes, [*nodes[1:], None], strict=False):
            kind, start, end = node.type, node.start_byte, node.end_byte
            if lead >= 0 and self.source.count(b"\n", last, start) > 1:
                self._apart(lead, last, before, level)
                lead = -1
            if kind in grammars.LEADING:
                if lead < 0 and self._begins_line(start):
                    lead = start
                last = end
                continue
            first = lead if lead >= 0 else start
            lead, last = -1, end
            if kind in grammars.TRANSPARENT:
                heads = {child.id for field in _HEADS for child in node.children_by_field_name(field)}
                inside = [child for child in node.named_children if child.id not in heads]
                opens = inside[0].start_byte if inside else end
                before = self.statements(inside, level, before, whole, first, opens)
                continue
            if kind == "ERROR":
                self.errors += end - start
            if after is not None and self._is_macro(node, after):
                lead = first
                continue
            if (inner := self._definition(node)) is not None:
                self._define(node, inner, first, level)
                before = "definition"
            elif end - start > WHOLE and kind in grammars.CONDITIONS and self._defines(node, 8):
                self._head(first, start, self._end_of_line(start, end), level)
                for clause in node.named_children:
                    self._clause(clause, min(level + 1, _DEEPEST), whole)
                before = "definition"
            elif before == "definition" or whole:
                # A statement of several lines, and the imports together, are blocks; other statements share one. After
                # a definition such a block has a heading, because it would be in the definition's section otherwise.
                now = "import" if kind in grammars.IMPORTS else self._shape(start, end)
                if before == "definition" or (opened and now == "lines") or (opened and now != before):
                    self._head(first, start, self._name(start, end), level)
                    opened = True
                elif now == "lines" or now != (before or "line"):
                    self.marks.append(Mark(first))
                before = now
        self._apart(lead, last, before, level)
        return before

    def _apart(self, lead: int, end: int, before: str, level: int) -> None:
        """Mark comments that introduce nothing and follow a definition as a section, so that they are no part of it.

        Its heading is the first line with a letter.
        """
        if lead >= 0 and before == "definition":
            words = _WORDS.search(self.source, lead, end)
            start = words.start("line") if words else lead
            self._head(lead, start, self._end_of_line(start, end), level)

    def _is_macro(self, node: Node, after: Node) -> bool:
        """Return whether a node is an unknown macro, such as ``API``, which the parser takes for a statement."""
        same_line = b"\n" not in self.source[node.end_byte : after.start_byte] and after.type not in grammars.LEADING
        return same_line and node.end_byte - node.start_byte <= HEADING_BYTES and node.has_error

    def _shape(self, start: int, end: int) -> str:
        return "line" if self.source.find(b"\n", start, end - 1) < 0 else "lines"

    def _clause(self, node: Node, level: int, whole: bool) -> None:
        if node.type in ("block", "statement_block"):
            self.statements(self._inside(node), level, whole=whole)
        elif node.type in grammars.CLAUSES:
            for child in node.named_children:
                self._clause(child, level, whole)

    def _defines(self, node: Node, depth: int) -> bool:
        """Return whether a statement has a definition in one of its blocks, or in those of statements inside."""
        return any(
            child.type in grammars.DEFINITIONS
            or child.type in grammars.WRAPPERS
            or (depth > 0 and child.type in _BLOCKS and self._defines(child, depth - 1))
            for child in node.named_children
        )

    def _definition(self, node: Node) -> Node | None:
        """Return the node that defines a name: the statement, or the one in its wrapper; None for other statements."""
        for _ in range(4):
            kind = node.type
            if kind in grammars.DEFINITIONS:
                body = node.child_by_field_name("body")
                return node if body is not None or self.source.count(b"\n", node.start_byte, node.end_byte) else None
            if kind in grammars.ASSIGNMENTS:
                return self._function(node) if node.end_byte - node.start_byte > WHOLE else None
            if kind not in grammars.WRAPPERS or not node.named_child_count:
                return None
            inside = [each for each in node.named_children if each.type not in grammars.LEADING]
            node = inside[-1] if inside else node
        return None

    def _function(self, node: Node) -> Node | None:
        """Return the function or class that a statement assigns or calls."""
        for _ in range(8):
            if node.type in grammars.FUNCTIONS:
                return node
            found = next(filter(None, map(node.child_by_field_name, ("value", "right", "function"))), None)
            if node.type == "call_expression" and found is not None and found.type not in _CALLED:
                found = node.child_by_field_name("arguments")
                last = found.named_children[-1:] if found is not None else []
                found = last[0] if last else None
            inside = [each for each in node.named_children if each.type not in grammars.LEADING][:1]
            if found is None and not inside:
                return None
            node = found or inside[0]
        return None

    def _define(self, node: Node, inner: Node, first: int, level: int) -> None:
        """Mark a definition, and those in its body if it is long."""
        body = inner.child_by_field_name("body")
        name = inner.child_by_field_name("name") or inner.child_by_field_name("declarator")
        while name is not None and (deeper := name.child_by_field_name("declarator")) is not None:
            name = deeper
        at = node.start_byte if name is None else name.start_byte
        start = node.start_byte
        if (line := self.source.rfind(b"\n", start, at) + 1) > 0:
            start = at - len(self.source[line:at].lstrip())
        end = self._end_of_line(start, node.end_byte)
        if body is not None:
            above = body.prev_sibling
            while above is not None and above.type in grammars.LEADING:
                above = above.prev_sibling
            if above is not None and start < above.end_byte <= start + HEADING_BYTES:
                end = above.end_byte
        self._head(first, start, end, level)
        if body is not None and node.end_byte - node.start_byte > WHOLE and level < _DEEPEST:
            inside = self._inside(body)
            if inside and inside[0].type == "expression_statement" and inside[0].end_byte - body.start_byte <= WHOLE:
                text = inside[0].named_child(0)
                if text is not None and text.type == "string":  # as a term, a docstring is not cut between its lines
                    self.marks.append(Mark(inside[0].start_byte, 0, inside[0].end_byte, TERM))
                    inside = inside[1:]
            self.statements(inside, level + 1, whole=not _FUNCTION.search(inner.type))

    def _inside(self, body: Node) -> list[Node]:
        """Return the statements of a body, with the comments before it, which Python's grammar puts outside."""
        inside, above = list(body.named_children), body.prev_sibling
        while above is not None and above.type in grammars.LEADING and self.source[body.start_byte] != ord("{"):
            inside.insert(0, above)
            above = above.prev_sibling
        return inside

    def _head(self, first: int, start: int, end: int, level: int) -> None:
        if first < start:
            self.marks.append(Mark(first, level))
        self.marks.append(Mark(start, level, end))

    def _name(self, start: int, end: int) -> int:
        found = _ASSIGNED.match(self.source, start, min(end, start + HEADING_BYTES))
        return found.end() if found else self._end_of_line(start, end)

    def _end_of_line(self, start: int, end: int) -> int:
        """Return the end of a line; that of its last word within the bytes of a heading if the line is longer."""
        line = self.source[start : min(end, start + HEADING_BYTES)].split(b"\n", 1)[0]
        if len(line) == HEADING_BYTES:
            line = line[: line.rfind(b" ")] if b" " in line.strip() else line[:1]
        return start + max(1, len(line.rstrip()))

    def _begins_line(self, start: int) -> bool:
        window = self.source[max(0, start - HEADING_BYTES) : start]  # a whole line may be a whole file
        return not window[window.rfind(b"\n") + 1 :].strip()
