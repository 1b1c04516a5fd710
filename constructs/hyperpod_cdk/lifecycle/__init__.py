"""The nodes' scripts: the bucket and what is in it."""

from hyperpod_cdk.lifecycle.bucket import ExistingLifecycleBucket, ILifecycleBucket, LifecycleBucket
from hyperpod_cdk.lifecycle.scripts import LifecycleScripts

__all__ = ["ExistingLifecycleBucket", "ILifecycleBucket", "LifecycleBucket", "LifecycleScripts"]
