"""What every test shares: one async backend, as pygls runs on asyncio, and interrupts that interrupt."""

from __future__ import annotations

import signal

import pytest


def pytest_configure() -> None:
    """A shell lets what runs in its background ignore interrupts, and programs inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
