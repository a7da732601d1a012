"""Connects the official MCP client to a desk, with the caller's key where one is set; knows no tool."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

KEY = "REFDESK_KEY"
TIMEOUT_SECONDS = 30.0


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Client]:
    """A client of the desk at `url`; REFDESK_KEY goes along. Raises: OSError, ExceptionGroup where nothing answers."""
    key = os.environ.get(KEY, "").strip()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client
