"""The conversion of subtitles, in SubRip or WebVTT, to text in sentences, with the time of each cue."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import numpy as np

from ..._engine.data.blocks import Blocks
from ..pdf.paged_text import Paged
from .dispatch import ConversionError, decoded, plain

#: The line of a cue's times, such as ``00:00:01,000 --> 00:00:03,500``; hours may be missing in WebVTT.
_TIMES = re.compile(
    r"^\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})\s*-->\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
)
#: The beginning of such a line, whose times may be damaged.
_ARROW = re.compile(r"\s*[\d:][\w:.,]{0,15}\s*-->")
#: Marks of style: tags such as ``<i>``, and positions such as ``{\an8}``.
_MARKS = re.compile(r"</?[a-zA-Z][^<>]*>|<[\d:.]+>|\{\\[^{}]*\}")
#: The name of the speaker of the words after it, ``<v Anna>``.
_VOICE = re.compile(r"<v(?:\.[^<>\s]*)?[ \t]+([^<>]*\S)[ \t]*>")
#: The time of a word inside a cue. Captions with such times roll: each cue repeats the last line of the one before.
_WORD_TIME = re.compile(r"<\d{2}:[\d:]{2,6}[.,]\d{3}>")
#: The silence, in seconds, after which a new paragraph begins.
PAUSE = 3.0


def convert(data: bytes) -> Paged:
    r"""Convert subtitles to a document without pages.

    A space separates the cues of a paragraph, so that sentences may continue from one cue to the next. A new paragraph
    begins after a silence of 3 seconds, and with another speaker, whose name precedes the words. The fact ``cues``
    lists the first character of each cue in the text and the seconds at which it is shown. A cue whose times cannot be
    read follows the cue before it at once. Notes, styles and marks of style are left out. In captions whose words have
    times, each cue repeats a line, so that a line that equals the one before it is read once.

    Raises:
        ConversionError: The bytes are not text, or have no cue.

    Example:
        >>> found = convert(b"1\n00:00:01,000 --> 00:00:02,000\nGood\n\n2\n00:00:02,000 --> 00:00:03,500\nevening.\n")
        >>> found.text, found.facts["cues"]
        ('Good evening.', [{'start': 0, 'seconds': 1.0}, {'start': 5, 'seconds': 2.0}])
    """
    parts: list[str] = []
    cues: list[dict[str, Any]] = []
    blocks: list[tuple[str, int, int, int]] = []
    at, ended, speaker = 0, 0.0, ""
    for begins, ends, voice, words in _cues(decoded(data)):
        fresh = not parts or begins - ended >= PAUSE or voice not in ("", speaker)
        if voice not in ("", speaker):
            speaker, words = voice, f"{voice}: {words}"
        if parts:
            parts.append("\n\n" if fresh else " ")
            at += len(parts[-1])
        cues.append({"start": at, "seconds": begins})
        start = at if fresh else blocks.pop()[2]
        parts.append(words)
        at += len(words)
        blocks.append(("paragraph", 0, start, at))
        ended = max(ended, ends)
    if not parts:
        raise ConversionError("no subtitles: no line has the times of a cue and text after it")
    return Paged("".join(parts), Blocks.of([blocks]), np.empty(0, np.int64), "", [], [], {"cues": cues})


def _cues(text: str) -> list[tuple[float, float, str, str]]:
    """Return (seconds of the beginning, seconds of the end, speaker, words) of each cue that has words."""
    found = []
    ended, before = 0.0, ""
    rolls = _WORD_TIME.search(text) is not None
    lines = [*plain(text).replace("\0", "").splitlines(), ""]
    # A blank line ends a cue of WebVTT, in which notes may follow. In SubRip only the next cue does.
    blank_ends = lines[0].startswith("WEBVTT")
    at = 0
    while at < len(lines):
        if not _ARROW.match(lines[at]):
            at += 1
            continue
        times = _TIMES.match(lines[at])
        begins, ended = (_seconds(times.groups()[:4]), _seconds(times.groups()[4:])) if times else (ended, ended)
        first = at = at + 1
        while at < len(lines) and not _ARROW.match(lines[at]) and (lines[at] or not blank_ends):
            at += 1
        # The line before the times is the number of their cue, and not the last line of this one.
        numbered = at < len(lines) and _ARROW.match(lines[at]) and lines[at - 1].strip().isdecimal() and at - 1 > first
        shown = lines[first : at - 1 if numbered else at]
        if rolls:
            own = [_words(line) for line in shown]
            shown = [line for line, each in zip(shown, own, strict=True) if each != before]
            before = next((each for each in reversed(own) if each), before)
        voices = _VOICE.split(" ".join(shown))  # the words before the first speaker, then a name and words in turns
        for voice, words in zip(["", *voices[1::2]], map(_words, voices[::2]), strict=True):
            if words:
                found.append((begins, ended, _words(voice), words))
    return found


def _words(text: str) -> str:
    """Return the words of a line without marks of style."""
    return " ".join(unescape(_MARKS.sub("", text)).split())


def _seconds(said: tuple[str | Any, ...]) -> float:
    hours, minutes, seconds, part = said
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(part.ljust(3, "0")) / 1000
