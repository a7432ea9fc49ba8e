"""Mails become their best body; quotes, signatures and headers are facts about it, and attachments come apart."""

from email.message import EmailMessage

import pytest

from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.mail import convert
from pychunk.parsing.pdf.paged_text import Paged


def mail(body: str = "Yes.", **headers: str) -> EmailMessage:
    message = EmailMessage()
    for name, value in {"From": "Anna <a@b.c>", "Subject": "Cats", **headers}.items():
        message[name] = value
    message.set_content(body)
    return message


def removed(found: Paged) -> list[tuple[str, str]]:
    return [(span.reason, found.text[span.start : span.end]) for span in found.removed]


def test_headers_are_facts() -> None:
    found = convert(mail(To="x@y.z", Cc="q@r.s", Date="Mon, 02 Jan 2023 10:00:00 +0100").as_bytes())
    assert (found.text, found.title) == ("Yes.", "Cats")
    assert found.facts == {
        "sender": "Anna <a@b.c>",
        "recipients": "x@y.z, q@r.s",
        "date": "2023-01-02T10:00:00+01:00",
    }


def test_quotes_and_signatures_are_removed_with_a_reason() -> None:
    body = "No.\n\nOn Monday, Ben wrote:\n> Do they?\n>> Deep\n\n> More\n\nBye\n-- \nAnna\n\nPhone 1\n"
    found = convert(mail(body).as_bytes())
    assert removed(found) == [
        ("quoted_reply", "On Monday, Ben wrote:\n> Do they?\n>> Deep\n\n> More"),
        ("signature", "-- \nAnna\n\nPhone 1"),
    ]
    assert found.text == body.rstrip()
    kept = convert(mail("He wrote:\n\ncode > 3\n\n--\nx\n").as_bytes())
    assert removed(kept) == [("signature", "--\nx")]
    whole = convert(mail("Hi\n\n-----Original Message-----\nFrom: x\n\nOld text\n").as_bytes())
    assert removed(whole) == [("quoted_reply", "-----Original Message-----\nFrom: x\n\nOld text")]


def test_plain_text_is_preferred_and_html_is_read_if_there_is_nothing_else() -> None:
    both = mail("Plain.")
    both.add_alternative("<p>Markup.</p>", subtype="html")
    assert convert(both.as_bytes()).text == "Plain."
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    only = mail()
    only.set_content('<h1>News</h1><p>Hi</p><blockquote type="cite"><p>Old.</p></blockquote>', subtype="html")
    found = convert(only.as_bytes())
    assert found.text.startswith("# News\n\nHi")
    assert [reason for reason, _ in removed(found)] == ["quoted_reply"]


def test_attachments_have_names_and_bytes_and_images_of_the_body_are_left_out() -> None:
    inner = mail("Inner.")
    message = mail()
    message.add_attachment(b"# A", maintype="text", subtype="markdown", filename="../a.md")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="i.png", disposition="inline")
    message.add_attachment(inner)
    found = convert(message.as_bytes())
    assert [name for name, _ in found.attached] == [".._a.md", "2.eml"]
    assert found.attached[0][1] == b"# A"
    assert convert(found.attached[1][1]).text == "Inner."


def test_unknown_encodings_and_damaged_headers_are_read() -> None:
    raw = b"From: a@b.c\nSubject: =?x-none?q?=41?=\nDate: never\n"
    raw += b"Content-Type: text/plain; charset=x-none\n\nCaf\xc3\xa9\n"
    found = convert(raw)
    assert (found.text, found.facts["date"]) == ("Café", "")
    with pytest.raises(ConversionError, match="not a mail"):
        convert(b"\nNo header at all\n")


def test_a_hundred_levels_are_read() -> None:
    depth, parts, ends = 100, [], []
    for level in range(depth):
        parts.append(f'Content-Type: multipart/mixed; boundary="b{level}"\n\n--b{level}\n')
        ends.append(f"\n--b{level}--\n")
    raw = "Subject: Deep\n" + "".join(parts) + "Content-Type: text/plain\n\nBottom.\n" + "".join(reversed(ends))
    assert convert(raw.encode()).text == "Bottom."
