"""Filters: conditions on the columns of chunks, as a dict, a line of text or an Arrow expression."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine.arrow import compute as pc
from ..files.int32_columns import Columns

FORMS = (
    "where must be a dict ({'lang': 'de', 'year': {'gte': 2015}}), a text (\"year >= 2015 and lang = 'de'\") or an "
    "expression of pyarrow.compute"
)
#: The comparisons of a dict, and their names in Arrow.
COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "gt": "greater",
    "gte": "greater_equal",
    "lt": "less",
    "lte": "less_equal",
}
_SIGNS = {"=": "eq", "==": "eq", "!=": "ne", "<>": "ne", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
#: The most characters of a condition in the form of text, and its deepest nesting of brackets and negations.
_LONGEST, _DEEPEST = 100_000, 50
_SPACE = re.compile(r"\s*")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_SIGN = re.compile(r"==|!=|<>|>=|<=|[=<>]")
_WORD = re.compile(r"[^\s()=<>!,'\"]+")
_BARE = re.compile(r"[^\s(),'\"]+")


def rows(where: Any, table: pa.Table | Columns) -> npt.NDArray[np.bool_]:
    """Return which rows of a table meet a condition, bool[rows].

    A comparison with null is neither true nor false, as in SQL. Rows for which the whole condition is null do not meet
    it.

    Raises:
        TypeError: ``where`` is no condition.
        ValueError: A column does not exist, a value does not fit its type, or a text cannot be parsed.

    >>> table = pa.table({"year": [2010, 2020, None], "tags": [["a"], ["a", "b"], []]})
    >>> rows({"year": {"gte": 2015}}, table).tolist(), rows({"tags": "a"}, table).tolist()
    ([False, True, False], [True, True, False])
    >>> rows("not (year < 2015 or tags = 'c')", table).tolist()
    [False, True, False]
    """
    if isinstance(where, str):
        return _true(_Text(where, table).condition())
    if isinstance(where, Mapping):
        found = pa.chunked_array([np.ones(table.num_rows, np.bool_)])
        for name, value in where.items():
            for comparison, each in _conditions(name, value):
                found = pc.and_kleene(found, _compared(table, name, comparison, each))
        return _true(found)
    if isinstance(where, pc.Expression):
        return _of_expression(where, table.table if isinstance(table, Columns) else table)
    raise TypeError(f"{FORMS}; got {type(where).__name__} {str(where)[:80]}")


def _conditions(name: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (comparison, value) for each comparison that an entry of a dict stands for."""
    if not isinstance(value, Mapping):
        listed = isinstance(value, (list, tuple, set, frozenset, np.ndarray, pa.Array))
        yield "in", list(value) if listed else [value]
        return
    for comparison, each in value.items():
        if comparison == "in" and (isinstance(each, (str, bytes, Mapping)) or not hasattr(each, "__iter__")):
            raise ValueError(f"where: {name!r} 'in' takes a list of values; got {each!r:.80}")
        if comparison not in COMPARISONS and comparison != "in":
            known = ", ".join([*COMPARISONS, "in"])
            raise ValueError(f"where: {name!r} is compared by one of {known}; got {comparison!r:.80}")
        yield str(comparison), list(each) if comparison == "in" else each


def _column(table: pa.Table | Columns, name: Any) -> pa.ChunkedArray:
    if name not in table.column_names:
        pages = "; pages come with method 'page', from PDF, or with columns={'page_starts': ...}"
        remedy = pages if name in ("page", "page_end") else ""
        raise ValueError(
            f"where names the column {name!r:.80}, which the index lacks: name one of "
            f"{', '.join(table.column_names)}{remedy}"
        )
    column = table[name]
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _compared(
    table: pa.Table | Columns, name: Any, comparison: str, value: Any, *, said: bool = False
) -> pa.ChunkedArray:
    """Return whether each row meets a comparison.

    The result is null for a null in the column, unless ``value`` is a list that includes null: then the null matches. A
    list in a column meets a comparison if one of its values does. ``said``: ``value`` is a text, or several, that must
    be converted to the column's type.
    """
    column = _column(table, name)
    if isinstance(column.type, (pa.ListType, pa.LargeListType, pa.FixedSizeListType)):
        return _in_lists(column, name, comparison, value, said)
    return _of_values(column, name, comparison, value, said)


def _of_values(column: Any, name: Any, comparison: str, value: Any, said: bool) -> Any:
    if comparison == "in":
        values = _as(column.type, name, value, said)
        found = pc.is_in(column, value_set=values)
        return found if values.null_count else pc.if_else(column.is_valid(), found, None)
    wanted = _as(column.type, name, [value], said, ordered=True)[0]
    if not wanted.is_valid:
        raise ValueError(
            f"where: {name!r} is compared with None, which never matches: ask for {{{name!r}: None}}, or "
            f'"{name} is null"'
        )
    try:
        return pc.call_function(COMPARISONS[comparison], [column, wanted])
    except pa.ArrowException as error:
        raise ValueError(
            f"where: the column {name!r}, which is {column.type}, cannot be compared by {comparison!r} with "
            f"{value!r:.80}: name another column"
        ) from error


def _in_lists(column: pa.ChunkedArray, name: Any, comparison: str, value: Any, said: bool) -> pa.ChunkedArray:
    found = []
    for chunk in column.chunks or [pa.array([], column.type)]:
        items, own = pc.list_flatten(chunk), np.asarray(pc.list_parent_indices(chunk))
        negative = comparison == "ne"
        hits = np.asarray(_true(_of_values(items, name, "eq" if negative else comparison, value, said)))
        mask = np.zeros(len(chunk), np.bool_)
        mask[own[hits]] = True
        found.append(pc.if_else(chunk.is_valid(), pa.array(mask != negative), None))
    return pa.chunked_array(found, pa.bool_())


def _times(given: list[str], kind: pa.DataType) -> pa.Array:
    """Return times from texts. A time without a time zone is in the time zone of the column."""
    try:
        return pa.array(given).cast(kind)
    except pa.ArrowInvalid:
        return pc.assume_timezone(pa.array(given).cast(pa.timestamp(kind.unit)), kind.tz)


def _as(kind: pa.DataType, name: Any, given: list[Any], said: bool, *, ordered: bool = False) -> pa.Array:
    """Return values in a column's type.

    With ``ordered``, numbers that are compared with a column of integers may have a fraction.

    Raises:
        ValueError: The values do not fit the type.
    """
    given = [str(each) if isinstance(each, uuid.UUID) else each for each in given]
    try:
        if said and pa.types.is_floating(kind):
            return pa.array([float(each) for each in given], kind)
        if pa.types.is_timestamp(kind) and kind.tz and all(isinstance(each, str) for each in given):
            return _times(given, kind)
        return pa.array(given).cast(kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        if ordered and pa.types.is_integer(kind):
            try:
                return pa.array([float(each) for each in given], pa.float64())
            except (TypeError, ValueError, OverflowError):
                pass
        shown = given[0] if len(given) == 1 else given
        mend = "name another column" if pa.types.is_nested(kind) else "pass a value of this type"
        if isinstance(error, UnicodeEncodeError):
            mend = "remove the lone surrogate, which UTF-8 cannot encode"
        raise ValueError(f"where: the column {name!r} is of type {kind}; got {shown!r:.80}: {mend}") from error


def _of_expression(expression: Any, table: pa.Table) -> npt.NDArray[np.bool_]:
    import pyarrow.dataset as ds  # This import loads pandas if it is installed.

    numbered = table.append_column("__row", pa.array(np.arange(table.num_rows)))
    try:
        found = ds.dataset(numbered).scanner(columns=["__row"], filter=expression).to_table()
    except (pa.ArrowException, TypeError) as error:
        columns = ", ".join(table.column_names)
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"where cannot be applied ({reason}); the index has the columns {columns}: change the expression to fit"
        ) from error
    mask = np.zeros(table.num_rows, np.bool_)
    mask[np.asarray(found["__row"])] = True
    return mask


def _true(found: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(found.fill_null(False), np.bool_)


@dataclass
class _Text:
    """A condition as people write it, read from left to right.

    either  = both ("or" both)*
    both    = one ("and" one)*
    one     = "not" one | "(" either ")" | column comparison
    comparison = ("=" | "!=" | "<" | "<=" | ">" | ">=") value | ["not"] "in" "(" value ("," value)* ")"
               | "is" ["not"] "null"

    A column is a word or a quoted text. A value is a number, a word other than null, or a quoted text. A quotation mark
    inside a quoted text is doubled.
    """

    text: str
    table: pa.Table | Columns
    at: int = 0
    depth: int = 0

    def condition(self) -> pa.ChunkedArray:
        if len(self.text) > _LONGEST:
            raise ValueError(
                f"where: a condition has at most {_LONGEST:,} characters; this one has {len(self.text):,}: shorten it"
            )
        found = self._either()
        self._skip()
        if self.at < len(self.text):
            self._fail("expected 'and', 'or' or the end")
        return found

    def _either(self) -> pa.ChunkedArray:
        found = self._both()
        while self._word("or"):
            found = pc.or_kleene(found, self._both())
        return found

    def _both(self) -> pa.ChunkedArray:
        found = self._one()
        while self._word("and"):
            found = pc.and_kleene(found, self._one())
        return found

    def _one(self) -> pa.ChunkedArray:
        self.depth += 1
        if self.depth > _DEEPEST:
            self._fail(f"more than {_DEEPEST} nested brackets and negations")
        if self._word("not"):
            found = pc.invert(self._one())
        elif self._taken("("):
            found = self._either()
            self._need(")")
        else:
            found = self._comparison()
        self.depth -= 1
        return found

    def _comparison(self) -> pa.ChunkedArray:
        name = self._quoted() or self._match(_WORD)
        if name is None:
            self._fail("expected a column")
        _column(self.table, name)
        if self._word("is"):
            negative = self._word("not")
            if not self._word("null"):
                self._fail("expected 'null'")
            column = self.table[name]
            return column.is_valid() if negative else column.is_null()
        negative = self._word("not")
        if self._word("in"):
            self._need("(")
            values = [self._value(name, _WORD)]
            while self._taken(","):
                values.append(self._value(name, _WORD))
            self._need(")")
            found = _compared(self.table, name, "in", values, said=True)
            return pc.invert(found) if negative else found
        sign = None if negative else self._match(_SIGN)
        if sign is None:
            self._fail("expected 'in'" if negative else "expected =, !=, <, <=, >, >=, 'in' or 'is null'")
        return _compared(self.table, name, _SIGNS[sign], self._value(name, _BARE), said=True)

    def _value(self, name: str, bare: re.Pattern[str]) -> str:
        value = self._quoted()
        if value is not None:
            return value
        value = self._match(bare)
        if value is None:
            self._fail("expected a value")
        if value.lower() == "null":
            shown = name if _WORD.fullmatch(name) else repr(name)
            raise ValueError(
                f"where: comparing {name!r} with null never matches: write {shown} is null or {shown} is not null, or "
                f"'{value}' in quotes to mean that text"
            )
        return value

    def _quoted(self) -> str | None:
        found = self._match(_QUOTED)
        return None if found is None else found[1:-1].replace(2 * found[0], found[0])

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        self._skip()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def _word(self, word: str) -> bool:
        """Return whether ``word`` comes next, and if so move past it."""
        before = self.at
        found = self._match(_WORD)
        if found is not None and found.lower() == word:
            return True
        self.at = before
        return False

    def _taken(self, sign: str) -> bool:
        self._skip()
        if not self.text.startswith(sign, self.at):
            return False
        self.at += 1
        return True

    def _need(self, sign: str) -> None:
        if not self._taken(sign):
            self._fail(f"expected {sign!r}")

    def _fail(self, what: str) -> NoReturn:
        self._skip()
        rest = self.text[self.at : self.at + 20]
        place = f"at character {self.at}, before {rest!r}" if rest else "at the end"
        raise ValueError(f"where: {what} {place} of {self.text[:200]!r}; text goes in quotes: lang = 'de'")
