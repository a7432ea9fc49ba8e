"""The table of templates that carry prose or values, by name, with functions that return their text.

Any other template shows its argument if it is inside a sentence and has a single plain argument. Otherwise it is left
out. A template that is left out inside a sentence is counted, unless its name says that readers see no text there
(``invisible_templates``). The names are from the English Wikipedia; many other Wikipedias share them. Pass further
templates as ``Cleaner(templates=...)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date

from .invisible_templates import is_unseen

#: Marks that are resolved later, when the line around them is known. ``UNSURE`` is on both sides of text that is shown
#: only inside a sentence. ``COUNTED`` is a template that is counted as left out inside a sentence. ``APART`` becomes a
#: blank between two digits. ``RAISED`` and ``LOWERED`` begin raised and lowered text, and ``END`` ends it.
UNSURE, COUNTED, APART, RAISED, LOWERED, END = "\x0e", "\x0f", "\x10", "\x11", "\x12", "\x13"

_NAMED = re.compile(r"([A-Za-z0-9_\- ]{1,30}?)\s*=")
_NUMBER = re.compile(r"[\d.,+\-−/⁄ ]*\d[.,/⁄]*")
_LANGUAGE = re.compile(r"lang-[a-z-]+|ipa-[a-z-]+")

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]  # these names are English because the text of "as of" is always English


class Arguments:
    """A template's arguments: positional arguments by number, from 1, and named arguments by name.

    >>> given = Arguments("quote|To be|author=Hamlet")
    >>> given.name, given[1], given["author"], given[2]
    ('quote', 'To be', 'Hamlet', '')
    """

    __slots__ = ("_named", "name", "positional", "when")

    def __init__(self, content: str, when: date | None = None) -> None:
        first, *rest = content.split("|")
        self.name = name_of(first)
        self.when = when  # the date of the page
        self.positional: list[str] = []
        self._named: dict[str, str] = {}
        for each in rest:
            value = each.strip()
            match = _NAMED.match(value) if "=" in value else None
            if match is None:
                self.positional.append(value)
            else:
                self._named[match[1]] = value[match.end() :].strip()

    def __getitem__(self, key: int | str) -> str:
        """Return an argument's text, or "" if there is none. A numbered argument may be positional or written as 1=."""
        if isinstance(key, str):
            return self._named.get(key, "")
        if str(key) in self._named:
            return self._named[str(key)]
        return self.positional[key - 1] if key <= len(self.positional) else ""

    @property
    def names(self) -> list[str]:
        """The names of the named arguments, as they are written."""
        return list(self._named)

    @property
    def values(self) -> list[str]:
        """The positional arguments that are not empty, including arguments that are written by number, as 1=."""
        numbered = [value for name, value in self._named.items() if name.isdigit()]
        return [value for value in (*self.positional, *numbered) if value]


def name_of(text: str) -> str:
    """Return a template's name as in the table: lower case, without underscores and a leading "Template:"."""
    return text.strip().replace("_", " ").lower().removeprefix("template:").strip()


def render(content: str, more: Mapping[str, Callable[[Arguments], str]], when: date | None = None) -> str:
    """Return the text of a template, "" if it has none, or marks if the line around it must decide.

    ``content`` is the text between the template's braces. ``more`` has further templates. If the table has a template
    of the same name, the one in ``more`` is used. ``when`` is the date of the page, for templates that count years up
    to it.

    >>> render("convert|5|km|mi", {}), render("Infobox|name=x", {}), render("chess row|a|b", {}) == COUNTED
    ('5 km', '', True)
    """
    name = name_of(content.partition("|")[0])
    template = more.get(name) or TEMPLATES.get(name)
    if template is not None:
        return template(Arguments(content, when))
    if _LANGUAGE.fullmatch(name):
        return _foreign(Arguments(content))
    function, colon, _ = name.partition(":")
    if colon and function in ("formatnum", "lc", "uc", "lcfirst", "ucfirst", "nowrap"):
        return content.partition(":")[2].partition("|")[0].strip()
    if colon or is_unseen(name) or "\n" in content:
        return ""
    given = Arguments(content)
    shown = given.positional if len(given.positional) == 1 else []
    if shown and _PLAIN.fullmatch(shown[0]) and _OF_NOTES.isdisjoint(given.names):
        return f"{UNSURE}{shown[0]}{UNSURE}"
    return COUNTED


#: The form of an argument that an unknown template may show: some words or a number, but no address or file name.
_PLAIN = re.compile(
    r"(?![^ ]*(?:://|\.(?:png|jpe?g|svg|gif|og[gav]|wav|mp3|webm|pdf)$)).{0,200}\w.{0,200}", re.IGNORECASE
)
#: Named arguments that only references, notices and links have.
_OF_NOTES = frozenset({"date", "reason", "url", "title", "author", "last", "first", "access-date", "group", "id"})


def _argument(number: int) -> Callable[[Arguments], str]:
    return lambda given: given[number]


#: Named arguments that only define how a template looks.
_LOOKS = frozenset({"lang", "class", "style", "id", "inline", "size", "color", "link", "title", "big", "sep"})


def _whole(given: Arguments) -> str:
    """Return the first argument, even if an equals sign in it makes it a named argument, as in ``x=1``."""
    if given[1] or given.positional:
        return given[1]
    name = next((name for name in given.names if name not in _LOOKS), None)
    return "" if name is None else f"{name}={given[name]}"


def _foreign(given: Arguments) -> str:
    """Return words of another language. A code may come before them, as in ``IPA|fr|pʁi``."""
    return given[2] if given[2] and re.fullmatch(r"[a-z]{2,3}(?:-[A-Za-z]+)?", given[1]) else given[1]


def _constant(text: str) -> Callable[[Arguments], str]:
    return lambda _: text


def _last(given: Arguments) -> str:
    values = given.values
    return values[-1] if values else ""


def _joined(separator: str) -> Callable[[Arguments], str]:
    return lambda given: separator.join(given.values)


def _before(prefix: str) -> Callable[[Arguments], str]:
    """Return a function that puts text before the first argument, if there is one."""
    return lambda given: prefix + given[1] if given[1] else ""


def _note(label: str) -> Callable[[Arguments], str]:
    """Return a function for a line that points to other articles, such as "Main article: History of Rome"."""

    def line(given: Arguments) -> str:
        names = [value.replace("#", " § ") for value in given.values]
        return f"\n\n{label}: {', '.join(names)}\n\n" if names else ""

    return line


def _quote(given: Arguments) -> str:
    text = given["text"] or given["quote"] or given[1]
    if "poem" in given.name or "verse" in given.name:
        text = text.replace("\n", "<br>\n")
    by = given["author"] or given["sign"] or given["by"] or (given[2] if given["text"] == "" else given[1])
    source = given["source"] or given["title"]
    signed = ", ".join(part for part in (by, source) if part)
    return f"\n\n{text}\n\n{'— ' + signed if signed else ''}\n\n" if text else ""


def _convert(given: Arguments) -> str:
    """Return the first value with its unit, without the units to which the page would convert it."""
    values = [value for value in given.positional if value]
    out: list[str] = []
    for i, value in enumerate(values[:8]):
        out.append(value)
        following = values[i + 1] if i + 1 < len(values) else ""
        number = _NUMBER.fullmatch(value) is not None
        before_number = i > 0 and _NUMBER.fullmatch(values[i - 1]) is not None
        if not number and before_number and value not in _RANGES and not _NUMBER.fullmatch(following):
            break  # no number follows this unit, so the arguments after it are the units to convert to
    return " ".join(_RANGES.get(word) or _UNITS.get(word, word) for word in out)


#: The units as readers see them, by their codes in the template.
_UNITS = {
    "C": "°C", "F": "°F", "C-change": "°C", "F-change": "°F", "sqmi": "sq mi", "sqft": "sq ft", "cuft": "cu ft",
    "cumi": "cu mi", "km2": "km²", "m2": "m²", "cm2": "cm²", "mm2": "mm²", "km3": "km³", "m3": "m³", "cm3": "cm³",
    "USgal": "US gal", "impgal": "imp gal", "nmi": "nautical miles",
}  # fmt: skip


_RANGES = {
    "-": "–", "–": "–", "to": "to", "and": "and", "or": "or", "x": "×", "×": "×", "by": "by", "xx": "×",
    "to(-)": "to", "to about": "to about", "+/-": "±", "±": "±", "+": "+", ",": ",", "and(-)": "and",
}  # fmt: skip


def _nihongo(given: Arguments) -> str:
    english, *others = given[1], given[2], given[3]
    inside = ", ".join(part for part in others if part)
    if not english:
        return inside
    return f"{english} ({inside})" if inside else english


def _as_of(given: Arguments) -> str:
    if given["alt"]:
        return given["alt"]
    year, month, day = given[1], given[2], given[3]
    if month.isdecimal() and 1 <= int(month) <= 12:
        month = _MONTHS[int(month) - 1]
    words = "since" if given["since"] else "as of"
    return f"{words if given['lc'] else words.capitalize()} {' '.join(part for part in (day, month, year) if part)}"


def _ipa_english(given: Arguments) -> str:
    """Return the sounds of IPAc-en, one in each argument, without labels such as "lang"."""
    labels = {"lang", "local", "pron", "us", "uk", "ipa", "en", "also", "us-also", "uk-also"}
    sounds = [" " if value == "_" else value for value in given.positional if value.lower() not in labels]
    return f"/{''.join(sounds)}/" if any(sounds) else ""


def _value(given: Arguments) -> str:
    text = given["p"] + given[1] + (f"±{given[2]}" if given[2] else "")
    if given["e"]:
        text += f"{'×' if text else ''}10{RAISED}{given['e']}{END}"
    unit = given["u"] or given["ul"] or given["end"] or given["s"]
    return f"{text}{'' if unit[:1] in ('%', '°') and unit[1:2] != 'C' else ' '}{unit}" if unit else text


def _fraction(given: Arguments) -> str:
    """Return a fraction such as ``5 1/2``, with a mark that separates it from a number before the template."""
    parts = given.values
    if len(parts) == 1:
        return f"{APART}1/{parts[0]}"
    return APART + f"{' '.join(parts[:-2])} {parts[-2]}/{parts[-1]}".strip() if parts else ""


def _raised(given: Arguments) -> str:
    return f"{RAISED}{_whole(given)}{END}"


def _lowered(given: Arguments) -> str:
    return f"{LOWERED}{_whole(given)}{END}"


def _over(given: Arguments) -> str:
    """Return lowered text, then raised text, for a template with one above the other, as in ``su|p=+1|b=-2``."""
    raised, lowered = given["p"] or given[1], given["b"] or given[2]
    return (f"{LOWERED}{lowered}{END}" if lowered else "") + (f"{RAISED}{raised}{END}" if raised else "")


def _power(given: Arguments) -> str:
    base, exponent = (given[1], given[2]) if given[2] else ("10", given[1])
    return f"{base}{RAISED}{exponent}{END}" if exponent else base


def _times_ten(given: Arguments) -> str:
    return f"×10{RAISED}{given[1]}{END}" if given[1] else ""


def _root(given: Arguments) -> str:
    text = given[1] if re.fullmatch(r"\w*", given[1]) else f"({given[1]})"
    return f"{given[2]}√{text}" if given[1] else ""


#: The charge of an ion, at the end of an argument or in parentheses.
_CHARGE = re.compile(r"[0-9]*[+\-−]")
_CHARGE_INSIDE = re.compile(r"\(([0-9]*[+\-−])\)")


def _chemical(given: Arguments) -> str:
    """Return a formula with its charge as an exponent, such as ``SO4^{2-}``."""
    parts = [f"{RAISED}{each}{END}" if _CHARGE.fullmatch(each) else each for each in given.values]
    return _CHARGE_INSIDE.sub(rf"{RAISED}\1{END}", "".join(parts))


def _size(given: Arguments) -> str:
    """Return a value whose unit is the argument's name, as in ``height|m=1.80``."""
    units = ("m", "cm", "km", "mi", "yd", "ft", "in", "kg", "g", "lb", "st", "h", "hours", "min", "s")
    found = [f"{given[unit]} {unit}" for unit in units if given[unit]]
    return " ".join(found) or given[1]


def _duration(given: Arguments) -> str:
    """Return a duration such as ``1:30:00``."""
    parts = [given["h"] or given["hours"], given["m"] or given["min"], given["s"] or given["sec"]]
    if not any(parts):
        return ":".join(given.values)
    hours, minutes, seconds = (each or "0" for each in parts)
    return f"{hours}:{minutes:0>2}:{seconds:0>2}" if parts[0] else f"{minutes}:{seconds:0>2}"


def _circa(given: Arguments) -> str:
    return " – ".join(f"c. {each}" for each in given.values) or "c."


def _number(text: str) -> float | None:
    """Return the number that a text represents; None if it is not a number."""
    try:
        return float(text.replace(",", "").replace("−", "-"))
    except ValueError:
        return None


def _digits(value: float, places: str) -> str:
    count = int(places) if re.fullmatch(r"[0-9]", places) else 0
    return f"{value:.{count}f}"


def _percentage(given: Arguments) -> str:
    part, whole = _number(given[1]), _number(given[2])
    if part is None or not whole:
        return "/".join(given.values[:2])
    return f"{_digits(100 * part / whole, given[3])}%"


def _rounded(given: Arguments) -> str:
    value = _number(given[1])
    return given[1] if value is None else _digits(value, given[2])


def _ordinal(given: Arguments) -> str:
    text = given[1]
    if not text[-1:].isdecimal():
        return text
    of_ten = {"1": "st", "2": "nd", "3": "rd"}.get(text[-1], "th")
    return text + ("th" if text[-2:-1] == "1" else of_ten)


def _day(parts: list[str]) -> date | None:
    """Return the date of a year, a month (a number or word) and a day, or None if it cannot be read.

    A missing month or day counts as 1.
    """
    words = [each.strip() for each in parts if each.strip()]
    if len(words) == 1 and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", words[0]):
        words = words[0].split("-")
    if not words or not words[0].isdecimal():
        return None
    months = {name.lower(): number for number, name in enumerate(_MONTHS, 1)}
    month = words[1].lower() if len(words) > 1 else "1"
    number = months.get(month) or next((own for name, own in months.items() if len(month) > 2 and name[:3] == month), 0)
    try:
        return date(int(words[0]), number or int(month), int(words[2]) if len(words) > 2 else 1)
    except ValueError:
        return None


def _years(begin: date, end: date) -> int:
    return end.year - begin.year - ((end.month, end.day) < (begin.month, begin.day))


def _age(given: Arguments) -> str:
    """Return the years between two dates, or from one date to the page's date.

    If the page's date is needed but unknown, return the date itself.
    """
    parts = 1 if "-" in given[1] else 3
    begin = _day(given.positional[:parts])
    end = _day(given.positional[parts : 2 * parts]) or given.when
    if begin is None or end is None:
        return _date(given)
    if "days" in given.name:
        return f"{(end - begin).days:,}"
    return str(_years(begin, end))


def _born(given: Arguments) -> str:
    """Return a date of birth such as ``1 January 1990 (age 30)``, without the age if the page's date is unknown."""
    begin = _day(given.positional[:3])
    if begin is None or given.when is None:
        return _date(given)
    return f"{_date(given)} (age {_years(begin, given.when)})"


def _died(given: Arguments) -> str:
    """Return a date of death such as ``1 January 1990 (aged 39)``."""
    end, begin = _day(given.positional[:3]), _day(given.positional[3:6])
    return _date(given) if end is None or begin is None else f"{_date(given)} (aged {_years(begin, end)})"


def _died_in(given: Arguments) -> str:
    """Return a year of death such as ``1955 (aged 75–76)``, from the years of death and birth."""
    death, birth = (int(each) if each.isdecimal() else 0 for each in (given[1], given[2]))
    return f"{death} (aged {death - birth - 1}–{death - birth})" if birth else given[1]


def _born_in(given: Arguments) -> str:
    """Return a year of birth such as ``1990 (age 29–30)``, without the age if the page's date is unknown."""
    if given.when is None or not given[1].isdecimal():
        return given[1]
    years = given.when.year - int(given[1])
    return f"{given[1]} (age {years - 1}–{years})"


def _coordinates(given: Arguments) -> str:
    """Return coordinates such as ``55°N 12°E`` to show inside a sentence; "" if they are only in a page's corner."""
    if "display" in given.names and "inline" not in given["display"] and given["display"] not in ("i", "it", "ti"):
        return ""
    parts: list[str] = []
    signs = iter("°′″")
    for value in given.positional:
        if value.upper() in ("N", "S", "E", "W") and parts:
            parts.append(value.upper() + " ")
            signs = iter("°′″")
            if value.upper() in ("E", "W"):
                break
        elif _number(value) is not None:
            parts.append(value + next(signs, ""))
        else:
            break
    text = "".join(parts).strip()
    if text and text[-1] not in "EW":  # the coordinates are decimals only
        text = ", ".join(given.positional[:2])
    return f"{UNSURE}{text}{UNSURE}" if text else ""


def _old_style(given: Arguments) -> str:
    """Return a date with its old style, such as ``February 2 [O.S. January 20] 1905``."""
    return f"{given[1]} [O.S. {given[3]}] {given[2]}" if given[3] else " ".join(given.values)


def _this(form: str) -> Callable[[Arguments], str]:
    """Return a function for a part of the page's date; if the date is unknown, the template counts as left out."""

    def part(given: Arguments) -> str:
        if given.when is None:
            return COUNTED
        return {"Y": str(given.when.year), "m": _MONTHS[given.when.month - 1], "d": str(given.when.day)}[form]

    return part


def _after(suffix: str) -> Callable[[Arguments], str]:
    """Return a function that puts text after the first argument, if there is one."""
    return lambda given: given[1] + suffix if given[1] else ""


def _ship(prefix: str) -> Callable[[Arguments], str]:
    def name(given: Arguments) -> str:
        text = f"{prefix} {given[1]}"
        return f"{text} ({given[2]})" if given[2] and given[3] in ("", "6") else text

    return name


def _money(sign: str) -> Callable[[Arguments], str]:
    return lambda given: sign + given[1] if given[1] else sign


def _chinese(given: Arguments) -> str:
    forms = [given[key] for key in ("c", "s", "t", "p", "hp", "w", "j") if given[key]]
    return ", ".join(dict.fromkeys(forms)) or given[1]


def _dash_range(given: Arguments) -> str:
    return "–".join(given.values[:2])


def _date(given: Arguments) -> str:
    year, month, day = given[1], given[2], given[3]
    if month.isdecimal() and 1 <= int(month) <= 12:
        month = _MONTHS[int(month) - 1]
    return " ".join(part for part in (day, month, year) if part)


def _items(given: Arguments) -> str:
    return "\n\n" + "\n".join(value if value[0] == "*" else f"* {value}" for value in given.values) + "\n\n"


#: The functions of templates, each with the names of its templates, separated by semicolons.
_NAMES: tuple[tuple[Callable[[Arguments], str], str], ...] = (
    (
        _argument(1),
        "small; smaller; smalldiv; big; larger; large; nobold; noitalic; abbr; abbrlink; tooltip; sc; sc2; "
        "smallcaps; smallcaps2; aut; vanchor; visible anchor; unicode; char; ipa link; ipalink; hebrew; overline; "
        "underline; strikethrough; ce; citation needed span; clarify span; cns; interlanguage link; ill; number "
        "table sorting; nts; flag; flagu; flagcountry; plainlist; flatlist; crossref; cross reference; "
        "crossreference; center; centre; noprint; highlight; nastaliq; num; number; wikicode",
    ),
    (
        _whole,
        "nowrap; nobr; nobreak; no wrap; mono; code; codes; tt; kbd; samp; var; mvar; math; tmath; em; strong; u; "
        "i; b; bigmath; pre; inline code; not typo; midsize; longitem",
    ),
    (_foreign, "ipa; ipa-all"),
    (lambda given: f"&lt;{given[1]}&gt;" if given[1] else "", "tag; xtag; htag"),
    (_raised, "sup; superscript; smallsup"),
    (_lowered, "sub; subscript"),
    (_over, "su; subsup; sup sub; supsub"),
    (_times_ten, "e; esp; x10^; scinote"),
    (_root, "sqrt; radic; root"),
    (_size, "height; weight; mass; length; hauteur"),
    (_percentage, "percentage; percent; pct; %"),
    (_rounded, "rnd; round"),
    (_ordinal, "ordinal; ord; nth; ordinal to word"),
    (_age, "age; age in years; age nts; age for infobox; age in days; years ago; time ago; for year month day"),
    (_coordinates, "coord; coordinates"),
    (_joined(" "), "currency; money; bibleref; bibleref2; bibleverse; bible"),
    (_before("U.S. Patent "), "us patent; ustext patent"),
    (_old_style, "oldstyledate; old style date; osdate"),
    (_this("Y"), "currentyear; localyear"),
    (_this("m"), "currentmonthname; localmonthname"),
    (_this("d"), "currentday; localday"),
    (_constant("⇌"), "eqm"),
    (_constant("†"), "extinct; dagger"),
    (_constant("'\""), "'\"; '-\""),
    (_constant("' \""), "' \""),
    (_constant('"'), '-"'),
    (_before("vol. "), "vol.; vol"),
    (_before("p. "), "p.; page"),
    (_before("pp. "), "pp."),
    (_before("no. "), "no."),
    (_before("±"), "plusminus; plus-minus; +/-; ±"),
    (_before("OCLC "), "oclc"),
    (_before("ISSN "), "issn"),
    (_before("doi:"), "doi"),
    (_after("′"), "prime"),
    (_after("″"), "pprime"),
    (_after(" BC"), "bc"),
    (_after(" BCE"), "bce"),
    (_after(" AD"), "ad"),
    (_after("°"), "deg; degree; degrees; °"),
    (_after(" °C"), "°c; degc; celsius"),
    (_after(" °F"), "°f; degf; fahrenheit"),
    (
        _argument(2),
        "lang; langx; lang-x; native name; native phrase; rtl-lang; wikt-lang; wt; wikt; color; colour; font color; "
        "font colour; fontcolor",
    ),
    (_last, "transl; transliteration; translit; script; resize; font; sort; iast; iso 15919; ltr; bdi; zh-tw"),
    (_joined(""), "not a typo; notatypo; typo; proper name; as written; hsp; linktext-joined; nuclide text"),
    (_chemical, "chem; chem2; chemical formula"),
    (_joined(" "), "linktext; gaps; sortname; first last; usd text; given name; surname"),
    (_joined("-"), "respell; simplenuclide; simplenuclide2; nuclide; nuclide2"),
    (_joined("+"), "key; keypress; key press"),
    (_joined(", "), "hlist; flat list; comma separated entries; csv; cslist; enum"),
    (_items, "ubl; unbulleted list; vunblist; bulleted list; ordered list; columns-list; div col list; colist; blist"),
    (
        _quote,
        "quote; quotation; blockquote; block quote; bquote; cquote; rquote; centered pull quote; pull quote; "
        "poemquote; poem quote; verse translation; blockquotation; long quote; quote2",
    ),
    (_convert, "convert; cvt; conv"),
    (_nihongo, "nihongo; nihongo2; nihongo3; nihongo krt; nihongo core; korean; japanese text"),
    (_as_of, "as of; asof; asof2"),
    (
        _ipa_english,
        "ipac-en; ipac-fr; ipac-de; ipac-pl; ipac-it; ipac-es; ipac-hu; ipac-ar; ipac-cmn; ipac-yue; ipac-ga",
    ),
    (_value, "val; value"),
    (_fraction, "frac; fraction; sfrac; fract; vulgar fraction; mfrac"),
    (_power, "pow; powb; 10^; exp; exponent"),
    (_chinese, "zh; lang-zh; zh-full; chinese text; linktext zh"),
    (
        _date,
        "date text; dts; birth date; death date; start date; end date; start date and age; dob; film-date; film "
        "date; launch date; birth-date; death-date; birth year; death year; start-date; end-date",
    ),
    (_born, "birth date and age; birth-date and age; bda"),
    (_died, "death date and age; death-date and age; dda"),
    (_born_in, "birth year and age"),
    (_died_in, "death year and age"),
    (_duration, "duration"),
    (lambda given: given[1], "date"),
    (_note("Main article"), "main; main article; main articles; mainarticle"),
    (_note("See also"), "see also; seealso; also"),
    (_note("Further information"), "further; further information; further2; details; more"),
    (_circa, "circa; c.; ca."),
    (_before("fl. "), "floruit; fl."),
    (_before("ISBN "), "isbn; isbnt; isbn link"),
    (_before("lit. "), "lit; literal translation; literally; lit."),
    (lambda given: f"‘{given[1]}’" if given[1] else "", "gloss; single+double; gl"),
    (lambda given: f"⟨{given[1]}⟩", "angbr; angle bracket; angbr ipa; angle bracket ipa; grapheme; angbr ipa link"),
    (lambda given: f"/{given[1]}/", "ipaslink; phoneme; ipa slash"),
    (lambda given: given[2] or given[1], "url; official; mailto; link; wikisourcelang; ill-wd"),
    (lambda given: f"{given[1]} [sic]" if given[1] and given["hide"] == "" else given[1] or "[sic]", "sic"),
    (_dash_range, "reign; year range; yr range; dash range; b-d; range"),
    (
        _constant(" – "),
        "spaced ndash; snd; snds; spnd; sndash; spndash; spaced en dash; dash; spaced en dash space; –; ndash space",
    ),
    (_constant("–"), "ndash; en dash; endash; nsndns; nsnd"),
    (_constant("—"), "mdash; em dash; emdash; nsmdns; spaced mdash; mdashb; —"),
    (
        _constant(" "),
        "nbsp; spaces; space; thinsp; thin space; hair space; hairsp; nnbsp; pad; 0; break; wbr; zwsp; sp; 4nbsp",
    ),
    (_constant(" · "), "·; middot; dot; •; bull; bullet; dotsep; nowrap dot; \\; dotted; ndot; centerdot"),
    (_constant("'"), "'; apos"),
    (_constant("'s"), "'s"),
    (_constant('" '), '" \'; "\'; "'),
    (_constant("|"), "!; pipe"),
    (_constant("="), "=; equals"),
    (_constant("ʻ"), "okina; ʻ; ayin; ayn"),
    (_constant("ʼ"), "hamza; saltillo"),
    (_constant("π"), "pi"),
    (_constant("∞"), "infinity; infin"),
    (_constant("−"), "minus; −"),
    (_constant("▲"), "increase; increasenegative; up; gain; profit"),
    (_constant("▼"), "decrease; decreasepositive; down; loss"),
    (_constant("×"), "times; x; cross; ×"),
    (lambda given: {"sharp": "♯", "flat": "♭", "natural": "♮"}.get(given[1], given[1]), "music"),
    (lambda given: {"sharp": "♯"}.get(given[1], "♯"), "sharp; music sharp"),
    (_constant("♭"), "flat; music flat; b-flat"),
)
_SHIPS = ("uss", "hms", "ss", "rms", "mv", "hmas", "hmcs", "hmnzs", "ins", "usns", "uscgc", "css", "sms")
_MONEY = {
    "US$": "us$; usd; us dollar", "£": "gbp; £; pound sterling", "€": "euro; eur; €", "¥": "jpy; ¥; cny; yen",
    "₹": "inr; indian rupee; ₹", "A$": "a$; aud", "C$": "cad; c$", "₩": "krw", "NZ$": "nzd; nz$", "₽": "rub",
}  # fmt: skip


def _table() -> dict[str, Callable[[Arguments], str]]:
    ships = ((_ship(prefix.upper()), prefix) for prefix in _SHIPS)
    money = ((_money(sign), names) for sign, names in _MONEY.items())
    return {name.strip(): template for template, names in (*_NAMES, *ships, *money) for name in names.split(";")}


#: The functions from a template's ``Arguments`` to its text, by the template's name in lower case.
TEMPLATES: Mapping[str, Callable[[Arguments], str]] = _table()
