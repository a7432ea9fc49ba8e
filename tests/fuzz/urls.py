"""URLs with secrets in every possible place: the name and messages have none, the address stays complete.

A case consists of pieces, each of which is known to be a secret or not. The right name is thus known without the tested
code.
"""

from __future__ import annotations

import json
import pickle
import random
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from pychunk._util.urls import SECRETS, Url, hidden, named, parameters, readable, without_secrets
from pychunk.io import DeadLetter, open_source

SCHEMES = ("http", "https", "HTTPS", "ftp", "sftp", "s3", "gs", "webdav+https", "abfs", "github")
#: For some schemes, texts in the place of a user and of a password that are not secret.
SHOWN_USERS = {"abfs": ("box",), "github": ("org", "repo")}
HOSTS = ("host", "host:8080", "[::1]:80", "a.b-c.example", "bucket")
FOLDERS = ("a", "a@b", "a:b", "a;x=1", "a%3Fb", "Zażółć", "c.txt", "a=b", "")
SHOWN = (
    "page=2",
    "q=a%26b",
    "x",
    "keyword=1",
    "tokens=3",
    "x=%2Fa%3Fb%3Dc",
    "y=a:b@c",
    "z=https://o/p",
    "w=~1'",
    "v=$(a)",
)
NAMES = ("visitor", "Sitzungs-Nr", "sid", "my key", "größe")
#: A reader's error about a URL, or about a part of it.
SAID = "GET {} failed: not found"
MARK = "planted"


class Piece(NamedTuple):
    """A folder or a parameter as written in the URL; ``secret`` is its secret value, or "" if it is shown."""

    text: str
    secret: str = ""


class Part(NamedTuple):
    """A URL of a chain; ``users`` are the user and the password as written, empty for a URL without them."""

    scheme: str
    users: tuple[str, ...]
    host: str
    folders: tuple[Piece, ...]
    query: tuple[Piece, ...]
    fragment: tuple[Piece, ...]

    def address(self, *, shown: bool = False) -> str:
        """Return the whole URL; with ``shown`` without secrets."""
        given = [[each for each in pieces if not (shown and each.secret)] for pieces in self[3:]]
        users = "" if not self.users else ":".join(self.users) + "@"
        if shown:
            container = f"{self.users[0]}@" if self.users else ""
            users = users if self.scheme == "github" else container if self.scheme == "abfs" else ""
        path = "".join(each.text if each.secret else f"/{each.text}" for each in given[0])
        query, fragment = ("&".join(each.text for each in pieces) for pieces in given[1:])
        query, fragment = (f"{mark}{text}" if text else "" for mark, text in (("?", query), ("#", fragment)))
        return f"{self.scheme}://{users}{self.host}{path}{query}{fragment}"

    @property
    def secrets(self) -> list[str]:
        """All texts that must not be shown."""
        users = {"github": (), "abfs": self.users[1:]}.get(self.scheme, self.users)
        return [*users, *(each.secret for pieces in self[3:] for each in pieces if each.secret)]


class Case(NamedTuple):
    """A chain of URLs, and the names of parameters that its user hides."""

    parts: tuple[Part, ...]
    hides: tuple[str, ...]

    def address(self, *, shown: bool = False) -> str:
        return "::".join(part.address(shown=shown) for part in self.parts)


def planted(rng: random.Random, *, raw: str) -> str:
    """Return a secret as written in a URL: encoded, or with some of the marks ``raw`` unencoded."""
    marks = [*"!$'()*,:@/?#[]%+&= \"\\<>`{}|^~;-._", "é", "日", "🎉", "\n", "\x7f"]
    front, back = ("".join(rng.choices([*"aZ9", *marks], k=rng.randrange(5))) for _ in range(2))
    how = rng.randrange(4)
    if how == 0:
        return "".join(each for each in front + MARK + back if each in raw or each.isalnum())
    made = quote(front + MARK + back, safe=rng.choice(["", "!$'()*,"])) if how > 1 else quote_plus(front + MARK + back)
    some = rng.random() * 0.5
    made = re.sub(
        "[a-z]", lambda found: f"%{ord(found[0]):02x}" if how == 3 and rng.random() < some else found[0], made
    )
    return re.sub("%..", lambda found: found[0].lower() if rng.random() < 0.3 else found[0], made)


def spelled(rng: random.Random, name: str) -> str:
    """Return a parameter's name in any case, with marks between its letters, partly encoded."""
    letters = [*"".join(rng.choice([each.lower(), each.upper()]) for each in name.replace("-", "").replace(" ", ""))]
    if name.isascii() and rng.random() < 0.5:
        letters.insert(rng.randrange(1, len(letters)), rng.choice(["-", "_", ".", "+", "%2D", "%5B"]))
    return "".join(
        each if "%" in each else f"%{ord(each):02X}" if each.isascii() and rng.random() < 0.1 else quote(each, safe="+")
        for each in letters
    )


class Urls:
    """The target for URLs."""

    name = "urls"
    timeout = 20.0

    def make(self, rng: random.Random) -> Case:
        hides = tuple(rng.sample(NAMES, rng.choice([0, 0, 1, 2])))
        return Case(tuple(self._part(rng, hides) for _ in range(rng.choice([1, 1, 1, 2, 3]))), hides)

    def _part(self, rng: random.Random, hides: tuple[str, ...]) -> Part:
        users = tuple(planted(rng, raw="!$'()*,@%&=\"\\<>`{}|^~;") for _ in range(rng.choice([0, 0, 1, 2])))
        scheme = rng.choice(SCHEMES)
        if scheme in SHOWN_USERS:
            users = SHOWN_USERS[scheme] + users[: 2 - len(SHOWN_USERS[scheme])]
        folders = [Piece(rng.choice(FOLDERS)) for _ in range(rng.randrange(4))]
        for at in range(len(folders), 0, -1):
            if rng.random() < 0.15:
                secret = planted(rng, raw="!$'()*,:=%~")
                folders.insert(at, Piece(f";{spelled(rng, self._name(rng, hides))}={secret}", secret))
        return Part(
            scheme,
            users,
            rng.choice(HOSTS),
            tuple(folders),
            self._parameters(rng, hides),
            self._parameters(rng, hides) if rng.random() < 0.3 else (),
        )

    def _name(self, rng: random.Random, hides: tuple[str, ...]) -> str:
        return rng.choice(hides) if hides and rng.random() < 0.5 else rng.choice(sorted(SECRETS))

    def _parameters(self, rng: random.Random, hides: tuple[str, ...]) -> tuple[Piece, ...]:
        found = []
        for _ in range(rng.randrange(5)):
            if rng.random() < 0.5:
                found.append(Piece(rng.choice(SHOWN)))
                continue
            secret = planted(rng, raw="!$'()*,:@/?[]%=;\"\\{}|^~")
            given = f"{spelled(rng, self._name(rng, hides))}={secret}"
            if rng.random() < 0.2:  # in a URL that a parameter holds
                front = rng.choice(
                    [f"https://me:{quote(secret, safe='%')}@o/", f"/p?{given}", f"https://o/?a=1&{given}"]
                )
                for _ in range(rng.choice([1, 1, 2])):
                    front = quote(front, safe="")
                given = f"next={front}"
            found.append(Piece(given, secret))
        return tuple(found)

    def check(self, case: Case) -> None:
        address, name, hides = case.address(), case.address(shown=True), parameters(case.hides)
        url = Url.of(address, hides)
        assert url == name, f"{address!r} is named {str(url)!r}, not {name!r}"
        assert url.address == address
        assert without_secrets(name, hides) == name, "a name that is named again is another"
        again = pickle.loads(pickle.dumps(url))
        assert (again, again.address, again.hides) == (url, address, hides)
        secrets = [each for part in case.parts for each in part.secrets]
        if secrets:
            two = named([address, address.replace(MARK, "other")], hides)
            if address != address.replace(MARK, "other"):
                assert two == [name, f"{name}#2"]
        self._check_messages(address, secrets, url)
        if case.parts[0].scheme == "http" and len(case.parts) == 1:
            self._check_reading(case)

    def _check_messages(self, address: str, secrets: list[str], url: Url) -> None:
        said = [address, unquote(address), repr(address), json.dumps(address), repr(address.encode()), quote(address)]
        for secret in secrets:
            for each in (secret, unquote(secret), unquote_plus(secret)):
                said += [
                    each,
                    repr(each),
                    ascii(each),
                    json.dumps(each),
                    quote(each),
                    quote(each, safe=""),
                    quote_plus(each),
                ]
        for each in said:
            text = SAID.format(each)
            found = hidden(text, url)
            assert MARK not in found, f"{text!r} has become {found!r}"
            assert found.startswith("GET"), found  # a secret may begin with a space
        raised: Exception | None = None
        try:
            with readable(url):
                raise RuntimeError(SAID.format(address))
        except OSError as error:
            raised = error
        assert raised is not None
        assert MARK not in f"{raised} {raised!r}"
        assert raised.__cause__ is None
        assert raised.__suppress_context__

    def _check_reading(self, case: Case) -> None:
        """Check the libraries' messages about a URL without a listening server."""
        address = case.parts[0]._replace(host="127.0.0.1:9").address()
        letters: list[DeadLetter] = []
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                source = open_source(address, kind="text", dead_letters=letters.append, hide_parameters=case.hides)
                said = f"{[batch.table.to_pylist() for batch in source]} {source.path} {source.files}"
            except (OSError, ValueError) as error:
                said = f"{error}"
        said += f"{letters} {[str(each.message) for each in warned]}"
        assert MARK not in said, said

    def simpler(self, case: Case) -> Iterator[Case]:
        for at in range(len(case.parts) if len(case.parts) > 1 else 0):
            yield case._replace(parts=case.parts[:at] + case.parts[at + 1 :])
        for at, part in enumerate(case.parts):
            less = [part._replace(users=part.users[1:])] if part.users else []
            for field in ("folders", "query", "fragment"):
                pieces = getattr(part, field)
                first = field == "folders" and len(pieces) > 1  # the first folder stays, since parameters may follow it
                less += (part._replace(**{field: pieces[:i] + pieces[i + 1 :]}) for i in range(first, len(pieces)))
            yield from (case._replace(parts=(*case.parts[:at], each, *case.parts[at + 1 :])) for each in less)

    def test(self, case: Case) -> str:
        return (
            "def test_a_url_with_secrets() -> None:\n"
            "    from tests.fuzz.urls import Case, Part, Piece, target\n\n"
            f"    target.check({case!r})\n"
        )


target = Urls()
