"""Requests that schemathesis makes from the OpenAPI description: none is an error of the service."""

import subprocess
import sys

import pytest

pytest.importorskip("granian")
pytest.importorskip("schemathesis")

pytestmark = pytest.mark.slow


def test_no_request_is_an_error_of_the_service(served):
    server = served("--workers", "1", "--max-bytes", "1000000")
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", "--seed", "1"]
    command += ["--checks", "not_a_server_error", "--max-examples", "40", "--no-color", "--generation-database", "none"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
