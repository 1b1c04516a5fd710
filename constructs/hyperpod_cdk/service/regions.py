"""What AWS names Regions for. Lists age: a Region that is not there is a doubt, never a refusal."""

HYPERPOD_SOURCE = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod.html"
# HYPERPOD_SOURCE, 2026-10
HYPERPOD = frozenset(
    {
        *("us-east-1", "us-east-2", "us-west-1", "us-west-2"),
        *("eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "eu-south-2"),
        *("ap-south-1", "ap-south-2", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4"),
        *("ap-northeast-1", "ap-northeast-2", "sa-east-1"),
    }
)

ALL_SOURCE = "https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-regions.html"
# ALL_SOURCE and the pages of the other partitions, 2026-10
ALL = HYPERPOD | {
    *("af-south-1", "ap-east-1", "ap-east-2", "ap-northeast-3", "ap-southeast-5", "ap-southeast-6"),
    *("ap-southeast-7", "ca-central-1", "ca-west-1", "eu-central-2", "eu-south-1", "eu-west-3"),
    *("il-central-1", "me-central-1", "me-south-1", "mx-central-1"),
    *("us-gov-east-1", "us-gov-west-1", "cn-north-1", "cn-northwest-1", "eusc-de-east-1"),
    *("us-iso-east-1", "us-iso-west-1", "us-isob-east-1", "us-isof-east-1", "us-isof-south-1"),
}

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html, 2026-10
WITHOUT_LUSTRE_PERSISTENT_2 = frozenset({"me-south-1", "me-central-1"})
LUSTRE_THROUGHPUT = {"il-central-1": (125, 250), "mx-central-1": (125, 250)}
"""MB/s for each TiB of PERSISTENT_2 on SSD, where not all values are there; none of these has EFA."""
WITHOUT_LUSTRE_TIERING = frozenset({"us-gov-east-1", "us-gov-west-1"})

# https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/available-aws-regions.html, 2026-10
OPENZFS_SINGLE_AZ_HA_2 = frozenset(
    {
        *("us-east-1", "us-east-2", "us-west-1", "us-west-2", "us-gov-west-1", "ca-central-1", "sa-east-1"),
        *("eu-central-1", "eu-central-2", "eu-west-1", "eu-west-2", "eu-north-1", "eu-south-2"),
        *("ap-northeast-1", "ap-northeast-2", "ap-southeast-1", "ap-southeast-2", "ap-south-1", "ap-south-2"),
    }
)
