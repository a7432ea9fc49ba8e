"""A process that serves: the command `serve`, and clients that speak to its socket."""

import os
import signal
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    def __init__(self, log, *arguments):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        command = [sys.executable, "-m", "pychunk", "serve", "--port", str(self.port), *arguments]
        with log.open("wb") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, "PYTHONSAFEPATH": "1"})
        while self.raw("GET /ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")[9:12] != "200":
            assert self.process.poll() is None, log.read_text()
            time.sleep(0.05)

    def raw(self, text, wait=60.0):
        """Return what the server answers to bytes, or "" if it cannot be reached."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as own:
                own.sendall(text.encode() if isinstance(text, str) else text)
                parts = []
                while part := own.recv(65536):
                    parts.append(part)
                return b"".join(parts).decode()
        except OSError:
            return ""

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
