"""Two scanners of IAM policies over every example: what they report is fixed, or explained."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import parliament
import pytest
from cloudsplaining.scan.policy_document import PolicyDocument
from policy_sentry.shared.iam_data import get_service_prefix_data

from hyperpod_cdk.config import load
from hyperpod_cdk.spec import Deployment, EbsVolume, HyperPodSpec, RemovalPolicy, Wait
from hyperpod_cdk.stack import HyperPodStack

ROOT = Path(__file__).parents[3]
CONTEXT = json.loads((ROOT / "cdk.json").read_text())["context"]
HERE = "us-west-2:111122223333"
KEY = f"arn:aws:kms:{HERE}:key/00000000-0000-0000-0000-000000000000"
PLAN = f"arn:aws:sagemaker:{HERE}:training-plan/spring"


def everything() -> HyperPodSpec:
    """A cluster with all that asks for permissions, beside what the examples have."""
    spec = load(ROOT / "clusters" / "slurm-gpu.yaml")
    *others, gpu = spec.cluster.instance_groups
    gpu = replace(
        gpu,
        image_id="ami-0123456789abcdef0",
        training_plan_arn=PLAN,
        root_volume=EbsVolume(volume_kms_key_id=KEY),
    )
    return replace(
        spec,
        cluster=replace(spec.cluster, instance_groups=[*others, gpu]),
        deployment=Deployment(wait=Wait.MINIMUM_COUNTS, log_group_removal_policy=RemovalPolicy.DESTROY),
    )


SPECS = {path.stem: load(path) for path in sorted((ROOT / "clusters").glob("*.yaml"))}
SPECS["everything"] = everything()

PSEUDO = {
    "AWS::AccountId": "111122223333",
    "AWS::Partition": "aws",
    "AWS::Region": "us-west-2",
    "AWS::StackId": f"arn:aws:cloudformation:{HERE}:stack/Scanned/11112222-3333-4444-5555-666677778888",
}
ARNS = {
    "AWS::APS::Workspace": f"arn:aws:aps:{HERE}:workspace/{{}}",
    "AWS::EKS::Cluster": f"arn:aws:eks:{HERE}:cluster/{{}}",
    "AWS::KMS::Key": f"arn:aws:kms:{HERE}:key/{{}}",
    "AWS::IAM::Role": "arn:aws:iam::111122223333:role/{}",
    "AWS::Lambda::Function": f"arn:aws:lambda:{HERE}:function:{{}}",
    "AWS::Logs::LogGroup": f"arn:aws:logs:{HERE}:log-group:{{}}:*",
    "AWS::S3::Bucket": "arn:aws:s3:::{}",
    "Custom::HyperPodCluster": f"arn:aws:sagemaker:{HERE}:cluster/abcdefghijkl",
    "AWS::StepFunctions::StateMachine": f"arn:aws:states:{HERE}:stateMachine:{{}}",
}

REPORT = (
    "allows_data_exfiltration_actions",
    "allows_privilege_escalation",
    "contains_statement_using_not_action",
    "credentials_exposure",
    "infrastructure_modification",
    "permissions_management_without_constraints",
    "service_wildcard",
    "tagging_actions_without_constraints",
    "write_actions_without_constraints",
)
"""What a report of cloudsplaining is made of."""

_LOG_DELIVERY = "CDK lets its provider's state machine deliver a log, which takes no resource"
PLANNED = ("ClusterProviderTrainingPlans", "ClusterBootstrapGuardNamedByGroups")
EXPECTED = {
    **{
        (f"{provider}FrameworkwaiterstatemachineRoleDefaultPolicy", finding): _LOG_DELIVERY
        for provider in ("ClusterProvider", "ClusterEksProvider", "EksTaskGovernanceQuotasProvider")
        for finding in ("RESOURCE_STAR", "infrastructure_modification", "write_actions_without_constraints")
    },
    ("CustomCDKBucketDeploymentMiBServiceRoleDefaultPolicy", "RESOURCE_MISMATCH"): (
        "CDK grants its BucketDeployment s3:List* and s3:GetObject*, of which some take no bucket"
    ),
    ("EksControlPlaneKubectlProviderHandlerServiceRoleDefaultPolicy", "RESOURCE_MISMATCH"): (
        "CDK grants its kubectl provider s3:List* and s3:GetObject*, of which some take no bucket"
    ),
    **{
        (f"ClusterRole{group}Policy", "credentials_exposure"): (
            "on Amazon EKS nodes fetch images, and the identity agent the credentials of pods, with this role"
        )
        for group in ("cpu", "pretraining", "finetuning")
    },
    **{
        (policy, "RESOURCE_MISMATCH"): (
            "the cluster, which the actions need beside the plan, is in statements of their own"
        )
        for policy in PLANNED
    },
}
"""Findings and why they stand, by policy and finding."""


_NEWER = {
    "privilege": "AttachClusterNodeNetworkInterface",
    "access_level": "Write",
    "description": "of September 2026, which the reference does not have yet",
    "resource_types": {
        "cluster": {
            "resource_type": "cluster",
            "required": True,
            "condition_keys": [],
            "dependent_actions": [],
        }
    },
}


class Resolved:
    """A template with example values for what only a deployment knows."""

    def __init__(self, template: Mapping[str, Any]) -> None:
        self._resources: Mapping[str, Any] = template["Resources"]

    def policies(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every policy document that says what a role may do, by the name of the policy or role."""
        for name, resource in self._resources.items():
            properties = resource.get("Properties", {})
            inline = [policy["PolicyDocument"] for policy in properties.get("Policies", ())]
            for document in [properties.get("PolicyDocument"), *inline]:
                if resource["Type"].startswith("AWS::IAM::") and document:
                    yield re.sub(r"[0-9A-F]{8,}", "", name), self._value(document)

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(inner) for inner in value]
        if not isinstance(value, dict):
            return value
        known = self._known(value)
        return {key: self._value(inner) for key, inner in value.items()} if known is None else known

    def _known(self, value: dict[str, Any]) -> str | None:
        match value:
            case {"Ref": name} if name in PSEUDO:
                return PSEUDO[name]
            case {"Ref": name} | {"Fn::GetAtt": [name, _]}:
                return ARNS.get(self._resources[name]["Type"], "{}").format(name)
            case {"Fn::Join": [separator, parts]}:
                return str(separator).join(map(self._value, parts))
            case {"Fn::Select": [index, {"Fn::Split": [separator, text]}]}:
                return str(self._value(text)).split(separator)[int(index)]
            case {"Fn::Sub": str(text)}:
                return re.sub(r"\$\{(.+?)\}", lambda name: PSEUDO[name[1]], text)
        return None


@pytest.fixture(scope="module", autouse=True)
def _reference_of_today() -> None:
    """Give parliament the service authorization reference that came with cloudsplaining.

    Its own is older than the condition keys of clusters. Newer, it also fails a key that an action lacks.
    """
    reference = get_service_prefix_data("sagemaker")
    privileges = [
        {
            **privilege,
            "resource_types": [
                {**kind, "resource_type": f"{kind['resource_type']}{'*' if kind['required'] else ''}"}
                for kind in privilege["resource_types"].values()
            ],
        }
        for privilege in (*reference["privileges"].values(), _NEWER)
    ]
    (service,) = [one for one in parliament.iam_definition if one["prefix"] == "sagemaker"]
    service.update(
        privileges=privileges,
        resources=list(reference["resources"].values()),
        conditions=list(reference["conditions"].values()),
    )


@pytest.fixture(scope="module", params=SPECS)
def policies(request: pytest.FixtureRequest) -> list[tuple[str, dict[str, Any]]]:
    """The policies of one configuration."""
    app = cdk.App(context=CONTEXT)
    HyperPodStack(app, "Scanned", spec=SPECS[request.param])
    return list(Resolved(app.synth().stacks[0].template).policies())


def by_parliament(document: dict[str, Any]) -> set[str]:
    """What parliament finds."""
    return {finding.issue for finding in parliament.analyze_policy_string(json.dumps(document)).findings}


def by_cloudsplaining(document: dict[str, Any]) -> set[str]:
    """What cloudsplaining finds."""
    scanned = PolicyDocument(document)
    return {item for item in REPORT if getattr(scanned, item)}


def test_neither_scanner_reports_more_than_is_explained(
    policies: list[tuple[str, dict[str, Any]]],
) -> None:
    found = {
        (name, finding)
        for name, document in policies
        for finding in by_parliament(document) | by_cloudsplaining(document)
    }
    # what is told of plans is told where there is one
    names = {
        name
        for name, document in policies
        if name not in PLANNED or "UseTrainingPlans" in json.dumps(document)
    }
    assert found == {entry for entry in EXPECTED if entry[0] in names}


@pytest.mark.parametrize(
    ("scan", "statement", "finding"),
    [
        (by_parliament, {"Action": "sagemaker:MakeCluster", "Resource": "*"}, "UNKNOWN_ACTION"),
        (
            by_parliament,
            {
                "Action": "sagemaker:DeleteCluster",
                "Resource": f"arn:aws:sagemaker:{HERE}:cluster/*",
                "Condition": {"StringEquals": {"sagemaker:InstanceTypes": "ml.c5.xlarge"}},
            },
            "UNKNOWN_CONDITION_FOR_ACTION",
        ),
        (
            by_cloudsplaining,
            {"Action": "iam:PassRole", "Resource": "*"},
            "permissions_management_without_constraints",
        ),
        (by_cloudsplaining, {"Action": "s3:*", "Resource": "*"}, "service_wildcard"),
    ],
)
def test_the_scanners_see(scan: Any, statement: dict[str, Any], finding: str) -> None:
    assert finding in scan({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]})
