"""Templates that carry prose or values, as text: a table by name; all others are left out.

The names are those of the English Wikipedia, which many others share. ``Cleaner(templates=...)`` takes more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

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
]  # "as of" has English text in any case


class Arguments:
    """A template's arguments: positional ones in order from 1, named ones by name.

    >>> given = Arguments("quote|To be|author=Hamlet")
    >>> given.name, given[1], given["author"], given[2]
    ('quote', 'To be', 'Hamlet', '')
    """

    __slots__ = ("_named", "name", "positional")

    def __init__(self, content: str) -> None:
        first, *rest = content.split("|")
        self.name = name_of(first)
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
        """An argument's text; "" where it was not given. A number may be given by position or as 1=."""
        if isinstance(key, str):
            return self._named.get(key, "")
        if str(key) in self._named:
            return self._named[str(key)]
        return self.positional[key - 1] if key <= len(self.positional) else ""

    @property
    def values(self) -> list[str]:
        """Positional arguments that are not empty, also those given by number."""
        numbered = [value for name, value in self._named.items() if name.isdigit()]
        return [value for value in (*self.positional, *numbered) if value]


def name_of(text: str) -> str:
    """A template's name as the table has it: lower case, no underscores, no "Template:" before it."""
    return text.strip().replace("_", " ").lower().removeprefix("template:").strip()


def render(content: str, more: Mapping[str, Callable[[Arguments], str]]) -> str:
    """The text of a template whose inside is ``content``; "" where it carries none that is known.

    >>> render("convert|5|km|mi", {}), render("Infobox|name=x", {})
    ('5 km', '')
    """
    name = name_of(content.partition("|")[0])
    template = more.get(name) or TEMPLATES.get(name)
    if template is not None:
        return template(Arguments(content))
    if _LANGUAGE.fullmatch(name):
        return Arguments(content)[1]
    function, colon, _ = name.partition(":")
    if colon and function in ("formatnum", "lc", "uc", "lcfirst", "ucfirst", "nowrap"):
        return content.partition(":")[2].partition("|")[0].strip()
    return ""


def _argument(number: int) -> Callable[[Arguments], str]:
    return lambda given: given[number]


def _constant(text: str) -> Callable[[Arguments], str]:
    return lambda _: text


def _last(given: Arguments) -> str:
    values = given.values
    return values[-1] if values else ""


def _joined(separator: str) -> Callable[[Arguments], str]:
    return lambda given: separator.join(given.values)


def _before(prefix: str) -> Callable[[Arguments], str]:
    """Text before the first argument, where there is one."""
    return lambda given: prefix + given[1] if given[1] else ""


def _note(label: str) -> Callable[[Arguments], str]:
    """A line that points to other articles: "Main article: History of Rome"."""

    def line(given: Arguments) -> str:
        names = [value.replace("#", " § ") for value in given.values]
        return f"\n\n{label}: {', '.join(names)}\n\n" if names else ""

    return line


def _quote(given: Arguments) -> str:
    text = given["text"] or given["quote"] or given[1]
    by = given["author"] or given["sign"] or given["by"] or (given[2] if given["text"] == "" else given[1])
    source = given["source"] or given["title"]
    signed = ", ".join(part for part in (by, source) if part)
    return f"\n\n{text}\n\n{'— ' + signed if signed else ''}\n\n" if text else ""


def _convert(given: Arguments) -> str:
    """The value that was given, with its unit: conversions are arithmetic, not text."""
    values = [value for value in given.positional if value]
    out: list[str] = []
    for i, value in enumerate(values[:8]):
        out.append(value)
        following = values[i + 1] if i + 1 < len(values) else ""
        number = _NUMBER.fullmatch(value) is not None
        before_number = i > 0 and _NUMBER.fullmatch(values[i - 1]) is not None
        if not number and before_number and value not in _RANGES and not _NUMBER.fullmatch(following):
            break  # a unit that no number follows: what comes after it is a unit to convert to
    return " ".join(_RANGES.get(word, word) for word in out)


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
    """IPAc-en takes one sound an argument, and words such as "lang" for a label."""
    labels = {"lang", "local", "pron", "us", "uk", "ipa", "en", "also", "us-also", "uk-also"}
    sounds = [" " if value == "_" else value for value in given.positional if value.lower() not in labels]
    return f"/{''.join(sounds)}/" if any(sounds) else ""


def _value(given: Arguments) -> str:
    text = given[1] + (f"±{given[2]}" if given[2] else "") + (f"×10^{given['e']}" if given["e"] else "")
    unit = given["u"] or given["ul"]
    return f"{text} {unit}" if unit else text


def _fraction(given: Arguments) -> str:
    parts = given.values
    if len(parts) == 1:
        return f"1/{parts[0]}"
    return f"{' '.join(parts[:-2])} {parts[-2]}/{parts[-1]}".strip() if parts else ""


def _power(given: Arguments) -> str:
    base, exponent = (given[1], given[2]) if given[2] else ("10", given[1])
    return f"{base}^{exponent}"


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


def _table() -> dict[str, Callable[[Arguments], str]]:
    found: dict[str, Callable[[Arguments], str]] = {}

    def add(template: Callable[[Arguments], str], names: str) -> None:
        found.update(dict.fromkeys((name.strip() for name in names.split(";")), template))

    add(
        _argument(1),
        "nowrap; nobr; nobreak; no wrap; small; smaller; smalldiv; big; larger; large; nobold; noitalic; em; "
        "strong; abbr; abbrlink; tooltip; sc; sc2; smallcaps; smallcaps2; aut; vanchor; visible anchor; unicode; mono; "
        "code; tt; kbd; samp; var; mvar; math; tmath; char; ipa; ipa link; ipalink; ipa-all; hebrew; overline; "
        "underline; u; i; b; strikethrough; ce; citation needed span; clarify span; cns; interlanguage link; ill; "
        "number table sorting; nts; ntsh; flag; flagu; flagcountry; plainlist; flatlist; crossref; cross reference; "
        "crossreference; center; centre; noprint; highlight; nastaliq",
    )
    add(
        _argument(2),
        "lang; langx; lang-x; rtl-lang; wikt-lang; wt; wikt; color; colour; font color; font colour; fontcolor",
    )
    add(_last, "transl; transliteration; translit; script; resize; font; sort; hs; iast; iso 15919; ltr; bdi; zh-tw")
    add(
        _joined(""),
        "not a typo; notatypo; typo; proper name; as written; chem; chem2; hsp; linktext-joined; nuclide text",
    )
    add(_joined(" "), "linktext; gaps; sortname; first last; usd text; given name; surname")
    add(_joined("-"), "respell; simplenuclide; simplenuclide2")
    add(_joined("+"), "key; keypress; key press")
    add(_joined(", "), "hlist; flat list; comma separated entries; csv; cslist; enum")
    add(
        _items, "ubl; unbulleted list; vunblist; bulleted list; ordered list; columns-list; div col list; colist; blist"
    )
    add(_quote, "quote; quotation; blockquote; block quote; bquote; cquote; rquote; centered pull quote; pull quote;"
        " poemquote; poem quote; verse translation; blockquotation; long quote; quote2")  # fmt: skip
    add(_convert, "convert; cvt; conv")
    add(_nihongo, "nihongo; nihongo2; nihongo3; nihongo krt; nihongo core; korean; japanese text")
    add(_as_of, "as of; asof; asof2")
    add(
        _ipa_english,
        "ipac-en; ipac-fr; ipac-de; ipac-pl; ipac-it; ipac-es; ipac-hu; ipac-ar; ipac-cmn; ipac-yue; ipac-ga",
    )
    add(_value, "val; value")
    add(_fraction, "frac; fraction; sfrac; fract; vulgar fraction; mfrac")
    add(_power, "pow; powb; 10^; e")
    add(_chinese, "zh; lang-zh; zh-full; chinese text; linktext zh")
    add(_date, "date text; dts; birth date; death date; start date; end date; birth date and age; death date and age; "
        "start date and age; dob; film-date; launch date")  # fmt: skip
    add(lambda given: given[1], "date; dtsh")
    add(_note("Main article"), "main; main article; main articles; mainarticle")
    add(_note("See also"), "see also; seealso; also")
    add(_note("Further information"), "further; further information; further2; details; more")
    add(_before("c. "), "circa; c.; ca.")
    add(_before("fl. "), "floruit; fl.")
    add(_before("ISBN "), "isbn; isbnt; isbn link")
    add(_before("lit. "), "lit; literal translation; literally; lit.")
    add(lambda given: f"‘{given[1]}’" if given[1] else "", "gloss; single+double; gl")
    add(lambda given: f"⟨{given[1]}⟩", "angbr; angle bracket; angbr ipa; angle bracket ipa; grapheme; angbr ipa link")
    add(lambda given: f"/{given[1]}/", "ipaslink; phoneme; ipa slash")
    add(lambda given: given[2] or given[1], "url; official; mailto; link; wikisourcelang; ill-wd")
    add(lambda given: f"{given[1]} [sic]" if given[1] and given["hide"] == "" else given[1] or "[sic]", "sic")
    add(_dash_range, "reign; year range; yr range; dash range; b-d; range")
    add(
        _constant(" – "),
        "spaced ndash; snd; spnd; sndash; spndash; spaced en dash; dash; spaced en dash space; –; ndash space",
    )
    add(_constant("–"), "ndash; en dash; endash; nsndns; nsnd")
    add(_constant("—"), "mdash; em dash; emdash; nsmdns; spaced mdash; mdashb; —")
    add(
        _constant(" "),
        "nbsp; spaces; space; thinsp; thin space; hair space; hairsp; nnbsp; pad; 0; break; wbr; zwsp; sp; 4nbsp",
    )
    add(_constant(" · "), "·; middot; dot; •; bull; bullet; dotsep; nowrap dot; \\; dotted; ndot; centerdot")
    add(_constant("'"), "'; apos")
    add(_constant("'s"), "'s")
    add(_constant('" '), '" \'; "\'; "')
    add(_constant("|"), "!; pipe")
    add(_constant("="), "=; equals")
    add(_constant("ʻ"), "okina; ʻ; ayin; ayn")
    add(_constant("ʼ"), "hamza; saltillo")
    add(_constant("π"), "pi")
    add(_constant("∞"), "infinity; infin")
    add(_constant("×"), "times; x; cross; ×")
    add(lambda given: {"sharp": "♯", "flat": "♭", "natural": "♮"}.get(given[1], given[1]), "music")
    add(lambda given: {"sharp": "♯"}.get(given[1], "♯"), "sharp; music sharp")
    add(_constant("♭"), "flat; music flat; b-flat")
    for prefix in ("uss", "hms", "ss", "rms", "mv", "hmas", "hmcs", "hmnzs", "ins", "usns", "uscgc", "css", "sms"):
        add(_ship(prefix.upper()), prefix)
    for sign, names in {
        "US$": "us$; usd; us dollar", "£": "gbp; £; pound sterling", "€": "euro; eur; €", "¥": "jpy; ¥; cny; yen",
        "₹": "inr; indian rupee; ₹", "A$": "a$; aud", "C$": "cad; c$", "₩": "krw", "NZ$": "nzd; nz$", "₽": "rub",
    }.items():  # fmt: skip
        add(_money(sign), names)
    return found


#: Functions from Arguments to text, by lower-case name.
TEMPLATES: Mapping[str, Callable[[Arguments], str]] = _table()
