"""An AWS account inside the process, complete enough for the real CDK CLI to deploy to."""

from .embedded import EmbeddedAws

__all__ = ["EmbeddedAws"]
