"""Which resource types there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.cloudformation import parsing

from hyperpod_cdk.rehearsal.aws.resources.base import (
    Call,
    Created,
    ResourceError,
    ResourceType,
    UnsupportedResourceError,
)
from hyperpod_cdk.rehearsal.aws.resources.clusters import Cluster
from hyperpod_cdk.rehearsal.aws.resources.compute import COMPUTE
from hyperpod_cdk.rehearsal.aws.resources.custom import CustomResources, Invoke
from hyperpod_cdk.rehearsal.aws.resources.eks import EKS
from hyperpod_cdk.rehearsal.aws.resources.filesystems import FILE_SYSTEMS
from hyperpod_cdk.rehearsal.aws.resources.governance import GOVERNANCE
from hyperpod_cdk.rehearsal.aws.resources.identity import IDENTITY
from hyperpod_cdk.rehearsal.aws.resources.launch_templates import LAUNCH_TEMPLATES
from hyperpod_cdk.rehearsal.aws.resources.mailbox import Mailbox
from hyperpod_cdk.rehearsal.aws.resources.network import NETWORK
from hyperpod_cdk.rehearsal.aws.resources.security_groups import SECURITY_GROUPS
from hyperpod_cdk.rehearsal.aws.resources.stores import STORES
from hyperpod_cdk.rehearsal.aws.resources.wait_conditions import Handles, WaitConditions
from hyperpod_cdk.rehearsal.aws.resources.workspaces import WORKSPACES


class Metadata:
    """AWS::CDK::Metadata: CDK's note to itself; the real CloudFormation does nothing with it either."""

    slow = False

    def create(self, call: Call) -> Created:
        """Note it."""
        return Created(physical_id=call.name())

    def update(self, call: Call) -> Created:
        """Note it anew."""
        return call.created

    def delete(self, call: Call) -> None:
        """Forget it."""


class MotoType:
    """A type that moto's CloudFormation creates and deletes, and that nothing here improves on.

    Args:
        model: Moto's class of the type.
    """

    slow = False

    def __init__(self, model: Any) -> None:
        self._model = model

    def create(self, call: Call) -> Created:
        """Create the resource."""
        name = call.properties.get(self._model.cloudformation_name_type() or "", call.name())
        definition = {"Type": call.type, "Properties": dict(call.properties)}
        more = {"LogicalId": call.logical_id, "StackId": call.stack_id, "ResourceType": call.type}
        place = (call.aws.account_id, call.aws.region)
        try:
            resource = self._model.create_from_cloudformation_json(name, definition, *place, **more)
        except Exception as error:  # moto's models raise what they like
            raise ResourceError(f"{call.type}: {error}") from error
        return Created(physical_id=resource.physical_resource_id, attributes=_Attributes(resource))

    def update(self, call: Call) -> Created:
        """Refuse: moto's models answer updates as each pleases."""
        changed = ", ".join(sorted(call.changed))
        raise UnsupportedResourceError(f"{call.type}: changing {changed} is not emulated")

    def delete(self, call: Call) -> None:
        """Delete the resource."""
        definition = {"Type": call.type, "Properties": dict(call.properties)}
        place = (call.aws.account_id, call.aws.region)
        try:
            if hasattr(self._model, "delete"):
                call.created.attributes.resource.delete(*place)  # type: ignore[attr-defined]
            else:
                self._model.delete_from_cloudformation_json(call.physical_id, definition, *place)
        except Exception as error:
            raise ResourceError(f"{call.type}: {error}") from error


class _Attributes(dict[str, Any]):
    """Attributes of a model of moto's, asked for one by one."""

    def __init__(self, resource: Any) -> None:
        super().__init__()
        self.resource = resource

    def __contains__(self, name: object) -> bool:
        return bool(self.resource.has_cfn_attr(name))

    def __missing__(self, name: str) -> Any:
        return self.resource.get_cfn_attribute(name)


_TYPES: Mapping[str, ResourceType] = {
    **NETWORK,
    **SECURITY_GROUPS,
    **IDENTITY,
    **STORES,
    **COMPUTE,
    **EKS,
    **LAUNCH_TEMPLATES,
    **GOVERNANCE,
    **FILE_SYSTEMS,
    **WORKSPACES,
    "AWS::CDK::Metadata": Metadata(),
    "AWS::SageMaker::Cluster": Cluster(),
}
_FROM_MOTO = frozenset(
    {"AWS::CloudWatch::Dashboard", "AWS::Events::Rule", "AWS::SNS::Topic", "AWS::SQS::Queue"}
)
"""Types that moto's own models do well enough: a name, no further resources behind them."""


class Registry:
    """Finds the implementation of a resource type.

    Args:
        mailbox: Gives the addresses that functions answer at.
        invoke: Runs a function.
        speed: How much faster than real time the embedded AWS runs.
    """

    def __init__(self, *, mailbox: Mailbox, invoke: Invoke, speed: float) -> None:
        handles = Handles(mailbox)
        self._custom = CustomResources(mailbox=mailbox, invoke=invoke, speed=speed)
        self._types: Mapping[str, ResourceType] = {
            **_TYPES,
            "AWS::CloudFormation::CustomResource": self._custom,
            "AWS::CloudFormation::WaitConditionHandle": handles,
            "AWS::CloudFormation::WaitCondition": WaitConditions(handles, speed=speed),
        }

    def lookup(self, type_: str) -> ResourceType:
        """Give the implementation of a type.

        Raises:
            UnsupportedResourceError: Naming a type that is not emulated.
        """
        if type_.startswith("Custom::"):
            return self._custom
        if type_ in self._types:
            return self._types[type_]
        if type_ in _FROM_MOTO:
            return MotoType(parsing.get_model_map()[type_])
        raise UnsupportedResourceError(f"{type_} is not emulated")
