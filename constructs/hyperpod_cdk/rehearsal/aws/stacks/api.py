"""CloudFormation's API in front of the embedded CloudFormation.

Moto's own takes a stack's resources one by one inside the request, in the template's order, reports success
even when a resource failed, and knows no update or deletion of custom resources. So its requests are read and
its answers written by moto, and everything between is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote, urlparse

from moto.cloudformation import urls
from moto.cloudformation.exceptions import CloudFormationError
from moto.core.responses import ActionResult, BaseResponse, EmptyResult
from moto.utilities.utils import get_partition

from hyperpod_cdk.rehearsal.aws.stacks.records import Resource, Stack
from hyperpod_cdk.rehearsal.aws.stacks.service import ChangeSet, CloudFormation, StackError

ServiceLookup = Callable[[str, str], CloudFormation]
"""Gives the embedded CloudFormation of an account and Region."""

_NO_CHANGES = (
    "The submitted information didn't contain changes. Submit different information to create a change set."
)


class _RefusedError(CloudFormationError):
    def __init__(self, error: StackError) -> None:
        super().__init__(str(error))
        self.code = error.code


def _operation(method: Callable[[Any], object]) -> Callable[[Any], ActionResult]:
    def answer(self: Any) -> ActionResult:
        try:
            result = method(self)
        except StackError as error:
            raise _RefusedError(error) from error
        return EmptyResult() if result is None else ActionResult(result)

    return answer


class Api(BaseResponse):
    """The operations that the CDK CLI and `aws cloudformation` use to deploy and to look.

    Moto refuses all others as not implemented.
    """

    lookup: ServiceLookup

    def __init__(self) -> None:
        super().__init__(service_name="cloudformation")
        self.automated_parameter_parsing = True

    @property
    def _service(self) -> CloudFormation:
        return type(self).lookup(self.current_account, self.region)

    @_operation
    def create_change_set(self) -> object:
        """CreateChangeSet: settled at once."""
        change_set = self._new_change_set(
            name=self._get_param("ChangeSetName"), kind=self._get_param("ChangeSetType", "UPDATE")
        )
        return {"Id": change_set.change_set_id, "StackId": change_set.stack.stack_id}

    @_operation
    def describe_change_set(self) -> object:
        """DescribeChangeSet."""
        return _change_set(self._change_set())

    @_operation
    def delete_change_set(self) -> None:
        """DeleteChangeSet."""
        self._service.delete_change_set(self._get_param("ChangeSetName"), self._get_param("StackName"))

    @_operation
    def execute_change_set(self) -> None:
        """ExecuteChangeSet: returns while the work goes on."""
        self._service.execute_change_set(
            self._get_param("ChangeSetName"),
            self._get_param("StackName"),
            rollback=not self._get_bool_param("DisableRollback", False),
            token=self._get_param("ClientRequestToken"),
        )

    @_operation
    def create_stack(self) -> object:
        """CreateStack."""
        return self._direct("CREATE")

    @_operation
    def update_stack(self) -> object:
        """UpdateStack."""
        return self._direct("UPDATE")

    @_operation
    def delete_stack(self) -> None:
        """DeleteStack: returns while the work goes on."""
        self._service.delete_stack(self._get_param("StackName"), token=self._get_param("ClientRequestToken"))

    @_operation
    def describe_stacks(self) -> object:
        """DescribeStacks."""
        name = self._get_param("StackName")
        living = (stack for stack in self._service.stacks() if stack.status != "DELETE_COMPLETE")
        return {"Stacks": [_stack(stack) for stack in ([self._service.find(name)] if name else living)]}

    @_operation
    def list_stacks(self) -> object:
        """ListStacks."""
        wanted = self._get_param("StackStatusFilter", [])
        stacks = [stack for stack in self._service.stacks() if not wanted or stack.status in wanted]
        return {"StackSummaries": [_stack(stack) for stack in stacks]}

    @_operation
    def describe_stack_events(self) -> object:
        """DescribeStackEvents, newest first."""
        return {"StackEvents": [vars(event) for event in reversed(self._find().events)]}

    @_operation
    def list_stack_resources(self) -> object:
        """ListStackResources."""
        return {"StackResourceSummaries": [_resource(r) for r in self._find().resources.values()]}

    @_operation
    def describe_stack_resources(self) -> object:
        """DescribeStackResources."""
        stack, wanted = self._find(), self._get_param("LogicalResourceId")
        described = (r for r in stack.resources.values() if wanted in (None, r.logical_id))
        return {"StackResources": [{**_resource(r), "StackName": stack.name} for r in described]}

    @_operation
    def describe_stack_resource(self) -> object:
        """DescribeStackResource."""
        stack, wanted = self._find(), self._get_param("LogicalResourceId")
        if wanted not in stack.resources:
            raise StackError(f"Resource {wanted} does not exist for stack {stack.name}")
        return {"StackResourceDetail": {**_resource(stack.resources[wanted]), "StackName": stack.name}}

    @_operation
    def get_template(self) -> object:
        """GetTemplate."""
        return {"TemplateBody": self._find().template_body, "StagesAvailable": ["Original", "Processed"]}

    @_operation
    def update_termination_protection(self) -> object:
        """UpdateTerminationProtection."""
        stack = self._find()
        stack.termination_protection = self._get_bool_param("EnableTerminationProtection", False)
        return {"StackId": stack.stack_id}

    # -- inside ----------------------------------------------------------------------------------------

    def _find(self) -> Stack:
        return self._service.find(self._get_param("StackName"))

    def _change_set(self) -> ChangeSet:
        return self._service.change_set(self._get_param("ChangeSetName"), self._get_param("StackName"))

    def _new_change_set(self, *, name: str, kind: str) -> ChangeSet:
        return self._service.create_change_set(
            stack_name=self._get_param("StackName"),
            name=name,
            kind=kind,
            template_body=self._template(),
            parameters=self._get_param("Parameters", []),
            tags={tag["Key"]: tag["Value"] for tag in self._get_param("Tags", [])},
            description=self._get_param("Description"),
        )

    def _direct(self, kind: str) -> dict[str, str]:
        change_set = self._new_change_set(name=f"direct-{kind.lower()}", kind=kind)
        if change_set.empty:
            raise StackError("No updates are to be performed.")
        self._service.execute_change_set(
            change_set.change_set_id,
            None,
            rollback=not self._get_bool_param("DisableRollback", False),
            token=self._get_param("ClientRequestToken"),
        )
        return {"StackId": change_set.stack.stack_id}

    def _template(self) -> str | None:
        body: str | None = self._get_param("TemplateBody")
        url = self._get_param("TemplateURL")
        if not url:
            return body
        # The CDK CLI writes the bucket's public address, whichever endpoint it uploaded to.
        address = urlparse(url)
        path = unquote(address.path).lstrip("/")
        host = str(address.hostname)
        bucket, key = (host.partition(".s3.")[0], path) if ".s3." in host else path.split("/", 1)
        backend = self._s3()
        return str(backend.get_object(bucket, key).value.decode())

    def _s3(self) -> Any:
        from moto.s3.models import s3_backends  # noqa: PLC0415  (moto loads services on first use; so do we)

        return s3_backends[self.current_account][get_partition(self.region)]


def _stack(stack: Stack) -> dict[str, Any]:
    return {
        "StackId": stack.stack_id,
        "StackName": stack.name,
        "Description": stack.template.get("Description"),
        "StackStatus": stack.status,
        "StackStatusReason": stack.status_reason,
        "CreationTime": stack.created_at,
        "LastUpdatedTime": stack.updated_at,
        "DeletionTime": stack.deleted_at,
        "EnableTerminationProtection": stack.termination_protection,
        "DisableRollback": False,
        "Outputs": stack.outputs,
        "Parameters": [{"ParameterKey": k, "ParameterValue": v} for k, v in stack.parameters.items()],
        "Tags": [{"Key": k, "Value": v} for k, v in stack.tags.items()],
    }


def _resource(resource: Resource) -> dict[str, Any]:
    return {
        "LogicalResourceId": resource.logical_id,
        "PhysicalResourceId": resource.physical_id,
        "ResourceType": resource.type,
        "ResourceStatus": resource.status,
        "ResourceStatusReason": resource.reason,
        "LastUpdatedTimestamp": resource.changed_at,
        "Timestamp": resource.changed_at,
    }


def _change_set(change_set: ChangeSet) -> dict[str, Any]:
    empty = change_set.empty
    return {
        "ChangeSetId": change_set.change_set_id,
        "ChangeSetName": change_set.name,
        "StackId": change_set.stack.stack_id,
        "StackName": change_set.stack.name,
        "Description": change_set.description,
        "CreationTime": change_set.created_at,
        "Status": "FAILED" if empty else "CREATE_COMPLETE",
        "StatusReason": _NO_CHANGES if empty else None,
        "ExecutionStatus": "UNAVAILABLE" if empty else change_set.execution_status,
        "Changes": change_set.changes,
        "Parameters": [{"ParameterKey": k, "ParameterValue": v} for k, v in change_set.parameters.items()],
        "Tags": [{"Key": k, "Value": v} for k, v in change_set.tags.items()],
    }


@contextmanager
def cloudformation_served_by(lookup: ServiceLookup) -> Iterator[None]:
    """Let moto's web application ask the embedded CloudFormation.

    Args:
        lookup: Gives the service of an account and Region.
    """

    class Served(Api):
        pass

    Served.lookup = staticmethod(lookup)
    with patch.dict(urls.url_paths, {"{0}/$": Served.dispatch}):
        yield
