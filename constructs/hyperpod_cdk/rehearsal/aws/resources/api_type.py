"""Resource types that are little more than one AWS call to create and one to delete, told as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import Call, Created, ResourceError, known

Step = Callable[[Call, Any], None]
"""Further calls on a resource that exists: (operation, what the creation answered)."""


@dataclass(frozen=True, kw_only=True)
class ApiType:
    """A resource type whose properties are, by and large, the parameters of an AWS call.

    Args:
        service: The service's name in boto3.
        create: The creating method's name in boto3.
        identifier: Where the answer holds what Ref gives, such as ``Vpc.VpcId``.
        delete_with: Deleting method and its parameter that takes the physical id.
        properties: Properties handed on, under the name of the parameter.
        fixed: Further parameters of the creating call.
        tagged: The resource type in EC2's tag specifications; empty where tags go another way.
        attributes: Where the answer holds what Fn::GetAtt gives, by attribute.
        handled: Properties that `finish` and `change` see to.
        without_effect: Properties that change nothing anybody can see here.
        finish: Calls after the creation.
        change: Calls that change the resource in place, and the properties for which they do. A change of
            any other property replaces the resource.
        remove: Deletes the resource where one call does not.
    """

    service: str
    create_method: str
    identifier: str
    properties: Mapping[str, str]
    delete_with: tuple[str, str] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    tagged: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    handled: frozenset[str] = frozenset()
    without_effect: frozenset[str] = frozenset()
    finish: Step | None = None
    change: Callable[[Call], None] | None = None
    changeable: frozenset[str] = frozenset()
    remove: Callable[[Call], None] | None = None
    slow: bool = False

    def create(self, call: Call) -> Created:
        """Create the resource; what a later step refuses is reported together with what exists."""
        own = {"Tags"} if self.tagged else set()
        known(call, {*self.properties, *self.handled, *self.without_effect, *own})
        arguments = {self.properties[k]: v for k, v in call.properties.items() if k in self.properties}
        answer = call.aws.call(
            self.service, self.create_method, **arguments, **self._tags(call), **self.fixed
        )
        physical_id = str(look_up(answer, self.identifier))
        try:
            if self.finish is not None:
                self.finish(call, answer)
        except ResourceError as error:
            raise ResourceError(str(error), physical_id=physical_id) from error
        attributes = {name: look_up(answer, path) for name, path in self.attributes.items()}
        return Created(physical_id=physical_id, attributes=attributes)

    def update(self, call: Call) -> Created:
        """Change the resource in place where the type can; create another otherwise."""
        own = frozenset({"Tags"}) if self.tagged else frozenset()
        if not call.changed <= self.changeable | own:
            return self.create(call)
        if "Tags" in call.changed and self.tagged:
            _retag(call)
        if self.change is not None and call.changed & self.changeable:
            self.change(call)
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the resource."""
        if self.remove is not None:
            self.remove(call)
        elif self.delete_with is not None:
            method, parameter = self.delete_with
            call.aws.call(self.service, method, **{parameter: call.physical_id})

    def _tags(self, call: Call) -> dict[str, Any]:
        tags = call.properties.get("Tags")
        if not self.tagged or not tags:
            return {}
        return {"TagSpecifications": [{"ResourceType": self.tagged, "Tags": tags}]}


def _retag(call: Call) -> None:
    old, new = (
        {t["Key"]: t["Value"] for t in p.get("Tags", [])} for p in (call.old_properties, call.properties)
    )
    gone = [{"Key": key} for key in old if key not in new]
    if gone:
        call.aws.call("ec2", "delete_tags", Resources=[call.physical_id], Tags=gone)
    if new:
        call.aws.call("ec2", "create_tags", Resources=[call.physical_id], Tags=call.properties["Tags"])


def look_up(answer: Any, path: str) -> Any:
    """Follow a dotted path into an answer; numbers index lists."""
    for part in path.split("."):
        answer = answer[int(part)] if part.isdigit() else answer[part]
    return answer
