"""Addresses that functions answer CloudFormation at, as it gives out presigned addresses of S3."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any

PATH = "/cloudformation-answers/"
FUNCTION_SECONDS = 120.0
"""Real seconds that whoever answers gets at least: waits run faster than real time, functions do not."""

Answer = Mapping[str, Any]


class Mailbox:
    """Gives out addresses and takes what is sent there.

    Args:
        endpoint: Where the embedded AWS listens.
    """

    def __init__(self, endpoint: Callable[[], str]) -> None:
        self._endpoint = endpoint
        self._receivers: dict[str, Callable[[Answer], None]] = {}

    def open(self, receive: Callable[[Answer], None]) -> str:
        """Give a new address.

        Args:
            receive: Called with every answer that is sent there.
        """
        path = f"{PATH}{uuid.uuid4()}"
        self._receivers[path] = receive
        return f"{self._endpoint()}{path}"

    def close(self, address: str) -> None:
        """Take nothing more at an address."""
        self._receivers.pop(address.removeprefix(self._endpoint()), None)

    def give_up(self, reason: str) -> None:
        """Give everybody who waits for an answer one that tells of a failure."""
        for path, receive in list(self._receivers.items()):
            receive({"Status": "FAILED", "Reason": reason, "UniqueId": path})

    def receiver(self, path: str) -> Callable[[bytes], None] | None:
        """Give what takes the body sent to a path; None where nobody waits there."""
        receive = self._receivers.get(path)
        return None if receive is None else lambda body: receive(json.loads(body))
