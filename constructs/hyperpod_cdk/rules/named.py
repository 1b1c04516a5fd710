"""Findings with the name of the group that they are about: an index says little in a long list."""

import re
from dataclasses import replace

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec

_GROUP = re.compile(r"cluster\.instance_groups\[(\d+)\]")


def with_group(spec: HyperPodSpec, finding: Finding) -> Finding:
    """The finding with its group's name; as it is where it is about no group, or the name is a token."""
    index = _GROUP.match(finding.path)
    if index is None:
        return finding
    name = spec.cluster.instance_groups[int(index[1])].instance_group_name
    return finding if unresolved(name) else replace(finding, instance_group=name)
