"""The names of URLs in tables, manifests, messages and logs, which contain no secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote_plus

from .secret_spellings import spellings

#: The names of parameters whose values are secrets, in lower case and without "-" and "_".
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
#: The beginning of a URL. The lookbehind ensures that a long text of letters is searched only once.
_BEGINS = r"(?<![a-zA-Z0-9+.-])[a-zA-Z0-9+.-]+://"
#: A URL in a text, up to the first character that cannot be in one.
_URL = re.compile(_BEGINS + r"[^\s'\"<>`]+")
#: The most times that a parameter is decoded. A parameter that is encoded more often counts as a secret.
_DEEPEST = 8
#: The schemes whose text before the "@" is no user: it names a container, or for github an owner and a repository.
_NAMED = ("abfs://", "abfss://")
_OWNERS = ("github://",)
#: The least length of a secret that is hidden everywhere in a message. A shorter one may be a part of ordinary words.
_LONG = 4


class Url(str):
    """The name of a URL, without its secrets.

    ``address`` is the complete URL, which is needed to open it. ``hides`` are the parameters that the user named as
    secret, in the form of :func:`parameters`.

    >>> found = Url.of("http://me:hunter2@host/a.txt?token=T&page=2&visitor=V", parameters(["visitor"]))
    >>> found, found.address
    ('http://host/a.txt?page=2', 'http://me:hunter2@host/a.txt?token=T&page=2&visitor=V')
    """

    address: str
    hides: frozenset[str]

    @staticmethod
    def of(address: str, hides: frozenset[str] = frozenset()) -> Url:
        """Return the name of an address.

        A ``Url`` that already hides these parameters is returned unchanged.
        """
        if isinstance(address, Url):
            if hides <= address.hides:
                return address
            hides |= address.hides
        address = address_of(address)
        return Url._named(without_secrets(address, hides), address, hides)

    @staticmethod
    def _named(name: str, address: str, hides: frozenset[str]) -> Url:
        found = Url(name)
        found.address, found.hides = address, hides
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Url._named, (str(self), self.address, self.hides)

    def __repr__(self) -> str:
        return str.__repr__(self)


def parameters(names: Iterable[str] | None) -> frozenset[str]:
    """Return names of parameters in the form in which they are compared: in lower case, without "-", "_" and ".".

    Raises:
        TypeError: A name is not a string.
        ValueError: A name has no letters, or includes a value. The message does not repeat the value.

    >>> sorted(parameters(["Visitor-Id", "visitor_id", "sid"]))
    ['sid', 'visitorid']
    """
    names = [names] if isinstance(names, str) else list(names or ())
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a parameter to hide must be named by a string; got {type(name).__name__}")
        front, mark, _ = name.replace("&", "=").partition("=")
        if mark or not _compared(name):
            raise ValueError(
                "a parameter to hide must be named without its value, such as token; got "
                f"{front!r}{' and text after it' * bool(mark)}"
            )
    return frozenset(_compared(name) for name in names)


def hides_of(path: str) -> frozenset[str]:
    """Return the parameters that users named as secret for a path."""
    return getattr(path, "hides", frozenset())


def named(paths: Iterable[str], hides: frozenset[str] = frozenset()) -> list[str]:
    """Return paths, with URLs replaced by their names, so that different addresses have different names.

    If addresses differ only in secrets, ``#2`` is added to the name of the second one, ``#3`` to the third, and so on.

    >>> named(["a.txt", "http://h/a?key=1", "http://h/a?key=2", "http://h/a?key=1"])
    ['a.txt', 'http://h/a', 'http://h/a#2', 'http://h/a']
    """
    found: list[str] = []
    seen: dict[str, list[str]] = {}
    for path in paths:
        if "://" not in path:
            found.append(path)
            continue
        url = Url.of(path, hides)
        addresses = seen.setdefault(url, [])
        if url.address not in addresses:
            addresses.append(url.address)
        at = addresses.index(url.address)
        found.append(Url._named(f"{url}#{at + 1}", url.address, url.hides) if at else url)
    return found


def address_of(path: str) -> str:
    """Return the address that opens a path."""
    return getattr(path, "address", path)


def without_secrets(url: str, hides: frozenset[str] = frozenset()) -> str:
    """Return a URL without user, password and secret parameters.

    In chained URLs (``zip://a::http://b``) each part is cleaned.

    >>> without_secrets("s3://key:secret@bucket/a.csv?endpoint_override=h&X-Amz-Signature=abc")
    's3://bucket/a.csv?endpoint_override=h'
    >>> without_secrets("zip://a.txt::ftp://me:pw@h/b.zip"), without_secrets("abfs://box:pw@acc.dfs.net/a")
    ('zip://a.txt::ftp://h/b.zip', 'abfs://box@acc.dfs.net/a')
    >>> without_secrets("https://host/a;sid=1/b?visitor=2#access_token=3&page=4", parameters(["visitor", "sid"]))
    'https://host/a/b#page=4'
    """
    return _parted(url, hides)[0]


def hidden(text: str, *paths: str) -> str:
    """Return a message without the secrets of the URLs in it, and without those of these paths."""
    secrets = {each for path in paths if "://" in path for each in _parted(address_of(path), hides_of(path))[1]}
    # fsspec splits a URL at every "::", so it may report a part of a secret.
    secrets |= {part for each in secrets for part in each.split("::")}
    # Secrets are replaced before URLs are cleaned, because a secret may contain a character that ends a URL in a text.
    # Longer secrets come first, because a shorter one may be a part of them.
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _LONG:
            text = spellings(secret).sub("[hidden]", text)
    hides = frozenset[str]().union(*map(hides_of, paths))
    return _URL.sub(lambda found: without_secrets(found[0], hides), text)


def _parted(url: str, hides: frozenset[str], *, deep: bool = True) -> tuple[str, list[str]]:
    """Return the name of a URL, and the secrets that the name omits.

    With ``deep``, secrets are also searched for in parameters that contain another URL in encoded form.
    """
    secrets: list[str] = []
    parts = re.split(r"::(?=[a-zA-Z0-9+.-]+://)", url)
    return "::".join(_named_part(part, hides, secrets, deep=deep) for part in parts), secrets


def _named_part(url: str, hides: frozenset[str], secrets: list[str], *, deep: bool) -> str:
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    front = scheme + separator
    end = next((at for at, each in enumerate(rest) if each in "/?#"), len(rest))
    # The host begins after the last "@" before the path, because a password may contain others.
    user, at, host = rest[:end].rpartition("@")
    if not at and "@" in rest and not host.startswith("[") and ":" in host and not re.fullmatch(r"[^:]*:\d+", host):
        # The text after the ":" is no port, so it is a password with a "/", "?" or "#" that is not encoded. Such a URL
        # cannot be opened, but the error message would show it.
        end = len(rest) - len(rest.rpartition("@")[2])
        user, at, host = rest[: end - 1], "@", ""
    if front.lower() in _OWNERS:
        host = user + at + host
    else:
        name, _, password = user.partition(":")
        container = front.lower() in _NAMED
        secrets += [password] if container else [user, name, password]
        host = name + at + host if container else host
    tail = rest[end:]
    path = re.split("[?#]", tail, maxsplit=1)[0]
    query, sharp, fragment = tail[len(path) :].partition("#")
    name = front + host + _named_path(path, hides, secrets)
    for mark, given in ((query[:1], query[1:]), (sharp, fragment)):
        kept = _without_parameters(given, hides, secrets, deep=deep)
        name += mark + kept if kept or (mark and not given) else ""
    return name


def _named_path(path: str, hides: frozenset[str], secrets: list[str]) -> str:
    """Return a path without the secret parameters of its folders (``/a;sid=1/b``), and without users of URLs in it."""
    users = re.compile(r"(?<=://)([^/@]+)@")
    secrets += (each for user in users.findall(path) for each in (user, *user.split(":", 1)))
    folders = (each.split(";") for each in users.sub("", path).split("/"))
    found = []
    for folder, *given in folders:
        secrets += (each.partition("=")[2] for each in given if _is_secret(each, hides))
        found.append(";".join([folder, *(each for each in given if not _is_secret(each, hides))]))
    return "/".join(found)


def _without_parameters(query: str, hides: frozenset[str], secrets: list[str], *, deep: bool) -> str:
    """Return a query or fragment without its secret parameters.

    A secret parameter ends at the next "&", because its value may contain any other character.
    """
    kept = []
    for given in query.split("&"):
        # Older servers also separate parameters by ";". A "?" begins the parameters of a URL inside a value, or of a
        # route inside a fragment.
        parts = re.split("([;?])", given)
        at = next((at for at in range(0, len(parts), 2) if _is_secret(parts[at], hides)), len(parts))
        secrets += "".join(parts[at:]).split("=", 1)[1:]
        if at == 0:
            continue
        given = "".join(parts[: at - 1] if at < len(parts) else parts)
        within = _encoded(given, hides) if deep else []
        if any(within):
            secrets += within
        else:
            kept.append(given)
    return "&".join(kept)


def _encoded(parameter: str, hides: frozenset[str]) -> list[str]:
    """Return the secrets in a parameter that contains a URL, or a part of one, in encoded form."""
    found: list[str] = []
    for _ in range(_DEEPEST):
        decoded = unquote_plus(parameter)
        if decoded == parameter:
            return found
        parameter = decoded
        if url := re.search(_BEGINS + ".*", decoded, re.DOTALL):
            found += _parted(url[0], hides, deep=False)[1]
        _without_parameters(decoded, hides, found, deep=False)
    return [*found, parameter]


def _is_secret(parameter: str, hides: frozenset[str]) -> bool:
    name = _compared(unquote_plus(parameter.partition("=")[0]))
    return name in SECRETS or name in hides


def _compared(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Convert any error of a library about a remote file to an OSError without secrets.

    Raises:
        FileNotFoundError: The file does not exist.
        OSError: Any other error.
        ImportError: A package is missing.
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(hidden(str(error), path)) from None
    except Exception as error:
        # fsspec raises FileNotFoundError for any error, with the true error as its cause.
        cause = error.__cause__ if isinstance(error, FileNotFoundError) else None
        if cause is not None and not isinstance(cause, FileNotFoundError) and getattr(cause, "status", 0) != 404:
            error = cause if isinstance(cause, Exception) else error
        kind = FileNotFoundError if isinstance(error, FileNotFoundError) else OSError
        said = hidden(str(error), path)
        known = said if isinstance(error, OSError) and said else f"{type(error).__name__}: {said}".strip(": ")
        raise kind(known) from None


class RemoteFile:
    """A remote file, whose methods raise the errors of :func:`readable`."""

    def __init__(self, file: Any, path: str) -> None:
        self._file, self._path = file, path

    def __enter__(self) -> RemoteFile:
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
