"""AWS::APS and AWS::Grafana: where metrics are kept and looked at; and AWS::IAM::OIDCProvider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.api_type import ApiType
from hyperpod_cdk.rehearsal.aws.resources.base import Call, Created, ResourceError, ResourceType, known
from hyperpod_cdk.service.eks_add_ons import GRAFANA_REGIONS


def _delete_metrics(call: Call) -> None:
    workspace = call.physical_id.rpartition("/")[2]
    call.aws.call("amp", "delete_workspace", workspaceId=workspace)


def _tag_metrics(call: Call, answer: Any) -> None:
    tags = {tag["Key"]: tag["Value"] for tag in call.properties.get("Tags", [])}
    if tags:
        call.aws.call("amp", "tag_resource", resourceArn=answer["arn"], tags=tags)


class Grafana:
    """AWS::Grafana::Workspace, which moto does not know: its Region and role are looked at."""

    slow = False
    _PROPERTIES = (
        "AccountAccessType",
        "AuthenticationProviders",
        "DataSources",
        "Name",
        "PermissionType",
        "RoleArn",
    )

    def create(self, call: Call) -> Created:
        """Note the workspace."""
        known(call, self._PROPERTIES)
        if call.aws.region not in GRAFANA_REGIONS:
            raise ResourceError(f"{call.type} is not in {call.aws.region}")
        role = call.properties["RoleArn"].rpartition("/")[2]
        call.aws.call("iam", "get_role", RoleName=role)
        identifier = f"g-{call.suffix[:10].lower()}"
        endpoint = f"{identifier}.grafana-workspace.{call.aws.region}.amazonaws.com"
        return Created(physical_id=identifier, attributes={"Id": identifier, "Endpoint": endpoint})

    def update(self, call: Call) -> Created:
        """Change it in place, as CloudFormation does with every property but two."""
        known(call, self._PROPERTIES)
        return self.create(call) if "AccountAccessType" in call.changed else call.created

    def delete(self, call: Call) -> None:
        """Forget it."""


WORKSPACES: Mapping[str, ResourceType] = {
    "AWS::APS::Workspace": ApiType(
        service="amp",
        create_method="create_workspace",
        identifier="arn",
        properties={"Alias": "alias", "KmsKeyArn": "kmsKeyArn"},
        attributes={"Arn": "arn", "WorkspaceId": "workspaceId"},
        handled=frozenset({"Tags"}),
        finish=_tag_metrics,
        remove=_delete_metrics,
    ),
    "AWS::Grafana::Workspace": Grafana(),
    "AWS::IAM::OIDCProvider": ApiType(
        service="iam",
        create_method="create_open_id_connect_provider",
        identifier="OpenIDConnectProviderArn",
        properties={"Url": "Url", "ClientIdList": "ClientIDList", "ThumbprintList": "ThumbprintList"},
        attributes={"Arn": "OpenIDConnectProviderArn"},
        delete_with=("delete_open_id_connect_provider", "OpenIDConnectProviderArn"),
    ),
}
