"""HP969: the identity provider of a control plane that is there already."""

from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, eks_plan
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.eks_existing import control_plane, control_plane_call
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec

_PATH = f"{eks_plan.PATH}.oidc_provider_arn"


def _arn(spec: HyperPodSpec) -> str | None:
    eks = eks_plan.existing(spec)
    arn = eks.oidc_provider_arn if eks else None
    return None if arn is None or unresolved(arn) else arn


def _provider_calls(look: Look) -> list[Call]:
    arn = _arn(look.spec)
    return [apis.GET_OIDC_PROVIDER(OpenIDConnectProviderArn=arn)] if arn else []


def _trusted(look: Look, rule: Rule) -> Iterator[Finding]:
    plane, arn = control_plane(look), _arn(look.spec)
    provider = look.ask(_provider_calls(look)[0], absent=["NoSuchEntity"])
    if provider is None:
        yield rule.finding(_PATH, "is no identity provider of this account", given=arn)
    elif plane is not None:
        issuer = plane.get("identity", {}).get("oidc", {}).get("issuer", "").removeprefix("https://")
        if issuer != provider["Url"].removeprefix("https://"):
            yield rule.finding(
                _PATH, f"is not of {plane['name']}", given=arn, allowed=f"the provider of {issuer}"
            )


CHECKS = (
    Check(
        name="oidc-provider",
        rule=Rule(
            code="HP969",
            title="an identity provider that is not there, or of another control plane",
            why="IAM lets no pod of the inference add-on take its role",
            fix="correct oidc_provider_arn; `aws iam list-open-id-connect-providers` shows them, and "
            "`aws eks describe-cluster` the issuer",
            source="https://docs.aws.amazon.com/eks/latest/userguide/enable-iam-roles-for-service-accounts.html",
        ),
        apis=(apis.GET_OIDC_PROVIDER, apis.DESCRIBE_CONTROL_PLANE),
        asks=lambda look: [control_plane_call(look), *_provider_calls(look)],
        needed=lambda spec: _arn(spec) is not None,
        find=_trusted,
    ),
)
