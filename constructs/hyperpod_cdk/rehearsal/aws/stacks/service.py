"""Stacks and change sets of one account and Region."""

from __future__ import annotations

import datetime as dt
import logging
import traceback
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event as Flag
from threading import Lock, Thread
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import ResourceError, ResourceType
from hyperpod_cdk.rehearsal.aws.stacks.operation import Environment, Operation, TypeLookup
from hyperpod_cdk.rehearsal.aws.stacks.records import Event, Stack
from hyperpod_cdk.rehearsal.aws.stacks.template import TemplateError, load_template

_LOG = logging.getLogger(__name__)


class StackError(Exception):
    """A request that CloudFormation refuses.

    Args:
        message: What CloudFormation says.
        code: Its error code.
    """

    def __init__(self, message: str, *, code: str = "ValidationError") -> None:
        super().__init__(message)
        self.code = code


@dataclass(kw_only=True)
class ChangeSet:
    """A change set. Its members are those that the API describes."""

    change_set_id: str
    name: str
    kind: str
    stack: Stack
    template_body: str
    template: Mapping[str, Any]
    parameters: dict[str, str]
    tags: dict[str, str]
    description: str | None
    changes: list[dict[str, Any]]
    execution_status: str = "AVAILABLE"
    created_at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))

    @property
    def empty(self) -> bool:
        """Whether executing it would change nothing."""
        stack = self.stack
        same = (stack.template, stack.parameters, stack.tags) == (self.template, self.parameters, self.tags)
        return self.kind == "UPDATE" and same


class CloudFormation:
    """The embedded CloudFormation.

    Args:
        environment: What its operations work with, given the exports of all stacks.
    """

    def __init__(self, environment: Callable[[Callable[[], Mapping[str, str]]], Environment]) -> None:
        around = environment(self._exports)
        self._environment = replace(around, lookup=self._while_at_work(around.lookup))
        self._abandoned = Flag()
        self._stacks: dict[str, Stack] = {}
        self._change_sets: dict[str, ChangeSet] = {}
        self._lock = Lock()

    # -- looking ---------------------------------------------------------------------------------------

    def stacks(self) -> list[Stack]:
        """Every stack that ever was, deleted ones included."""
        return list(self._stacks.values())

    def find(self, name: str) -> Stack:
        """Give a stack by name (one that is not deleted) or by ARN (any).

        Raises:
            StackError: When there is none.
        """
        for stack in self._stacks.values():
            if stack.stack_id == name or (stack.name == name and stack.status != "DELETE_COMPLETE"):
                return stack
        raise StackError(f"Stack with id {name} does not exist")

    def failures(self) -> list[Event]:
        """Events of resources that could not be created, changed or deleted, of all stacks."""
        return [
            event
            for stack in self._stacks.values()
            for event in stack.events
            if event.ResourceStatus.endswith("_FAILED") and event.LogicalResourceId != stack.name
        ]

    def change_set(self, name: str, stack_name: str | None) -> ChangeSet:
        """Give a change set by ARN, or by name and stack.

        Raises:
            StackError: When there is none.
        """
        for change_set in self._change_sets.values():
            stack = change_set.stack
            if change_set.change_set_id == name:
                return change_set
            if change_set.name == name and stack_name in (stack.name, stack.stack_id):
                return change_set
        raise StackError(f"ChangeSet [{name}] does not exist", code="ChangeSetNotFound")

    # -- changing --------------------------------------------------------------------------------------

    def create_change_set(
        self,
        *,
        stack_name: str,
        name: str,
        kind: str,
        template_body: str | None,
        parameters: list[Mapping[str, Any]],
        tags: dict[str, str],
        description: str | None = None,
    ) -> ChangeSet:
        """Make a change set, and for a new stack the stack that it will create.

        Args:
            kind: ``CREATE`` or ``UPDATE``.
            template_body: The template; None uses the stack's own.
            parameters: As the API takes them.

        Raises:
            StackError: When there is no such stack, or it can not be updated now.
        """
        stack = self._stack_for(stack_name, kind)
        body = template_body if template_body is not None else stack.template_body
        template = _load(body)
        change_set = ChangeSet(
            change_set_id=self._arn("changeSet", name),
            name=name,
            kind=kind,
            stack=stack,
            template_body=body,
            template=template,
            parameters=_given(template, parameters, stack.parameters),
            tags=tags,
            description=description,
            changes=_changes(stack, template),
        )
        self._resolved(change_set.template, change_set.parameters)
        self._change_sets[change_set.change_set_id] = change_set
        return change_set

    def delete_change_set(self, name: str, stack_name: str | None) -> None:
        """Delete a change set; one that is not there counts as deleted."""
        try:
            del self._change_sets[self.change_set(name, stack_name).change_set_id]
        except StackError as error:
            if error.code != "ChangeSetNotFound":
                raise

    def execute_change_set(
        self, name: str, stack_name: str | None, *, rollback: bool = True, token: str | None = None
    ) -> None:
        """Begin what a change set says; the stack's status tells when it is over.

        Args:
            rollback: Whether a failure undoes the rest.
            token: The client's token, repeated in the events.
        """
        change_set = self.change_set(name, stack_name)
        stack = change_set.stack
        if change_set.empty:
            raise StackError(
                f"ChangeSet [{change_set.change_set_id}] cannot be executed in its current status"
            )
        operation = Operation(
            stack=stack,
            template=change_set.template,
            parameters=self._resolved(change_set.template, change_set.parameters),
            environment=self._environment,
        )
        previous = (stack.template, stack.template_body, stack.parameters, stack.tags)
        del self._change_sets[change_set.change_set_id]

        def run() -> None:
            if change_set.kind == "CREATE":
                operation.create(rollback=rollback)
            else:
                stack.updated_at = dt.datetime.now(dt.UTC)
                operation.update(rollback=rollback)
            if "ROLLBACK" in stack.status and change_set.kind == "UPDATE":
                stack.template, stack.template_body, stack.parameters, stack.tags = previous

        stack.template, stack.template_body = change_set.template, change_set.template_body
        stack.parameters, stack.tags = change_set.parameters, change_set.tags
        self._begin(stack, run, first=f"{change_set.kind}_IN_PROGRESS", token=token)

    def delete_stack(self, name: str, *, token: str | None = None) -> None:
        """Begin deleting a stack; deleting one that is not there is no error, as in CloudFormation.

        Raises:
            StackError: When the stack is protected.
        """
        try:
            stack = self.find(name)
        except StackError:
            return
        if stack.status == "DELETE_COMPLETE":
            return
        if stack.termination_protection:
            message = f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
            raise StackError(message)
        parameters = self._resolved(stack.template, stack.parameters)
        operation = Operation(
            stack=stack, template=stack.template, parameters=parameters, environment=self._environment
        )

        def run() -> None:
            operation.delete()
            stack.deleted_at = dt.datetime.now(dt.UTC)

        self._begin(stack, run, first="DELETE_IN_PROGRESS", token=token)

    def abandon(self) -> None:
        """Leave every stack as it is: operations under way end at their next resource."""
        self._abandoned.set()

    # -- inside ----------------------------------------------------------------------------------------

    def _begin(self, stack: Stack, run: Callable[[], None], *, first: str, token: str | None) -> None:
        with self._lock:
            if stack.status.endswith("_IN_PROGRESS") and stack.status != "REVIEW_IN_PROGRESS":
                raise StackError(f"Stack:{stack.stack_id} is in {stack.status} state and can not be updated.")
            # Whoever asks between now and the thread's first step must see that work has begun.
            stack.status, stack.token = first, token

        def safely() -> None:
            try:
                run()
            except Exception as error:  # a mistake of ours must end the operation, not hang the client
                if self._abandoned.is_set():
                    return
                _LOG.error("stack operation failed: %s", traceback.format_exc())
                stack.set_status(
                    first.replace("_IN_PROGRESS", "_FAILED"), f"the embedded AWS failed: {error!r}"
                )

        Thread(target=safely, name=f"stack-{stack.name}", daemon=True).start()

    def _while_at_work(self, lookup: TypeLookup) -> TypeLookup:
        def guarded(name: str) -> ResourceType:
            if self._abandoned.is_set():
                raise RuntimeError("the embedded CloudFormation has stopped")
            return lookup(name)

        return guarded

    def _stack_for(self, name: str, kind: str) -> Stack:
        if kind == "UPDATE":
            stack = self.find(name)
            if (
                not stack.status.endswith(("_COMPLETE", "UPDATE_FAILED"))
                or stack.status == "ROLLBACK_COMPLETE"
            ):
                raise StackError(f"Stack:{stack.stack_id} is in {stack.status} state and can not be updated.")
            return stack
        if kind != "CREATE":
            raise StackError(f"change sets of type {kind} are not emulated")
        try:
            stack = self.find(name)
        except StackError:
            stack = Stack(name=name, stack_id=self._arn("stack", name))
            self._stacks[stack.stack_id] = stack
            stack.set_status("REVIEW_IN_PROGRESS", "User Initiated")
            return stack
        if stack.status != "REVIEW_IN_PROGRESS":
            raise StackError(f"Stack [{name}] already exists and cannot be created again with the changeSet")
        return stack

    def _exports(self) -> dict[str, str]:
        living = (stack for stack in self._stacks.values() if stack.status != "DELETE_COMPLETE")
        outputs = (output for stack in living for output in stack.outputs)
        return {o["ExportName"]: o["OutputValue"] for o in outputs if "ExportName" in o}

    def _arn(self, kind: str, name: str) -> str:
        aws, partition = self._environment.aws, self._environment.values["AWS::Partition"]
        return f"arn:{partition}:cloudformation:{aws.region}:{aws.account_id}:{kind}/{name}/{uuid.uuid4()}"

    def _resolved(self, template: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, declared in template.get("Parameters", {}).items():
            if name not in given and "Default" not in declared:
                raise StackError(f"Parameters: [{name}] must have values")
            values[name] = self._value(declared["Type"], given.get(name, declared.get("Default")))
        return values

    def _value(self, kind: str, value: Any) -> Any:
        if kind.startswith("AWS::SSM::Parameter::Value"):
            try:
                answer = self._environment.aws.call("ssm", "get_parameter", Name=value)
            except ResourceError as error:
                raise StackError(
                    f"Unable to fetch parameter {value} from the parameter store: {error}"
                ) from error
            value = answer["Parameter"]["Value"]
        return str(value).split(",") if "List" in kind else value


def _load(body: str) -> dict[str, Any]:
    try:
        return load_template(body)
    except (TemplateError, ValueError) as error:
        raise StackError(str(error)) from error


def _given(
    template: Mapping[str, Any], parameters: list[Mapping[str, Any]], before: Mapping[str, str]
) -> dict[str, str]:
    given = {}
    for parameter in parameters:
        name = parameter["ParameterKey"]
        if name not in template.get("Parameters", {}):
            raise StackError(f"Parameters: [{name}] do not exist in the template")
        if parameter.get("UsePreviousValue"):
            given.update({name: before[name]} if name in before else {})
        else:
            given[name] = parameter["ParameterValue"]
    return given


def _changes(stack: Stack, template: Mapping[str, Any]) -> list[dict[str, Any]]:
    old, new = stack.template.get("Resources", {}), template["Resources"]
    actions = {
        **{name: ("Add", new[name]) for name in new if name not in old},
        **{name: ("Modify", new[name]) for name in new if name in old and new[name] != old[name]},
        **{name: ("Remove", old[name]) for name in old if name not in new},
    }
    return [
        {
            "Type": "Resource",
            "ResourceChange": {
                "Action": action,
                "LogicalResourceId": name,
                "ResourceType": definition["Type"],
                **_existing(stack, name),
            },
        }
        for name, (action, definition) in actions.items()
    ]


def _existing(stack: Stack, name: str) -> dict[str, str]:
    resource = stack.resources.get(name)
    return {"PhysicalResourceId": resource.physical_id} if resource and resource.physical_id else {}
