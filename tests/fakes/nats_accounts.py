"""An operator, an account and a user of NATS, with keys of their own and the JWTs that bind them; for one test."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from typing import Any

import nkeys

UNLIMITED = {"subs": -1, "data": -1, "payload": -1}
ACCOUNT_LIMITS = {
    **UNLIMITED,
    "imports": -1,
    "exports": -1,
    "wildcards": True,
    "conn": -1,
    "leaf": -1,
    "mem_storage": -1,
    "disk_storage": -1,
    "streams": -1,
    "consumer": -1,
}


class Identity:
    """A key pair of one kind, made for the test."""

    def __init__(self, kind: int) -> None:
        self.seed: bytes = nkeys.encode_seed(os.urandom(32), kind)
        self.public: str = nkeys.from_seed(bytearray(self.seed)).public_key.decode()

    def sign(self, subject: str, name: str, claims: dict[str, Any]) -> str:
        """A JWT of NATS about `subject`."""
        body = {"iat": int(time.time()), "iss": self.public, "name": name, "sub": subject, "nats": claims}
        digest = hashlib.sha256(json.dumps(body).encode()).digest()
        body["jti"] = base64.b32encode(digest).decode().rstrip("=")
        parts = ".".join(_encode(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ed25519-nkey"}, body))
        signature: bytes = nkeys.from_seed(bytearray(self.seed)).sign(parts.encode())
        return f"{parts}.{_encode(signature)}"


class Accounts:
    """What a server is configured with, and the credentials of the one user."""

    def __init__(self) -> None:
        operator = Identity(nkeys.PREFIX_BYTE_OPERATOR)
        account = Identity(nkeys.PREFIX_BYTE_ACCOUNT)
        system = Identity(nkeys.PREFIX_BYTE_ACCOUNT)
        user = Identity(nkeys.PREFIX_BYTE_USER)
        claims = {"system_account": system.public, "type": "operator", "version": 2}
        limits = {"limits": ACCOUNT_LIMITS, "type": "account", "version": 2}
        plain = {"limits": {**ACCOUNT_LIMITS, "mem_storage": 0, "disk_storage": 0}, "type": "account", "version": 2}
        signed = {
            account.public: operator.sign(account.public, "desks", limits),
            system.public: operator.sign(system.public, "system", plain),
        }
        preload = "\n".join(f"  {public}: {jwt}" for public, jwt in signed.items())
        operator_jwt = operator.sign(operator.public, "operator", claims)
        self.config = (
            f"operator: {operator_jwt}\nsystem_account: {system.public}\n"
            f"resolver: MEMORY\nresolver_preload: {{\n{preload}\n}}\n"
        )
        user_jwt = account.sign(user.public, "ingest", {**UNLIMITED, "type": "user", "version": 2})
        self.credentials = (
            f"-----BEGIN NATS USER JWT-----\n{user_jwt}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n------END USER NKEY SEED------\n"
        )


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
