"""What every test shares: asyncio as the one event loop."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
