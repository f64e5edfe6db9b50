"""Fixtures for pytest: `ced_client`, and `ced_session`, a session of Python for one test.

pytest finds them where the package is installed. `--ced-socket PATH` names the daemon's socket; without
it, it is looked for as always.
"""

from __future__ import annotations

from typing import Iterator

import pytest

from .client import Client, Session


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --ced-socket."""
    parser.getgroup("ced").addoption("--ced-socket", metavar="PATH", default=None, help="the socket of the ced daemon")


@pytest.fixture(scope="session")
def ced_client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client, for all tests."""
    with Client(request.config.getoption("--ced-socket")) as client:
        yield client


@pytest.fixture
def ced_session(ced_client: Client) -> Iterator[Session]:
    """A session of Python, for one test."""
    with ced_client.session() as session:
        yield session
