"""What every test shares: asyncio as the one event loop, and real engines for those that ask for one."""

import pytest
from hypothesis import settings

# A busy machine makes an example slow, not wrong.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = ["servers.fixtures"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
