"""AWS::CloudFormation::WaitConditionHandle and WaitCondition."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Condition

from hyperpod_cdk.rehearsal.aws.resources.base import Call, Created, ResourceError, known
from hyperpod_cdk.rehearsal.aws.resources.mailbox import FUNCTION_SECONDS, Answer, Mailbox


@dataclass
class _Signals:
    """What was sent to a handle, by unique id."""

    received: dict[str, Answer] = field(default_factory=dict)
    changed: Condition = field(default_factory=Condition)

    def receive(self, signal: Answer) -> None:
        with self.changed:
            self.received[str(signal["UniqueId"])] = signal
            self.changed.notify_all()

    def settled(self, count: int) -> bool:
        """Whether enough signals are here, or one that tells of a failure."""
        failed = any(signal["Status"] != "SUCCESS" for signal in self.received.values())
        return failed or len(self.received) >= count


class Handles:
    """AWS::CloudFormation::WaitConditionHandle: an address that takes signals.

    Args:
        mailbox: Gives the addresses.
    """

    slow = False

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self.signals: dict[str, _Signals] = {}

    def create(self, call: Call) -> Created:
        """Give an address."""
        known(call, ())
        signals = _Signals()
        address = self._mailbox.open(signals.receive)
        self.signals[address] = signals
        return Created(physical_id=address)

    def update(self, call: Call) -> Created:
        """Nothing can change."""
        return call.created

    def delete(self, call: Call) -> None:
        """Take no more signals."""
        self._mailbox.close(call.physical_id)
        self.signals.pop(call.physical_id, None)


class WaitConditions:
    """AWS::CloudFormation::WaitCondition: waits for the signals of a handle.

    Args:
        handles: The handles.
        speed: How much faster than real time the embedded AWS runs; Timeout shrinks by it.
    """

    slow = True

    def __init__(self, handles: Handles, *, speed: float) -> None:
        self._handles = handles
        self._speed = speed

    def create(self, call: Call) -> Created:
        """Wait."""
        known(call, ("Handle", "Timeout", "Count"))
        count, timeout = int(call.properties.get("Count", 1)), float(call.properties["Timeout"])
        signals = self._handles.signals[call.properties["Handle"]]
        limit = max(timeout / self._speed, min(timeout, FUNCTION_SECONDS))
        with signals.changed:
            if not signals.changed.wait_for(lambda: signals.settled(count), limit):
                received = len(signals.received)
                raise ResourceError(
                    f"WaitCondition timed out. Received {received} conditions when expecting {count}"
                )
            for unique_id, signal in signals.received.items():
                if signal["Status"] != "SUCCESS":
                    reason = signal.get("Reason")
                    raise ResourceError(
                        f"WaitCondition received failed message: '{reason}' for uniqueId: {unique_id}"
                    )
            data = json.dumps(
                {unique_id: signal.get("Data") for unique_id, signal in signals.received.items()}
            )
        return Created(physical_id=f"{call.stack_id}/{call.logical_id}", attributes={"Data": data})

    def update(self, call: Call) -> Created:
        """Refuse, as CloudFormation does."""
        raise ResourceError(f"Update to resource type {call.type} is not supported.")

    def delete(self, call: Call) -> None:
        """Nothing is there but the memory of it."""
