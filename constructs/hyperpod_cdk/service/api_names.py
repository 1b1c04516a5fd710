"""Members of the CreateCluster request that the spec has elsewhere, or not at all."""

import re
from collections.abc import Mapping

# sagemaker-hyperpod-eks-autoscaling, managed-tier-checkpointing-setup, sagemaker-hyperpod-ami-auto-patching,
# sagemaker-hyperpod-release-notes (16 April 2026: flexible groups) and API_ClusterKubernetesConfig, 2026-10:
# each of them speaks of clusters on Amazon EKS alone
EKS_ONLY: Mapping[str, str] = {
    "eks": "the cluster would be one on Amazon EKS",
    "tiered_storage_config": "managed tiered checkpointing stores checkpoints in the memory of EKS nodes",
    "auto_scaling": "autoscaling is by Karpenter, which schedules pods",
    "cluster_role": "the role is for autoscaling",
    "restricted_instance_groups": "restricted groups are for Nova models on Amazon EKS",
    "restricted_instance_groups_config": "restricted groups are for Nova models on Amazon EKS",
    "instance_requirements": "flexible groups are documented for Amazon EKS; make a group of each type",
    "kubernetes_config": "labels and taints are Kubernetes's",
    "auto_patch_config": "automatic patching waits for pods; scheduled_update_config works on Slurm",
}
"""Members of clusters on Amazon EKS by their names in the spec's style, each with a hint."""

ELSEWHERE: Mapping[str, str] = {
    "vpc_config": "network at the top of the file",
    "instance_storage_configs": "mounts, root_volume and secondary_volume",
    "ebs_volume_config": "root_volume or secondary_volume",
    "execution_role": "execution_role_arn",
    "subnets": "override_vpc_config.subnet_ids, or network.existing.subnets",
    "slurm_config_strategy": "cluster.orchestrator.slurm.slurm_config_strategy",
    "accounting_database": "cluster.orchestrator.slurm.accounting_database",
}
"""Members that have another name or place in the spec."""


def in_spec_style(name: str) -> str:
    """``instance_type`` for ``InstanceType``; a name in that style already stays as it is."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
