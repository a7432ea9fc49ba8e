"""Mails become the text that they show; quotes, signatures and headers are facts, and attachments come apart."""

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


def test_all_parts_of_text_are_read_in_order() -> None:
    message = mail("One.\n\nOn Monday, Ben wrote:\n> Two.")
    message.make_mixed()
    for content, subtype in (("Three.", "plain"), ("BEGIN:VCALENDAR", "calendar")):
        part = EmailMessage()
        part.set_content(content, subtype=subtype)
        message.attach(part)
    found = convert(message.as_bytes())
    assert found.text == "One.\n\nOn Monday, Ben wrote:\n> Two.\n\nThree.\n\nBEGIN:VCALENDAR"
    assert (removed(found), found.title) == ([("quoted_reply", "On Monday, Ben wrote:\n> Two.")], "Cats")
    assert [found.text[start:end] for start, end in zip(found.blocks.start, found.blocks.end)][-2:] == [
        "Three.",
        "BEGIN:VCALENDAR",
    ]


def test_html_is_read_if_the_plain_text_is_blank() -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    both = mail(" \n")
    both.add_alternative("<p>Markup.</p>", subtype="html")
    both.add_alternative("BEGIN:VCALENDAR", subtype="calendar")
    assert convert(both.as_bytes()).text.strip() == "Markup."


@pytest.mark.parametrize(
    ("said", "encoding", "note"),
    [
        ("", "utf-8", ""),
        ("us-ascii", "utf-8", ""),
        ("x-unknown", "utf-8", ""),
        ("gb2312", "gb18030", ""),
        ("utf-8", "koi8-r", "read as koi8_u, which is a guess"),
        ("iso-8859-1", "cp1252", ""),
    ],
)
def test_an_encoding_that_is_wrong_or_missing_loses_nothing(said: str, encoding: str, note: str) -> None:
    text = {"koi8-r": "Все счастливые семьи похожи друг на друга.", "gb18030": "朱镕基访问。", "cp1252": "“Ja” – 5 €"}
    head = f"Content-Type: text/plain; charset={said}\n" if said else ""
    body = text.get(encoding, "Grüße, 日本語.")
    found = convert(f"From: a@b.c\nMIME-Version: 1.0\n{head}\n".encode() + body.encode(encoding))
    assert found.text == body
    assert [said for _, said in found.notes] == ([f"its encoding is not the declared one: {note}"] if note else [])


def test_the_line_before_a_quote_may_be_broken() -> None:
    found = convert(mail("Yes.\n\nOn Mon, Jan 1, 2024 at 10:00 AM, Anna <a@b.c>\nwrote:\n> Old.\n").as_bytes())
    assert removed(found) == [("quoted_reply", "On Mon, Jan 1, 2024 at 10:00 AM, Anna <a@b.c>\nwrote:\n> Old.")]
    kept = convert(mail("My answer.\nAnna wrote:\n> Old.\n").as_bytes())
    assert removed(kept) == [("quoted_reply", "> Old.")]


def test_parts_without_a_boundary_are_text() -> None:
    assert convert(b"From: a@b.c\nContent-Type: multipart/mixed\n\nYes.\n").text == "Yes."


def test_a_byte_order_mark_before_the_headers_is_no_part_of_them() -> None:
    assert convert(b"\xef\xbb\xbfFrom: a@b.c\n\nYes.\n").facts["sender"] == "a@b.c"


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
