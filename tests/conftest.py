"""What every test shares: asyncio as the one event loop, and real engines for those that ask for one."""

import pytest

pytest_plugins = ["servers.fixtures"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
