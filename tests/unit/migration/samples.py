"""Requests and files as they are in use, with everything that a configuration can say."""

from typing import Any

ROLE = "arn:aws:iam::111122223333:role/ClusterExecutionRole"
_SCRIPTS = {"SourceS3Uri": "s3://sagemaker-111122223333/base-config/src/", "OnCreate": "on_create.sh"}
_FILE_SYSTEM = "fs-0a1b2c3d4e5f60001.fsx.us-west-2.amazonaws.com"
_LUSTRE = {"FsxLustreConfig": {"DnsName": _FILE_SYSTEM, "MountName": "abcdefgh", "MountPath": "/data"}}
_HOME = {
    "FsxOpenZfsConfig": {
        "DnsName": "fs-0a1b2c3d4e5f60002.fsx.us-west-2.amazonaws.com",
        "MountPath": "/home",
    }
}
_KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
_VPC = {
    "SecurityGroupIds": ["sg-0a1b2c3d4e5f60001", "sg-0a1b2c3d4e5f60002"],
    "Subnets": ["subnet-0a1b2c3d4e5f60001"],
}

BY_API: dict[str, Any] = {
    "ClusterName": "training",
    "InstanceGroups": [
        {
            "InstanceGroupName": "controller",
            "InstanceType": "ml.m5.4xlarge",
            "InstanceCount": 1,
            "SlurmConfig": {"NodeType": "Controller"},
            "ExecutionRole": ROLE,
            "LifeCycleConfig": _SCRIPTS,
            "ThreadsPerCore": 1,
            "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}, _LUSTRE, _HOME],
        },
        {
            "InstanceGroupName": "login",
            "InstanceType": "ml.m5.xlarge",
            "InstanceCount": 1,
            "SlurmConfig": {"NodeType": "Login"},
            "ExecutionRole": ROLE,
            "LifeCycleConfig": {"SourceS3Uri": "s3://my-scripts/login/", "OnInitComplete": "extend.sh"},
        },
        {
            "InstanceGroupName": "gpu",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 8,
            "MinInstanceCount": 6,
            "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]},
            "ExecutionRole": ROLE,
            "ThreadsPerCore": 2,
            "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5-autumn",
            "OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
            "OverrideVpcConfig": {
                "SecurityGroupIds": ["sg-0a1b2c3d4e5f60003"],
                "Subnets": ["subnet-0a1b2c3d4e5f60003"],
            },
            "InstanceStorageConfigs": [
                {"FsxLustreConfig": {"DnsName": _FILE_SYSTEM, "MountName": "abcdefgh"}},
                {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": _KEY}},
                {"EbsVolumeConfig": {"VolumeSizeInGB": 1000, "VolumeKmsKeyId": _KEY}},
            ],
            "ImageReleaseVersion": "1.2.3",
            "NetworkInterface": {"InterfaceType": "efa"},
            "ScheduledUpdateConfig": {
                "ScheduleExpression": "cron(0 3 ? * SUN *)",
                "DeploymentConfig": {
                    "RollingUpdatePolicy": {
                        "MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 25},
                        "RollbackMaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2},
                    },
                    "WaitIntervalInSeconds": 60,
                    "AutoRollbackConfiguration": [{"AlarmName": "nodes-lost"}],
                },
            },
        },
        {
            "InstanceGroupName": "spot",
            "InstanceType": "ml.g5.12xlarge",
            "InstanceCount": 4,
            "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["spot"]},
            "ExecutionRole": ROLE,
            "CapacityRequirements": {"Spot": {}},
            "ImageId": "ami-0a1b2c3d4e5f60001",
        },
    ],
    "Orchestrator": {
        "Slurm": {
            "AccountingDatabase": {
                "Endpoint": "slurm.cluster-abc.us-west-2.rds.amazonaws.com",
                "SecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
                "Port": 3307,
                "Name": "slurm_acct",
            }
        }
    },
    "VpcConfig": _VPC,
    "NodeRecovery": "Automatic",
    "NodeProvisioningMode": "Continuous",
    "Tags": [{"Key": "team", "Value": "research"}, {"Key": "version", "Value": "2.10"}],
}
"""A cluster that the API describes in full."""

LEGACY: dict[str, Any] = {
    "ClusterName": "ml-cluster",
    "InstanceGroups": [
        {
            "InstanceGroupName": name,
            "InstanceType": instance_type,
            "InstanceCount": count,
            "LifeCycleConfig": _SCRIPTS,
            "ExecutionRole": ROLE,
            "ThreadsPerCore": 1,
            "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
        }
        for name, instance_type, count in (
            ("controller-machine", "ml.m5.12xlarge", 1),
            ("login-group", "ml.m5.4xlarge", 1),
            ("worker-group-1", "ml.p4d.24xlarge", 4),
            ("worker-group-2", "ml.g5.12xlarge", 0),
        )
    ],
    "VpcConfig": _VPC,
}
"""A cluster whose shape in Slurm another file tells."""

PROVISIONING: dict[str, Any] = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "controller-machine",
    "login_group": "login-group",
    "worker_groups": [
        {"instance_group_name": "worker-group-1", "partition_name": "p4d"},
        {"instance_group_name": "worker-group-2", "partition_name": "g5"},
    ],
    "fsx_dns_name": _FILE_SYSTEM,
    "fsx_mountname": "abcdefgh",
}
"""What lies beside the scripts of :data:`LEGACY`."""

MULTI_HEAD: dict[str, Any] = {
    **PROVISIONING,
    "slurm_configurations": {
        "slurm_database_secret_arn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
        "slurm_database_endpoint": "slurm.cluster-abc.us-west-2.rds.amazonaws.com",
        "slurm_shared_directory": "/fsx",
        "slurm_database_user": "admin",
        "slurm_sns_arn": "arn:aws:sns:us-west-2:111122223333:slurm",
    },
}
"""The same with several controllers."""

_PATCHED = {
    "PatchingStrategy": "DrainFirst",
    "PatchSchedule": {"NextPatchDate": "2026-12-31T03:00:00Z"},
    "DeploymentConfig": {
        "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2}},
        "WaitIntervalInSeconds": 60,
        "AutoRollbackConfiguration": [{"AlarmName": "nodes-lost"}],
    },
    "DrainPolicy": {"DrainTimeoutInSeconds": 900, "OnDrainTimeout": "Skip"},
}
ON_EKS: dict[str, Any] = {
    "ClusterName": "training",
    "InstanceGroups": [
        {
            "InstanceGroupName": "gpu",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 8,
            "MinInstanceCount": 6,
            "ExecutionRole": ROLE,
            "LifeCycleConfig": _SCRIPTS,
            "ThreadsPerCore": 2,
            "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5-autumn",
            "OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
            "KubernetesConfig": {"Labels": {"example.com/pool": "gpu", "true": "yes"}},
            "AutoPatchConfig": _PATCHED,
            "InstanceStorageConfigs": [
                {"EbsVolumeConfig": {"VolumeSizeInGB": 1000, "VolumeKmsKeyId": _KEY}},
            ],
            "NetworkInterface": {"InterfaceType": "efa-only"},
        },
        {
            "InstanceGroupName": "flexible",
            "InstanceRequirements": {"InstanceTypes": ["ml.g6.12xlarge", "ml.g5.12xlarge"]},
            "InstanceCount": 4,
            "ExecutionRole": ROLE,
            "LifeCycleConfig": _SCRIPTS,
            "CapacityRequirements": {"Spot": {}},
            "AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "IdleWaitWindowInSeconds": 7200},
            "KubernetesConfig": {
                "Taints": [
                    {"Key": "example.com/spot", "Value": "true", "Effect": "NoSchedule"},
                    {"Key": "batch", "Effect": "NoExecute"},
                ]
            },
            "ImageReleaseVersion": "1.2.3",
        },
    ],
    "RestrictedInstanceGroups": [
        {
            "InstanceGroupName": "nova",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 2,
            "ExecutionRole": ROLE,
            "EnvironmentConfig": {},
            "OverrideVpcConfig": {
                "SecurityGroupIds": ["sg-0a1b2c3d4e5f60003"],
                "Subnets": ["subnet-0a1b2c3d4e5f60003"],
            },
        },
    ],
    "RestrictedInstanceGroupsConfig": {
        "SharedEnvironmentConfig": {
            "FSxLustreDeletionPolicy": "DeleteIfNotUsed",
            "FSxLustreConfig": {"SizeInGiB": 12000, "PerUnitStorageThroughput": 250},
        }
    },
    "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/platform"}},
    "VpcConfig": _VPC,
    "NodeRecovery": "Automatic",
    "NodeProvisioningMode": "Continuous",
    "TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 40},
    "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"},
    "ClusterRole": "arn:aws:iam::111122223333:role/ScalingRole",
    "Tags": [{"Key": "team", "Value": "research"}, {"Key": "SageMaker", "Value": "true"}],
}
"""A cluster on Amazon EKS with all that such a cluster can have."""
