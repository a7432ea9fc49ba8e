"""Subtitles become sentences, and each cue has its first character and its time."""

import pytest

from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.subtitles import convert

SRT = (
    "1\n00:00:01,000 --> 00:00:02,000\n<i>Good</i>\n\n2\n00:00:02,100 --> 00:00:03,500\n{\\an8}evening,\nAnna.\n\n"
    "3\n01:01:02,000 --> 01:01:03,500\nNext.\n"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line", ["\n", "\r\n"])
def test_cues_are_joined_to_sentences(encoding: str, line: str) -> None:
    found = convert(SRT.replace("\n", line).encode(encoding))
    assert found.text == "Good evening, Anna.\n\nNext."
    assert [(cue["start"], cue["seconds"]) for cue in found.facts["cues"]] == [(0, 1.0), (5, 2.1), (21, 3662.0)]
    assert list(zip(found.blocks.start.tolist(), found.blocks.end.tolist())) == [(0, 19), (21, 26)]


def test_webvtt_has_hours_only_if_needed_and_notes_and_styles() -> None:
    vtt = "WEBVTT\n\nNOTE no words\n\nSTYLE\n::cue {}\n\nintro\n"
    vtt += "00:01.500 --> 00:02.000 align:start\n<v Anna>Hello <00:01.800>you.\n"
    found = convert(vtt.encode())
    assert (found.text, found.facts["cues"]) == ("Anna: Hello you.", [{"start": 0, "seconds": 1.5}])


def test_a_paragraph_begins_with_another_speaker() -> None:
    cues = [
        "<v Anna Lee>Good",
        "<v Anna Lee>evening.</v>",
        "<v.loud Bob>Hi. <v Anna Lee>Fine, R&amp;D?",
        "So <i>it</i> is.",
    ]
    vtt = "WEBVTT\n" + "".join(f"\n00:0{at}.000 --> 00:0{at + 1}.000\n{cue}\n" for at, cue in enumerate(cues))
    found = convert(vtt.encode())
    assert found.text == "Anna Lee: Good evening.\n\nBob: Hi.\n\nAnna Lee: Fine, R&D? So it is."
    assert [(found.text[cue["start"] :][:4], cue["seconds"]) for cue in found.facts["cues"]] == [
        ("Anna", 0.0),
        ("even", 1.0),
        ("Bob:", 2.0),
        ("Anna", 2.0),
        ("So i", 3.0),
    ]


def test_captions_that_roll_are_read_once() -> None:
    cues = [
        " \nhello<00:00:00.500><c> world</c>",
        "hello world\n ",
        "hello world\nthis<00:00:02.500><c> is</c>",
        "this is",
    ]
    vtt = "WEBVTT\n" + "".join(f"\n00:0{at}.000 --> 00:0{at + 1}.000\n{cue}\n" for at, cue in enumerate(cues))
    found = convert(vtt.encode())
    assert (found.text, found.facts["cues"]) == (
        "hello world this is",
        [{"start": 0, "seconds": 0.0}, {"start": 12, "seconds": 2.0}],
    )
    assert convert(b"WEBVTT\n\n00:01.000 --> 00:02.000\nNo.\n\n00:02.000 --> 00:03.000\nNo.\n").text == "No. No."


def test_cues_without_a_blank_line_between_them_are_apart() -> None:
    found = convert(b"1\n00:00:01,000 --> 00:00:02,000\nOne.\n2\n00:00:02,000 --> 00:00:03,000\nTwo.\n")
    assert found.text == "One. Two."


def test_a_cue_whose_times_are_damaged_follows_the_one_before() -> None:
    found = convert(SRT.replace("00:00:02,100 --> 00:00:03,500", "00:00:02,1xx --> 00:00:03,500").encode())
    assert found.text == "Good evening, Anna.\n\nNext."
    assert [cue["seconds"] for cue in found.facts["cues"]] == [1.0, 2.0, 3662.0]


def test_words_after_a_blank_line_and_arrows_in_speech_stay() -> None:
    cues = "1\n00:00:01,000 --> 00:00:02,000\nOne\n\ntwo --> three\n\n2\n00:00:02,000 --> 00:00:03,000\n1984\n\n"
    assert (
        convert((cues + "00:00:03,000 --> 00:00:04,000\nA &amp; B.\n").encode()).text == "One two --> three 1984 A & B."
    )


@pytest.mark.parametrize(
    ("data", "reason"), [(b"Only text.", "no subtitles"), ("“é” – 5 €".encode("cp1252") * 9, "invalid UTF-8 at byte 0")]
)
def test_other_bytes_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        convert(data)
