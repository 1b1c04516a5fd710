"""What the embedded CloudFormation remembers: stacks, their resources and events."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import Created


@dataclass(kw_only=True)
class Resource:
    """A resource of a stack.

    Args:
        logical_id: Its name in the template.
        type: Its type.
        properties: Its properties as last applied.
        definition: Its part of the template (policies, DependsOn).
        created: What exists; None when its creation failed before anything did.
        dependencies: Logical ids that must outlive it.
        status: As in the stack's events.
        reason: Why it failed, if it did.
    """

    logical_id: str
    type: str
    properties: Mapping[str, Any]
    definition: Mapping[str, Any]
    created: Created | None = None
    dependencies: frozenset[str] = frozenset()
    status: str = ""
    reason: str | None = None
    changed_at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))

    @property
    def physical_id(self) -> str:
        """What Ref gives; empty when nothing exists."""
        return self.created.physical_id if self.created else ""

    def policy(self, name: str) -> str:
        """DeletionPolicy or UpdateReplacePolicy, ``Delete`` by default."""
        return str(self.definition.get(name, "Delete"))


@dataclass(frozen=True, kw_only=True)
class Event:
    """A line of a stack's history, its members named as the API names them."""

    StackId: str
    StackName: str
    LogicalResourceId: str
    PhysicalResourceId: str
    ResourceType: str
    ResourceStatus: str
    ResourceStatusReason: str | None
    ClientRequestToken: str | None
    EventId: str = field(default_factory=lambda: str(uuid.uuid4()))
    Timestamp: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))


@dataclass(kw_only=True)
class Stack:
    """A stack.

    Args:
        name: Its name.
        stack_id: Its ARN.
        template_body: The template as last submitted, word for word.
        template: The same, read.
        parameters: Values of the template's parameters, by name.
        tags: Tags of the stack.
    """

    name: str
    stack_id: str
    template_body: str = "{}"
    template: Mapping[str, Any] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    status: str = "REVIEW_IN_PROGRESS"
    status_reason: str | None = None
    termination_protection: bool = False
    token: str | None = None
    created_at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))
    updated_at: dt.datetime | None = None
    deleted_at: dt.datetime | None = None
    resources: dict[str, Resource] = field(default_factory=dict)
    outputs: list[dict[str, str]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def set_status(self, status: str, reason: str | None = None) -> None:
        """Change the stack's status and say so in its events."""
        self._event(self.name, self.stack_id, "AWS::CloudFormation::Stack", status, reason)
        self.status, self.status_reason = status, reason

    def set_resource_status(self, resource: Resource, status: str, reason: str | None = None) -> None:
        """Change a resource's status and say so in the stack's events."""
        resource.status, resource.reason = status, reason
        resource.changed_at = dt.datetime.now(dt.UTC)
        self._event(resource.logical_id, resource.physical_id, resource.type, status, reason)

    def _event(self, logical_id: str, physical_id: str, type_: str, status: str, reason: str | None) -> None:
        self.events.append(
            Event(
                StackId=self.stack_id,
                StackName=self.name,
                LogicalResourceId=logical_id,
                PhysicalResourceId=physical_id,
                ResourceType=type_,
                ResourceStatus=status,
                ResourceStatusReason=reason,
                ClientRequestToken=self.token,
            )
        )
