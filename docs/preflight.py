"""The page of preflight."""

import json
from collections.abc import Iterable

from hyperpod_cdk.preflight import Check, policy

_HEAD = """\
# Preflight

`hyperpod-cdk preflight clusters/my-cluster.yaml` looks whether an account has what a configuration needs,
before anything is deployed: a mistake found here costs seconds, and in a deployment 10 to 40 minutes. It only
reads, and asks everything at once. Written from the code by `make docs`.

```
hyperpod-cdk preflight FILE                     a table, then every finding with its line and what to do
hyperpod-cdk preflight FILE --json              the same for programs
hyperpod-cdk preflight FILE --profile NAME      another profile of the AWS CLI; --region for another Region
hyperpod-cdk preflight FILE --acknowledge CODE  a warning that you have read
hyperpod-cdk preflight FILE --print-policy      the IAM policy that it needs for FILE; without, for any
```

| outcome | meaning | exit code |
|---|---|---|
| pass | the account has it | 0 |
| warn | a doubt; the deployment goes on | 0 |
| fail | the deployment, or the nodes, would fail | 1 |
| could not check | no permission, no answer, no credentials: the reason is told | 2, unless something fails |

In a program: `run(spec, Aws(botocore.session.get_session(), region="us-west-2"))` of
`hyperpod_cdk.preflight` gives the report.

What the stack itself makes (roles, subnets, scripts) is not looked at, and what the stack has already is not
counted twice: a preflight of a cluster that runs says whether the next deployment fits. Nobody can look
whether EC2 has the nodes in stock; a training plan is the way to know.

A quota is looked for by its name. For most instance types one call finds it, for the others the quotas of
SageMaker are gone through, which takes some seconds.

Of Kubernetes it sees what Amazon EKS tells: control planes, add-ons, versions. Whether HyperPod's chart or
another Kueue runs on an existing control plane only `helm` and `kubectl` show, which it says and which you
acknowledge (HP992). Charts are looked into in S3 and found in Amazon ECR; no other registry is asked.

The custom resource looks once more before it makes a cluster, as far as its own permissions go: whose the
name is, and whether custom images are there.

## Checks

| code | name | what | why | what to do | asks | source |
|---|---|---|---|---|---|---|
"""
_POLICY = """
## Policy

For any configuration. `sts:GetCallerIdentity`, which is asked too, needs no permission.

```json
"""


def page(checks: Iterable[Check]) -> str:
    """The whole page as Markdown."""
    rows = "".join(map(_row, checks))
    return f"{_HEAD}{rows}{_POLICY}{json.dumps(policy(), indent=2)}\n```\n"


def _row(check: Check) -> str:
    rule = check.rule
    code = rule.code if rule.severity == "error" else f"{rule.code} ({rule.severity})"
    asks = ", ".join(dict.fromkeys(api.action for api in check.apis)) or "nothing"
    cells = (code, check.name, rule.title, rule.why, rule.fix, asks, rule.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
