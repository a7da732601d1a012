"""Opens gRPC channels to other services: balanced over their pods, one retry, message caps."""

from __future__ import annotations

import json
from typing import cast

import grpc

from refdesk.rpc.tls import Certificates, RenewedChannel

MESSAGE_BYTES = 64 * 1024 * 1024
"""Cap of one message, on both ends; writers split their batches far below it."""

SERVICE_CONFIG = json.dumps(
    {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 2,
                    "initialBackoff": "0.05s",
                    "maxBackoff": "0.5s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"],
                },
            }
        ],
        "retryThrottling": {"maxTokens": 100, "tokenRatio": 0.1},  # a pod that goes breaks many calls at once
    }
)
SIZE_OPTIONS = [("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)]


def open_channel(address: str, certificates: Certificates | None = None) -> grpc.aio.Channel:
    """A channel to `host:port` (or any gRPC target such as `dns:///name:port`); it connects on first use and again by itself.

    With `certificates` it speaks TLS, and shows the newest of ours.
    """
    options = [
        ("grpc.service_config", SERVICE_CONFIG),
        ("grpc.dns_min_time_between_resolutions_ms", 2000),
        ("grpc.max_reconnect_backoff_ms", 2000),
        *SIZE_OPTIONS,
    ]
    if certificates is None:
        return grpc.aio.insecure_channel(address, options=options)
    renewed = RenewedChannel(
        certificates, lambda credentials: grpc.aio.secure_channel(address, credentials, options=options)
    )
    return cast(grpc.aio.Channel, renewed)
