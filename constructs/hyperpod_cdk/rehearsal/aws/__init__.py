"""An AWS account inside the process, complete enough for the real CDK CLI to deploy to."""

from hyperpod_cdk.rehearsal.aws.embedded import EmbeddedAws

__all__ = ["EmbeddedAws"]
