"""Pages without visible text: the reason why they have none, and the text that their JSON-LD has instead."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._engine.data.blocks import FORM
from .encodings import decode
from .html_facts import Names
from .page import parse_html

if TYPE_CHECKING:
    from .page import HtmlPage

#: The maximum number of characters, without noise, of a page that may be only a notice about scripts, and of a page
#: that may be only a request for consent. The longest requests of a search engine have 1,800.
_NOTICE_CHARS, _CONSENT_CHARS = 800, 2500
#: The maximum number of other characters on a page that is only a notice, such as a name or "Loading".
_BESIDE_CHARS = 60
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")
#: A sentence that asks to enable scripts, in the languages of most pages, or says that the browser is being checked.
_SCRIPTS = re.compile(
    r"java[\s-]?script.{0,80}(?:enabl|disabl|turn|activ|allow|requir|need|support|without|must|on\b|off\b|aktivier|"
    r"eingeschaltet|deaktiv|benötig|habilit|abilit|ativ|włącz|wyłącz|zapn|vypn|включ|отключ|выключ|увімкн|вимкн|有効|無効|"
    r"启用|禁用|啟用|停用|활성|켜)"
    r"|(?:enabl|disabl|turn|activ|allow|requir|need|support|without|aktivier|einschalt|deaktiv|benötig|habilit|abilit|ativ|"
    r"włącz|zapn|включ|отключ|увімкн|启用|啟用|请开启).{0,80}java[\s-]?script"
    r"|checking (?:your browser|if the site connection is secure)|verify(?:ing)? (?:that )?you are (?:a )?human",
    re.I,
)
#: The subjects of requests for consent, and the labels of their buttons.
_CONSENT = re.compile(
    r"cookie|consent|gdpr|privacy|personal (?:data|information)|our partners|vendors|tracking|before you continue|"
    r"datenschutz|einwilligung|zustimm|données personnelles|confidentialité|consentement|privacidad|consentimiento|"
    r"privacidade|riservatezza|consenso|prywatno|zgod[aęy]|конфиденциальн|согласи|конфіденційн|згод[аиу]",
    re.I,
)
_BUTTON = re.compile(
    r"accept|agree|allow|consent|reject|decline|refuse|got it|manage (?:options|settings|preferences)|more options|"
    r"continue|akzeptier|zustimm|ablehn|einverstanden|accepter|refuser|aceptar|rechazar|aceitar|rejeitar|accett|rifiut|"
    r"akceptuj|zgadzam|odrzu|принять|принимаю|соглас|отклон|прийн|погодж|відхил",
    re.I,
)
#: The maximum number of characters on a button, and the maximum number of buttons and links that are checked.
_BUTTON_CHARS, _PRESSED = 40, 500
#: The beginning of the reason for a page whose blocks were all taken for noise.
ALL_REMOVED = "no text is left: "
_NOSCRIPT = Names(("<noscript",))
_SCRIPT, _FRAMESET, _IFRAME = (re.compile(rb"<%b\b" % name, re.I) for name in (b"script", b"frameset", b"iframe"))
_MADE = "no text: the page is made by scripts"
_FRAMES = "no text: the page shows other pages in frames"
#: A placeholder that a script replaces with the page's text.
_WAITS = re.compile(
    r"#* *(?:(?:app |page )?(?:is )?(?:now )?loading|please wait|laden|lädt|wird geladen|chargement(?: en cours)?|"
    r"cargando|carregando|caricamento|ładowanie|загрузка|идёт загрузка|завантаження|読み込み中|加载中|正在加载|載入中|"
    r"로딩 중)[ .…!]*",
    re.I,
)


def why_textless(page: HtmlPage, removed: Sequence[tuple[int, int, str, float]], data: bytes) -> str:
    """Return the reason, for a dead letter, why a page has no text; "" if the page has text.

    Args:
        page: The page.
        removed: The spans of the page's text that are noise.
        data: The bytes of the page.

    Example:
        >>> data = b"<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>"
        >>> why_textless(parse_html(data), [], data)
        'no text: only a notice to enable JavaScript'
    """
    left = len(page.text) - sum(end - start for start, end, _, _ in removed)
    if left > _CONSENT_CHARS + 2 * len(page.blocks.start):
        return ""
    if not page.text.strip():
        if _FRAMESET.search(data):
            return _FRAMES
        if _SCRIPT.search(data):
            return _MADE
        return _FRAMES if _IFRAME.search(data) else "no text: the page is empty"
    starts, ends = page.blocks.start, page.blocks.end
    kept = np.ones(len(starts), np.bool_)
    for start, end, _, _ in removed:
        kept[np.searchsorted(starts, start) : np.searchsorted(starts, end)] = False
    rows = np.flatnonzero(kept) if kept.any() else np.arange(len(starts))
    if (ends[rows] - starts[rows]).sum() <= _CONSENT_CHARS:
        texts = [page.text[starts[row] : ends[row]].strip() for row in rows.tolist()]
        if len(texts) == 1 and _WAITS.fullmatch(texts[0]) and _SCRIPT.search(data):
            return _MADE
        if _asks_for_scripts(texts) or _is_within_noscript(page, rows, texts):
            return "no text: only a notice to enable JavaScript"
        if _asks_for_consent(texts, _pressed(page)):
            return "no text: only a request for consent"
    if not kept.any():
        return f"{ALL_REMOVED}{_blocks(len(starts))} taken for noise"
    return ""


def _blocks(count: int) -> str:
    return "1 block was" if count == 1 else f"{count:,} blocks were"


def _asks_for_scripts(texts: Sequence[str]) -> bool:
    """Return whether texts ask for scripts, and say little else."""
    if sum(map(len, texts)) > _NOTICE_CHARS:
        return False
    sentences = [sentence.strip() for text in texts for sentence in _SENTENCE.findall(text)]
    asked = sum(len(sentence) for sentence in sentences if _SCRIPTS.search(sentence))
    return asked > 0 and sum(map(len, sentences)) - asked <= max(_BESIDE_CHARS, asked)


def _is_within_noscript(page: HtmlPage, rows: Any, texts: Sequence[str]) -> bool:
    """Return whether the texts are short, and all in elements that only browsers without scripts show."""
    if sum(map(len, texts)) > _NOTICE_CHARS:
        return False
    found, _ = _NOSCRIPT.find(page.facts)
    inside = np.zeros(len(page.facts.last), np.bool_)
    for row in found.tolist():
        inside[row : page.facts.last[row]] = True
    return bool(inside[page.facts.element[rows]].all())


def _pressed(page: HtmlPage) -> list[str]:
    """Return the texts of buttons and links."""
    links = 2 * page.facts.link_chars > page.facts.text_chars
    rows = np.flatnonzero((page.blocks.kind == FORM) | links)[:_PRESSED].tolist()
    return [page.text[page.blocks.start[row] : page.blocks.end[row]] for row in rows]


def _asks_for_consent(texts: Sequence[str], pressed: Sequence[str]) -> bool:
    """Return whether texts are only about cookies and privacy, and there is a button to accept.

    A privacy policy has no such button.
    """
    about = sum(len(text) for text in texts if _CONSENT.search(text) or _is_button(text))
    return (
        about > 2 * (sum(map(len, texts)) - about)
        and any(map(_CONSENT.search, texts))
        and any(map(_is_button, pressed))
    )


def _is_button(text: str) -> bool:
    return len(text) <= _BUTTON_CHARS and bool(_BUTTON.search(text))


#: The maximum numbers of bytes of a page's JSON-LD that are read, and of items that are checked.
_JSON_BYTES, _ITEMS = 8 << 20, 10_000
_OPENS = re.compile(r"<script\b[^<>]{0,300}\bld\+json\b[^<>]{0,300}>", re.I)
_CLOSES = re.compile(r"</script", re.I)
_WRAPPED = re.compile(r"^\s*(?:/[/*]\s*)?(?:<!--|<!\[CDATA\[)(?:\s*\*/)?|(?:/[/*]\s*)?(?:-->|\]\]>)(?:\s*\*/)?\s*$")
#: The types of schema.org whose description is about the page's subject. An organisation's description, for example, is
#: about the whole site.
_TYPES = re.compile(
    r"(?:Article|Posting|Report|Product|ProductGroup|Recipe|HowTo|Event|Book|Movie|Course|VideoObject|Dataset|Application|"
    r"Page|CreativeWork|Service|Series|Episode|Game|Place|Accommodation|Question)$"
)
_POSTS = re.compile(r"(?:Article|Posting|CreativeWork)$")
_INSIDE = ("@graph", "mainEntity", "mainEntityOfPage", "hasPart")
_IS_HTML = re.compile(r"<(?:p|br|div|h[1-6]|[uo]l|li|table|b|strong|em|i|a|span)\b[^<>]{0,500}>", re.I)


def linked_page(data: bytes, title: str = "") -> HtmlPage | None:
    r"""Return the page that a page's JSON-LD describes, or None if the JSON-LD has no text either.

    The text is the ``articleBody`` of its items, else their answers, steps and descriptions.

    Args:
        data: The page's bytes.
        title: The title of the page, which the returned page keeps. If it is empty, the JSON-LD's title is used.

    Example:
        >>> found = linked_page(b'<script type="application/ld+json">{"articleBody": "It opened."}</script>')
        >>> found.text
        'It opened.\n'
    """
    if b"ld+json" not in data.lower():
        return None
    text, encoding = decode(data)
    items = [item for found in _found(text) for item in _items(found)]
    bodies = [(item, body) for item in items if (body := _body(item))]
    parts = [_marked(body) for _, body in bodies] or [part for item in items if (part := _described(item))]
    parts = list(dict.fromkeys(parts))
    if not parts:
        return None
    found = parse_html("\n".join(parts))
    if not found.text.strip():
        return None
    named = (name for item in items for key in ("headline", "name") if (name := _string(item, key)))
    return replace(found, title=title or " ".join(next(named, "").split()), encoding=encoding)


def _found(text: str) -> Iterator[Any]:
    """Yield the values of a page's JSON-LD that are valid JSON."""
    end, left = 0, _JSON_BYTES
    for opened in _OPENS.finditer(text):
        if opened.start() < end:  # the tag is inside the previous script
            continue
        closed = _CLOSES.search(text, opened.end())
        end = closed.start() if closed else len(text)
        left -= end - opened.end()
        if left < 0:
            return
        written = _WRAPPED.sub("", text[opened.end() : end])
        try:
            yield json.loads(written.strip().removesuffix(";"), strict=False)
        except (ValueError, RecursionError):
            continue


def _items(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the items that a JSON-LD value describes as parts of the page, in order, but none that these refer to."""
    waiting = [value]
    for _ in range(_ITEMS):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, dict):
            yield value
            waiting += [value[key] for key in reversed(_INSIDE) if isinstance(value.get(key), (dict, list))]


def _kinds(item: dict[str, Any]) -> list[str]:
    """Return the types of an item, without the address or prefix of the vocabulary that defines them."""
    kinds = item.get("@type")
    named = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]
    return [kind.rpartition("/")[2].rpartition(":")[2] for kind in named]


def _body(item: dict[str, Any]) -> str:
    """Return the whole text of an article or a post; "" for an item that has none."""
    return _string(item, "articleBody") or (_string(item, "text") if any(map(_POSTS.search, _kinds(item))) else "")


def _described(item: dict[str, Any]) -> str:
    """Return the description, ingredients, steps or answer of an item that has no body."""
    kinds = item.get("@type")
    if not any(
        isinstance(kind, str) and _TYPES.search(kind) for kind in (kinds if isinstance(kinds, list) else [kinds])
    ):
        return ""
    parts = [_marked(_string(item, "description"))]
    if isinstance(given := item.get("recipeIngredient"), list):
        parts.append("<ul>" + "".join(f"<li>{html.escape(each)}" for each in given if isinstance(each, str)) + "</ul>")
    steps = [_marked(each) for key in ("recipeInstructions", "step") for each in _steps(item.get(key))]
    parts += steps
    if answer := next(_steps(item.get("acceptedAnswer")), ""):
        parts = [f"<h2>{html.escape(_string(item, 'name'))}</h2>", _marked(answer)]
    return "".join(part for part in parts if part)


def _steps(value: Any) -> Iterator[str]:
    """Yield the text of a string or of an item, or the texts of a list of strings and items."""
    for each in value[:_ITEMS] if isinstance(value, list) else [value]:
        text = each if isinstance(each, str) else _string(each, "text") if isinstance(each, dict) else ""
        if text.strip():
            yield text


def _string(item: dict[str, Any], key: str) -> str:
    """Return a value as a string without surrogates, "" if it is not a string."""
    value = item.get(key)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) and value.strip() else ""


def _marked(text: str) -> str:
    """Return a text as HTML. Plain text becomes paragraphs; HTML that was escaped once more is unescaped."""
    if "&lt;" in text and "<" not in text:
        text = html.unescape(text)
    if _IS_HTML.search(text):
        return f"<div>{text}</div>"
    return "".join(f"<p>{html.escape(html.unescape(line))}</p>" for line in text.splitlines() if line.strip())
