"""Access keys: what a key looks like, what opens it, and for how long."""

from __future__ import annotations

import hashlib

import pytest

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.keys import Key, make_key, opens, read_key, rotate, secret_of

NOW = 1_000_000


def known(key: Key, **fields: int) -> pb.AccessKey:
    return pb.AccessKey(key_id=key.key_id, secrets=[secret_of(key)], **fields)


def test_a_key_is_read_as_it_is_written_and_shows_its_secret_to_nobody_else() -> None:
    key = make_key()
    assert read_key(str(key)) == key
    assert len({str(make_key()) for _ in range(100)}) == 100
    assert key.secret not in repr(key)
    assert key.secret.encode() not in known(key).SerializeToString()
    assert known(key).secrets[0].sha256 == hashlib.sha256(key.secret.encode()).digest()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rdk_",
        "rdk_0123456789ab_short",
        "RDK_0123456789ab_" + "a" * 43,
        "rdk_0123456789ab_" + "a" * 43 + "\n",
        " rdk_0123456789ab_" + "a" * 43,
    ],
)
def test_what_is_no_key_is_not_read(text: str) -> None:
    assert read_key(text) is None


def test_only_its_own_secret_opens_a_key() -> None:
    key = make_key()
    assert opens(key, known(key), NOW)
    assert not opens(make_key(key.key_id), known(key), NOW)
    assert not opens(key, None, NOW)
    assert not opens(key, pb.AccessKey(key_id=key.key_id), NOW)


def test_a_key_that_expired_or_was_revoked_opens_nothing() -> None:
    key = make_key()
    assert opens(key, known(key, expires_at_milliseconds=NOW + 1), NOW)
    assert not opens(key, known(key, expires_at_milliseconds=NOW), NOW)
    assert not opens(key, known(key, revoked_at_milliseconds=1), NOW)


def test_after_a_rotation_both_secrets_open_it_for_a_while_and_then_the_new_one_alone() -> None:
    old, new = make_key(), make_key()
    rotated = rotate(known(old), new, NOW, 500)
    assert [opens(key, rotated, NOW + 499) for key in (old, new)] == [True, True]
    assert [opens(key, rotated, NOW + 500) for key in (old, new)] == [False, True]
    assert [opens(key, rotate(known(old), new, NOW, 0), NOW) for key in (old, new)] == [False, True]


def test_two_rotations_in_a_row_leave_two_secrets() -> None:
    first, second, third = make_key(), make_key(), make_key()
    rotated = rotate(rotate(known(first), second, NOW, 500), third, NOW, 500)
    assert [opens(key, rotated, NOW) for key in (first, second, third)] == [False, True, True]
