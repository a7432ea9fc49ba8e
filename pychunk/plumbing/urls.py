"""URLs without what is secret in them: how they are named in tables, manifests, messages and logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, unquote_plus

#: Parameters whose values are secrets, by their names in lower case, without "-" and "_".
SECRETS = frozenset(
    {
        *("accesskey", "accesstoken", "apikey", "apitoken", "auth", "authtoken", "authorization", "awsaccesskeyid"),
        *("bearer", "clientsecret", "code", "credential", "credentials", "googleaccessid", "idtoken", "jwt", "key"),
        *("keypairid", "oauthtoken", "pass", "passwd", "password", "policy", "privatetoken", "pwd", "refreshtoken"),
        *("secret", "secretkey", "session", "sessionid", "sessiontoken", "sig", "sign", "signature"),
        *("subscriptionkey", "ticket", "token", "user", "username", "xamzcredential", "xamzsecuritytoken"),
        *("xamzsignature", "xapikey", "xgoogcredential", "xgoogsignature"),
    }
)
#: A URL in a text, up to what cannot be in one.
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s'\"<>`]+")
#: Before a host that is the name of something: a container, and of github an owner and a repository.
_NAMED = ("abfs://", "abfss://")
_OWNERS = ("github://",)
#: Characters from which a secret is hidden wherever a message has it; a shorter one may be a part of its words.
_LONG = 4


class Url(str):
    """A URL as it is named, without secrets; ``address`` is the whole one, which opens it alone.

    >>> found = Url.of("http://me:hunter2@host/a.txt?token=T&page=2")
    >>> found, found.address
    ('http://host/a.txt?page=2', 'http://me:hunter2@host/a.txt?token=T&page=2')
    """

    address: str

    @staticmethod
    def of(address: str) -> Url:
        """Return the name of an address."""
        if isinstance(address, Url):
            return address
        return Url._named(without_secrets(address), address)

    @staticmethod
    def _named(name: str, address: str) -> Url:
        found = Url(name)
        found.address = address
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Url._named, (str(self), self.address)

    def __repr__(self) -> str:
        return str.__repr__(self)


def named(paths: Iterable[str]) -> list[str]:
    """Return paths, and URLs as they are named, each different address by a name of its own.

    Of addresses that differ in secrets alone the second one in this order gets ``#2``, the third ``#3``.

    >>> named(["a.txt", "http://h/a?key=1", "http://h/a?key=2", "http://h/a?key=1"])
    ['a.txt', 'http://h/a', 'http://h/a#2', 'http://h/a']
    """
    found: list[str] = []
    seen: dict[str, list[str]] = {}
    for path in paths:
        if "://" not in path:
            found.append(path)
            continue
        url = Url.of(path)
        addresses = seen.setdefault(url, [])
        if url.address not in addresses:
            addresses.append(url.address)
        at = addresses.index(url.address)
        found.append(Url._named(f"{url}#{at + 1}", url.address) if at else url)
    return found


def address_of(path: str) -> str:
    """Return what opens a path."""
    return getattr(path, "address", path)


def without_secrets(url: str) -> str:
    """Return a URL without user, password and secret parameters; of chained ones (``zip://a::http://b``) each.

    >>> without_secrets("s3://key:secret@bucket/a.csv?endpoint_override=h&X-Amz-Signature=abc")
    's3://bucket/a.csv?endpoint_override=h'
    >>> without_secrets("zip://a.txt::ftp://me:pw@h/b.zip"), without_secrets("abfs://box:pw@acc.dfs.net/a")
    ('zip://a.txt::ftp://h/b.zip', 'abfs://box@acc.dfs.net/a')
    """
    parts = re.split(r"::(?=[a-zA-Z0-9+.-]+://)", url)
    return "::".join("".join(text for text, is_secret in _pieces(part) if not is_secret) for part in parts)


def hidden(text: str, path: str = "") -> str:
    """Return a message without the secrets of the URLs in it, and without those of a path."""
    text = _URL.sub(lambda found: without_secrets(found[0]), text)
    pieces = _pieces(address_of(path)) if "://" in path else ()
    secrets: set[str] = set()
    for piece, is_secret in pieces:
        if is_secret:
            values = [each.partition("=")[2] for each in piece.split("&")] if "=" in piece else piece[:-1].split(":")
            secrets.update(each for value in values for each in _forms(value))
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _LONG:
            text = text.replace(secret, "[hidden]")
    return text


def _forms(value: str) -> Iterator[str]:
    """The ways in which messages write a value."""
    for each in (value, unquote(value), unquote_plus(value)):
        yield from (each, repr(each)[1:-1])


def _pieces(url: str) -> Iterator[tuple[str, bool]]:
    """The parts of one URL, in their order, and whether each is a secret."""
    scheme, separator, rest = url.partition("://")
    front = scheme + separator
    yield front, False
    if not separator:
        return
    end = next((at for at, each in enumerate(rest) if each in "/?#"), len(rest))
    # What is meant as a host ends at its last "@", as a password may have others, and none before the path.
    user, at, host = rest[:end].rpartition("@")
    if not at and "@" in rest and not host.startswith("[") and re.search(r":\D|:$", host):
        # No port: a password that holds "/", "?" or "#" as it is, which opens nothing, but stands in the error.
        end = len(rest) - len(rest.rpartition("@")[2])
        user, at, host = rest[: end - 1], "@", ""
    if front.lower() in _OWNERS:
        yield rest[:end], False
    elif front.lower() in _NAMED:
        container, colon, password = user.partition(":")
        yield container, False
        yield colon + password, True
        yield at + host, False
    else:
        yield user + at, True
        yield host, False
    path, mark, query = rest[end:].partition("?")
    yield path, False
    if not mark:
        return
    query, fragment_mark, fragment = query.partition("#")
    given = re.split("[&;]", query)
    kept = [each for each in given if not _is_secret(each)]
    yield (mark + "&".join(kept) if kept else ""), False
    yield "&".join(each for each in given if _is_secret(each)), True
    yield fragment_mark + fragment, False


def _is_secret(parameter: str) -> bool:
    name = unquote_plus(parameter.partition("=")[0]).lower()
    return re.sub("[-_.]", "", name) in SECRETS


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Make of what a library raises about a far file an OSError without secrets.

    Raises:
        FileNotFoundError: the file is not there. OSError: anything else is wrong. ImportError: a package is missing.
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(hidden(str(error), path)) from None
    except Exception as error:
        # fsspec says of whatever goes wrong that there is no such file, and why in the cause.
        cause = error.__cause__ if isinstance(error, FileNotFoundError) else None
        if cause is not None and not isinstance(cause, FileNotFoundError) and getattr(cause, "status", 0) != 404:
            error = cause if isinstance(cause, Exception) else error
        kind = FileNotFoundError if isinstance(error, FileNotFoundError) else OSError
        said = hidden(str(error), path)
        known = said if isinstance(error, OSError) and said else f"{type(error).__name__}: {said}".strip(": ")
        raise kind(known) from None


class Far:
    """A far file, whose errors are those of :func:`readable`."""

    def __init__(self, file: Any, path: str) -> None:
        self._file, self._path = file, path

    def __enter__(self) -> Far:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._file, name)
        if not callable(found):
            return found

        def called(*given: Any, **more: Any) -> Any:
            with readable(self._path):
                return found(*given, **more)

        return called
