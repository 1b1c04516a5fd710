"""AWS::Lambda and AWS::StepFunctions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.awslambda.utils import get_backend

from hyperpod_cdk.rehearsal.aws.resources.base import (
    Call,
    Created,
    Properties,
    ResourceType,
    UnsupportedResourceError,
    known,
)

_CODE = ("S3Bucket", "S3Key", "S3ObjectVersion")
_SETTINGS = (
    "Description",
    "Environment",
    "Handler",
    "KmsKeyArn",
    "Layers",
    "MemorySize",
    "Role",
    "Runtime",
    "Timeout",
    "TracingConfig",
    "VpcConfig",
)


class Function:
    """AWS::Lambda::Function with its code in S3."""

    slow = False
    _CREATION = ("FunctionName", "Architectures", "EphemeralStorage", "PackageType")
    _WITHOUT_EFFECT = ("ReservedConcurrentExecutions", "DeadLetterConfig", "RuntimeManagementConfig")
    """Lambda limits how many run at once and whom to tell about failures; a handful of local processes need
    neither."""

    def create(self, call: Call) -> Created:
        """Create the function."""
        known(call, ("Code", "LoggingConfig", "Tags", *_SETTINGS, *self._CREATION, *self._WITHOUT_EFFECT))
        given = call.properties
        name = given.get("FunctionName") or call.name()
        answer = call.aws.call(
            "lambda",
            "create_function",
            FunctionName=name,
            Code=_code(given),
            Tags={tag["Key"]: tag["Value"] for tag in given.get("Tags", [])} or None,
            **{k: given[k] for k in (*_SETTINGS, "Architectures", "EphemeralStorage") if k in given},
        )
        self._log_to(call, name)
        return Created(physical_id=name, attributes={"Arn": answer["FunctionArn"]})

    def update(self, call: Call) -> Created:
        """Change code and settings in place; another name replaces the function."""
        if call.changed & set(self._CREATION):
            return self.create(call)
        name, given = call.physical_id, call.properties
        if call.changed & set(_SETTINGS):
            settings = {key: given[key] for key in _SETTINGS if key in given and key != "TracingConfig"}
            call.aws.call("lambda", "update_function_configuration", FunctionName=name, **settings)
        if "Code" in call.changed:
            call.aws.call("lambda", "update_function_code", FunctionName=name, **_code(given))
        self._log_to(call, name)
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the function."""
        call.aws.call("lambda", "delete_function", FunctionName=call.physical_id)

    def _log_to(self, call: Call, name: str) -> None:
        # Moto's API has no LoggingConfig; the function it keeps has the attribute nevertheless.
        group = call.properties.get("LoggingConfig", {}).get("LogGroup")
        if group:
            function = get_backend(call.aws.account_id, call.aws.region).get_function(name)
            function.logs_group_name = group


class LayerVersion:
    """AWS::Lambda::LayerVersion."""

    slow = False
    _PROPERTIES = ("Content", "Description", "CompatibleRuntimes", "CompatibleArchitectures", "LicenseInfo")

    def create(self, call: Call) -> Created:
        """Publish the layer."""
        known(call, (*self._PROPERTIES, "LayerName"))
        given = dict(call.properties)
        name = given.pop("LayerName", None) or call.name()
        arn = call.aws.call("lambda", "publish_layer_version", LayerName=name, **given)["LayerVersionArn"]
        return Created(physical_id=arn, attributes={"LayerVersionArn": arn})

    def update(self, call: Call) -> Created:
        """Publish another version."""
        return self.create(call)

    def delete(self, call: Call) -> None:
        """Delete the version."""
        *_, name, version = call.physical_id.split(":")
        call.aws.call("lambda", "delete_layer_version", LayerName=name, VersionNumber=version)


class Permission:
    """AWS::Lambda::Permission."""

    slow = False

    def create(self, call: Call) -> Created:
        """Add the statement to the function's policy."""
        known(call, ("FunctionName", "Action", "Principal", "SourceArn", "SourceAccount"))
        statement = call.name(limit=100)
        call.aws.call("lambda", "add_permission", StatementId=statement, **call.properties)
        return Created(physical_id=statement, attributes={"Id": statement})

    def update(self, call: Call) -> Created:
        """Add another statement."""
        return self.create(call)

    def delete(self, call: Call) -> None:
        """Take the statement away."""
        function = call.properties["FunctionName"]
        call.aws.call("lambda", "remove_permission", FunctionName=function, StatementId=call.physical_id)


class StateMachine:
    """AWS::StepFunctions::StateMachine."""

    slow = False
    _PROPERTIES = (
        "StateMachineName",
        "StateMachineType",
        "DefinitionString",
        "DefinitionSubstitutions",
        "RoleArn",
        "LoggingConfiguration",
        "TracingConfiguration",
        "Tags",
    )
    _REPLACING = frozenset({"StateMachineName", "StateMachineType"})

    def create(self, call: Call) -> Created:
        """Create the state machine."""
        known(call, self._PROPERTIES)
        given = call.properties
        name = given.get("StateMachineName") or call.name(limit=80)
        answer = call.aws.call(
            "stepfunctions",
            "create_state_machine",
            name=name,
            type=given.get("StateMachineType"),
            tags=[{"key": tag["Key"], "value": tag["Value"]} for tag in given.get("Tags", [])],
            **_machine(given),
        )
        arn = answer["stateMachineArn"]
        return Created(physical_id=arn, attributes={"Arn": arn, "Name": name})

    def update(self, call: Call) -> Created:
        """Change the definition in place; another name or type replaces the state machine."""
        if call.changed & self._REPLACING:
            return self.create(call)
        machine = _machine(call.properties)
        call.aws.call("stepfunctions", "update_state_machine", stateMachineArn=call.physical_id, **machine)
        return call.created

    def delete(self, call: Call) -> None:
        """Delete the state machine."""
        call.aws.call("stepfunctions", "delete_state_machine", stateMachineArn=call.physical_id)


def _code(properties: Properties) -> dict[str, Any]:
    code = properties["Code"]
    others = set(code) - set(_CODE)
    if others:
        raise UnsupportedResourceError(
            f"AWS::Lambda::Function: Code.{', '.join(sorted(others))} is not emulated"
        )
    return dict(code)


def _machine(properties: Properties) -> dict[str, Any]:
    definition = properties["DefinitionString"]
    for name, value in properties.get("DefinitionSubstitutions", {}).items():
        definition = definition.replace(f"${{{name}}}", str(value))
    machine = {"definition": definition, "roleArn": properties["RoleArn"]}
    for name in ("LoggingConfiguration", "TracingConfiguration"):
        if name in properties:
            # CloudFormation capitalizes what the API writes in lower case: round-trip keys, not values.
            machine[name[0].lower() + name[1:]] = _lower_keys(properties[name])
    return machine


def _lower_keys(value: Any) -> Any:
    if isinstance(value, list):
        return [_lower_keys(item) for item in value]
    if isinstance(value, dict):
        return {key[0].lower() + key[1:]: _lower_keys(item) for key, item in value.items()}
    return value


COMPUTE: Mapping[str, ResourceType] = {
    "AWS::Lambda::Function": Function(),
    "AWS::Lambda::LayerVersion": LayerVersion(),
    "AWS::Lambda::Permission": Permission(),
    "AWS::StepFunctions::StateMachine": StateMachine(),
}
