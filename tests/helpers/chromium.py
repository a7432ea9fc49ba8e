"""A headless Chromium, controlled through a pipe, that reports a page's content, requests and errors."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")


def found() -> str | None:
    """Return the browser's path, or None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A browser with one page. ``errors`` are those of its console, ``requests`` those besides the page itself."""

    def __init__(self) -> None:
        to_read, own_write = os.pipe()
        own_read, to_write = os.pipe()
        # Not 3 and 4, which the browser uses for its ends of the pipe.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (to_read, to_write)]
        for each in (to_read, to_write):
            os.close(each)

        def places() -> None:
            for at, end in zip((3, 4), ends):
                os.dup2(end, at)

        self._folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
        options += ["--disable-dev-shm-usage", "--disable-background-networking", "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            [str(found()), *options, f"--user-data-dir={self._folder.name}"],
            pass_fds=(3, 4, *ends),
            preexec_fn=places,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for each in ends:
            os.close(each)
        self._out, self._in = os.fdopen(own_write, "wb", 0), os.fdopen(own_read, "rb")
        self._number, self._session, self._buffer = 0, "", b""
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._in.close()
        self._folder.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to one command of the DevTools protocol."""
        self._number += 1
        asked = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            asked["sessionId"] = self._session
        self._out.write(json.dumps(asked).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            read = os.read(self._in.fileno(), 1 << 20)
            assert read, "the browser ended"
            self._buffer += read
        one, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(one)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, said: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(said["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled":
            self.errors.append(json.dumps(said["args"])[:500])
        elif method == "Log.entryAdded":
            self.errors.append(said["entry"]["text"])
        elif method == "Network.requestWillBeSent" and said.get("type") != "Document":
            self.requests.append(said["request"]["url"][:200])

    def open(self, path: Path, fragment: str = "") -> float:
        """Load a page, wait until it is painted, and return the seconds that this took."""
        self.errors.clear()
        self.requests.clear()
        begun = time.monotonic()
        self.call("Page.navigate", url="about:blank")
        begun = time.monotonic()
        self.call("Page.navigate", url=path.as_uri() + fragment)
        self.wait("document.readyState === 'complete'")
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - begun

    def wait(self, condition: str, seconds: float = 30) -> None:
        """Wait until a condition of the page holds."""
        last = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < last, f"not in {seconds} s: {condition}"
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """Return the value of a page's expression, through JSON."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def size(self, width: int, height: int, dark: bool = False) -> None:
        """Set the window's size, and the colour scheme that it prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def shot(self, path: Path) -> None:
        """Save a picture of the window as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def key(self, key: str) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" else "")
