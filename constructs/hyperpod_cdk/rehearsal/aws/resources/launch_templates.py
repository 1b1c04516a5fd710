"""AWS::EC2::LaunchTemplate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.base import Call, Created, ResourceType, known


class LaunchTemplate:
    """A launch template; a change of its data makes a new version of it."""

    slow = False
    _PROPERTIES = ("LaunchTemplateName", "LaunchTemplateData", "TagSpecifications", "VersionDescription")

    def create(self, call: Call) -> Created:
        """Create the template with its first version."""
        known(call, self._PROPERTIES)
        given = call.properties
        answer = call.aws.call(
            "ec2",
            "create_launch_template",
            LaunchTemplateName=given.get("LaunchTemplateName") or call.name(limit=128),
            LaunchTemplateData=given["LaunchTemplateData"],
            VersionDescription=given.get("VersionDescription"),
            TagSpecifications=given.get("TagSpecifications"),
        )
        return self._created(answer["LaunchTemplate"]["LaunchTemplateId"], 1)

    def update(self, call: Call) -> Created:
        """Make a new version; another name or other tags replace the template."""
        if call.changed & {"LaunchTemplateName", "TagSpecifications"}:
            return self.create(call)
        answer = call.aws.call(
            "ec2",
            "create_launch_template_version",
            LaunchTemplateId=call.physical_id,
            LaunchTemplateData=call.properties["LaunchTemplateData"],
        )
        return self._created(call.physical_id, answer["LaunchTemplateVersion"]["VersionNumber"])

    def delete(self, call: Call) -> None:
        """Delete the template with all its versions."""
        call.aws.call("ec2", "delete_launch_template", LaunchTemplateId=call.physical_id)

    def _created(self, template_id: str, latest: Any) -> Created:
        numbers = {"LatestVersionNumber": str(latest), "DefaultVersionNumber": "1"}
        return Created(physical_id=template_id, attributes={"LaunchTemplateId": template_id, **numbers})


LAUNCH_TEMPLATES: Mapping[str, ResourceType] = {"AWS::EC2::LaunchTemplate": LaunchTemplate()}
