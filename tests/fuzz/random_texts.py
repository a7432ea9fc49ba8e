"""Texts from a grammar of all of Unicode: words of many scripts, odd spaces and breaks, raw code points."""

from __future__ import annotations

import random

SPACES = [
    " ",
    " ",
    " ",
    "  ",
    "\t",
    "\xa0",
    "\u3000",
    "\u2003",
    "\u200a",
    "\u202f",
    "\u205f",
    "\u1680",
    "\x1f",
    "\u2009 ",
]
BREAKS = [
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\r\n\r\n",
    "\n \n",
    "\v",
    "\f",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x85",
    "\u2028",
    "\u2029",
    "\n\f",
    "\n\n\n\n",
]
CONTROLS = [
    "\0",
    "\x01",
    "\x08",
    "\x1b",
    "\x7f",
    "\x80",
    "\x9f",
    "\u200b",
    "\u200c",
    "\u200d",
    "\u200e",
    "\u202e",
    "\u2060",
    "\ufeff",
    "\u00ad",
]
EDGES = [
    "\ud7ff",
    "\ue000",
    "\ufffd",
    "\ufffe",
    "\uffff",
    "\U00010000",
    "\U0010ffff",
    "\U0001ffff",
    "\x7f\x80",
    "\u07ff\u0800",
    "\u0378",
    "\U000e0001",
    "\ufdd0",
]
MARKS = [
    "e\u0301",
    "a\u0308\u0323",
    "\u0301",
    "क्षि",
    "กำ",
    "\u0b95\u0bcb",
    "Z\u0300\u0301\u0302\u0303\u0304",
    "İ",
    "ß",
    "ﬁ",
    "Å",
    "ſ",
    "\u0345",
]
EMOJI = ["👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇩🇪🇫🇷", "👍🏽", "❤️", "1️⃣", "😀"]
WORDS = [
    "the",
    "cat",
    "Dogs",
    "unfamiliar",
    "taxpayers",
    "internationalization",
    "a",
    "I",
    "x",
    "naïve",
    "COVID-19",
    "don't",
    "e.g.",
    "U.S.",
    "Dr.",
    "Mr.",
    "p.m.",
    "i.e.",
    "Fig. 3",
    "No. 5",
    "vs.",
    "etc.",
    "J. R. R. Tolkien",
    "state-of-the-art",
    "https://example.org/a?b=c.d",
    "me@example.org",
    "qwrtzxcv",
]
SCRIPTS = [
    "中文没有空格",
    "他走了。“你好！”她说。",
    "「本当です。」と彼は言った。",
    "東京",
    "한국어 문장입니다.",
    "Привет, мир!",
    "Ελληνικά;",
    "مرحبا بالعالم؟",
    "שלום",
    "हिन्दी में वाक्य।",
    "ไม่มีช่องว่าง",
    "ქართული",
    "Việt Nam",
    "አማርኛ።",
    "မြန်မာ။",
    "ᠮᠣᠩᠭᠣᠯ᠃",
]
NUMBERS = [
    "1",
    "3.14",
    "1,000.5",
    "1.",
    "2)",
    "(3)",
    "IV.",
    "§ 5",
    "10%",
    "-7",
    "2020-01-01",
    "12:30",
    "1/2",
    "²",
    "٣",
    "Ⅷ",
]
ENDS = [".", ".", ".", "!", "?", "...", "…", "。", "！", "?!", ".”", ".)", ".'", "।", "؟", ":", ";", ".[1]"]
OPENERS = ["“", "(", "[", "'", '"', "«", "„", "‘", "「", "»", "*", "_", "<b>", "- ", "• "]
CLOSERS = ["”", ")", "]", "'", '"', "»", "“", "’", "」", "«", "*", "_", "</b>"]
LINES = [
    "# Heading",
    "1. First item",
    "- an item",
    "* another",
    "a) sub",
    "Title Case Heading",
    "| a | b |",
    "```",
    "Chapter 2",
    "---",
    "===",
    "ALL CAPS",
]
ALPHABETS = ["a", "ab", "abcdefghij", "A1b2/+", "中文字", "กขค", "é", "»", "👍", "\u0301", "-", ".", "_"]


def _run(rng: random.Random) -> str:
    """Return text without a space, up to some hundred characters: around the 100 that budgets treat separately."""
    alphabet = rng.choice(ALPHABETS)
    length = rng.choice([3, 20, 99, 100, 101, 130, 250, rng.randrange(1, 300)])
    return "".join(rng.choice(alphabet) for _ in range(length))


def _word(rng: random.Random) -> str:
    r = rng.random()
    if r < 0.72:
        return rng.choice(WORDS)
    if r < 0.80:
        return rng.choice(SCRIPTS)
    if r < 0.86:
        return rng.choice(NUMBERS)
    if r < 0.89:
        return rng.choice(MARKS)
    if r < 0.91:
        return rng.choice(EMOJI)
    if r < 0.93:
        return rng.choice(CONTROLS)
    if r < 0.95:
        return rng.choice(EDGES)
    if r < 0.97:
        return _run(rng)
    return rng.choice(OPENERS) + rng.choice(WORDS) + rng.choice(CLOSERS)


def _sentence(rng: random.Random, spaces: list[str]) -> str:
    words = [_word(rng) for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 5, 8] if rng.random() < 0.97 else [30]))]
    text = "".join(word + rng.choice(spaces) for word in words).rstrip(" ")
    if text and rng.random() < 0.5:
        text = text[0].upper() + text[1:]
    return text + rng.choice(ENDS)


def _raw(rng: random.Random) -> str:
    """Return arbitrary code points, most of them from the ranges with special rules."""
    ranges = [
        (0, 0x80),
        (0x80, 0x250),
        (0x300, 0x370),
        (0x600, 0x700),
        (0x2000, 0x2070),
        (0x3000, 0x3040),
        (0xE000, 0x110000),
        (0, 0xD800),
    ]
    return "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.choice([1, 5, 20, 60])))


def make_text(rng: random.Random) -> str:
    """Return one document."""
    if rng.random() < 0.04:
        return rng.choice(["", " ", "\n\n", "a", ".", "\0", "\f", "\ufeff", "\u0301", _run(rng)])
    spaces = [" "] if rng.random() < 0.6 else SPACES
    breaks = ["\n", "\n\n"] if rng.random() < 0.5 else BREAKS
    width = rng.choice([0, 0, 0, 40, 72])
    parts: list[str] = []
    for _ in range(rng.choice([1, 1, 2, 3, 4, 6] if rng.random() < 0.96 else [20, 100])):
        r = rng.random()
        if r < 0.85:
            text = _sentence(rng, spaces)
        elif r < 0.92:
            text = rng.choice(breaks) + rng.choice(LINES) + rng.choice(breaks)
        elif r < 0.96:
            text = _raw(rng)
        else:
            text = rng.choice(parts) if parts else _run(rng)
        parts.append(text)
        parts.append(rng.choice(breaks) if rng.random() < 0.25 else rng.choice(spaces) if rng.random() < 0.95 else "")
    text = "".join(parts)
    if width:  # hard-wrapped
        lines, line = [], ""
        for word in text.split(" "):
            if len(line) + len(word) > width:
                lines.append(line)
                line = ""
            line += word + " "
        text = "\n".join([*lines, line])
    return text
