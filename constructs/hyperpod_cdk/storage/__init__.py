"""File systems that the nodes mount."""

from hyperpod_cdk.storage.existing import ExistingStorage
from hyperpod_cdk.storage.interface import IStorage
from hyperpod_cdk.storage.lustre import LustreStorage
from hyperpod_cdk.storage.openzfs import OpenZfsStorage

__all__ = ["ExistingStorage", "IStorage", "LustreStorage", "OpenZfsStorage"]
