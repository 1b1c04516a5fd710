"""Members and values of the CreateCluster request that the spec has elsewhere, or by other words."""

import re
from collections.abc import Mapping

ELSEWHERE: Mapping[str, str] = {
    "vpc_config": "network at the top of the file",
    "instance_storage_configs": "mounts, root_volume and secondary_volume",
    "ebs_volume_config": "root_volume or secondary_volume",
    "execution_role": "execution_role_arn",
    "cluster_role": "auto_scaling.cluster_role_arn",
    "restricted_instance_groups": "an instance group with environment_config",
    "restricted_instance_groups_config": "shared_environment_config",
    "patch_schedule": "next_patch_date",
    "subnets": "override_vpc_config.subnet_ids, or network.existing.subnets",
    "slurm_config_strategy": "cluster.orchestrator.slurm.slurm_config_strategy",
    "accounting_database": "cluster.orchestrator.slurm.accounting_database",
}
"""Members that have another name or place in the spec."""

OTHER_WORDS: Mapping[str, str] = {
    # the developer guide's prose and provisioning_parameters.json say worker, the API says Compute
    **dict.fromkeys(("worker", "workers", "worker-node", "node"), "Compute"),
    **dict.fromkeys(("head", "headnode", "head-node", "head node", "master"), "Controller"),
}
"""Values by words that others use for them, in lower case."""


def in_spec_style(name: str) -> str:
    """``instance_type`` for ``InstanceType``; a name in that style already stays as it is."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
