"""Creating, updating, rolling back and deleting a stack's resources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import (
    Call,
    Clients,
    Created,
    ResourceError,
    ResourceType,
    UnsupportedResourceError,
    absent,
)
from hyperpod_cdk.rehearsal.aws.stacks.graph import DependencyCycleError, run_in_order
from hyperpod_cdk.rehearsal.aws.stacks.records import Resource, Stack
from hyperpod_cdk.rehearsal.aws.stacks.template import Scope, TemplateError, references

TypeLookup = Callable[[str], ResourceType]
"""Gives the implementation of a resource type; raises ResourceError for one that is not emulated."""

_CREATION_KEEPS = frozenset({"Retain", "Snapshot"})
_DELETION_KEEPS = frozenset({"Retain", "RetainExceptOnCreate", "Snapshot"})


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What an operation works with.

    Args:
        aws: Clients of the embedded AWS.
        lookup: The resource types.
        values: Pseudo parameters by name.
        zones: Names of the Region's Availability Zones.
        exports: Outputs that other stacks export, by name.
    """

    aws: Clients
    lookup: TypeLookup
    values: Mapping[str, str]
    zones: tuple[str, ...]
    exports: Callable[[], Mapping[str, str]]


@dataclass(kw_only=True)
class Operation:
    """One operation on one stack.

    Args:
        stack: The stack, whose records are changed as the operation goes.
        template: The template to arrive at.
        parameters: Values of its parameters, by name.
        environment: What the operation works with.
    """

    stack: Stack
    template: Mapping[str, Any]
    parameters: Mapping[str, Any]
    environment: Environment
    before: dict[str, Resource] = field(default_factory=dict)
    superseded: list[tuple[Resource, str]] = field(default_factory=list)
    """Resources whose work is superseded: (record, which policy decides whether it stays)."""
    touched: dict[str, Resource] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def create(self, *, rollback: bool = True) -> None:
        """Create everything, or roll back.

        Args:
            rollback: Whether a failure deletes what was created.
        """
        stack = self.stack
        stack.set_status("CREATE_IN_PROGRESS", "User Initiated")
        if self._apply_all():
            stack.set_status("CREATE_COMPLETE")
            return
        reason = f"The following resource(s) failed to create: [{', '.join(sorted(self.failed))}]."
        if not rollback:
            stack.set_status("CREATE_FAILED", reason)
            return
        stack.set_status("ROLLBACK_IN_PROGRESS", f"{reason} Rollback requested by user.")
        left = self._delete(stack.resources.values(), keeps=_CREATION_KEEPS)
        stack.set_status("ROLLBACK_FAILED" if left else "ROLLBACK_COMPLETE", _not_deleted(left))

    def update(self, *, rollback: bool = True) -> None:
        """Go over to the new template, or back to the old one.

        Args:
            rollback: Whether a failure goes back.
        """
        stack = self.stack
        self.before = dict(stack.resources)
        stack.set_status("UPDATE_IN_PROGRESS", "User Initiated")
        if self._apply_all():
            stack.set_status("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
            gone = [
                (self.before[name], "DeletionPolicy") for name in self.before if name not in self._defined()
            ]
            self._clean_up([*gone, *self.superseded])
            stack.set_status("UPDATE_COMPLETE")
            return
        reason = f"The following resource(s) failed to update: [{', '.join(sorted(self.failed))}]."
        if not rollback:
            stack.set_status("UPDATE_FAILED", reason)
            return
        stack.set_status("UPDATE_ROLLBACK_IN_PROGRESS", f"{reason} ")
        self.failed = []
        fresh = self._go_back()
        if self.failed:
            stack.set_status("UPDATE_ROLLBACK_FAILED", f"Could not go back: [{', '.join(self.failed)}].")
            return
        stack.set_status("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")
        self._clean_up([(resource, "") for resource in fresh])
        stack.set_status("UPDATE_ROLLBACK_COMPLETE")

    def delete(self) -> None:
        """Delete everything but what its DeletionPolicy keeps."""
        self.stack.set_status("DELETE_IN_PROGRESS", "User Initiated")
        left = self._delete(self.stack.resources.values(), keeps=_DELETION_KEEPS)
        self.stack.set_status("DELETE_FAILED" if left else "DELETE_COMPLETE", _not_deleted(left))

    # -- creating and changing -----------------------------------------------------------------------

    def _defined(self) -> dict[str, Mapping[str, Any]]:
        scope = self.scope()
        return {
            name: definition
            for name, definition in self.template["Resources"].items()
            if "Condition" not in definition or scope.condition(definition["Condition"])
        }

    def _apply_all(self) -> bool:
        try:
            defined = self._defined()
            needs = {name: _dependencies(definition) for name, definition in defined.items()}
            run_in_order(needs, self._apply, slow=lambda name: self._slow(defined[name]["Type"]))
            if not self.failed:
                self.stack.outputs = self._outputs()
        except (DependencyCycleError, TemplateError) as error:
            self.stack.status_reason = str(error)
            self.failed.append(str(error))
        return not self.failed

    def _slow(self, type_: str) -> bool:
        try:
            return self.environment.lookup(type_).slow
        except ResourceError:
            return False

    def _apply(self, name: str) -> bool:
        definition = self.template["Resources"][name]
        old = self.before.get(name)
        resource = Resource(
            logical_id=name,
            type=definition["Type"],
            properties={},
            definition=definition,
            dependencies=_dependencies(definition),
        )
        try:
            resource.properties = self.scope().evaluate(definition.get("Properties", {}))
        except TemplateError as error:
            return self._fail(resource, "UPDATE_FAILED" if old else "CREATE_FAILED", error)
        if old is None:
            return self._create(resource)
        resource.created, resource.status = old.created, old.status
        if old.type == resource.type and old.properties == resource.properties:
            self.stack.resources[name] = resource
            return True
        return self._update(old, resource)

    def _create(self, resource: Resource) -> bool:
        stack = self.stack
        stack.resources[resource.logical_id] = self.touched[resource.logical_id] = resource
        stack.set_resource_status(resource, "CREATE_IN_PROGRESS")
        try:
            resource.created = self.environment.lookup(resource.type).create(self._call(resource))
        except ResourceError as error:
            if error.physical_id:
                resource.created = Created(physical_id=error.physical_id)
            return self._fail(resource, "CREATE_FAILED", error)
        stack.set_resource_status(resource, "CREATE_COMPLETE")
        return True

    def _update(self, old: Resource, new: Resource) -> bool:
        stack = self.stack
        self.touched[new.logical_id] = new
        stack.set_resource_status(new, "UPDATE_IN_PROGRESS")
        try:
            if old.type != new.type:
                raise ResourceError("Update of resource type is not permitted.")
            created = self.environment.lookup(new.type).update(self._call(new, old=old))
        except ResourceError as error:
            if isinstance(error, UnsupportedResourceError):
                # refused before anything was changed: there is nothing to take back
                del self.touched[new.logical_id]
            return self._fail(new, "UPDATE_FAILED", error)
        if created.physical_id != old.physical_id:
            self.superseded.append((old, "UpdateReplacePolicy"))
        new.created = created
        stack.resources[new.logical_id] = new
        stack.set_resource_status(new, "UPDATE_COMPLETE")
        return True

    def _fail(self, resource: Resource, status: str, error: Exception) -> bool:
        self.failed.append(resource.logical_id)
        self.stack.set_resource_status(resource, status, str(error))
        return False

    def _go_back(self) -> list[Resource]:
        """Bring every changed resource back; gives what the failed update had created."""
        fresh = []
        for name in reversed(self.touched):
            new, old = self.touched[name], self.before.get(name)
            if old is None:
                fresh.append(new)
                del self.stack.resources[name]
                continue
            if new.physical_id != old.physical_id:
                fresh.append(new)
            self.stack.resources[name] = old
            if new.physical_id == old.physical_id and old.type == new.type:
                self._revert(old, new)
        return fresh

    def _revert(self, old: Resource, new: Resource) -> None:
        self.stack.set_resource_status(old, "UPDATE_IN_PROGRESS")
        try:
            old.created = self.environment.lookup(old.type).update(self._call(old, old=new))
        except ResourceError as error:
            self._fail(old, "UPDATE_FAILED", error)
        else:
            self.stack.set_resource_status(old, "UPDATE_COMPLETE")

    # -- deleting ------------------------------------------------------------------------------------

    def _clean_up(self, resources: Iterable[tuple[Resource, str]]) -> None:
        for resource, policy in sorted(
            resources, key=lambda pair: _depth(pair[0], self.before), reverse=True
        ):
            if policy and resource.policy(policy) in _DELETION_KEEPS:
                self.stack.set_resource_status(resource, "DELETE_SKIPPED")
            else:
                self._remove(resource)
            if self.stack.resources.get(resource.logical_id) is resource:
                del self.stack.resources[resource.logical_id]

    def _delete(self, resources: Collection[Resource], *, keeps: Collection[str]) -> list[str]:
        by_name = {r.logical_id: r for r in resources if r.status != "DELETE_COMPLETE"}
        users: dict[str, set[str]] = {name: set() for name in by_name}
        for name, resource in by_name.items():
            for dependency in resource.dependencies & by_name.keys():
                users[dependency].add(name)

        def remove(name: str) -> bool:
            resource = by_name[name]
            if resource.policy("DeletionPolicy") in keeps and resource.created:
                self.stack.set_resource_status(resource, "DELETE_SKIPPED")
                return True
            return self._remove(resource)

        run_in_order(users, remove, slow=lambda name: self._slow(by_name[name].type), keep_going=True)
        return [name for name, resource in by_name.items() if resource.status == "DELETE_FAILED"]

    def _remove(self, resource: Resource) -> bool:
        if resource.created is None:
            self.stack.set_resource_status(resource, "DELETE_COMPLETE")
            return True
        self.stack.set_resource_status(resource, "DELETE_IN_PROGRESS")
        try:
            self.environment.lookup(resource.type).delete(self._call(resource))
        except ResourceError as error:
            # CloudFormation, too, takes a resource that somebody else deleted for deleted.
            if not absent(error):
                self.stack.set_resource_status(resource, "DELETE_FAILED", str(error))
                return False
        self.stack.set_resource_status(resource, "DELETE_COMPLETE")
        return True

    # -- values --------------------------------------------------------------------------------------

    def scope(self) -> Scope:
        """What the template's expressions see now."""
        return Scope(
            values={
                **self.environment.values,
                "AWS::StackName": self.stack.name,
                "AWS::StackId": self.stack.stack_id,
                **self.parameters,
            },
            reference=self._reference,
            attribute=self._attribute,
            exports=self.environment.exports(),
            zones=self.environment.zones,
            mappings=self.template.get("Mappings", {}),
            conditions=self.template.get("Conditions", {}),
        )

    def _existing(self, name: str) -> Created:
        resource = self.stack.resources.get(name)
        if resource is None or resource.created is None:
            raise TemplateError(
                f"Unresolved resource dependencies [{name}] in the Resources block of the template"
            )
        return resource.created

    def _reference(self, name: str) -> str:
        return self._existing(name).physical_id

    def _attribute(self, name: str, attribute: str) -> Any:
        created = self._existing(name)
        if attribute not in created.attributes:
            type_ = self.stack.resources[name].type
            raise TemplateError(f"{name}: {type_} has no attribute {attribute}, or it is not emulated")
        return created.attributes[attribute]

    def _outputs(self) -> list[dict[str, str]]:
        scope, outputs = self.scope(), []
        for key, output in self.template.get("Outputs", {}).items():
            if "Condition" in output and not scope.condition(output["Condition"]):
                continue
            entry = {"OutputKey": key, "OutputValue": str(scope.evaluate(output["Value"]))}
            if "Description" in output:
                entry["Description"] = output["Description"]
            if "Export" in output:
                entry["ExportName"] = str(scope.evaluate(output["Export"]["Name"]))
            outputs.append(entry)
        return outputs

    def _call(self, resource: Resource, *, old: Resource | None = None) -> Call:
        call = Call(
            aws=self.environment.aws,
            type=resource.type,
            logical_id=resource.logical_id,
            stack_name=self.stack.name,
            stack_id=self.stack.stack_id,
            properties=resource.properties,
            existing=resource.created,
        )
        return call if old is None else replace(call, old_properties=old.properties, existing=old.created)


def _dependencies(definition: Mapping[str, Any]) -> frozenset[str]:
    depends_on = definition.get("DependsOn", [])
    explicit = [depends_on] if isinstance(depends_on, str) else depends_on
    return frozenset({*explicit, *references(definition.get("Properties", {}))})


def _depth(resource: Resource, others: Mapping[str, Resource]) -> int:
    below = (others[name] for name in resource.dependencies if name in others)
    return 1 + max((_depth(other, others) for other in below), default=0)


def _not_deleted(names: Collection[str]) -> str | None:
    return f"The following resource(s) failed to delete: [{', '.join(sorted(names))}]." if names else None
