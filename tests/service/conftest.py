"""The settings of a service in this process."""

import pytest
from served import Server


@pytest.fixture
def settings():
    counters = pytest.importorskip("pychunk.service.counters", reason="needs the extra serve")
    from pychunk.service.settings import Settings

    return Settings(counters=counters.new_file(), timeout=30.0)


@pytest.fixture
def served(tmp_path):
    servers = []

    def start(*arguments):
        servers.append(Server(tmp_path / f"log{len(servers)}", *arguments))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()  # a kill would leave its workers running
